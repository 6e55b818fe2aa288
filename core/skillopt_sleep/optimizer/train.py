"""A training run: steps over epochs, each decided on held-out tasks, with slow and meta updates.

The steps are the trainer's, the same as a night's. What is random is seeded by place in the run,
so that a run which was killed and resumed gives the same as one that was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2

from skillopt_sleep.codec import plain, text_hash
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.gate.policies import word
from skillopt_sleep.model.apply import apply_edits
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.progress import Tick
from skillopt_sleep.model.proposal import Candidate
from skillopt_sleep.model.rejected import HALF_LIFE, fresh, rejections, with_rejected
from skillopt_sleep.model.task import Task
from skillopt_sleep.model.usage import NO_USAGE, Usage
from skillopt_sleep.optimizer.course import Course, RunState, StepRecord, TrainOutcome
from skillopt_sleep.optimizer.evaluate import evaluate
from skillopt_sleep.optimizer.runfolder import RunFolder
from skillopt_sleep.optimizer.score import SkillScore, evaluate_skill
from skillopt_sleep.optimizer.slow import guide, sort_trials
from skillopt_sleep.optimizer.trainer import Memory
from skillopt_sleep.optimizer.trials import Trial, trials
from skillopt_sleep.optimizer.update import candidate
from skillopt_sleep.replay import Rollout, Rollouts


def train(course: Course) -> TrainOutcome:
    """Train from the course's initial document, or go on where its folder stands.

    Raises:
        ConfigError: There is nothing to train or to judge on, or the folder is another run's.
        BusyError: Another process trains in this folder.
        BackendError: A model could not be asked, a budget is spent, or too many attempts failed;
            run again to resume.
    """
    if not course.train or not course.held_out:
        raise ConfigError(
            f"found {len(course.train)} train and {len(course.held_out)} held-out tasks; at least"
            " one of each is wanted"
        )
    folder = RunFolder(course.folder)
    with folder.held():
        folder.begin(course.config)
        return _Run(course, folder).finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    decision: str
    reason: str
    live: float
    score: SkillScore


class _Counted:
    """Rollouts that remember what their attempts cost, each attempt once."""

    def __init__(self, inner: Rollouts, *, usage: Usage, counted: Sequence[str]) -> None:
        self._inner = inner
        self.usage = usage
        self.counted = dict.fromkeys(counted)

    def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
        attempts = self._inner(wanted)
        for one in attempts:
            if one.id not in self.counted:
                self.counted[one.id] = None
                self.usage += one.usage
        return attempts


class _Run:
    def __init__(self, course: Course, folder: RunFolder) -> None:
        self._course = course
        self._folder = folder
        before = folder.state()
        self._before = dict(before.totals) if before else {}
        self._rollouts = _Counted(
            course.trainer.rollouts,
            usage=self._before.pop("attempt", NO_USAGE),
            counted=before.counted if before else (),
        )
        settings = course.trainer.settings.model_copy(update={"max_train_tasks": course.batch})
        self._trainer = replace(course.trainer, rollouts=self._rollouts, settings=settings)
        self._state = before or self._first()

    def finish(self) -> TrainOutcome:
        """Go through all steps that are left and score the outcome."""
        course = self._course
        per_epoch = course.steps_per_epoch + 1
        last = per_epoch * self._trainer.settings.epochs
        while self._state.position < last:
            epoch, place = divmod(self._state.position, per_epoch)
            self._trainer.progress(Tick(stage="train", done=self._state.position, total=last))
            state = self._end_epoch(epoch) if place == per_epoch - 1 else self._step(epoch, place)
            self._keep(replace(state, position=self._state.position + 1))
        state = self._state
        tests = [
            evaluate_skill(self._rollouts, document, course.test)
            for document in (course.initial, state.best)
            if course.test
        ]
        self._keep(state)
        outcome = TrainOutcome(
            best=state.best,
            baseline=state.baseline,
            final=state.best_score,
            test_baseline=tests[0] if tests else None,
            test_final=tests[1] if tests else None,
            history=state.history,
            totals=self._totals(),
            folder=str(self._folder.path),
        )
        self._folder.save_scores(outcome)
        return outcome

    def _first(self) -> RunState:
        initial = self._course.initial
        score = self._score(initial)
        return RunState(
            position=0,
            current=initial,
            best=initial,
            baseline=score,
            current_score=score,
            best_score=score,
        )

    def _keep(self, state: RunState) -> None:
        self._state = replace(state, totals=self._totals(), counted=tuple(self._rollouts.counted))
        self._folder.save(self._state)

    def _totals(self) -> dict[str, Usage]:
        totals = {**self._before, "attempt": self._rollouts.usage}
        for name, used in self._trainer.advisor.spent.items():
            totals[name] = totals.get(name, NO_USAGE) + used
        return dict(sorted(totals.items()))

    def _score(self, document: str) -> SkillScore:
        score = evaluate_skill(self._rollouts, document, self._course.held_out)
        if score.failure_share > self._course.max_failure_share or not score.attempts:
            total = score.attempts + score.failed
            raise BackendError(
                f"{score.failed} of {total} held-out attempts failed, more than a share of"
                f" {self._course.max_failure_share:g}; see to the model and run again to resume",
                fault=Fault.UNREACHABLE,
            )
        return score

    def _step(self, epoch: int, place: int) -> RunState:
        course, state, trainer = self._course, self._state, self._trainer
        step = epoch * course.steps_per_epoch + place
        proposed = trainer.propose(
            state.current,
            self._batch(epoch, place),
            step=step,
            steps=course.steps,
            memory=Memory(rejected=state.rejected, meta=state.meta),
        )
        self._folder.save_step(step, proposed)
        record = StepRecord(
            epoch=epoch, step=step, kind="step", budget=proposed.budget, notes=proposed.notes
        )
        # Last comes the union, which is what a benchmark step tries.
        made = proposed.candidates[-1] if proposed.candidates else None
        return self._decided(record, made, f"steps/{step:04d}/decision")

    def _batch(self, epoch: int, place: int) -> list[Task]:
        order = list(self._course.train)
        self._trainer.rng(f"{self._trainer.seed}:order:{epoch}").shuffle(order)
        size = self._course.batch
        return order[place * size : (place + 1) * size]

    def _decided(self, record: StepRecord, made: Candidate | None, name: str) -> RunState:
        state = self._state
        if made is None:
            now = replace(record, reason="nothing to try", skill_hash=text_hash(state.current))
            self._folder.save_note(name, plain(now))
            return replace(state, history=(*state.history, now))
        said = self._word(made)
        record = replace(
            record,
            edits=made.edits,
            decision=said.decision,
            reason=said.reason,
            live=said.live,
            candidate=said.score.by(self._course.gate.metric),
        )
        state = self._taken(made, said) if said.decision == "accept" else self._refused(made, said)
        record = replace(record, skill_hash=text_hash(state.current))
        self._folder.save_note(name, plain(record))
        return replace(state, history=(*state.history, record))

    def _taken(self, made: Candidate, said: _Word) -> RunState:
        state = replace(
            self._state,
            current=made.content,
            current_score=said.score,
            accepted_now=(*self._state.accepted_now, *made.edits),
        )
        if self._worth(said.score) > self._worth(state.best_score):
            return replace(state, best=made.content, best_score=said.score)
        return state

    def _refused(self, made: Candidate, said: _Word) -> RunState:
        if said.decision != "reject":
            return self._state
        # Half of a rejection is forgotten from one epoch to the next.
        now = HALF_LIFE * (self._state.position // (self._course.steps_per_epoch + 1))
        new = rejections(made.edits, now)
        return replace(
            self._state,
            rejected=with_rejected(self._state.rejected, new, now),
            rejected_now=(*self._state.rejected_now, *made.edits),
        )

    def _word(self, made: Candidate) -> _Word:
        """Let the gate decide; with weights on tokens or time, by the weighted score."""
        course, state = self._course, self._state
        score = self._score(made.content)
        (judged,) = evaluate(
            live=state.current,
            candidates=[made],
            held_out=course.held_out,
            rollouts=self._rollouts,
            settings=course.gate,
            uses={},
            rng=self._trainer.rng(f"{self._trainer.seed}:gate:{state.position}"),
        )
        live = state.current_score.by(course.gate.metric)
        settings = self._trainer.settings
        if course.gate.policy != "strict" or not (
            settings.weight_tokens or settings.weight_seconds
        ):
            return _Word(
                decision=word(judged.decision),
                reason=judged.decision.reason,
                live=live,
                score=score,
            )
        gain = self._worth(score) - self._worth(state.current_score)
        return _Word(
            decision="accept" if gain > 0 else "reject",
            reason=f"the score weighted with cost moved by {gain:+.4f}",
            live=live,
            score=score,
        )

    def _worth(self, score: SkillScore) -> float:
        """Return the gate's metric, with each halving of tokens or seconds worth its weight."""
        settings, baseline = self._trainer.settings, self._state.baseline
        worth = score.by(self._course.gate.metric)
        for weight, now, then in (
            (settings.weight_tokens, score.tokens, baseline.tokens),
            (settings.weight_seconds, score.seconds, baseline.seconds),
        ):
            if weight and now > 0 and then > 0:
                worth += weight * max(-1.0, min(1.0, log2(then / now)))
        return worth

    def _end_epoch(self, epoch: int) -> RunState:
        before = self._state
        state = self._slow(epoch) if self._trainer.settings.slow_update else before
        meta = self._trainer.learn(
            state.meta, accepted=state.accepted_now, rejected=state.rejected_now
        )
        self._folder.save_note(f"epochs/{epoch:02d}/meta", {"before": state.meta, "after": meta})
        return replace(
            state,
            meta=meta,
            last_epoch=state.current,
            rejected=fresh(state.rejected, HALF_LIFE * (epoch + 1)),
            accepted_now=(),
            rejected_now=(),
        )

    def _slow(self, epoch: int) -> RunState:
        """Set guidance from what changed since last epoch; nothing if the document did not."""
        state, trainer = self._state, self._trainer
        if state.last_epoch is None or state.last_epoch == state.current:
            return state
        some = list(self._course.train)
        trainer.rng(f"{trainer.seed}:slow:{epoch}").shuffle(some)
        some = some[: trainer.settings.slow_items]
        draw = self._course.steps * trainer.settings.rollouts + epoch
        old, new = (self._trials(some, text, draw) for text in (state.last_epoch, state.current))
        memory = Memory(rejected=state.rejected, meta=state.meta)
        edit = guide(trainer.advisor, trainer.brief(state.current, None, memory), old, new)
        kinds = {
            kind: [now.task.id for _, now in pairs] for kind, pairs in sort_trials(old, new).items()
        }
        name = f"epochs/{epoch:02d}/slow"
        self._folder.save_note(name, {"tasks": kinds, "edit": plain(edit) if edit else None})
        record = StepRecord(
            epoch=epoch, step=(epoch + 1) * self._course.steps_per_epoch - 1, kind="slow"
        )
        made = None
        if edit is not None:
            content, _ = apply_edits(state.current, [edit], limits=trainer.limits)
            if content != state.current:
                made = candidate(state.current, content, [edit], night="")
        return self._decided(record, made, f"{name}-decision")

    def _trials(self, tasks: Sequence[Task], document: str, draw: int) -> tuple[Trial, ...]:
        wanted = [Rollout(task=task, skill=document, draw=draw) for task in tasks]
        return trials(tasks, self._rollouts(wanted))
