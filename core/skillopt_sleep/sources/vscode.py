"""Reads VS Code Copilot Chat: the sessions of each workspace folder and exported chats.

A session is one JSON document or a log of changes to one. It tells of most tool calls only that
they were shown, not how they ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from skillopt_sleep.model.record import Cursor, Reading, SessionSeen
from skillopt_sleep.model.session import Origin
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._oplog import replayed
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._places import globbed
from skillopt_sleep.sources._reading import (
    Notes,
    document,
    document_cursor,
    instant,
    items,
    mapping,
    words,
)
from skillopt_sleep.sources._vscode_requests import Request
from skillopt_sleep.world import World

_EDITORS = ("Code", "Code - Insiders", "Code - Exploration", "Code - OSS", "VSCodium")
_DESKTOPS = (".config", "Library/Application Support", "AppData/Roaming")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscode-remote", ".vscodium-server")
_PORTABLE = ".vscode/data/user-data/User"
_PATTERNS = (
    "workspaceStorage/*/chatSessions/*.json",
    "workspaceStorage/*/chatSessions/*.jsonl",
    "globalStorage/emptyWindowChatSessions/*.json",
    "globalStorage/emptyWindowChatSessions/*.jsonl",
)


class VscodeSource:
    """Reads chat sessions and exports, each as a whole."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "vscode"

    def files(self, world: World) -> Iterator[Path]:
        """Yield every chat session under the home, sorted in each editor's folder.

        Raises:
            SourceError: An editor's folder may not be listed.
        """
        home = world.roots.home
        users = [home / desktop / name / "User" for desktop in _DESKTOPS for name in _EDITORS]
        users += [home / server / "data" / "User" for server in _SERVERS]
        for user in (*users, home / _PORTABLE):
            yield from globbed(user, *_PATTERNS)

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read the whole session, whatever ``cursor`` says.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is no chat session.
        """
        notes = Notes()
        at = document_cursor(path)
        found = mapping(replayed(path, notes)) if path.suffix == ".jsonl" else {}
        if not found:
            notes = Notes()
            found = mapping(document(path))
        if "requests" not in found:
            raise ValueError("the file has no requests; wanted a chat session of VS Code")
        _note(notes, found, path)
        return notes.reading(at, bytes_read=at.offset, whole=True)


def _note(notes: Notes, found: dict[str, Any], path: Path) -> None:
    requests = [mapping(request) for request in items(found.get("requests"))]
    session = words(found.get("sessionId"))
    for request in requests:
        metadata = mapping(mapping(request.get("result")).get("metadata"))
        session = session or words(metadata.get("sessionId"))
    session = session or path.stem
    cwd = _folder(path)
    notes.add(
        SessionSeen(
            session=session,
            origin=Origin.OWN if is_own(cwd) else None,
            cwd=cwd,
            at=instant(found.get("creationDate")),
        )
    )
    for index, request in enumerate(requests):
        Request(notes, request, session=session, index=index).note()


def _folder(path: Path) -> str:
    """Return the folder that ``workspace.json`` above the session names, or ""."""
    if path.parent.name != "chatSessions":
        return ""
    try:
        place = mapping(document(path.parent.parent / "workspace.json"))
    except (OSError, ValueError):
        return ""
    try:
        return unquote(urlsplit(words(place.get("folder")) or words(place.get("workspace"))).path)
    except ValueError:
        return ""


_CONFORMS: type[Source] = VscodeSource
