from __future__ import annotations

from pathlib import Path

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
    tokens,
    turns,
)

from skillopt_sleep.model.session import Origin
from skillopt_sleep.sources.copilot import CopilotSource
from skillopt_sleep.testing import fake_world

OLD = CORPUS / "copilot" / "0.0.407" / "events.jsonl"
MARCH = CORPUS / "copilot" / "1.0.10" / "events.jsonl"
HEADLESS = CORPUS / "copilot" / "1.0.102-headless" / "events.jsonl"
NEW = CORPUS / "copilot" / "1.0.102" / "events.jsonl"


def test_what_was_typed_is_the_prompt_and_empty_content_is_none() -> None:
    reading = read("copilot", MARCH)
    assert turns(reading, "c10") == [
        ("prompt", "list the routes of the shop"),
        ("prompt", "nee, alleen de openbare"),
        ("interrupt", ""),
    ]
    assert replies(reading, "c10") == ["There are two routes."]
    assert sessions(reading) == {"c10"}


def test_calls_have_their_command_their_files_and_their_failure() -> None:
    reading = read("copilot", MARCH)
    made = calls(reading, "c10")
    assert made["t2"].command == "pytest -q"
    assert [name.rpartition("/")[2] for name in made["t1"].files] == ["routes.py"]
    assert failed(reading, "c10") == {"t1"}
    assert ended(reading, "c10")["t1"].seconds == 2.0


def test_an_exit_code_outweighs_success() -> None:
    reading = read("copilot", NEW)
    assert ended(reading, "c102")["t1"].exit_code == 3
    assert failed(reading, "c102") == {"t1", "t3"}


def test_a_subagent_is_a_session_of_its_own_without_human_words() -> None:
    reading = read("copilot", NEW)
    assert origins(reading) == {"c102/agent-1": Origin.SUBAGENT}
    assert fact(reading, "c102/agent-1", "parent") == "c102"
    assert turns(reading, "c102/agent-1") == []
    assert set(calls(reading, "c102/agent-1")) == {"s1"}


def test_a_rejection_keeps_the_feedback_as_the_humans_words() -> None:
    reading = read("copilot", NEW)
    assert ended(reading, "c102")["t3"].refused
    assert turns(reading, "c102") == [
        ("prompt", "run the linter"),
        ("command", "ls"),
        ("rejection", ""),
        ("remark", "not that file"),
        ("compaction", ""),
    ]
    assert fact(reading, "c102", "skill") == "lint"


def test_a_rejection_that_is_read_later_still_finds_its_call(tmp_path: Path) -> None:
    lines = NEW.read_text(encoding="utf-8").splitlines(keepends=True)
    asked = next(n for n, line in enumerate(lines) if "permission.requested" in line) + 1
    log = tmp_path / "events.jsonl"
    log.write_text("".join(lines[:asked]), encoding="utf-8")
    first = read("copilot", log)
    log.write_text("".join(lines[: asked + 1]), encoding="utf-8")
    second = read("copilot", log, first.cursor)
    assert not second.whole
    assert ended(second, "c102")["t3"].refused


def test_unknown_events_are_counted_by_version() -> None:
    assert read("copilot", NEW).skipped == {
        "1.0.102/brand.new_event": 1,
        "1.0.102/user.message from skill": 1,
    }


def test_tokens_come_from_replies_or_else_from_the_shutdown() -> None:
    assert tokens(read("copilot", MARCH)) == (0, 50, 0, 0)
    assert tokens(read("copilot", NEW)) == (400, 70, 600, 50)


def test_a_usage_record_is_not_counted_again_by_reply_and_shutdown() -> None:
    assert tokens(read("copilot", HEADLESS)) == (600, 50, 400, 0)


def test_a_run_with_a_prompt_on_the_command_line_is_headless() -> None:
    reading = read("copilot", HEADLESS)
    assert origins(reading) == {"headless": Origin.HEADLESS}
    assert turns(reading, "headless") == [("prompt", "count the files")]


def test_an_old_log_takes_its_folder_from_the_workspace_file() -> None:
    reading = read("copilot", OLD)
    assert fact(reading, "c407", "cwd").endswith("/old")
    assert fact(reading, "c407", "branch") == "trunk"
    assert fact(reading, "c407", "version") == "0.0.407-1"


def test_event_logs_are_found_under_the_home(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    folder = world.roots.home / ".copilot" / "session-state" / "s"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").touch()
    (folder / "plan.md").touch()
    assert list(CopilotSource().files(world)) == [folder / "events.jsonl"]
