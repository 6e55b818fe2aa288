"""Reads one Claude Code transcript record by record.

A sidechain inside a transcript, or a subagent's own file, becomes a session of its own whose
prompt is the agent's words. It opens no file and keeps no order between files.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from skillopt_sleep.model.record import Reading, SessionSeen, TurnSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources._claude_tools import note_block, note_result, note_usage
from skillopt_sleep.sources._claude_turns import OpenTurns, Queue, Spoken
from skillopt_sleep.sources._claude_words import Said, of_record, of_text, text_of
from skillopt_sleep.sources._names import short
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._reading import Lines, Notes, instant, items, loads, mapping, words

SIDECHAIN = "sidechain"
_HEADLESS = frozenset({"sdk-cli", "sdk-py", "sdk-ts", "mcp"})
_AUTOMATION = frozenset({"claude-code-github-action", "github-action", "cron", "remote-trigger"})
_EXPECTED = frozenset(
    {
        "agent-color", "agent-name", "agent-setting", "ai-title", "api-request",
        "api-request-blob", "api-request-shape", "atis-latch", "content-replacement",
        "cost-state", "custom-title", "file-history-snapshot", "last-prompt", "mode",
        "permission-mode", "pr-link", "progress", "summary", "tag", "task-summary",
        "tools-used", "worktree-state", "marble-origami-commit", "marble-origami-snapshot",
        "speculation-accept", "attribution-snapshot", "queue-state",
    }
)  # fmt: skip
"""Kinds that hold no turn, call or usage; all others that are not read are counted."""
_FIELDS = frozenset(
    {
        "agentId", "agentName", "apiError", "apiErrorStatus", "attachment", "attributionAgent",
        "attributionPlugin", "attributionSkill", "cause", "compactMetadata", "content", "cwd",
        "durationMs", "entrypoint", "error", "errorDetails", "forkedFrom", "gitBranch",
        "hasOutput", "hookAdditionalContext", "hookCount", "hookErrors", "hookInfos",
        "imagePasteIds", "interruptedMessageId", "isApiErrorMessage", "isCompactSummary",
        "isMeta", "isReplay", "isSidechain", "isVisibleInTranscriptOnly", "level",
        "logicalParentUuid", "maxRetries", "mcpMeta", "message", "messageCount",
        "microcompactMetadata", "operation", "origin", "parentToolUseID", "parentUuid",
        "permissionDecision", "permissionMode", "planContent", "preventedContinuation",
        "promptId", "promptSource", "requestId", "retryAttempt", "retryInMs", "sessionId",
        "session_id", "slug", "sourceToolAssistantUUID", "sourceToolUseID", "stopReason",
        "subtype", "summarizeMetadata", "teamName", "thinkingMetadata", "timestamp", "todos",
        "toolUseID", "toolUseResult", "turnOrigin", "type", "url", "userType", "uuid", "version",
    }
)  # fmt: skip
_TELLING = (
    "sessionId", "agentId", "isSidechain", "cwd", "gitBranch", "version", "entrypoint",
    "promptSource",
)  # fmt: skip
"""Fields that say which session a record belongs to, and how that session was started."""
_SKILL_MARK = "<skill-format>true</skill-format>"


class Transcript:
    """One reading of one transcript."""

    def __init__(self, path: Path, log: Lines, notes: Notes) -> None:
        """Take up what ``log`` remembers of the readings before."""
        self._path = path
        self._log = log
        self._notes = notes
        self._session = log.state.get("session", "")
        self._version = log.state.get("version", "")
        self._queue = Queue(log.state.get("queue", ""))
        self._facts: dict[tuple[object, ...], str] = {}
        self._mains: set[str] = set()
        self._open = OpenTurns(notes, resumed=not log.whole)
        self._opened: tuple[tuple[int, int], dict[str, str], dict[str, int]] | None = None
        self._before = log.place
        # A file of its own for a subagent names its parent in its folder or in its records.
        self._own_file = path.stem.startswith("agent-") or "subagents" in path.parts
        self._parent = _parent_of(path)

    def read(self) -> Reading:
        """Read to the end of the log and return what was noted."""
        for number, line in self._log:
            record = mapping(loads(line))
            if record:
                self._record(record, number)
            else:
                self._notes.skip(self._version, "not a JSON object")
            self._before = self._log.place
        state = self._state()
        if self._open:
            self._open.unanswered()
            state = self._reopen() or state
        return self._notes.reading_of(self._log, state)

    def _state(self) -> dict[str, str]:
        known = {
            "session": self._session,
            "version": self._version,
            "queue": self._queue.memory(),
        }
        return {name: text for name, text in known.items() if text}

    def _reopen(self) -> dict[str, str] | None:
        if self._opened is None:
            return None
        place, state, skipped = self._opened
        if place[0] <= self._log.began and self._log.full:
            return None  # one turn and a whole batch without a reply: go on
        self._log.go_back(place)
        self._notes.skipped.clear()
        self._notes.skipped.update(skipped)
        return state

    def _record(self, record: dict[str, Any], number: int) -> None:
        kind = words(record.get("type"))
        version = record.get("version")
        if isinstance(version, str):
            self._version = short(version)
        if kind == "user":
            self._user(record, number)
        elif kind == "assistant":
            self._assistant(record, number)
        elif kind == "system":
            self._system(record, number)
        elif kind == "queue-operation":
            self._queued(record, number)
        elif kind == "attachment":
            self._attachment(record, number)
        elif kind not in _EXPECTED:
            self._notes.skip(self._version, f"kind {short(kind)}")
            return
        if kind not in _EXPECTED and not _FIELDS.issuperset(record):
            for unknown in sorted(record.keys() - _FIELDS)[:20]:
                self._notes.skip(self._version, f"{short(kind, 30)}.{unknown}")

    def _main(self, record: Mapping[str, Any]) -> str:
        """Return the session this record belongs to, its facts noted; subagents have their own."""
        facts = tuple(map(record.get, _TELLING))
        try:
            session = self._facts.get(facts, "")
        except TypeError:  # a list or an object where a text belongs
            facts, session = (), ""
        if not session:
            session = self._see(record)
            self._facts[facts] = session
        self._notes.saw(session, record.get("timestamp"))
        return session

    def _see(self, record: Mapping[str, Any]) -> str:
        named = words(record.get("sessionId")) or self._session or self._path.stem
        agent = words(record.get("agentId"))
        session, parent, part = named, "", ""
        if self._own_file:
            parent = self._parent or named
            session = f"{parent}:{agent or self._path.stem.removeprefix('agent-')}"
        elif record.get("isSidechain") is True:
            parent, part = named, SIDECHAIN
            session = f"{named}:{agent or SIDECHAIN}"
        cwd = words(record.get("cwd"))
        self._notes.add(
            SessionSeen(
                session=session,
                origin=_origin(record, cwd, parent),
                parent=parent,
                cwd=cwd,
                branch=words(record.get("gitBranch")),
                version=short(words(record.get("version"))) or self._version,
                part=part,
            )
        )
        if not parent:
            self._session = session
            self._mains.add(session)
        return session

    def _user(self, record: dict[str, Any], number: int) -> None:
        session = self._main(record)
        content = mapping(record.get("message")).get("content")
        results = [block for block in items(content) if mapping(block).get("type") == "tool_result"]
        for block in results:
            note_result(self._notes, session, mapping(block), record, number)
        if results and (
            record.get("toolUseResult") is not None or len(results) == len(items(content))
        ):
            return
        said = of_record(record, text_of(content))
        if said.kind is None and session not in self._mains and record.get("isMeta") is not True:
            said = of_text(text_of(content))  # what a subagent was asked, whoever asked it
        if said.kind is None:
            pass  # the harness's own, known as such
        elif said.kind is TurnKind.COMPACTION:
            self._event(record, said.kind, number, key=words(record.get("parentUuid")))
        elif said.kind is TurnKind.INTERRUPT:
            self._event(record, said.kind, number)
        else:
            self._spoken(record, said, number)
            if said.kind is TurnKind.COMMAND and _SKILL_MARK in text_of(content):
                self._notes.add(SessionSeen(session=session, skill=said.text.split()[0][1:]))

    def _spoken(self, record: Mapping[str, Any], said: Said, number: int) -> None:
        session = self._main(record)
        at = instant(record.get("timestamp"))
        uuid = words(record.get("uuid"))
        if session not in self._mains:
            # What a subagent was asked is the agent's text, not a human's.
            self._turn(session, TurnKind.ASSISTANT, f"asked:{uuid}", said.text, number, at)
            return
        kind = said.kind or TurnKind.PROMPT
        queued = self._queue.delivered(said.text)
        if not self._open:
            self._opened = (self._before, self._state(), dict(self._notes.skipped))
        self._open.add(
            Spoken(
                session=session,
                kind=kind,
                text=said.text,
                line=number,
                at=at,
                uuid=uuid,
                queued=queued[0] if queued else "",
            )
        )
        for gone in queued[1:]:
            self._take_back(session, gone, number, at)

    def _take_back(self, session: str, key: str, number: int, at: datetime | None) -> None:
        # The prompt was noted when it was queued; now it stands elsewhere, or nowhere.
        self._notes.add(
            TurnSeen(
                session=session,
                key=f"back:{key}",
                kind=TurnKind.REWIND,
                text="",
                line=number,
                at=at,
                replaces=key,
            )
        )

    def _event(
        self, record: Mapping[str, Any], kind: TurnKind, number: int, *, key: str = ""
    ) -> None:
        at = instant(record.get("timestamp"))
        name = key or words(record.get("uuid")) or str(number)
        self._turn(self._main(record), kind, f"{kind}:{name}", "", number, at)

    def _turn(
        self,
        session: str,
        kind: TurnKind,
        key: str,
        text: str,
        number: int,
        at: datetime | None,
    ) -> None:
        self._notes.add(
            TurnSeen(session=session, key=key, kind=kind, text=text, line=number, at=at)
        )

    def _assistant(self, record: dict[str, Any], number: int) -> None:
        session = self._main(record)
        message = mapping(record.get("message"))
        reply = words(message.get("id")) or words(record.get("uuid"))
        model = words(message.get("model"))
        real = model != "<synthetic>"
        if self._open and real and session in self._mains and reply:
            self._open.answered(reply)
        at = instant(record.get("timestamp"))
        content = message.get("content")
        blocks = (
            items(content) if not isinstance(content, str) else [{"type": "text", "text": content}]
        )
        for block in blocks:
            unknown = note_block(self._notes, session, mapping(block), reply, (number, at))
            if unknown:
                self._notes.skip(self._version, f"assistant block {unknown}")
        if real:
            note_usage(self._notes, session, message, reply, at)

    def _system(self, record: dict[str, Any], number: int) -> None:
        subtype = record.get("subtype")
        if subtype == "compact_boundary":
            self._event(record, TurnKind.COMPACTION, number)
        elif subtype == "local_command":
            said = of_text(words(record.get("content")))
            if said.kind is TurnKind.COMMAND and record.get("isMeta") is not True:
                self._spoken(record, said, number)

    def _queued(self, record: dict[str, Any], number: int) -> None:
        operation = record.get("operation")
        said = of_text(text_of(record.get("content")))
        session = words(record.get("sessionId")) or self._session or self._path.stem
        at = instant(record.get("timestamp"))
        if self._own_file:
            return
        if operation == "enqueue":
            human = said.kind is TurnKind.PROMPT and not said.text.startswith("/")
            key = self._queue.enqueued(said.text, words(record.get("timestamp")) or str(number))
            if human:
                self._session = self._session or session
                self._turn(session, TurnKind.PROMPT, key, said.text, number, at)
        elif operation == "dequeue":
            self._queue.dequeued(said.text)
        elif operation == "remove":
            self._queue.removed(said.text)
        elif operation == "popAll":
            for key in self._queue.taken_back(said.text):
                self._take_back(session, key, number, at)

    def _attachment(self, record: dict[str, Any], number: int) -> None:
        attachment = mapping(record.get("attachment"))
        if attachment.get("type") != "queued_command" or record.get("isSidechain") is True:
            return
        kind = mapping(attachment.get("origin")).get("kind", "human")
        if attachment.get("commandMode", "prompt") != "prompt" or kind != "human":
            return
        said = of_text(text_of(attachment.get("prompt")))
        if said.kind is TurnKind.PROMPT and attachment.get("isMeta") is not True:
            self._spoken(record, said, number)


def _parent_of(path: Path) -> str:
    """Return the session whose folder of subagents holds ``path``, or ""."""
    for folder in path.parents:
        if folder.name == "subagents":
            return folder.parent.name
    return ""


def _origin(record: Mapping[str, Any], cwd: str, parent: str) -> Origin | None:
    started = words(record.get("entrypoint"))
    if is_own(cwd, started):
        return Origin.OWN
    if parent:
        return Origin.SUBAGENT
    if started in _HEADLESS or record.get("promptSource") == "sdk":
        return Origin.HEADLESS
    if started in _AUTOMATION:
        return Origin.AUTOMATION
    return Origin.HUMAN
