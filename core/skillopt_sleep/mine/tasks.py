"""Makes tasks and clusters of groups: prompt, context, score, route and provenance."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillopt_sleep.config import MineSettings
from skillopt_sleep.mine import recurring
from skillopt_sleep.mine.checks import checkability
from skillopt_sleep.mine.episodes import repository
from skillopt_sleep.mine.groups import Group
from skillopt_sleep.mine.routing import Route, route, skill_documents
from skillopt_sleep.mine.tokens import script, words
from skillopt_sleep.model.check import Evidence
from skillopt_sleep.model.episode import Episode
from skillopt_sleep.model.task import Cluster, Split, Task
from skillopt_sleep.world import World

_SHORT = 12
_QUOTE = 500
_LANGUAGES = {
    ".py": "Python",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".js": "JavaScript",
    ".jsx": "JavaScript",
    ".go": "Go",
    ".rs": "Rust",
    ".java": "Java",
    ".kt": "Kotlin",
    ".rb": "Ruby",
    ".php": "PHP",
    ".cs": "C#",
    ".cpp": "C++",
    ".c": "C",
    ".swift": "Swift",
    ".sql": "SQL",
}


@dataclass(slots=True, kw_only=True)
class Maker:
    """Makes the tasks of one mining and remembers where it routed them.

    Attributes:
        world: Clock and folders.
        settings: Half life of recurrence.
        sides: Task id to side.
    """

    world: World
    settings: MineSettings
    sides: Mapping[str, Split]
    _routes: dict[str, Route] = field(default_factory=dict[str, Route])
    _documents: dict[str, dict[str, Path]] = field(default_factory=dict[str, dict[str, Path]])

    def tasks(self, group: Group) -> list[Task]:
        """Return one task per episode of ``group``, oldest first."""
        score = self.score(group)
        return [self._task(group, episode, score) for episode in group.episodes]

    def cluster(self, group: Group) -> Cluster:
        """Return ``group`` as the cluster that people see."""
        found = group.episodes
        return Cluster(
            id=group.id,
            name=group.name,
            sessions=len({episode.session for episode in found}),
            harnesses=tuple(sorted({episode.harness for episode in found})),
            repositories=tuple(sorted({episode.cwd for episode in found if episode.cwd})),
            friction=recurring.friction(found),
            score=self.score(group),
            tasks=tuple(episode.id for episode in found),
        )

    def score(self, group: Group) -> float:
        """Return recurrence times friction times checkability, >= 0.

        Friction is smoothed, (bad + 1/2) / (all + 1), so that a request that always went well
        still has a rank; without a check the score is 0.
        """
        count = len(group.episodes)
        trouble = (recurring.friction(group.episodes) * count + 0.5) / (count + 1)
        often = recurring.recurrence_score(
            group.episodes, now=self.world.now(), half_life_days=self.settings.half_life_days
        )
        return round(often * trouble * checkability(group.checks), 6)

    def notes(self) -> list[str]:
        """Return one sentence per skill to which tasks were routed, and one on unclear cases."""
        counts = Counter(found.skill for found in self._routes.values())
        named = sorted((skill, count) for skill, count in counts.items() if skill)
        notes = [f"{count} tasks belong to the skill {skill!r}" for skill, count in named]
        unclear = Counter(
            found.reason
            for found in self._routes.values()
            if not found.skill and found.reason != "its session used no skill"
        )
        notes += [
            f"{count} tasks go to the managed skill: {reason}"
            for reason, count in sorted(unclear.items())
        ]
        return notes

    def _task(self, group: Group, episode: Episode, score: float) -> Task:
        found = self._routes[episode.id] = route(episode.skills, self._skills(episode.cwd))
        quoted = Evidence(
            session=episode.session, turn=episode.request.index, quote=episode.text[:_QUOTE]
        )
        signals = tuple(signal.evidence for signal in episode.signals)
        return Task(
            id=episode.id,
            cluster=group.id,
            prompt=episode.text,
            context=context(episode),
            checks=group.checks,
            split=self.sides[episode.id],
            session=episode.session,
            harness=episode.harness,
            repository=episode.cwd,
            commit=episode.commit,
            at=episode.at,
            score=score,
            skill=found.skill,
            evidence=tuple(dict.fromkeys((quoted, *signals))),
        )

    def _skills(self, cwd: str) -> dict[str, Path]:
        if cwd not in self._documents:
            folder = Path(cwd) if cwd else self.world.roots.cwd
            self._documents[cwd] = skill_documents(self.world, folder)
        return self._documents[cwd]


def context(episode: Episode) -> str:
    """Return what an attempt has to know: the repository, its language, and earlier words.

    Earlier words of the human are given only to a request too short to stand alone; corrections
    are never among them, since they would give the answer away.
    """
    lines: list[str] = []
    if name := repository(episode.cwd):
        endings = Counter(
            _LANGUAGES[ending]
            for call in episode.calls
            for file in call.files
            if (ending := os.path.splitext(file)[1].lower()) in _LANGUAGES
        )
        language = f" ({endings.most_common(1)[0][0]})" if endings else ""
        lines.append(f"Repository: {name}{language}")
    size = len(episode.text) / 3 if script(episode.text) else len(words(episode.text))
    if episode.context and size <= _SHORT:
        lines.append(f"Earlier the user said:\n{episode.context}")
    return "\n".join(lines)
