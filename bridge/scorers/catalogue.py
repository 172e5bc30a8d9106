"""``docs/scorers.md``, from the scorers themselves: ``python -m bridge.scorers.catalogue``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticUndefined

from bridge.model.values import Model
from bridge.scorers.registry import ALIASES, BUILT_IN, JUDGED, Scorer, get_scorer

HEAD = """\
# Scorers

Generated from the code by `python -m bridge.scorers.catalogue`. Every value is in [0, 1], higher
is better; binary scorers give 0.0 or 1.0. Parameters common to all checks are in
[suite.md](suite.md#checks).
"""


def catalogue() -> str:
    """The whole page."""
    names = (*BUILT_IN, *JUDGED)
    return "\n".join([HEAD, *(line for name in names for line in _entry(get_scorer(name)))])


def _entry(scorer: Scorer) -> Iterator[str]:
    yield f"## `{scorer.name}`"
    yield ""
    yield " ".join(inspect.cleandoc(scorer.score.__doc__ or scorer.summary).split()).replace(
        "``", "`"
    )
    yield ""
    aliases = [f"`{alias}`" for alias, name in ALIASES.items() if name == scorer.name]
    if aliases:
        yield f"- also known as {', '.join(aliases)}"
    yield f"- version `{scorer.version}`, threshold {scorer.threshold:g} by default"
    binary = "0 or 1" if scorer.threshold == 1.0 else "0 to 1, higher is better"
    yield f"- value {binary}"
    yield f"- scores {_scope(scorer)} of a case with turns"
    if scorer.judged:
        yield "- asks a judge, named by `judge:`; see [judges.md](judges.md)"
    if scorer.needs:
        named = " and ".join(f"`{name}`" for name in scorer.needs)
        yield f"- needs {named}: `pip install 'bridge-evals[text]'`"
    if scorer.source:
        yield f"- source: {', '.join(f'<{address}>' for address in scorer.source)}"
    yield ""
    yield from parameters_of(scorer.params)


def _scope(scorer: Scorer) -> str:
    if callable(scorer.per_turn):
        return "each turn, or the conversation,"
    return "each turn" if scorer.per_turn else "the conversation"


class _Schema(GenerateJsonSchema):
    """Frozen defaults have no JSON form of their own; the page writes defaults itself."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"non-serializable-default"}  # noqa: RUF012


def parameters_of(params: type[Model]) -> Iterator[str]:
    """A table of parameters, as lines; nothing where there are none."""
    if not params.model_fields:
        return
    texts: dict[str, str] = {}
    for base in reversed(params.__mro__):
        texts |= _attributes(base.__doc__ or "") if issubclass(base, Model) else {}
    yield "| parameter | type | default | meaning |"
    yield "|---|---|---|---|"
    schemas = params.model_json_schema(schema_generator=_Schema)["properties"]
    for name, field in params.model_fields.items():
        written = field.alias or name
        kind = _type(schemas[written])
        yield f"| `{written}` | {kind} | {_default(field)} | {texts.get(name, '')} |"
    yield ""


def _attributes(doc: str) -> dict[str, str]:
    """The entries of a docstring's Attributes section, each on one line."""
    section = inspect.cleandoc(doc).partition("Attributes:\n")[2]
    entries = re.split(r"^    (?=\w+:)", section, flags=re.MULTILINE)[1:]
    pairs = (entry.partition(":") for entry in entries)
    return {
        name: " ".join(text.split()).replace("|", "\\|").replace("``", "`")
        for name, _, text in pairs
    }


def _type(schema: Mapping[str, Any]) -> str:
    """A JSON Schema of a parameter as people would say it; that it may be left out is known."""
    if "anyOf" in schema:
        kinds = [_type(each) for each in schema["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null")
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any JSON")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(kind, list):
        return " or ".join(each for each in kind if each != "null")
    return str(kind)


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "required"
    return "none" if field.default in (None, ()) else f"`{field.default}`"


if __name__ == "__main__":
    print(catalogue(), end="")  # noqa: T201  # the module's one purpose as a script
