"""``doctor`` and ``status``: what is well, what is not, and what to do next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from skillopt_sleep import __version__
from skillopt_sleep.config import Config
from skillopt_sleep.cycle.lock import is_locked
from skillopt_sleep.engine.setup import Setup
from skillopt_sleep.model.night import Night, NightStatus
from skillopt_sleep.model.status import Finding, ModelStatus, Status
from skillopt_sleep.sources import SOURCES
from skillopt_sleep.staging.decide import live_path
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.files import FileStore
from skillopt_sleep.store.nights import NightStore
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.store.tasks import TaskStore
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True)
class Doctor:
    """Looks at everything and changes nothing."""

    world: World
    config: Config
    database: Database

    def status(self) -> Status:
        """Return how things stand for the project the user stands in."""
        project = str(self.world.roots.cwd)
        night = NightStore(self.database).last(project=project)
        waiting = tuple(p.number for p in ProposalStore(self.database).open(project=project))
        sessions = dict(SessionStore(self.database).count())
        tasks = Counter(str(task.split) for task in TaskStore(self.database).all(project=project))
        models = Setup(self.world, self.config).models()
        return Status(
            version=__version__,
            project=project,
            data=str(self.database.path),
            sessions=sessions,
            tasks=dict(sorted(tasks.items())),
            last_night=night,
            running=is_locked(self.world),
            open_proposals=waiting,
            models=models,
            skill=str(self._skill()),
            next_step=_next_step(bool(sum(sessions.values())), models, night, waiting),
        )

    def findings(self) -> tuple[Finding, ...]:
        """Return one finding per thing a night needs, in the order of need."""
        setup = Setup(self.world, self.config)
        found = [
            Finding(
                name="database", ok=True, words=f"{self.database.path} opens and is up to date"
            ),
            self._logs(),
            *(_model_finding(model) for model in setup.models()),
            _agreement(setup.models()),
            Finding(name="skill", ok=True, words=str(self._skill())),
        ]
        return (*found, *self._drift())

    def _skill(self) -> str:
        skill = self.config.settings.skill
        roots = self.world.roots
        return str(live_path(skill.target, name=skill.name, project=roots.cwd, home=roots.home))

    def _logs(self) -> Finding:
        names = self.config.settings.harvest.sources or SOURCES.names()
        counts = {name: sum(1 for _ in SOURCES.factory(name)().files(self.world)) for name in names}
        there = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
        return Finding(
            name="logs",
            ok=bool(there),
            words=f"{there} files"
            if there
            else f"no agent logs below {str(self.world.roots.home)!r}; name a place with --home",
        )

    def _drift(self) -> list[Finding]:
        unknown = FileStore(self.database).skipped()
        if not unknown:
            return []
        worst = sorted(unknown.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
        kinds = ", ".join(f"{kind} ({count})" for kind, count in worst)
        return [Finding(name="formats", ok=True, words=f"unknown kinds passed over: {kinds}")]


def _agreement(models: tuple[ModelStatus, ...]) -> Finding:
    places = {model.host for model in models if model.host}
    if not places:
        return Finding(name="agreement", ok=True, words="nothing would leave this machine")
    if all(model.consent for model in models):
        return Finding(name="agreement", ok=True, words=f"agreed to: {', '.join(sorted(places))}")
    return Finding(
        name="agreement",
        ok=False,
        words="text would go to a place that nobody agreed to; run 'skillopt-sleep setup'",
    )


def _model_finding(model: ModelStatus) -> Finding:
    if not model.backend:
        return Finding(
            name=model.role, ok=False, words="no model is chosen; run 'skillopt-sleep setup'"
        )
    key = "" if model.key == "not needed" else f", key from {model.key}"
    if model.key == "missing":
        return Finding(
            name=model.role,
            ok=False,
            words=f"{model.backend} needs a key and none is set; see 'skillopt-sleep setup --help'",
        )
    where = model.host or "this machine"
    return Finding(name=model.role, ok=True, words=f"{model.backend} {model.model} at {where}{key}")


def _next_step(
    harvested: bool,
    models: tuple[ModelStatus, ...],
    night: Night | None,
    waiting: tuple[int, ...],
) -> str:
    if waiting:
        return f"review with 'skillopt-sleep show {waiting[0]}'"
    if not all(model.backend and model.consent for model in models):
        return "choose a model and agree to what is sent: 'skillopt-sleep setup'"
    if night is not None and night.status is NightStatus.WAITING:
        return "answer the waiting prompts, then run 'skillopt-sleep night' again"
    if not harvested:
        return "'skillopt-sleep harvest' reads your agents' logs"
    return "'skillopt-sleep dry-run' shows what a night would do, 'skillopt-sleep night' does it"
