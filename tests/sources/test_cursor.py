from __future__ import annotations

import shutil
from pathlib import Path

from tests.sources.told import CORPUS, calls, fact, failed, origins, read, replies, turns

from skillopt_sleep.model.session import Origin
from skillopt_sleep.sources.cursor import CursorSource
from skillopt_sleep.testing import fake_world

LOGS = CORPUS / "cursor" / "projects" / "home-ada-shop" / "agent-transcripts"


def test_only_the_query_inside_a_user_message_was_typed() -> None:
    reading = read("cursor", LOGS / "cu1" / "cu1.jsonl")
    assert turns(reading, "cu1") == [
        ("prompt", "sort the imports"),
        ("command", "/lint now"),
        ("prompt", "no, keep the order"),
    ]
    assert replies(reading, "cu1") == ["Sorting."]
    assert reading.skipped == {"?/line of narrator": 1}


def test_calls_without_an_id_are_told_apart_by_their_place() -> None:
    made = calls(read("cursor", LOGS / "cu1" / "cu1.jsonl"), "cu1")
    assert [call.name for call in made.values()] == ["Shell", "Read"]
    assert next(iter(made.values())).command == "isort ."


def test_a_subagent_names_its_parent_and_has_no_human() -> None:
    reading = read("cursor", LOGS / "cu1" / "subagents" / "cu2.jsonl")
    assert origins(reading) == {"cu2": Origin.SUBAGENT}
    assert fact(reading, "cu2", "parent") == "cu1"
    assert turns(reading, "cu2") == []


def test_results_and_times_are_kept_where_the_log_has_them() -> None:
    reading = read("cursor", LOGS / "cu3.jsonl")
    assert turns(reading, "cu3") == [("prompt", "hola")]
    assert failed(reading, "cu3") == {"t1"}
    assert fact(reading, "cu3", "cwd").endswith("/shop")


def test_transcripts_are_found_and_other_files_are_not(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    projects = world.roots.home / ".cursor" / "projects"
    shutil.copytree(CORPUS / "cursor" / "projects", projects)
    (projects / "home-ada-shop" / "terminals.jsonl").touch()
    names = [path.name for path in CursorSource().files(world)]
    assert names == ["cu1.jsonl", "cu2.jsonl", "cu3.jsonl"]


def test_a_grown_transcript_is_read_on(tmp_path: Path) -> None:
    lines = (LOGS / "cu1" / "cu1.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    log = tmp_path / "cu1.jsonl"
    log.write_text("".join(lines[:2]), encoding="utf-8")
    first = read("cursor", log)
    log.write_text("".join(lines), encoding="utf-8")
    second = read("cursor", log, first.cursor)
    whole = read("cursor", log)
    assert turns(first, "cu1") + turns(second, "cu1") == turns(whole, "cu1")
