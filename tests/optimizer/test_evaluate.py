from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isclose
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.config import GateSettings
from skillopt_sleep.errors import Fault
from skillopt_sleep.gate.evidence import Tally, difference
from skillopt_sleep.gate.explain import explain
from skillopt_sleep.gate.policies import Accept, Pending, Reject, Unproven
from skillopt_sleep.model.attempt import Attempt, Failure
from skillopt_sleep.model.check import Check, Evidence, Operator, Validity
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.proposal import Candidate, GateEvidence
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Task
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.optimizer.evaluate import Judged, evaluate, shown_unproven, watch
from skillopt_sleep.pool import Cancel, run_all
from skillopt_sleep.replay import Rollout

PASS, FAIL = Score(hard=1.0, soft=1.0), Score(hard=0.0, soft=0.0)
ALONE = GateSettings(finalists=1)
TO_THE_END = GateSettings(support_at=1e9, adopt_at=1e9, harm_at=1e9, max_nights=2)
"""Nothing is ever enough; with at most one block of clusters nothing stops early."""

Replies = Callable[[Rollout], Score | None]


class Model:
    """Attempts what is wanted by a function of task, skill and draw; None is a failure."""

    def __init__(self, replies: Replies, *, workers: int = 1) -> None:
        self.replies = replies
        self.workers = workers
        self.batches: list[tuple[Rollout, ...]] = []
        self.attempts: dict[str, Attempt] = {}

    def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
        self.batches.append(tuple(wanted))
        made = run_all(self._attempt, wanted, workers=self.workers, cancel=Cancel())
        self.attempts.update({one.id: one for one in made})
        return tuple(made)

    def _attempt(self, one: Rollout) -> Attempt:
        score = self.replies(one)
        return Attempt(
            id=f"{one.task.id}/{one.skill}/{one.draw}",
            task=one.task.id,
            cluster=one.task.cluster,
            skill_hash=one.skill,
            draw=one.draw,
            score=score,
            failure=None if score else Failure(fault=Fault.TIMEOUT, reason="slow"),
        )

    @property
    def asked(self) -> list[tuple[str, str, int]]:
        return [(one.task.id, one.skill, one.draw) for batch in self.batches for one in batch]


def passing(rates: Mapping[str, float], seed: int = 0) -> Replies:
    """Replies by pass rate of the skill, the same for the same task, skill and draw."""

    def reply(one: Rollout) -> Score:
        chance = Random(f"{seed}/{one.task.id}/{one.skill}/{one.draw}").random()
        return PASS if chance < rates[one.skill] else FAIL

    return reply


def tasks(count: int, *, members: int = 1, pinned: bool = False) -> list[Task]:
    check = Check(id="1", operator=Operator.CONTAINS, value="x")
    return [
        Task(id=f"t{n}.{m}", cluster=f"t{n}", prompt="p", checks=(check,), pinned=pinned)
        for n in range(count)
        for m in range(members)
    ]


def candidate(name: str = "new", evidence: GateEvidence | None = None) -> Candidate:
    return Candidate(
        id=name, base_hash="live", content=name, edits=(), night="n", evidence=evidence
    )


def judge(
    model: Model,
    held_out: Sequence[Task],
    *candidates: Candidate,
    gate: GateSettings = ALONE,
    uses: Mapping[str, frozenset[str]] | None = None,
    seed: int = 1,
) -> tuple[Judged, ...]:
    return evaluate(
        live="live",
        candidates=candidates or (candidate(),),
        held_out=held_out,
        rollouts=model,
        settings=gate,
        uses=uses or {},
        rng=Random(seed),
    )


def seen(judged: Judged) -> GateEvidence:
    assert judged.candidate.evidence is not None
    return judged.candidate.evidence


