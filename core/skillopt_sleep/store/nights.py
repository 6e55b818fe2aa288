"""Nights and small named facts in the database."""

from __future__ import annotations

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.model.night import Night, NightStatus
from skillopt_sleep.store.database import Database

UNFINISHED = (NightStatus.RUNNING, NightStatus.WAITING, NightStatus.CANCELLED)


class NightStore:
    """Reads and writes nights."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, night: Night) -> None:
        """Store a night, new or changed."""
        self._database.execute(
            "INSERT OR REPLACE INTO nights (id, project, status, started_at, doc)"
            " VALUES (?, ?, ?, ?, ?)",
            (night.id, night.project, night.status, night.started_at.isoformat(), encode(night)),
        )

    def all(self, *, project: str | None = None) -> tuple[Night, ...]:
        """Return nights of a project, or of all, oldest first."""
        rows = self._database.rows(
            "SELECT doc FROM nights WHERE ? IS NULL OR project = ? ORDER BY id",
            (project, project),
        )
        return tuple(decode(Night, row["doc"]) for row in rows)

    def last(self, *, project: str | None = None) -> Night | None:
        """Return the newest night, or None."""
        nights = self.all(project=project)
        return nights[-1] if nights else None

    def unfinished(self, *, project: str) -> Night | None:
        """Return the night that was cut off or waits for answers, if the newest one did."""
        night = self.last(project=project)
        return night if night is not None and night.status in UNFINISHED else None


class FactStore:
    """Small named texts, such as the plan of a night under way or the meta skill."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> str:
        """Return a fact, or "" where it was never said."""
        row = self._database.row("SELECT value FROM facts WHERE name = ?", (name,))
        return str(row["value"]) if row else ""

    def put(self, name: str, value: str) -> None:
        """Say a fact."""
        self._database.execute(
            "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", (name, value)
        )

    def drop(self, name: str) -> None:
        """Unsay a fact."""
        self._database.execute("DELETE FROM facts WHERE name = ?", (name,))
