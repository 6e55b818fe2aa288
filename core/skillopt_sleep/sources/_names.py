"""Secrets taken out of what is no text: ids, keys, tool and model names, versions, counts, state.

Texts are redacted as they are noted. A name hardly ever holds a secret, so all names of a reading
are looked at in one pass, and only if that finds something each by itself. It knows no format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

from skillopt_sleep.model.record import (
    CallEnded,
    CallSeen,
    Reading,
    Record,
    SessionSeen,
    TurnSeen,
    UsageSeen,
)
from skillopt_sleep.redact import redact

_NAMES: Mapping[type[Record], tuple[str, ...]] = {
    SessionSeen: ("session", "parent", "cwd", "branch", "commit", "version", "model", "skill"),
    TurnSeen: ("session", "key", "replaces"),
    CallSeen: ("session", "id", "name"),
    CallEnded: ("session", "id"),
    UsageSeen: ("session", "key", "model"),
}
_PARTS: Mapping[type[Record], Callable[[Any], tuple[str, ...]]] = {
    kind: attrgetter(*names) for kind, names in _NAMES.items()
}
_MARK = "<secret:"


def without_secrets(reading: Reading) -> Reading:
    """Return ``reading`` with every name that holds a secret replaced, the same way each time."""
    names = set(_names(reading))
    if redact("\n".join(sorted(names))).count(_MARK) == sum(name.count(_MARK) for name in names):
        return reading
    clean = {name: _clean(name) for name in names}
    skipped: Counter[str] = Counter()
    for kind, times in reading.skipped.items():
        skipped[clean[kind]] += times
    state = {key: clean[value] for key, value in reading.cursor.state.items()}
    return replace(
        reading,
        records=tuple(_renamed(record, clean) for record in reading.records),
        cursor=replace(reading.cursor, state=state),
        skipped=dict(skipped),
    )


def short(name: str, most: int = 40) -> str:
    """Return ``name`` cut to ``most`` characters, secrets replaced before the cut."""
    return name if len(name) <= most else redact(name)[:most]


def _names(reading: Reading) -> Iterator[str]:
    for record in reading.records:
        yield from _PARTS[type(record)](record)
    yield from reading.skipped
    yield from reading.cursor.state.values()


def _clean(name: str) -> str:
    # A pseudonym for a home folder or an address would make two names of one; a secret must go.
    clean = redact(name)
    return clean if _MARK in clean else name


def _renamed(record: Record, clean: Mapping[str, str]) -> Record:
    changed = {
        field: clean[name]
        for field, name in zip(_NAMES[type(record)], _PARTS[type(record)](record), strict=True)
        if clean[name] != name
    }
    return replace(record, **changed) if changed else record  # type: ignore[arg-type] # names only
