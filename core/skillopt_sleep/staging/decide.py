"""Adopt, revert and reject: what the human decided, carried out and written down.

The bytes that were reviewed are the precondition; the file work is in ``transaction``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from skillopt_sleep.errors import StagingError
from skillopt_sleep.model.proposal import OPEN_STATUSES, Proposal, ProposalStatus
from skillopt_sleep.staging.transaction import Intent, Recovered, Transaction, undo_folders
from skillopt_sleep.store.proposals import ProposalStore

_MADE = "made"
_BACKUP = "backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Carries out what the human decided.

    Attributes:
        proposals: Where proposals are kept.
        transaction: How live files are replaced.
        now: The clock.
    """

    proposals: ProposalStore
    transaction: Transaction
    now: Callable[[], datetime]

    def adopt(self, number: int, *, unproven: bool = False, reason: str = "") -> Proposal:
        """Write a proposal's document over the live skill.

        Args:
            number: The proposal's number.
            unproven: Whether one without enough evidence may be adopted.
            reason: The human's word on it.

        Raises:
            StagingError: It is decided already, lacks evidence, or the live skill changed.
            StoreError: There is no such proposal.
        """
        proposal = self.proposals.get(number)

        def still() -> None:
            now = self._must_be_open(number)
            if now.after_hash != proposal.after_hash:
                raise StagingError(f"proposal {number} was edited meanwhile; look at it again")
            if now.edited and not unproven:
                raise StagingError(
                    f"proposal {number} was edited by a person after the gate, so no evidence"
                    " covers it; adopt it with --unproven"
                )
            if now.status is not ProposalStatus.SUPPORTED and not unproven:
                raise StagingError(
                    f"proposal {number} is {now.status}: {now.evidence.reason};"
                    " wait for more nights, or adopt it with --unproven"
                )

        still()
        intent = Intent(
            action="adopt",
            number=number,
            target=proposal.target,
            before_hash=proposal.before_hash,
            after_hash=proposal.after_hash,
        )
        self.transaction.replace(intent, proposal.after.encode(), self._record(reason), still=still)
        return self.proposals.get(number)

    def revert(self, number: int, *, reason: str = "") -> Proposal:
        """Bring back the bytes that adopting a proposal replaced.

        Raises:
            StagingError: It is not adopted, or the live skill changed since.
            StoreError: There is no such proposal.
        """

        def still() -> None:
            now = self.proposals.get(number)
            if now.status is not ProposalStatus.ADOPTED:
                raise StagingError(
                    f"proposal {number} is {now.status}, so there is nothing to bring back;"
                    " only an adopted one can be reverted"
                )

        still()
        proposal = self.proposals.get(number)
        before = None if proposal.before is None else proposal.before.encode()
        intent = Intent(
            action="revert",
            number=number,
            target=proposal.target,
            before_hash=proposal.after_hash,
            after_hash=proposal.before_hash,
        )
        self.transaction.replace(intent, before, self._record(reason), still=still)
        if before is None:
            undo_folders(tuple(filter(None, proposal.extra.get(_MADE, "").split("\n"))))
        return self.proposals.get(number)

    def reject(self, number: int, *, reason: str = "") -> Proposal:
        """Put a proposal away; nothing live changes.

        Raises:
            StagingError: It is decided already.
            StoreError: There is no such proposal.
        """
        with self.transaction.alone(Path(self.proposals.get(number).target)):
            decided = replace(
                self._must_be_open(number),
                status=ProposalStatus.REJECTED,
                decided_at=self.now(),
                reason=reason or "rejected by the human",
            )
            self.proposals.save(decided)
        return decided

    def recover(self) -> tuple[Recovered, ...]:
        """Finish or forget what a crash left half done; call it before anything else."""
        return self.transaction.recover(self._record(""))

    def _record(self, reason: str) -> Callable[[Intent], None]:
        def record(intent: Intent) -> None:
            proposal = self.proposals.get(intent.number)
            adopting = intent.action == "adopt"
            extra = {**proposal.extra, f"{intent.action}_{_BACKUP}": intent.backup}
            if adopting:
                extra[_MADE] = "\n".join(intent.made)
            self.proposals.save(
                replace(
                    proposal,
                    status=ProposalStatus.ADOPTED if adopting else ProposalStatus.REVERTED,
                    decided_at=self.now(),
                    backup=intent.backup if adopting else proposal.backup,
                    reason=reason or proposal.reason,
                    extra=extra,
                )
            )

        return record

    def _must_be_open(self, number: int) -> Proposal:
        proposal = self.proposals.get(number)
        if proposal.status not in OPEN_STATUSES:
            raise StagingError(
                f"proposal {proposal.number} is {proposal.status} already;"
                " see the open ones with 'skillopt-sleep proposals'"
            )
        return proposal


def live_path(target: str, *, name: str, project: Path, home: Path) -> Path:
    """Return the live file of a skill: ``target`` if set, else the managed one of the project.

    A link is followed only to a place below the project or the home folder.

    Raises:
        StagingError: The place is outside both.
    """
    asked = Path(target).expanduser() if target else Path(".claude/skills") / name / "SKILL.md"
    path = asked if asked.is_absolute() else project / asked
    real = path.resolve()
    if target and not path.is_symlink():
        return real
    if not any(real.is_relative_to(root.resolve()) for root in (project, home)):
        raise StagingError(
            f"the skill {str(path)!r} is a link to {str(real)!r}, outside the project and the home"
            " folder; name the real file with --target"
        )
    return real
