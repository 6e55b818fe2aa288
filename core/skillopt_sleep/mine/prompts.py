"""Reads a file of requests to cluster: one JSON object a line with ``id`` and ``text``.

Does not know where the requests came from, nor what is done with them.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from skillopt_sleep.errors import TaskFileError


def read_prompts(path: Path) -> list[tuple[str, str]]:
    """Return the id and text of each line in file order; empty lines are passed over.

    Raises:
        TaskFileError: The file cannot be read (line 0), or a line is no JSON object with an id
            that no line before it has and a text.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise TaskFileError(
            f"{str(path)!r} cannot be read ({error.strerror}); name a file with one JSON object "
            "a line",
            line=0,
        ) from error
    prompts: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            key, text = _prompt(line, number)
            if key in prompts:
                raise _wrong(number, f"the id {key!r} for the second time", "an id of its own")
            prompts[key] = text
    return list(prompts.items())


def _prompt(line: bytes, number: int) -> tuple[str, str]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _wrong(number, f"no JSON ({error})", "an object with 'id' and 'text'") from error
    match found:
        case {"id": str() as key, "text": str() as text}:
            return key, text
        case {"id": bool()}:
            pass
        case {"id": int() as key, "text": str() as text}:
            return str(key), text
        case _:
            pass
    raise _wrong(number, "no object with 'id' and 'text'", "both, the text as a string")


def _wrong(line: int, found: str, wanted: str) -> TaskFileError:
    return TaskFileError(
        f"line {line} has {found}; wanted {wanted}; correct that line and try again", line=line
    )
