"""Which side of the wall a task stands on: older ones train, newer ones are held out. Pure.

Tasks that must not be parted (of one session, or nearly the same words) stand together. What the
ledger once called train never becomes held out or sealed; the other way is allowed. Knows tasks
only by their key, session, cluster, time and words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from skillopt_sleep.mine.signals import stems
from skillopt_sleep.mine.tokens import fold
from skillopt_sleep.model.task import Split

NEAR = 0.8
"""Jaccard similarity of letter shingles at which two requests count as the same words."""
_SHINGLE = 5
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What the split has to know of a task.

    Attributes:
        task: Task id.
        cluster: Cluster id.
        session: Our session id, or "".
        at: When it was asked, or None.
        text: The request.
    """

    task: str
    cluster: str
    session: str
    at: datetime | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What was decided before.

    Attributes:
        tasks: Task id to its side.
        sessions: Session id to the side that its tasks stood on, also tasks that are gone.
    """

    tasks: Mapping[str, Split] = field(default_factory=dict[str, Split])
    sessions: Mapping[str, Split] = field(default_factory=dict[str, Split])


@dataclass(slots=True)
class _Group:
    members: list[Member]
    side: Split | None = None

    @property
    def at(self) -> datetime:
        return max(m.at or _NEVER for m in self.members)

    @property
    def key(self) -> tuple[datetime, str]:
        return self.at, min(m.task for m in self.members)


def assign(
    members: Sequence[Member], *, ledger: Ledger, sealed_share: float = 0.0
) -> dict[str, Split]:
    """Return the side of each task.

    Args:
        members: Every task, in any order; the order does not matter.
        ledger: What was decided before.
        sealed_share: Share of the groups, the newest ones, that is sealed, in [0, 1).
    """
    groups = [_Group(members=group) for group in _together(members)]
    groups.sort(key=lambda group: group.key)
    for group in groups:
        group.side = _bound(group, ledger)
    free = [group for group in groups if group.side is None]
    sealed = min(int(sealed_share * len(groups)), len(free))
    for group in free[len(free) - sealed :]:
        group.side = Split.SEALED
    _vote(groups, free[: len(free) - sealed])
    return {m.task: group.side or Split.TRAIN for group in groups for m in group.members}


def _bound(group: _Group, ledger: Ledger) -> Split | None:
    sides = {ledger.tasks.get(m.task) for m in group.members}
    sides |= {ledger.sessions.get(m.session) for m in group.members if m.session}
    sides.discard(None)
    if not sides:
        return None
    # Both sealed and held out: the only side that either may go to is train.
    return sides.pop() if len(sides) == 1 else Split.TRAIN


def _vote(groups: Sequence[_Group], free: Sequence[_Group]) -> None:
    """Part the free groups, oldest first, each where most of its members are by age."""
    ranks = _ranks(groups)
    balance = sum((g.side is Split.TRAIN) - (g.side is Split.HELD_OUT) for g in groups)
    for group in free:
        newer = sum(ranks[m.task] - 0.5 for m in group.members)
        if abs(newer) < 1e-9:
            newer = float(balance > 0) - 0.5
        group.side = Split.HELD_OUT if newer > 0 else Split.TRAIN
        balance += 1 if group.side is Split.TRAIN else -1
    if len(free) > 1 and len({g.side for g in groups if g.side is not Split.SEALED}) == 1:
        only_train = free[0].side is Split.TRAIN
        (free[-1] if only_train else free[0]).side = Split.HELD_OUT if only_train else Split.TRAIN


def _ranks(groups: Sequence[_Group]) -> dict[str, float]:
    """Return each task's place among the groups of its cluster by age, in [0, 1]; alone .5."""
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        for cluster in sorted({m.cluster for m in group.members}):
            places.setdefault(cluster, []).append(place)
    ranks: dict[str, float] = {}
    for place, group in enumerate(groups):
        for member in group.members:
            own = places[member.cluster]
            ranks[member.task] = (own.index(place) + 0.5) / len(own)
    return ranks


def _together(members: Sequence[Member]) -> list[list[Member]]:
    ordered = sorted(members, key=lambda m: m.task)
    parent = list(range(len(ordered)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    first_of: dict[tuple[str, str], int] = {}
    for n, member in enumerate(ordered):
        keys = [("text", " ".join(fold(member.text).split()))]
        keys += [("session", member.session)] if member.session else []
        for key in keys:
            parent[root(n)] = root(first_of.setdefault(key, n))
    for one, two in _near([member.text for member in ordered]):
        parent[root(one)] = root(two)
    groups: dict[int, list[Member]] = {}
    for n, member in enumerate(ordered):
        groups.setdefault(root(n), []).append(member)
    return list(groups.values())


def _near(texts: Sequence[str]) -> list[tuple[int, int]]:
    shingles = [_shingles(text) for text in texts]
    by_stem: dict[str, list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for n, text in enumerate(texts):
        met = sorted({m for stem in stems(text) for m in by_stem.get(stem, ())})
        pairs += [(m, n) for m in met if _alike(shingles[m], shingles[n])]
        for stem in stems(text):
            by_stem.setdefault(stem, []).append(n)
    return pairs


def _shingles(text: str) -> frozenset[str]:
    flat = " ".join(fold(text).split())
    return frozenset(flat[i : i + _SHINGLE] for i in range(max(1, len(flat) - _SHINGLE + 1)))


def _alike(one: frozenset[str], two: frozenset[str]) -> bool:
    small, large = sorted((len(one), len(two)))
    if small < NEAR * large:
        return False
    shared = len(one & two)
    return shared >= NEAR * (len(one) + len(two) - shared)


def near_duplicates(one: str, two: str) -> bool:
    """Whether two requests count as the same words."""
    return _alike(_shingles(one), _shingles(two))
