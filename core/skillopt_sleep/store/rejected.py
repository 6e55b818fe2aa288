"""The rejected-edit buffer of each skill in the database, from night to night."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from skillopt_sleep.codec import decode, digest, encode
from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.rejected import RejectedEdit, fresh, rejections, with_rejected
from skillopt_sleep.store.database import Database


class RejectedStore:
    """Reads and writes rejected edits; a night counts as a round of one day."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, *, project: str, skill_name: str, at: datetime) -> tuple[RejectedEdit, ...]:
        """Return what is still remembered at ``at``, oldest first."""
        return fresh(self._all(project, skill_name), _day(at))

    def add(
        self,
        edits: Sequence[Edit],
        *,
        project: str,
        skill_name: str,
        night: str,
        at: datetime,
    ) -> None:
        """Remember what the gate rejected in a night; a second call for it changes nothing.

        Args:
            edits: Each of them rejected in its own right.
            project: Folder of the project.
            skill_name: Name of the skill document.
            night: Night id.
            at: Now.
        """
        with self._database.transaction():
            if not edits or self._knows_night(project, skill_name, night):
                return
            new = [one for edit in edits for one in rejections([edit], _day(at))]
            names = {(one.kind, one.text) for one in new}
            kept = with_rejected(self._all(project, skill_name), new, _day(at))
            self._database.execute(
                "DELETE FROM rejected_edits WHERE project = ? AND skill_name = ?",
                (project, skill_name),
            )
            for place, one in enumerate(kept):
                self._database.execute(
                    "INSERT OR REPLACE INTO rejected_edits"
                    " (id, project, skill_name, night, at, doc) VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        digest(project, skill_name, str(one.kind), one.text),
                        project,
                        skill_name,
                        night if (one.kind, one.text) in names else "",
                        f"{at.isoformat()}/{place:06d}",
                        encode(one),
                    ),
                )

    def _knows_night(self, project: str, skill_name: str, night: str) -> bool:
        sql = "SELECT 1 FROM rejected_edits WHERE project = ? AND skill_name = ? AND night = ?"
        return self._database.row(sql, (project, skill_name, night)) is not None

    def _all(self, project: str, skill_name: str) -> tuple[RejectedEdit, ...]:
        rows = self._database.rows(
            "SELECT doc FROM rejected_edits WHERE project = ? AND skill_name = ? ORDER BY at",
            (project, skill_name),
        )
        return tuple(decode(RejectedEdit, row["doc"]) for row in rows)


def _day(at: datetime) -> float:
    return at.timestamp() / 86_400
