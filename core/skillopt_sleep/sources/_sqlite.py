"""Opens a harness's SQLite store for reading, and writes nothing to it or beside it if it can.

It knows no table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from skillopt_sleep.model.record import Cursor
from skillopt_sleep.sources._lines import regular


@contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection]:
    """Yield a read-only connection whose rows have names and whose texts are always UTF-8.

    Without a write-ahead log the file is opened as immutable, so that no lock file appears.

    Raises:
        OSError: The file cannot be read, or is locked.
        ValueError: It is no SQLite database, or it is damaged.
    """
    with regular(path) as store:
        if store.read(16) not in (b"SQLite format 3\x00", b""):
            raise ValueError("the file is no SQLite database; look which program wrote it")
    written = path.with_name(f"{path.name}-wal").exists()
    uri = f"file:{quote(str(path))}?mode=ro{'' if written else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=5.0)) as store:
            store.row_factory = sqlite3.Row
            store.text_factory = _text
            yield store
    except sqlite3.OperationalError as error:
        raise OSError(f"the store cannot be read now: {error}") from error
    except sqlite3.DatabaseError as error:
        raise ValueError(f"the store is damaged: {error}") from error


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def columns(store: sqlite3.Connection, table: str) -> frozenset[str]:
    """Return the column names of ``table``, none if there is no such table."""
    rows = store.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return frozenset(str(row["name"]) for row in rows)


def place(cursor: Cursor | None, name: str) -> int:
    """Return the number that ``cursor`` remembers under ``name``, or -1."""
    told = cursor.state.get(name, "") if cursor else ""
    return int(told) if told.isdecimal() else -1


def next_cursor(cursor: Cursor | None, *, full: bool, **state: int) -> Cursor:
    """Return the cursor after one batch; its offset counts the batches still to be followed.

    A store has no bytes to go on from, so ``state`` says where; an offset of 0 says that all is
    read, a growing one that a ``full`` batch was ended before that.
    """
    before = cursor.offset if cursor else 0
    told = {name: str(number) for name, number in state.items()}
    return Cursor(offset=before + 1 if full else 0, state=told)
