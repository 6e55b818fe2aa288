"""Puts the records of one reading into the tables: one conversation, one session, each thing once.

What is kept depends on the records, not on the order in which files were read: of two sightings
of a turn or call the earlier one stays. It reads no log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from skillopt_sleep.codec import encode
from skillopt_sleep.model.record import (
    CallEnded,
    CallSeen,
    Reading,
    Record,
    SessionSeen,
    TurnSeen,
    UsageSeen,
)
from skillopt_sleep.model.session import HUMAN_KINDS, TurnKind
from skillopt_sleep.store._facts import Facts
from skillopt_sleep.store._kinship import Kinship
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.language import language_of

_EARLIER = (
    " WHERE (coalesce(excluded.at, '9'), excluded.path, excluded.line)"
    " < (coalesce({0}.at, '9'), {0}.path, {0}.line)"
)
SPEAKS = (
    "(EXISTS (SELECT 1 FROM turns WHERE session = {0})"
    " OR EXISTS (SELECT 1 FROM tool_calls WHERE session = {0}))"
)
"""SQL: whether a session holds anything but facts; of those that do not nothing is shown."""
_TURN = (
    "INSERT INTO turns (session, key, kind, text, pasted, at, language, path, line)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, key) DO UPDATE SET"
    " at = excluded.at, path = excluded.path, line = excluded.line" + _EARLIER.format("turns")
)
_CALL = (
    "INSERT INTO tool_calls (session, id, name, arguments, command, files, at, path, line, output,"
    " error, refused, exit_code, seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (session, id) DO UPDATE SET (at, path, line) = (SELECT v.at, v.path, v.line"
    " FROM (SELECT excluded.at AS at, excluded.path AS path, excluded.line AS line UNION ALL"
    " SELECT tool_calls.at, tool_calls.path, tool_calls.line) v"
    " ORDER BY coalesce(v.at, '9'), v.path, v.line LIMIT 1),"
    " output = CASE WHEN excluded.output = '' THEN output ELSE excluded.output END,"
    " error = max(error, excluded.error), refused = max(refused, excluded.refused),"
    " exit_code = coalesce(excluded.exit_code, exit_code), seconds = coalesce(seconds,"
    " excluded.seconds)"
)
_ENDED = (
    "UPDATE tool_calls SET output = CASE WHEN ?1 = '' THEN output ELSE ?1 END,"
    " error = coalesce(?2, error), refused = coalesce(?3, refused),"
    " exit_code = coalesce(?4, exit_code), seconds = coalesce(?5, seconds, round(86400.0 *"
    " (julianday(?6) - julianday(at)), 3)) WHERE session = ?7 AND id = ?8"
)
_USAGE = (
    "INSERT INTO log_usage (harness, key, session, day, model, input_tokens, output_tokens,"
    " cache_read_tokens, cache_write_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (harness, key) DO UPDATE SET session = min(session, excluded.session),"
    " day = min(day, excluded.day), model = max(model, excluded.model),"
    " input_tokens = max(input_tokens, excluded.input_tokens),"
    " output_tokens = max(output_tokens, excluded.output_tokens),"
    " cache_read_tokens = max(cache_read_tokens, excluded.cache_read_tokens),"
    " cache_write_tokens = max(cache_write_tokens, excluded.cache_write_tokens)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What one reading brought.

    Attributes:
        new_sessions: Sessions that were not there before.
        prompts: Human prompts that were not there before.
        human_turns: Human turns in the reading, known ones too.
        left_out: Sessions passed over, since they are excluded or were forgotten.
        calls: Tool calls and texts of the agent in the reading.
    """

    new_sessions: int = 0
    prompts: int = 0
    human_turns: int = 0
    left_out: int = 0
    calls: int = 0


@dataclass(slots=True)
class _Part:
    """The records of one session in one reading."""

    facts: Facts = field(default_factory=Facts)
    turns: list[TurnSeen] = field(default_factory=list[TurnSeen])
    calls: list[CallSeen] = field(default_factory=list[CallSeen])
    ended: list[CallEnded] = field(default_factory=list[CallEnded])
    usage: list[UsageSeen] = field(default_factory=list[UsageSeen])

    def add(self, record: Record) -> None:
        match record:
            case SessionSeen():
                self.facts.add(record)
            case TurnSeen():
                self.turns.append(record)
            case CallSeen():
                self.calls.append(record)
            case CallEnded():
                self.ended.append(record)
            case UsageSeen():
                self.usage.append(record)


