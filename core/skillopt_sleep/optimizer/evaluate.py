"""Stage Evaluate: candidates against the live skill on held-out tasks, block by block.

It has rollouts made and hands what they show to the gate, which decides. All choices follow from
the arguments, so the same replies give the same evidence whatever the concurrency.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.evidence import differs, extra_rollouts
from skillopt_sleep.gate.guard import FIRST_LOOK, GUARD_ROLLOUTS, breaks_pinned, broken, suspect
from skillopt_sleep.gate.policies import Accept, Decision, decide, keep, offer, word
from skillopt_sleep.gate.reuse import Uses, draw, fresh
from skillopt_sleep.model.proposal import Candidate, GateEvidence
from skillopt_sleep.model.task import Task
from skillopt_sleep.optimizer.comparison import Comparison
from skillopt_sleep.optimizer.pairs import Draws, Pair, compare, passes
from skillopt_sleep.replay import Rollouts
from skillopt_sleep.world import Random

BLOCK = 8
"""Clusters that are rolled out together; after each block hopeless candidates stop."""

Unit = tuple[Task, ...]
"""Tonight's members of one cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A candidate after the gate.

    Attributes:
        candidate: With all evidence so far, decision and reason included.
        decision: The gate's word.
        tasks: Ids of the held-out tasks that tested it tonight.
        silent: Those of them that scored the same under both skills; they add nothing to the
            evidence, so another draw of them may test it again.
    """

    candidate: Candidate
    decision: Decision
    tasks: tuple[str, ...]
    silent: frozenset[str] = frozenset()


def evaluate(
    *,
    live: str,
    candidates: Sequence[Candidate],
    held_out: Sequence[Task],
    rollouts: Rollouts,
    settings: GateSettings,
    uses: Uses,
    rng: Random,
) -> tuple[Judged, ...]:
    """Judge all candidates that reach the test together, in their order.

    A candidate that brings evidence from earlier nights goes on where it stood. The others share
    thresholds times their number, so only finalists should come here.

    Args:
        live: Text of the live skill, "" for none.
        candidates: With distinct ids.
        held_out: Held-out tasks that have not served their share of gates.
        rollouts: Attempts what is wanted, in parallel.
        settings: Policy, metric, thresholds and sizes.
        uses: What each task has tested before tonight; only tasks that are new to a candidate
            test it. The strict policy compares on all tasks whatever their use.
        rng: Decides the order of the tasks.
    """
    # Quality and cost are two chances to be let in, so a co-metric counts like a rival.
    chances = 1 if settings.co_metric == "none" else 2
    rivals = chances * max(1, sum(one.evidence is None for one in candidates))
    runs = [Comparison(one, settings=settings, rivals=rivals) for one in candidates]
    draws = Draws(rollouts)
    if settings.policy == "strict":
        units = draw(held_out, [one.id for one in candidates], {}, nights=1, rng=rng)
        for run in runs:
            run.plan(units)
        _compare(draws, live, units, runs, extra=0)
    elif settings.policy == "evidence":
        _test(draws, live, runs, held_out, uses, rng)
        for run in runs:
            _guard(draws, live, run, pinned=[task for task in held_out if task.pinned])
    decisions = keep(
        [(run.candidate.id, run.tally.e_value, decide(run.seen, settings)) for run in runs],
        settings.pool,
    )
    return tuple(_judged(run, decisions[run.candidate.id]) for run in runs)


def _judged(run: Comparison, decision: Decision) -> Judged:
    evidence = run.evidence(decision=word(decision), reason=decision.reason)
    return Judged(
        candidate=replace(run.candidate, evidence=evidence),
        decision=decision,
        tasks=run.tasks,
        silent=frozenset(run.silent),
    )


def shown_unproven(judged: Judged, train: Sequence[Task]) -> Judged:
    """Return a pending candidate as unproven if the human asked for it in several sessions.

    Args:
        judged: As the test left it; anything but a pending one comes back unchanged.
        train: Train tasks, among them those that motivated the candidate's edits.
    """
    decision = offer(judged.decision, judged.candidate, train)
    evidence = judged.candidate.evidence
    if decision is judged.decision or evidence is None:
        return judged
    told = replace(evidence, decision=word(decision), reason=decision.reason)
    return replace(judged, candidate=replace(judged.candidate, evidence=told), decision=decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """An adopted skill against the version before it, on tasks after adoption.

    Attributes:
        evidence: ``live_mean`` is the version before, ``candidate_mean`` the adopted one;
            ``e_harm`` speaks for going back.
        revert: Whether the evidence says so.
        tasks: Ids of the held-out tasks used tonight.
    """

    evidence: GateEvidence
    revert: bool
    tasks: tuple[str, ...]


def watch(
    *,
    previous: str,
    adopted: Candidate,
    held_out: Sequence[Task],
    rollouts: Rollouts,
    settings: GateSettings,
    uses: Uses,
    rng: Random,
) -> Watched:
    """Compare an adopted skill with the version before it on tasks that are fresh for it.

    Args:
        previous: Text of the version before, "" for none.
        adopted: Under the id it was tested with, so that the accepting tasks do not count again;
            its evidence is that of earlier watches, None at first, never the accepting one.
        held_out: Held-out tasks.
        rollouts: Attempts what is wanted, in parallel.
        settings: ``harm_at`` is what it takes to propose going back.
        uses: What each task has tested before tonight.
        rng: Decides the order of the tasks.
    """
    lasting = settings.model_copy(update={"policy": "evidence"})
    run = Comparison(adopted, settings=lasting, rivals=1, watching=True)
    _test(Draws(rollouts), previous, [run], held_out, uses, rng)
    revert = run.tally.harm_peak >= settings.harm_at
    reason = (
        f"evidence of harm since adoption reached {run.tally.harm_peak:.1f}"
        f" of {settings.harm_at:g}; going back is proposed"
        if revert
        else f"evidence of harm since adoption is {run.tally.e_harm:.1f} of {settings.harm_at:g}"
    )
    said = "revert" if revert else "stay"
    return Watched(
        evidence=run.evidence(decision=said, reason=reason), revert=revert, tasks=run.tasks
    )


def _test(
    draws: Draws,
    live: str,
    runs: Sequence[Comparison],
    held_out: Sequence[Task],
    uses: Uses,
    rng: Random,
) -> None:
    """Run the sequential test until every candidate has stopped or the tasks are used up."""
    if not runs:
        return
    settings = runs[0].settings
    names = [run.candidate.id for run in runs]
    units = draw(held_out, names, uses, nights=settings.max_nights, rng=rng)[: settings.max_tasks]
    for run in runs:
        run.plan(_fresh(units, run.candidate.id, uses))
    extra = extra_rollouts(len(units))
    for block in _blocks(units):
        alive = [run for run in runs if not run.stopped]
        if not alive:
            return
        _compare(draws, live, block, alive, extra=extra)
        for run in alive:
            run.stop_if_settled()
        _halve([run for run in alive if not run.stopped], settings.finalists)


def _fresh(units: Sequence[Unit], candidate: str, uses: Uses) -> tuple[Unit, ...]:
    kept = (tuple(task for task in unit if fresh(task.id, candidate, uses)) for unit in units)
    return tuple(unit for unit in kept if unit)


def _blocks(units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
    for start in range(0, len(units), BLOCK):
        yield units[start : start + BLOCK]


def _halve(alive: Sequence[Comparison], least: int) -> None:
    """Let the better half by evidence go on; the others keep theirs for another night."""
    if len(alive) <= least:
        return
    best = sorted(alive, key=lambda run: (-run.tally.e_value, run.candidate.id))
    for run in best[max(least, (len(alive) + 1) // 2) :]:
        run.stopped = True


def _compare(
    draws: Draws, live: str, block: Sequence[Unit], alive: Sequence[Comparison], *, extra: int
) -> None:
    """Roll out a block, once per arm, and again where the outcomes differ; note the differences."""
    planned = [(run, task) for unit in block for run in alive for task in run.members(unit)]
    draws.ask((task, skill, 0) for run, task in planned for skill in (live, run.candidate.content))
    retried = [
        (run, task)
        for run, task in planned
        for pair in draws.pairs(task, live, run.candidate.content, 1)
        if differs(*pair.scores)
    ]
    draws.ask(
        (task, skill, again)
        for run, task in retried
        for again in range(1, 1 + extra)
        for skill in (live, run.candidate.content)
    )
    for unit in block:
        for run in alive:
            skill = run.candidate.content
            members = run.members(unit)
            run.note(
                compare(
                    [(task, draws.pairs(task, live, skill, 1 + extra)) for task in members],
                    run.settings.metric,
                    run.settings.co_metric,
                ),
                members=members,
                dropped=sum(draws.dropped(task, live, skill, 1 + extra) for task in members),
            )


def _guard(draws: Draws, live: str, run: Comparison, *, pinned: Sequence[Task]) -> None:
    """Look again at the tasks that an otherwise accepted candidate may have broken.

    Pinned tasks are looked at whether or not they tested it; they are no evidence here.
    """
    if not isinstance(decide(run.seen, run.settings), Accept):
        return

    skill = run.candidate.content

    def look(tasks: Sequence[Task], first: int, most: int) -> list[tuple[Pair, ...]]:
        draws.ask(
            (task, arm, again)
            for task in tasks
            for again in range(first, most)
            for arm in (live, skill)
        )
        seen = (draws.pairs(task, live, skill, most) for task in tasks)
        return [tuple(pair for pair in pairs if pair.draw >= first) for pairs in seen]

    fallen = [
        task
        for task, pairs in zip(pinned, look(pinned, 0, FIRST_LOOK), strict=True)
        if breaks_pinned(passes(pairs))
    ]
    suspects = [
        task for task in run.compared if suspect(passes(draws.pairs(task, live, skill, FIRST_LOOK)))
    ]
    final = look(suspects, FIRST_LOOK, FIRST_LOOK + GUARD_ROLLOUTS)
    fallen += [suspects[index] for index in broken([passes(pairs) for pairs in final])]
    run.veto(fallen, [pair for pairs in final for pair in pairs])
