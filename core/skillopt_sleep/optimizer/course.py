"""What a training run is made of, where it stands, and what it came to: values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from skillopt_sleep.config import GateSettings
from skillopt_sleep.model.edit import Edit
from skillopt_sleep.model.rejected import RejectedEdit
from skillopt_sleep.model.task import Task
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.optimizer.score import SkillScore
from skillopt_sleep.optimizer.trainer import Trainer


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A training run.

    Attributes:
        trainer: Makes candidates; its settings give epochs and batches.
        gate: How candidates are judged.
        train: What is learned from.
        held_out: What the gate judges on.
        test: What the first and the best document are scored on at the end; may be empty.
        initial: The document to begin with; "" for none.
        folder: The run folder.
        config: The resolved configuration without secrets, as JSON values.
        max_failure_share: More failed attempts than this in a scoring stop the run.
    """

    trainer: Trainer
    gate: GateSettings
    train: tuple[Task, ...]
    held_out: tuple[Task, ...]
    test: tuple[Task, ...] = ()
    initial: str = ""
    folder: Path
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_failure_share: float = 0.3

    @property
    def batch(self) -> int:
        """Train tasks of one step: the batch size times the accumulation."""
        settings = self.trainer.settings
        return settings.batch_size * settings.accumulation

    @property
    def steps_per_epoch(self) -> int:
        """Steps of one shuffled pass over the train tasks."""
        return max(1, ceil(len(self.train) / self.batch))

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return self.trainer.settings.epochs * self.steps_per_epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One line of the history.

    Attributes:
        epoch: 0-based.
        step: 0-based number in the run; for a slow update that of the epoch's last step.
        kind: "step" or "slow".
        budget: The textual learning rate; None for no bound.
        edits: Edits that were tried.
        decision: accept, pending, reject, or none where there was nothing to try.
        reason: One sentence.
        live: Mean held-out score of the present document, by the gate's metric.
        candidate: Mean held-out score of the candidate.
        skill_hash: Hash of the document after the decision.
        notes: Sentences, in order.
    """

    epoch: int
    step: int
    kind: str
    budget: int | None = None
    edits: tuple[Edit, ...] = ()
    decision: str = "none"
    reason: str = ""
    live: float = 0.0
    candidate: float = 0.0
    skill_hash: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands; saved after each step, so that a killed run goes on from there.

    Attributes:
        position: Steps and epoch ends behind it.
        current: The document that the next step starts from.
        best: The best document so far.
        baseline: Score of the initial document on the held-out tasks.
        current_score: Score of the current one.
        best_score: Score of the best one.
        last_epoch: The document at the end of the epoch before; None in the first.
        rejected: The rejected-edit buffer.
        meta: The meta skill.
        accepted_now: Edits accepted in this epoch.
        rejected_now: Edits rejected in this epoch.
        history: All steps, in order.
        totals: What was spent, per stage.
        counted: Ids of the attempts in ``totals``.
    """

    position: int
    current: str
    best: str
    baseline: SkillScore
    current_score: SkillScore
    best_score: SkillScore
    last_epoch: str | None = None
    rejected: tuple[RejectedEdit, ...] = ()
    meta: str = ""
    accepted_now: tuple[Edit, ...] = ()
    rejected_now: tuple[Edit, ...] = ()
    history: tuple[StepRecord, ...] = ()
    totals: Mapping[str, Usage] = field(default_factory=dict[str, Usage])
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOutcome:
    """What a run came to.

    Attributes:
        best: The best document.
        baseline: The initial document on the held-out tasks.
        final: The best document on them.
        test_baseline: The initial document on the test tasks; None without any.
        test_final: The best document on them; None without any.
        history: All steps, in order.
        totals: What was spent, per stage.
        folder: The run folder.
    """

    best: str
    baseline: SkillScore
    final: SkillScore
    test_baseline: SkillScore | None
    test_final: SkillScore | None
    history: tuple[StepRecord, ...]
    totals: Mapping[str, Usage]
    folder: str