class Intake:
    """Takes readings of one source in."""

    def __init__(self, database: Database, harness: str) -> None:
        self._database = database
        self._harness = harness
        self._kinship = Kinship(database, harness)

    def take(self, path: str, reading: Reading, *, excluded: frozenset[str]) -> Taken:
        """Keep the records of ``reading`` of the file at ``path``, in one transaction.

        Args:
            path: The log file.
            reading: Its records, redacted.
            excluded: The harness's ids of sessions to pass over.
        """
        parts: dict[str, _Part] = {}
        for record in reading.records:
            part = parts.get(record.session)
            if part is None:
                part = parts[record.session] = _Part()
            part.add(record)
        taken = Taken()
        with self._database.transaction():
            had = self._drop(path, parts) if reading.whole else {}
            for session, part in parts.items():
                taken = _sum(taken, self._session(session, part, path, excluded, had))
        return taken

    def _drop(self, path: str, parts: Mapping[str, _Part]) -> dict[str, int]:
        """Drop what a rewritten file told before, of the sessions that it still tells of.

        Returns:
            How many prompts each of them had.
        """
        told = [
            (name, path)
            for session, part in parts.items()
            if (part.turns or part.calls)
            and (name := self._kinship.stored(f"{self._harness}:{session}"))
        ]
        had = {name: self._prompts(name) for name, _ in told}
        if told:
            self._database.many("DELETE FROM turns WHERE session = ? AND path = ?", told)
            self._database.many("DELETE FROM tool_calls WHERE session = ? AND path = ?", told)
        return had

    def _session(
        self,
        session: str,
        part: _Part,
        path: str,
        excluded: frozenset[str],
        had: Mapping[str, int],
    ) -> Taken:
        name = f"{self._harness}:{session}"
        if session in excluded or self._kinship.forgotten(name):
            return Taken(left_out=1)
        identifier, new = self._kinship.home(name, part.facts, part.calls)
        part.facts.write(self._database, identifier, self._harness, session, path)
        new = identifier not in had and (new or self._empty(identifier))
        before = had.get(identifier, 0 if new else self._prompts(identifier))
        self._turns(identifier, part.turns, path)
        self._calls(identifier, part, path)
        self._database.many(_USAGE, [self._use(identifier, use) for use in part.usage])
        human = sum(turn.kind in HUMAN_KINDS for turn in part.turns)
        return Taken(
            new_sessions=int(new and bool(part.turns or part.calls)),
            prompts=max(0, self._prompts(identifier) - before) if human else 0,
            human_turns=human,
            calls=len(part.calls) + len(part.turns) - human,
        )

    def _empty(self, identifier: str) -> bool:
        row = self._database.row(f"SELECT {SPEAKS.format('?1')} AS speaks", (identifier,))
        return not (row and row["speaks"])

    def _prompts(self, identifier: str) -> int:
        row = self._database.row(
            "SELECT count(*) AS n FROM turns WHERE session = ? AND kind = ?",
            (identifier, TurnKind.PROMPT.value),
        )
        return int(row["n"]) if row else 0

    def _turns(self, session: str, turns: list[TurnSeen], path: str) -> None:
        gone = [(session, turn.replaces) for turn in turns if turn.replaces]
        kept: dict[str, TurnSeen] = {}
        for turn in turns:
            kept.pop(turn.replaces, None)
            kept.setdefault(turn.key, turn)
        if gone:
            self._database.many("DELETE FROM turns WHERE session = ? AND key = ?", gone)
        self._database.many(
            _TURN,
            [
                (
                    session,
                    turn.key,
                    turn.kind.value,
                    turn.text,
                    encode_list(turn.pasted),
                    _stamp(turn.at),
                    language_of(turn.text) if turn.kind in HUMAN_KINDS else "",
                    path,
                    turn.line,
                )
                for turn in kept.values()
            ],
        )

    def _calls(self, session: str, part: _Part, path: str) -> None:
        ended = _last_words(part.ended)
        self._database.many(
            _CALL,
            [
                (
                    session,
                    call.id,
                    call.name,
                    call.arguments,
                    call.command,
                    encode_list(call.files),
                    _stamp(call.at),
                    path,
                    call.line,
                    *_outcome(call, ended.get(call.id)),
                )
                for call in part.calls
            ],
        )
        here = {call.id for call in part.calls}
        self._database.many(
            _ENDED,
            [
                (
                    end.output,
                    end.error,
                    end.refused,
                    end.exit_code,
                    end.seconds,
                    _stamp(end.at),
                    session,
                    end.id,
                )
                for end in ended.values()
                if end.id not in here
            ],
        )

    def _use(self, session: str, use: UsageSeen) -> tuple[object, ...]:
        day = use.at.date().isoformat() if use.at else ""
        return (
            self._harness,
            use.key,
            session,
            day,
            use.model,
            use.input_tokens,
            use.output_tokens,
            use.cache_read_tokens,
            use.cache_write_tokens,
        )


def _last_words(ends: list[CallEnded]) -> dict[str, CallEnded]:
    """Return one end for each call, later fields winning."""
    ended: dict[str, CallEnded] = {}
    for end in ends:
        known = ended.get(end.id)
        ended[end.id] = end if known is None else _joined(known, end)
    return ended


def _joined(one: CallEnded, two: CallEnded) -> CallEnded:
    return replace(
        two,
        output=two.output or one.output,
        error=one.error if two.error is None else two.error,
        refused=one.refused if two.refused is None else two.refused,
        exit_code=one.exit_code if two.exit_code is None else two.exit_code,
        seconds=one.seconds if two.seconds is None else two.seconds,
        # A resumed log tells an old end again, at the time of the resume.
        at=min(filter(None, (one.at, two.at)), default=None),
    )


def _outcome(call: CallSeen, end: CallEnded | None) -> tuple[object, ...]:
    if end is None:
        return ("", False, False, None, None)
    took = end.seconds
    if took is None and end.at is not None and call.at is not None:
        took = round((end.at - call.at).total_seconds(), 3)
    return (end.output, bool(end.error), bool(end.refused), end.exit_code, took)


def encode_list(texts: tuple[str, ...]) -> str:
    """Return texts as a JSON array."""
    return encode(texts) if texts else "[]"


def _stamp(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds") if at else None


def _sum(one: Taken, two: Taken) -> Taken:
    return replace(
        one,
        new_sessions=one.new_sessions + two.new_sessions,
        prompts=one.prompts + two.prompts,
        human_turns=one.human_turns + two.human_turns,
        left_out=one.left_out + two.left_out,
        calls=one.calls + two.calls,
    )
