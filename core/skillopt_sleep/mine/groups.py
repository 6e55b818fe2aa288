"""Groups of episodes on their way to tasks, with the checks that judge all their members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_sleep.mine import checks, recurring
from skillopt_sleep.mine.checks import Bench
from skillopt_sleep.model.check import SHAPE_ONLY, Check
from skillopt_sleep.model.episode import Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Episodes that belong together.

    Attributes:
        episodes: Oldest first.
        name: A few words for a human.
        checks: What judges every member.
        id: Cluster id; "" until it has one.
    """

    episodes: tuple[Episode, ...]
    name: str
    checks: tuple[Check, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A group and how many of its checks did not hold."""

    group: Group
    dropped: int


def judged(episodes: Sequence[Episode], bench: Bench) -> Judged:
    """Return a recurring request with the checks that its corrections and commands give."""
    rules = checks.rules(episodes, bench)
    found = checks.merged((*checks.commands(episodes), *rules.checks))
    group = Group(episodes=tuple(episodes), name=recurring.name(episodes), checks=found)
    return Judged(group=group, dropped=rules.dropped)


def by_habit(
    episodes: Sequence[Episode], bench: Bench, *, min_sessions: int
) -> tuple[list[Group], int]:
    """Return groups of unlike requests that were corrected in the same way on several occasions.

    What recurs here is the correction ("use uv"); a rule about form alone is too thin for that.

    Returns:
        The groups, and how many checks did not hold.
    """
    corrected: dict[str, list[Episode]] = {}
    known: dict[str, tuple[Check, ...]] = {}
    dropped = 0
    for episode in episodes:
        trials = checks.rules([episode], bench)
        dropped += trials.dropped
        known[episode.id] = trials.checks
        for check in trials.checks:
            if check.operator not in SHAPE_ONLY:
                corrected.setdefault(check.id, []).append(episode)
    groups: list[Group] = []
    taken: set[str] = set()
    for key in sorted(corrected, key=lambda key: (-len(corrected[key]), key)):
        group = [episode for episode in corrected[key] if episode.id not in taken]
        if recurring.occasions(group) < min_sessions:
            continue
        taken.update(episode.id for episode in group)
        shared = [c for e in group for c in known[e.id] if _in_all(c, group, known)]
        merged = checks.merged(shared)
        label = "corrected: " + "; ".join(c.note or c.value for c in merged)
        groups.append(
            Group(episodes=tuple(recurring.oldest_first(group)), name=label[:80], checks=merged)
        )
    return groups, dropped


def _in_all(check: Check, group: Sequence[Episode], known: dict[str, tuple[Check, ...]]) -> bool:
    return all(any(other.id == check.id for other in known[e.id]) for e in group)
