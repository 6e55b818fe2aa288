"""What tool calls of all harnesses share: the command, the files they name, how they ended.

It knows argument names that many tools use, and no log format.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from skillopt_sleep.model.record import CallSeen
from skillopt_sleep.sources._reading import as_json, items, loads, mapping, words

_SHELL = re.compile(r"bash|shell|exec|terminal|command|cmd", re.IGNORECASE)
_COMMANDS = ("command", "cmd", "commandLine", "keystrokes", "script")
_FILES = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "filename",
    "file",
    "target_file",
    "targetFile",
    "notebook_path",
    "relative_workspace_path",
)
_FILE_LISTS = ("paths", "files", "filePaths", "file_paths")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_SLASH = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|\Z)")


def call(
    session: str, id: str, name: str, *, arguments: object, line: int, at: datetime | None
) -> CallSeen:
    """Return the record of one tool call.

    Args:
        session: The harness's session id.
        id: The harness's id of the call.
        name: Tool name as written.
        arguments: A JSON object, or a text that holds one.
        line: 0-based line or step.
        at: When, or None.
    """
    given = mapping(_parsed(arguments))
    return CallSeen(
        session=session,
        id=id,
        name=name,
        line=line,
        arguments=as_json(given) if given else words(arguments) or "{}",
        command=_command(name, given),
        files=_files(given, arguments),
        at=at,
    )


def _parsed(arguments: object) -> object:
    if isinstance(arguments, str):
        return loads(arguments.encode("utf-8", "replace"))
    return arguments


def _command(name: str, given: dict[str, Any]) -> str:
    if not _SHELL.search(name):
        return ""
    for key in _COMMANDS:
        if found := words(given.get(key)):
            return found
        if parts := [words(part) for part in items(given.get(key))]:
            return " ".join(parts)
    return ""


def _files(given: dict[str, Any], arguments: object) -> tuple[str, ...]:
    named = [words(given.get(key)) for key in _FILES]
    for key in _FILE_LISTS:
        named += [words(one) for one in items(given.get(key))]
    patch = words(given.get("input")) or words(given.get("patch")) or words(arguments)
    if "*** " in patch:
        named += _PATCHED.findall(patch)
    return tuple(dict.fromkeys(name for name in named if name and "\n" not in name))


def text_of(content: object) -> str:
    """Return the text of a message's content: a text, or a list with text blocks."""
    if isinstance(content, str):
        return words(content)
    blocks = [mapping(block) for block in items(content)]
    texts = [words(b.get("text")) for b in blocks if b.get("type", "text") == "text"]
    return "\n".join(text for text in texts if text)


def is_command(text: str) -> bool:
    """Return whether ``text`` is a slash command as typed, not a path."""
    return _SLASH.match(text) is not None


def failed(*, flag: object = None, exit_code: int | None = None) -> bool | None:
    """Return whether a call failed by its flag or its exit code, or None if neither says."""
    if flag is True or (exit_code is not None and exit_code != 0):
        return True
    return False if flag is False or exit_code == 0 else None


def exit_code(value: object) -> int | None:
    """Return ``value`` if it is an exit code, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
