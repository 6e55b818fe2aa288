"""Mining: from stored sessions to tasks that recur, with checks, sides and a funnel.

A few calls in order, each a function of values; works without a model and uses one if it is
given. Does not read logs, replay or judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillopt_sleep.backends import Backend
from skillopt_sleep.config import MineSettings
from skillopt_sleep.mine import recurring, splits
from skillopt_sleep.mine.checks import Bench
from skillopt_sleep.mine.episodes import episodes
from skillopt_sleep.mine.funnel import automation_notes, funnel
from skillopt_sleep.mine.groups import Group, Judged, by_habit, judged
from skillopt_sleep.mine.llm import Miner, carried
from skillopt_sleep.mine.recurrence import persistent_ids
from skillopt_sleep.mine.semantic import load_embedder
from skillopt_sleep.mine.tasks import Maker
from skillopt_sleep.model.episode import Episode
from skillopt_sleep.model.mined import Mined
from skillopt_sleep.model.session import Origin, Session
from skillopt_sleep.model.task import Cluster, Split, Task
from skillopt_sleep.store.tasks import TaskStore
from skillopt_sleep.world import World

NEVER = frozenset({Origin.OWN, Origin.SUBAGENT, Origin.AUTOMATION})
"""Sessions of these origins are never mined, whatever the settings ask for."""


def mine(
    sessions: Sequence[Session],
    *,
    world: World,
    settings: MineSettings,
    store: TaskStore,
    backend: Backend | None,
    project: str,
) -> Mined:
    """Return what recurs in ``sessions`` and store it as the tasks of ``project``.

    Args:
        sessions: In any order; ids and sides do not depend on it.
        world: Clock, folders of skills, and what the judges need.
        settings: What counts as recurring.
        store: Keeps tasks, cluster ids and the ledger of sides.
        backend: Names clusters and drafts checks; None works offline.
        project: Folder for which the tasks are kept.

    Raises:
        AnswersWantedError: The backend is a handoff and waits for answers.
        ConfigError: Semantic mining is asked for and no encoder is there.
        StoreError: The database cannot be used.
    """
    mined = [s for s in sessions if s.origin in settings.origins and s.origin not in NEVER]
    found = [e for s in sorted(mined, key=lambda s: s.id) for e in episodes(s)]
    sorted_out = recurring.sort_out(found, per_day=settings.automation_per_day)
    bench = Bench(world)
    groups, dropped_checks = _groups(sorted_out.requests, settings, bench)
    groups = _named(groups, store.memberships(project=project))
    fresh = {episode.id for group in groups for episode in group.episodes}
    held = [task for task in store.held_by_person(project=project) if task.id not in fresh]
    sides = _sides(groups, held, ledger=_ledger(store), sealed_share=settings.sealed_share)
    sessions_of = {e.id: e.session for group in groups for e in group.episodes}
    store.record_splits(sides, sessions=sessions_of, now=world.now())
    notes = list(automation_notes(sorted_out.sources, settings.automation_per_day))
    miner = Miner(backend, bench) if backend is not None and settings.use_model else None
    groups = _drafted(groups, miner, sides, store, project)
    if miner is not None:
        miner.require_answers()
        notes += miner.notes()
        dropped_checks += miner.dropped
    maker = Maker(world=world, settings=settings, sides=sides)
    held = [replace(task, split=sides[task.id]) for task in held]
    tasks = store.replace(
        [*(task for group in groups for task in maker.tasks(group)), *held],
        [maker.cluster(group) for group in groups],
        project=project,
    )
    notes += maker.notes()
    steps = funnel(
        sessions=sessions, mined=mined, sorted_out=sorted_out, groups=groups, tasks=tasks
    )
    if dropped_checks:
        notes.append(
            f"{dropped_checks} checks were dropped: the log speaks against them or is silent"
        )
    kept = {task.id for task in tasks}
    return Mined(
        tasks=tasks,
        clusters=_kept(store.clusters(project=project), kept),
        funnel=steps,
        notes=tuple(notes),
    )


def _kept(clusters: Sequence[Cluster], tasks: set[str]) -> tuple[Cluster, ...]:
    left = (replace(c, tasks=tuple(t for t in c.tasks if t in tasks)) for c in clusters)
    return tuple(cluster for cluster in left if cluster.tasks)


def _groups(
    requests: Sequence[Episode], settings: MineSettings, bench: Bench
) -> tuple[list[Group], int]:
    embed = load_embedder(settings.semantic_folder) if settings.semantic else None
    recur = recurring.recurring(requests, min_sessions=settings.min_sessions, embed=embed)
    done: list[Judged] = [judged(group, bench) for group in recur]
    taken = {episode.id for group in recur for episode in group}
    alone = [episode for episode in requests if episode.id not in taken]
    habits, dropped = by_habit(alone, bench, min_sessions=settings.min_sessions)
    return [one.group for one in done] + habits, dropped + sum(one.dropped for one in done)


def _named(groups: Sequence[Group], previous: dict[str, str]) -> list[Group]:
    ids = persistent_ids([[e.id for e in group.episodes] for group in groups], previous)
    return [replace(group, id=found) for group, found in zip(groups, ids, strict=True)]


def _sides(
    groups: Sequence[Group], held: Sequence[Task], *, ledger: splits.Ledger, sealed_share: float
) -> dict[str, Split]:
    members = [
        splits.Member(task=e.id, cluster=group.id, session=e.session, at=e.at, text=e.text)
        for group in groups
        for e in group.episodes
    ]
    members += [
        splits.Member(task=t.id, cluster=t.cluster, session=t.session, at=t.at, text=t.prompt)
        for t in held
    ]
    return splits.assign(members, ledger=ledger, sealed_share=sealed_share)


def _ledger(store: TaskStore) -> splits.Ledger:
    return splits.Ledger(tasks=store.splits(), sessions=store.session_splits())


def _drafted(
    groups: Sequence[Group],
    miner: Miner | None,
    sides: dict[str, Split],
    store: TaskStore,
    project: str,
) -> list[Group]:
    """Return ``groups`` with the model's drafts, or else with those of an earlier mining."""
    names = {cluster.id: cluster.name for cluster in store.clusters(project=project)}
    checks = {task.cluster: task.checks for task in store.all(project=project)}
    done: list[Group] = []
    for group in groups:
        better = miner.improved(group, _train(group, sides)) if miner is not None else None
        old = (names.get(group.id, ""), checks.get(group.id, ()))
        done.append(carried(group, *old) if better is None else better)
    return done


def _train(group: Group, sides: dict[str, Split]) -> list[Episode]:
    return [episode for episode in group.episodes if sides[episode.id] is Split.TRAIN]
