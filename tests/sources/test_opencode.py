from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.sources.told import (
    CORPUS,
    calls,
    ended,
    fact,
    failed,
    origins,
    read,
    replies,
    sessions,
    store,
    tokens,
    turns,
)

from skillopt_sleep.model.record import Reading
from skillopt_sleep.model.session import Origin

EXPORT = CORPUS / "opencode" / "export-1.18.33.json"
STATEMENTS = CORPUS / "opencode" / "1.18.33.sql"


@pytest.fixture(params=["export", "store"])
def reading(request: pytest.FixtureRequest, tmp_path: Path) -> Reading:
    if request.param == "export":
        return read("opencode", EXPORT)
    return read("opencode", store(STATEMENTS, tmp_path / "opencode.db"))


def test_a_store_and_an_export_tell_the_same(reading: Reading) -> None:
    assert turns(reading, "ses_1") == [
        ("prompt", "add paging"),
        ("rejection", ""),
        ("remark", "only b.ts"),
        ("compaction", ""),
        ("prompt", "那就用游标分页"),
        ("interrupt", ""),
    ]
    assert replies(reading, "ses_1") == ["Adding."]
    assert tokens(reading) == (20, 7, 4, 1)
    assert reading.skipped == {"1.18.33/part hologram": 1}


def test_an_exit_code_outweighs_completed(reading: Reading) -> None:
    assert set(calls(reading, "ses_1")) == {"c1", "c2", "c3"}
    assert failed(reading, "ses_1") == {"c1", "c2"}
    assert ended(reading, "ses_1")["c1"].seconds == 2.5
    assert ended(reading, "ses_1")["c2"].refused


def test_a_session_with_a_parent_is_a_subagents(tmp_path: Path) -> None:
    reading = read("opencode", store(STATEMENTS, tmp_path / "opencode.db"))
    assert origins(reading) == {"ses_2": Origin.SUBAGENT}
    assert fact(reading, "ses_2", "parent") == "ses_1"
    assert turns(reading, "ses_2") == []


def test_a_session_that_may_ask_nobody_is_headless(tmp_path: Path) -> None:
    path = store(STATEMENTS, tmp_path / "opencode.db")
    writer = sqlite3.connect(path)
    writer.execute("ALTER TABLE session ADD COLUMN permission TEXT")
    rules = '[{"permission":"question","pattern":"*","action":"deny"}]'
    writer.execute("UPDATE session SET permission = ? WHERE id = 'ses_1'", (rules,))
    writer.commit()
    writer.close()
    assert origins(read("opencode", path))["ses_1"] is Origin.HEADLESS


def test_only_sessions_that_changed_are_read_again(tmp_path: Path) -> None:
    path = store(STATEMENTS, tmp_path / "opencode.db")
    first = read("opencode", path)
    writer = sqlite3.connect(path)
    writer.execute(
        'UPDATE part SET time_updated = 1764600000000, data = \'{"type":"text","text":"dig"}\''
        " WHERE id = 'prt_s'"
    )
    writer.execute("UPDATE session SET parent_id = NULL WHERE id = 'ses_2'")
    writer.commit()
    writer.close()
    second = read("opencode", path, first.cursor)
    assert turns(second, "ses_2") == [("prompt", "dig")]
    assert sessions(read("opencode", path, second.cursor)) == {"ses_2"}


def test_a_store_with_other_tables_is_a_value_error(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    writer = sqlite3.connect(path)
    writer.execute("CREATE TABLE message (id TEXT)")
    writer.close()
    with pytest.raises(ValueError, match="'message'"):
        read("opencode", path)
