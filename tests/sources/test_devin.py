from __future__ import annotations

import json
import shutil
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
    sessions,
    tokens,
    turns,
)

from skillopt_sleep.model.session import Origin

NEW = CORPUS / "devin" / "atif-1.7.json"
HANDED = CORPUS / "devin" / "trajectory.json"
SUMMARY = CORPUS / "devin" / "trajectory.summary-1.json"


def test_copied_steps_are_not_told_again() -> None:
    reading = read("devin", NEW)
    assert turns(reading, "atif-1.7") == [
        ("prompt", "add a health check"),
        ("prompt", "not in that file, in app.py"),
        ("command", "/review"),
    ]
    assert tokens(reading) == (40, 20, 60, 0)


def test_an_exit_code_in_the_extra_fields_marks_the_call_failed() -> None:
    reading = read("devin", NEW)
    assert failed(reading, "atif-1.7") == {"a"}
    assert ended(reading, "atif-1.7")["b"].output == "ok"
    assert calls(reading, "atif-1.7")["a"].command == "make test"


def test_an_embedded_subagent_stands_apart() -> None:
    reading = read("devin", NEW)
    assert origins(reading) == {"atif-1.7/sub-1": Origin.SUBAGENT}
    assert turns(reading, "atif-1.7/sub-1") == []
    assert fact(reading, "atif-1.7/sub-1", "parent") == "atif-1.7"


def test_the_answer_to_a_hand_off_is_no_prompt() -> None:
    reading = read("devin", HANDED)
    (session,) = sessions(reading)
    assert turns(reading, session) == [("prompt", "make hello.txt"), ("prompt", "thanks, stop")]


def test_a_result_without_an_id_belongs_to_the_only_call() -> None:
    reading = read("devin", HANDED)
    (session,) = sessions(reading)
    assert ended(reading, session)["c0"].output == "New Terminal Output:"
    assert failed(reading, session) == set()


def test_a_trajectory_that_its_neighbour_refers_to_is_a_subagents() -> None:
    reading = read("devin", SUMMARY)
    (session,) = sessions(reading)
    assert origins(reading) == {session: Origin.SUBAGENT}
    assert turns(reading, session) == []


def test_copies_of_one_session_are_one_and_other_runs_of_its_id_are_not(tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    shutil.copy(HANDED, copy)
    other = json.loads(HANDED.read_text(encoding="utf-8"))
    other["steps"][0]["message"] = "make bye.txt"
    (tmp_path / "other.json").write_text(json.dumps(other), encoding="utf-8")
    assert sessions(read("devin", copy)) == sessions(read("devin", HANDED))
    assert sessions(read("devin", tmp_path / "other.json")) != sessions(read("devin", HANDED))


@pytest.mark.parametrize("text", ["", "{", "[]", '"text"', '{"steps": 3}', '{"requests": []}'])
def test_what_is_no_trajectory_is_a_value_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"log|steps"):
        read("devin", path)


def test_a_trajectory_that_names_its_parent_session_is_a_subagents(tmp_path: Path) -> None:
    found = json.loads(SUMMARY.read_text(encoding="utf-8"))
    found["agent"]["extra"] = {"parent_session_id": "run", "summarization_index": 1}
    path = tmp_path / "alone.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    reading = read("devin", path)
    (session,) = sessions(reading)
    assert origins(reading) == {session: Origin.SUBAGENT}
    assert turns(reading, session) == []
