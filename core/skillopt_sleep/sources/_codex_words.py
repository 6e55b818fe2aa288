"""What Codex's user messages and tool outputs say; knows neither files nor sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillopt_sleep.sources._reading import items, loads, mapping, seconds, words

_REQUEST = re.compile(r"^## My request for Codex:?[ \t]*\n?", re.MULTILINE)
_PREFACES = ("# Context from my IDE setup:", "# Files mentioned by the user:", "# Selected text:")
_HARNESS = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<model_switch>",
    "<personality_spec>",
    "<user_action>",
    "<realtime_conversation>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<environment>",
    "# AGENTS.md instructions for ",
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of ",
    "Another language model started to solve this problem",
)
_GIVEN = re.compile(r"^## User Input\s*\n+```text\n(.*?)\n?```[ \t]*$", re.DOTALL | re.MULTILINE)
"""Where an expanded custom prompt holds what was typed behind its name."""
_IMAGE = re.compile(r"<image\b[^>]*>\s*(?:</image>)?\s*|</image>\s*")
_CODES = (
    re.compile(r"(?:^|\n)Exit code: (-?\d+)"),
    re.compile(r"Process exited with code (-?\d+)"),
    re.compile(r"^failed in sandbox .{0,80}?exit code: (-?\d+)", re.DOTALL),
    re.compile(r"^command failed .{0,80}?exit code:? (-?\d+)", re.DOTALL | re.IGNORECASE),
)
_FAILED = (
    "failed in sandbox",
    "execution error",
    "exec error",
    "exec_command failed",
    "failed to parse function arguments",
    "unsupported call",
    "unsupported custom tool call",
    "apply_patch verification failed",
    "command timed out",
    "err: ",
    "error: ",
    "aborted",
    "tool call error",
    "write_stdin failed",
    "sandbox error",
    "failed to find expected lines",
)
_REFUSED = ("exec command rejected by user", "patch rejected by user", "rejected by user",
            "user cancelled mcp tool call", "user rejected")  # fmt: skip
_WALL = re.compile(r"Wall time: ([\d.]+) seconds")
_HEADER = 400
"""Characters at the start of an output in which the harness, not the program, speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a tool output says.

    Attributes:
        text: The program's output.
        code: Exit code where it is said.
        failed: Whether it is an error, or None where nothing is said.
        refused: Whether the human refused the call.
        seconds: Duration where it is said.
    """

    text: str
    code: int | None = None
    failed: bool | None = None
    refused: bool = False
    seconds: float | None = None


def typed(text: str) -> str:
    """Return what the human typed of a user message, or "" if it is the harness's own."""
    bare = text.strip()
    if bare.startswith(_PREFACES):
        found = list(_REQUEST.finditer(bare))
        if not found:
            return ""
        bare = bare[found[0].end() :].strip()
    if bare.startswith(_HARNESS):
        return ""
    if given := _GIVEN.search(bare):
        bare = given.group(1).strip()
    return _IMAGE.sub("", bare).strip() if "<image" in bare else bare


def message_text(content: object) -> str:
    """Return the joined text of a message's content."""
    if isinstance(content, str):
        return words(content)
    parts = [words(mapping(block).get("text")) for block in items(content)]
    return "\n".join(part for part in parts if part)


def output_of(value: object) -> Output:
    """Return what a function call's output says, in any of its spellings."""
    if isinstance(value, str):
        inner = mapping(loads(value.encode("utf-8", "replace"))) if value[:1] == "{" else {}
        if "metadata" in inner or "output" in inner:
            return _structured(inner)
        return _plain(words(value))
    if listed := items(value):
        return _plain(message_text(listed))
    told = mapping(value)
    plain = output_of(told.get("content", told.get("output", "")))
    if told.get("success") is False:
        return Output(text=plain.text, code=plain.code, failed=True, refused=plain.refused)
    return plain


def _structured(value: Mapping[str, Any]) -> Output:
    about = mapping(value.get("metadata"))
    code = about.get("exit_code")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    plain = _plain(words(value.get("output")))
    return Output(
        text=words(value.get("output")),
        code=known,
        failed=known != 0 if known is not None else plain.failed,
        refused=plain.refused,
        seconds=seconds(about.get("duration_seconds")),
    )


def _plain(text: str) -> Output:
    head = text[:_HEADER]
    low = head.lower()
    refused = low.startswith(_REFUSED)
    wall = _WALL.search(head)
    took = float(wall.group(1)) if wall and wall.group(1).count(".") < 2 else None
    for spelling in _CODES:
        if found := spelling.search(head):
            code = int(found.group(1)[:9])
            return Output(text=text, code=code, failed=code != 0, refused=refused, seconds=took)
    failed = True if refused or low.startswith(_FAILED) else None
    return Output(text=text, failed=failed, refused=refused, seconds=took)
