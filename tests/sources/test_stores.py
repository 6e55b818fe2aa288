"""Stores of harnesses, harvested again and again while the harness writes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.sources.archive import Archive
from tests.sources.told import CORPUS, store

OPENCLAW = ".openclaw/agents/main/agent/openclaw-agent.sqlite"
OPENCODE = ".local/share/opencode/opencode.db"


def placed(archive: Archive, name: str, statements: str) -> Path:
    path = archive.home / name
    path.parent.mkdir(parents=True)
    return store(CORPUS / statements, path)


def prompts(archive: Archive, session: str) -> list[str]:
    found = {one.id: one for one in archive.sessions()}
    return [turn.text for turn in found[session].prompts]


def say(writer: sqlite3.Connection, seq: int, text: str) -> None:
    event = f'{{"type":"message","id":"n{seq}","message":{{"role":"user","content":"{text}"}}}}'
    writer.execute(
        "INSERT INTO transcript_events (session_id, seq, event_json, created_at)"
        " VALUES ('s1', ?, ?, 0)",
        (seq, event),
    )
    writer.commit()


def test_an_unchanged_store_is_not_read_again(archive: Archive) -> None:
    placed(archive, OPENCLAW, "openclaw/2026.9.6.sql")
    assert archive.harvest("openclaw").read == {"openclaw": 1}
    again = archive.harvest("openclaw")
    assert (again.read, again.bytes_read) == ({}, 0)


def test_what_stands_only_in_the_write_ahead_log_is_harvested(archive: Archive) -> None:
    path = placed(archive, OPENCLAW, "openclaw/2026.9.6.sql")
    archive.harvest("openclaw")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    say(writer, 20, "one more")
    first = archive.harvest("openclaw")
    say(writer, 21, "and another")
    second = archive.harvest("openclaw")
    assert prompts(archive, "openclaw:s1")[-2:] == ["one more", "and another"]
    assert first.prompts == second.prompts == {"openclaw": 1}
    assert second.bytes_read < 200
    writer.close()


def test_what_a_harness_prunes_stays_in_the_archive(archive: Archive) -> None:
    path = placed(archive, OPENCLAW, "openclaw/2026.9.6.sql")
    archive.harvest("openclaw")
    before = prompts(archive, "openclaw:s1")
    writer = sqlite3.connect(path)
    writer.execute("DELETE FROM transcript_events WHERE session_id = 's1' AND seq < 7")
    writer.commit()
    say(writer, 30, "after the pruning")
    writer.close()
    archive.harvest("openclaw")
    assert prompts(archive, "openclaw:s1") == [*before, "after the pruning"]


def test_a_message_that_grew_in_place_is_told_anew(archive: Archive) -> None:
    path = placed(archive, OPENCODE, "opencode/1.18.33.sql")
    archive.harvest("opencode")
    writer = sqlite3.connect(path)
    writer.execute(
        "UPDATE part SET time_updated = 1764600000000,"
        ' data = \'{"type":"text","text":"Adding it now."}\' WHERE id = \'prt_5\''
    )
    writer.commit()
    writer.close()
    archive.harvest("opencode")
    found = {one.id: one for one in archive.sessions()}
    texts = [turn.text for turn in found["opencode:ses_1"].turns]
    assert texts.count("Adding it now.") == 1
    assert "Adding." not in texts
    assert prompts(archive, "opencode:ses_1") == ["add paging", "那就用游标分页"]
