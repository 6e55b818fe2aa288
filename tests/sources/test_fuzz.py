"""Damaged Claude Code and Codex logs: no crash, no invented turn, what was skipped is counted."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.archive import CORPUS

from skillopt_sleep.model.record import Reading, TurnSeen
from skillopt_sleep.model.session import HUMAN_KINDS
from skillopt_sleep.sources import SOURCES
from skillopt_sleep.sources._reading import mapping
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.sessions import SessionStore

LOGS = {
    name: [
        line
        for path in sorted((CORPUS / name).rglob("*.jsonl"))
        if path.name != "history.jsonl"
        for line in path.read_bytes().splitlines()
    ]
    for name in ("claude", "codex")
}
STORE = SessionStore(Database(Path(tempfile.mkdtemp()) / "archive.db"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def read(name: str, blob: bytes) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollout-bbbb0009-1111-7111-8111-111111111111.jsonl"
        path.write_bytes(blob)
        reading = SOURCES.factory(name)().read(path, None)
    STORE.save(name, str(path), reading)
    return reading


def human(reading: Reading) -> list[str]:
    return [
        turn.text
        for turn in reading.records
        if isinstance(turn, TurnSeen) and turn.kind in HUMAN_KINDS
    ]


def known(name: str) -> set[str]:
    return {text for line in LOGS[name] for text in human(read(name, line + b"\n"))}


KNOWN = {name: known(name) for name in LOGS}


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=40, deadline=None)
@given(choose=st.data())
def test_cut_reordered_and_doubled_lines_invent_nothing(name: str, choose: st.DataObject) -> None:
    lines = choose.draw(st.lists(st.sampled_from(LOGS[name]), max_size=25))
    cut = choose.draw(st.integers(0, 200))
    blob = b"\n".join(lines)
    reading = read(name, blob[: max(0, len(blob) - cut)])
    assert set(human(reading)) <= KNOWN[name]


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=40, deadline=None)
@given(choose=st.data())
def test_wrong_bytes_and_lines_that_are_no_objects_are_counted(
    name: str, choose: st.DataObject
) -> None:
    noise = [b'"text"', b"[1, 2]", b"17", b"null", b"{", b"\xff\xfe{}", b"[" * 5_000]
    added = choose.draw(st.lists(st.sampled_from(noise), min_size=1, max_size=6))
    clean = read(name, b"\n".join(LOGS[name]) + b"\n")
    broken = read(name, b"\n".join([*added, *LOGS[name]]) + b"\n")
    assert human(broken) == human(clean)
    assert sum(broken.skipped.values()) == sum(clean.skipped.values()) + len(added)


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=100, deadline=None)
@given(choose=st.data())
def test_wrong_types_anywhere_never_crash(name: str, choose: st.DataObject) -> None:
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in choose.draw(st.lists(st.sampled_from(LOGS[name]), max_size=4))
    ]
    for row in rows:
        _break(row, choose.draw, values)
    reading = read(name, "".join(json.dumps(row) + "\n" for row in rows).encode())
    assert reading.bytes_read > 0 or not rows


def _break(
    row: dict[str, Any],
    draw: Callable[[st.SearchStrategy[Any]], Any],
    wrong: st.SearchStrategy[Any],
) -> None:
    keys = sorted(row)
    if not keys:
        return
    key = draw(st.sampled_from(keys))
    inner = row[key]
    if mapping(inner) and draw(st.booleans()):
        _break(mapping(inner), draw, wrong)
    else:
        row[key] = draw(wrong)


@pytest.mark.parametrize("name", LOGS)
def test_a_deeply_nested_line_is_passed_over(name: str) -> None:
    deep = b'{"type": "user", "payload": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001
    reading = read(name, deep + b"\n")
    assert human(reading) == []
    assert sum(reading.skipped.values()) == 1
