"""Reads OpenClaw: the SQLite store of each agent and the JSONL files of older versions.

A store is read by rowid, so that only new events are looked at. Whatever an older version wrote
beside its sessions (trajectories, deleted ones) is left alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import zstandard

from skillopt_sleep.model.record import Cursor, Reading, SessionSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._entries import Entries
from skillopt_sleep.sources._openclaw_words import machine_made, origin_of_key, typed
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._places import globbed, moved
from skillopt_sleep.sources._reading import (
    BATCH,
    MAX_LINE,
    Notes,
    document,
    instant,
    lines,
    loads,
    mapping,
    words,
)
from skillopt_sleep.sources._sqlite import columns, next_cursor, opened, place
from skillopt_sleep.sources._tools import is_command
from skillopt_sleep.world import World

_FORMER = (".clawdbot", ".moltbot")
_STORE = "openclaw-agent.sqlite"
_TOPIC = "-topic-"
"""In the name of a log that shares its session id with the logs of other topics."""
_LEFT_ALONE = (".trajectory.jsonl",)
_VIA = {
    "spawn": Origin.SUBAGENT,
    "cron": Origin.AUTOMATION,
    "internal": Origin.AUTOMATION,
    "plugin": Origin.AUTOMATION,
}
_ACTORS = {"agent": Origin.SUBAGENT, "system": Origin.AUTOMATION}


class OpenclawSource:
    """Reads ``openclaw-agent.sqlite`` and ``sessions/*.jsonl`` of every agent."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "openclaw"

    def files(self, world: World) -> Iterator[Path]:
        """Yield every store and session log under the home, sorted in each folder.

        Raises:
            SourceError: The agents folder may not be listed.
        """
        homes = [moved(world, "OPENCLAW_STATE_DIR", ".openclaw")]
        homes += [world.roots.home / name for name in _FORMER]
        for home in homes:
            agents = home / "agents"
            yield from globbed(agents, f"*/agent/{_STORE}")
            logs = globbed(agents, "*/sessions/*.jsonl", "*/sessions/*.jsonl.reset.*")
            yield from (log for log in logs if not log.name.endswith(_LEFT_ALONE))

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read what is new in ``path``.

        Raises:
            OSError: The file cannot be read, or the store is locked.
            ValueError: It is neither a session log nor a store.
        """
        if path.suffix == ".sqlite":
            return _read_store(path, cursor)
        return _read_log(path, cursor)


class _Conversation:
    """Turns the events of one session into records."""

    def __init__(
        self, notes: Notes, *, session: str, version: str = "", origin: Origin | None = None
    ) -> None:
        self.entries = Entries(notes, session=session, version=version)
        self._notes = notes
        self.origin = origin
        if origin is not None:
            self._seen(origin=origin)

    def _seen(self, *, origin: Origin) -> None:
        self.origin = origin
        self._notes.add(SessionSeen(session=self.entries.session, origin=origin))

    def take(self, line: int, value: object) -> None:
        """Note one event."""
        event = mapping(value)
        if at := instant(event.get("timestamp")):
            self._notes.saw(self.entries.session, at)
        if event.get("type") == "session":
            self._header(event)
        elif event.get("type") == "message":
            self._message(event, line)
        else:
            self.entries.other(event, line)

    def _header(self, event: dict[str, Any]) -> None:
        number = event.get("version")
        self.entries.version = f"v{number}" if isinstance(number, int) else ""
        cwd = words(event.get("cwd"))
        self._notes.add(
            SessionSeen(
                session=self.entries.session,
                origin=Origin.OWN if is_own(cwd) else None,
                cwd=cwd,
                version=self.entries.version,
                at=instant(event.get("timestamp")),
            )
        )

    def _message(self, event: dict[str, Any], line: int) -> None:
        message = mapping(event.get("message"))
        role = words(message.get("role"))
        match role:
            case "user":
                self._user(event, message, line)
            case "assistant":
                self.entries.assistant(event, line)
            case "toolResult":
                self.entries.tool_result(event)
            case "custom" | "compactionSummary" | "branchSummary" | "system":
                pass
            case _:
                self._notes.skip(self.entries.version, f"message {role or 'of nobody'}")

    def _user(self, event: dict[str, Any], message: dict[str, Any], line: int) -> None:
        texts, marked = typed(message)
        if marked is not None and self.origin is None:
            self._seen(origin=marked)
        if machine_made(message) or self.origin is not None:
            return
        for number, text in enumerate(texts):
            kind = TurnKind.COMMAND if is_command(text) else TurnKind.PROMPT
            id = words(event.get("id")) or f"line {line}"
            self.entries.turn({**event, "id": f"{id}.{number}" if number else id}, line, kind, text)


def _read_log(path: Path, cursor: Cursor | None) -> Reading:
    log = lines(path, cursor)
    notes = Notes()
    named, session = path.name.split(".")[0], log.state.get("session", "")
    told = log.state.get("origin", "")
    origin = Origin(told) if told in set(Origin) else origin_of_key(_session_key(path))
    talk = _Conversation(
        notes,
        session=session or named,
        version=log.state.get("version", ""),
        origin=origin,
    )
    for number, line in log:
        event = loads(line)
        if not session and mapping(event).get("type") == "session":
            told = words(mapping(event).get("id"))
            session = named if not told or _TOPIC in named else told
            talk.entries.session = session
        talk.take(number, event)
    state = {"session": talk.entries.session, "version": talk.entries.version}
    return notes.reading_of(log, {**state, "origin": talk.origin or ""})


def _session_key(path: Path) -> str:
    """Return the key under which ``sessions.json`` beside the log lists it, or ""."""
    try:
        listed = mapping(document(path.with_name("sessions.json")))
    except (OSError, ValueError):
        return ""
    id = path.name.split(".")[0]
    return next((key for key, one in listed.items() if mapping(one).get("sessionId") == id), "")


def _read_store(path: Path, cursor: Cursor | None) -> Reading:
    notes = Notes()
    with opened(path) as store:
        known = columns(store, "transcript_events")
        if not {"session_id", "seq", "event_json"} <= known:
            raise ValueError(
                "the store has no table transcript_events; look which version wrote it"
            )
        last = store.execute("SELECT coalesce(max(rowid), 0) FROM transcript_events").fetchone()[0]
        began = place(cursor, "rowid")
        whole = not 0 <= began <= last or place(cursor, "mark") != _mark(store, began)
        began = 0 if whole else began
        packed = "event_zstd" if "event_zstd" in known else "NULL"
        rows = store.execute(
            f"SELECT rowid AS row, session_id, seq, event_json, {packed} AS packed"
            " FROM transcript_events WHERE rowid > ? ORDER BY rowid",
            (began,),
        )
        origins, talks, size = _origins(store), dict[str, _Conversation](), 0
        for row in rows:
            began = row["row"]
            session = words(row["session_id"])
            if session not in talks:
                talks[session] = _Conversation(notes, session=session, origin=origins.get(session))
            event = _event(row["event_json"], row["packed"])
            size += len(event)
            talks[session].take(row["seq"], loads(event))
            if size >= BATCH:
                break
        mark = _mark(store, began)
    at = next_cursor(cursor, full=size >= BATCH, rowid=began, mark=mark)
    return notes.reading(at, bytes_read=size, whole=whole)


def _mark(store: sqlite3.Connection, rowid: int) -> int:
    """Return a checksum of a row's place: rows that are deleted leave their rowids to others."""
    found = store.execute(
        "SELECT session_id, seq FROM transcript_events WHERE rowid = ?", (rowid,)
    ).fetchone()
    return crc32(f"{found['session_id']} {found['seq']}".encode()) if found else 0


def _event(plain: object, packed: object) -> bytes:
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace")
    if isinstance(plain, bytes):
        return plain
    if not isinstance(packed, bytes):
        return b""
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as unpacked:
            return unpacked.read(MAX_LINE)
    except zstandard.ZstdError:
        return b""


def _origins(store: sqlite3.Connection) -> Mapping[str, Origin]:
    """Return who started each session, where the store says that it was no human."""
    windows, nodes = columns(store, "session_windows"), columns(store, "session_nodes")
    if not {"session_id", "session_key"} <= windows:
        return {}
    found = dict[str, Origin]()
    for row in store.execute("SELECT session_id, session_key FROM session_windows"):
        if origin := origin_of_key(words(row["session_key"])):
            found[words(row["session_id"])] = origin
    if {"session_key", "created_via", "created_actor_type"} <= nodes:
        for row in store.execute(
            "SELECT w.session_id AS id, n.created_via AS via, n.created_actor_type AS actor"
            " FROM session_windows w JOIN session_nodes n ON n.session_key = w.session_key"
        ):
            if origin := _VIA.get(words(row["via"])) or _ACTORS.get(words(row["actor"])):
                found.setdefault(words(row["id"]), origin)
    return found


_CONFORMS: type[Source] = OpenclawSource
