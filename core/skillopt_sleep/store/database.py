"""The one SQLite file: opened, checked, migrated, and guarded by one lock for all threads.

Knows no noun; each of those has a file of its own beside this one, which takes a ``Database``.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlite_utils
from filelock import FileLock, Timeout

from skillopt_sleep.errors import StoreError
from skillopt_sleep.store.schema import MIGRATIONS

Params = Sequence[object] | Mapping[str, object]
Row = dict[str, Any]

_PATIENCE_S = 30.0
SCHEMA_VERSION = 1
"""``PRAGMA user_version`` of a database that has every migration of this program."""


class Database:
    """A connection that several threads may share; each method holds its lock.

    WAL, foreign keys on, mode 0600 in a folder of mode 0700.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the database at ``path`` and bring it up to date.

        Raises:
            StoreError: It is corrupt, locked or written by a newer program.
        """
        self.path = path
        self._lock = threading.RLock()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = not path.exists()
        if fresh:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE_S, check_same_thread=False, isolation_level=None
            )
            self._connection.row_factory = sqlite3.Row
            # Two first openings at once would both make the tables.
            with FileLock(f"{path}.lock", timeout=_PATIENCE_S, mode=0o600):
                self._prepare()
        except Timeout as error:
            raise StoreError(_trouble(path, sqlite3.OperationalError("locked"))) from error
        except sqlite3.Error as error:
            raise StoreError(_trouble(path, error)) from error

    def _prepare(self) -> None:
        found = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if found > SCHEMA_VERSION:
            self._connection.close()
            raise StoreError(
                f"the database {str(self.path)!r} has schema {found} and this program knows up to"
                f" {SCHEMA_VERSION}; upgrade skillopt-sleep, or name another SKILLOPT_SLEEP_HOME"
            )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        # 16 MB of pages: a large archive is written in the order of its random keys.
        self._connection.execute("PRAGMA cache_size = -16000")
        if found < SCHEMA_VERSION:
            self._migrate()

    def _migrate(self) -> None:
        # A connection of its own: sqlite-utils wants to manage transactions itself.
        wrapped = sqlite_utils.Database(sqlite3.connect(self.path, timeout=_PATIENCE_S))
        try:
            MIGRATIONS.apply(wrapped)
            wrapped.conn.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        finally:
            wrapped.close()

    def close(self) -> None:
        """Close the connection; the object is of no use afterwards."""
        with self._lock:
            self._connection.close()

    def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """Return all rows of a query as dicts."""
        with self._lock:
            return [dict(row) for row in self._run(sql, params).fetchall()]

    def row(self, sql: str, params: Params = ()) -> Row | None:
        """Return the first row of a query, or None."""
        found = self.rows(sql, params)
        return found[0] if found else None

    def execute(self, sql: str, params: Params = ()) -> int:
        """Run a statement; returns the last row id of an insert, else the rows changed."""
        with self._lock:
            cursor = self._run(sql, params)
            if sql.lstrip()[:6].upper() == "INSERT" and cursor.lastrowid is not None:
                return cursor.lastrowid
            return cursor.rowcount

    def many(self, sql: str, params: Sequence[Params]) -> None:
        """Run a statement once per parameter set, as one transaction."""
        with self.transaction():
            try:
                self._connection.executemany(sql, params)
            except sqlite3.Error as error:
                raise StoreError(_trouble(self.path, error)) from error

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Hold the lock and a write transaction; nested ones join the outer one."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._run("BEGIN IMMEDIATE", ())
            try:
                yield
            except BaseException:
                self._connection.rollback()
                raise
            try:
                self._connection.commit()
            except sqlite3.Error as error:
                self._connection.rollback()
                raise StoreError(_trouble(self.path, error)) from error

    def scrub(self) -> None:
        """Rewrite the file without what was deleted, and empty the write-ahead log.

        Raises:
            StoreError: The disk has no room for a second copy, or another process reads on.
        """
        with self._lock:
            self._run("VACUUM", ())
            busy, _, _ = self._run("PRAGMA wal_checkpoint(TRUNCATE)", ()).fetchone()
        if busy:
            raise StoreError(
                f"what was deleted from {str(self.path)!r} may still stand on the disk, since"
                " another process reads it; run this again when that is done"
            )

    def _run(self, sql: str, params: Params) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, params)
        except sqlite3.Error as error:
            raise StoreError(_trouble(self.path, error)) from error


def _trouble(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"the database {str(path)!r} is locked by another process; try again when it is done"
    if "malformed" in text or "not a database" in text:
        return (
            f"the database {str(path)!r} is damaged ({text}) and was left as it is; move it away"
            " to start anew, or restore a copy"
        )
    if "full" in text:
        return f"the disk with {str(path)!r} is full; make room and run again"
    return f"the database {str(path)!r} could not be used: {text}"
