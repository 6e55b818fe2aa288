"""Proposals and the human's approvals in the database; changes no live file."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.errors import StoreError
from skillopt_sleep.model.proposal import OPEN_STATUSES, Proposal, ProposalStatus
from skillopt_sleep.store.database import Database

APPROVAL_LASTS = timedelta(minutes=15)


class ProposalStore:
    """Reads and writes proposals; every number is given once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, proposal: Proposal) -> Proposal:
        """Store a new proposal and return it with its number."""
        with self._database.transaction():
            number = self._database.execute(
                "INSERT INTO proposals (candidate, project, status, doc) VALUES (?, ?, ?, '')",
                (proposal.candidate, proposal.project, proposal.status),
            )
            numbered = replace(proposal, number=number)
            self.save(numbered)
        return numbered

    def save(self, proposal: Proposal) -> None:
        """Store what has changed in a proposal that has a number."""
        self._database.execute(
            "UPDATE proposals SET candidate = ?, status = ?, doc = ? WHERE number = ?",
            (proposal.candidate, proposal.status, encode(proposal), proposal.number),
        )

    def get(self, number: int) -> Proposal:
        """Return one proposal.

        Raises:
            StoreError: There is none with this number.
        """
        row = self._database.row("SELECT doc FROM proposals WHERE number = ?", (number,))
        if row is None:
            known = [p.number for p in self.all()][-10:]
            there = f"there are {', '.join(map(str, known))}" if known else "there is none yet"
            raise StoreError(f"no proposal has the number {number}; {there}")
        return decode(Proposal, row["doc"])

    def all(self, *, project: str | None = None) -> tuple[Proposal, ...]:
        """Return the proposals of a project, or of all, oldest first."""
        rows = self._database.rows(
            "SELECT doc FROM proposals WHERE ? IS NULL OR project = ? ORDER BY number",
            (project, project),
        )
        return tuple(decode(Proposal, row["doc"]) for row in rows)

    def open(self, *, project: str | None = None) -> tuple[Proposal, ...]:
        """Return those that are not decided, oldest first."""
        return tuple(p for p in self.all(project=project) if p.status in OPEN_STATUSES)

    def adopted(self, *, project: str, target: str) -> tuple[Proposal, ...]:
        """Return the adopted ones for one live file, in order of adoption."""
        found = [
            p
            for p in self.all(project=project)
            if p.status is ProposalStatus.ADOPTED and p.target == target
        ]
        return tuple(sorted(found, key=lambda p: (str(p.decided_at), p.number)))

    def approve(self, proposal: Proposal, action: str, how: str, at: datetime) -> None:
        """Record that the human said yes to exactly these bytes, for a short time.

        Args:
            proposal: What was looked at.
            action: "adopt", "reject" or "revert".
            how: Where the word was heard: "terminal", "prompt" or "page".
            at: Now.
        """
        self._database.execute(
            "INSERT OR REPLACE INTO approvals (number, action, after_hash, how, at, until)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                proposal.number,
                action,
                proposal.after_hash,
                how,
                at.isoformat(),
                (at + APPROVAL_LASTS).isoformat(),
            ),
        )

    def approved(self, proposal: Proposal, action: str, at: datetime) -> str:
        """Return where the human's yes to these bytes was heard, or "" if it was not or is old."""
        row = self._database.row(
            "SELECT how, until FROM approvals WHERE number = ? AND action = ? AND after_hash = ?",
            (proposal.number, action, proposal.after_hash),
        )
        if row is None or datetime.fromisoformat(row["until"]) < at:
            return ""
        return str(row["how"])

    def use_approval(self, proposal: Proposal, action: str) -> None:
        """Forget a yes, once it has been acted on."""
        self._database.execute(
            "DELETE FROM approvals WHERE number = ? AND action = ?", (proposal.number, action)
        )
