"""One night: prepare, propose, sift, test, stage; resumable at every step.

Inputs are pinned at the start and every finished model call and attempt is journaled, so a night
that died goes on where it was and comes to the same end.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from skillopt_sleep.backends.cancelling import CancellingBackend
from skillopt_sleep.config import Settings
from skillopt_sleep.cycle.cast import Cast, assemble
from skillopt_sleep.cycle.finish import Ending, keep_untested, one_proposed, settle
from skillopt_sleep.cycle.lock import project_lock
from skillopt_sleep.cycle.lookback import watched_candidate
from skillopt_sleep.cycle.plan import NightPlan, pin, pinned, unpin
from skillopt_sleep.cycle.prepare import make_plan, mined
from skillopt_sleep.cycle.steps import look_back, propose, sift, test, trainer_of, unite
from skillopt_sleep.errors import (
    AnswersWantedError,
    BackendError,
    BudgetSpentError,
    CancelledError,
)
from skillopt_sleep.gate.lifetime import Trial, account, tonight, trial
from skillopt_sleep.model.night import Night, NightOptions, NightStatus
from skillopt_sleep.model.progress import Progress
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Replay
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.store.candidates import CandidateStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.nights import FactStore, NightStore
from skillopt_sleep.world import World

__all__ = ["run_night"]


def run_night(
    world: World,
    settings: Settings,
    database: Database,
    options: NightOptions,
    *,
    cancel: Cancel,
    progress: Progress,
) -> Night:
    """Run one night on the project the user stands in, or go on with one that was cut off.

    Trouble with models, a spent budget, waiting answers and a cancel are ways for a night to end,
    told by its status; what was finished is kept.

    Raises:
        BusyError: Another process runs a night on this project.
        ConfigError: A model is not fully described.
        SkillError: The live skill cannot be read.
        StoreError: The database cannot be used.
    """
    with project_lock(world):
        night = _begin(world, database, options)
        nights = NightStore(database)
        nights.save(night)
        cast = assemble(world, settings, database, night=night.id, cancel=cancel, progress=progress)
        ended = _run(cast, night, options)
        nights.save(ended)
        if ended.status not in (NightStatus.WAITING, NightStatus.CANCELLED):
            unpin(FactStore(database), night.id)
        return ended


def _begin(world: World, database: Database, options: NightOptions) -> Night:
    project = str(world.roots.cwd)
    unfinished = None if options.fresh else NightStore(database).unfinished(project=project)
    if unfinished is not None:
        return replace(unfinished, status=NightStatus.RUNNING)
    now = world.now()
    name = now.strftime("%Y%m%d-%H%M%S-%f")
    seed = options.seed if options.seed is not None else int(now.timestamp() * 1e6) % 2**31
    return Night(id=name, project=project, started_at=now, seed=seed)


def _run(cast: Cast, night: Night, options: NightOptions) -> Night:
    try:
        return _ended(cast, night, _batch_by_batch(cast, night, options))
    except BudgetSpentError as error:
        ending = Ending(status=NightStatus.BUDGET, reason=str(error))
    except AnswersWantedError as error:
        ending = Ending(status=NightStatus.WAITING, reason=str(error))
    except CancelledError as error:
        ending = Ending(status=NightStatus.CANCELLED, reason=str(error))
    except BackendError as error:
        ending = Ending(status=NightStatus.FAILED, reason=str(error))
    plan = pinned(FactStore(cast.database), night.id)
    funnel = plan.funnel if plan else ()
    return _ended(cast, night, replace(ending, funnel=funnel, notes=plan.notes if plan else ()))


def _batch_by_batch(cast: Cast, night: Night, options: NightOptions) -> Ending:
    # Each round comes as far as the answers of the batches before it reach.
    while True:
        try:
            return _work(cast, night, options)
        except AnswersWantedError:
            if not cast.batches.flush():
                raise


def _work(cast: Cast, night: Night, options: NightOptions) -> Ending:
    plan = _plan(cast, night, options)
    if not plan.tasks:
        return Ending(
            status=NightStatus.NOTHING,
            reason="nothing that recurs in this project can be checked yet; it takes a request that"
            " came up in two sessions, with a correction or a command that shows what is right",
            funnel=plan.funnel,
            notes=plan.notes,
        )
    cast = _under_lifetime(cast, night)
    replay = cast.replay(plan.tasks)
    trainer = trainer_of(cast, replay, night.seed)
    proposed = propose(cast, plan, trainer)
    sifted = sift(cast, plan, proposed, replay)
    try:
        judged = test(cast, plan, sifted.candidates, replay, night.seed)
        union = unite(cast, plan, judged, replay, night.seed)
    except BudgetSpentError:
        keep_untested(cast, sifted.candidates)
        raise
    watched = look_back(cast, plan, watched_candidate(cast, plan), replay, night.seed)
    if (void := _void(cast, replay)) is not None:
        notes = (*plan.notes, *replay.notes)
        return replace(void, funnel=(*plan.funnel, *sifted.funnel), notes=notes)
    ending = settle(cast, plan, proposed, sifted, one_proposed(judged, union), watched, trainer)
    standing = account(
        _trials(cast, until=cast.world.now()),
        now=night.started_at,
        budget=cast.settings.gate.lifetime_budget,
    )
    return replace(ending, notes=(*ending.notes, *replay.notes, standing.sentence))


def _under_lifetime(cast: Cast, night: Night) -> Cast:
    """Return the cast under tonight's share of the lifetime budget."""
    trials = _trials(cast, until=night.started_at)
    gate = tonight(cast.settings.gate, trials, now=night.started_at)
    return replace(cast, settings=cast.settings.model_copy(update={"gate": gate}))


def _trials(cast: Cast, *, until: datetime) -> list[Trial]:
    """Return the candidates that nights begun before ``until`` tested."""
    return [
        trial(candidate, at=at, adopted=status == "adopted", settings=cast.settings.gate)
        for candidate, at, status in CandidateStore(cast.database).judged(project=cast.project)
        if at < until
    ]


def _plan(cast: Cast, night: Night, options: NightOptions) -> NightPlan:
    facts = FactStore(cast.database)
    known = pinned(facts, night.id)
    if known is not None:
        return known
    if options.harvest:
        harvest(cast.world, cast.database, cast.settings.harvest, only=options.only)
    found = mined(
        cast.world,
        cast.settings,
        cast.database,
        backend=CancellingBackend(cast.optimizer, cast.cancel),
        progress=cast.progress,
    )
    plan = make_plan(cast.world, cast.settings, cast.database, found, night=night.id)
    pin(facts, night.id, plan)
    return plan


def _void(cast: Cast, replay: Replay) -> Ending | None:
    most = cast.settings.budget.max_failure_share
    if replay.failure_share <= most:
        return None
    return Ending(
        status=NightStatus.VOID,
        reason=f"{replay.failure_share:.0%} of the attempts failed and {most:.0%} is the most that"
        " a night may lose, so nothing was decided; see what the model server says, then run again",
    )


def _ended(cast: Cast, night: Night, ending: Ending) -> Night:
    return replace(
        night,
        status=ending.status,
        reason=ending.reason,
        ended_at=cast.world.now(),
        funnel=ending.funnel,
        usage=cast.meter.by_stage,
        proposals=ending.proposals,
        notes=ending.notes,
    )
