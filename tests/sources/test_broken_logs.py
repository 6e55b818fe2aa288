"""Laws of every format under damage: no crash, no invented human turn, what is passed over counts.

A damaged log may be refused as a whole (ValueError), never by another exception.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sources.told import CORPUS, human, read, sessions, store

from skillopt_sleep.sources._reading import items, mapping

LOGS = [
    ("copilot", CORPUS / "copilot" / "1.0.102" / "events.jsonl"),
    ("openclaw", CORPUS / "openclaw" / "v3" / "agents" / "main" / "sessions" / "oc3.jsonl"),
    ("cursor", next((CORPUS / "cursor").rglob("cu1.jsonl"))),
    ("pi", next((CORPUS / "pi").rglob("*_pi3.jsonl"))),
    ("vscode", next((CORPUS / "vscode").rglob("log.jsonl"))),
]
DOCUMENTS = [
    ("devin", CORPUS / "devin" / "atif-1.7.json"),
    ("opencode", CORPUS / "opencode" / "export-1.18.33.json"),
    ("vscode", CORPUS / "vscode" / "export-0.33.5.json"),
    ("vscode", next((CORPUS / "vscode").rglob("v3.json"))),
]
STORES = [
    ("openclaw", CORPUS / "openclaw" / "2026.9.6.sql", "transcript_events", "event_json"),
    ("opencode", CORPUS / "opencode" / "1.18.33.sql", "part", "data"),
    ("opencode", CORPUS / "opencode" / "1.18.33.sql", "message", "data"),
]
often = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
wrong = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
nested = st.sampled_from([b"[" * 20_000, b'{"type":' * 10_000, b"[" * 900 + b"]" * 900])
noise = st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b"\xff")) | nested


@st.composite
def damaged(draw: st.DrawFn, lines: list[bytes]) -> bytes:
    """Return a log whose lines were reordered, doubled, lost, cut or mixed with noise."""
    picked = draw(st.lists(st.sampled_from(lines), max_size=len(lines) + 3))
    for _ in range(draw(st.integers(0, 3))):
        picked.insert(draw(st.integers(0, len(picked))), draw(noise) + b"\n")
    log = b"".join(picked)
    return log[: draw(st.integers(0, len(log)))] if draw(st.booleans()) else log


def refused_or_human(source: str, path: Path) -> set[str]:
    try:
        return human([read(source, path)])
    except ValueError:
        return set()


@pytest.mark.parametrize(("source", "log"), LOGS)
@given(data=st.data())
@often
def test_damaged_lines_invent_no_human_turn(
    source: str, log: Path, data: st.DataObject, tmp_path: Path
) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    path = tmp_path / log.name
    path.write_bytes(data.draw(damaged(lines)))
    typed = human([read(source, log)]) | {"use regexes", "taken back"}
    assert refused_or_human(source, path) <= typed


@pytest.mark.parametrize(("source", "log"), LOGS)
def test_a_line_that_is_no_record_is_counted(source: str, log: Path, tmp_path: Path) -> None:
    path = tmp_path / log.name
    path.write_bytes(log.read_bytes() + b'"a text"\n{"half": \n\xff\xfe\xfd\n[1, 2]\n')
    before, after = read(source, log), read(source, path)
    assert sum(after.skipped.values()) == sum(before.skipped.values()) + 4
    assert human([after]) == human([before])


@pytest.mark.parametrize(("source", "log"), [pair for pair in LOGS if pair[0] != "vscode"])
@given(data=st.data())
@often
def test_two_readings_of_a_growing_log_tell_what_one_tells(
    source: str, log: Path, data: st.DataObject, tmp_path: Path
) -> None:
    whole = log.read_bytes()
    path = tmp_path / log.name
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    first = read(source, path)
    path.write_bytes(whole)
    second = read(source, path, first.cursor)
    readings = [second] if second.whole else [first, second]
    assert human(readings) == human([read(source, log)])


def _places(value: object, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, object]] = [*mapping(value).items(), *enumerate(items(value))]
    return [way, *(place for key, one in inner for place in _places(one, (*way, key)))]


def _put(value: object, way: tuple[str | int, ...], new: object) -> object:
    if not way:
        return new
    key, rest = way[0], way[1:]
    if isinstance(key, str):
        return {**mapping(value), key: _put(mapping(value)[key], rest, new)}
    held = items(value)
    return [*held[:key], _put(held[key], rest, new), *held[key + 1 :]]


@pytest.mark.parametrize(("source", "log"), LOGS)
@given(data=st.data())
@often
def test_wrong_types_in_a_record_do_no_harm(
    source: str, log: Path, data: st.DataObject, tmp_path: Path
) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    number = data.draw(st.integers(0, len(lines) - 1))
    record = json.loads(lines[number])
    way = data.draw(st.sampled_from(_places(record)))
    lines[number] = json.dumps(_put(record, way, data.draw(wrong))).encode() + b"\n"
    path = tmp_path / log.name
    path.write_bytes(b"".join(lines))
    refused_or_human(source, path)


@pytest.mark.parametrize(("source", "log"), DOCUMENTS)
@given(data=st.data())
@often
def test_wrong_types_in_a_document_do_no_harm(
    source: str, log: Path, data: st.DataObject, tmp_path: Path
) -> None:
    found = json.loads(log.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        way = data.draw(st.sampled_from(_places(found)))
        found = _put(found, way, data.draw(wrong))
    path = tmp_path / log.name
    path.write_text(json.dumps(found), encoding="utf-8")
    refused_or_human(source, path)


@pytest.mark.parametrize(("source", "log"), DOCUMENTS)
@given(data=st.data())
@often
def test_a_cut_document_is_refused(
    source: str, log: Path, data: st.DataObject, tmp_path: Path
) -> None:
    whole = log.read_bytes().rstrip()
    path = tmp_path / log.name
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ValueError, match="log"):
        read(source, path)


@pytest.mark.parametrize(("source", "statements", "table", "column"), STORES)
@given(data=st.data())
@often
def test_wrong_rows_in_a_store_do_no_harm(
    source: str,
    statements: Path,
    table: str,
    column: str,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = store(statements, tmp_path_factory.mktemp("store") / "store.sqlite")
    writer = sqlite3.connect(path)
    rows = [row[0] for row in writer.execute(f"SELECT rowid FROM {table}")]
    text = data.draw(wrong.map(json.dumps) | st.just("[" * 20_000) | st.just("{"))
    writer.execute(
        f"UPDATE {table} SET {column} = ? WHERE rowid = ?",
        (text, data.draw(st.sampled_from(rows))),
    )
    writer.commit()
    writer.close()
    assert sessions(read(source, path))


@pytest.mark.parametrize(("source", "statements"), [row[:2] for row in STORES[:2]])
@given(data=st.data())
@often
def test_a_damaged_store_is_refused_or_read(
    source: str, statements: Path, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = store(statements, tmp_path_factory.mktemp("store") / "store.sqlite")
    typed = human([read(source, path)])
    raw = bytearray(path.read_bytes())
    cut = data.draw(st.integers(0, len(raw)))
    spots = data.draw(st.lists(st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255))))
    for place, byte in spots:
        raw[place] = byte
    path.write_bytes(bytes(raw[:cut]))
    try:
        found = human([read(source, path)])
    except (OSError, ValueError):
        return
    assert len(found) <= len(typed)
