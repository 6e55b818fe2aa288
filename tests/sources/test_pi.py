from __future__ import annotations

from pathlib import Path

from tests.sources.told import CORPUS, calls, fact, failed, read, tokens, turns

from skillopt_sleep.sources.pi import PiSource
from skillopt_sleep.testing import fake_world

TREE = CORPUS / "pi" / "v3" / "2026-02-01T10-00-00-000Z_pi3.jsonl"
FORK = CORPUS / "pi" / "v3" / "2026-02-02T10-00-00-000Z_pi4.jsonl"
LIST = CORPUS / "pi" / "v1" / "2025-11-20T10-00-00-000Z_pi1.jsonl"


def test_the_branch_of_the_last_entry_is_the_conversation() -> None:
    reading = read("pi", TREE)
    assert turns(reading, "pi3") == [
        ("prompt", "write a parser"),
        ("rewind", ""),
        ("prompt", "use a grammar instead"),
        ("interrupt", ""),
        ("command", "!git status"),
        ("prompt", "look at lib.rs"),
        ("compaction", ""),
    ]
    assert set(calls(reading, "pi3")) == {"k1"}
    assert failed(reading, "pi3") == {"k1"}
    assert fact(reading, "pi3", "skill") == "review"
    assert reading.skipped == {"v3/novelty": 1}


def test_a_branch_that_was_left_still_cost_tokens() -> None:
    assert tokens(read("pi", TREE)) == (21, 9, 3, 0)


def test_a_fork_gives_what_it_repeats_to_the_session_it_was_made_from() -> None:
    reading = read("pi", FORK)
    assert turns(reading, "pi3") == [("prompt", "write a parser")]
    assert turns(reading, "pi4") == [("prompt", "now in Zig")]


def test_a_list_without_ids_counts_whole() -> None:
    reading = read("pi", LIST)
    assert turns(reading, "pi1") == [("prompt", "first"), ("prompt", "second")]
    assert fact(reading, "pi1", "version") == "v1"


def test_artifacts_of_subagents_are_left_alone(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    folder = world.roots.home / ".pi" / "agent" / "sessions" / "--app--"
    (folder / "subagent-artifacts").mkdir(parents=True)
    (folder / "a.jsonl").touch()
    (folder / "subagent-artifacts" / "b.jsonl").touch()
    assert list(PiSource().files(world)) == [folder / "a.jsonl"]
