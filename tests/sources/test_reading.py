"""Laws of reading lines from a cursor, of clipping and of instants."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.model.record import Cursor, TurnSeen
from skillopt_sleep.model.session import TurnKind
from skillopt_sleep.sources._reading import (
    CUT,
    MAX_LINE,
    Notes,
    clip,
    instant,
    lines,
    loads,
    words,
)

TOKEN = "ghp_" + "Zk3Lq9Xw2Vb7Nm4Rt6Yp8Sd1Fg5Hj0Kc7QaE"
texts = st.lists(st.sampled_from(['{"a": 1}', "", "x", '"é"', "   ", '{"b": "\\n"}']), max_size=12)


def read(path: Path, cursor: Cursor | None) -> tuple[list[tuple[int, bytes]], Cursor]:
    log = lines(path, cursor)
    return [(number, line.rstrip(b"\n")) for number, line in log], log.cursor()


@settings(max_examples=60, deadline=None)
@given(texts, st.lists(st.integers(0, 80), max_size=4))
def test_a_log_read_in_pieces_gives_the_lines_of_one_reading(
    rows: list[str], cuts: list[int]
) -> None:
    whole = "".join(row + "\n" for row in rows).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_bytes(whole)
        at_once, end = read(path, None)
        pieces: list[tuple[int, bytes]] = []
        cursor: Cursor | None = None
        for cut in (*sorted(cuts), len(whole)):
            path.write_bytes(whole[:cut])
            some, cursor = read(path, cursor)
            pieces += some
    assert pieces == at_once
    assert cursor is not None
    assert cursor.offset == end.offset


def test_a_half_written_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    found, cursor = read(path, None)
    assert found == [(0, b'{"a": 1}')]
    path.write_text('{"a": 1}\n{"b": 2}\n')
    assert read(path, cursor)[0] == [(1, b'{"b": 2}')]


@pytest.mark.parametrize("after", ['{"c": 3}\n', '{"a": 2}\n{"b": 2}\n', ""])
def test_a_rewritten_or_truncated_log_is_read_from_its_start(tmp_path: Path, after: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}\n')
    _, cursor = read(path, None)
    path.write_text(after)
    log = lines(path, cursor)
    assert log.whole
    assert [line for _, line in log] == [row.encode() for row in after.splitlines(keepends=True)]


def test_a_line_longer_than_the_cap_is_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("wb") as log:
        log.write(b'{"a": 1}\n"')
        log.write(b"x" * (MAX_LINE + 5))
        log.write(b'"\n{"b": 2}\n')
    reading = lines(path, None)
    assert [number for number, _ in reading] == [0]  # the batch is used up by the long line
    assert reading.skipped == {"line too long": 1}
    assert read(path, reading.cursor())[0] == [(2, b'{"b": 2}')]


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b'{"a": NaN', b"", b"\xff\xfe", b'"\\ud800"', b'{"a":' * 5_000]
)
def test_broken_json_is_none_or_a_value_and_never_an_error(line: bytes) -> None:
    found = loads(line)
    assert found is None or words(found).encode("utf-8") is not None


def test_a_wrong_byte_costs_one_character_not_the_line() -> None:
    assert loads(b'{"a": "\xff!"}') == {"a": "\ufffd!"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T05:04:05+02:00", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1767323045, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1767323045000, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("yesterday", None),
        (True, None),
        (-1e300, None),
        (float("nan"), None),
        ("0001-01-01T00:00:00+23:00", None),
    ],
)
def test_times_of_every_spelling_are_one_instant(written: object, expected: object) -> None:
    assert instant(written) == expected


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 9_000), st.integers(0, 9_000), st.sampled_from([" ", "\n", "\n\n"]))
def test_a_token_never_survives_a_clip_wherever_it_stands(
    before: int, after: int, gap: str
) -> None:
    kept = clip("lorem " * (before // 6) + gap + TOKEN + gap + " ipsum" * (after // 6))
    assert TOKEN[:12] not in kept
    assert TOKEN[-12:] not in kept
    assert len(kept) <= 1_000 + len(CUT)


def test_a_long_private_key_never_survives_a_clip() -> None:
    body = "\n".join(
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8c" for _ in range(60)
    )
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    assert "MIIEvQIBADAN" not in clip("log\n" * 900 + key + "\ndone\n")
    assert "MIIEvQIBADAN" not in clip(key + "\ndone\n" + "log\n" * 900)


def test_every_text_of_every_record_is_redacted_on_entry() -> None:
    notes = Notes()
    notes.add(
        TurnSeen(
            session="s",
            key="k",
            kind=TurnKind.PROMPT,
            text=f"use {TOKEN}",
            line=0,
            pasted=(f"export GH={TOKEN}",),
        )
    )
    assert TOKEN not in repr(notes.records)
