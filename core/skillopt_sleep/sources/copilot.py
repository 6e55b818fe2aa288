"""Reads Copilot CLI sessions: ``~/.copilot/session-state/<id>/events.jsonl``.

``content`` is what was typed, ``transformedContent`` is not looked at. Events of unknown kinds
outside the families below are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from skillopt_sleep.model.record import CallEnded, Cursor, Reading, SessionSeen, TurnSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources import Source
from skillopt_sleep.sources._copilot_usage import Tokens
from skillopt_sleep.sources._lines import regular
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._places import globbed, moved
from skillopt_sleep.sources._reading import (
    Notes,
    instant,
    items,
    lines,
    loads,
    mapping,
    words,
)
from skillopt_sleep.sources._tools import call, exit_code, failed
from skillopt_sleep.world import World

_TYPED = frozenset({"", "user", "immediate-prompt"})
"""Values of ``source`` on a message that the human sent."""
_BOOKKEEPING = (
    "assistant.turn_",
    "assistant.reasoning",
    "assistant.intent",
    "assistant.usage",
    "hook.",
    "mcp.",
    "model.",
    "session.",
    "subagent.",
    "system.",
    "tool.execution_",
    "tool.user_requested",
    "user_input.",
    "elicitation.",
    "pending_messages.",
    "permission.",
)
_BEGINS = ("session.start", "session.resume")
_HEADLESS = "You are running in non-interactive mode"
"""What the client tells the model in a run with ``-p``; no field says it."""
_REJECTED = "denied-interactively-by-user"


class CopilotSource:
    """Reads ``events.jsonl``, grown or whole."""

    @property
    def name(self) -> str:
        """Registry name."""
        return "copilot"

    def files(self, world: World) -> Iterator[Path]:
        """Yield every event log under the home, sorted.

        Raises:
            SourceError: The sessions folder may not be listed.
        """
        folder = moved(world, "COPILOT_HOME", ".copilot") / "session-state"
        yield from globbed(folder, "*/events.jsonl", "*.jsonl")

    def read(self, path: Path, cursor: Cursor | None) -> Reading:
        """Read the events after ``cursor``; raises OSError if the file cannot be read."""
        log = lines(path, cursor)
        events = _Events(path, log.state)
        for number, line in log:
            events.take(number, loads(line))
        return events.notes.reading_of(log, events.state)


class _Events:
    """Turns events into records; ``state`` is what the next reading must know."""

    def __init__(self, path: Path, state: Mapping[str, str]) -> None:
        self.notes = Notes()
        self.state = dict(state)
        self._path = path
        named = path.parent.name if path.name == "events.jsonl" else path.stem
        self.state.setdefault("session", named)
        self._tokens = Tokens(self.notes, self.state)
        self._called: set[tuple[str, str]] = set()
        self._began: dict[str, datetime] = {}
        self._apart: set[str] = set()

    @property
    def _version(self) -> str:
        return self.state.get("version", "")

    def take(self, line: int, value: object) -> None:
        """Note one event."""
        event = mapping(value)
        kind, given = words(event.get("type")), mapping(event.get("data"))
        at = instant(event.get("timestamp"))
        if kind in _BEGINS and (told := words(given.get("sessionId"))):
            self.state["session"] = told
        session = self._session(event, given)
        if at:
            self.notes.saw(session, at)
        match kind:
            case "session.start" | "session.resume" | "session.context_changed":
                self._context(given, at)
            case "user.message":
                self._user(event, given, session, line)
            case "assistant.message":
                self._assistant(event, given, session, line)
            case "tool.execution_start" | "tool.execution_complete":
                self._tool(kind, given, session, line=line, at=at)
            case "permission.requested" | "permission.completed":
                self._permission(event, given, session, line)
            case "session.usage_record":
                self._tokens.record(given, session, at)
            case "session.shutdown":
                self._tokens.shutdown(words(event.get("id")), given, session, at)
            case _:
                self._other(event, given, session, line)

    def _session(self, event: dict[str, Any], given: dict[str, Any]) -> str:
        """Return the session of an event: a subagent's are apart from the main thread."""
        main = self.state["session"]
        agent = words(event.get("agentId")) or words(given.get("parentToolCallId"))
        if not agent:
            return main
        session = f"{main}/{agent}"
        if session not in self._apart:
            self._apart.add(session)
            self.notes.add(SessionSeen(session=session, origin=Origin.SUBAGENT, parent=main))
        return session

    def _context(self, given: dict[str, Any], at: datetime | None) -> None:
        if version := words(given.get("copilotVersion")):
            self.state["version"] = version
        where = mapping(given.get("context")) or _workspace(self._path) or given
        cwd = words(where.get("cwd"))
        model = words(given.get("selectedModel"))
        self.state["model"] = model or self.state.get("model", "")
        self.notes.add(
            SessionSeen(
                session=self.state["session"],
                origin=Origin.OWN if is_own(cwd) else None,
                cwd=cwd,
                branch=words(where.get("branch")),
                commit=words(where.get("headCommit")),
                version=self._version,
                model=model,
                at=at,
            )
        )

    def _user(self, event: dict[str, Any], given: dict[str, Any], session: str, line: int) -> None:
        text, source = words(given.get("content")), words(given.get("source"))
        if session != self.state["session"] or not text.strip():
            return
        if given.get("isAutopilotContinuation") is True:
            return
        if source not in _TYPED:
            self.notes.skip(self._version, f"user.message from {source.split('-')[0]}")
            return
        shell = given.get("agentMode") == "shell"
        kind = TurnKind.COMMAND if shell else TurnKind.PROMPT
        self._turn(kind, event, session, line, text=text)

    def _turn(
        self,
        kind: TurnKind,
        event: dict[str, Any],
        session: str,
        line: int,
        *,
        text: str = "",
    ) -> None:
        self.notes.add(
            TurnSeen(
                session=session,
                key=words(event.get("id")) or f"line {line}",
                kind=kind,
                text=text,
                line=line,
                at=instant(event.get("timestamp")),
            )
        )

    def _assistant(
        self, event: dict[str, Any], given: dict[str, Any], session: str, line: int
    ) -> None:
        at = instant(event.get("timestamp"))
        if text := words(given.get("content")):
            self._turn(TurnKind.ASSISTANT, event, session, line, text=text)
        for request in map(mapping, items(given.get("toolRequests"))):
            id, name = words(request.get("toolCallId")), words(request.get("name"))
            self._call(session, id, name, arguments=request.get("arguments"), line=line, at=at)
        model = words(given.get("model")) or self.state.get("model", "")
        if model and self.notes.first_of_model(session, model):
            self.notes.add(SessionSeen(session=session, model=model))
        self._tokens.reply(given, session, model=model, at=at)

    def _call(
        self,
        session: str,
        id: str,
        name: str,
        *,
        arguments: object,
        line: int,
        at: datetime | None,
    ) -> None:
        if id and name and (session, id) not in self._called:
            self._called.add((session, id))
            self.notes.add(call(session, id, name, arguments=arguments, line=line, at=at))

    def _tool(
        self,
        kind: str,
        given: dict[str, Any],
        session: str,
        *,
        line: int,
        at: datetime | None,
    ) -> None:
        id = words(given.get("toolCallId"))
        if kind == "tool.execution_start":
            name = words(given.get("toolName"))
            self._call(session, id, name, arguments=given.get("arguments"), line=line, at=at)
            if at:
                self._began[id] = at
            return
        success, began = given.get("success"), self._began.pop(id, None)
        trouble, came = mapping(given.get("error")), mapping(given.get("result"))
        shell = mapping(given.get("shellExecution")) or mapping(came.get("shellExecution"))
        code = exit_code(shell.get("exitCode"))
        flag = not success if isinstance(success, bool) else None
        self.notes.add(
            CallEnded(
                session=session,
                id=id,
                output=words(trouble.get("message")) or words(came.get("content")),
                error=failed(flag=flag, exit_code=code),
                refused=True if trouble.get("code") == "rejected" else None,
                exit_code=code,
                seconds=(at - began).total_seconds() if at and began and at >= began else None,
                at=at,
            )
        )

    def _permission(
        self, event: dict[str, Any], given: dict[str, Any], session: str, line: int
    ) -> None:
        asked = f"asked:{words(given.get('requestId'))}"
        if event.get("type") == "permission.requested":
            wanted = mapping(given.get("permissionRequest"))
            self.state[asked] = words(wanted.get("toolCallId"))
            return
        id = self.state.pop(asked, "") or words(given.get("toolCallId"))
        answer = mapping(given.get("result"))
        if answer.get("kind") != _REJECTED:
            return
        self._turn(TurnKind.REJECTION, event, session, line)
        if id:
            self.notes.add(CallEnded(session=session, id=id, error=True, refused=True))
        if feedback := words(answer.get("feedback")):
            remark = {**event, "id": f"{words(event.get('id'))}:feedback"}
            self._turn(TurnKind.REMARK, remark, session, line, text=feedback)

    def _other(self, event: dict[str, Any], given: dict[str, Any], session: str, line: int) -> None:
        kind = words(event.get("type"))
        if kind == "session.model_change":
            self.state["model"] = words(given.get("newModel"))
            self.notes.add(SessionSeen(session=session, model=self.state["model"]))
        elif kind == "skill.invoked":
            self.notes.add(SessionSeen(session=session, skill=words(given.get("name"))))
        elif kind == "system.message" and _HEADLESS in words(given.get("content")):
            self.notes.add(SessionSeen(session=session, origin=Origin.HEADLESS))
        elif kind == "abort":
            self._turn(TurnKind.INTERRUPT, event, session, line)
        elif kind == "session.compaction_complete":
            self._turn(TurnKind.COMPACTION, event, session, line)
        elif kind == "session.snapshot_rewind":
            self._turn(TurnKind.REWIND, event, session, line)
        elif not kind.startswith(_BOOKKEEPING):
            self.notes.skip(self._version, kind or "not an event")


def _workspace(path: Path) -> dict[str, Any]:
    """Return what ``workspace.yaml`` beside the log says, or nothing."""
    try:
        with regular(path.with_name("workspace.yaml")) as side:
            return mapping(yaml.safe_load(side.read(65_536).decode("utf-8", "replace")))
    except (OSError, yaml.YAMLError):
        return {}


_CONFORMS: type[Source] = CopilotSource
