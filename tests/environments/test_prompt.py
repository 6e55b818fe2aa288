"""One mined task as one prompt: what is asked, what is judged, and what is never zero."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skillopt_sleep.backends import Backend
from skillopt_sleep.codec import text_hash
from skillopt_sleep.config import BackendSettings, Settings
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.environments.prompt import PromptEnvironment
from skillopt_sleep.errors import BackendError, BudgetSpentError, Fault
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.prompt import Prompt
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.testing import ScriptedBackend, fake_world

SKILL = "# Habits\n\n- Use pnpm.\n"
TASK = Task(
    id="t1",
    cluster="c1",
    prompt="Install the dependencies.",
    context="The lock file is pnpm's.",
    reference="THE-REFERENCE",
    checks=(
        Check(id="a", operator=Operator.COMMAND_RAN, value="pnpm install"),
        Check(id="b", operator=Operator.NOT_CONTAINS, value="SECRET-OPERAND"),
    ),
)
GOOD = "Here it is.\n```bash\npnpm install\n```"


def environment(
    root: Path, backend: Backend, *, run: str = "n1", **target: object
) -> PromptEnvironment:
    world = fake_world(root)
    settings = Settings(target=BackendSettings.model_validate(target))
    judges = all_judges(world, None)
    return PromptEnvironment(
        Bench(
            world=world,
            settings=settings,
            target=backend,
            judges=judges,
            tasks=(TASK,),
            run=run,
        )
    )


def raising(error: BackendError) -> ScriptedBackend:
    def answer(_prompt: Prompt) -> str:
        raise error

    return ScriptedBackend(answer)


def test_an_attempt_holds_answer_commands_verdicts_and_score(tmp_path: Path) -> None:
    made = environment(tmp_path, ScriptedBackend([GOOD])).attempt(TASK, SKILL, 2)
    assert made.outcome is not None
    assert (made.outcome.answer, made.outcome.commands) == (GOOD, ("pnpm install",))
    assert [one.passed for one in made.verdicts] == [True, True]
    assert made.score == Score(hard=1.0, soft=1.0)
    assert (made.task, made.cluster, made.draw, made.model) == ("t1", "c1", 2, "scripted-1")
    assert (made.skill_hash, made.skill_loaded) == (text_hash(SKILL), None)
    assert made.usage.calls == 1


def test_the_model_sees_skill_context_and_task_and_no_check(tmp_path: Path) -> None:
    backend = ScriptedBackend([GOOD])
    environment(tmp_path, backend).attempt(TASK, SKILL, 0)
    (prompt,) = backend.asked
    (message,) = prompt.messages
    assert "<skill>\n# Habits\n\n- Use pnpm.\n</skill>" in prompt.system
    assert TASK.prompt in message.text
    assert TASK.context in message.text
    for hidden in ("SECRET-OPERAND", "THE-REFERENCE", "pnpm install"):
        assert hidden not in prompt.system + message.text


def test_without_a_skill_no_skill_is_announced(tmp_path: Path) -> None:
    made = environment(tmp_path, ScriptedBackend([])).prompt(TASK, "", 0)
    assert "skill" not in made.system


def test_the_system_prompt_is_the_same_for_all_tasks(tmp_path: Path) -> None:
    asked = environment(tmp_path, ScriptedBackend([]))
    other = replace(TASK, id="t2", prompt="Something else.")
    assert asked.prompt(TASK, SKILL, 0).system == asked.prompt(other, SKILL, 1).system


@pytest.mark.parametrize("split", Split)
def test_prompts_of_tasks_outside_train_are_blind(split: Split, tmp_path: Path) -> None:
    prompt = environment(tmp_path, ScriptedBackend([])).prompt(replace(TASK, split=split), SKILL, 0)
    assert prompt.blind is (split is not Split.TRAIN)


@pytest.mark.parametrize(
    "fault", [one for one in Fault if one not in (Fault.AUTH, Fault.BUDGET, Fault.WAITING)]
)
def test_trouble_is_a_failure_and_no_score(fault: Fault, tmp_path: Path) -> None:
    made = environment(tmp_path, raising(BackendError("why", fault=fault))).attempt(TASK, "", 0)
    assert (made.score, made.outcome, made.verdicts) == (None, None, ())
    assert made.failure is not None
    assert (made.failure.fault, made.failure.reason) == (fault, "why")


@pytest.mark.parametrize(
    "error",
    [BackendError("bad key", fault=Fault.AUTH), BudgetSpentError("spent", what="calls")],
)
def test_trouble_that_ends_the_night_is_raised(error: BackendError, tmp_path: Path) -> None:
    with pytest.raises(type(error)):
        environment(tmp_path, raising(error)).attempt(TASK, "", 0)


def test_a_check_that_makes_no_sense_fails_its_task_alone(tmp_path: Path) -> None:
    broken = replace(TASK, checks=(Check(id="x", operator=Operator.REGEX, value="("),))
    made = environment(tmp_path, ScriptedBackend([GOOD])).attempt(broken, "", 0)
    assert made.failure is not None
    assert "'('" in made.failure.reason


def test_the_id_is_known_beforehand_and_tells_all_inputs_apart(tmp_path: Path) -> None:
    backend = ScriptedBackend(lambda _prompt: GOOD)
    asked = environment(tmp_path, backend)
    made = asked.attempt(TASK, SKILL, 0)
    assert made.id == asked.attempt_id(TASK, SKILL, 0)
    others = {
        asked.attempt_id(TASK, SKILL + " ", 0),
        asked.attempt_id(TASK, SKILL, 1),
        asked.attempt_id(replace(TASK, prompt="x"), SKILL, 0),
        asked.attempt_id(replace(TASK, checks=TASK.checks[:1]), SKILL, 0),
        environment(tmp_path, backend, run="n2").attempt_id(TASK, SKILL, 0),
        environment(tmp_path, backend, temperature=0.5).attempt_id(TASK, SKILL, 0),
        environment(tmp_path, ScriptedBackend([], model="m2")).attempt_id(TASK, SKILL, 0),
    }
    assert len(others) == 7
    assert made.id not in others


def test_checks_that_need_a_workspace_are_left_out(tmp_path: Path) -> None:
    needs = Check(id="w", operator=Operator.COMMAND_PASSES, value="make test")
    bench = Bench(
        world=fake_world(tmp_path),
        settings=Settings(),
        target=ScriptedBackend([]),
        judges={},
        tasks=(
            replace(TASK, checks=(*TASK.checks, needs)),
            replace(TASK, id="t2", checks=(needs,)),
        ),
    )
    assert PromptEnvironment(bench).tasks() == (TASK,)
    both = replace(TASK, checks=(*TASK.checks, needs))
    made = environment(tmp_path, ScriptedBackend([GOOD])).attempt(both, "", 0)
    assert [verdict.check for verdict in made.verdicts] == ["a", "b"]
