"""Mined tasks attempted for real: an agent CLI in a throwaway clone, with the skill in its place.

The clone stands where the user's repository stood when the task was asked; command checks run in
it. A task that cannot be set up so is attempted as a prompt, and says so. Knows no CLI.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_sleep.agents.forwarder import Toll
from skillopt_sleep.agents.launch import Told
from skillopt_sleep.backends.build import price_for
from skillopt_sleep.backends.prices import priced
from skillopt_sleep.codec import digest, text_hash
from skillopt_sleep.environments import Environment
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.environments.checkout import Lost, Spot, locate
from skillopt_sleep.environments.prompt import PASS_ON, PromptEnvironment
from skillopt_sleep.environments.till import Till
from skillopt_sleep.environments.trial import Trial
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.files import make_private
from skillopt_sleep.judges.score import judge_all, score
from skillopt_sleep.model.attempt import Attempt, Failure
from skillopt_sleep.model.task import Task
from skillopt_sleep.redact import redact
from skillopt_sleep.runners import RUNNER_OF, RUNNERS, Runner

WORKSPACES = "skillopt-sleep-workspace"
"""Folder name by which a harvest knows the logs of our own attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """How one task is attempted: where and by whom, or why only as a prompt."""

    spot: Spot | None = None
    runner: Runner | None = None
    reason: str = ""


class WorkspaceEnvironment:
    """Attempts each task with the agent CLI that it was asked of, in a clone."""

    name = "workspace"

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._prompt = PromptEnvironment(bench)
        self._lock = threading.Lock()
        self._plans: dict[tuple[str, str, str], _Plan] = {}
        self._runners: dict[str, Runner] = {}
        self._identity = digest(
            (self.name, bench.run, bench.target.name, bench.target.model),
            bench.settings.replay.model_dump(mode="json"),
            bench.settings.judge_backend.model_dump(mode="json", include={"name", "model"}),
        )

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks that can be attempted in a workspace, or judged on an answer alone."""
        as_prompts = {task.id: task for task in self._prompt.tasks()}
        found = [
            task if self._plan(task).spot else as_prompts.get(task.id) for task in self._bench.tasks
        ]
        return tuple(task for task in found if task is not None and task.checks)

    def attempt_id(self, task: Task, skill: str, draw: int) -> str:
        """Return the hash of all that goes into an attempt, the client's version included."""
        plan = self._plan(task)
        if plan.spot is None or plan.runner is None:
            return self._prompt.attempt_id(task, skill, draw)
        checks = [(c.id, c.operator.value, c.value, c.weight) for c in task.checks]
        return digest(
            self._identity,
            (task.id, task.cluster, task.prompt, task.context, task.reference, checks),
            (plan.spot.commit, plan.spot.inside, plan.runner.name, plan.runner.version),
            (text_hash(skill), draw),
        )

    def attempt(self, task: Task, skill: str, draw: int) -> Attempt:
        """Let the agent try ``task`` once and judge what it left; see ``Environment.attempt``."""
        plan = self._plan(task)
        if plan.spot is None or plan.runner is None:
            made = self._prompt.attempt(task, skill, draw)
            return replace(made, notes=(f"attempted as a prompt: {plan.reason}",))
        clock = self._bench.world.monotonic
        begun = clock()
        tried = Attempt(
            id=self.attempt_id(task, skill, draw),
            task=task.id,
            cluster=task.cluster,
            skill_hash=text_hash(skill),
            draw=draw,
            model=self._bench.target.model,
            failure=Failure(fault=Fault.SERVER, reason="not finished"),
            client=f"{plan.runner.name} {plan.runner.version}",
            notes=(plan.spot.note,) if plan.spot.note else (),
        )
        top = self._top()
        try:
            trial = Trial(bench=self._bench, spot=plan.spot, runner=plan.runner, top=top)
            made = self._tried(tried, task, skill, trial)
            return replace(made, seconds=clock() - begun)
        except (BackendError, ConfigError) as error:
            fault = error.fault if isinstance(error, BackendError) else Fault.MALFORMED
            if fault in PASS_ON:
                raise
            failure = Failure(fault=fault, reason=redact(str(error)))
            return replace(tried, failure=failure, seconds=clock() - begun)
        finally:
            shutil.rmtree(top, ignore_errors=True)

    def _plan(self, task: Task) -> _Plan:
        key = (task.repository, task.commit, task.id)
        with self._lock:
            if key not in self._plans:
                self._plans[key] = self._planned(task)
            return self._plans[key]

    def _planned(self, task: Task) -> _Plan:
        wanted = self._bench.settings.replay.runner
        name = wanted or RUNNER_OF.get(task.harness, task.harness)
        if not wanted and name not in RUNNERS.names():
            return _Plan(reason=f"no runner drives the harness {task.harness!r}")
        if name not in self._runners:
            self._runners[name] = RUNNERS.factory(name)(self._bench.world, self._bench.settings)
        runner = self._runners[name]
        if obstacle := runner.obstacle():
            return _Plan(reason=obstacle)
        spot = locate(self._bench.world, task)
        if isinstance(spot, Lost):
            return _Plan(reason=spot.reason)
        return _Plan(spot=spot, runner=runner)

    def _top(self) -> Path:
        folder = make_private(self._bench.world.roots.cache / WORKSPACES)
        return Path(tempfile.mkdtemp(prefix="attempt-", dir=folder))

    def _tried(self, tried: Attempt, task: Task, skill: str, trial: Trial) -> Attempt:
        told = self._metered(lambda toll: trial.run(task, skill, toll))
        tried = replace(
            tried,
            model=told.model or tried.model,
            usage=told.usage,
            skill_listed=told.skill_listed,
            skill_loaded=told.skill_loaded,
        )
        outcome = trial.outcome(told)
        verdicts = judge_all(task, outcome, trial.judges())
        # The clone is thrown away, so that its path would lead nowhere.
        kept = replace(outcome, workspace="")
        scored = score(task.checks, verdicts)
        return replace(tried, outcome=kept, verdicts=verdicts, score=scored, failure=None)

    def _metered(self, run: Callable[[Toll], Told]) -> Told:
        """Run within the budget; raises what ``run`` raises."""
        till = Till(self._bench.meter)
        try:
            told = run(till.toll)
        except BaseException:
            till.close()
            raise
        price = price_for(self._bench.settings.target)
        # Where no price is known, the client's own reckoning is better than none.
        usage = told.usage if price is None and told.usage.dollars else priced(told.usage, price)
        till.close(usage)
        return replace(told, usage=usage)


_CONFORMS: type[Environment] = WorkspaceEnvironment
