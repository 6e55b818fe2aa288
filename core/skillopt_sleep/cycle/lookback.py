"""The watch over an adopted skill: what earlier nights saw of it, and what tonight adds."""

from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.cycle.cast import Cast
from skillopt_sleep.cycle.plan import NightPlan
from skillopt_sleep.model.proposal import Candidate, GateEvidence
from skillopt_sleep.optimizer.evaluate import Watched
from skillopt_sleep.store.candidates import CandidateStore
from skillopt_sleep.store.nights import FactStore
from skillopt_sleep.store.proposals import ProposalStore

WATCH = "watch"


def watched_candidate(cast: Cast, plan: NightPlan) -> Candidate | None:
    """Return the adopted candidate under the id it was tested with, None for nothing to watch.

    Its evidence is that of earlier watches, never the accepting one.
    """
    if not plan.watched:
        return None
    proposal = ProposalStore(cast.database).get(plan.watched)
    candidate = CandidateStore(cast.database).get(proposal.candidate)
    if candidate is None:
        return None
    seen = FactStore(cast.database).get(_name(plan.watched))
    evidence = decode(GateEvidence, seen) if seen else None
    return replace(candidate, content=plan.live, evidence=evidence)


def note_watch(cast: Cast, plan: NightPlan, watched: Watched) -> str:
    """Keep what tonight saw of the adopted skill; return a sentence for the human."""
    proposals = ProposalStore(cast.database)
    proposal = proposals.get(plan.watched)
    FactStore(cast.database).put(_name(plan.watched), encode(watched.evidence))
    CandidateStore(cast.database).use(watched.tasks, proposal.candidate, night=cast.night)
    proposals.save(replace(proposal, extra={**proposal.extra, WATCH: watched.evidence.reason}))
    said = f"proposal {plan.watched}, adopted earlier: {watched.evidence.reason}"
    return f"{said}; 'skillopt-sleep revert {plan.watched}' goes back" if watched.revert else said


def _name(number: int) -> str:
    return f"{WATCH}:{number}"
