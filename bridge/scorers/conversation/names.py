"""Names of people: whom an answer addresses, and who it says it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from bridge.scorers.conversation.contradiction import Contradiction, contradiction
from bridge.scorers.conversation.memory import Memory

NAME = r"([A-ZÀ-ÖØ-Þ][\w'’-]+)"
INTRODUCES = re.compile(
    rf"\b(?:[Mm]y name is|[Tt]his is|[Ii]ch hei(?:ß|ss)e|[Mm]ein Name ist|[Mm]e llamo|"
    rf"[Mm]i nombre es|[Jj]e m['’]appelle)\s+{NAME}"
)
ADDRESSES = re.compile(
    rf"^\W*(?:Hi|Hello|Hey|Dear|Thanks|Thank you|Sorry|Hallo|Guten Tag|Danke|Hola|Gracias|Bonjour|"
    rf"Merci)(?:,)?\s+(?:there,?\s+)?{NAME}\s?[,!.]"
)
_TITLES = "mr mrs ms miss dr herr frau señor señora monsieur madame customer team all there"
TITLES = frozenset(_TITLES.split())


def names_someone(memory: Memory) -> bool:
    """Whether the answer addresses or introduces someone, as someone did before."""
    now = ADDRESSES.match(memory.now.answer) or INTRODUCES.search(memory.now.answer)
    past = [clause for _, clause in (*memory.users, *memory.answers)]
    return now is not None and any(INTRODUCES.search(clause.text) for clause in past)


def wrong_names(memory: Memory) -> Iterator[Contradiction]:
    """An answer that addresses the user by another name than theirs, or changes its own."""
    told = [name for _, clause in memory.users for name in INTRODUCES.findall(clause.text)]
    addressed = ADDRESSES.match(memory.now.answer)
    if told and addressed and not _known(memory, addressed[1], told):
        yield contradiction("name", addressed[1], told[-1], "the user's name is")
    own = [name for _, clause in memory.answers for name in INTRODUCES.findall(clause.text)]
    for name in INTRODUCES.findall(memory.now.answer):
        if own and _plain(name) not in map(_plain, own):
            yield contradiction("name", name, own[-1], "the answer before gave the name")


def _known(memory: Memory, name: str, told: list[str]) -> bool:
    """Whether a name is the user's: given by them, or by a tool."""
    plain = _plain(name)
    if plain in TITLES or plain in map(_plain, told):
        return True
    found = (_plain(str(fact.value)) for fact in memory.facts if isinstance(fact.value, str))
    said = (_plain(clause.text) for _, clause in memory.users)
    return any(re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", text) for text in (*found, *said))


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKD", name).casefold()
    return "".join(char for char in folded if not unicodedata.combining(char))
