"""The readings of a text: as it is, and as it reads once a disguise is taken off.

Readings are bounded: decoding goes ``_DEPTH`` levels deep, and all readings together hold at most
``_GROWTH`` times the text's characters (plus a constant), however the input is built.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import re2

from bridge.scorers.injection import decode, normalise, spans, typos
from bridge.scorers.injection.rules import options
from bridge.scorers.injection.spans import Edit, Spans

_DEPTH = 3
_GROWTH = 2
_SPARE = 65_536
_NEAR = 256
_SHORT = 8 * _NEAR
_PLACES = 1_024
_LEET = r"[a-z][013457@$!|€+]{1,2}[a-z]|(?:^|\s)[013457@$€][a-z]{2}"
_SEPARATORS = ".-_*|/·•,"
_BREAKS, _BREAK = re.compile(r"\s{2,}|[./|]\s|\s[./|]\s?"), "\x00"
_SPACED = r"(?:^|[^\pL\pN])[\pL\pN](?:[\s.\-_*|/·•,]{1,3}[\pL\pN]){3,}(?:$|[^\pL\pN])"


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text.

    Attributes:
        text: what is searched.
        spans: from a span of ``text`` to a span of the original.
        how: from a span of ``text`` to how it was read there, such as ``plain`` or ``base64``;
            None where the reading it was made from says the same.
        squashed: whether the word breaks are lost.
        turned: whether its letters were already shifted or reversed; a second time would show
            nothing that the first did not.
    """

    text: str
    spans: Spans
    how: Callable[[int, int], str | None]
    squashed: bool = False
    turned: bool = False


@cache
def _hint() -> re2._Regexp:
    """One cheap question to most texts: may there be anything to decode?"""
    return re2.compile("|".join([_LEET, *decode.HINTS]), options())


@cache
def _leet() -> re2._Regexp:
    return re2.compile(_LEET, options())


@cache
def _other_letters() -> re2._Regexp:
    return re2.compile(r"[^\x00-\x7f]+", options())


@cache
def _spaced() -> re2._Regexp:
    return re2.compile(_SPACED, options())


def views(text: str) -> Iterator[View]:
    """All readings of ``text``, the plain one first.

    Args:
        text: any text without lone surrogates.
    """
    budget = _GROWTH * len(text) + _SPARE
    queue = deque((view, 0) for view in _first(text))
    while queue:
        view, depth = queue.popleft()
        yield view
        for child, encoded in _derived(view):
            if len(child.text) > budget:
                continue
            budget -= len(child.text)
            if encoded and depth + 1 < _DEPTH:
                queue.append((child, depth + 1))
            else:
                yield child


def _first(text: str) -> Iterator[View]:
    folded, back = normalise.fold(text)

    def how(start: int, end: int) -> str:
        if back is spans.same:
            return "plain"
        first, last = back(start, end)
        return "plain" if text[first:last] == folded[start:end] else "normalised"

    yield View(folded, back, how)
    if not text.isascii() and (hidden := decode.hidden_fragments(text)):
        yield _folded(_around(text, spans.same, hidden))


def _folded(view: View) -> View:
    """A reading whose new parts are still to be folded."""
    folded, back = normalise.fold(view.text)
    if back is spans.same:
        return view
    return View(
        folded, spans.then(back, view.spans), lambda start, end: view.how(*back(start, end))
    )


def _with_edits(source: str, back: Spans, edits: Sequence[Edit]) -> View:
    """``source`` with fragments replaced; ``back`` leads from ``source`` to the original."""

    @cache
    def lookup() -> tuple[Spans, Callable[[int, int], Edit | None]]:
        # Only where a rule matched: there may be very many edits.
        return spans.edited(edits), spans.touching(edits)

    def how(start: int, end: int) -> str | None:
        inner, touched = lookup()
        edit = touched(*inner(start, end))
        return (edit.how or None) if edit else None

    return View(spans.apply(source, edits), lambda start, end: back(*lookup()[0](start, end)), how)


def _around(source: str, back: Spans, edits: Sequence[Edit]) -> View:
    """Like ``_with_edits``, but of long stretches between fragments with the ends only."""
    return _with_edits(source, back, spans.with_cuts(edits, len(source), _NEAR))


def _letter_for_letter(parent: View, text: str, name: str) -> View:
    def how(start: int, end: int) -> str | None:
        return name if text[start:end] != parent.text[start:end] else None

    return View(text, parent.spans, how)


