"""Replies on disk, by the digest of all that they depend on."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

from bridge.judge.exchange import Reply
from bridge.model.errors import InfrastructureError


class ReplyCache:
    """Replies that met their schema; faults are never kept.

    One SQLite file (from the standard library: atomic, safe against a killed process). A file that
    is damaged or another program's is an error, since a silent start from nothing would cost money.

    Args:
        path: The file; made if it is not there.

    Raises:
        InfrastructureError: If it cannot be used; from every method.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=30, check_same_thread=False)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._run("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT)")
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None

    def get(self, key: str) -> Reply | None:
        """The reply kept under a key; ``None`` if there is none, or none of this shape."""
        rows = self._run("SELECT reply FROM replies WHERE key = ?", key)
        try:
            return Reply(**json.loads(rows[0][0])) if rows else None
        except (TypeError, ValueError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply."""
        fields = {name: getattr(reply, name) for name in Reply.__slots__}
        self._run("INSERT OR REPLACE INTO replies VALUES (?, ?)", key, json.dumps(fields))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def _run(self, statement: str, *values: str) -> list[Any]:
        try:
            with self._lock, self._file:
                return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> InfrastructureError:
        what = f"the judge's cache cannot be used ({error})"
        return InfrastructureError(what, where=self._path, fix="delete it or mend its permissions")
