"""The end of a night: what was judged is staged, carried on or remembered as rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.cycle.cast import Cast
from skillopt_sleep.cycle.lookback import note_watch
from skillopt_sleep.cycle.plan import NightPlan
from skillopt_sleep.cycle.steps import Sifted, quoted
from skillopt_sleep.gate.policies import Accept, Pending, backing, word
from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.night import FunnelStep, NightStatus
from skillopt_sleep.model.proposal import Candidate, Proposal, ProposalStatus
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.evaluate import Judged, Watched
from skillopt_sleep.optimizer.trainer import Proposed, Trainer
from skillopt_sleep.staging.stage import Staged, stage
from skillopt_sleep.store.candidates import CandidateStore
from skillopt_sleep.store.nights import FactStore
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.store.rejected import RejectedStore

UNTESTED = "untested"
GROWING = "growing"
"""Supported, but not strong enough yet to be adopted without a human where that is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a night ended.

    Attributes:
        status: In one word.
        reason: In one sentence, or "".
        funnel: From sessions to proposals.
        proposals: Numbers of those it staged or updated.
        notes: Sentences for the human.
    """

    status: NightStatus
    reason: str = ""
    funnel: tuple[FunnelStep, ...] = ()
    proposals: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def settle(
    cast: Cast,
    plan: NightPlan,
    proposed: Proposed,
    sifted: Sifted,
    kept: Sequence[Judged],
    watched: Watched | None,
    trainer: Trainer,
) -> Ending:
    """Write down what the gate said, and return how the night ended."""
    accepted = [
        edit for one in kept if word(one.decision) == "accept" for edit in one.candidate.edits
    ]
    turned_down = _turned_down(kept)
    meta = trainer.learn(plan.meta, accepted=accepted, rejected=turned_down)
    staged = _write_down(cast, plan, sifted, kept, turned_down, meta)
    words = Counter(word(one.decision) for one in kept)
    open_ones = tuple(p for p in staged if p.status is not ProposalStatus.REJECTED)
    funnel = (
        *plan.funnel,
        *sifted.funnel,
        FunnelStep(name="supported", count=words["accept"]),
        FunnelStep(name="pending", count=words["pending"] + words["unproven"]),
        FunnelStep(name="rejected", count=words["reject"]),
    )
    notes = [*plan.notes, *proposed.notes, *sifted.notes, *(_told(one) for one in kept)]
    if watched is not None:
        notes.append(note_watch(cast, plan, watched))
    return Ending(
        status=NightStatus.DONE if open_ones else NightStatus.NOTHING,
        reason="" if open_ones else _why_nothing(proposed, sifted, kept),
        funnel=funnel,
        proposals=tuple(p.number for p in staged),
        notes=tuple(notes),
    )


def keep_untested(cast: Cast, candidates: Sequence[Candidate]) -> None:
    """Keep finalists that the budget left no test for; the next night tests them."""
    store = CandidateStore(cast.database)
    for one in candidates:
        if store.get(one.id) is None:
            _save(cast, store, one, UNTESTED)


def one_proposed(judged: Sequence[Judged], union: Judged | None) -> tuple[Judged, ...]:
    """Return what the gate judged with at most one candidate accepted, since only one can be live.

    That is the union of the accepted ones if it was accepted too, else the one with the strongest
    evidence. The others wait with theirs for the next night, which puts them on top of it.
    """
    accepted = [one for one in judged if word(one.decision) == "accept"]
    if not accepted:
        return tuple(judged)
    if union is not None and word(union.decision) == "accept":
        inside = set(union.candidate.edits)
        waiting = [one for one in accepted if not inside.issuperset(one.candidate.edits)]
        parts = [one for one in accepted if one not in waiting]
        chosen = _with_parts(union, parts)
    else:
        chosen = max(accepted, key=lambda one: (_is_strong(one), _strength(one)))
        waiting = [one for one in accepted if one is not chosen]
    others = [one for one in judged if one not in accepted]
    return (chosen, *map(_waiting, waiting), *others)


def _with_parts(union: Judged, parts: Sequence[Judged]) -> Judged:
    """Return the union with what each of its edits reached alone in its reason."""
    apart = ", ".join(
        f"E = {_strength(one):.1f} for {quoted(one.candidate.edits)}" for one in parts
    )
    evidence = union.candidate.evidence
    if evidence is None:
        return union
    told = replace(evidence, reason=f"{evidence.reason}; each was accepted alone: {apart}")
    return replace(union, candidate=replace(union.candidate, evidence=told))


def _waiting(one: Judged) -> Judged:
    reason = "supported too, and waits until the one before it is decided on"
    evidence = one.candidate.evidence
    told = replace(evidence, decision="pending", reason=reason) if evidence else None
    return replace(
        one, candidate=replace(one.candidate, evidence=told), decision=Pending(reason=reason)
    )


def _is_strong(one: Judged) -> bool:
    return isinstance(one.decision, Accept) and one.decision.strong


def _strength(one: Judged) -> float:
    return one.candidate.evidence.e_value if one.candidate.evidence else 0.0


def _turned_down(judged: Sequence[Judged]) -> tuple[Edit, ...]:
    """Return the edits of rejected candidates that stand in no candidate that goes on."""
    alive = {
        (edit.kind, edit.text)
        for one in judged
        if word(one.decision) != "reject"
        for edit in one.candidate.edits
    }
    rejected = [
        edit
        for one in judged
        if word(one.decision) == "reject" and len(one.candidate.edits) == 1
        for edit in one.candidate.edits
    ]
    return tuple(edit for edit in rejected if (edit.kind, edit.text) not in alive)


def _write_down(
    cast: Cast,
    plan: NightPlan,
    sifted: Sifted,
    judged: Sequence[Judged],
    turned_down: Sequence[Edit],
    meta: str,
) -> tuple[Proposal, ...]:
    candidates, proposals = CandidateStore(cast.database), ProposalStore(cast.database)
    skill, now = cast.settings.skill.name, cast.world.now()
    staged: list[Proposal] = []
    with cast.database.transaction():
        for one in judged:
            _save(cast, candidates, one.candidate, _status(cast, one))
            candidates.use(one.tasks, one.candidate.id, night=cast.night, silent=one.silent)
            flags = sifted.flags.get(one.candidate.id, ())
            wanted = Staged(
                candidate=one.candidate,
                before=plan.before,
                target=plan.target,
                flags=tuple(f"{flag.reason}: {flag.excerpt}" for flag in flags),
                extra=_standing(cast, one, plan.train),
            )
            staged.append(
                stage(
                    proposals,
                    wanted,
                    project=cast.project,
                    skill_name=skill,
                    night=cast.night,
                    at=now,
                )
            )
        RejectedStore(cast.database).add(
            turned_down, project=cast.project, skill_name=skill, night=cast.night, at=now
        )
        FactStore(cast.database).put(f"meta:{cast.project}:{skill}", meta)
    return tuple(staged)


def _status(cast: Cast, one: Judged) -> str:
    """Return the gate's word, or that a supported candidate goes on for the evidence it lacks."""
    gate, evidence = cast.settings.gate, one.candidate.evidence
    said = word(one.decision)
    young = evidence is not None and evidence.nights < gate.max_nights
    return (
        GROWING if said == "accept" and gate.auto_adopt and young and not _is_strong(one) else said
    )


