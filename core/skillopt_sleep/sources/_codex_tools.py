"""Codex's tool calls, their outputs and its token counters; knows no turns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from skillopt_sleep.model.record import CallEnded, CallSeen, UsageSeen
from skillopt_sleep.sources._codex_words import output_of
from skillopt_sleep.sources._reading import (
    Notes,
    as_json,
    count,
    items,
    loads,
    mapping,
    seconds,
    words,
)

_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_SHELLS = ("bash", "sh", "zsh", "pwsh", "powershell", "pwsh.exe", "powershell.exe", "cmd.exe")


def note_call(
    notes: Notes, session: str, item: Mapping[str, Any], line: int, at: datetime | None
) -> str:
    """Note a tool call; returns its id, or "" if it has none."""
    call = words(item.get("call_id")) or words(item.get("id"))
    if not call:
        notes.skip("", "tool call without an id")
        return ""
    given = item.get("arguments", item.get("input", item.get("action")))
    parsed = loads(given.encode("utf-8", "replace")) if isinstance(given, str) else given
    arguments = mapping(parsed)
    patch = given if isinstance(given, str) and not arguments else words(arguments.get("input"))
    namespace = words(item.get("namespace"))
    name = words(item.get("name")) or words(item.get("type"))
    notes.add(
        CallSeen(
            session=session,
            id=call,
            name=f"{namespace}__{name}" if namespace else name,
            line=line,
            arguments=given if isinstance(given, str) else as_json(given or {}),
            command=_command(arguments),
            files=_files(patch),
            at=at,
        )
    )
    return call


def _command(arguments: Mapping[str, Any]) -> str:
    given = arguments.get("command", arguments.get("cmd"))
    if isinstance(given, str):
        return words(given)
    parts = [words(part) for part in items(given)]
    shell = parts[0].replace("\\", "/").rpartition("/")[2] if parts else ""
    if len(parts) >= 3 and shell in _SHELLS:
        return parts[-1]
    return " ".join(parts)


def _files(patch: str) -> tuple[str, ...]:
    if "*** Begin Patch" not in patch:
        return ()
    marked = [row for row in patch.splitlines() if row.startswith(_PATCHED)]
    return tuple(dict.fromkeys(row.partition(": ")[2].strip() for row in marked))


def note_output(
    notes: Notes, session: str, item: Mapping[str, Any], line: int, at: datetime | None
) -> None:
    """Note what came back from a call."""
    call = words(item.get("call_id"))
    if not call:
        notes.skip("", f"tool output without an id at line {line}"[:24])
        return
    said = output_of(item.get("output"))
    notes.add(
        CallEnded(
            session=session,
            id=call,
            output=said.text,
            error=said.failed,
            refused=said.refused or None,
            exit_code=said.code,
            seconds=said.seconds,
            at=at,
        )
    )


def note_item(notes: Notes, session: str, item: Mapping[str, Any]) -> None:
    """Note the numeric outcome that a finished item of the newer format gives for a call."""
    kind = item.get("type")
    call = words(item.get("call_id")) or words(item.get("id"))
    if kind not in ("CommandExecution", "McpToolCall", "FileChange") or not call:
        return
    code = item.get("exit_code")
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    status = words(item.get("status")).lower()
    failed: bool | None = known != 0 if known is not None else None
    if failed is None and (status in ("failed", "declined") or item.get("error")):
        failed = True
    notes.add(
        CallEnded(
            session=session,
            id=call,
            error=failed,
            refused=True if status == "declined" else None,
            exit_code=known,
            seconds=seconds(item.get("duration_ms"), per_second=1000),
        )
    )


class Meter:
    """Token counters of a rollout: the last usage of each reply, never the running total."""

    def __init__(self, notes: Notes, state: Mapping[str, str]) -> None:
        """Take up the last total that ``memory`` returned."""
        self._notes = notes
        self._total = state.get("total", "")
        self.model = state.get("model", "")

    def memory(self) -> dict[str, str]:
        """Return what the next reading must know."""
        return {"total": self._total, "model": self.model}

    def counted(
        self, session: str, event: Mapping[str, Any], at: datetime | None, line: int
    ) -> None:
        """Note a ``token_count`` event; one that repeats the total before it adds nothing."""
        told = mapping(event.get("info"))
        total = as_json(mapping(told.get("total_token_usage")))
        last = mapping(told.get("last_token_usage"))
        if not last or total == self._total:
            return
        self._total = total
        self._note(session, last, at, line)

    def spent(
        self, session: str, payload: Mapping[str, Any], at: datetime | None, line: int
    ) -> None:
        """Note a ``token_usage_record``, unless a ``token_count`` told the same total."""
        usage = mapping(payload.get("usage"))
        last = mapping(usage.get("last_token_usage")) or mapping(payload.get("last_token_usage"))
        total = mapping(usage.get("total_token_usage")) or mapping(payload.get("total_token_usage"))
        if last and total:
            self.counted(
                session,
                {"info": {"last_token_usage": last, "total_token_usage": total}},
                at,
                line,
            )

    def _note(self, session: str, last: Mapping[str, Any], at: datetime | None, line: int) -> None:
        cached = count(last.get("cached_input_tokens"))
        stamp = at.isoformat() if at else str(line)
        self._notes.add(
            UsageSeen(
                session=session,
                key=f"{session}:{stamp}:{self._total}",
                model=self.model,
                at=at,
                input_tokens=max(0, count(last.get("input_tokens")) - cached),
                output_tokens=count(last.get("output_tokens")),
                cache_read_tokens=cached,
            )
        )
