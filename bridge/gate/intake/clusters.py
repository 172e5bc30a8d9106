"""Cases that belong together: those of one document or one conversation."""

from __future__ import annotations

from bridge.gate.intake.evidence import Evidence
from bridge.model.errors import InputError


def clusters_of(evidence: Evidence, prefix: str | None) -> dict[str, str] | None:
    """The cluster of each case that has one, by the tag that begins with ``prefix``.

    Raises:
        InputError: If no case has such a tag, or one has two.
    """
    if prefix is None:
        return None
    found: dict[str, str] = {}
    for case, row in evidence.cases.items():
        own = [tag for tag in row.tags if tag.startswith(prefix)]
        if len(own) > 1:
            what = f"gate: case {case!r} is in two clusters, {own[0]!r} and {own[1]!r}"
            raise InputError(what, where=row.where, fix=f"leave one tag {prefix}...")
        if own:
            found[case] = own[0]
    if not found:
        what = f"gate: clusters are by tag {prefix!r}, and no case has such a tag"
        raise InputError(what, fix="mend clusters, or name the golden set by --suite")
    return found
