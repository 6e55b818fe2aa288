"""The database file: private, migrated, and never silently replaced."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from skillopt_sleep.errors import StoreError
from skillopt_sleep.store.database import SCHEMA_VERSION, Database


def test_a_new_database_is_private_and_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sleep.sqlite"
    database = Database(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert database.rows("PRAGMA user_version") == [{"user_version": SCHEMA_VERSION}]
    assert database.rows("PRAGMA journal_mode") == [{"journal_mode": "wal"}]
    database.close()


def test_opening_twice_keeps_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "sleep.sqlite"
    first = Database(path)
    first.execute("INSERT INTO facts (name, value) VALUES ('a', 'b')")
    first.close()
    second = Database(path)
    assert second.row("SELECT value FROM facts WHERE name = 'a'") == {"value": "b"}
    second.close()


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sleep.sqlite"
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="upgrade skillopt-sleep"):
        Database(path)
    assert path.read_bytes() == before


def test_a_damaged_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sleep.sqlite"
    path.write_bytes(b"this is not a database at all, but it is somebody's file" * 40)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is damaged"):
        Database(path)
    assert path.read_bytes() == before


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "sleep.sqlite")

    def write_and_fail() -> None:
        with database.transaction():
            database.execute("INSERT INTO facts (name, value) VALUES ('a', 'b')")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        write_and_fail()
    assert database.rows("SELECT * FROM facts") == []
    database.close()