def test_a_rule_that_mends_everything_is_accepted_at_the_sixth_win() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0}))
    (judged,) = judge(model, tasks(20))
    assert isinstance(judged.decision, Accept)
    assert judged.decision.strong
    assert len(judged.tasks) == 8
    assert (seen(judged).wins, seen(judged).losses, seen(judged).strict_agrees) == (6, 0, True)
    assert seen(judged).e_value >= 20


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=15, deadline=None)
def test_a_candidate_equal_to_the_live_skill_is_never_accepted(seed: int, count: int) -> None:
    model = Model(passing({"live": 0.5}, seed))
    same = replace(candidate(), content="live")
    for policy in ("evidence", "strict"):
        gate = GateSettings.model_validate({"policy": policy})
        (judged,) = judge(model, tasks(count), same, gate=gate)
        assert not isinstance(judged.decision, Accept)
        assert set(seen(judged).differences) == {0.0}


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_final_evidence_does_not_depend_on_the_task_order(seed: int) -> None:
    model = Model(passing({"live": 0.3, "new": 0.7}, seed))
    one, two = (seen(judge(model, tasks(7), seed=order, gate=TO_THE_END)[0]) for order in (1, 2))
    assert (one.e_value, one.e_harm, one.log_sums) == (two.e_value, two.e_harm, two.log_sums)
    assert sorted(one.differences) == sorted(two.differences)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_swapping_the_arms_swaps_evidence_and_harm(seed: int) -> None:
    replies = passing({"live": 0.3, "new": 0.7}, seed)
    (there,) = judge(Model(replies), tasks(7), gate=TO_THE_END)
    (back,) = evaluate(
        live="new",
        candidates=[candidate("live")],
        held_out=tasks(7),
        rollouts=Model(replies),
        settings=TO_THE_END,
        uses={},
        rng=Random(1),
    )
    assert (seen(there).e_value, seen(there).e_harm) == (seen(back).e_harm, seen(back).e_value)


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_the_workers_do_not_change_the_evidence(seed: int) -> None:
    replies = passing({"live": 0.3, "new": 0.6, "other": 0.5}, seed)
    one, many = (
        judge(Model(replies, workers=workers), tasks(20), candidate(), candidate("other"))
        for workers in (1, 8)
    )
    assert one == many


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_the_evidence_is_that_of_the_two_stages(seed: int) -> None:
    replies = passing({"live": 0.3, "new": 0.6}, seed)

    def scores(task: Task, skill: str, count: int) -> list[float]:
        drawn = (replies(Rollout(task=task, skill=skill, draw=n)) for n in range(count))
        return [one.hard for one in drawn if one]

    (judged,) = judge(Model(replies), tasks(7), gate=TO_THE_END)
    by_hand: list[float] = []
    for task in tasks(7):
        count = 5 if scores(task, "live", 1) != scores(task, "new", 1) else 1
        by_hand.append(difference(scores(task, "live", count), scores(task, "new", count)))
    assert isclose(seen(judged).e_value, Tally.of(by_hand).e_value)


def test_the_live_skill_is_drawn_once_for_all_candidates() -> None:
    model = Model(passing({"live": 0.5, "new": 0.5, "other": 0.5}))
    judge(model, tasks(8), candidate(), candidate("other"))
    assert len(model.asked) == len(set(model.asked))
    assert model.batches[0] == tuple(
        Rollout(task=task, skill=skill, draw=0)
        for task in dict.fromkeys(one.task for one in model.batches[0])
        for skill in ("live", "new", "other")
    )


def test_outcomes_that_agree_get_no_retry_and_others_get_it_in_both_arms() -> None:
    firsts = {"t0.0": FAIL, "t1.0": PASS}
    model = Model(lambda one: firsts[one.task.id] if one.skill == "new" else PASS)
    judge(model, tasks(2))
    retried = {(task, skill) for task, skill, draw in model.asked if draw}
    assert retried == {("t0.0", "live"), ("t0.0", "new")}
    assert max(draw for _, _, draw in model.asked) == 4


def test_many_tasks_are_retried_twice() -> None:
    model = Model(lambda one: FAIL if one.skill == "live" else PASS)
    judge(model, tasks(30))
    assert {draw for _, _, draw in model.asked} == {0, 1, 2}