def _standing(cast: Cast, one: Judged, train: Sequence[Task]) -> dict[str, str]:
    """Return what auto-adoption asks for: strength, and sessions and days that asked for it."""
    sessions = set(backing(one.candidate, train))
    days = {task.at.date() for task in train if task.session in sessions and task.at is not None}
    return {
        "strong": "yes" if _is_strong(one) else "no",
        "auto": "yes" if cast.settings.gate.auto_adopt else "no",
        "sessions": str(len(sessions)),
        "days": str(len(days)),
    }


def _save(cast: Cast, store: CandidateStore, candidate: Candidate, status: str) -> None:
    store.save(
        replace(candidate, night=candidate.night or cast.night),
        project=cast.project,
        skill_name=cast.settings.skill.name,
        status=status,
        night=cast.night,
    )


def _told(one: Judged) -> str:
    return f"{word(one.decision)}: {quoted(one.candidate.edits)}: {one.decision.reason}"


def _why_nothing(proposed: Proposed, sifted: Sifted, judged: Sequence[Judged]) -> str:
    if judged:
        return "the gate turned down every candidate; the notes say why"
    if proposed.candidates and not sifted.candidates:
        return "no candidate fixed a train task or passed the static checks; the notes say why"
    return "the optimizer suggested nothing that could be tried; the notes say why"
