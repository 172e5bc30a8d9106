"""The migration guides, one a direction: hand-written parts around tables from the code.

``python -m bridge.conversion.guide docs/migrate`` writes them. The folder holds, for ours and for
each framework, ``parts/from-NAME.md`` and ``parts/to-NAME.md`` (what cases, outputs and results
look like there) and ``samples/NAME/`` (files with a value of its own in every field).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from bridge.conversion.guide.tables import checks_table, fields_table
from bridge.conversion.guide.trace import Trace, target_name, trace
from bridge.conversion.target import held_parts
from bridge.plugin.format import Format, ReadOptions
from bridge.plugin.framework import FrameworkInfo
from bridge.plugin.registry import (
    detect_format,
    format_names,
    framework_names,
    get_format,
    get_framework,
)
from bridge.plugin.results.counterparts import Counterpart, HasCounterparts

OURS = "bridge"
"""Our own side of a guide, beside the frameworks."""
OWN_FORMATS = ("golden_set", "outputs", "scores")
"""What a framework's files are written as here."""
OWN_SUITE = "suite"
LEGEND = """\
The files of the commands are in [samples](samples); every field of theirs is in a table. *Carried*:
kept where `bridge convert` finds it again, and left alone by the target. *Used*: it decides
something in the target (a script, a replay) and has no field there. *Read*: it tells how to read
the others."""
HEAD = (
    "<!-- Written by python -m bridge.conversion.guide docs/migrate; edit docs/migrate/parts. -->"
)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a migration.

    Attributes:
        name: The framework's name, or ``bridge``.
        title: Its name for people.
        cases: The format of its cases; ``None`` for ours.
        results: The format of its results; ``None`` for ours.
        metrics: Its own metrics.
    """

    name: str
    title: str
    cases: Format | None = None
    results: Format | None = None
    metrics: Sequence[Counterpart] = ()


def sides() -> list[Side]:
    """Ours, and every framework that has files of both kinds."""
    found = [_side(get_framework(name).info) for name in framework_names()]
    return [Side(OURS, OURS), *(each for each in found if each.cases and each.results)]


def _side(info: FrameworkInfo) -> Side:
    own = [each for each in map(get_format, format_names()) if each.info.framework == info.name]
    cases = next((each for each in own if "suite" in each.info.writes), None)
    results = next((each for each in own if "scores" in each.info.writes), None)
    framework = get_framework(info.name)
    metrics = framework.counterparts() if isinstance(framework, HasCounterparts) else ()
    return Side(info.name, info.title, cases, results, metrics)


def guides(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each guide with its text as it should be.

    Args:
        folder: ``docs/migrate``.
    """
    for source, target in permutations(sides(), 2):
        yield folder / f"{source.name}-to-{target.name}.md", page(folder, source, target)


def page(folder: Path, source: Side, target: Side) -> str:
    """One guide."""
    parts = [
        f"# From {_title(source)} to {_title(target)}",
        HEAD,
        _part(folder, f"from-{source.name}"),
        _part(folder, f"to-{target.name}"),
        LEGEND,
        *_sections(folder, source, target),
        "## Checks",
        _about_checks(source, target),
        checks_table(source.metrics, target.metrics, (source.title, target.title)),
    ]
    return "\n\n".join(parts) + "\n"


def _title(side: Side) -> str:
    return "our own files" if side.name == OURS else side.title


def _part(folder: Path, name: str) -> str:
    return (folder / "parts" / f"{name}.md").read_text("utf-8").strip()


def _about_checks(source: Side, target: Side) -> str:
    told = []
    if source.metrics:
        told.append(
            "A metric with a check *here* goes on being measured; its recorded verdicts are held "
            "against that check by `--verify`."
        )
    if target.metrics:
        told.append(
            f"What is written runs our checks as {target.title}'s own metrics; the {target.title} "
            "column names those of its own that say the same."
        )
    return " ".join(told)


def _sections(folder: Path, source: Side, target: Side) -> Iterator[str]:
    """Cases, and results where the source has any."""
    samples = folder / "samples" / source.name
    for title, reader, writer, results in (
        ("Cases", source.cases, target.cases, False),
        ("Results", source.results, target.results, True),
    ):
        paths = [path for path in sorted(samples.iterdir()) if _is_read(path, reader)]
        if paths:
            yield f"## {title}"
            yield "\n".join(["```bash", *_commands(paths, writer, results=results), "```"])
            traces = _merged([trace(path, detect_format(path), writer) for path in paths])
            heads = [side.title if side.name != OURS else "" for side in (source, target)]
            yield fields_table(traces, *heads)


def _is_read(path: Path, reader: Format | None) -> bool:
    """Whether a sample is of a format; of ours the suite names the others."""
    return detect_format(path).info.name == (OWN_SUITE if reader is None else reader.info.name)


def _commands(paths: Sequence[Path], writer: Format | None, *, results: bool) -> Iterator[str]:
    for path in paths:
        if writer is not None:
            dest = f"moved/{path.stem}/{target_name(writer)}"
            yield f"bridge convert {path.name} {dest} --to {writer.info.name}"
            continue
        names = _own_formats(path, results=results)
        for name in names:
            dest = get_format(name).info.patterns[0].replace("*", "library")
            yield f"bridge convert {path.name} moved/{path.stem}/{dest} --to {name}"


def _own_formats(path: Path, *, results: bool) -> Sequence[str]:
    """A suite where the source has what belongs to one, else a file a part that it has."""
    bundle, _ = detect_format(path).read(path, ReadOptions())
    if not results and bundle.suite is not None:
        return (OWN_SUITE,)
    return [name for name in OWN_FORMATS if held_parts(get_format(name), bundle)]


def _merged(traces: Sequence[Sequence[Trace]]) -> list[Trace]:
    """Every field once, as the first file that has it says."""
    fields: dict[str, Trace] = {}
    for each in (one for several in traces for one in several):
        fields.setdefault(each.source, each)
    return list(fields.values())
