"""What all log formats share: values out of JSON, instants, clips, and notes that become a reading.

Every text that is kept passes ``Notes.add``, which replaces secrets before it cuts anything. It
knows no format and no store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import orjson

from skillopt_sleep.model.record import (
    CallEnded,
    CallSeen,
    Cursor,
    Reading,
    Record,
    SessionSeen,
    TurnSeen,
)
from skillopt_sleep.model.session import TurnKind
from skillopt_sleep.redact import redact
from skillopt_sleep.sources._clips import (
    CUT,
    HEAD,
    MAX_ARGUMENTS,
    MAX_ASSISTANT,
    MAX_HUMAN,
    TAIL,
    Cut,
    clip,
    clipped,
    cut_of,
    mended,
)
from skillopt_sleep.sources._lines import (
    BATCH,
    MAX_DOCUMENT,
    MAX_LINE,
    Lines,
    document,
    document_cursor,
    lines,
    loads,
    walk,
)
from skillopt_sleep.sources._names import short

__all__ = [
    "BATCH",
    "CUT",
    "HEAD",
    "MAX_ARGUMENTS",
    "MAX_ASSISTANT",
    "MAX_DOCUMENT",
    "MAX_HUMAN",
    "MAX_LINE",
    "TAIL",
    "Lines",
    "Notes",
    "as_json",
    "clip",
    "count",
    "document",
    "document_cursor",
    "instant",
    "items",
    "lines",
    "loads",
    "mapping",
    "seconds",
    "walk",
    "words",
]

_MOST_FILES = 100
_GROUP = 32_768
"""Characters that are redacted in one pass."""
_EARLIEST, _LATEST = 946_684_800.0, 4_102_444_800.0  # 2000 to 2100


def mapping(value: object) -> dict[str, Any]:
    """Return ``value`` if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return ``value`` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def words(value: object) -> str:
    """Return ``value`` if it is a text that UTF-8 can hold (else mended), or "" if it is none."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else mended(value)


def count(value: object) -> int:
    """Return ``value`` as a count that fits 63 bits, or 0 if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return 0
    return int(min(max(value, 0), 2**53))


