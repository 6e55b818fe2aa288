"""The review desk: proposals shown, approved, adopted, rejected, reverted, edited.

Changing a live file needs the human's own word; this desk is where that is enforced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_sleep.codec import text_hash
from skillopt_sleep.config import Config
from skillopt_sleep.errors import ConsentError, StagingError
from skillopt_sleep.files import read_or_none
from skillopt_sleep.model.proposal import OPEN_STATUSES, Proposal, ProposalStatus
from skillopt_sleep.report import proposal_json, proposal_markdown
from skillopt_sleep.staging.decide import Decisions
from skillopt_sleep.staging.deliver import Deliveries, places
from skillopt_sleep.staging.stage import unified_diff
from skillopt_sleep.staging.transaction import Transaction
from skillopt_sleep.store.candidates import CandidateStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.store.rejected import RejectedStore
from skillopt_sleep.world import World

ACTIONS = ("adopt", "reject", "revert")

DELIVERY = "delivery"
"""Under this name a proposal's extra holds a line for each copy that was left alone."""


@dataclass(frozen=True, slots=True)
class Review:
    """Shows proposals and carries out what the human decides."""

    world: World
    config: Config
    database: Database

    @property
    def _store(self) -> ProposalStore:
        return ProposalStore(self.database)

    @property
    def _decisions(self) -> Decisions:
        return Decisions(
            proposals=self._store,
            transaction=Transaction(self.world.roots.data / "staging"),
            now=self.world.now,
        )

    @property
    def _project(self) -> str:
        return str(self.world.roots.cwd)

    def open(self) -> tuple[Proposal, ...]:
        """Return this project's undecided proposals, oldest first."""
        return self._store.open(project=self._project)

    def all(self) -> tuple[Proposal, ...]:
        """Return all of this project's proposals, oldest first."""
        return self._store.all(project=self._project)

    def get(self, number: int) -> Proposal:
        """Return one proposal of any project.

        Raises:
            StoreError: There is none with this number.
        """
        return self._store.get(number)

    def diff(self, number: int) -> str:
        """Return a proposal's change as a unified diff."""
        return unified_diff(self.get(number))

    def report(self, number: int) -> str:
        """Return a proposal, its diff and its evidence as Markdown."""
        proposal = self.get(number)
        return proposal_markdown(proposal, unified_diff(proposal))

    def report_json(self, number: int) -> dict[str, object]:
        """Return the same as JSON-ready values."""
        proposal = self.get(number)
        return {**proposal_json(proposal), "diff": unified_diff(proposal)}

    def live(self, proposal: Proposal) -> str | None:
        """Return the text of the live file that a proposal would change, None where none is."""
        content = read_or_none(Path(proposal.target))
        return None if content is None else content.decode(errors="replace")

    def approve(self, number: int, action: str, *, how: str) -> Proposal:
        """Record the human's yes to exactly the bytes of a proposal, for fifteen minutes.

        Args:
            number: The proposal.
            action: "adopt", "reject" or "revert".
            how: Where the human spoke: "terminal", "prompt" or "page".

        Raises:
            StoreError: There is no such proposal.
            StagingError: The action is unknown.
        """
        if action not in ACTIONS:
            raise StagingError(f"{action!r} is no decision on a proposal; say {', '.join(ACTIONS)}")
        proposal = self.get(number)
        self._store.approve(proposal, action, how, self.world.now())
        return proposal

    def adopt(
        self, number: int, *, human: str = "", unproven: bool = False, reason: str = ""
    ) -> Proposal:
        """Write a proposal over the live skill, whole or not at all, with a backup.

        Args:
            number: The proposal.
            human: How the human's word was heard just now, or "" to look for a recorded one.
            unproven: Whether one without enough evidence may be adopted.
            reason: The human's word on it.

        Raises:
            ConsentError: The human has not said so.
            StagingError: It is decided, lacks evidence, or the live skill changed.
        """
        heard = self._heard(number, "adopt", human)
        self._announce(number)
        adopted = self._decisions.adopt(number, unproven=unproven, reason=reason)
        self._settled(adopted, "adopt")
        return self._noted(self._delivered(adopted), heard)

    def reject(self, number: int, *, human: str = "", reason: str = "") -> Proposal:
        """Put a proposal away; raises as ``adopt``."""
        heard = self._heard(number, "reject", human)
        rejected = self._decisions.reject(number, reason=reason)
        self._settled(rejected, "reject")
        RejectedStore(self.database).add(
            rejected.edits,
            project=rejected.project,
            skill_name=rejected.skill_name,
            night=f"by a person/{number}",
            at=self.world.now(),
        )
        return self._noted(rejected, heard)

    def revert(self, number: int, *, human: str = "", reason: str = "") -> Proposal:
        """Bring back the bytes that adopting replaced; raises as ``adopt``."""
        heard = self._heard(number, "revert", human)
        self._announce(number)
        reverted = self._decisions.revert(number, reason=reason)
        self._settled(reverted, "revert")
        return self._noted(self._delivered(reverted), heard)

    def edit(self, number: int, text: str) -> Proposal:
        """Replace a proposal's document by the human's own; the evidence no longer covers it.

        Raises:
            StagingError: It is decided already, or nothing changed.
        """
        proposal = self.get(number)
        if proposal.status not in OPEN_STATUSES:
            raise StagingError(
                f"proposal {number} is {proposal.status} already; only open ones edit"
            )
        if not text.strip():
            raise StagingError(
                f"the text for proposal {number} is empty; 'skillopt-sleep reject {number}' puts a"
                " proposal away"
            )
        if text == proposal.after:
            raise StagingError(f"the text of proposal {number} is the same; nothing was changed")
        edited = replace(
            proposal,
            after=text,
            after_hash=text_hash(text),
            edited=True,
            status=ProposalStatus.UNPROVEN,
        )
        self._store.save(edited)
        return edited

    def recover(self) -> tuple[str, ...]:
        """Finish what a crash left half done; return a sentence per case."""
        words = {
            True: "was finished",
            False: "had not begun and was undone",
            None: "was interrupted and the file has other text now; see its backup",
        }
        told = [
            f"{one.intent.action} of proposal {one.intent.number} on {one.intent.target!r}"
            f" {words[one.done]}"
            for one in self._decisions.recover()
        ]
        for live in self._deliveries.due():
            told += self._bring(live)
        return tuple(told)

    def _heard(self, number: int, action: str, human: str) -> str:
        proposal = self.get(number)
        if human:
            return human
        recorded = self._store.approved(proposal, action, self.world.now())
        if recorded:
            return recorded
        if not self.config.settings.human.required:
            return "waived by human.required = false"
        raise ConsentError(
            f"no human has said to {action} proposal {number} as it stands now; type"
            f" 'skillopt-sleep approve {number}{'' if action == 'adopt' else ' --' + action}' in a"
            f" terminal or '/sleep {action} {number}' in the agent, then ask again"
        )

    @property
    def _deliveries(self) -> Deliveries:
        return Deliveries(self.world.roots.data / "deliveries")

    def _announce(self, number: int) -> None:
        proposal = self.get(number)
        if proposal.skill_name == self.config.settings.skill.name:
            self._deliveries.announce(Path(proposal.target))

    def _bring(self, live: Path) -> tuple[str, ...]:
        """Bring the copies of a skill into step; return a sentence for each left alone."""
        delivery = self.config.settings.delivery
        return self._deliveries.bring(live, places(live, delivery.harnesses), delivery.mode)

    def _delivered(self, proposal: Proposal) -> Proposal:
        """Return a proposal flagged with the copies that could not be brought into step."""
        live = Path(proposal.target)
        if live not in self._deliveries.due():
            return proposal
        told = self._bring(live)
        extra = {**proposal.extra, DELIVERY: "\n".join(told)}
        return replace(proposal, flags=(*proposal.flags, *told), extra=extra)

    def _settled(self, proposal: Proposal, action: str) -> None:
        self._store.use_approval(proposal, action)
        CandidateStore(self.database).settle(proposal.candidate, proposal.status)

    def _noted(self, proposal: Proposal, heard: str) -> Proposal:
        noted = replace(proposal, extra={**proposal.extra, "human": heard})
        self._store.save(noted)
        return noted
