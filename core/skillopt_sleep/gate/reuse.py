"""Which held-out tasks may test which candidate: those that are fresh for it.

It keeps no record and knows no nights: ``store/candidates.py`` does, and names the tasks that have
served their share of gates and belong to train.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from math import ceil

from skillopt_sleep.model.task import Task
from skillopt_sleep.world import Random

Uses = Mapping[str, Set[str]]
"""Task id to the ids of the candidates it has tested."""


def fresh(task: str, candidate: str, uses: Uses) -> bool:
    """Return whether a task has not tested this candidate yet."""
    return candidate not in uses.get(task, ())


def draw(
    held_out: Sequence[Task],
    candidates: Sequence[str],
    uses: Uses,
    *,
    nights: int,
    rng: Random,
) -> tuple[tuple[Task, ...], ...]:
    """Return the clusters to test on tonight, in random order, each with its members for tonight.

    Only members that are fresh for at least one of the candidates count; never-used ones come
    first. A cluster gives its share for one of ``nights``, at least one member, so that its
    members can serve as separate evidence on different nights.

    Args:
        held_out: Held-out tasks, several of a cluster allowed.
        candidates: Ids of those to be tested.
        uses: What each task has tested before tonight.
        nights: How many nights the members of a cluster should last.
        rng: Decides the order; equal seeds give equal orders.
    """
    clusters: dict[str, list[Task]] = defaultdict(list)
    for task in sorted(held_out, key=lambda one: (len(uses.get(one.id, ())), one.id)):
        if any(fresh(task.id, candidate, uses) for candidate in candidates):
            clusters[task.cluster].append(task)
    tonight = [
        tuple(clusters[name][: ceil(len(clusters[name]) / nights)]) for name in sorted(clusters)
    ]
    rng.shuffle(tonight)
    # The sort is stable: random among those used equally often, never-used ones first.
    return tuple(sorted(tonight, key=lambda members: len(uses.get(members[0].id, ()))))