def seconds(value: object, *, per_second: float = 1.0) -> float | None:
    """Return a duration in seconds, where ``value`` counts ``per_second`` to the second."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value / per_second if 0 <= value < 1e12 else None


def instant(value: object) -> datetime | None:
    """Return the instant, in UTC, of an ISO 8601 text or of epoch seconds or milliseconds.

    A text without a zone is taken as UTC. None if it is no time between 2000 and 2100.
    """
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        try:
            at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except OverflowError:
            return None
        return at if 2000 <= at.year < 2100 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    stamp = value / 1000 if value > _LATEST else value
    return datetime.fromtimestamp(stamp, UTC) if _EARLIEST <= stamp < _LATEST else None


def as_json(value: object) -> str:
    """Return ``value`` as a JSON text; one that cannot be written becomes "{}"."""
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, RecursionError):
        pass
    try:
        return json.dumps(value)
    except (ValueError, TypeError, RecursionError):
        return "{}"


class Notes:
    """Collects the records of one reading, each redacted and cut on entry.

    Attributes:
        skipped: Count of what was passed over, by "version/kind".
    """

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._raw: list[tuple[int, list[Cut]]] = []
        self._waiting = 0
        self.skipped: Counter[str] = Counter()
        self._span: dict[str, tuple[str, str]] = {}
        self._models: set[tuple[str, str]] = set()

    def add(self, record: Record) -> None:
        """Keep ``record``, its texts redacted and cut to the caps of this module."""
        if isinstance(record, SessionSeen):
            self._records.append(_facts(record))
            return
        if isinstance(record, CallSeen) and len(record.files) > _MOST_FILES:
            record = replace(record, files=record.files[:_MOST_FILES])
        cuts = _cuts(record)
        if cuts:
            self._raw.append((len(self._records), cuts))
            for cut in cuts:
                self._waiting += cut.weight
        self._records.append(record)
        if self._waiting > _GROUP:
            self._redact()

    @property
    def records(self) -> tuple[Record, ...]:
        """What was noted so far, in log order, redacted."""
        self._redact()
        return tuple(self._records)

    def _redact(self) -> None:
        clean = clipped([cut for _, cuts in self._raw for cut in cuts])
        at = 0
        for place, cuts in self._raw:
            texts = clean[at : at + len(cuts)]
            at += len(cuts)
            if any(text != cut.text for text, cut in zip(texts, cuts, strict=True)):
                self._records[place] = _with_texts(self._records[place], texts)
        self._raw.clear()
        self._waiting = 0

    def skip(self, version: str, kind: str, times: int = 1) -> None:
        """Count something passed over that a reader of this format should know."""
        self.skipped[f"{version or '?'}/{short(kind, 80)}"] += times

    def saw(self, session: str, at: object) -> None:
        """Remember the first and the last instant of a session in this reading, as written."""
        if isinstance(at, datetime):
            at = at.isoformat()
        if isinstance(at, str):
            first, last = self._span.get(session, (at, at))
            if at < first or at > last or first is last:
                self._span[session] = (min(first, at), max(last, at))

    def first_of_model(self, session: str, model: str) -> bool:
        """Return whether this reading has not met ``model`` in ``session`` before."""
        met = (session, model) in self._models
        self._models.add((session, model))
        return not met

    def reading(
        self,
        cursor: Cursor,
        *,
        bytes_read: int,
        whole: bool,
        passed: Mapping[str, int] | None = None,
    ) -> Reading:
        """Return the reading of these notes; ``passed`` counts lines not even looked at."""
        for kind, times in (passed or {}).items():
            self.skip("", kind, times)
        for session, span in self._span.items():
            self._records += [SessionSeen(session=session, at=instant(at)) for at in set(span)]
        return Reading(
            records=self.records,
            cursor=cursor,
            skipped=dict(self.skipped),
            bytes_read=bytes_read,
            whole=whole,
        )

    def reading_of(self, log: Lines, state: Mapping[str, str] | None = None) -> Reading:
        """Return the reading of these notes from ``log``, which was read to its end."""
        return self.reading(
            log.cursor(state), bytes_read=log.bytes_read, whole=log.whole, passed=log.skipped
        )


def _facts(seen: SessionSeen) -> SessionSeen:
    if not seen.cwd and not seen.branch:
        return seen
    clean = redact(seen.cwd)
    # A pseudonym in it would hide which repository this is; a secret must not be kept even here.
    cwd = clean if "<secret:" in clean else seen.cwd
    return replace(seen, cwd=cwd, branch=redact(seen.branch))


def _cuts(record: Record) -> list[Cut]:
    match record:
        case CallEnded():
            return [cut_of(record.output, HEAD, TAIL)] if record.output else []
        case TurnSeen():
            agent = record.kind is TurnKind.ASSISTANT
            head, tail = (MAX_ASSISTANT // 2,) * 2 if agent else (MAX_HUMAN - TAIL, TAIL)
            texts = [record.text, *record.pasted]
            return [cut_of(text, head, tail) for text in texts] if any(texts) else []
        case CallSeen():
            texts = [record.arguments, record.command, *record.files]
            return [cut_of(text, MAX_ARGUMENTS - TAIL, TAIL) for text in texts]
        case _:
            return []


def _with_texts(record: Record, texts: list[str]) -> Record:
    # Built by name, not by ``replace``: this runs for every record of every log.
    match record:
        case CallEnded():
            return CallEnded(
                session=record.session,
                id=record.id,
                output=texts[0],
                error=record.error,
                refused=record.refused,
                exit_code=record.exit_code,
                seconds=record.seconds,
                at=record.at,
            )
        case TurnSeen():
            return TurnSeen(
                session=record.session,
                key=record.key,
                kind=record.kind,
                text=texts[0],
                line=record.line,
                at=record.at,
                pasted=tuple(texts[1:]),
                replaces=record.replaces,
            )
        case CallSeen():
            return CallSeen(
                session=record.session,
                id=record.id,
                name=record.name,
                line=record.line,
                arguments=texts[0],
                command=texts[1],
                files=tuple(texts[2:]),
                at=record.at,
            )
        case _:
            return record
