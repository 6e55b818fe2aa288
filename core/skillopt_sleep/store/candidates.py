"""Candidates that are carried over nights, and which held-out tasks have tested which of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.store.database import Database

MOST_GATES = 3
"""A held-out task serves so many nights' gates; then it becomes train."""

_LOOK = "~"
"""Between candidate and night in the name under which a look that said nothing is recorded."""


class CandidateStore:
    """Reads and writes candidates and the uses of held-out tasks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(
        self, candidate: Candidate, *, project: str, skill_name: str, status: str, night: str
    ) -> None:
        """Keep a candidate with the gate's word on it (pending, accept, reject, unproven).

        Args:
            candidate: With its evidence; its id stays the same when it is rebased.
            project: Folder of the project it was learned in.
            skill_name: Name of the skill document.
            status: The gate's word.
            night: Night that judged it last.
        """
        self._database.execute(
            "INSERT OR REPLACE INTO candidates (id, project, skill_name, status, night, doc)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (candidate.id, project, skill_name, status, night, encode(candidate)),
        )

    def get(self, candidate: str) -> Candidate | None:
        """Return a candidate by its id, or None."""
        row = self._database.row("SELECT doc FROM candidates WHERE id = ?", (candidate,))
        return decode(Candidate, row["doc"]) if row else None

    def carried(
        self, *, project: str, skill_name: str, statuses: Sequence[str] = ("pending", "unproven")
    ) -> tuple[Candidate, ...]:
        """Return the candidates that wait for more nights, strongest evidence first."""
        marks = ", ".join("?" * len(statuses))
        rows = self._database.rows(
            "SELECT doc FROM candidates WHERE project = ? AND skill_name = ?"
            f" AND status IN ({marks})",
            (project, skill_name, *statuses),
        )
        found = [decode(Candidate, row["doc"]) for row in rows]
        return tuple(sorted(found, key=lambda one: (-_strength(one), one.id)))

    def judged(self, *, project: str) -> tuple[tuple[Candidate, datetime, str], ...]:
        """Return each judged candidate, the start of the night that judged it last, and its word.

        Oldest first; those without evidence never reached the test and are left out.
        """
        rows = self._database.rows(
            "SELECT c.doc, c.status, n.started_at FROM candidates c JOIN nights n ON n.id = c.night"
            " WHERE c.project = ? ORDER BY n.started_at, c.id",
            (project,),
        )
        found = (
            (
                decode(Candidate, row["doc"]),
                datetime.fromisoformat(row["started_at"]),
                row["status"],
            )
            for row in rows
        )
        return tuple(one for one in found if one[0].evidence is not None)

    def settle(self, candidate: str, status: str) -> None:
        """Note the final word on a candidate, such as "adopted" or "stale"."""
        self._database.execute("UPDATE candidates SET status = ? WHERE id = ?", (status, candidate))

    def use(
        self,
        tasks: Iterable[str],
        candidate: str,
        *,
        night: str,
        silent: Collection[str] = frozenset(),
    ) -> None:
        """Record that these held-out tasks tested a candidate; doing it twice changes nothing.

        Args:
            tasks: Task ids.
            candidate: Candidate id.
            night: When.
            silent: Those of the tasks that said nothing about it. They have served a gate like
                the others, and may test it again.
        """
        self._database.many(
            "INSERT OR IGNORE INTO gate_uses (task, candidate, night) VALUES (?, ?, ?)",
            [
                (task, f"{candidate}{_LOOK}{night}" if task in silent else candidate, night)
                for task in tasks
            ],
        )

    def uses(self, *, without: str = "", silent: bool = False) -> dict[str, frozenset[str]]:
        """Return per task id the candidates it has tested.

        Args:
            without: A night whose own uses do not count, so that it can be resumed.
            silent: Whether a task counts as used by a candidate of which it said nothing.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for row in self._database.rows(
            "SELECT task, candidate FROM gate_uses WHERE night <> ?", (without,)
        ):
            name = row["candidate"]
            found[row["task"]].add(name.partition(_LOOK)[0] if silent else name)
        return {task: frozenset(candidates) for task, candidates in found.items()}

    def worn(self, *, without: str = "") -> frozenset[str]:
        """Return the held-out tasks that have served their gates and belong to train."""
        rows = self._database.rows(
            "SELECT task FROM gate_uses WHERE night <> ? GROUP BY task"
            " HAVING COUNT(DISTINCT night) >= ?",
            (without, MOST_GATES),
        )
        return frozenset(row["task"] for row in rows)


def _strength(candidate: Candidate) -> float:
    return candidate.evidence.e_value if candidate.evidence else 1.0
