"""What is known about a session besides its turns: folded from records, merged with the table."""

from __future__ import annotations

import json
from datetime import datetime

from skillopt_sleep.model.record import SessionSeen
from skillopt_sleep.model.session import Origin
from skillopt_sleep.store.database import Database, Row

_STRENGTH = (Origin.HUMAN, Origin.HEADLESS, Origin.AUTOMATION, Origin.SUBAGENT, Origin.OWN)
"""A later one wins: who is once known not to be human stays so."""


class Facts:
    """Facts about one session, later non-empty ones winning."""

    def __init__(self) -> None:
        self.parent = ""
        self.cwd = ""
        self._origin: Origin | None = None
        self._branch = self._commit = self._version = self._part = ""
        self._models: list[str] = []
        self._skills: list[str] = []
        self._first: datetime | None = None
        self._last: datetime | None = None

    def add(self, seen: SessionSeen) -> None:
        """Take one record in."""
        self.parent = seen.parent or self.parent
        self.cwd = seen.cwd or self.cwd
        self._branch = seen.branch or self._branch
        self._commit = self._commit or seen.commit
        self._version = seen.version or self._version
        self._part = seen.part or self._part
        if seen.origin is not None:
            self._origin = _stronger(self._origin, seen.origin)
        if seen.model and seen.model not in self._models:
            self._models.append(seen.model)
        if seen.skill:
            self._skills.append(seen.skill)
        if seen.at is not None:
            self._first = min(self._first or seen.at, seen.at)
            self._last = max(self._last or seen.at, seen.at)

    def began_before(self, database: Database, name: str, session: str) -> bool:
        """Return whether these records, of ``name``, begin before a stored session does.

        Of two that begin at once, as a fork and its origin do, the lesser name counts as earlier.
        """
        row = database.row("SELECT started_at FROM sessions WHERE id = ?", (session,))
        if row is None or self._first is None:
            return False
        return (_stamp(self._first), name) < (str(row["started_at"] or "9"), session)

    def write(self, database: Database, session: str, harness: str, name: str, path: str) -> None:
        """Merge these facts into the row of ``session``, made if it is not there."""
        begun_in = f"{path}#{self._part}" if self._part else path
        row = database.row("SELECT * FROM sessions WHERE id = ?", (session,))
        old = row or _blank(harness, name, begun_in)
        later = self._last is None or _stamp(self._last) >= (old["ended_at"] or "")
        skills = json.loads(old["skills"])
        models = json.loads(old["models"])
        parent = f"{harness}:{self.parent}" if self.parent else ""
        first = _stamp(self._first) if self._first else None
        last = _stamp(self._last) if self._last else None
        database.execute(
            "INSERT OR REPLACE INTO sessions (id, harness, session_id, path, origin, parent, cwd,"
            " branch, commit_id, version, models, skills, started_at, ended_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            if row is None
            else "UPDATE sessions SET id = ?1, harness = ?2, session_id = ?3, path = ?4,"
            " origin = ?5, parent = ?6, cwd = ?7, branch = ?8, commit_id = ?9, version = ?10,"
            " models = ?11, skills = ?12, started_at = ?13, ended_at = ?14 WHERE id = ?1",
            (
                session,
                old["harness"],
                old["session_id"],
                _path(old, begun_in, first),
                _stronger(Origin(old["origin"]), self._origin).value,
                old["parent"] or parent,
                _pick(old["cwd"], self.cwd, later=later),
                _pick(old["branch"], self._branch, later=later),
                old["commit_id"] or self._commit,
                _pick(old["version"], self._version, later=later),
                json.dumps(list(dict.fromkeys([*models, *self._models]))),
                json.dumps(list(dict.fromkeys([*skills, *self._skills]))),
                min(filter(None, (old["started_at"], first)), default=None),
                max(filter(None, (old["ended_at"], last)), default=None),
            ),
        )


def _blank(harness: str, name: str, path: str) -> Row:
    return {
        "harness": harness,
        "session_id": name,
        "path": path,
        "origin": Origin.HUMAN.value,
        "parent": "",
        "cwd": "",
        "branch": "",
        "commit_id": "",
        "version": "",
        "models": "[]",
        "skills": "[]",
        "started_at": None,
        "ended_at": None,
    }


def _path(old: Row, path: str, first: str | None) -> str:
    """Return the file the session began in; a prompt history is named only for want of a log."""
    known = str(old["path"])
    if known.endswith("#history") != path.endswith("#history"):
        return path if known.endswith("#history") else known
    begun = old["started_at"]
    if first is None or begun is None or first == begun:
        return min(known, path) if first == begun else known
    return path if first < begun else known


def _pick(old: str, new: str, *, later: bool) -> str:
    return (new or old) if later else (old or new)


def _stronger(one: Origin | None, two: Origin | None) -> Origin:
    return max(one or Origin.HUMAN, two or Origin.HUMAN, key=_STRENGTH.index)


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