def test_a_failed_attempt_leaves_its_pair_out_and_is_counted() -> None:
    def reply(one: Rollout) -> Score | None:
        lost = (one.task.id, one.skill, one.draw) in {("t0.0", "new", 0), ("t1.0", "live", 2)}
        return None if lost else PASS if one.skill == "new" else FAIL

    (judged,) = judge(Model(reply), tasks(8), gate=TO_THE_END)
    evidence = seen(judged)
    assert (evidence.tasks, evidence.dropped) == (7, 2)
    assert "t0.0" not in judged.tasks
    assert sorted(evidence.sizes) == [8, 10, 10, 10, 10, 10, 10]
    assert (evidence.live_mean, evidence.candidate_mean) == (0.0, 1.0)


def test_members_of_a_cluster_are_averaged_into_one_difference() -> None:
    gate = GateSettings(max_nights=1)
    model = Model(lambda one: PASS if one.skill == "new" and one.task.id.endswith(".0") else FAIL)
    (judged,) = judge(model, tasks(4, members=4), gate=gate)
    assert seen(judged).differences == (0.5,) * 4


def test_hopeless_candidates_stop_after_a_block_and_leave_tasks_fresh() -> None:
    model = Model(passing({"live": 1.0, "new": 1.0}))
    (judged,) = judge(model, tasks(10))
    assert len(judged.tasks) == 8
    assert isinstance(judged.decision, Pending)
    assert "5 more held-out tasks won without a loss" in judged.decision.reason


def test_what_a_block_rolled_out_beyond_the_end_is_no_evidence_but_is_used() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0}))
    (judged,) = judge(model, tasks(8))
    assert (seen(judged).tasks, len(seen(judged).sizes), len(judged.tasks)) == (6, 6, 8)


def test_harm_is_rejected_as_soon_as_it_shows() -> None:
    model = Model(passing({"live": 1.0, "new": 0.0}))
    (judged,) = judge(model, tasks(20))
    assert isinstance(judged.decision, Reject)
    assert len(judged.tasks) == 8


def test_evidence_is_carried_on_with_tasks_that_are_fresh() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0}))
    (first,) = judge(model, tasks(3))
    assert isinstance(first.decision, Pending)
    uses = {task: frozenset({"new"}) for task in first.tasks}
    (second,) = judge(model, tasks(5), first.candidate, uses=uses)
    assert set(second.tasks) == {"t3.0", "t4.0"}
    assert isinstance(second.decision, Accept)
    evidence = seen(second)
    assert (evidence.nights, evidence.tasks) == (2, 5)
    assert evidence.e_value == Tally.of([1.0] * 5).e_value
    assert evidence.log_sums == Tally.of([1.0] * 5).log_sums


@given(st.integers(0, 99), st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_the_tasks_that_said_nothing_are_those_that_scored_alike(seed: int, count: int) -> None:
    model = Model(passing({"live": 0.5, "new": 0.6}, seed))
    (judged,) = judge(model, tasks(count), gate=TO_THE_END)
    by_task = dict(zip(judged.tasks, seen(judged).differences, strict=True))
    asked = {name for name, _, draw in model.asked if draw > 0}
    assert judged.silent == set(judged.tasks) - asked
    assert all(by_task[name] == 0 for name in judged.silent)


def test_a_night_without_a_fresh_task_uses_up_no_night() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0}))
    (first,) = judge(model, tasks(3))
    uses = {task: frozenset({"new"}) for task in first.tasks}
    (second,) = judge(model, tasks(3), first.candidate, uses=uses)
    assert (second.tasks, seen(second).nights) == ((), 1)
    assert "2 fresh held-out tasks won without a loss are missing" in second.decision.reason


def test_rivals_share_the_threshold_and_keep_it_when_they_are_carried() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0, "other": 0.0}))
    one, _ = judge(model, tasks(5), candidate(), candidate("other"))
    assert isinstance(one.decision, Pending)
    assert seen(one).rivals == 2
    (again,) = judge(
        model, tasks(5), one.candidate, uses={f"t{n}.0": frozenset({"new"}) for n in range(5)}
    )
    assert seen(again).rivals == 2


