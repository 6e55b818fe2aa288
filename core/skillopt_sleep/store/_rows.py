"""Rows of the archive as the nouns they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from skillopt_sleep.model.session import ToolCall, Turn, TurnKind
from skillopt_sleep.store.database import Row


def turn(index: int, row: Row) -> Turn:
    """Return a turn; ``index`` is its place among the session's."""
    return Turn(
        index=index,
        kind=TurnKind(row["kind"]),
        text=row["text"],
        at=instant(row["at"]),
        path=row["path"],
        line=row["line"],
        pasted=tuple(json.loads(row["pasted"])),
        language=row["language"],
    )


def calls(
    rows: Sequence[Row], places: Mapping[str, int], turns: Sequence[tuple[int, int]]
) -> Iterator[ToolCall]:
    """Yield tool calls, each with the last turn before it.

    Args:
        rows: In log order.
        places: Order of the files that the session stands in.
        turns: Place and line of every turn, in log order.
    """
    after = -1
    for row in rows:
        here = (places[row["path"]], row["line"])
        while after + 1 < len(turns) and turns[after + 1] <= here:
            after += 1
        yield ToolCall(
            id=row["id"],
            name=row["name"],
            arguments=row["arguments"],
            after=after,
            command=row["command"],
            files=tuple(json.loads(row["files"])),
            output=row["output"],
            error=bool(row["error"]),
            refused=bool(row["refused"]),
            exit_code=row["exit_code"],
            seconds=row["seconds"],
            at=instant(row["at"]),
            path=row["path"],
            line=row["line"],
        )


def instant(text: str | None) -> datetime | None:
    """Return the instant of an ISO text, or None."""
    return datetime.fromisoformat(text) if text else None
