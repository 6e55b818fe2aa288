"""Claude Code's ``history.jsonl``: prompts only, kept after the transcripts are deleted.

The store drops a history session once a transcript of the same session is known.
"""

from __future__ import annotations

from typing import Any

from skillopt_sleep.codec import digest
from skillopt_sleep.model.record import Reading, SessionSeen, TurnSeen
from skillopt_sleep.model.session import Origin, TurnKind
from skillopt_sleep.sources._own import is_own
from skillopt_sleep.sources._reading import Lines, Notes, instant, loads, mapping, words

HISTORY_PART = "history"
_KNOWN = frozenset({"display", "pastedContents", "timestamp", "project", "sessionId"})


def read_history(log: Lines, notes: Notes) -> Reading:
    """Return the reading of a prompt history."""
    for number, line in log:
        entry = mapping(loads(line))
        typed = words(entry.get("display")).strip()
        if not typed:
            notes.skip("", "history without a prompt")
            continue
        for unknown in entry.keys() - _KNOWN:
            notes.skip("", f"history.{unknown}")
        _note(entry, typed, number, notes)
    return notes.reading_of(log)


def _note(entry: dict[str, Any], typed: str, number: int, notes: Notes) -> None:
    at = instant(entry.get("timestamp"))
    cwd = words(entry.get("project"))
    # Before 2.0 an entry names no session: the prompts of one folder and day belong together.
    day = at.date().isoformat() if at else "undated"
    session = words(entry.get("sessionId")) or f"history-{digest(cwd, day)}"
    notes.add(
        SessionSeen(
            session=session,
            origin=Origin.OWN if is_own(cwd) else Origin.HUMAN,
            cwd=cwd,
            part=HISTORY_PART,
            at=at,
        )
    )
    pasted = tuple(
        words(mapping(block).get("content"))
        for block in mapping(entry.get("pastedContents")).values()
    )
    notes.add(
        TurnSeen(
            session=session,
            key=f"history:{digest(typed, words(str(entry.get('timestamp'))))}",
            kind=TurnKind.COMMAND if typed.startswith(("/", "!")) else TurnKind.PROMPT,
            text=typed,
            line=number,
            at=at,
            pasted=tuple(block for block in pasted if block),
        )
    )
