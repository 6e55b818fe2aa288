"""Mined tasks as single prompts: the skill and short instructions as system, the request as user.

The skill's text is put into the prompt, so an attempt proves nothing about whether a client would
have loaded it by itself; ``skill_loaded`` stays None.
"""

from __future__ import annotations

from dataclasses import replace

from skillopt_sleep.codec import digest, text_hash
from skillopt_sleep.environments import Environment
from skillopt_sleep.environments.answer import proposed_commands
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.judges.score import judge_all, score
from skillopt_sleep.model.attempt import Attempt, Failure, Outcome, Step
from skillopt_sleep.model.prompt import Message, Prompt, Reply, Stage
from skillopt_sleep.model.task import Split, Task

SKILL_OPEN = "<skill>"
SKILL_CLOSE = "</skill>"

_TEMPLATE = 1
"""Goes into every attempt's id; raised when the wording below changes."""

_INSTRUCTIONS = """\
You are the user's coding agent and do one task without tools. Answer as you would at the end of \
your work: say what is done and give the text or code that was asked for. Put the shell commands \
you would run into fenced blocks marked bash, one a line, in their order. The user cannot answer \
questions now."""

_SKILL = """\
The skill document that the user has installed stands between the marks; follow it wherever it \
applies."""

_ASKED = {"name", "model", "base_url", "max_tokens", "temperature", "extra"}
PASS_ON = frozenset({Fault.AUTH, Fault.BUDGET, Fault.WAITING})
"""Faults that end more than one attempt, and so are raised."""


class PromptEnvironment:
    """Attempts each task with one call of the target model."""

    name = "prompt"

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._tasks = tuple(one for task in bench.tasks if (one := _judgeable(task)).checks)
        self._identity = digest(
            (self.name, _TEMPLATE, bench.run, bench.target.name, bench.target.model),
            bench.settings.target.model_dump(mode="json", include=_ASKED),
            bench.settings.judge_backend.model_dump(mode="json", include={"name", "model"}),
        )

    def tasks(self) -> tuple[Task, ...]:
        """Return those of the bench's tasks that an answer alone can be judged on, in its order.

        Checks that need a workspace are left out, and with them a task that has no others.
        """
        return self._tasks

    def attempt_id(self, task: Task, skill: str, draw: int) -> str:
        """Return the hash of all that goes into an attempt: task, skill, draw, model, run."""
        checks = [(c.id, c.operator.value, c.value, c.weight) for c in _judgeable(task).checks]
        return digest(
            self._identity,
            (task.id, task.cluster, task.prompt, task.context, task.reference, checks),
            (text_hash(skill), draw),
        )

    def attempt(self, task: Task, skill: str, draw: int) -> Attempt:
        """Ask the target once and judge its answer; see ``Environment.attempt``.

        Checks that need a workspace are left out of verdicts and score.
        """
        task = _judgeable(task)
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
        )
        try:
            reply = self._bench.target.complete(self.prompt(task, skill, draw))
            tried = replace(tried, model=reply.model, usage=reply.usage)
            return self._judged(tried, task, reply, clock() - begun)
        except (BackendError, ConfigError) as error:
            fault = error.fault if isinstance(error, BackendError) else Fault.MALFORMED
            if fault in PASS_ON:
                raise
            failure = Failure(fault=fault, reason=str(error))
            return replace(tried, failure=failure, seconds=clock() - begun)

    def prompt(self, task: Task, skill: str, draw: int) -> Prompt:
        """Return what the target is asked; it holds no check and no reference.

        The skill and the instructions come first and are the same for all tasks, so that a
        provider can keep them in its cache.
        """
        settings = self._bench.settings.target
        parts = [_INSTRUCTIONS]
        if skill.strip():
            parts.append(f"{_SKILL}\n\n{SKILL_OPEN}\n{skill.strip()}\n{SKILL_CLOSE}")
        return Prompt(
            stage=Stage.ATTEMPT,
            system="\n\n".join(parts),
            messages=(Message(role="user", text=request(task)),),
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            draw=draw,
            blind=task.split is not Split.TRAIN,
        )

    def _judged(self, tried: Attempt, task: Task, reply: Reply, seconds: float) -> Attempt:
        outcome = Outcome(
            answer=reply.text,
            steps=(Step(role="assistant", text=reply.text),),
            commands=proposed_commands(reply.text),
        )
        verdicts = judge_all(task, outcome, self._bench.judges)
        return replace(
            tried,
            outcome=outcome,
            verdicts=verdicts,
            score=score(task.checks, verdicts),
            failure=None,
            seconds=seconds,
        )


def request(task: Task) -> str:
    """Return what the user asks, with what an attempt has to know; no check, no reference."""
    if not task.context:
        return task.prompt
    return f"What happened before:\n{task.context}\n\nThe task:\n{task.prompt}"


def _judgeable(task: Task) -> Task:
    return replace(task, checks=tuple(one for one in task.checks if one.judge != "commands"))


_CONFORMS: type[Environment] = PromptEnvironment
