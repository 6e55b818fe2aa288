"""What a harvested log holds: sessions, turns, tool calls and usage.

Values only: who reads logs is in ``sources/``, who keeps them in ``store/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Origin(StrEnum):
    """Who started a session; only human ones are mined unless asked."""

    HUMAN = "human"
    HEADLESS = "headless"
    SUBAGENT = "subagent"
    AUTOMATION = "automation"
    OWN = "own"


class TurnKind(StrEnum):
    """What a turn is, decided from the log's fields.

    ``prompt`` was given as the user's message. ``remark`` is the human's words that stand
    elsewhere (in a rejected tool call, an answer to a question, a queue). ``command`` is a slash
    command as typed. The rest are the agent's text and events without words of the human.
    """

    PROMPT = "prompt"
    REMARK = "remark"
    COMMAND = "command"
    ASSISTANT = "assistant"
    INTERRUPT = "interrupt"
    REJECTION = "rejection"
    REWIND = "rewind"
    COMPACTION = "compaction"


HUMAN_KINDS = frozenset({TurnKind.PROMPT, TurnKind.REMARK, TurnKind.COMMAND})


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said or done in a session, in log order.

    Attributes:
        index: 0-based position among the session's turns.
        kind: What it is.
        text: The words as typed, wrappers removed and secrets replaced; may be empty for events.
        at: When, as an instant, or None where the log does not say.
        path: The log file.
        line: 0-based line (or step) in that file.
        pasted: Blocks that were pasted rather than typed, apart from ``text``.
        language: ISO 639-1 guess for human words, or "".
    """

    index: int
    kind: TurnKind
    text: str
    at: datetime | None = None
    path: str = ""
    line: int = 0
    pasted: tuple[str, ...] = ()
    language: str = ""

    @property
    def human(self) -> bool:
        """Whether a human typed it."""
        return self.kind in HUMAN_KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call of the agent with what came back.

    Attributes:
        id: The harness's id of the call.
        name: Tool name as the harness writes it, such as "Bash".
        arguments: The arguments as a JSON text.
        after: Index of the last turn before the call, or -1.
        command: The shell command, where the tool runs one, else "".
        files: Paths that the call reads or writes, as written.
        output: Head and tail of the result.
        error: Whether the harness marked it failed or its exit code was not zero.
        refused: Whether the human refused it.
        exit_code: The exit code where known.
        seconds: Duration where known.
        at: When it was called.
        path: The log file.
        line: 0-based line (or step) of the call.
    """

    id: str
    name: str
    arguments: str = "{}"
    after: int = -1
    command: str = ""
    files: tuple[str, ...] = ()
    output: str = ""
    error: bool = False
    refused: bool = False
    exit_code: int | None = None
    seconds: float | None = None
    at: datetime | None = None
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogUsage:
    """Tokens a harness reports for one model reply, each message id counted once.

    Attributes:
        day: UTC day, ``YYYY-MM-DD``.
        model: Model id as the harness writes it.
        input_tokens: Fresh input tokens.
        output_tokens: Output tokens.
        cache_read_tokens: Input tokens read from a cache.
        cache_write_tokens: Input tokens written to a cache.
    """

    day: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation with one agent, however many files it stands in.

    Attributes:
        id: Our id, ``harness:session_id``.
        harness: Registry name of the source, such as "claude".
        session_id: The harness's own id.
        path: The log file it began in.
        origin: Who started it.
        parent: Our id of the session that spawned it, or "".
        cwd: Folder the agent worked in, or "".
        branch: Git branch, or "".
        commit: Git commit at the start, or "".
        version: Harness version, or "".
        models: Model ids seen, in order of appearance.
        started_at: First instant in the log, or None.
        ended_at: Last instant in the log, or None.
        turns: In log order.
        calls: Tool calls of the main thread, in log order.
        usage: Tokens per day and model.
        skills: Names of skills invoked, in order.
    """

    id: str
    harness: str
    session_id: str
    path: str
    origin: Origin = Origin.HUMAN
    parent: str = ""
    cwd: str = ""
    branch: str = ""
    commit: str = ""
    version: str = ""
    models: tuple[str, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    turns: tuple[Turn, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    usage: tuple[LogUsage, ...] = ()
    skills: tuple[str, ...] = ()

    @property
    def prompts(self) -> tuple[Turn, ...]:
        """The human prompts, in log order."""
        return tuple(turn for turn in self.turns if turn.kind is TurnKind.PROMPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A turn that a search found.

    Attributes:
        session: Our id of the session.
        turn: Index of the turn in it.
        excerpt: The words around the match.
    """

    session: str
    turn: int
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A log that could not be read, and why; it does not end the harvest.

    Attributes:
        path: The file.
        reason: One sentence.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HarvestReport:
    """What one harvest saw.

    Attributes:
        files: Log files found, per source name.
        read: Files of which something was read, per source name.
        bytes_read: Bytes read in all.
        sessions: Sessions in the archive after it, per source name.
        new_sessions: Sessions that were not there before.
        prompts: New human prompts, per source name.
        unreadable: Files that could not be read.
        skipped: What was passed over and counted: "source/version/kind" to count.
        excluded: Sessions left out since their repository is excluded.
        alarms: Sentences that need a look, such as a format that suddenly yields no human turn.
    """

    files: Mapping[str, int] = field(default_factory=dict[str, int])
    read: Mapping[str, int] = field(default_factory=dict[str, int])
    bytes_read: int = 0
    sessions: Mapping[str, int] = field(default_factory=dict[str, int])
    new_sessions: int = 0
    prompts: Mapping[str, int] = field(default_factory=dict[str, int])
    unreadable: tuple[Unreadable, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    excluded: int = 0
    alarms: tuple[str, ...] = ()
