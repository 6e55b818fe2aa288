"""What a source reads from a log, one record at a time, before the store puts sessions together.

Every record names its session and, where the harness gives one, a key, so that a resumed or
copied log counts once. A record says what a field says; it guesses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from skillopt_sleep.model.session import Origin, TurnKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSeen:
    """Facts about a session; a later non-empty field wins, but origin human never does.

    Attributes:
        session: The harness's own session id.
        origin: Who started it, or None where this record does not say.
        parent: The harness's id of the session that spawned it, or "".
        cwd: Folder, or "".
        branch: Git branch, or "".
        commit: Git commit, or "".
        version: Harness version, or "".
        model: Model id, or "".
        skill: Name of a skill invoked just now, or "".
        part: Name of the part of the file, where one file holds several sessions, or "".
        at: When, or None.
    """

    session: str
    origin: Origin | None = None
    parent: str = ""
    cwd: str = ""
    branch: str = ""
    commit: str = ""
    version: str = ""
    model: str = ""
    skill: str = ""
    part: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSeen:
    """Something said or done.

    Attributes:
        session: The harness's own session id.
        key: Unique in the session; the same turn read twice has the same key.
        kind: What it is.
        text: The words as typed, wrappers removed.
        line: 0-based line or step.
        at: When, or None.
        pasted: Pasted blocks, apart from ``text``.
        replaces: Key of a turn read earlier that this one stands for, or "".
    """

    session: str
    key: str
    kind: TurnKind
    text: str
    line: int
    at: datetime | None = None
    pasted: tuple[str, ...] = ()
    replaces: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSeen:
    """A tool call as the agent made it.

    Attributes:
        session: The harness's own session id.
        id: The harness's id of the call.
        name: Tool name.
        arguments: The arguments as a JSON text.
        line: 0-based line or step.
        command: The shell command where the tool runs one, else "".
        files: Paths it names.
        at: When, or None.
    """

    session: str
    id: str
    name: str
    line: int
    arguments: str = "{}"
    command: str = ""
    files: tuple[str, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """What came back from a tool call; fields that are None or "" leave what is known alone.

    Attributes:
        session: The harness's own session id.
        id: The harness's id of the call.
        output: The text that came back; head and tail are kept after redaction.
        error: Whether the harness marked it failed or its exit code was not zero.
        refused: Whether the human refused it.
        exit_code: Exit code where the log says it.
        seconds: Duration where the log says it.
        at: When, or None.
    """

    session: str
    id: str
    output: str = ""
    error: bool | None = None
    refused: bool | None = None
    exit_code: int | None = None
    seconds: float | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSeen:
    """Token counts of one reply; records of one key keep the maximum of each field.

    Attributes:
        session: The harness's own session id.
        key: Message id, unique over the harness.
        model: Model id.
        at: When, or None.
        input_tokens: Fresh input tokens.
        output_tokens: Output tokens.
        cache_read_tokens: Input tokens read from a cache.
        cache_write_tokens: Input tokens written to a cache.
    """

    session: str
    key: str
    model: str = ""
    at: datetime | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


Record = SessionSeen | TurnSeen | CallSeen | CallEnded | UsageSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Where reading a file ended, so that a grown file is read on from there.

    Attributes:
        offset: Bytes consumed, up to the end of the last whole line.
        line: Lines consumed.
        head: Hash of the file's first bytes; another hash means it was rewritten.
        state: What the source must remember between readings, as short texts.
    """

    offset: int = 0
    line: int = 0
    head: str = ""
    state: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one reading of one file gave.

    Attributes:
        records: In log order, redacted.
        cursor: Where to read on.
        skipped: Count of what was passed over, by "version/kind".
        bytes_read: Bytes looked at.
        whole: Whether the records replace all that was known from this file (it was rewritten, or
            its format is one document).
    """

    records: tuple[Record, ...]
    cursor: Cursor
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    bytes_read: int = 0
    whole: bool = False
