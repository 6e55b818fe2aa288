"""Reads OpenCode: the store ``opencode.db`` and what ``opencode export`` prints.

Both hold messages made of parts. A store is read session by session from the last change on. A
tool that ran is "completed" there whatever its exit code.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skillopt_sleep.model.record import Cursor, Reading
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._opencode_messages import Conversation
from skillopt_sleep.sources._places import globbed, moved
from skillopt_sleep.sources._reading import (
    BATCH,
    Notes,
    document,
    document_cursor,
    items,
    loads,
    mapping,
    words,
)
from skillopt_sleep.sources._sqlite import columns, next_cursor, opened, place
from skillopt_sleep.world import World

_USUAL = ".local/share"
_OVERLAP = 1_000
"""Milliseconds read again, since a change can be written later than it says."""
_SESSION = ("id", "parent_id", "directory", "version", "revert", "permission")


class OpencodeSource:
    """Reads a store or an export."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "opencode"

    def files(self, world: World) -> Iterator[Path]:
        """Yield every store under the home, sorted.

        Raises:
            SourceError: The data folder may not be listed.
        """
        yield from globbed(moved(world, "XDG_DATA_HOME", _USUAL) / "opencode", "opencode*.db")

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read the sessions that changed since ``cursor``, or a whole export.

        Raises:
            OSError: The file cannot be read, or the store is locked.
            ValueError: It is neither a store nor an export.
        """
        if path.suffix == ".json":
            return _read_export(path)
        return _read_store(path, cursor)


def _read_export(path: Path) -> Reading:
    notes = Notes()
    found = mapping(document(path))
    info = mapping(found.get("info"))
    if not info or "messages" not in found:
        raise ValueError("the file has no info and messages; wanted an export of OpenCode")
    talk = Conversation(notes, info, session=words(info.get("id")) or path.stem)
    for message in map(mapping, items(found.get("messages"))):
        parts = [mapping(part) for part in items(message.get("parts"))]
        talk.take(mapping(message.get("info")), parts)
    at = document_cursor(path)
    return notes.reading(at, bytes_read=at.offset, whole=True)


def _read_store(path: Path, cursor: Cursor | None) -> Reading:
    notes, size, full = Notes(), 0, False
    since = place(cursor, "since")
    with opened(path) as store:
        known = columns(store, "session")
        for table in ("message", "part"):
            if not {"id", "session_id", "data", "time_updated"} <= columns(store, table):
                raise ValueError(f"the store has no table {table!r} as known; look at its version")
        for session, changed in _changed(store, since):
            if full := size >= BATCH and changed > since:
                break
            size += _note(notes, store, session, known)
            since = max(since, changed)
        if not full:
            since = max(since - _OVERLAP, 0)
    at = next_cursor(cursor, full=full, since=since)
    # Messages grow in place, so each session that is told again replaces what it told before.
    return notes.reading(at, bytes_read=size, whole=True)


def _changed(store: sqlite3.Connection, since: int) -> list[tuple[str, int]]:
    """Return (session, instant of its last change) of all that changed after ``since``."""
    also = "UNION ALL SELECT id, time_updated FROM session"
    if not {"id", "time_updated"} <= columns(store, "session"):
        also = ""
    rows = store.execute(
        "SELECT session_id, max(time_updated) AS changed FROM ("
        " SELECT session_id, time_updated FROM message"
        f" UNION ALL SELECT session_id, time_updated FROM part {also})"
        " GROUP BY session_id HAVING changed > ? ORDER BY changed, session_id",
        (since,),
    )
    return [
        (words(row["session_id"]), row["changed"])
        for row in rows
        if isinstance(row["changed"], int)
    ]


def _note(notes: Notes, store: sqlite3.Connection, session: str, known: frozenset[str]) -> int:
    """Note one session and return the bytes looked at."""
    wanted = [name for name in _SESSION if name in known]
    info: dict[str, Any] = {}
    if "id" in known:
        listed = ", ".join(wanted)
        row = store.execute(f"SELECT {listed} FROM session WHERE id = ?", (session,)).fetchone()
        info = dict(row) if row else {}
    parts = dict[str, list[dict[str, Any]]]()
    size = 0
    for row in store.execute(
        "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", (session,)
    ):
        text = words(row["data"])
        size += len(text)
        part = {**mapping(loads(text.encode())), "id": words(row["id"])}
        parts.setdefault(words(row["message_id"]), []).append(part)
    talk = Conversation(notes, info, session=session)
    for row in store.execute(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (session,)
    ):
        text = words(row["data"])
        size += len(text)
        message = {**mapping(loads(text.encode())), "id": words(row["id"])}
        talk.take(message, parts.get(words(row["id"]), []))
    return size


_CONFORMS: type[Source] = OpencodeSource