def _near(view: View, places: Iterable[tuple[int, int]]) -> View:
    """Of a long reading only the neighbourhoods of ``places``; a short one as it is."""
    if len(view.text) <= _SHORT:
        return view
    marks = [Edit(start, end, "", "") for start, end in places]
    cuts = [edit for edit in spans.with_cuts(marks, len(view.text), 2 * _NEAR) if edit.text]
    inner = spans.edited(cuts)
    return View(
        spans.apply(view.text, cuts),
        spans.then(inner, view.spans),
        lambda start, end: view.how(*inner(start, end)),
    )


def _near_signs(view: View, sign: re2._Regexp) -> View:
    """The neighbourhoods of ``sign``, or the whole reading where there are very many."""
    places = spans.find(sign, view.text, _PLACES)
    return view if len(places) == _PLACES else _near(view, places)


def _where_it_matters(child: View) -> View | None:
    """Where a letter-for-letter reading has a keyword that its source has not, if anywhere."""
    found = spans.find(decode.keywords(), child.text, _PLACES)
    places = [span for span in found if child.how(*span)]
    return _near(child, places) if places else None


def _derived(view: View) -> Iterator[tuple[View, bool]]:
    """Further readings of one reading, and whether each may itself hold encoded text."""
    if not view.text.isascii():
        unmasked = normalise.unmask_homoglyphs(view.text)
        if unmasked != view.text:
            yield from _unmasked(view, unmasked)
            view = _letter_for_letter(view, unmasked, "homoglyphs")
    if edits := typos.misspelt(view.text):
        yield _around(view.text, view.spans, edits), False
    for name, places in ({} if view.turned else decode.transformed_as(view.text)).items():
        turned = _transformed(_near(view, places), name)
        yield from ((replace(child, turned=True), True) for child in turned)
    if _hint().search(view.text) is None:
        return
    if edits := decode.encoded_fragments(view.text):
        yield _folded(_around(view.text, view.spans, edits)), True
    if _leet().search(view.text) is not None:
        yield from _without_leet(view)
    yield from ((child, False) for child in _spaced_out(view))


def _unmasked(view: View, unmasked: str) -> Iterator[tuple[View, bool]]:
    near = _near_signs(view, _other_letters())
    text = unmasked if near is view else normalise.unmask_homoglyphs(near.text)
    child = _letter_for_letter(near, text, "homoglyphs")
    if len(child.text) <= _SHORT:
        yield child, False
    elif (where := _where_it_matters(child)) is not None:
        yield where, False


def _without_leet(view: View) -> Iterator[tuple[View, bool]]:
    near = _near_signs(view, _leet())
    for text in normalise.unmask_leet(near.text):
        child = _where_it_matters(_letter_for_letter(near, text, "leet"))
        if child is not None:
            yield child, False


def _transformed(view: View, name: str) -> Iterator[View]:
    if name != "reversed":
        how = "rot13" if name == "caesar-13" else "caesar"
        yield _letter_for_letter(view, decode.unshift(view.text, name), how)
        return
    back = spans.then(spans.backwards(len(view.text)), view.spans)
    yield View(view.text[::-1], back, lambda _start, _end: "reversed")
    yield _letter_for_letter(view, decode.turn_words(view.text), "reversed")


def _spaced_out(view: View) -> Iterator[View]:
    """Letters set apart: once put together in place, once as one run without word breaks."""
    runs = spans.find(_spaced(), view.text)
    if not runs:
        return
    joined = [Edit(a, b, _join_letters(view.text[a:b]), "spaced") for a, b in runs]
    yield _around(view.text, view.spans, joined)
    between = zip([0, *(b for _, b in runs)], [*(a for a, _ in runs), len(view.text)], strict=True)
    rest = [Edit(a, b, spans.CUT, "spaced") for a, b in between if b > a]
    closed = [Edit(a, b, _letters(view.text[a:b]), "spaced") for a, b in runs]
    edits = sorted(rest + closed, key=lambda edit: edit.start)
    child = _with_edits(view.text, view.spans, edits)
    yield View(child.text, child.spans, child.how, squashed=True)


def _letters(run: str) -> str:
    """``run`` without separators, and without what is next to it."""
    run = "".join(run.split())
    for separator in _SEPARATORS:
        run = run.replace(separator, "")
    return run[not run[:1].isalnum() : len(run) - (not run[-1:].isalnum())]


def _join_letters(run: str) -> str:
    """Two separators or more in a row stand for a break between words."""
    return f" {_letters(_BREAKS.sub(_BREAK, run)).replace(_BREAK, ' ')} "
