"""Which episodes are the same request that came up again, and how much that matters.

Sets aside what is no request or comes from a machine, groups the rest, and keeps a group only if
it spans enough sessions on different occasions. Knows nothing of checks.
"""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import regex

from skillopt_sleep.mine.commands import bare, parts
from skillopt_sleep.mine.recurrence import Embed, cluster
from skillopt_sleep.mine.signals import accepts, continues, stems
from skillopt_sleep.mine.tokens import fold, script, words
from skillopt_sleep.model.episode import Episode

OCCASION = timedelta(hours=1)
"""Sessions begun closer together than this are one occasion: a restart, not a recurrence."""
_GREETINGS = frozenset(
    ("hi", "hello", "hey", "hallo", "hoi", "bonjour", "salut", "hola", "ciao", "oi", "olá", "ola")
)
_GREETINGS_MORE = frozenset(("test", "ping", "hej", "привет", "cześć", "merhaba", "there"))
_ERROR_CLASS = regex.compile(r"\b[A-Z]\w*(?:Error|Exception|Panic)\b")
_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """Episodes sorted into those that may recur and those set aside.

    Attributes:
        requests: May recur, in a stable order.
        idle: How many were greetings, praise or copies of a resumed session.
        automation: How many came from a machine, by the same words too often a day.
        sources: Folders in which such automation runs, with an example.
    """

    requests: tuple[Episode, ...]
    idle: int = 0
    automation: int = 0
    sources: tuple[tuple[str, str], ...] = ()


def sort_out(episodes: Sequence[Episode], *, per_day: int) -> Sorted:
    """Return ``episodes`` without copies, idle words and automation; order does not matter."""
    unique: dict[tuple[object, ...], Episode] = {}
    for episode in sorted(episodes, key=lambda e: (e.at or _EARLY, e.id)):
        if is_request(episode.text):
            # A resumed or forked log repeats earlier turns with their times.
            where = episode.at if episode.at is not None else episode.id
            unique.setdefault((episode.text, where, episode.harness), episode)
    counts = Counter(_machine_key(episode) for episode in unique.values())
    loud = {key for key, count in counts.items() if count > per_day}
    kept = tuple(e for e in unique.values() if _machine_key(e) not in loud)
    return Sorted(
        requests=kept,
        idle=len(episodes) - len(unique),
        automation=len(unique) - len(kept),
        sources=tuple(sorted({(key[2], key[0][:_NAME]) for key in loud})),
    )


_EARLY = datetime.min.replace(tzinfo=UTC)


def _machine_key(episode: Episode) -> tuple[str, str, str]:
    day = episode.at.date().isoformat() if episode.at else ""
    return " ".join(fold(episode.text).split()), day, episode.cwd


def is_request(text: str) -> bool:
    """Whether ``text`` asks for anything; a greeting, praise or "go on" does not."""
    said = words(text)
    if not said or continues(text):
        return False
    if script(text):
        return not (accepts(text) and len(text) <= 15)
    if all(word in _GREETINGS or word in _GREETINGS_MORE or word.isdigit() for word in said):
        return False
    return not (accepts(text) and len(said) <= 4)


def occasions(episodes: Sequence[Episode]) -> int:
    """Return on how many occasions, in sessions of their own, something was asked."""
    first: dict[str, datetime | None] = {}
    for episode in episodes:
        known = first.get(episode.session)
        if episode.session not in first or (known and episode.at and episode.at < known):
            first[episode.session] = episode.at
    timed = sorted(at for at in first.values() if at is not None)
    count, last = len(first) - len(timed), None
    for at in timed:
        if last is None or at - last >= OCCASION:
            count, last = count + 1, at
    return count


def recurring(
    requests: Sequence[Episode], *, min_sessions: int, embed: Embed | None = None
) -> list[list[Episode]]:
    """Return the groups that recur, each oldest first, the groups by their oldest member."""
    if not requests:
        return []
    labels = cluster(
        [episode.text for episode in requests],
        sides=[sides(episode) for episode in requests],
        groups=[episode.cwd for episode in requests],
        embed=embed,
    )
    groups: dict[int, list[Episode]] = {}
    for label, episode in zip(labels, requests, strict=True):
        groups.setdefault(label, []).append(episode)
    found = [oldest_first(g) for g in groups.values() if occasions(g) >= min_sessions]
    return sorted(found, key=lambda group: (group[0].at or _EARLY, group[0].id))


def oldest_first(group: Sequence[Episode]) -> list[Episode]:
    """Return ``group`` by time, then id."""
    return sorted(group, key=lambda episode: (episode.at or _EARLY, episode.id))


def sides(episode: Episode) -> frozenset[str]:
    """Return what is known of a request beside its words: tools, programs, endings, errors."""
    return frozenset(_sides(episode))


def _sides(episode: Episode) -> Iterator[str]:
    for call in episode.calls:
        yield f"tool {call.name.lower()}"
        for simple in parts(call.command):
            yield f"ran {' '.join(bare(simple)[:1])}"
        for file in call.files:
            if ending := os.path.splitext(file)[1]:
                yield f"file {ending.lower()}"
        if call.error:
            for name in _ERROR_CLASS.findall(call.output):
                yield f"error {name}"


def medoid(group: Sequence[Episode]) -> Episode:
    """Return the member most like the others, the oldest of equals."""
    known = [stems(episode.text) for episode in group[:50]]

    def closeness(n: int) -> float:
        return sum(len(known[n] & other) / max(1, len(known[n] | other)) for other in known)

    best = max(range(len(known)), key=lambda n: (closeness(n), -n))
    return group[best]


def name(group: Sequence[Episode]) -> str:
    """Return a few words for a human: the medoid's first line, cut."""
    line = " ".join(medoid(group).text.split())
    return line if len(line) <= _NAME else line[: _NAME - 1].rstrip() + "…"


def friction(group: Sequence[Episode]) -> float:
    """Return the share of episodes in which something went wrong, in [0, 1]."""
    return sum(episode.friction for episode in group) / len(group) if group else 0.0


def recurrence_score(group: Sequence[Episode], *, now: datetime, half_life_days: float) -> float:
    """Return the sessions of ``group``, each counting half as much per half life of age."""
    newest: dict[str, datetime] = {}
    for episode in group:
        at = episode.at or now - timedelta(days=half_life_days)
        newest[episode.session] = max(at, newest.get(episode.session, at))
    ages = [max(0.0, (now - at).total_seconds() / 86400) for at in newest.values()]
    return float(sum(0.5 ** (age / half_life_days) for age in ages))
