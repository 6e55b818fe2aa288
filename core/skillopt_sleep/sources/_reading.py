"""What all log formats share: lines from a cursor on, JSON that may be broken, instants, clips.

Every text that is kept passes ``Notes.add``, which replaces secrets before it cuts anything. It
knows no format and no store.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from skillopt_sleep.errors import SourceError
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

MAX_LINE = 32 << 20
"""Bytes of the longest line that is read; a longer one is passed over and counted."""
BATCH = 16 << 20
"""Bytes after which one reading ends, so that memory stays bounded; the next one goes on."""
MAX_DOCUMENT = 256 << 20
"""Bytes of the largest one-document log that is read."""
HEAD, TAIL = 400, 600
"""Characters kept of the start and the end of what a tool gave back."""
MAX_ARGUMENTS = 4_000
"""Characters kept of a call's arguments."""
MAX_ASSISTANT = 4_000
"""Characters kept of one text of the agent."""
MAX_HUMAN = 200_000
"""Characters kept of one text of the human."""
_MARGIN = 256
"""Characters beyond a cut that go through ``redact`` at least; then on to the end of the line."""
_LINE = 4_096
"""Characters beyond a cut after which no end of a line is looked for any more."""
_BLOCK = 24_000
"""Characters of the longest private key, the only secret that spans many lines."""
CUT = "\n[… cut …]\n"
"""Stands where the middle of a text was left out."""
_PRINT = 1_024
_EARLIEST, _LATEST = 946_684_800.0, 4_102_444_800.0  # 2000 to 2100


