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

HEAD, TAIL = 400, 600
"""Characters kept of the start and the end of what a tool gave back."""
MAX_ARGUMENTS = 4_000
"""Characters kept of a call's arguments."""
MAX_ASSISTANT = 4_000
"""Characters kept of one text of the agent."""
MAX_HUMAN = 200_000
"""Characters kept of one text of the human."""
_MARGIN = 128
"""Characters beyond a cut that go through ``redact`` at least; then on to the end of the line."""
_LINE = 4_096
"""Characters beyond a cut after which no end of a line is looked for any more."""
_BLOCK = 24_000
"""Characters of the longest private key, the only secret that spans many lines."""
CUT = "\n[… cut …]\n"
"""Stands where the middle of a text was left out."""
_BETWEEN = "\n\x00\n"
_MOST_FILES = 100
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
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


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


def clip(text: str, head: int = HEAD, tail: int = TAIL) -> str:
    """Return the first ``head`` and last ``tail`` characters of ``text``, secrets replaced.

    Secrets are replaced before the cut, in windows of whole lines that reach beyond it.
    """
    if len(text) > head + tail + 4 * _MARGIN:
        first = redact(text[: _line_after(text, head)])[:head]
        rest = redact(text[_line_before(text, len(text) - tail) :])
        return f"{first}{CUT}{rest[len(rest) - tail :]}"
    clean = redact(text)
    if len(clean) <= head + tail:
        return clean
    return f"{clean[:head]}{CUT}{clean[len(clean) - tail :]}"


def _line_after(text: str, cut: int) -> int:
    found = text.find("\n", cut + _MARGIN, cut + _LINE)
    return found if found >= 0 else cut + _LINE


def _line_before(text: str, cut: int) -> int:
    last = text[-_BLOCK:]
    if "PRIVATE KEY" in last or "Private-Lines" in last:
        return max(0, cut - _BLOCK)
    found = text.rfind("\n", max(0, cut - _LINE), max(0, cut - _MARGIN))
    return found if found >= 0 else max(0, cut - _LINE)


class Notes:
    """Collects the records of one reading, each redacted and cut on entry.

    Attributes:
        records: In log order.
        skipped: Count of what was passed over, by "version/kind".
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.skipped: Counter[str] = Counter()
        self._span: dict[str, tuple[str, str]] = {}
        self._models: set[tuple[str, str]] = set()

    def add(self, record: Record) -> None:
        """Keep ``record``, its texts redacted and cut to the caps of this module."""
        self.records.append(_clean(record))

    def skip(self, version: str, kind: str, times: int = 1) -> None:
        """Count something passed over that a reader of this format should know."""
        self.skipped[f"{version or '?'}/{kind[:80]}"] += times

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
            self.records += [SessionSeen(session=session, at=instant(at)) for at in set(span)]
        return Reading(
            records=tuple(self.records),
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


def _clean(record: Record) -> Record:
    # Built by name, not by ``replace``: this runs for every record of every log.
    match record:
        case CallEnded() if record.output:
            return CallEnded(
                session=record.session,
                id=record.id,
                output=clip(words(record.output)),
                error=record.error,
                refused=record.refused,
                exit_code=record.exit_code,
                seconds=record.seconds,
                at=record.at,
            )
        case TurnSeen() if record.text or record.pasted:
            agent = record.kind is TurnKind.ASSISTANT
            head, tail = (MAX_ASSISTANT // 2,) * 2 if agent else (MAX_HUMAN - TAIL, TAIL)
            return TurnSeen(
                session=record.session,
                key=record.key,
                kind=record.kind,
                text=clip(words(record.text), head, tail),
                line=record.line,
                at=record.at,
                pasted=tuple(clip(words(block), MAX_HUMAN - TAIL, TAIL) for block in record.pasted),
                replaces=record.replaces,
            )
        case CallSeen():
            return _clean_call(record)
        case SessionSeen() if record.cwd or record.branch:
            return replace(record, cwd=_folder(record.cwd), branch=redact(record.branch))
        case _:
            return record


def _clean_call(call: CallSeen) -> CallSeen:
    head = MAX_ARGUMENTS - TAIL
    texts = [words(call.arguments), words(call.command), *map(words, call.files[:_MOST_FILES])]
    # One pass for all of them costs a third; a secret that spans two is not one.
    short = sum(map(len, texts)) < head
    clean = redact(_BETWEEN.join(texts)).split(_BETWEEN) if short else []
    if len(clean) != len(texts):
        clean = [clip(text, head, TAIL) for text in texts]
    return CallSeen(
        session=call.session,
        id=call.id,
        name=call.name,
        line=call.line,
        arguments=clean[0],
        command=clean[1],
        files=tuple(clean[2:]),
        at=call.at,
    )


def _folder(name: str) -> str:
    # A pseudonym in it would hide which repository this is; a secret must not be kept even here.
    clean = redact(name)
    return clean if "<secret:" in clean else name
