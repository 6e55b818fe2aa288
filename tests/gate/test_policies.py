from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.config import GateSettings
from skillopt_sleep.gate.evidence import Tally
from skillopt_sleep.gate.policies import (
    Accept,
    Decision,
    Pending,
    Reject,
    Seen,
    Unproven,
    backing,
    decide,
    keep,
    offer,
    word,
)
from skillopt_sleep.model.check import Check, Evidence, Operator, Validity
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.task import Task

DEFAULTS = GateSettings()


def seen(
    *differences: float,
    rises: bool = True,
    rivals: int = 1,
    nights: int = 1,
    veto: str = "",
    shape_only: bool = False,
) -> Seen:
    return Seen(
        tally=Tally.of(differences),
        rises=rises,
        rivals=rivals,
        nights=nights,
        tonight=len(differences),
        veto=veto,
        shape_only=shape_only,
    )


def test_five_clean_wins_are_supported_and_six_are_strong() -> None:
    five, six = decide(seen(*[1.0] * 5), DEFAULTS), decide(seen(*[1.0] * 6), DEFAULTS)
    assert five == Accept(reason="evidence reached 17.4 of 10 needed on 5 held-out tasks")
    assert isinstance(six, Accept)
    assert six.strong


def test_rivals_multiply_the_thresholds() -> None:
    assert isinstance(decide(seen(*[1.0] * 5, rivals=2), DEFAULTS), Pending)
    assert isinstance(decide(seen(*[1.0] * 6, rivals=2), DEFAULTS), Accept)


def test_a_pending_one_says_what_is_missing() -> None:
    decision = decide(seen(1.0, 1.0), DEFAULTS)
    assert decision == Pending(
        reason="evidence is 3.0 of 10 needed: 3 more held-out tasks won without a loss,"
        " or 2 more nights like this one"
    )


def test_without_a_fresh_task_it_says_so() -> None:
    decision = decide(seen(), DEFAULTS)
    assert decision == Pending(
        reason="evidence is 1.0 of 10 needed: 5 fresh held-out tasks won without a loss are missing"
    )


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (seen(*[-1.0] * 5, rises=False), "evidence of harm reached 17.4 of 10"),
        (seen(-1.0, rises=False), "evidence fell to 0.27, below 0.5"),
        (seen(1.0, nights=5), "evidence is 1.7 of 10 needed after 5 nights"),
        (seen(*[1.0] * 6, veto="it breaks 't'"), "it breaks 't'"),
    ],
)
def test_a_rejection_says_why(case: Seen, said: str) -> None:
    decision = decide(case, DEFAULTS)
    assert isinstance(decision, Reject)
    assert said in decision.reason


def test_evidence_alone_is_not_enough_if_the_mean_did_not_rise() -> None:
    assert isinstance(decide(seen(*[1.0] * 6, rises=False), DEFAULTS), Pending)


def test_tasks_that_check_form_alone_cannot_carry_an_adoption() -> None:
    decision = decide(seen(*[1.0] * 6, shape_only=True), DEFAULTS)
    assert isinstance(decision, Pending)
    assert "form" in decision.reason


def test_strict_looks_at_the_mean_alone() -> None:
    strict = GateSettings(policy="strict")
    assert isinstance(decide(seen(1.0), strict), Accept)
    assert isinstance(decide(seen(0.0, rises=False), strict), Reject)
    assert isinstance(decide(seen(), strict), Reject)


def test_the_gate_that_is_off_says_that_nothing_was_validated() -> None:
    decision = decide(seen(), GateSettings(policy="off"))
    assert decision == Accept(reason="nothing was validated: the gate is off")


@given(st.integers(0, 60), st.integers(1, 4), st.sampled_from(["strict", "evidence"]))
@settings(max_examples=50)
def test_a_candidate_that_changes_nothing_is_never_accepted(
    tasks: int, rivals: int, policy: str
) -> None:
    case = seen(*[0.0] * tasks, rises=False, rivals=rivals)
    assert not isinstance(decide(case, GateSettings.model_validate({"policy": policy})), Accept)


@given(st.lists(st.floats(-1, 1), max_size=30))
@settings(max_examples=80)
def test_at_most_one_of_two_arms_is_accepted(differences: list[float]) -> None:
    rises = sum(differences) > 0
    one = decide(seen(*differences, rises=rises), DEFAULTS)
    other = decide(seen(*[-d for d in differences], rises=sum(differences) < 0), DEFAULTS)
    assert not (isinstance(one, Accept) and isinstance(other, Accept))


def candidate(*tasks: str) -> Candidate:
    edit = Edit(kind=EditKind.ADD, text="say x so", tasks=tasks)
    return Candidate(id="c", base_hash="", content="x", edits=(edit,), night="n")


def task(
    name: str, *sessions: str, validity: Validity = Validity.PROVEN, role: str = "human"
) -> Task:
    check = Check(
        id="1",
        operator=Operator.CONTAINS,
        value="x",
        validity=validity,
        evidence=tuple(Evidence(session=one, turn=0, role=role) for one in sessions),
    )
    return Task(id=name, cluster=name, prompt="p", checks=(check,))


def test_corrections_in_two_sessions_make_an_unproven_offer() -> None:
    weak = Pending(reason="few tasks")
    tasks = [task("a", "s1"), task("b", "s2")]
    assert offer(weak, candidate("a", "b"), tasks) == Unproven(
        reason="not proven yet (few tasks), but you asked for it in 2 sessions"
        " and a validated check backs it"
    )
    assert offer(weak, candidate("a"), tasks) == weak


@pytest.mark.parametrize(
    "tasks",
    [
        [task("a", "s1", "s2", validity=Validity.UNPROVEN)],
        [task("a", "s1", "s2", role="assistant")],
        [task("b", "s1", "s2")],
        [task("a", "s1", "s1")],
    ],
)
def test_only_human_words_behind_a_validated_check_of_a_motivating_task_back_it(
    tasks: list[Task],
) -> None:
    assert len(backing(candidate("a"), tasks)) < 2


def test_a_rule_about_something_else_is_not_backed_by_what_the_human_asked_for() -> None:
    idle = Edit(kind=EditKind.ADD, text="think before you begin", tasks=("a",))
    about = replace(candidate("a"), edits=(idle,))
    both = replace(candidate("a"), edits=(*candidate("a").edits, idle))
    asked = [task("a", "s1", "s2")]
    assert len(backing(candidate("a"), asked)) == 2
    assert backing(about, asked) == ()
    assert backing(both, asked) == ()


def test_what_is_rejected_is_not_offered_again() -> None:
    rejected = Reject(reason="harm")
    assert offer(rejected, candidate("a"), [task("a", "s1", "s2")]) == rejected


def test_the_pool_keeps_the_best_by_evidence() -> None:
    pending = Pending(reason="few tasks")
    accepted = Accept(reason="enough")
    cases: list[tuple[str, float, Decision]] = [
        ("a", 1.0, pending),
        ("b", 3.0, pending),
        ("c", 2.0, Unproven(reason="asked for")),
        ("d", 9.0, accepted),
    ]
    kept = keep(cases, 2)
    assert {name: word(decision) for name, decision in kept.items()} == {
        "a": "reject",
        "b": "pending",
        "c": "unproven",
        "d": "accept",
    }
