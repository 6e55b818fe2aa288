"""The nights desk: run one, forecast one, report on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillopt_sleep.backends.forecast import Load, forecast
from skillopt_sleep.config import Config
from skillopt_sleep.cycle import run_night
from skillopt_sleep.cycle.prepare import make_plan, mined
from skillopt_sleep.engine.jobs import Jobs
from skillopt_sleep.engine.review import Review
from skillopt_sleep.engine.setup import Setup
from skillopt_sleep.errors import BusyError
from skillopt_sleep.files import PRIVATE_FILE, make_private, write_atomic
from skillopt_sleep.model.check import Operator
from skillopt_sleep.model.night import Night, NightOptions, NightStatus
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.proposal import Proposal, ProposalStatus
from skillopt_sleep.model.status import Job
from skillopt_sleep.model.task import Task
from skillopt_sleep.pool import Cancel
from skillopt_sleep.report import night_json, night_markdown
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.staging.stage import unified_diff
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.nights import NightStore
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.world import World

BACKED_BY = 2
"""Auto-adoption needs so many sessions, on so many days, that asked for the rule."""


@dataclass(frozen=True, slots=True)
class Nights:
    """Runs nights and tells of them."""

    world: World
    config: Config
    database: Database

    def run(
        self,
        options: NightOptions,
        *,
        progress: Progress = silent,
        cancel: Cancel | None = None,
    ) -> Night:
        """Run one night, or go on with one that was cut off.

        Raises:
            ConsentError: Text would go to a place that nobody agreed to.
            ConfigError: No model is chosen, or one is not fully described.
            BusyError: Another process runs a night on this project.
        """
        Setup(self.world, self.config).require()
        night = run_night(
            self.world,
            self.config.settings,
            self.database,
            options,
            cancel=cancel or Cancel(),
            progress=progress,
        )
        if self.config.settings.gate.auto_adopt:
            night = self._auto_adopt(night)
        self.write(night)
        return night

    def forecast(self, options: NightOptions, *, progress: Progress = silent) -> Night:
        """Return what a night would work on and cost; no model is called, nothing is staged."""
        settings = self.config.settings
        Setup(self.world, self.config).models()
        begun = self.world.now()
        if options.harvest:
            harvest(self.world, self.database, settings.harvest, only=options.only)
        found = mined(self.world, settings, self.database, backend=None, progress=progress)
        plan = make_plan(self.world, settings, self.database, found, night="")
        named = bool(settings.target.name)
        load = _load(plan.train, plan.held_out, plan.live)
        return Night(
            id="forecast",
            project=str(self.world.roots.cwd),
            started_at=begun,
            ended_at=self.world.now(),
            status=NightStatus.DONE if plan.tasks else NightStatus.NOTHING,
            reason="this is a forecast; no model was called",
            funnel=plan.funnel,
            notes=(*plan.notes, *(() if named else ("no model is chosen, so no price is known",))),
            forecast=forecast(settings, load).figures() if named else {},
        )

    def detach(self, arguments: Sequence[str]) -> Job:
        """Start a night in a process of its own, or return the one that runs already.

        Args:
            arguments: Options of the command ``night``.

        Raises:
            ConsentError: Text would go to a place that nobody agreed to.
            ConfigError: No model is chosen.
        """
        Setup(self.world, self.config).require()
        jobs = Jobs(self.world)
        try:
            return jobs.running() or jobs.start(arguments)
        except OSError as error:
            raise BusyError(
                f"the night could not be started: {error}; run 'skillopt-sleep night' in a terminal"
            ) from error

    def last(self) -> Night | None:
        """Return this project's newest night, or None."""
        return NightStore(self.database).last(project=str(self.world.roots.cwd))

    def all(self) -> tuple[Night, ...]:
        """Return this project's nights, oldest first."""
        return NightStore(self.database).all(project=str(self.world.roots.cwd))

    def report(self, night: Night) -> str:
        """Return the morning report as Markdown."""
        proposals = self._proposals(night)
        return night_markdown(night, proposals, {p.number: unified_diff(p) for p in proposals})

    def report_json(self, night: Night) -> dict[str, Any]:
        """Return the morning report as JSON-ready values."""
        proposals = self._proposals(night)
        tree: dict[str, Any] = night_json(
            night, proposals, {p.number: unified_diff(p) for p in proposals}
        )
        return tree

    def _proposals(self, night: Night) -> tuple[Proposal, ...]:
        store = ProposalStore(self.database)
        return tuple(store.get(number) for number in night.proposals)

    def write(self, night: Night) -> None:
        """Keep the report beside the database, for a person to find."""
        folder = make_private(self.world.roots.data / "nights" / night.id)
        write_atomic(folder / "report.md", self.report(night).encode(), mode=PRIVATE_FILE)

    def _auto_adopt(self, night: Night) -> Night:
        """Adopt what the user allowed to be: strong, clean, asked for on several days."""
        review = Review(self.world, self.config, self.database)
        notes: list[str] = []
        for proposal in self._proposals(night):
            if _may_adopt_itself(proposal):
                review.adopt(proposal.number, human="gate.auto_adopt", reason="auto-adopted")
                notes.append(f"proposal {proposal.number} was adopted by gate.auto_adopt")
        told = replace(night, notes=(*night.notes, *notes))
        NightStore(self.database).save(told)
        return told


def _may_adopt_itself(proposal: Proposal) -> bool:
    facts = proposal.extra
    return (
        proposal.status is ProposalStatus.SUPPORTED
        and proposal.evidence.policy == "evidence"
        and not proposal.flags
        and facts.get("auto") == "yes"
        and facts.get("strong") == "yes"
        and int(facts.get("sessions", "0")) >= BACKED_BY
        and int(facts.get("days", "0")) >= BACKED_BY
    )


def _load(train: Sequence[Task], held_out: Sequence[Task], live: str) -> Load:
    tasks = [*train, *held_out]
    words = sum(len(task.prompt) + len(task.context) for task in tasks) // 4
    rubrics = sum(check.operator is Operator.RUBRIC for task in tasks for check in task.checks)
    count = max(1, len(tasks))
    return Load(
        train=len(train),
        held_out=len({task.cluster for task in held_out}),
        rubrics=rubrics / count,
        task_tokens=words // count,
        skill_tokens=len(live) // 4,
    )
