"""Harvest as the user meets it: again and again, over logs that grow, move, break and go away."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.archive import CORPUS, Archive

from skillopt_sleep.config import HarvestSettings
from skillopt_sleep.errors import SourceError, StoreError, UnknownPluginError
from skillopt_sleep.model.session import Session
from skillopt_sleep.sources import harvest as harvesting
from skillopt_sleep.sources.claude import ClaudeSource
from skillopt_sleep.store.database import Database
from skillopt_sleep.testing import fake_world

LOG = ".claude/projects/-srv-shop/cccc0001-1111-4111-8111-111111111111.jsonl"


def user(number: int, text: str, **more: object) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}",
        "sessionId": "cccc0001-1111-4111-8111-111111111111",
        "version": "2.1.30",
        "cwd": "/srv/shop",
        "timestamp": f"2026-01-10T09:{number:02d}:00Z",
        "message": {"role": "user", "content": text},
        **more,
    }


def reply(number: int, text: str) -> dict[str, object]:
    return {
        **user(number, ""),
        "type": "assistant",
        "message": {"id": f"msg_{number}", "content": [{"type": "text", "text": text}]},
    }


def prompts(archive: Archive) -> list[str]:
    return [turn.text for session in archive.sessions() for turn in session.prompts]


def test_a_second_harvest_reads_nothing_and_changes_nothing(archive: Archive) -> None:
    archive.lay_out("claude/2.0.26", ".claude")
    archive.lay_out("codex/0.40.0", ".codex")
    first = archive.harvest("claude", "codex")
    before = archive.sessions()
    second = archive.harvest("claude", "codex")
    assert first.read == {"claude": 2, "codex": 1}
    assert (second.read, second.bytes_read, second.new_sessions) == ({}, 0, 0)
    assert archive.sessions() == before
    assert second.sessions == first.sessions == {"claude": 2, "codex": 1}


def test_a_grown_log_is_read_on_and_gives_what_one_reading_gives(archive: Archive) -> None:
    rows = [user(1, "fix it"), user(2, "fix it"), reply(3, "done"), user(4, "now the docs")]
    for end in range(1, len(rows) + 1):
        archive.put(LOG, rows[:end])
        archive.harvest("claude")
    grown = archive.sessions()
    assert prompts(archive) == ["fix it", "fix it", "now the docs"]
    whole = Database(archive.root / "whole.db")
    anew = Archive(home=archive.home, database=whole, root=archive.root)
    anew.harvest("claude")
    assert anew.sessions() == grown
    whole.close()


def test_a_half_written_last_line_is_read_when_it_is_whole(archive: Archive) -> None:
    path = archive.put(LOG, [user(1, "fix it"), reply(2, "done")])
    second = json.dumps(user(3, "and test it"))
    with path.open("a", encoding="utf-8") as log:
        log.write(second[:40])
    archive.harvest("claude")
    assert prompts(archive) == ["fix it"]
    with path.open("a", encoding="utf-8") as log:
        log.write(second[40:] + "\n")
    archive.harvest("claude")
    assert prompts(archive) == ["fix it", "and test it"]


def test_a_rewritten_log_replaces_what_it_told(archive: Archive) -> None:
    path = archive.put(LOG, [user(1, "fix it"), reply(2, "done"), user(3, "thanks")])
    archive.harvest("claude")
    archive.put(LOG, [user(1, "mend it"), reply(2, "done")])
    os.utime(path, ns=(1, 1))
    report = archive.harvest("claude")
    assert prompts(archive) == ["mend it"]
    assert report.new_sessions == 0


def test_the_archive_outlives_deletion_and_truncation(archive: Archive) -> None:
    path = archive.put(LOG, [user(1, "fix it"), reply(2, "done")])
    archive.harvest("claude")
    path.write_text("")
    archive.harvest("claude")
    assert prompts(archive) == ["fix it"]
    shutil.rmtree(archive.home / ".claude")
    report = archive.harvest("claude")
    assert prompts(archive) == ["fix it"]
    assert (report.files, report.alarms) == ({"claude": 0}, ())


def test_the_stored_order_does_not_depend_on_the_order_of_harvest(archive: Archive) -> None:
    files = sorted((CORPUS / "claude" / "2.1.14").rglob("*.jsonl"))
    found: list[list[Session]] = []
    for order in (files, files[::-1]):
        database = Database(archive.root / f"order{len(found)}.db")
        home = archive.root / "logs"
        shutil.rmtree(home, ignore_errors=True)
        one = Archive(home=home, database=database, root=archive.root)
        for path in order:
            target = home / ".claude" / "projects" / "-srv-shop" / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
            one.harvest("claude")
        found.append(one.sessions())
        database.close()
    assert [[turn.text for turn in session.turns] for session in found[0]] == [
        [turn.text for turn in session.turns] for session in found[1]
    ]
    assert [session.id for session in found[0]] == [session.id for session in found[1]]


def test_an_excluded_repository_is_never_stored_until_it_is_let_in(archive: Archive) -> None:
    archive.put(LOG, [user(1, "fix it"), reply(2, "done")])
    report = archive.harvest("claude", exclude=("/srv",))
    assert (report.excluded, archive.sessions()) == (1, [])
    assert archive.harvest("claude", exclude=("/srv/shopping",)).prompts == {"claude": 1}
    assert prompts(archive) == ["fix it"]


def test_a_mark_in_the_folder_excludes_the_repository(archive: Archive) -> None:
    shop = archive.root / "shop"
    (shop / "src").mkdir(parents=True)
    (shop / ".skillopt-sleep-ignore").touch()
    archive.put(LOG, [user(1, "fix it", cwd=str(shop / "src")), reply(2, "done")])
    assert archive.harvest("claude").excluded == 1
    assert archive.sessions() == []


def test_links_are_not_followed_out_of_the_logs(archive: Archive) -> None:
    outside = archive.root / "outside"
    outside.mkdir()
    (outside / "a.jsonl").write_text(json.dumps(user(1, "fix it")) + "\n")
    projects = archive.home / ".claude" / "projects"
    projects.mkdir(parents=True)
    (projects / "linked").symlink_to(outside)
    (projects / "one.jsonl").symlink_to(outside / "a.jsonl")
    assert archive.harvest("claude").files == {"claude": 0}


def test_a_format_that_falls_silent_is_an_alarm(archive: Archive) -> None:
    archive.put(LOG, [user(1, "fix it"), reply(2, "done")])
    assert archive.harvest("claude").alarms == ()
    archive.put(
        ".claude/projects/-srv-shop/dddd.jsonl",
        [{"type": "utterance", "version": "9.0.0", "who": "user", "what": "fix it"}],
    )
    report = archive.harvest("claude")
    assert report.skipped == {"claude/9.0.0/kind utterance": 1}
    assert len(report.alarms) == 1
    assert "its log format may have changed" in report.alarms[0]


def test_unknown_fields_are_counted_by_version(archive: Archive) -> None:
    archive.put(LOG, [user(1, "fix it", mood="good"), reply(2, "done")])
    assert archive.harvest("claude").skipped == {"claude/2.1.30/user.mood": 1}


def test_one_unreadable_file_does_not_end_the_harvest(archive: Archive) -> None:
    class Torn(ClaudeSource):
        def files(self, world: object) -> Iterator[Path]:
            yield archive.home / "missing.jsonl"
            yield archive.home / LOG

    archive.put(LOG, [user(1, "fix it"), reply(2, "done")])
    tally = harvesting.Tally()
    world = fake_world(archive.root).at_home(archive.home)
    work = harvesting.Work(world, archive.database, HarvestSettings(), tally)
    work.all_of(Torn(), None)
    assert [one.path for one in tally.unreadable] == [str(archive.home / "missing.jsonl")]
    assert prompts(archive) == ["fix it"]


def test_one_exported_file_is_read_where_it_lies(archive: Archive) -> None:
    path = archive.put("export.jsonl", [user(1, "fix it"), reply(2, "done")])
    world = fake_world(archive.root).at_home(archive.home)
    report = harvesting.harvest(
        world, archive.database, HarvestSettings(), file=path, source="claude"
    )
    assert (report.files, prompts(archive)) == ({"claude": 1}, ["fix it"])
    with pytest.raises(SourceError, match="is no log that 'claude' reads"):
        harvesting.harvest(
            world,
            archive.database,
            HarvestSettings(),
            file=archive.root / "none",
            source="claude",
        )


def test_an_unknown_source_is_named_with_its_alternatives(archive: Archive) -> None:
    with pytest.raises(UnknownPluginError, match="'clod'; known: claude, codex"):
        archive.harvest("clod")


def test_what_is_forgotten_never_comes_back(archive: Archive) -> None:
    archive.lay_out("claude/2.0.26", ".claude")
    path = archive.put(LOG, [user(1, "fix the zebra"), reply(2, "done")])
    archive.harvest("claude")
    gone = archive.store.forget(session="cccc0001-1111-4111-8111-111111111111")
    assert gone == ("claude:cccc0001-1111-4111-8111-111111111111",)
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(user(3, "and the zebra again")) + "\n")
    archive.harvest("claude")
    assert not archive.store.search("zebra")
    archive.database.scrub()
    assert b"zebra" not in archive.database.path.read_bytes()
    assert len(archive.store.forget(repository="/srv/shop")) == 2
    assert archive.sessions() == []


def test_search_finds_human_words_and_says_where(archive: Archive) -> None:
    archive.lay_out("claude/2.0.26", ".claude")
    archive.harvest("claude")
    (hit,) = archive.store.search("template cart.ts")
    session = archive.store.session(hit.session)
    assert session.turns[hit.turn].text == "not in the template, in cart.ts"
    assert archive.store.search('") OR *') == ()
    assert archive.store.search("rejected") == ()


def test_a_session_is_found_by_the_beginning_of_its_id(archive: Archive) -> None:
    archive.lay_out("claude/2.1.332", ".claude")
    archive.harvest("claude")
    assert archive.store.session("aaaa0005").session_id.startswith("aaaa0005-")
    with pytest.raises(StoreError, match="begins several sessions"):
        archive.store.session("claude:aaaa000")
    with pytest.raises(StoreError, match="no session is called 'zzzz'"):
        archive.store.session("zzzz")
    newest = archive.sessions()[-2:]
    assert list(archive.store.sessions(limit=2)) == newest


def test_a_secret_reaches_no_column_of_the_archive(archive: Archive) -> None:
    token = "ghp_" + "Zk3Lq9Xw2Vb7Nm4Rt6Yp8Sd1Fg5Hj0Kc7QaE"
    call = {
        **reply(2, ""),
        "message": {
            "id": "m",
            "content": [
                {"type": "text", "text": f"your token {token}"},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": token}},
                {"type": "tool_use", "id": "t2", "name": "Read", "input": {"file_path": token}},
            ],
        },
    }
    ended = user(3, "", toolUseResult=token) | {
        "message": {
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": f"a {token}"}]
        }
    }
    archive.put(LOG, [user(1, f"use {token}", gitBranch=token, cwd=f"/srv/{token}"), call, ended])
    archive.harvest("claude")
    assert len(prompts(archive)) == 1
    archive.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert token.encode() not in archive.database.path.read_bytes()
