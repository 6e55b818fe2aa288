"""Reads Pi's sessions: ``~/.pi/agent/sessions/**/*.jsonl``, a tree of entries by ``parentId``.

The branch of the last entry is the conversation; of others only the tokens count. A fork repeats
entries of the session it was made from, and they keep that session and their ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from skillopt_sleep.model.record import Cursor, Reading, SessionSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._entries import Entries
from skillopt_sleep.sources._oplog import every_line
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._reading import (
    Notes,
    document_cursor,
    instant,
    loads,
    mapping,
    walk,
    words,
)
from skillopt_sleep.sources._tools import is_command, text_of
from skillopt_sleep.world import World

_ARTIFACTS = "subagent-artifacts"
_SKILL = re.compile(r'<skill name="([^"\n]+)"[^>\n]*>\n.*?\n</skill>\s*', re.DOTALL)
_SILENT = frozenset({"custom", "hookMessage", "branchSummary", "compactionSummary"})


class PiSource:
    """Reads session files, each as a whole since a later entry can leave a branch."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "pi"

    def files(self, world: World) -> Iterator[Path]:
        """Yield every session file under the home, sorted.

        Raises:
            SourceError: The sessions folder may not be listed.
        """
        found = walk(world.roots.home / ".pi" / "agent" / "sessions", ".jsonl")
        yield from (log for log in found if _ARTIFACTS not in log.parts)

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read the whole session, whatever ``cursor`` says; raises OSError if it cannot."""
        at = document_cursor(path)
        branch = _branch(path)
        session = _Session(path)
        for number, line in every_line(path, session.notes):
            session.take(number, mapping(loads(line)), branch)
        return session.notes.reading(at, bytes_read=at.offset, whole=True)


def _branch(path: Path) -> frozenset[str] | None:
    """Return the ids on the way from the last entry to the root; None if there is no tree."""
    parents = dict[str, str]()
    last = ""
    for _, line in every_line(path, Notes()):
        entry = mapping(loads(line))
        if id := words(entry.get("id")) if entry.get("type") != "session" else "":
            parents[id] = words(entry.get("parentId"))
            last = id
    kept = set[str]()
    while last in parents and last not in kept:
        kept.add(last)
        last = parents[last]
    return frozenset(kept) or None


class _Session:
    """Turns the entries of one file into records."""

    def __init__(self, path: Path) -> None:
        self.notes = Notes()
        self._own = Entries(self.notes, session=path.stem.rpartition("_")[2])
        self._copied = self._own
        self._forked_at: datetime | None = None
        self._before = ""

    def take(self, line: int, entry: dict[str, Any], branch: frozenset[str] | None) -> None:
        """Note one entry; one that ``branch`` lacks counts only its tokens."""
        if entry.get("type") == "session":
            self._header(entry)
            return
        at = instant(entry.get("timestamp"))
        copied = at is not None and self._forked_at is not None and at < self._forked_at
        entries = self._copied if copied else self._own
        if at:
            self.notes.saw(entries.session, at)
        id = words(entry.get("id"))
        message = mapping(entry.get("message"))
        if branch is not None and id and id not in branch:
            entries.usage(entry, line, words(message.get("model")))
            self._before = id
            return
        parent = words(entry.get("parentId"))
        if parent and self._before and parent != self._before:
            entries.turn({**entry, "id": f"{id}:rewound"}, line, TurnKind.REWIND)
        self._before = id
        if entry.get("type") == "message":
            _message(entries, entry, message, line)
        else:
            entries.other(entry, line)

    def _header(self, entry: dict[str, Any]) -> None:
        number, cwd = entry.get("version"), words(entry.get("cwd"))
        version = f"v{number if isinstance(number, int) else 1}"
        session = words(entry.get("id")) or self._own.session
        at = instant(entry.get("timestamp"))
        self._own = self._copied = Entries(self.notes, session=session, version=version)
        if parent := Path(words(entry.get("parentSession"))).stem.rpartition("_")[2]:
            self._copied = Entries(self.notes, session=parent, version=version)
            self._forked_at = at
        self.notes.add(
            SessionSeen(
                session=session,
                origin=Origin.OWN if is_own(cwd) else None,
                cwd=cwd,
                version=version,
                at=at,
            )
        )


def _message(entries: Entries, entry: dict[str, Any], message: dict[str, Any], line: int) -> None:
    role = words(message.get("role"))
    match role:
        case "user":
            _user(entries, entry, text_of(message.get("content")), line)
        case "assistant":
            entries.assistant(entry, line)
        case "toolResult":
            entries.tool_result(entry)
        case "bashExecution":
            command = words(message.get("command"))
            entries.turn(entry, line, TurnKind.COMMAND, f"!{command}")
        case _ if role not in _SILENT:
            entries.notes.skip(entries.version, f"message of {role or 'nobody'}")
        case _:
            pass


def _user(entries: Entries, entry: dict[str, Any], text: str, line: int) -> None:
    if skill := _SKILL.match(text):
        entries.notes.add(SessionSeen(session=entries.session, skill=skill.group(1)))
        text = text[skill.end() :] or f"/skill:{skill.group(1)}"
    if text.strip():
        kind = TurnKind.COMMAND if is_command(text) else TurnKind.PROMPT
        entries.turn(entry, line, kind, text)


_CONFORMS: type[Source] = PiSource
