"""One try at a task under one skill: the trajectory, the usage and the verdict.

A failed attempt (error, timeout) has no score at all; it is never counted as zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_sleep.errors import Fault
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.usage import NO_USAGE, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a trajectory.

    Attributes:
        role: "user", "assistant" or "tool".
        text: What was said, or the head and tail of a tool's result.
        tool: Name of the tool called or answering, or "".
        arguments: Tool arguments as a JSON text, or "".
    """

    role: str
    text: str = ""
    tool: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an attempt produced, for judges to look at.

    Attributes:
        answer: The final answer.
        steps: The trajectory, oldest first, without the task prompt.
        commands: Shell commands that were run, or proposed in the answer's code blocks.
        tools: Names of the tools called, in order.
        workspace: Folder the work was done in, or "".
        diff: Unified diff of the workspace, or "".
    """

    answer: str
    steps: tuple[Step, ...] = ()
    commands: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    workspace: str = ""
    diff: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One check's decision on one outcome.

    Attributes:
        check: Id of the check.
        passed: Whether the demand is met.
        share: Degree to which it is met, in [0, 1].
        reason: One sentence.
    """

    check: str
    passed: bool
    share: float
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an attempt has no score.

    Attributes:
        fault: The kind of trouble.
        reason: One sentence.
    """

    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try at a task under one skill.

    Attributes:
        id: Hash of everything that went in: task, skill, draw, model, environment.
        task: Task id.
        cluster: Cluster id of the task.
        skill_hash: Hash of the skill document's bytes.
        draw: 0-based number of the rollout under the same task and skill.
        model: Model that answered, as the provider names it.
        outcome: What it produced; None if it failed.
        score: The verdict; None if it failed.
        verdicts: One per check, same order as the task's checks; empty if it failed.
        failure: Why there is no score; None if there is one.
        usage: What it cost.
        seconds: Wall time.
        skill_loaded: Whether the client loaded the skill by itself; None where the text was
            injected, which is no proof of gain in use.
        skill_listed: Whether the client told the model of the skill; None where it does not say.
        client: Agent CLI that attempted it, with its version, or "" for a bare prompt.
        notes: What was not as the log had it, such as another commit; one sentence each.
    """

    id: str
    task: str
    cluster: str
    skill_hash: str
    draw: int
    model: str = ""
    outcome: Outcome | None = None
    score: Score | None = None
    verdicts: tuple[Verdict, ...] = ()
    failure: Failure | None = None
    usage: Usage = NO_USAGE
    seconds: float = 0.0
    skill_loaded: bool | None = None
    skill_listed: bool | None = None
    client: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.score is None) == (self.failure is None):
            raise ValueError(f"attempt {self.id!r} must have either a score or a failure")
