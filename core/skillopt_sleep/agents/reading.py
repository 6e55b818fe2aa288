"""Reads lines of JSON as agent CLIs print them; every other line is passed over and kept aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import orjson

Event = dict[str, Any]

_HEAD, _TAIL = 2000, 1000


def events(text: str) -> Iterator[Event]:
    """Yield the JSON objects that stand alone on a line, in order."""
    for line in text.splitlines():
        if not line.lstrip().startswith("{"):
            continue
        try:
            found: object = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(found, dict):
            yield cast("Event", found)


def first(text: str) -> Event:
    """Return the first JSON object that stands alone on a line, or an empty one."""
    for event in events(text):
        return event
    return {}


def part(event: Event, *names: str) -> Event:
    """Return the object at the end of a path of names, or an empty one."""
    here = event
    for name in names:
        found: object = here.get(name)
        here = cast("Event", found) if isinstance(found, dict) else {}
    return here


def parts(event: Event, name: str) -> list[Event]:
    """Return the objects in the list called ``name``."""
    found: object = event.get(name)
    if not isinstance(found, list):
        return []
    return [cast("Event", one) for one in cast("list[object]", found) if isinstance(one, dict)]


def words(value: object) -> str:
    """Return a text, or the joined texts of a list of blocks, or ""."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        blocks = cast("list[object]", value)
        return "".join(words(part({"b": one}, "b").get("text")) for one in blocks)
    return ""


def number(value: object) -> int:
    """Return a whole number >= 0, or 0."""
    return max(0, value) if isinstance(value, int) else 0


def compact(value: object) -> str:
    """Return ``value`` as a JSON text."""
    return orjson.dumps(value).decode()


def cut(text: str) -> str:
    """Return head and tail of a long text."""
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]}\n[{len(text) - _HEAD - _TAIL} characters left out]\n{text[-_TAIL:]}"