class Lines:
    """Whole lines of a growing file, from a cursor on; at most about ``BATCH`` bytes of them.

    A last line without its newline is left for the next reading unless it is a whole JSON object.

    Attributes:
        whole: Whether reading began at the start, since there is no cursor or the file is another.
        skipped: Lines passed over, by kind.
    """

    def __init__(self, path: Path, cursor: Cursor | None) -> None:
        """Look whether ``cursor`` still fits the file; raises OSError if it cannot be read."""
        self._path = path
        fits = cursor is not None and cursor.offset > 0 and _print(path, cursor) == cursor.head
        self.whole = not fits
        self.skipped: Counter[str] = Counter()
        self.state: Mapping[str, str] = cursor.state if cursor is not None and fits else {}
        self._began = self._offset = cursor.offset if cursor is not None and fits else 0
        self._line = cursor.line if cursor is not None and fits else 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield (0-based line number, bytes) of every line that is not blank."""
        with self._path.open("rb", buffering=1 << 20) as log:
            if self._offset and not _ends_line(log, self._offset) and log.read(1) == b"\n":
                self._offset += 1
            log.seek(self._offset)
            while self._offset - self._began < BATCH:
                line = log.readline(MAX_LINE + 1)
                size = len(line)
                if size > MAX_LINE and line[-1:] != b"\n":
                    size += _pass_over(log)
                    line = b""
                    self.skipped["line too long"] += 1
                elif line[-1:] != b"\n" and not _is_object(line):
                    return
                number = self._line
                self._offset += size
                self._line += 1
                if line and not line.isspace():
                    yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line

    @property
    def full(self) -> bool:
        """Whether the batch is used up, so that more may follow at once."""
        return self._offset - self._began >= BATCH

    @property
    def place(self) -> tuple[int, int]:
        """Bytes and lines consumed so far, the line just yielded included."""
        return self._offset, self._line

    def go_back(self, place: tuple[int, int]) -> None:
        """Let the next reading begin at ``place``; this one is over."""
        self._offset, self._line = place

    @property
    def bytes_read(self) -> int:
        """Bytes consumed by this reading."""
        return self._offset - self._began

    def cursor(self, state: Mapping[str, str] | None = None) -> Cursor:
        """Return where the next reading goes on, with what the source must remember."""
        at = Cursor(offset=self._offset, line=self._line, state=dict(state or {}))
        return replace(at, head=_print(self._path, at))


def lines(path: Path, cursor: Cursor | None) -> Lines:
    """Return the lines of ``path`` from ``cursor`` on, or all if the file is not the same any more.

    Raises:
        OSError: The file cannot be read.
    """
    return Lines(path, cursor)


def _print(path: Path, cursor: Cursor) -> str:
    # The first bytes and the last ones before the cursor: a grown file keeps both.
    with path.open("rb") as log:
        first = log.read(min(_PRINT, cursor.offset))
        log.seek(max(0, cursor.offset - _PRINT))
        last = log.read(min(_PRINT, cursor.offset))
    return hashlib.blake2b(first + b"|" + last, digest_size=12).hexdigest()


def _ends_line(log: BinaryIO, offset: int) -> bool:
    log.seek(offset - 1)
    return log.read(1) == b"\n"


def _pass_over(log: BinaryIO) -> int:
    size = 0
    while piece := log.readline(1 << 20):
        size += len(piece)
        if piece[-1:] == b"\n":
            break
    return size


def _is_object(line: bytes) -> bool:
    return line.rstrip()[-1:] == b"}" and isinstance(loads(line), dict)


def loads(line: bytes) -> object:
    """Return the JSON value of ``line``, or None if it is none; wrong bytes become U+FFFD."""
    try:
        return cast("object", orjson.loads(line))
    except orjson.JSONDecodeError:
        pass
    try:
        return cast("object", json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def document(path: Path) -> object:
    """Return the JSON value that a whole file holds.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not one JSON value, or larger than ``MAX_DOCUMENT``.
    """
    size = path.stat().st_size
    if size > MAX_DOCUMENT:
        raise ValueError(f"the log has {size} bytes, more than {MAX_DOCUMENT}; split it")
    found = loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    if found is None:
        raise ValueError("the log is not one JSON document; look whether it was cut")
    return found


def document_cursor(path: Path, state: Mapping[str, str] | None = None) -> Cursor:
    """Return the cursor after a whole document was read."""
    at = Cursor(offset=path.stat().st_size, line=1, state=dict(state or {}))
    return replace(at, head=_print(path, at))


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


def walk(root: Path, *endings: str) -> Iterator[Path]:
    """Yield the files under ``root`` whose names end so, sorted; no link below it is followed.

    Raises:
        SourceError: The folder exists and may not be listed.
    """
    found: list[str] = []
    waiting = [str(root)] if root.is_dir() else []
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.name.endswith(endings) and entry.is_file(follow_symlinks=False):
                        found.append(entry.path)
        except OSError as error:
            if folder == str(root):
                raise SourceError(f"the folder {folder!r} may not be listed: {error}") from error
    yield from map(Path, sorted(found))


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
    match record:
        case CallEnded() if record.output:
            return replace(record, output=clip(words(record.output)))
        case TurnSeen() if record.text or record.pasted:
            agent = record.kind is TurnKind.ASSISTANT
            head, tail = (MAX_ASSISTANT // 2,) * 2 if agent else (MAX_HUMAN - TAIL, TAIL)
            return replace(
                record,
                text=clip(words(record.text), head, tail),
                pasted=tuple(clip(words(block), MAX_HUMAN - TAIL, TAIL) for block in record.pasted),
            )
        case CallSeen():
            return replace(
                record,
                arguments=clip(words(record.arguments), MAX_ARGUMENTS - TAIL, TAIL),
                command=clip(words(record.command), MAX_ARGUMENTS - TAIL, TAIL),
                files=tuple(redact(words(name)) for name in record.files[:100]),
            )
        case SessionSeen() if record.cwd or record.branch:
            return replace(record, cwd=_folder(record.cwd), branch=redact(record.branch))
        case _:
            return record


def _folder(name: str) -> str:
    # A pseudonym in it would hide which repository this is; a secret must not be kept even here.
    clean = redact(name)
    return clean if "<secret:" in clean else name
