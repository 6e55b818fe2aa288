"""Which log files were read, how far, and what was passed over in them; knows no log format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.model.record import Cursor, Reading
from skillopt_sleep.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What one ``stat`` says about a file; equal stamps mean an unchanged file."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A file that was read before.

    Attributes:
        stamp: Its stamp then.
        reason: Why it could not be read or was left out, or "".
        gone: Whether it was missing at the last harvest.
    """

    stamp: Stamp
    reason: str = ""
    gone: bool = False


class FileStore:
    """Reads and writes what is known of log files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, source: str) -> dict[str, Known]:
        """Return the files of a source that were read before, by path."""
        rows = self._database.rows(
            "SELECT path, size, mtime_ns, inode, reason, gone FROM files WHERE source = ?",
            (source,),
        )
        return {
            row["path"]: Known(
                stamp=Stamp(size=row["size"], mtime_ns=row["mtime_ns"], inode=row["inode"]),
                reason=row["reason"],
                gone=bool(row["gone"]),
            )
            for row in rows
        }

    def cursor(self, path: str) -> Cursor | None:
        """Return where the last reading of a file ended, or None if there was none."""
        row = self._database.row("SELECT cursor FROM files WHERE path = ?", (path,))
        return decode(Cursor, row["cursor"]) if row and row["cursor"] else None

    def put(
        self,
        source: str,
        path: str,
        stamp: Stamp,
        *,
        cursor: Cursor | None,
        at: datetime,
        reason: str = "",
    ) -> None:
        """Remember a file as read up to ``cursor``, or why it was not."""
        self._database.execute(
            "INSERT OR REPLACE INTO files (path, source, cursor, size, mtime_ns, inode, seen_at,"
            " gone, reason) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)",
            (
                path,
                source,
                encode(cursor) if cursor else "",
                stamp.size,
                stamp.mtime_ns,
                stamp.inode,
                at.isoformat(),
                reason,
            ),
        )

    def gone(self, paths: list[str]) -> None:
        """Remember that these files are no longer there; what was read of them stays."""
        self._database.many("UPDATE files SET gone = 1 WHERE path = ?", [(p,) for p in paths])

    def read_again(self, path: str, sessions: Sequence[str]) -> None:
        """Let the other files of these sessions be read anew at the next harvest.

        Of a turn that stands in several files one is kept; when that file is rewritten without
        it, the others have to tell it again.
        """
        self._database.execute(
            "UPDATE files SET size = -1, cursor = '' WHERE path <> ? AND path IN"
            f" (SELECT path FROM turns WHERE session IN ({', '.join('?' * len(sessions))}))",
            (path, *sessions),
        )

    def skip(self, path: str, reading: Reading) -> None:
        """Add what a reading passed over to what is known of the file."""
        if reading.whole:
            self._database.execute("DELETE FROM skipped WHERE path = ?", (path,))
        self._database.many(
            "INSERT INTO skipped (path, kind, version, count) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (path, kind, version) DO UPDATE SET count = count + excluded.count",
            [
                (path, name.partition("/")[2], name.partition("/")[0], times)
                for name, times in reading.skipped.items()
            ],
        )

    def skipped(self) -> Mapping[str, int]:
        """Return what was passed over in all files ever read: "source/version/kind" to count."""
        rows = self._database.rows(
            "SELECT f.source || '/' || k.version || '/' || k.kind AS name, sum(k.count) AS n"
            " FROM skipped k JOIN files f ON f.path = k.path GROUP BY name ORDER BY name"
        )
        return {str(row["name"]): int(row["n"]) for row in rows}
