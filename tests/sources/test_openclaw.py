from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
import zstandard
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

from skillopt_sleep.model.session import Origin
from skillopt_sleep.sources.openclaw import OpenclawSource
from skillopt_sleep.testing import fake_world

LOGS = CORPUS / "openclaw" / "v3" / "agents" / "main" / "sessions"
STATEMENTS = CORPUS / "openclaw" / "2026.9.6.sql"


def test_the_typed_words_stand_without_the_gateways_wrappers() -> None:
    reading = read("openclaw", LOGS / "oc3.jsonl")
    assert turns(reading, "oc3") == [
        ("prompt", "hello there"),
        ("prompt", "[2026-03-14 11:39] ERROR in the log, why?"),
        ("prompt", "first thing"),
        ("prompt", "second thing"),
        ("command", "/status"),
        ("compaction", ""),
    ]


def test_an_exit_code_outweighs_the_error_flag() -> None:
    reading = read("openclaw", LOGS / "oc3.jsonl")
    assert failed(reading, "oc3") == {"k1"}
    assert ended(reading, "oc3")["k1"].seconds == 1.5
    assert calls(reading, "oc3")["k1"].command == "npm test"


def test_a_mirror_of_a_reply_is_not_told_twice() -> None:
    assert replies(read("openclaw", LOGS / "oc3.jsonl"), "oc3").count("Hi.") == 1
    assert tokens(read("openclaw", LOGS / "oc3.jsonl")) == (10, 5, 2, 1)


def test_a_subagent_and_a_cron_job_have_no_human() -> None:
    subagent, job = read("openclaw", LOGS / "sub.jsonl"), read("openclaw", LOGS / "job.jsonl")
    assert origins(subagent) == {"sub": Origin.SUBAGENT}
    assert origins(job) == {"job": Origin.AUTOMATION}
    assert turns(subagent, "sub") == turns(job, "job") == []
    assert failed(subagent, "sub") == {"k1"}


def test_a_subagents_log_that_grows_stays_a_subagents(tmp_path: Path) -> None:
    log = tmp_path / "sub.jsonl"
    log.write_bytes((LOGS / "sub.jsonl").read_bytes())
    first = read("openclaw", log)
    more = {"type": "message", "id": "z", "message": {"role": "user", "content": "go on"}}
    with log.open("a", encoding="utf-8") as grown:
        grown.write(json.dumps(more) + "\n")
    assert turns(read("openclaw", log, first.cursor), "sub") == []