def frugal_model(saved: float) -> Model:
    """Both skills pass always; the new one spends so much less."""

    class Frugal(Model):
        def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
            made = tuple(
                replace(one, usage=Usage(output_tokens=round(1000 * (1 - saved))))
                if one.skill_hash == "new"
                else replace(one, usage=Usage(output_tokens=1000))
                for one in super().__call__(wanted)
            )
            self.attempts.update({one.id: one for one in made})
            return made

    return Frugal(lambda _: PASS)


def test_equal_quality_for_fewer_tokens_is_accepted_where_that_is_asked_for() -> None:
    asked = GateSettings(co_metric="tokens")
    model = frugal_model(0.2)
    (judged,) = judge(model, tasks(20), gate=asked)
    assert isinstance(judged.decision, Accept)
    assert judged.decision.reason == (
        "as good and at least 15 % cheaper: evidence reached 58.2 of 20 needed on 7 held-out tasks"
    )
    assert (seen(judged).live_cost, seen(judged).candidate_cost) == (1000, 800)
    assert explain(seen(judged), list(model.attempts.values())).disagreements == ()
    (unasked,) = judge(frugal_model(0.2), tasks(20))
    assert isinstance(unasked.decision, Pending)
    assert seen(unasked).savings == ()


def test_a_small_saving_is_not_accepted() -> None:
    (judged,) = judge(frugal_model(0.1), tasks(40), gate=GateSettings(co_metric="tokens"))
    assert not isinstance(judged.decision, Accept)


def test_fewer_tokens_do_not_make_up_for_lost_quality() -> None:
    def reply(one: Rollout) -> Score:
        return FAIL if one.skill == "new" and one.task.id in ("t0.0", "t1.0", "t2.0") else PASS

    model = frugal_model(0.5)
    model.replies = reply
    (judged,) = judge(model, tasks(8), gate=GateSettings(co_metric="tokens"))
    assert isinstance(judged.decision, Reject)


def test_the_weaker_half_waits_while_the_better_half_goes_on() -> None:
    rates = {"live": 0.3, "new": 0.6, "a": 0.3, "b": 0.3, "c": 0.3}
    model = Model(passing(rates))
    judged = judge(model, tasks(40), *map(candidate, ("new", "a", "b", "c")), gate=ALONE)
    tested = sorted(len(one.tasks) for one in judged)
    assert tested[0] == 8
    assert tested[-1] > 16


def test_a_candidate_that_breaks_one_task_is_vetoed() -> None:
    def reply(one: Rollout) -> Score:
        broken = one.task.id == "t0.0"
        return PASS if broken == (one.skill == "live") else FAIL

    gate = GateSettings(max_tasks=16)
    (judged,) = judge(Model(reply), tasks(8), gate=gate)
    assert isinstance(judged.decision, Reject)
    assert judged.decision.reason == "it breaks 't0.0' while it helps others"
    assert len(seen(judged).guarded) == 16


def test_a_pinned_task_that_fails_later_draws_is_vetoed() -> None:
    held_out = [*tasks(7), replace(tasks(8)[7], pinned=True)]

    def reply(one: Rollout) -> Score:
        if one.task.pinned:
            return PASS if one.skill == "live" or one.draw == 0 else FAIL
        return PASS if one.skill == "new" else FAIL

    for uses in ({}, {"t7.0": frozenset({"new"})}):
        (judged,) = judge(Model(reply), held_out, uses=uses)
        assert isinstance(judged.decision, Reject)
        assert "'t7.0'" in judged.decision.reason


def test_the_strict_policy_runs_every_task_once() -> None:
    model = Model(passing({"live": 0.4, "new": 0.6}))
    (judged,) = judge(model, tasks(60, members=2), gate=GateSettings(policy="strict"))
    assert len(judged.tasks) == 120
    assert {draw for _, _, draw in model.asked} == {0}
    assert len(model.batches) == 1
    assert isinstance(judged.decision, Accept)


