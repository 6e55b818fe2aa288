"""Reads Cursor's agent transcripts: ``~/.cursor/projects/<slug>/agent-transcripts/**/*.jsonl``.

What the human typed stands inside ``<user_query>``; the rest of a user message is context. The
log has neither times nor, as a rule, what the tools gave back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skillopt_sleep.model.record import CallEnded, Cursor, Reading, SessionSeen, TurnSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._reading import (
    Notes,
    document,
    instant,
    items,
    lines,
    loads,
    mapping,
    walk,
    words,
)
from skillopt_sleep.sources._tools import call, failed, is_command, text_of
from skillopt_sleep.world import World

_LOGS = "agent-transcripts"
_SUBAGENTS = "subagents"
_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_ROLES = frozenset({"user", "assistant"})
_BOOKKEEPING = frozenset({"system", "turn_ended", "session_meta"})


class CursorSource:
    """Reads transcripts, grown or whole."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "cursor"

    def files(self, world: World) -> Iterator[Path]:
        """Yield every transcript under the home, sorted.

        Raises:
            SourceError: The projects folder may not be listed.
        """
        found = walk(world.roots.home / ".cursor" / "projects", ".jsonl")
        yield from (log for log in found if _LOGS in log.parts)

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read the lines after ``cursor``; raises OSError if the file cannot be read."""
        log = lines(path, cursor)
        transcript = _Transcript(path)
        if log.whole:
            transcript.begin()
        for number, line in log:
            transcript.take(number, loads(line))
        return transcript.notes.reading_of(log)


class _Transcript:
    """Turns the lines of one transcript into records."""

    def __init__(self, path: Path) -> None:
        self.notes = Notes()
        self._path = path
        self._session = path.stem
        self._subagent = _SUBAGENTS in path.parts

    def begin(self) -> None:
        """Note what the file's place says about the session."""
        cwd = _folder(self._path)
        origin = Origin.SUBAGENT if self._subagent else None
        self.notes.add(
            SessionSeen(
                session=self._session,
                origin=origin or (Origin.OWN if is_own(cwd) else None),
                parent=_parent(self._path) if self._subagent else "",
                cwd=cwd,
            )
        )

    def take(self, line: int, value: object) -> None:
        """Note one line."""
        entry = mapping(value)
        message = mapping(entry.get("message"))
        role = words(entry.get("role")) or words(message.get("role")) or words(entry.get("type"))
        if role not in _ROLES:
            if role not in _BOOKKEEPING:
                self.notes.skip("", f"line of {role or 'nobody'}")
            return
        content = message.get("content", entry.get("content"))
        if role == "user":
            self._user(entry, text_of(content), line)
        elif text := text_of(content):
            self._turn(TurnKind.ASSISTANT, entry, line, text=text)
        for number, block in enumerate(map(mapping, items(content))):
            self._block(block, entry, line, number)

    def _user(self, entry: dict[str, Any], text: str, line: int) -> None:
        queries = [] if self._subagent else [found.strip() for found in _QUERY.findall(text)]
        for number, query in enumerate(query for query in queries if query):
            kind = TurnKind.COMMAND if is_command(query) else TurnKind.PROMPT
            self._turn(kind, entry, line, text=query, suffix=f".{number}" if number else "")

    def _turn(
        self, kind: TurnKind, entry: dict[str, Any], line: int, *, text: str, suffix: str = ""
    ) -> None:
        self.notes.add(
            TurnSeen(
                session=self._session,
                key=f"line {line}{suffix}",
                kind=kind,
                text=text,
                line=line,
                at=instant(entry.get("timestamp")),
            )
        )

    def _block(self, block: dict[str, Any], entry: dict[str, Any], line: int, number: int) -> None:
        at = instant(entry.get("timestamp"))
        if block.get("type") == "tool_use":
            id = words(block.get("id")) or f"{line}.{number}"
            name, given = words(block.get("name")), block.get("input")
            self.notes.add(call(self._session, id, name, arguments=given, line=line, at=at))
        elif block.get("type") == "tool_result" and (id := words(block.get("tool_use_id"))):
            self.notes.add(
                CallEnded(
                    session=self._session,
                    id=id,
                    output=text_of(block.get("content")),
                    error=failed(flag=block.get("is_error")),
                    at=at,
                )
            )


def _parent(path: Path) -> str:
    """Return the session above ``subagents``, or "" where the folder has none."""
    parts = path.parts
    above = parts[len(parts) - 1 - parts[::-1].index(_SUBAGENTS) - 1]
    return "" if above == _LOGS else above


def _folder(path: Path) -> str:
    """Return the workspace that the project's folder names in a file, or ""."""
    parts = path.parts
    project = Path(*parts[: parts.index(_LOGS)]) if _LOGS in parts else path.parent
    for name, field in ((".workspace-trusted", "workspacePath"), ("repo.json", "workspace")):
        try:
            if found := words(mapping(document(project / name)).get(field)):
                return found
        except (OSError, ValueError):
            continue
    return ""


_CONFORMS: type[Source] = CursorSource
