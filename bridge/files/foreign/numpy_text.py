r"""What numpy and pandas show of an array, as a Python literal.

``['a' "it's"\n 'c']``, ``[[1 2]\n [3 4]]``, ``array(['a', 'b'], dtype=object)``,
``[list(['a']) list([])]``: blanks where a list has commas, which Python reads as one joined text,
and names around a list. An array that numpy cut short (``['a' ... 'z']``) is no list of it.
"""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass, field

_VALUES = frozenset({tokenize.STRING, tokenize.NUMBER, tokenize.NAME})
_LAYOUT = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_WRAPPERS = frozenset({"array", "list"})
_SIGNS = frozenset({"-", "+"})


def with_commas(text: str) -> str:
    """A literal with a comma between every two items.

    Args:
        text: A list as numpy shows it, or Python.

    Raises:
        ValueError: If it is none: two texts touch (``'it''s'``, one text in some languages), or one
            list has both commas and blanks between its items (a comma may have been forgotten).
        SyntaxError: If it does not even consist of Python's tokens.
    """
    try:
        tokens = [
            token
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in _LAYOUT
        ]
    except tokenize.TokenError as error:
        raise ValueError(f"no literal ({error.args[0]})") from None
    return _Rewriting(tokens).text()


@dataclass(slots=True)
class _Level:
    """One bracket: whether it is that of a wrapper, and what stands between its items."""

    wrapper: bool = False
    between: set[str] = field(default_factory=set)


class _Rewriting:
    """Tokens put down one after the other."""

    def __init__(self, tokens: list[tokenize.TokenInfo]) -> None:
        self._tokens = tokens
        self._levels = [_Level()]
        self._pieces: list[str] = []

    def text(self) -> str:
        """The tokens as a literal."""
        index = 0
        while index < len(self._tokens):
            index = self._put(index)
        return " ".join(self._pieces)

    def _put(self, index: int) -> int:
        """Put down one token, or leave it out; returns which comes next."""
        token = self._tokens[index]
        if index and self._separates(index):
            self._note("blank")
            self._pieces.append(",")
        if token.string in _WRAPPERS and self._is(index + 1, "("):
            self._levels.append(_Level(wrapper=True))
            return index + 2
        if token.string == "," and self._levels[-1].wrapper:  # dtype=object, shape=(2,)
            return self._end_of_wrapper(index)
        if token.string in ("(", "[", "{"):
            self._levels.append(_Level())
        elif token.string in (")", "]", "}") and len(self._levels) > 1:
            if self._levels.pop().wrapper:
                return index + 1
        elif token.string == ",":
            self._note("comma")
        self._pieces.append(token.string)
        return index + 1

    def _note(self, between: str) -> None:
        seen = self._levels[-1].between
        seen.add(between)
        if len(seen) > 1:
            raise ValueError("commas and blanks between the items of one list")

    def _is(self, index: int, text: str) -> bool:
        return index < len(self._tokens) and self._tokens[index].string == text

    def _end_of_wrapper(self, index: int) -> int:
        """The bracket that closes a wrapper, past its options, which are ``name=value``."""
        names = self._tokens[index + 1 : index + 3]
        if len(names) < 2 or names[0].type != tokenize.NAME or names[1].string != "=":
            raise ValueError("an array of several arguments")
        depth = 0
        for place in range(index, len(self._tokens)):
            if self._tokens[place].string == "(":
                depth += 1
            elif self._tokens[place].string == ")":
                depth -= 1
                if depth < 0:
                    return place
        raise ValueError("an array that is not closed")

    def _separates(self, index: int) -> bool:
        """Whether an item ends before a token and another begins with it."""
        before, token = self._tokens[index - 1], self._tokens[index]
        ends = before.type in _VALUES or before.string in (")", "]", "}", "...")
        if not ends:
            return False
        apart = before.end != token.start
        if token.string in _SIGNS and index + 1 < len(self._tokens):
            return apart and self._tokens[index + 1].start == token.end
        if token.type not in _VALUES and token.string not in ("(", "[", "{", "..."):
            return False
        if not apart and before.type == token.type == tokenize.STRING:
            raise ValueError("two texts that touch")
        return apart
