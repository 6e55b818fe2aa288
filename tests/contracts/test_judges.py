"""What holds for every judge in the registry and every operator it owns."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.judges import JUDGES
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.model.attempt import Outcome
from skillopt_sleep.model.check import JUDGE_OF, Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.testing import ScriptedBackend, fake_world

TASK = Task(id="t", cluster="c", prompt="p")
OPERANDS = {Operator.MAX_WORDS: "9", Operator.MIN_WORDS: "0", Operator.FILE_CONTAINS: "a::b"}


@pytest.mark.parametrize("operator", Operator)
@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_meets_no_demand_and_asks_no_model(
    operator: Operator, answer: str, tmp_path: Path
) -> None:
    backend = ScriptedBackend([])
    judges = all_judges(fake_world(tmp_path), backend)
    check = Check(id="x", operator=operator, value=OPERANDS.get(operator, "x"))
    outcome = Outcome(answer=answer, workspace=str(tmp_path))
    verdict = judges[check.judge].verdict(check, TASK, outcome)
    assert (verdict.check, verdict.passed, verdict.share) == ("x", False, 0.0)
    assert backend.asked == []


def test_every_operator_has_a_judge_and_every_judge_an_operator() -> None:
    assert set(JUDGE_OF) == set(Operator)
    assert set(JUDGE_OF.values()) == set(JUDGES.names())
