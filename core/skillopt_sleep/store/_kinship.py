"""Which stored session the records of one log belong to: forks and resumes are one conversation.

Two logs are the same conversation if one holds the other's first tool call; it keeps the name of
the one that began first. Subagents' logs repeat their parents' calls and are never joined.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillopt_sleep.model.record import CallSeen
from skillopt_sleep.store._facts import Facts
from skillopt_sleep.store.database import Database

_OWN_ID = 20
"""Characters of the shortest call id that no two conversations share by chance."""


class Kinship:
    """Finds and joins sessions of one harness."""

    def __init__(self, database: Database, harness: str) -> None:
        self._database = database
        self._harness = harness

    def home(self, name: str, facts: Facts, calls: Sequence[CallSeen]) -> tuple[str, bool]:
        """Return the id of the session that these records belong to, and whether it is new."""
        merged = self._database.row("SELECT session FROM same_session WHERE other = ?", (name,))
        if merged is not None:
            return str(merged["session"]), False
        known = self._database.row("SELECT 1 FROM sessions WHERE id = ?", (name,)) is not None
        twin = "" if facts.parent else self._twin(name, calls)
        if not twin:
            return name, not known
        if facts.began_before(self._database, name, twin):
            self._rename(twin, name, keep=known)
            return name, False
        if known:
            self._rename(name, twin, keep=True)
        else:
            self._remember(name, twin)
        return twin, False

    def _twin(self, name: str, calls: Sequence[CallSeen]) -> str:
        """Return a session that holds this one's first call: a fork or a resume of one of them."""
        first = next((call for call in calls if len(call.id) >= _OWN_ID), None)
        if first is None:
            return ""
        found = self._database.row(
            "SELECT s.id AS id FROM tool_calls c JOIN sessions s ON s.id = c.session"
            " WHERE c.id = ? AND c.name = ? AND s.parent = '' AND s.harness = ? AND s.id <> ?"
            " ORDER BY coalesce(s.started_at, '9'), s.id",
            (first.id, first.name, self._harness, name),
        )
        return str(found["id"]) if found else ""

    def _remember(self, other: str, session: str) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO same_session (other, session) VALUES (?, ?)", (other, session)
        )

    def _rename(self, old: str, new: str, *, keep: bool) -> None:
        """Move all of session ``old`` to ``new``, which exists already if ``keep``."""
        if not keep:
            self._database.execute(
                "INSERT INTO sessions (id, harness, session_id, path, origin, parent, cwd, branch,"
                " commit_id, version, models, skills, started_at, ended_at) SELECT ?, harness,"
                " substr(?, length(harness) + 2), path, origin, parent, cwd, branch, commit_id,"
                " version, models, skills, started_at, ended_at FROM sessions WHERE id = ?",
                (new, new, old),
            )
        for table in ("turns", "tool_calls", "log_usage", "same_session"):
            self._database.execute(
                f"UPDATE OR IGNORE {table} SET session = ? WHERE session = ?", (new, old)
            )
        self._database.execute("UPDATE sessions SET parent = ? WHERE parent = ?", (new, old))
        self._database.execute("DELETE FROM sessions WHERE id = ?", (old,))
        self._remember(old, new)

    def stored(self, name: str) -> str:
        """Return the id under which a session is kept, or "" if it is not."""
        row = self._database.row(
            "SELECT id FROM sessions WHERE id = ?1"
            " OR id = (SELECT session FROM same_session WHERE other = ?1)",
            (name,),
        )
        return str(row["id"]) if row else ""

    def forgotten(self, name: str) -> bool:
        """Return whether the user had this session purged."""
        return self._database.row("SELECT 1 FROM forgotten WHERE id = ?", (name,)) is not None
