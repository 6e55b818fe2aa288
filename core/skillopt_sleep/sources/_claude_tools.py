"""Tool calls, their results and token counts in Claude Code's records; knows no human turn rules.

The human's words inside a refused call or an answered question are noted as remarks here, since
they stand in tool results.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from skillopt_sleep.codec import digest
from skillopt_sleep.model.record import CallEnded, CallSeen, SessionSeen, TurnSeen, UsageSeen
from skillopt_sleep.model.session import TurnKind
from skillopt_sleep.sources._claude_words import answers, rejected, text_of, words_of_rejection
from skillopt_sleep.sources._names import short
from skillopt_sleep.sources._reading import (
    Notes,
    as_json,
    count,
    instant,
    mapping,
    seconds,
    words,
)

_EXIT = re.compile(r"\s*(?:Error: )?Exit code (-?\d{1,6})\b")
_FILES = ("file_path", "notebook_path", "path")
_SILENT = frozenset({"thinking", "redacted_thinking", "server_tool_use", "fallback", "image"})
Place = tuple[int, datetime | None]


def note_block(
    notes: Notes, session: str, block: Mapping[str, Any], reply: str, place: Place
) -> str:
    """Note one block of a reply; returns its kind if that is not known, else ""."""
    line, at = place
    kind = block.get("type")
    if kind == "tool_use":
        _note_call(notes, session, block, place)
    elif kind == "text":
        text = words(block.get("text"))
        if text.strip():
            notes.add(
                TurnSeen(
                    session=session,
                    key=f"{reply}:{digest(text)}",
                    kind=TurnKind.ASSISTANT,
                    text=text,
                    line=line,
                    at=at,
                )
            )
    elif kind not in _SILENT and not str(kind).endswith("_tool_result"):
        return short(str(kind))
    return ""


def _note_call(notes: Notes, session: str, block: Mapping[str, Any], place: Place) -> None:
    line, at = place
    given = mapping(block.get("input"))
    name = words(block.get("name"))
    identifier = words(block.get("id"))
    if not identifier:
        notes.skip("", "tool call without an id")
        return
    notes.add(
        CallSeen(
            session=session,
            id=identifier,
            name=name,
            line=line,
            arguments=as_json(given),
            command=words(given.get("command")),
            files=tuple(words(given[key]) for key in _FILES if words(given.get(key))),
            at=at,
        )
    )
    if name == "Skill":
        skill = words(given.get("skill")) or words(given.get("command"))
        if skill:
            notes.add(SessionSeen(session=session, skill=skill.removeprefix("/"), at=at))


def note_result(
    notes: Notes, session: str, block: Mapping[str, Any], record: Mapping[str, Any], line: int
) -> None:
    """Note what came back from a call, and what the human said in it."""
    call = words(block.get("tool_use_id"))
    if not call:
        notes.skip("", "tool result without an id")
        return
    error = block.get("is_error") is True
    text = text_of(block.get("content"))
    refused = rejected(text, record, error=error)
    at = instant(record.get("timestamp"))
    more = mapping(record.get("toolUseResult"))
    code = _EXIT.match(text) if error else None
    notes.add(
        CallEnded(
            session=session,
            id=call,
            output=text,
            error=error or refused,
            refused=refused,
            exit_code=int(code.group(1)) if code else None,
            seconds=seconds(more.get("durationMs", more.get("totalDurationMs")), per_second=1000),
            at=at,
        )
    )
    spoken = words_of_rejection(text) if refused else answers(more)
    turns = [(TurnKind.REJECTION, "rejected", "")] if refused else []
    turns += [(TurnKind.REMARK, "said", spoken)] if spoken else []
    for kind, name, said in turns:
        notes.add(
            TurnSeen(session=session, key=f"{name}:{call}", kind=kind, text=said, line=line, at=at)
        )


def note_usage(
    notes: Notes,
    session: str,
    message: Mapping[str, Any],
    reply: str,
    at: datetime | None,
) -> None:
    """Note the token counts of a reply; later records of the same reply count more, never twice."""
    usage = mapping(message.get("usage"))
    model = words(message.get("model"))
    if not usage or not reply:
        return
    notes.add(
        UsageSeen(
            session=session,
            key=reply,
            model=model,
            at=at,
            input_tokens=count(usage.get("input_tokens")),
            output_tokens=count(usage.get("output_tokens")),
            cache_read_tokens=count(usage.get("cache_read_input_tokens")),
            cache_write_tokens=count(usage.get("cache_creation_input_tokens")),
        )
    )
    if model and notes.first_of_model(session, model):
        notes.add(SessionSeen(session=session, model=model, at=at))
