"""Canaries: a good, an idle and a harmful edit sent through the real path before unattended nights.

A few tiny built-in tasks are attempted by the chosen model, judged and put before the gate as any
others are. It shows that models, journal, judges and gate work together; it learns nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_sleep.config import Config
from skillopt_sleep.cycle.cast import assemble
from skillopt_sleep.engine.setup import Setup
from skillopt_sleep.errors import BackendError, Fault
from skillopt_sleep.gate.policies import Accept
from skillopt_sleep.model.apply import apply_edits
from skillopt_sleep.model.check import Check, Operator, Validity
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.proposal import GateEvidence
from skillopt_sleep.model.skill import managed_document
from skillopt_sleep.model.status import Finding
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.optimizer.evaluate import Judged, evaluate
from skillopt_sleep.optimizer.update import candidate
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Replay
from skillopt_sleep.store.database import Database
from skillopt_sleep.world import World

MARK = "Checked: yes"
GOOD = f"End every answer with a line that says {MARK!r}, whatever the request."
IDLE = "Read the request once more before you answer it."

_REQUESTS = (
    "Say in one sentence what a version number is.",
    "Name the command that lists the files of a folder.",
    "Write a line of Python that prints the sum of 2 and 3.",
    "Say in one sentence what a unit test is for.",
    "Name two file formats that hold tables.",
    "Write a commit message for a corrected typing error in the readme.",
    "Say in one sentence what a branch in git is.",
    "Name one reason to pin a dependency.",
)


@dataclass(frozen=True, slots=True)
class Canaries:
    """Sends three edits whose worth is known through the gate."""

    world: World
    config: Config
    database: Database

    def findings(self, progress: Progress = silent) -> tuple[Finding, ...]:
        """Return one finding per canary: good, idle, harmful; about a hundred short calls.

        Raises:
            ConfigError: No model is chosen.
            ConsentError: Text would go to a place that nobody agreed to.
            BackendError: The model could not be asked, or a budget is spent.
        """
        Setup(self.world, self.config).require()
        tasks = tuple(_task(number, request) for number, request in enumerate(_REQUESTS))
        settings = self.config.settings.model_copy(
            update={
                "replay": self.config.settings.replay.model_copy(update={"mode": "prompt"}),
                "gate": self.config.settings.gate.model_copy(update={"policy": "evidence"}),
            }
        )
        cancel = Cancel()
        cast = assemble(
            self.world,
            settings,
            self.database,
            night=f"canary-{self.world.now():%Y%m%d-%H%M%S-%f}",
            cancel=cancel,
            progress=progress,
        )
        replay = cast.replay(tasks)
        plain = managed_document("canary", "Seen by canaries alone.")
        good, _ = apply_edits(plain, [Edit(kind=EditKind.ADD, text=GOOD)])
        idle, _ = apply_edits(plain, [Edit(kind=EditKind.ADD, text=IDLE)])

        def judged(live: str, content: str) -> Judged:
            (one,) = evaluate(
                live=live,
                candidates=[candidate(live, content, [], night=cast.night)],
                held_out=tasks,
                rollouts=replay,
                settings=settings.gate,
                uses={},
                rng=self.world.rng("canary"),
            )
            _must_have_run(replay, settings.budget.max_failure_share)
            return one

        # The harmful one takes the good rule out again, on the same draws.
        return (
            _good(judged(plain, good)),
            _idle(judged(plain, idle)),
            _harmful(judged(good, plain), at=settings.gate.harm_at),
        )


def _task(number: int, request: str) -> Task:
    check = Check(id="mark", operator=Operator.CONTAINS, value=MARK, validity=Validity.REVIEWED)
    name = f"canary-{number}"
    return Task(id=name, cluster=name, prompt=request, checks=(check,), split=Split.HELD_OUT)


def _must_have_run(replay: Replay, most: float) -> None:
    if replay.failure_share > most:
        raise BackendError(
            f"{replay.failure_share:.0%} of the attempts failed; see what the model server says",
            fault=Fault.UNREACHABLE,
        )


def _good(one: Judged) -> Finding:
    ok = isinstance(one.decision, Accept)
    hint = "" if ok else "; the model does not follow a plain rule, so nights would find nothing"
    return Finding(name="good canary", ok=ok, words=f"{_seen(one)}: {one.decision.reason}{hint}")


def _idle(one: Judged) -> Finding:
    ok = not isinstance(one.decision, Accept)
    hint = "" if ok else "; the gate let in an edit that does nothing, so do not adopt unattended"
    return Finding(name="idle canary", ok=ok, words=f"{_seen(one)}: {one.decision.reason}{hint}")


def _harmful(one: Judged, *, at: float) -> Finding:
    evidence = one.candidate.evidence
    ok = evidence is not None and evidence.e_harm >= at and not isinstance(one.decision, Accept)
    hint = "" if ok else "; the loss of a rule goes unseen, so do not adopt unattended"
    return Finding(name="harmful canary", ok=ok, words=f"{_seen(one)}: {one.decision.reason}{hint}")


def _seen(one: Judged) -> str:
    seen: GateEvidence | None = one.candidate.evidence
    return f"{seen.live_mean:.0%} -> {seen.candidate_mean:.0%}" if seen else "nothing was compared"
