"""Scorers of dialogues, turn by turn with what came before."""

from bridge.scorers.conversation.coherence import COHERENCE
from bridge.scorers.conversation.consistency import CONSISTENCY
from bridge.scorers.conversation.repetition import REPETITION
from bridge.scorers.conversation.retention import CONTEXT_RETENTION

__all__ = ["COHERENCE", "CONSISTENCY", "CONTEXT_RETENTION", "REPETITION"]