def test_the_gate_that_is_off_runs_nothing() -> None:
    model = Model(passing({}))
    (judged,) = judge(model, tasks(5), gate=GateSettings(policy="off"))
    assert model.batches == []
    assert judged.decision == Accept(reason="nothing was validated: the gate is off")


def test_without_tasks_or_candidates_nothing_happens() -> None:
    model = Model(passing({}))
    (judged,) = judge(model, [])
    assert isinstance(judged.decision, Pending)
    assert seen(judged).e_value == 1.0
    assert (
        evaluate(
            live="",
            candidates=(),
            held_out=tasks(3),
            rollouts=model,
            settings=ALONE,
            uses={},
            rng=Random(1),
        )
        == ()
    )


def test_a_pending_rule_that_the_human_asked_for_is_shown_unproven() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0}))
    edit = Edit(kind=EditKind.ADD, text="say x so", tasks=("train",))
    (judged,) = judge(model, tasks(2), replace(candidate(), edits=(edit,)))
    check = Check(
        id="1",
        operator=Operator.CONTAINS,
        value="x",
        validity=Validity.PROVEN,
        evidence=(Evidence(session="s1", turn=0), Evidence(session="s2", turn=0)),
    )
    shown = shown_unproven(judged, [Task(id="train", cluster="c", prompt="p", checks=(check,))])
    assert isinstance(shown.decision, Unproven)
    assert seen(shown).decision == "unproven"
    assert shown_unproven(judged, []) == judged


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_every_number_can_be_recomputed_from_the_attempts(seed: int) -> None:
    model = Model(passing({"live": 0.3, "new": 0.7}, seed))
    (first,) = judge(model, tasks(8, members=2), gate=TO_THE_END)
    uses = {task: frozenset({"new"}) for task in first.tasks}
    (second,) = judge(model, tasks(8, members=2), first.candidate, uses=uses, gate=TO_THE_END)
    explained = explain(seen(second), list(model.attempts.values()))
    assert explained.disagreements == ()
    assert explained.missing == ()
    assert len(explained.units) == 16
    assert isclose(explained.units[-1].e_value, seen(second).e_value)


def test_an_attempt_that_was_tampered_with_shows() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0}))
    (judged,) = judge(model, tasks(8))
    first = seen(judged).attempts[0]
    model.attempts[first] = replace(model.attempts[first], score=PASS)
    explained = explain(seen(judged), list(model.attempts.values()))
    assert "live_mean" in explained.disagreements


def test_attempts_that_are_gone_are_named() -> None:
    model = Model(passing({"live": 0.0, "new": 1.0}))
    (judged,) = judge(model, tasks(8))
    gone = seen(judged).attempts[0]
    del model.attempts[gone]
    explained = explain(seen(judged), list(model.attempts.values()))
    assert explained.missing == (gone,)
    assert len(explained.units) == 5


def test_the_guard_can_be_recomputed_too() -> None:
    def reply(one: Rollout) -> Score:
        return PASS if (one.task.id == "t0.0") == (one.skill == "live") else FAIL

    model = Model(reply)
    (judged,) = judge(model, tasks(8))
    (suspect,) = explain(seen(judged), list(model.attempts.values())).suspects
    assert (suspect.task, suspect.live_passed, suspect.candidate_passed) == ("t0.0", 8, 0)
    assert suspect.p_value < 0.001


@pytest.mark.parametrize(("adopted_rate", "revert"), [(0.0, True), (1.0, False)])
def test_an_adopted_skill_is_watched_on_tasks_that_did_not_accept_it(
    adopted_rate: float, *, revert: bool
) -> None:
    model = Model(passing({"live": 0.9, "new": adopted_rate}))
    uses = {"t0.0": frozenset({"new"})}
    watched = watch(
        previous="live",
        adopted=candidate(),
        held_out=tasks(12),
        rollouts=model,
        settings=GateSettings(),
        uses=uses,
        rng=Random(1),
    )
    assert watched.revert is revert
    assert "t0.0" not in watched.tasks
    assert len(watched.tasks) == (8 if revert else 11)
    assert watched.evidence.decision == ("revert" if revert else "stay")
