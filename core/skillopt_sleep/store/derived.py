"""What was made from sessions, purged with them: tasks, attempts, replies, candidates, proposals.

What names its sessions goes by them; what does not (journaled replies, advice, the notes of
nights) goes whole, since any of it may quote them. Counts of evidence and of money hold no words
and stay. It knows no log and touches no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.night import Night
from skillopt_sleep.model.proposal import Candidate, Proposal, ProposalStatus
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.tasks import TaskStore

FORGOTTEN = "forgotten"
"""Status of a candidate whose words were purged; its numbers still count as a trial."""


@dataclass(frozen=True, slots=True)
class _Gone:
    sessions: frozenset[str]
    tasks: frozenset[str]
    everything: bool

    def covers(self, edits: Sequence[Edit]) -> bool:
        return self.everything or any(self._from_gone(edit) for edit in edits)

    def _from_gone(self, edit: Edit) -> bool:
        told = {one.session for one in edit.evidence}
        return not (self.sessions.isdisjoint(told) and self.tasks.isdisjoint(edit.tasks))


def purge_derived(
    database: Database, sessions: Sequence[str], *, everything: bool
) -> tuple[int, ...]:
    """Purge what comes from these sessions, which still stand in the store, as one transaction.

    An adopted proposal keeps its two documents, so that it can still be reverted.

    Args:
        database: The store.
        sessions: Our ids.
        everything: Whether it is all sessions there are, so that all goes.

    Returns:
        The numbers of the proposals that are gone.
    """
    with database.transaction():
        gone = _Gone(frozenset(sessions), _tasks(database, sessions), everything)
        TaskStore(database).forget(sessions)
        if everything:
            for table in ("tasks", "attempts"):
                database.execute(f"DELETE FROM {table}")
        database.many("DELETE FROM attempts WHERE task = ?", [(task,) for task in gone.tasks])
        database.execute("DELETE FROM clusters")  # they are made anew by the next mining
        database.execute("DELETE FROM calls")
        database.execute("DELETE FROM facts WHERE name GLOB 'meta:*' OR name GLOB 'plan:*'")
        _candidates(database, gone)
        numbers = _proposals(database, gone)
        _nights(database)
    return numbers


def _tasks(database: Database, sessions: Sequence[str]) -> frozenset[str]:
    rows = database.rows("SELECT task, session FROM ledger")
    known = {row["task"] for row in rows if row["session"] in set(sessions)}
    return frozenset(known | {t.id for t in TaskStore(database).all() if t.session in sessions})


def _candidates(database: Database, gone: _Gone) -> None:
    for row in database.rows("SELECT id, doc FROM candidates"):
        one = decode(Candidate, row["doc"])
        if not gone.covers(one.edits):
            continue
        database.execute(
            "UPDATE candidates SET status = ?, doc = ? WHERE id = ?",
            (FORGOTTEN, encode(replace(one, content="", edits=())), one.id),
        )
        database.many(
            "DELETE FROM rejected_edits WHERE json_extract(doc, '$.text') IN (?, ?)",
            [(edit.text, edit.anchor) for edit in one.edits],
        )
    if gone.everything:
        database.execute("DELETE FROM rejected_edits")


def _proposals(database: Database, gone: _Gone) -> tuple[int, ...]:
    numbers: list[int] = []
    for row in database.rows("SELECT number, doc FROM proposals"):
        one = decode(Proposal, row["doc"])
        if not gone.covers(one.edits):
            continue
        if one.status is ProposalStatus.ADOPTED:
            bare = replace(one, edits=tuple(_unquoted(edit) for edit in one.edits))
            sql, params = (
                "UPDATE proposals SET doc = ? WHERE number = ?",
                (encode(bare), one.number),
            )
            database.execute(sql, params)
            continue
        for table in ("approvals", "proposals"):
            database.execute(f"DELETE FROM {table} WHERE number = ?", (one.number,))
        numbers.append(one.number)
    return tuple(numbers)


def _unquoted(edit: Edit) -> Edit:
    return replace(edit, why="", evidence=tuple(replace(one, quote="") for one in edit.evidence))


def _nights(database: Database) -> None:
    left = {row["number"] for row in database.rows("SELECT number FROM proposals")}
    for row in database.rows("SELECT id, doc FROM nights"):
        night = decode(Night, row["doc"])
        bare = replace(
            night, notes=(), proposals=tuple(one for one in night.proposals if one in left)
        )
        database.execute("UPDATE nights SET doc = ? WHERE id = ?", (encode(bare), night.id))
