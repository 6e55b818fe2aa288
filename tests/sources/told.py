"""What the tests of log formats ask of a reading; it knows no format."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from skillopt_sleep.model.record import (
    CallEnded,
    CallSeen,
    Cursor,
    Reading,
    SessionSeen,
    TurnSeen,
    UsageSeen,
)
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources import SOURCES

CORPUS = Path(__file__).parents[1] / "corpus"


def read(source: str, path: Path, cursor: Cursor | None = None) -> Reading:
    return SOURCES.factory(source)().read(path, cursor)


def turns(reading: Reading, session: str) -> list[tuple[str, str]]:
    """Return (kind, text) of every turn of a session, without the agent's."""
    return [
        (record.kind.value, record.text)
        for record in reading.records
        if isinstance(record, TurnSeen)
        and record.session == session
        and record.kind is not TurnKind.ASSISTANT
    ]


def replies(reading: Reading, session: str) -> list[str]:
    return [
        record.text
        for record in reading.records
        if isinstance(record, TurnSeen)
        and record.session == session
        and record.kind is TurnKind.ASSISTANT
    ]


def human(readings: Iterable[Reading]) -> set[str]:
    """Return every text that the readings take for a human's."""
    kinds = (TurnKind.PROMPT, TurnKind.REMARK, TurnKind.COMMAND)
    return {
        record.text
        for reading in readings
        for record in reading.records
        if isinstance(record, TurnSeen) and record.kind in kinds
    }


def calls(reading: Reading, session: str) -> dict[str, CallSeen]:
    found = [record for record in reading.records if isinstance(record, CallSeen)]
    return {call.id: call for call in found if call.session == session}


def ended(reading: Reading, session: str) -> dict[str, CallEnded]:
    """Return how each call ended, the last word on it."""
    found = [record for record in reading.records if isinstance(record, CallEnded)]
    return {call.id: call for call in found if call.session == session}


def failed(reading: Reading, session: str) -> set[str]:
    return {id for id, call in ended(reading, session).items() if call.error}


def origins(reading: Reading) -> dict[str, Origin]:
    """Return the origins that the reading says, by session."""
    found = [record for record in reading.records if isinstance(record, SessionSeen)]
    return {seen.session: seen.origin for seen in found if seen.origin is not None}


def fact(reading: Reading, session: str, name: str) -> str:
    """Return the last non-empty value of one fact about a session."""
    found = [record for record in reading.records if isinstance(record, SessionSeen)]
    values = [str(getattr(seen, name)) for seen in found if seen.session == session]
    return next((value for value in reversed(values) if value), "")


def sessions(reading: Reading) -> set[str]:
    return {record.session for record in reading.records}


def tokens(reading: Reading) -> tuple[int, int, int, int]:
    """Return input, output, cache read and cache write tokens of all replies, each key once."""
    last = {use.key: use for use in reading.records if isinstance(use, UsageSeen)}
    return (
        sum(use.input_tokens for use in last.values()),
        sum(use.output_tokens for use in last.values()),
        sum(use.cache_read_tokens for use in last.values()),
        sum(use.cache_write_tokens for use in last.values()),
    )


def store(statements: Path, at: Path) -> Path:
    """Return a database at ``at`` made by the SQL text of ``statements``."""
    made = sqlite3.connect(at)
    made.executescript(statements.read_text(encoding="utf-8"))
    made.close()
    return at
