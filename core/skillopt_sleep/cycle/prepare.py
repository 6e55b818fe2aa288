"""From logs to a pinned plan: mining, the live skill, and what earlier nights left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from skillopt_sleep.backends import Backend
from skillopt_sleep.config import Settings
from skillopt_sleep.cycle.carry import carry
from skillopt_sleep.cycle.plan import NightPlan
from skillopt_sleep.errors import SkillError
from skillopt_sleep.files import read_or_none
from skillopt_sleep.mine.mining import mine
from skillopt_sleep.model.apply import Limits
from skillopt_sleep.model.mined import Mined
from skillopt_sleep.model.progress import Progress, Tick
from skillopt_sleep.model.rejected import RejectedEdit
from skillopt_sleep.model.skill import managed_document
from skillopt_sleep.model.task import Task
from skillopt_sleep.staging.decide import live_path
from skillopt_sleep.staging.stage import mark_stale
from skillopt_sleep.store.candidates import CandidateStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.nights import FactStore
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.store.rejected import RejectedStore
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.store.tasks import TaskStore
from skillopt_sleep.world import World

CARRIED = ("pending", "unproven", "untested", "growing")
"""Words of the gate, or its silence, with which a candidate goes on to the next night."""


def mined(
    world: World,
    settings: Settings,
    database: Database,
    *,
    backend: Backend | None,
    progress: Progress,
) -> Mined:
    """Return what recurs in the project the user stands in, or everywhere if so set."""
    project = str(world.roots.cwd)
    everywhere = settings.mine.everywhere
    progress(Tick(stage="mine"))
    sessions = tuple(SessionStore(database).sessions(repository="" if everywhere else project))
    found = mine(
        sessions,
        world=world,
        settings=settings.mine,
        store=TaskStore(database),
        backend=backend,
        project=project,
    )
    progress(Tick(stage="mine", done=len(found.tasks), total=len(found.tasks)))
    return found


def make_plan(
    world: World,
    settings: Settings,
    database: Database,
    found: Mined,
    *,
    night: str,
    pick: Callable[[Sequence[Task]], Sequence[Task]] = tuple,
) -> NightPlan:
    """Return what a night works on; stale proposals and candidates are marked so.

    Args:
        world: Folders and clock.
        settings: All settings.
        database: The store.
        found: What recurs.
        night: The night's id.
        pick: Which of the tasks the skill is trained on.

    Raises:
        SkillError: The live skill is not UTF-8 text.
        StagingError: The live skill is no regular file, or a link out of project and home.
    """
    project, skill = str(world.roots.cwd), settings.skill
    target = live_path(
        skill.target, name=skill.name, project=world.roots.cwd, home=world.roots.home
    )
    before = read_live(target)
    candidates = CandidateStore(database)
    waiting = candidates.carried(project=project, skill_name=skill.name, statuses=CARRIED)
    carried = carry(
        waiting,
        live=before or "",
        fresh_base=managed_document(skill.name, skill.description),
        limits=Limits(max_tokens=skill.max_tokens, max_growth_tokens=skill.max_growth_tokens),
    )
    for name in carried.stale:
        candidates.settle(name, "stale")
    proposals = ProposalStore(database)
    mark_stale(proposals, project=project, target=str(target), live=before)
    adopted = proposals.adopted(project=project, target=str(target))
    watched = adopted[-1] if adopted and adopted[-1].after == before else None
    tasks = tuple(pick([task for task in found.tasks if task.checks]))
    return NightPlan(
        before=before,
        target=str(target),
        tasks=tasks,
        carried=carried.candidates,
        uses=candidates.uses(without=night),
        looks=candidates.uses(without=night, silent=True),
        worn=candidates.worn(without=night),
        rejected=rejected(database, project=project, skill_name=skill.name, at=world.now()),
        meta=FactStore(database).get(f"meta:{project}:{skill.name}"),
        previous=(watched.before or "") if watched else None,
        watched=watched.number if watched else 0,
        funnel=found.funnel,
        notes=found.notes,
    )


def rejected(
    database: Database, *, project: str, skill_name: str, at: datetime
) -> tuple[RejectedEdit, ...]:
    """Return the rejected edits that are still remembered, oldest first."""
    return RejectedStore(database).known(project=project, skill_name=skill_name, at=at)


def read_live(target: Path) -> str | None:
    """Return the text of a live skill, None where there is none.

    Raises:
        SkillError: It is not UTF-8 text.
    """
    content = read_or_none(target)
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError as error:
        raise SkillError(
            f"the skill {str(target)!r} is not UTF-8 text ({error.reason} at byte {error.start});"
            " save it as UTF-8, then run again"
        ) from error
