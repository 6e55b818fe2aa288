"""Stage: candidates that the gate did not reject become proposals with their diff and flags.

One rule is one proposal over all its nights: a later night updates the pending one. Nothing live
changes here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from skillopt_sleep.codec import text_hash
from skillopt_sleep.model.proposal import (
    Candidate,
    GateEvidence,
    Proposal,
    ProposalStatus,
)
from skillopt_sleep.store.proposals import ProposalStore

STATUS_OF = {
    "accept": ProposalStatus.SUPPORTED,
    "pending": ProposalStatus.PENDING,
    "unproven": ProposalStatus.UNPROVEN,
    "reject": ProposalStatus.REJECTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """What is to be staged.

    Attributes:
        candidate: The candidate, with its evidence.
        before: The live document it was made from, None where there was no file.
        target: The live file.
        flags: Marks for the human's eye.
        extra: Further facts.
    """

    candidate: Candidate
    before: str | None
    target: str
    flags: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


def stage(
    store: ProposalStore,
    staged: Staged,
    *,
    project: str,
    skill_name: str,
    night: str,
    at: datetime,
) -> Proposal:
    """Store a candidate as a proposal, or update its open one; its id stays over nights."""
    candidate = staged.candidate
    evidence = candidate.evidence
    if evidence is None:
        raise ValueError(f"candidate {candidate.id!r} has not been before the gate")
    fresh = Proposal(
        number=0,
        candidate=candidate.id,
        project=project,
        skill_name=skill_name,
        target=staged.target,
        before=staged.before,
        after=candidate.content,
        before_hash=text_hash(staged.before),
        after_hash=text_hash(candidate.content),
        status=STATUS_OF[evidence.decision],
        edits=candidate.edits,
        evidence=evidence,
        night=night,
        created_at=at,
        flags=staged.flags,
        extra=staged.extra,
    )
    for known in store.open(project=project):
        if known.candidate == candidate.id and not known.edited:
            updated = replace(fresh, number=known.number, created_at=known.created_at)
            store.save(updated)
            return updated
    return store.add(fresh)


def mark_stale(store: ProposalStore, *, project: str, target: str, live: str | None) -> int:
    """Mark open proposals whose reviewed bytes are no longer the live ones; return how many.

    Pending ones are carried over by the gate on the new document; those that were ready to adopt
    are staged anew by the night that finds them so.
    """
    stale = [
        p
        for p in store.open(project=project)
        if p.target == target and p.before_hash != text_hash(live)
    ]
    for proposal in stale:
        store.save(
            replace(
                proposal,
                status=ProposalStatus.STALE,
                reason="the live skill changed after this was staged",
            )
        )
    return len(stale)


def unified_diff(proposal: Proposal) -> str:
    """Return the change as a unified diff of the skill document, "" where nothing changes."""
    before = proposal.before or ""
    return "".join(
        line if line.endswith("\n") else line + "\n"
        for line in difflib.unified_diff(
            before.splitlines(keepends=True),
            proposal.after.splitlines(keepends=True),
            fromfile=f"{proposal.skill_name} (live)" if proposal.before is not None else "(none)",
            tofile=f"{proposal.skill_name} (proposal {proposal.number})",
        )
    )


def summary(evidence: GateEvidence) -> str:
    """Return the gate's word in one line for a list."""
    return (
        f"E = {evidence.e_value:.1f} from {evidence.tasks} held-out comparisons"
        f" ({evidence.wins} better, {evidence.losses} worse),"
        f" {evidence.live_mean:.0%} -> {evidence.candidate_mean:.0%}"
    )
