"""The trainer: one step of the SkillOpt loop, from rollouts to candidates.

A night is one step whose candidates the night's gate decides on; a benchmark run (``train.py``)
is many, each decided at once. It sees train tasks only, and of the gate nothing but the words of
rejected edits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from skillopt_sleep.config import OptimizerSettings, SkillSettings
from skillopt_sleep.model.apply import Limits
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.edit import Applied, ApplyStatus, Edit
from skillopt_sleep.model.progress import Progress, Tick, silent
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.rejected import RejectedEdit, rejects
from skillopt_sleep.model.skill import managed_document
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.aggregate import aggregate
from skillopt_sleep.optimizer.brief import Brief
from skillopt_sleep.optimizer.meta import learn
from skillopt_sleep.optimizer.reflect import Patch, Reflection, minibatches, reflect
from skillopt_sleep.optimizer.schedule import edit_budget
from skillopt_sleep.optimizer.select import Selection, select
from skillopt_sleep.optimizer.trials import Trial, trials
from skillopt_sleep.optimizer.update import apply_all, candidates, rewrite, rewrite_from_trials
from skillopt_sleep.optimizer.widen import dream, recall
from skillopt_sleep.replay import Rollout, Rollouts
from skillopt_sleep.world import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What earlier rounds left for this one.

    Attributes:
        rejected: The rejected-edit buffer, oldest first.
        meta: What the optimizer learned about optimizing, or "".
    """

    rejected: tuple[RejectedEdit, ...] = ()
    meta: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What one step came to.

    Attributes:
        candidates: Single edits, then their union; empty if nothing was learned.
        applied: What became of each selected edit when all were applied, in order.
        attempts: Every attempt on train tasks, failed ones included, in order.
        notes: Sentences for the human, in order.
        patches: Minibatch patches, failures first.
        merged: Their aggregate.
        ranking: The aggregate as ranked; the selected edits are its head.
        budget: The step's edit budget; None for no bound.
    """

    candidates: tuple[Candidate, ...] = ()
    applied: tuple[Applied, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    patches: tuple[Patch, ...] = ()
    merged: tuple[Edit, ...] = ()
    ranking: tuple[Edit, ...] = ()
    budget: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Learned:
    edits: tuple[Edit, ...] = ()
    patches: tuple[Patch, ...] = ()
    merged: tuple[Edit, ...] = ()
    ranking: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainer:
    """Makes candidates out of what train tasks show.

    Attributes:
        rollouts: Attempts tasks under a skill.
        advisor: The optimizer's model.
        settings: The loop's numbers.
        skill: Name, description and caps of the document.
        rng: Seeded generators, as ``World.rng``.
        seed: Seed of every random choice.
        night: Night the candidates are born in, "" in a training run.
        archive: Past train tasks that ``recall_k`` may bring back.
        progress: Watches.
    """

    rollouts: Rollouts
    advisor: Advisor
    settings: OptimizerSettings
    skill: SkillSettings
    rng: Callable[[str | int], Random]
    seed: int = 0
    night: str = ""
    archive: tuple[Task, ...] = ()
    progress: Progress = field(default=silent)

    @property
    def limits(self) -> Limits:
        """Caps on the learned region."""
        return Limits(
            max_tokens=self.skill.max_tokens, max_growth_tokens=self.skill.max_growth_tokens
        )

    def propose(
        self,
        document: str,
        train: Sequence[Task],
        *,
        step: int = 0,
        steps: int = 1,
        memory: Memory | None = None,
    ) -> Proposed:
        """Return the candidates that one step over ``train`` suggests.

        Args:
            document: The live skill document, "" where there is none yet; the first candidate
                then begins a managed one.
            train: Tasks of the train split; at most ``max_train_tasks`` of them are used, by
                score, then in their order.
            step: 0-based number of the step, or of the night; sets the edit budget, and makes
                rollouts of different steps different draws.
            steps: Steps of the whole run.
            memory: What earlier rounds left.

        Raises:
            ValueError: A task does not stand on the train split.
            SkillError: The document's markers do not pair up.
            BackendError: A model could not be asked, or a budget is spent.
        """
        known = memory or Memory()
        base = document or managed_document(self.skill.name, self.skill.description)
        tasks = self._tasks(train)
        attempts = self.rollouts(
            [
                Rollout(task=task, skill=document, draw=step * self.settings.rollouts + number)
                for task in tasks
                for number in range(self.settings.rollouts)
            ]
        )
        found = trials(tasks, attempts)
        budget = edit_budget(self.settings, step, steps)
        self.progress(Tick(stage="reflect", total=len(found)))
        learned = self._learn(found, self.brief(base, budget, known), known)
        made, applied = candidates(
            base,
            learned.edits,
            limits=self.limits,
            night=self.night,
            live=document,
            apart=self.settings.update_mode == "patch",
        )
        self.progress(Tick(stage="reflect", done=len(found), total=len(found)))
        return Proposed(
            candidates=made,
            applied=applied,
            attempts=attempts,
            notes=(*_left_out(attempts), *learned.notes, *_not_applied(applied)),
            patches=learned.patches,
            merged=learned.merged,
            ranking=learned.ranking,
            budget=budget,
        )

    def brief(self, document: str, budget: int | None, memory: Memory) -> Brief:
        """Return the standing of a step for the optimizer."""
        return Brief(
            document=document,
            budget=budget,
            rejected=tuple(one.words for one in memory.rejected),
            meta=memory.meta if self.settings.meta_skill else "",
            preferences=self.settings.preferences,
            thrift=self.settings.weight_tokens > 0 or self.settings.weight_seconds > 0,
        )

    def learn(self, meta: str, *, accepted: Sequence[Edit], rejected: Sequence[Edit]) -> str:
        """Return the meta skill after a round, see ``meta.learn``."""
        if not self.settings.meta_skill:
            return meta
        return learn(self.advisor, meta, accepted=accepted, rejected=rejected)

    def _tasks(self, train: Sequence[Task]) -> tuple[Task, ...]:
        for task in train:
            if task.split is not Split.TRAIN:
                raise ValueError(
                    f"task {task.id!r} is {task.split}; only train may be learned from"
                )
        able = [task for task in train if task.checks]
        best = sorted(able, key=lambda task: -task.score)[: self.settings.max_train_tasks]
        chosen = [task for task in able if task in best]
        chosen += recall(chosen, self.archive, self.settings.recall_k)
        return (*chosen, *dream(self.advisor, chosen, self.settings.dream_factor))

    def _learn(self, found: Sequence[Trial], brief: Brief, memory: Memory) -> _Learned:
        if not found:
            return _Learned(notes=("no train task was attempted with a score",))
        if self.settings.update_mode == "full_rewrite":
            return self._rewrite_each(found, brief)
        reflection = reflect(self.advisor, brief, found, self.settings)
        kept, dropped = _without_rejected(reflection, memory.rejected)
        merged = aggregate(self.advisor, brief, kept, width=self.settings.aggregate_width)
        fresh = tuple(edit for edit in merged if not rejects(memory.rejected, edit))
        autonomous = self.settings.schedule == "autonomous"
        chosen = select(self.advisor, brief, fresh, autonomous=autonomous)
        edits = chosen.edits
        if self.settings.update_mode == "rewrite":
            anew = rewrite(self.advisor, brief, edits)
            edits = tuple(edit for edit in anew if not rejects(memory.rejected, edit))
        return _Learned(
            edits=edits,
            patches=(*reflection.failures, *reflection.successes),
            merged=merged,
            ranking=chosen.ranking,
            notes=_notes(reflection, dropped + len(merged) - len(fresh), chosen),
        )

    def _rewrite_each(self, found: Sequence[Trial], brief: Brief) -> _Learned:
        """Let each minibatch rewrite the rules that the one before it left."""
        edits: tuple[Edit, ...] = ()
        patches: list[Patch] = []
        now = brief
        for batch in minibatches(found, self.settings.minibatch_size):
            patch = rewrite_from_trials(self.advisor, now, batch)
            patches.append(patch)
            edits += patch
            now = replace(now, document=apply_all(now.document, patch, limits=self.limits))
        return _Learned(edits=edits, patches=tuple(patches), merged=edits, ranking=edits)


def _without_rejected(
    reflection: Reflection, rejected: Sequence[RejectedEdit]
) -> tuple[Reflection, int]:
    def kept(patches: Sequence[Patch]) -> tuple[Patch, ...]:
        left = (tuple(e for e in patch if not rejects(rejected, e)) for patch in patches)
        return tuple(patch for patch in left if patch)

    now = replace(
        reflection, failures=kept(reflection.failures), successes=kept(reflection.successes)
    )
    return now, _count(reflection) - _count(now)


def _count(reflection: Reflection) -> int:
    return sum(len(patch) for patch in (*reflection.failures, *reflection.successes))


def _notes(reflection: Reflection, dropped: int, chosen: Selection) -> tuple[str, ...]:
    notes: list[str] = []
    if reflection.silent:
        silent = _some(reflection.silent, "minibatch", "minibatches")
        notes.append(f"{silent} of trials gave no usable answer")
    if dropped:
        notes.append(f"{_some(dropped, 'edit', 'edits')} dropped: the like was rejected before")
    if not chosen.ranking:
        notes.append("the optimizer proposed no edit that could be tried")
    elif len(chosen.edits) < len(chosen.ranking):
        notes.append(f"{_some(len(chosen.ranking), 'edit', 'edits')} {chosen.how}")
    return tuple(notes)


def _some(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _left_out(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    failed = sum(one.failure is not None for one in attempts)
    if not failed:
        return ()
    return (f"{failed} of {len(attempts)} train attempts failed and were left out",)


def _not_applied(applied: Sequence[Applied]) -> tuple[str, ...]:
    return tuple(
        f"an edit was not applied ({one.status}): {one.reason}"
        for one in applied
        if one.status is not ApplyStatus.APPLIED
    )
