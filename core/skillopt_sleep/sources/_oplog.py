"""Replays VS Code's chat logs: a first state, then sets, appends and deletes along paths.

It knows no chat; a change that fits nothing is counted and leaves the state as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from skillopt_sleep.model.record import Cursor
from skillopt_sleep.sources._reading import Notes, count, items, lines, loads, mapping

_STATE = "state"


def every_line(path: Path, notes: Notes) -> Iterator[tuple[int, bytes]]:
    """Yield (0-based line number, bytes) of every whole line of a log that is read as one.

    Raises:
        OSError: The file cannot be read.
    """
    cursor: Cursor | None = None
    while True:
        log = lines(path, cursor)
        yield from log
        for kind, times in log.skipped.items():
            notes.skip("", kind, times)
        if not log.full:
            return
        cursor = log.cursor()


def replayed(path: Path, notes: Notes) -> object:
    """Return the state after the last change, or None if the log has no first state.

    Raises:
        OSError: The file cannot be read.
    """
    holder: dict[str, Any] = {_STATE: None}
    for _, line in every_line(path, notes):
        change = mapping(loads(line))
        if change.get("kind") == 0:
            holder[_STATE] = change.get("v")
        elif not _changed(holder, change):
            notes.skip("", "change that fits nothing")
    return cast("object", holder[_STATE])


def _changed(holder: dict[str, Any], change: dict[str, Any]) -> bool:
    way = items(change.get("k"))
    if not way:
        return False
    *way, last = [_STATE, *way]
    held: object = holder
    for key in way:
        held = _get(held, key)
    match change.get("kind"):
        case 1:
            return _set(held, last, change.get("v"))
        case 2:
            return _append(held, last, change)
        case 3:
            return _delete(held, last)
        case _:
            return False


def _get(held: object, key: object) -> object:
    if isinstance(key, str):
        return mapping(held).get(key)
    place = _place(held, key)
    return None if place is None else items(held)[place]


def _place(held: object, key: object, *, end: bool = False) -> int | None:
    """Return ``key`` as an index of the array ``held`` (of its end too, with ``end``), or None."""
    if not isinstance(held, list) or not isinstance(key, int) or isinstance(key, bool):
        return None
    return key if 0 <= key < len(items(cast("object", held))) + end else None


def _set(held: object, key: object, value: object) -> bool:
    if isinstance(key, str):
        mapping(held)[key] = value
        return isinstance(held, dict)
    place = _place(held, key, end=True)
    if place is None:
        return False
    items(held)[place : place + 1] = [value]
    return True


def _append(held: object, key: object, change: dict[str, Any]) -> bool:
    grown = _get(held, key)
    if grown is None and not _set(held, key, grown := list[Any]()):
        return False
    if not isinstance(grown, list):
        return False
    kept = items(cast("object", grown))
    if "i" in change:
        del kept[count(change["i"]) :]
    kept.extend(items(change.get("v")))
    return True


def _delete(held: object, key: object) -> bool:
    if isinstance(key, str):
        return mapping(held).pop(key, held) is not held
    place = _place(held, key)
    if place is None:
        return False
    del items(held)[place]
    return True
