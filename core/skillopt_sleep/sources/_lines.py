"""Log files on disk: whole lines from a cursor on, whole documents, and which files there are.

It parses JSON, broken JSON too, and knows no format and no record.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from skillopt_sleep.errors import SourceError
from skillopt_sleep.model.record import Cursor

MAX_LINE = 32 << 20
"""Bytes of the longest line that is read; a longer one is passed over and counted."""
BATCH = 16 << 20
"""Bytes after which one reading ends, so that memory stays bounded; the next one goes on."""
MAX_DOCUMENT = 256 << 20
"""Bytes of the largest one-document log that is read."""
_PRINT = 1_024


class Lines:
    """Whole lines of a growing file, from a cursor on; at most about ``BATCH`` bytes of them.

    A last line without its newline is left for the next reading unless it is a whole JSON object.

    Attributes:
        whole: Whether reading began at the start, since there is no cursor or the file is another.
        skipped: Lines passed over, by kind.
        state: What the source remembers of earlier readings.
        began: Bytes before the first line of this reading.
    """

    def __init__(self, path: Path, cursor: Cursor | None) -> None:
        """Look whether ``cursor`` still fits the file; raises OSError if it cannot be read."""
        self._path = path
        fits = cursor is not None and cursor.offset > 0 and _print(path, cursor) == cursor.head
        self.whole = not fits
        self.skipped: Counter[str] = Counter()
        self.state: Mapping[str, str] = cursor.state if cursor is not None and fits else {}
        self.began = self._offset = cursor.offset if cursor is not None and fits else 0
        self._furthest = self._offset
        self._line = cursor.line if cursor is not None and fits else 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield (0-based line number, bytes) of every line that is not blank."""
        with regular(self._path) as log:
            if self._offset and not _ends_line(log, self._offset) and log.read(1) == b"\n":
                self._offset += 1
            log.seek(self._offset)
            while self._offset - self.began < BATCH:
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
        return self._offset - self.began >= BATCH

    @property
    def place(self) -> tuple[int, int]:
        """Bytes and lines consumed so far, the line just yielded included."""
        return self._offset, self._line

    def go_back(self, place: tuple[int, int]) -> None:
        """Let the next reading begin at ``place``; this one is over."""
        self._furthest = max(self._furthest, self._offset)
        self._offset, self._line = place

    @property
    def bytes_read(self) -> int:
        """Bytes looked at by this reading."""
        return max(self._furthest, self._offset) - self.began

    def cursor(self, state: Mapping[str, str] | None = None) -> Cursor:
        """Return where the next reading goes on, with what the source must remember."""
        at = Cursor(offset=self._offset, line=self._line, state=dict(state or {}))
        return replace(at, head=_print(self._path, at))


def regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe is not waited for and no link is followed.

    Raises:
        OSError: It cannot be read, or is a link, a pipe or a device.
    """
    found = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(found).st_mode):
        return os.fdopen(found, "rb", buffering=1 << 20)
    os.close(found)
    raise OSError(f"{str(path)!r} is no regular file; name one, or leave it out")


def lines(path: Path, cursor: Cursor | None) -> Lines:
    """Return the lines of ``path`` from ``cursor`` on, or all if the file is not the same any more.

    Raises:
        OSError: The file cannot be read.
    """
    return Lines(path, cursor)


def _print(path: Path, cursor: Cursor) -> str:
    # The first bytes and the last ones before the cursor: a grown file keeps both.
    with regular(path) as log:
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
    with regular(path) as log:
        text = log.read(MAX_DOCUMENT + 1)
    if len(text) > MAX_DOCUMENT:
        raise ValueError(f"the log has more than {MAX_DOCUMENT} bytes; split it")
    found = loads(text.removeprefix(b"\xef\xbb\xbf"))
    if found is None:
        raise ValueError("the log is not one JSON document; look whether it was cut")
    return found


def document_cursor(path: Path, state: Mapping[str, str] | None = None) -> Cursor:
    """Return the cursor after a whole document was read."""
    at = Cursor(offset=path.stat().st_size, line=1, state=dict(state or {}))
    return replace(at, head=_print(path, at))


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
