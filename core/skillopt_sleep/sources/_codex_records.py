"""Reads one Codex rollout record by record; it opens no file and keeps no order between files.

Each prompt stands twice, as a response item and as an event. The event is what was given as the
user's message; a response item counts only in rollouts that have no events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from skillopt_sleep.codec import digest
from skillopt_sleep.model.record import (
    CallEnded,
    Reading,
    SessionSeen,
    TurnSeen,
)
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources._codex_tools import Meter, note_call, note_item, note_output
from skillopt_sleep.sources._codex_words import message_text, typed
from skillopt_sleep.sources._names import short
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._reading import (
    Lines,
    Notes,
    as_json,
    count,
    instant,
    items,
    loads,
    mapping,
    seconds,
    words,
)

_CWD = re.compile(r"<environment_context>\s*<cwd>(.*?)</cwd>")
_ID = re.compile(r"([0-9a-f]{8}-[0-9a-f-]{27})$")
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_EXPECTED = frozenset(
    {
        "response_item/reasoning", "response_item/ghost_snapshot", "response_item/web_search_call",
        "response_item/compaction", "response_item/compaction_summary", "response_item/other",
        "response_item/image_generation_call", "response_item/context_compaction",
        "response_item/agent_message", "response_item/compaction_trigger",
        "event_msg/agent_message", "event_msg/agent_reasoning", "event_msg/task_started",
        "event_msg/agent_reasoning_raw_content", "event_msg/agent_reasoning_section_break",
        "event_msg/task_complete", "event_msg/thread_settings_applied", "event_msg/turn_diff",
        "event_msg/plan_update", "event_msg/web_search_end", "event_msg/view_image_tool_call",
        "event_msg/entered_review_mode", "event_msg/exited_review_mode", "event_msg/error",
        "event_msg/warning", "event_msg/stream_error", "event_msg/exec_command_begin",
        "event_msg/patch_apply_begin", "event_msg/mcp_tool_call_begin", "event_msg/undo_completed",
        "event_msg/thread_name_updated", "event_msg/turn_started", "event_msg/turn_complete",
        "event_msg/item_started", "event_msg/deprecation_notice", "event_msg/guardian_assessment",
        "event_msg/dynamic_tool_call_request", "event_msg/collab_agent_spawn_begin",
        "event_msg/collab_agent_spawn_end", "event_msg/collab_waiting_begin",
        "event_msg/collab_waiting_end", "event_msg/web_search_begin",
        "event_msg/collab_agent_interaction_begin", "event_msg/collab_agent_interaction_end",
        "event_msg/collab_close_begin", "event_msg/collab_close_end",
        "event_msg/background_event", "event_msg/request_user_input",
        "event_msg/image_generation_end", "event_msg/sub_agent_activity",
    }
)  # fmt: skip
"""Kinds that hold no turn, call or usage that is not also elsewhere."""
_TOP = frozenset({"timestamp", "ordinal", "type", "payload"})


class Rollout:
    """One reading of one rollout."""

    def __init__(self, path: Path, log: Lines, notes: Notes) -> None:
        """Take up what ``log`` remembers of the readings before."""
        self._log = log
        self._notes = notes
        found = _ID.search(path.stem)
        self._session = log.state.get("session", "") or (found.group(1) if found else path.stem)
        self._named = "session" in log.state
        self._version = log.state.get("version", "")
        self._origin = log.state.get("origin", "")
        self._anchor = log.state.get("anchor", "")
        self._events = log.state.get("events", "")
        self._texts = _counts(log.state.get("texts", ""))
        self._items: list[TurnSeen] = []
        self._cwd = log.state.get("cwd", "")
        self._meter = Meter(notes, log.state)
        self._at: datetime | None = None
        self._number = 0
        self._kinds: Mapping[str, Callable[[dict[str, Any]], None]] = {
            "session_meta": self._meta,
            "turn_context": self._context,
            "response_item": self._item,
            "event_msg": self._event,
            "compacted": self._compacted,
            "token_usage_record": self._usage_record,
            "world_state": _nothing,
        }

    def read(self) -> Reading:
        """Read to the end of the log and return what was noted."""
        for number, line in self._log:
            record = mapping(loads(line))
            if record:
                self._number = number
                self._record(record)
            else:
                self._notes.skip(self._version, "not a JSON object")
        for turn in self._items:
            self._notes.add(turn)  # no event ever told them: a rollout of an early version
        state = {
            "session": self._session if self._named else "",
            "version": self._version,
            "origin": self._origin,
            "cwd": self._cwd,
            "anchor": self._anchor,
            "events": self._events,
            "texts": as_json(self._texts) if self._texts else "",
            **self._meter.memory(),
        }
        return self._notes.reading_of(
            self._log, {name: text for name, text in state.items() if text}
        )

    def _record(self, record: dict[str, Any]) -> None:
        kind = record.get("type")
        self._at = instant(record.get("timestamp")) or self._at
        self._notes.saw(self._session, record.get("timestamp"))
        read = self._kinds.get(kind) if isinstance(kind, str) else None
        payload = mapping(record.get("payload"))
        if read is not None and payload:
            read(payload)
            for unknown in record.keys() - _TOP:
                self._notes.skip(self._version, f"{kind}.{unknown}")
        elif "payload" not in record:
            self._flat(record)
        else:
            self._notes.skip(self._version, f"kind {short(str(kind))}")

    def _flat(self, record: dict[str, Any]) -> None:
        # Rollouts of early 2025 have no envelope: the items themselves, after one line of facts.
        if "record_type" in record:
            return
        if isinstance(record.get("type"), str):
            self._item(record)
        elif isinstance(record.get("id"), str):
            self._meta(record)
        else:
            self._notes.skip(self._version, "record without a type")

    def _meta(self, meta: dict[str, Any]) -> None:
        if self._named:
            return  # a fork carries its ancestors' facts behind its own
        identifier = words(meta.get("id"))
        self._session, self._named = identifier or self._session, True
        self._version = short(words(meta.get("cli_version")))
        cwd = self._cwd = words(meta.get("cwd"))
        git = mapping(meta.get("git"))
        parent = words(meta.get("parent_thread_id")) or _spawner(meta.get("source"))
        origin = _origin(meta, cwd)
        self._origin = origin
        self._notes.add(
            SessionSeen(
                session=self._session,
                origin=origin,
                parent=parent if origin is Origin.SUBAGENT else "",
                cwd=cwd,
                branch=words(git.get("branch")),
                commit=words(git.get("commit_hash")),
                version=self._version,
                at=instant(meta.get("timestamp")),
            )
        )

    def _context(self, context: dict[str, Any]) -> None:
        model = words(context.get("model"))
        self._meter.model = model or self._meter.model
        if model and self._notes.first_of_model(self._session, model):
            cwd = words(context.get("cwd"))
            self._notes.add(SessionSeen(session=self._session, model=model, cwd=cwd))

    def _usage_record(self, payload: dict[str, Any]) -> None:
        self._meter.spent(self._session, payload, self._at, self._number)

    def _item(self, item: dict[str, Any]) -> None:
        kind = words(item.get("type"))
        if kind == "message":
            self._message(item)
        elif kind in _CALLS:
            call = note_call(self._notes, self._session, item, self._number, self._at)
            self._replied(call)
        elif kind in _OUTPUTS:
            note_output(self._notes, self._session, item, self._number, self._at)
        elif f"response_item/{kind}" not in _EXPECTED:
            self._notes.skip(self._version, f"response_item/{short(kind)}")

    def _message(self, item: dict[str, Any]) -> None:
        role = item.get("role")
        text = message_text(item.get("content"))
        if role == "assistant":
            self._turn(TurnKind.ASSISTANT, text)
        elif role == "user" and not self._events and not _injected(item):
            said = typed(text)
            if not self._cwd and (found := _CWD.search(text)):
                self._cwd = found.group(1).strip()
                self._notes.add(SessionSeen(session=self._session, cwd=self._cwd))
            if said:
                self._items.append(self._seen(TurnKind.PROMPT, said, "item:"))

    def _event(self, event: dict[str, Any]) -> None:
        kind = words(event.get("type"))
        if kind == "user_message":
            self._prompt(words(event.get("message")), words(event.get("kind")))
        elif kind == "item_completed":
            item = mapping(event.get("item"))
            if item.get("type") == "UserMessage":
                self._prompt(message_text(item.get("content")), "")
            else:
                note_item(self._notes, self._session, item)
        elif kind == "token_count":
            self._meter.counted(self._session, event, self._at, self._number)
        elif kind in ("exec_command_end", "mcp_tool_call_end", "patch_apply_end"):
            self._ended(event)
        elif kind in ("turn_aborted", "thread_rolled_back", "context_compacted"):
            self._happened(kind)
        elif f"event_msg/{kind}" not in _EXPECTED:
            self._notes.skip(self._version, f"event_msg/{short(kind)}")

    def _prompt(self, text: str, kind: str) -> None:
        if kind in ("environment_context", "user_instructions"):
            return
        self._events = "1"
        self._items.clear()
        said = typed(text)
        if said:
            self._turn(TurnKind.PROMPT, said)

    def _happened(self, kind: str) -> None:
        turn = {
            "turn_aborted": TurnKind.INTERRUPT,
            "thread_rolled_back": TurnKind.REWIND,
            "context_compacted": TurnKind.COMPACTION,
        }[kind]
        self._turn(turn, "")

    def _compacted(self, _payload: dict[str, Any]) -> None:
        self._turn(TurnKind.COMPACTION, "")

    def _ended(self, event: Mapping[str, Any]) -> None:
        code = event.get("exit_code")
        known = code if isinstance(code, int) and not isinstance(code, bool) else None
        success = event.get("success")
        failed = known != 0 if known is not None else (success is False or None)
        took = mapping(event.get("duration"))
        call = words(event.get("call_id"))
        if call:
            self._notes.add(
                CallEnded(
                    session=self._session,
                    id=call,
                    error=failed,
                    exit_code=known,
                    seconds=seconds(took.get("secs")),
                    at=self._at,
                )
            )

    def _turn(self, kind: TurnKind, text: str) -> None:
        if kind is TurnKind.ASSISTANT and not text.strip():
            return
        turn = self._seen(kind, text, "")
        self._notes.add(turn)
        if kind is TurnKind.ASSISTANT:
            self._replied(turn.key)

    def _replied(self, anchor: str) -> None:
        if anchor:
            self._anchor = anchor
            self._texts.clear()

    def _seen(self, kind: TurnKind, text: str, prefix: str) -> TurnSeen:
        # The same words after the same reply are the same turn in a fork or a moved file.
        name = f"{kind}:{digest(text, self._anchor)}"
        nth = self._texts[prefix + name] = self._texts.get(prefix + name, -1) + 1
        subagent = kind is TurnKind.PROMPT and self._origin == Origin.SUBAGENT
        return TurnSeen(
            session=self._session,
            key=f"{prefix}{name}:{nth}",
            # What a subagent was asked is another agent's text.
            kind=TurnKind.ASSISTANT if subagent else kind,
            text=text,
            line=self._number,
            at=self._at,
            replaces="" if prefix or self._log.whole else f"item:{name}:{nth}",
        )


def _counts(state: str) -> dict[str, int]:
    return {name: count(times) for name, times in mapping(loads(state.encode())).items()}


def _nothing(_payload: dict[str, Any]) -> None:
    return


def _injected(item: Mapping[str, Any]) -> bool:
    kinds = items(mapping(item.get("metadata")).get("content_item_kinds"))
    return bool(kinds) and not any(str(kind).startswith("user.") for kind in kinds)


def _spawner(source: object) -> str:
    spawned = mapping(mapping(mapping(source).get("subagent")).get("thread_spawn"))
    return words(spawned.get("parent_thread_id"))


def _origin(meta: Mapping[str, Any], cwd: str) -> Origin:
    originator = meta.get("originator")
    source = meta.get("source")
    if is_own(cwd, originator):
        return Origin.OWN
    if meta.get("thread_source") == "subagent" or "subagent" in mapping(source):
        return Origin.SUBAGENT
    if meta.get("thread_source") in ("automation", "cron", "scheduled"):
        return Origin.AUTOMATION
    if originator in ("codex_exec", "codex_sdk_ts", "codex_sdk_py") or source in ("exec", "mcp"):
        return Origin.HEADLESS
    return Origin.HUMAN
