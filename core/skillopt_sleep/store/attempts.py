"""Finished attempts in the database, found again by the hash of what went into them."""

from __future__ import annotations

from collections.abc import Iterable

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.store.database import Database


class AttemptStore:
    """Reads and writes attempts that have a score; a failed one is never kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, attempt: Attempt, *, night: str) -> None:
        """Keep a finished attempt.

        Raises:
            ValueError: It failed, and so has to be tried again rather than remembered.
        """
        if attempt.failure is not None:
            raise ValueError(f"attempt {attempt.id!r} failed; only finished attempts are kept")
        self._database.execute(
            "INSERT OR REPLACE INTO attempts (id, night, task, cluster, skill_hash, draw, doc)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                attempt.id,
                night,
                attempt.task,
                attempt.cluster,
                attempt.skill_hash,
                attempt.draw,
                encode(attempt),
            ),
        )

    def get(self, attempt: str) -> Attempt | None:
        """Return a finished attempt by its id, or None."""
        row = self._database.row("SELECT doc FROM attempts WHERE id = ?", (attempt,))
        return decode(Attempt, row["doc"]) if row else None

    def found(self, attempts: Iterable[str]) -> dict[str, Attempt]:
        """Return those of the named attempts that are finished, by id."""
        return {one: attempt for one in attempts if (attempt := self.get(one)) is not None}

    def of_task(self, task: str) -> tuple[Attempt, ...]:
        """Return all finished attempts at a task, by skill, then by draw."""
        rows = self._database.rows(
            "SELECT doc FROM attempts WHERE task = ? ORDER BY skill_hash, draw, id", (task,)
        )
        return tuple(decode(Attempt, row["doc"]) for row in rows)

    def all(self) -> tuple[Attempt, ...]:
        """Return every finished attempt, by task, skill and draw."""
        rows = self._database.rows("SELECT doc FROM attempts ORDER BY task, skill_hash, draw, id")
        return tuple(decode(Attempt, row["doc"]) for row in rows)

    def of_night(self, night: str) -> tuple[Attempt, ...]:
        """Return all attempts that were finished in a night, by task, skill and draw."""
        rows = self._database.rows(
            "SELECT doc FROM attempts WHERE night = ? ORDER BY task, skill_hash, draw, id",
            (night,),
        )
        return tuple(decode(Attempt, row["doc"]) for row in rows)
