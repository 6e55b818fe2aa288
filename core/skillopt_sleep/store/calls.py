"""The journal of finished model calls, and the ledger of what every call cost."""

from __future__ import annotations

from datetime import datetime

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.model.prompt import Batch, Reply, Stage
from skillopt_sleep.model.usage import NO_USAGE, Usage
from skillopt_sleep.store.database import Database

_BATCH = "batch:"


class CallStore:
    """Reads and writes replies by key, and usage by night and stage."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reply(self, key: str) -> Reply | None:
        """Return the journaled reply to a call, or None."""
        row = self._database.row("SELECT doc FROM calls WHERE key = ?", (key,))
        return decode(Reply, row["doc"]) if row else None

    def keep(self, key: str, reply: Reply, *, night: str, stage: Stage, at: datetime) -> None:
        """Journal a finished call."""
        self._database.execute(
            "INSERT OR REPLACE INTO calls (key, night, stage, at, doc) VALUES (?, ?, ?, ?, ?)",
            (key, night, stage.value, at.isoformat(), encode(reply)),
        )

    def batches(self, night: str) -> tuple[Batch, ...]:
        """Return what a night handed to providers together and has not taken back yet."""
        rows = self._database.rows(
            "SELECT value FROM facts WHERE name LIKE ? ORDER BY name", (f"{_BATCH}{night}:%",)
        )
        return tuple(decode(Batch, row["value"]) for row in rows)

    def keep_batch(self, batch: Batch, *, night: str) -> None:
        """Remember what was handed in, so that it is not handed in again."""
        self._database.execute(
            "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)",
            (f"{_BATCH}{night}:{batch.id}", encode(batch)),
        )

    def drop_batch(self, batch: Batch, *, night: str) -> None:
        """Forget what was taken back or given up."""
        name = f"{_BATCH}{night}:{batch.id}"
        self._database.execute("DELETE FROM facts WHERE name = ?", (name,))

    def spend(self, usage: Usage, *, night: str, stage: Stage, at: datetime) -> None:
        """Put what one call cost into the ledger, whether or not it had an answer."""
        self._database.execute(
            "INSERT INTO spent (night, stage, at, doc) VALUES (?, ?, ?, ?)",
            (night, stage.value, at.isoformat(), encode(usage)),
        )

    def spent(self, night: str) -> dict[Stage, Usage]:
        """Return what a night has cost so far, per stage, over all its runs."""
        rows = self._database.rows(
            "SELECT stage, doc FROM spent WHERE night = ? ORDER BY id", (night,)
        )
        totals: dict[Stage, Usage] = {}
        for row in rows:
            stage = Stage(row["stage"])
            totals[stage] = totals.get(stage, NO_USAGE) + decode(Usage, row["doc"])
        return totals

    def spent_since(self, at: datetime) -> Usage:
        """Return what all calls since an instant have cost."""
        rows = self._database.rows("SELECT doc FROM spent WHERE at >= ?", (at.isoformat(),))
        return sum((decode(Usage, row["doc"]) for row in rows), NO_USAGE)
