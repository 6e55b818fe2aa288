"""Which existing skill document a task belongs to: the one its session used, if just one did.

Looks into the folders in which the harnesses keep skills; reads names only. What is unclear goes
to the managed skill, which the name "" stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.world import World

FOLDERS = (".claude/skills", ".agents/skills", ".codex/skills", ".github/skills")
"""Where skills lie, below the home folder and below a project."""
_FILE = "SKILL.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a task goes, and why.

    Attributes:
        skill: Name of the skill document, or "" for the managed one.
        reason: One sentence.
    """

    skill: str
    reason: str


def skill_documents(world: World, project: Path) -> dict[str, Path]:
    """Return name to file of every skill found; a project's own goes before the user's.

    Links that lead out of a skill folder are not followed.
    """
    found: dict[str, Path] = {}
    for root in (world.roots.home, project):
        for folder in (root / inner for inner in FOLDERS):
            for file in _files(folder):
                found[file.parent.name] = file
    return found


def _files(folder: Path) -> list[Path]:
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return []
    files = [entry / _FILE for entry in inside if not entry.is_symlink()]
    return [file for file in files if file.is_file() and not file.is_symlink()]


def route(used: Sequence[str], documents: Mapping[str, Path]) -> Route:
    """Return where a task of a session that used these skills goes."""
    known = sorted({name for name in map(_bare, used) if name in documents})
    if len(known) == 1:
        return Route(skill=known[0], reason=f"its session used the skill {known[0]!r}")
    if known:
        several = ", ".join(repr(name) for name in known)
        return Route(skill="", reason=f"its session used several skills ({several})")
    if used:
        return Route(skill="", reason=f"the skill {_bare(used[0])!r} is not in any skill folder")
    return Route(skill="", reason="its session used no skill")


def _bare(name: str) -> str:
    return name.rpartition(":")[2].strip("/")
