"""Names that are each given once: one that stands already gets a number."""

from __future__ import annotations


class Numbered:
    """Gives each name once, in a time that does not grow with how often it is asked for.

    It remembers hashes and not the names, of which a file may hold millions.

    Args:
        pattern: How a name with its number is written, as of :meth:`str.format`.
        first: The first number.

    Example:
        >>> names = Numbered("{}#{}")
        >>> [names.of("a"), names.of("a"), names.of("a#2"), names.of("a")]
        ['a', 'a#2', 'a#2#2', 'a#3']
    """

    def __init__(self, pattern: str = "{} ({})", first: int = 2) -> None:
        self._pattern = pattern
        self._first = first
        self._given: set[int] = set()
        self._next: dict[int, int] = {}

    def __contains__(self, name: str) -> bool:
        """Whether a name was given."""
        return hash(name) in self._given

    def of(self, name: str) -> str:
        """The name itself the first time, later with the least number that is free."""
        made, key = name, hash(name)
        number = self._next.get(key, self._first)
        while made in self:
            made, number = self._pattern.format(name, number), number + 1
        if made is not name:
            self._next[key] = number
        self._given.add(hash(made))
        return made