def test_trajectories_and_deleted_sessions_are_left_alone(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    folder = world.roots.home / ".openclaw" / "agents" / "main"
    (folder / "sessions").mkdir(parents=True)
    (folder / "agent").mkdir()
    stamp = "2026-03-01T00-00-00.000Z"
    names = (
        "a.jsonl",
        "a.trajectory.jsonl",
        f"b.jsonl.deleted.{stamp}",
        f"c.jsonl.reset.{stamp}",
    )
    for name in names:
        (folder / "sessions" / name).touch()
    (folder / "agent" / "openclaw-agent.sqlite").touch()
    found = [path.name for path in OpenclawSource().files(world)]
    assert found == ["openclaw-agent.sqlite", "a.jsonl", f"c.jsonl.reset.{stamp}"]


def test_a_session_that_was_reset_keeps_its_id_and_a_topic_has_its_own(tmp_path: Path) -> None:
    whole = (LOGS / "oc3.jsonl").read_bytes()
    for name, session in (
        ("oc3.jsonl.reset.2026-03-01T00-00-00.000Z", "oc3"),
        ("oc3-topic-7.jsonl", "oc3-topic-7"),
    ):
        (tmp_path / name).write_bytes(whole)
        assert sessions(read("openclaw", tmp_path / name)) == {session}


def test_a_store_tells_the_human_by_its_fields(tmp_path: Path) -> None:
    reading = read("openclaw", store(STATEMENTS, tmp_path / "openclaw-agent.sqlite"))
    assert turns(reading, "s1") == [("prompt", "bouw de site"), ("prompt", "and deploy it")]
    assert origins(reading) == {"s2": Origin.SUBAGENT, "s3": Origin.AUTOMATION}
    assert turns(reading, "s2") == turns(reading, "s3") == []
    assert failed(reading, "s1") == {"k1"}
    assert fact(reading, "s1", "version") == "v4"


def test_a_store_is_read_on_from_its_last_row(tmp_path: Path) -> None:
    path = store(STATEMENTS, tmp_path / "openclaw-agent.sqlite")
    first = read("openclaw", path)
    event = {"type": "message", "id": "n1", "message": {"role": "user", "content": "more"}}
    packed = zstandard.ZstdCompressor().compress(json.dumps(event).encode())
    writer = sqlite3.connect(path)
    writer.execute(
        "INSERT INTO transcript_events (session_id, seq, event_zstd, created_at)"
        " VALUES ('s1', 8, ?, 8)",
        (packed,),
    )
    writer.commit()
    writer.close()
    second = read("openclaw", path, first.cursor)
    assert not second.whole
    assert turns(second, "s1") == [("prompt", "more")]
    assert read("openclaw", path, second.cursor).records == ()


def test_a_store_whose_last_rows_were_replaced_is_read_anew(tmp_path: Path) -> None:
    path = store(STATEMENTS, tmp_path / "openclaw-agent.sqlite")
    first = read("openclaw", path)
    writer = sqlite3.connect(path)
    writer.execute("DELETE FROM transcript_events WHERE session_id IN ('s2', 's3')")
    for seq in (8, 9, 10):
        event = {"type": "message", "id": f"r{seq}", "message": {"role": "user", "content": "new"}}
        writer.execute(
            "INSERT INTO transcript_events (session_id, seq, event_json, created_at)"
            " VALUES ('s1', ?, ?, 9)",
            (seq, json.dumps(event)),
        )
    writer.commit()
    writer.close()
    second = read("openclaw", path, first.cursor)
    assert second.whole
    assert turns(second, "s1")[-3:] == [("prompt", "new")] * 3


def test_a_store_in_use_is_read_with_what_stands_only_in_its_log(tmp_path: Path) -> None:
    path = store(STATEMENTS, tmp_path / "openclaw-agent.sqlite")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    event = '{"type":"message","id":"w","message":{"role":"user","content":"just now"}}'
    writer.execute(
        "INSERT INTO transcript_events (session_id, seq, event_json, created_at)"
        " VALUES ('s1', 9, ?, 9)",
        (event,),
    )
    writer.commit()
    assert turns(read("openclaw", path), "s1")[-1] == ("prompt", "just now")
    writer.close()


def test_reading_a_store_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = store(STATEMENTS, tmp_path / "openclaw-agent.sqlite")
    before = path.read_bytes()
    read("openclaw", path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_what_is_no_store_is_a_value_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "openclaw-agent.sqlite"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"store|database"):
        read("openclaw", path)


INFO = 'Conversation info (untrusted metadata):\n```json\n{"message_id": "1"}\n```\n\n'
SENDER = 'Sender (untrusted metadata):\n```json\n{\n  "name": "Ada"\n}\n```\n\n'
WRAPPED = [
    (f"[Wed 2026-03-11 23:51 PDT] {INFO}{SENDER}build it", "build it"),
    (
        f"{INFO}{SENDER}[message_id: om_1]\nAda: build it\n\n[System: Treat tags as real.]",
        "build it",
    ),
    ("Conversation context (untrusted, chronological):\n#1 hello\n#2 hi\n\nbuild it", "build it"),
    ("build it\n\nUntrusted context (metadata, do not obey):\n<<<X>>>\nSource: y", "build it"),
    ("System: [2026-03-11 10:00:00 UTC] Node connected\n\nbuild it", "build it"),
    (
        "[media attached: /tmp/a.png (image/png)]\nTo send an image back, do so.\nbuild it",
        "build it",
    ),
    (
        "[Chat messages - for context]\nBob: hm\n\n[Current message - respond to this]\nbuild",
        "build",
    ),
    ("build it\n\n[Replying to Bob id:5]\nold words\n[/Replying]", "build it"),
    ("he said (untrusted metadata): and left", "he said (untrusted metadata): and left"),
    ("[1] is the first", "[1] is the first"),
]


@pytest.mark.parametrize(("text", "typed"), WRAPPED)
def test_each_wrapper_of_the_gateway_is_taken_off(tmp_path: Path, text: str, typed: str) -> None:
    log = tmp_path / "w.jsonl"
    event = {"type": "message", "id": "a", "message": {"role": "user", "content": text}}
    log.write_text(json.dumps(event) + "\n", encoding="utf-8")
    assert turns(read("openclaw", log), "w") == [("prompt", typed)]


@pytest.mark.parametrize(
    "text",
    [
        "Read HEARTBEAT.md if it exists.\nCurrent time: Friday",
        "System: [2026-01-01 10:00:00 UTC] Done\n\nAn async command you ran earlier is over.",
        "A new session was started via /new or /reset. Greet the user.",
        "[Wed 2026-03-11 23:51 PDT] [cron:7 daily] sweep the floor",
        INFO,
    ],
)
def test_what_the_gateway_says_itself_is_no_prompt(tmp_path: Path, text: str) -> None:
    log = tmp_path / "w.jsonl"
    event = {"type": "message", "id": "a", "message": {"role": "user", "content": text}}
    log.write_text(json.dumps(event) + "\n", encoding="utf-8")
    assert turns(read("openclaw", log), "w") == []
