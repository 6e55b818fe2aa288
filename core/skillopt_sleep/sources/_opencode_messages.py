"""The messages of one OpenCode session, from its store or an export, as records.

A text part that is synthetic or ignored was written by the client, not by the human.
"""

from __future__ import annotations

from typing import Any

from skillopt_sleep.model.record import CallEnded, SessionSeen, TurnSeen, UsageSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._reading import (
    Notes,
    count,
    instant,
    items,
    loads,
    mapping,
    words,
)
from skillopt_sleep.sources._tools import call, exit_code, failed, is_command

_KNOWN = frozenset(
    {
        "text",
        "tool",
        "reasoning",
        "file",
        "agent",
        "snapshot",
        "patch",
        "retry",
        "step-start",
        "step-finish",
        "compaction",
        "subtask",
    }
)
_REJECTED = "The user rejected permission to use this specific tool call"
_FEEDBACK = " with the following feedback: "


class Conversation:
    """Notes a session and its messages in order."""

    def __init__(self, notes: Notes, info: dict[str, Any], *, session: str) -> None:
        """Note what ``info``, a row of the store or the head of an export, says of ``session``."""
        self._notes = notes
        self._session = session
        self._version = words(info.get("version"))
        self._line = -1
        parent = words(info.get("parent_id")) or words(info.get("parentID"))
        cwd = words(info.get("directory"))
        unasked = Origin.HEADLESS if _never_asks(info) else None
        own = Origin.OWN if is_own(cwd) else unasked
        self._subagent = bool(parent)
        notes.add(
            SessionSeen(
                session=session,
                origin=Origin.SUBAGENT if parent else own,
                parent=parent,
                cwd=cwd,
                version=self._version,
                at=instant(mapping(info.get("time")).get("created")),
            )
        )
        if info.get("revert"):
            self._turn(TurnKind.REWIND, {}, "", key="revert")

    def take(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """Note one message with its parts."""
        self._line += 1
        role = words(message.get("role"))
        for part in parts:
            kind = words(part.get("type"))
            if kind not in _KNOWN:
                self._notes.skip(self._version, f"part {kind or 'of no type'}")
            elif kind == "compaction":
                self._turn(TurnKind.COMPACTION, message, "", key=_key(message, part))
        if role == "user":
            self._user(message, parts)
        elif role == "assistant":
            self._assistant(message, parts)
        else:
            self._notes.skip(self._version, f"message of {role or 'nobody'}")

    def _user(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        if self._subagent:
            return
        typed = [
            words(part.get("text"))
            for part in parts
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
        ]
        text = "\n".join(one for one in typed if one.strip())
        if text:
            kind = TurnKind.COMMAND if is_command(text) else TurnKind.PROMPT
            self._turn(kind, message, text, key=_key(message))
        for part in parts:
            if part.get("type") == "subtask" and (name := words(part.get("command"))):
                self._turn(TurnKind.COMMAND, message, f"/{name}", key=_key(message, part))

    def _turn(self, kind: TurnKind, message: dict[str, Any], text: str, *, key: str) -> None:
        self._notes.add(
            TurnSeen(
                session=self._session,
                key=key,
                kind=kind,
                text=text,
                line=max(self._line, 0),
                at=instant(mapping(message.get("time")).get("created")),
            )
        )

    def _assistant(self, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        self._facts(message)
        said = [words(part.get("text")) for part in parts if part.get("type") == "text"]
        text = "\n".join(one for one in said if one.strip())
        if text and not message.get("summary"):
            self._turn(TurnKind.ASSISTANT, message, text, key=_key(message))
        for part in parts:
            if part.get("type") == "tool":
                self._tool(message, part)
        if mapping(message.get("error")).get("name") == "MessageAbortedError":
            self._turn(TurnKind.INTERRUPT, message, "", key=f"{_key(message)}:stopped")

    def _facts(self, message: dict[str, Any]) -> None:
        model, at = words(message.get("modelID")), mapping(message.get("time")).get("created")
        tokens = mapping(message.get("tokens"))
        cache = mapping(tokens.get("cache"))
        self._notes.add(SessionSeen(session=self._session, model=model, at=instant(at)))
        spent = UsageSeen(
            session=self._session,
            key=_key(message),
            model=model,
            at=instant(at),
            input_tokens=count(tokens.get("input")),
            output_tokens=count(tokens.get("output")) + count(tokens.get("reasoning")),
            cache_read_tokens=count(cache.get("read")),
            cache_write_tokens=count(cache.get("write")),
        )
        if spent.input_tokens or spent.output_tokens or spent.cache_read_tokens:
            self._notes.add(spent)

    def _tool(self, message: dict[str, Any], part: dict[str, Any]) -> None:
        state = mapping(part.get("state"))
        span, extra = mapping(state.get("time")), mapping(state.get("metadata"))
        began, ended = instant(span.get("start")), instant(span.get("end"))
        id, name = words(part.get("callID")) or _key(message, part), words(part.get("tool"))
        given = state.get("input")
        self._notes.add(call(self._session, id, name, arguments=given, line=self._line, at=began))
        status, trouble = state.get("status"), words(state.get("error"))
        if status not in ("completed", "error"):
            return
        code = exit_code(extra.get("exit"))
        refused = status == "error" and trouble.startswith(_REJECTED)
        self._notes.add(
            CallEnded(
                session=self._session,
                id=id,
                output=trouble or words(state.get("output")),
                error=failed(flag=status == "error", exit_code=code),
                refused=refused or None,
                exit_code=code,
                seconds=(ended - began).total_seconds() if began and ended else None,
                at=ended,
            )
        )
        if refused:
            self._turn(TurnKind.REJECTION, message, "", key=f"{id}:refused")
            self._remark(message, trouble.partition(_FEEDBACK)[2], key=f"{id}:feedback")
        if name == "question":
            for number, answer in enumerate(items(extra.get("answers"))):
                chosen = "\n".join(words(one) for one in items(answer)) or words(answer)
                self._remark(message, chosen, key=f"{id}:{number}")

    def _remark(self, message: dict[str, Any], text: str, *, key: str) -> None:
        if text:
            self._turn(TurnKind.REMARK, message, text, key=key)


def _never_asks(info: dict[str, Any]) -> bool:
    """Return whether the session may ask nobody anything, as one of ``opencode run`` may not."""
    rules = info.get("permission")
    if isinstance(rules, str):
        rules = loads(rules.encode("utf-8", "replace"))
    return any(
        rule.get("permission") == "question" and rule.get("action") == "deny"
        for rule in map(mapping, items(rules))
    )


def _key(message: dict[str, Any], part: dict[str, Any] | None = None) -> str:
    own = words(message.get("id"))
    return f"{own}:{words(part.get('id'))}" if part else own
