"""The archive of sessions: read back in log order, searched, counted and forgotten.

How records get in is in ``intake.py``. It outlives the logs it came from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from skillopt_sleep.errors import StoreError
from skillopt_sleep.model.record import Reading
from skillopt_sleep.model.session import (
    Hit,
    LogUsage,
    Origin,
    Session,
)
from skillopt_sleep.store._kinship import Kinship
from skillopt_sleep.store._rows import calls as calls_of
from skillopt_sleep.store._rows import instant
from skillopt_sleep.store._rows import turn as turn_of
from skillopt_sleep.store.database import Database, Row
from skillopt_sleep.store.intake import SPEAKS, Intake, Taken

_ORDER = "coalesce(started_at, '9'), id"


class SessionStore:
    """Reads and writes sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(
        self,
        harness: str,
        path: str,
        reading: Reading,
        *,
        excluded: frozenset[str] = frozenset(),
    ) -> Taken:
        """Keep what a reading of one log file brought, as one transaction.

        Args:
            harness: Registry name of the source.
            path: The file.
            reading: Its records, redacted.
            excluded: The harness's ids of sessions to pass over.
        """
        return Intake(self._database, harness).take(path, reading, excluded=excluded)

    def told_by(self, harness: str, reading: Reading) -> tuple[str, ...]:
        """Return the ids of the stored sessions that a reading tells of."""
        kinship = Kinship(self._database, harness)
        names = {f"{harness}:{record.session}" for record in reading.records}
        return tuple(filter(None, map(kinship.stored, sorted(names))))

    def sessions(
        self,
        *,
        harness: str = "",
        origins: Sequence[str] = (),
        repository: str = "",
        limit: int = 0,
    ) -> Iterator[Session]:
        """Yield sessions in log order: by their first instant, those without one last.

        Args:
            harness: Only this source's.
            origins: Only these origins; all if empty.
            repository: Only those in this folder or below it.
            limit: Only the newest so many; 0 means all.
        """
        for row in self._rows(harness, origins, repository, limit):
            yield self._session(row)

    def ids(self, *, repository: str = "") -> tuple[str, ...]:
        """Return the ids of all sessions (of a repository), in log order."""
        return tuple(str(row["id"]) for row in self._rows("", (), repository, 0))

    def _rows(self, harness: str, origins: Sequence[str], repository: str, limit: int) -> list[Row]:
        where, params = [SPEAKS.format("sessions.id")], list[object]()
        if harness:
            where.append("harness = ?")
            params.append(harness)
        if origins:
            where.append(f"origin IN ({', '.join('?' * len(origins))})")
            params += origins
        if repository:
            folder = repository.rstrip("/\\") or repository
            where.append("(cwd = ? OR substr(cwd, 1, ?) IN (?, ?))")
            params += [folder, len(folder) + 1, f"{folder}/", f"{folder}\\"]
        sql = f"SELECT * FROM sessions WHERE {' AND '.join(where)} ORDER BY {_ORDER}"
        if limit:
            sql = (
                f"SELECT * FROM (SELECT * FROM sessions WHERE {' AND '.join(where)}"
                f" ORDER BY coalesce(started_at, '') DESC, id DESC LIMIT ?) ORDER BY {_ORDER}"
            )
            params.append(limit)
        return self._database.rows(sql, params)

    def session(self, identifier: str) -> Session:
        """Return the session with this id, our own or the harness's, or with this beginning of it.

        Raises:
            StoreError: There is none, or several begin so.
        """
        rows = self._database.rows(
            "SELECT * FROM sessions WHERE id = ?1 OR session_id = ?1"
            " OR id = (SELECT session FROM same_session WHERE other = ?1)",
            (identifier,),
        ) or self._database.rows(
            "SELECT * FROM sessions WHERE substr(id, 1, ?2) = ?1 OR substr(session_id, 1, ?2) = ?1"
            f" ORDER BY {_ORDER} LIMIT 6",
            (identifier, len(identifier)),
        )
        if not identifier or not rows:
            raise StoreError(
                f"no session is called {identifier!r}; see 'skillopt-sleep sessions' for their ids"
            )
        if len(rows) > 1:
            names = ", ".join(str(row["id"]) for row in rows[:5])
            raise StoreError(f"{identifier!r} begins several sessions ({names}); give more of one")
        return self._session(rows[0])

    def search(self, words: str, *, limit: int = 20) -> tuple[Hit, ...]:
        """Return the human turns that hold all these words, best match first, at most ``limit``."""
        quoted = " ".join('"' + word.replace('"', '""') + '"' for word in words.split())
        if not quoted:
            return ()
        rows = self._database.rows(
            "SELECT t.session AS session, t.number AS number,"
            " snippet(turns_fts, 0, '', '', '…', 24) AS excerpt FROM turns_fts"
            " JOIN turns t ON t.number = turns_fts.rowid WHERE turns_fts MATCH ?"
            " ORDER BY rank, t.number LIMIT ?",
            (quoted, limit),
        )
        order: dict[str, list[int]] = {}
        for row in rows:
            name = str(row["session"])
            order.setdefault(name, [int(turn["number"]) for turn in self._turn_rows(name)])
        return tuple(
            Hit(
                session=str(row["session"]),
                turn=order[str(row["session"])].index(int(row["number"])),
                excerpt=str(row["excerpt"]),
            )
            for row in rows
        )

    def usage(self, *, session: str = "") -> tuple[LogUsage, ...]:
        """Return tokens per UTC day and model, of one session or of all, oldest day first."""
        where = "WHERE session = ?" if session else ""
        rows = self._database.rows(
            "SELECT day, model, sum(input_tokens) AS input_tokens,"
            " sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,"
            f" sum(cache_write_tokens) AS cache_write_tokens FROM log_usage {where}"
            " GROUP BY day, model ORDER BY day, model",
            (session,) if session else (),
        )
        return tuple(LogUsage(**row) for row in rows)

    def count(self) -> Mapping[str, int]:
        """Return how many sessions there are, per source name."""
        rows = self._database.rows(
            f"SELECT harness, count(*) AS n FROM sessions WHERE {SPEAKS.format('sessions.id')}"
            " GROUP BY harness"
        )
        return {str(row["harness"]): int(row["n"]) for row in rows}

    def human_turns(self, harness: str) -> int:
        """Return how many human turns of a source are kept."""
        row = self._database.row(
            "SELECT count(*) AS n FROM turns t JOIN sessions s ON s.id = t.session"
            " WHERE s.harness = ? AND t.kind IN ('prompt', 'remark', 'command')",
            (harness,),
        )
        return int(row["n"]) if row else 0

    def drop_told_history(self) -> int:
        """Drop what a history tells and a transcript tells as well; return how many prompts."""
        # A session whose transcript is known names that as its path, so the turns are asked.
        if self._database.row("SELECT 1 FROM turns WHERE key GLOB 'history:*' LIMIT 1") is None:
            return 0
        before = self._told_prompts()
        with self._database.transaction():
            self._database.execute(
                "DELETE FROM turns WHERE key GLOB 'history:*' AND session IN"
                " (SELECT session FROM turns WHERE key NOT GLOB 'history:*')"
            )
            # Entries of early versions name no session: the same words within a quarter hour.
            self._database.execute(
                "DELETE FROM turns WHERE number IN (SELECT h.number FROM turns h"
                " JOIN turns o ON o.text = h.text WHERE h.key GLOB 'history:*'"
                " AND o.key NOT GLOB 'history:*' AND o.session GLOB 'claude:*'"
                " AND abs(julianday(o.at) - julianday(h.at)) < 0.0105)"
            )
            self._database.execute(
                "DELETE FROM sessions WHERE path GLOB '*#history' AND id NOT IN"
                " (SELECT session FROM turns)"
            )
        return before - self._told_prompts()

    def _told_prompts(self) -> int:
        row = self._database.row(
            "SELECT count(*) AS n FROM turns WHERE key GLOB 'history:*' AND kind = 'prompt'"
        )
        return int(row["n"]) if row else 0

    def named(
        self, *, session: str = "", repository: str = "", everything: bool = False
    ) -> tuple[str, ...]:
        """Return the ids of the sessions that these words name, their subagents' included.

        None for a session that was forgotten before.

        Raises:
            StoreError: Nothing was named, or the session is not known.
        """
        if everything:
            return tuple(str(row["id"]) for row in self._database.rows("SELECT id FROM sessions"))
        if session:
            if self._is_forgotten(session):
                return ()
            found = [self.session(session).id]
        elif repository:
            found = list(self.ids(repository=repository))
        else:
            raise StoreError("nothing to forget was named; give a session, a repository or all")
        for parent in found:
            children = self._database.rows("SELECT id FROM sessions WHERE parent = ?", (parent,))
            found += [str(row["id"]) for row in children if row["id"] not in found]
        return tuple(found)

    def _is_forgotten(self, session: str) -> bool:
        sql = "SELECT 1 FROM forgotten WHERE id = ?1 OR substr(id, instr(id, ':') + 1) = ?1"
        return self._database.row(sql, (session,)) is not None

    def forget(
        self, *, session: str = "", repository: str = "", everything: bool = False
    ) -> tuple[str, ...]:
        """Purge sessions, with their turns and calls, and never take them in again.

        What was made from them is purged by ``derived``, and what the disk still holds by
        ``Database.scrub``.

        Returns:
            The ids of the sessions purged, their subagents' included.

        Raises:
            StoreError: Nothing was named, or the session is not known.
        """
        gone = self.named(session=session, repository=repository, everything=everything)
        with self._database.transaction():
            names = [(name,) for name in gone]
            self._database.many(
                "INSERT OR IGNORE INTO forgotten (id) SELECT other FROM same_session"
                " WHERE session = ?",
                names,
            )
            self._database.many("INSERT OR IGNORE INTO forgotten (id) VALUES (?)", names)
            self._database.many("DELETE FROM sessions WHERE id = ?", names)
            self._database.execute("INSERT INTO turns_fts (turns_fts) VALUES ('optimize')")
        return gone

    def _places(self, session: str) -> dict[str, int]:
        """Return the place of each file: by its first instant in this session, then by its name."""
        rows = self._database.rows(
            "SELECT path FROM (SELECT path, at FROM turns WHERE session = ?1 UNION ALL"
            " SELECT path, at FROM tool_calls WHERE session = ?1) GROUP BY path"
            " ORDER BY coalesce(min(at), '9'), path",
            (session,),
        )
        return {str(row["path"]): place for place, row in enumerate(rows)}

    def _turn_rows(self, session: str) -> list[Row]:
        places = self._places(session)
        turns = self._database.rows(
            "SELECT * FROM turns WHERE session = ? ORDER BY line, number", (session,)
        )
        return sorted(turns, key=lambda turn: (places[turn["path"]], turn["line"]))

    def _session(self, row: Row) -> Session:
        name = str(row["id"])
        turns = self._turn_rows(name)
        calls = self._database.rows(
            "SELECT * FROM tool_calls WHERE session = ? ORDER BY line, rowid", (name,)
        )
        places = self._places(name)
        calls.sort(key=lambda call: (places[call["path"]], call["line"]))
        turn_places = [(places[turn["path"]], turn["line"]) for turn in turns]
        return Session(
            id=name,
            harness=row["harness"],
            session_id=row["session_id"],
            path=row["path"],
            origin=Origin(row["origin"]),
            parent=row["parent"],
            cwd=row["cwd"],
            branch=row["branch"],
            commit=row["commit_id"],
            version=row["version"],
            models=tuple(json.loads(row["models"])),
            started_at=instant(row["started_at"]),
            ended_at=instant(row["ended_at"]),
            turns=tuple(turn_of(index, turn) for index, turn in enumerate(turns)),
            calls=tuple(calls_of(calls, places, turn_places)),
            usage=self.usage(session=name),
            skills=tuple(json.loads(row["skills"])),
        )
