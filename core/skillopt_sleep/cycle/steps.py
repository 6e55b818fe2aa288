"""The steps of a night after its plan: propose, sift, test, watch; each a function of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_sleep.backends.build import for_optimizer
from skillopt_sleep.cycle.cast import Cast
from skillopt_sleep.cycle.plan import NightPlan
from skillopt_sleep.gate.capability import Flag, Severity
from skillopt_sleep.gate.policies import Accept
from skillopt_sleep.gate.static import static_flags
from skillopt_sleep.model.apply import Limits
from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.night import FunnelStep
from skillopt_sleep.model.progress import Tick
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.skill import managed_document
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.evaluate import Judged, Watched, evaluate, shown_unproven, watch
from skillopt_sleep.optimizer.screen import finalists, screen_all
from skillopt_sleep.optimizer.trainer import Memory, Proposed, Trainer
from skillopt_sleep.optimizer.update import candidates
from skillopt_sleep.replay import Rollouts

_WORDS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """Candidates that may be tested, and what was found on them.

    Attributes:
        candidates: New finalists, then carried ones.
        flags: Candidate id to marks for the human's eye.
        funnel: What was counted.
        notes: Sentences for the human.
    """

    candidates: tuple[Candidate, ...]
    flags: dict[str, tuple[Flag, ...]]
    funnel: tuple[FunnelStep, ...]
    notes: tuple[str, ...]


def trainer_of(cast: Cast, rollouts: Rollouts, seed: int) -> Trainer:
    """Return the trainer of a night."""
    return Trainer(
        rollouts=rollouts,
        advisor=Advisor(
            cast.optimizer,
            workers=for_optimizer(cast.settings).workers,
            cancel=cast.cancel,
        ),
        settings=cast.settings.optimizer,
        skill=cast.settings.skill,
        rng=cast.world.rng,
        seed=seed,
        night=cast.night,
        progress=cast.progress,
    )


def propose(cast: Cast, plan: NightPlan, trainer: Trainer) -> Proposed:
    """Return what one step over the train tasks suggests."""
    return trainer.propose(
        plan.live, plan.train, memory=Memory(rejected=plan.rejected, meta=plan.meta)
    )


def sift(cast: Cast, plan: NightPlan, proposed: Proposed, rollouts: Rollouts) -> Sifted:
    """Return the candidates that pass the static checks and the screen, best first.

    Single edits are tested, and only those that were accepted are put together (``unite``), so
    that each rule has evidence of its own and an idle one cannot come in with one that helps.
    """
    carried = tuple(one for one in plan.carried if not _blocked(_flags(cast, plan, one)))
    known = {one.content for one in carried}
    new = [one for one in proposed.candidates if one.content not in known]
    apart = cast.settings.optimizer.update_mode == "patch"
    parts = [one for one in new if len(one.edits) == 1 or not apart]
    notes: list[str] = []
    clean: list[Candidate] = []
    for one in parts:
        stops = [flag for flag in _flags(cast, plan, one) if flag.severity is Severity.BLOCK]
        notes += [f"stopped before any test: {quoted(one.edits)}: {flag.reason}" for flag in stops]
        clean += [] if stops else [one]
    screened = screen_all(live=plan.live, candidates=clean, train=plan.train, rollouts=rollouts)
    by_id = {one.id: one for one in clean}
    chosen = finalists(screened, cast.settings.gate.finalists)
    for seen in screened:
        if not seen.passed:
            notes.append(f"failed the screen: {quoted(by_id[seen.candidate].edits)}: {seen.reason}")
        elif seen.candidate not in chosen:
            notes.append(f"waits for a better night: {quoted(by_id[seen.candidate].edits)}")
    going = (*(by_id[name] for name in chosen), *carried)
    return Sifted(
        candidates=going,
        flags={one.id: _flags(cast, plan, one) for one in going},
        funnel=(
            FunnelStep(name="edits proposed", count=len(proposed.ranking)),
            FunnelStep(name="passed the static checks", count=len(clean)),
            FunnelStep(name="fixed a train task", count=sum(seen.passed for seen in screened)),
            FunnelStep(name="reached the held-out test", count=len(going)),
        ),
        notes=tuple(notes),
    )


def quoted(edits: Sequence[Edit]) -> str:
    """Return edits in a few words for a human."""
    words = "; ".join(" ".join((edit.text or edit.anchor).split())[:_WORDS] for edit in edits)
    return f"\u201c{words}\u201d"


def _blocked(flags: Sequence[Flag]) -> bool:
    return any(flag.severity is Severity.BLOCK for flag in flags)


def test(
    cast: Cast, plan: NightPlan, going: Sequence[Candidate], rollouts: Rollouts, seed: int
) -> tuple[Judged, ...]:
    """Return the gate's word on each candidate."""
    if not going:
        return ()
    total = len(going)
    cast.progress(Tick(stage="gate", total=total))
    judged = evaluate(
        live=plan.live,
        candidates=going,
        held_out=plan.held_out,
        rollouts=rollouts,
        settings=cast.settings.gate,
        uses=plan.uses,
        rng=cast.world.rng(f"{seed}/gate"),
    )
    cast.progress(Tick(stage="gate", done=total, total=total))
    return tuple(shown_unproven(one, plan.train) for one in judged)


def unite(
    cast: Cast, plan: NightPlan, judged: Sequence[Judged], rollouts: Rollouts, seed: int
) -> Judged | None:
    """Return the gate's word on all accepted candidates together; None where there are not two.

    They were tested on the same draws of the live skill as this. Where any is strong, only the
    strong ones are put together.
    """
    accepted = [one for one in judged if isinstance(one.decision, Accept)]
    strong = [one for one in accepted if isinstance(one.decision, Accept) and one.decision.strong]
    parts = strong or accepted
    if len(parts) < 2:
        return None
    skill = cast.settings.skill
    found, _ = candidates(
        plan.live or managed_document(skill.name, skill.description),
        [edit for one in parts for edit in one.candidate.edits],
        limits=Limits(max_tokens=skill.max_tokens, max_growth_tokens=skill.max_growth_tokens),
        night=cast.night,
        live=plan.live,
        apart=False,
    )
    whole = [one for one in found if not _blocked(_flags(cast, plan, one))]
    known = {one.candidate.content for one in parts}
    if not whole or whole[0].content in known:
        return None
    return test(cast, plan, whole[:1], rollouts, seed)[0]


def look_back(
    cast: Cast, plan: NightPlan, adopted: Candidate | None, rollouts: Rollouts, seed: int
) -> Watched | None:
    """Return how the adopted skill does against the one before it; None for nothing to watch."""
    if plan.previous is None or adopted is None:
        return None
    return watch(
        previous=plan.previous,
        adopted=adopted,
        held_out=plan.held_out,
        rollouts=rollouts,
        settings=cast.settings.gate,
        uses=plan.looks,
        rng=cast.world.rng(f"{seed}/watch"),
    )


def _flags(cast: Cast, plan: NightPlan, candidate: Candidate) -> tuple[Flag, ...]:
    skill = cast.settings.skill
    return static_flags(
        before=plan.live or managed_document(skill.name, skill.description),
        after=candidate.content,
        edits=candidate.edits,
        held_out_prompts=[task.prompt for task in plan.held_out],
        judge_strings=[check.value for task in plan.held_out for check in task.checks],
        rejected=[one.text for one in plan.rejected],
        max_edits=cast.settings.optimizer.edit_budget,
    )
