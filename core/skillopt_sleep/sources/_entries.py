"""Entries of a Pi session, which OpenClaw writes too: agent messages, tool results, compactions.

What a human's message is differs between the two and is not decided here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from skillopt_sleep.model.record import CallEnded, SessionSeen, TurnSeen, UsageSeen
from skillopt_sleep.model.session import TurnKind
from skillopt_sleep.sources._reading import (
    Notes,
    count,
    instant,
    items,
    mapping,
    seconds,
    words,
)
from skillopt_sleep.sources._tools import call, exit_code, failed, text_of

MIRRORS = frozenset({"delivery-mirror", "gateway-injected"})
"""Models of agent messages that repeat what another one said."""
_FAILED = frozenset({"error", "failed"})


class Entries:
    """Notes the entries of one session.

    Attributes:
        session: The harness's session id.
        version: "v" and the format's number, or "".
    """

    def __init__(self, notes: Notes, *, session: str, version: str = "") -> None:
        self.notes = notes
        self.session = session
        self.version = version

    def turn(self, entry: dict[str, Any], line: int, kind: TurnKind, text: str = "") -> None:
        """Note a turn under the entry's own id."""
        self.notes.add(
            TurnSeen(
                session=self.session,
                key=_id(entry, line),
                kind=kind,
                text=text,
                line=line,
                at=_at(entry),
            )
        )

    def assistant(self, entry: dict[str, Any], line: int) -> None:
        """Note an agent message: its text, its calls, its tokens, whether it was stopped."""
        message = mapping(entry.get("message"))
        model = words(message.get("model"))
        if model in MIRRORS:
            return
        at = _at(entry)
        if model and self.notes.first_of_model(self.session, model):
            self.notes.add(SessionSeen(session=self.session, model=model))
        content = message.get("content")
        if text := text_of(content):
            self.turn(entry, line, TurnKind.ASSISTANT, text)
        for block in map(mapping, items(content)):
            id, name = words(block.get("id")), words(block.get("name"))
            if block.get("type") == "toolCall" and id:
                given = block.get("arguments", block.get("input"))
                self.notes.add(call(self.session, id, name, arguments=given, line=line, at=at))
        if message.get("stopReason") == "aborted":
            stopped = {**entry, "id": f"{_id(entry, line)}:stopped"}
            self.turn(stopped, line, TurnKind.INTERRUPT)
        self.usage(entry, line, model)

    def usage(self, entry: dict[str, Any], line: int, model: str) -> None:
        """Note the tokens of an agent message."""
        spent = mapping(mapping(entry.get("message")).get("usage"))
        if any(count(spent.get(kind)) for kind in ("input", "output", "cacheRead", "cacheWrite")):
            self.notes.add(
                UsageSeen(
                    session=self.session,
                    key=f"{self.session}:{_id(entry, line)}",
                    model=model,
                    at=_at(entry),
                    input_tokens=count(spent.get("input")),
                    output_tokens=count(spent.get("output")),
                    cache_read_tokens=count(spent.get("cacheRead")),
                    cache_write_tokens=count(spent.get("cacheWrite")),
                )
            )

    def tool_result(self, entry: dict[str, Any]) -> None:
        """Note what a tool gave back; its exit code counts more than its flag."""
        message = mapping(entry.get("message"))
        details = mapping(message.get("details"))
        code = exit_code(details.get("exitCode"))
        flag = True if words(details.get("status")) in _FAILED else message.get("isError")
        if id := words(message.get("toolCallId")):
            self.notes.add(
                CallEnded(
                    session=self.session,
                    id=id,
                    output=text_of(message.get("content")),
                    error=failed(flag=flag, exit_code=code),
                    exit_code=code,
                    seconds=seconds(details.get("durationMs"), per_second=1000),
                    at=_at(entry),
                )
            )

    def other(self, entry: dict[str, Any], line: int) -> None:
        """Note an entry that is no message, or count it as unknown."""
        kind = words(entry.get("type"))
        match kind:
            case "compaction":
                self.turn(entry, line, TurnKind.COMPACTION)
            case "model_change":
                model = words(entry.get("modelId"))
                self.notes.add(SessionSeen(session=self.session, model=model, at=_at(entry)))
            case (
                "thinking_level_change"
                | "custom"
                | "custom_message"
                | "branch_summary"
                | "label"
                | "session_info"
                | "leaf"
            ):
                pass
            case _:
                self.notes.skip(self.version, kind or "not an entry")


def _id(entry: dict[str, Any], line: int) -> str:
    return words(entry.get("id")) or f"line {line}"


def _at(entry: dict[str, Any]) -> datetime | None:
    return instant(entry.get("timestamp")) or instant(
        mapping(entry.get("message")).get("timestamp")
    )
