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
    replies,
    tokens,
    turns,
)

from skillopt_sleep.model.record import TurnSeen
from skillopt_sleep.model.session import Origin
from skillopt_sleep.sources.vscode import VscodeSource
from skillopt_sleep.testing import fake_world

EXPORT = CORPUS / "vscode" / "export-0.33.5.json"
CHATS = CORPUS / "vscode" / "Code" / "User" / "workspaceStorage" / "w1" / "chatSessions"


def test_an_export_tells_what_was_typed_and_that_it_was_stopped() -> None:
    reading = read("vscode", EXPORT)
    assert turns(reading, "vs-export") == [
        ("prompt", "find the note on parsers"),
        ("prompt", "no, the other one"),
        ("interrupt", ""),
    ]
    assert replies(reading, "vs-export") == ["Looking. Found it."]


def test_calls_that_were_shown_count_with_the_arguments_the_model_gave() -> None:
    reading = read("vscode", EXPORT)
    made = calls(reading, "vs-export")
    assert {id: call.name for id, call in made.items()} == {
        "u1": "copilot_readFile",
        "u2": "run_in_terminal",
        "u3": "mcp_notes_search",
    }
    assert made["u1"].files == ("/n/a.md",)
    assert made["u2"].command == "grep -r parser"
    assert json.loads(made["u3"].arguments) == {"q": "parser"}
    assert ended(reading, "vs-export")["u1"].output == "# Parsers"


def test_an_ending_is_unknown_unless_a_field_says_it() -> None:
    how = {id: call.error for id, call in ended(read("vscode", EXPORT), "vs-export").items()}
    assert how == {"u1": None, "u2": True, "u3": False}


def test_requests_that_nobody_typed_are_no_prompts() -> None:
    reading = read("vscode", CHATS / "v3.json")
    assert turns(reading, "vs3") == [
        ("prompt", "explain this"),
        ("command", "/fix the test"),
        ("rejection", ""),
        ("prompt", "weiter so"),
        ("remark", "nur die ersten zwei"),
        ("interrupt", ""),
    ]
    assert failed(reading, "vs3") == {"d1"}
    assert tokens(reading) == (50, 8, 0, 0)
    assert reading.skipped == {"0.33.5/response part starburst": 1}


def test_a_pasted_block_stands_apart() -> None:
    reading = read("vscode", CHATS / "v3.json")
    pasted = [record.pasted for record in reading.records if isinstance(record, TurnSeen)]
    assert [blocks for blocks in pasted if blocks] == [("a+b",)]


def test_a_subagents_call_stands_apart() -> None:
    reading = read("vscode", CHATS / "v3.json")
    assert origins(reading) == {"vs3/sa": Origin.SUBAGENT}
    assert set(calls(reading, "vs3/sa")) == {"s1"}


def test_a_log_of_changes_is_replayed_to_its_last_state() -> None:
    reading = read("vscode", CHATS / "log.jsonl")
    assert turns(reading, "vslog") == [("prompt", "run the build"), ("prompt", "and the docs")]
    assert replies(reading, "vslog") == ["Running it."]
    assert set(calls(reading, "vslog")) == {"b1"}
    assert reading.skipped == {"?/change that fits nothing": 2}


def test_the_folder_comes_from_the_workspace_file() -> None:
    assert fact(read("vscode", CHATS / "log.jsonl"), "vslog", "cwd").endswith("/my shop")


def test_a_document_that_is_named_a_log_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    shutil.copy(EXPORT, path)
    assert turns(read("vscode", path), "vs-export") == turns(read("vscode", EXPORT), "vs-export")


@pytest.mark.parametrize(
    "user",
    [
        ".config/Code/User",
        ".config/Code - Insiders/User",
        ".config/VSCodium/User",
        "Library/Application Support/Code/User",
        ".vscode-server/data/User",
    ],
)
def test_sessions_are_found_in_every_editors_folder(tmp_path: Path, user: str) -> None:
    world = fake_world(tmp_path)
    shutil.copytree(CORPUS / "vscode" / "Code" / "User", world.roots.home / user)
    names = [path.name for path in VscodeSource().files(world)]
    assert sorted(names) == ["log.jsonl", "v3.json"]


@pytest.mark.parametrize("text", ["", "[1]", '{"steps": []}', '{"kind":1,"k":["a"],"v":1}\n'])
def test_what_is_no_chat_is_a_value_error(tmp_path: Path, text: str) -> None:
    for name in ("x.json", "x.jsonl"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"log|requests"):
            read("vscode", path)
