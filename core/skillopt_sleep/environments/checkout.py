"""A clone of the user's repository as it was when a task was asked; the user's own is only read.

It has no remotes, no hooks, no credentials, and no history later than its commit. The clone's own
``.git`` belongs to the agent, so nothing here trusts its configuration: differences are taken
with a second, untouched copy.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.model.task import Task
from skillopt_sleep.world import Finished, World

LONGEST_DIFF = 200_000
"""Characters of a diff that are kept."""

_TIMEOUT_S = 300.0
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
_CONFIG = """
[core]
\tbare = false
\thooksPath = /dev/null
[user]
\tname = Workspace
\temail = workspace@localhost
[commit]
\tgpgsign = false
[credential]
\thelper =
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """What a task is attempted on.

    Attributes:
        repository: Top folder of the user's repository.
        inside: Folder below it that the task was asked in, "." for the top.
        commit: Full id of the commit.
        note: What is not as the log had it, one sentence, or "".
    """

    repository: Path
    inside: str
    commit: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Why a task's repository cannot be had, in one sentence."""

    reason: str


def locate(world: World, task: Task) -> Spot | Lost:
    """Return where and at which commit ``task`` can be attempted; reads only."""
    folder = Path(task.repository)
    if not task.repository or not folder.is_dir():
        return Lost(reason=f"the folder {task.repository!r} is not there")
    top = _git(world, folder, "rev-parse", "--show-toplevel")
    if top.code:
        return Lost(reason=f"{task.repository!r} is no git repository")
    repository = Path(top.stdout.strip()).resolve()
    try:
        inside = folder.resolve().relative_to(repository).as_posix()
    except ValueError:
        return Lost(reason=f"{task.repository!r} lies outside its repository")
    commit, note = _commit(world, repository, task)
    if not commit:
        return Lost(reason=f"{task.repository!r} has no commit")
    return Spot(repository=repository, inside=inside, commit=commit, note=note)


def _commit(world: World, repository: Path, task: Task) -> tuple[str, str]:
    if task.commit:
        there = _rev(world, repository, "--verify", "-q", f"{task.commit}^{{commit}}")
        if there:
            return there, ""
        why = f"the commit {task.commit[:12]} is gone"
    else:
        why = "the log names no commit"
    if task.at is not None:
        before = f"--before={task.at.isoformat()}"
        last = _git(world, repository, "rev-list", "-1", before, "HEAD").stdout.strip()
        if last:
            return last, f"{why}; the last one before it was asked was taken, {last[:12]}"
    head = _rev(world, repository, "--verify", "-q", "HEAD^{commit}")
    return head, f"{why}; the present one was taken, {head[:12]}" if head else why


def _rev(world: World, repository: Path, *arguments: str) -> str:
    found = _git(world, repository, "rev-parse", *arguments)
    return "" if found.code else found.stdout.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A clone below a folder of ours.

    Attributes:
        world: Runs git.
        spot: What it is a clone of.
        top: The folder that holds it and what belongs to it.
    """

    world: World
    spot: Spot
    top: Path

    @property
    def root(self) -> Path:
        """The clone's top folder; it has the name of the user's."""
        return self.top / "clone" / self.spot.repository.name

    @property
    def folder(self) -> Path:
        """The folder in the clone that the task was asked in."""
        return self.root / self.spot.inside

    @property
    def _untouched(self) -> Path:
        return self.top / "untouched.git"

    def make(self) -> str:
        """Make the clone; return why that failed, in one sentence, or ""."""
        bare, commit = self._untouched, self.spot.commit
        fetch = ("fetch", "-q", "--no-tags", "--no-auto-gc", str(self.spot.repository), commit)
        for words in (
            ("init", "-q", "--bare", "-b", "main", "--template=", str(bare)),
            (f"--git-dir={bare}", "-c", "protocol.version=2", *fetch),
            (f"--git-dir={bare}", "update-ref", "refs/heads/main", commit),
        ):
            if failed := _why(_git(self.world, self.top, *words)):
                return failed
        (bare / "FETCH_HEAD").unlink(missing_ok=True)
        self.root.mkdir(parents=True)
        shutil.copytree(bare, self.root / ".git")
        with (self.root / ".git" / "config").open("a", encoding="utf-8") as config:
            config.write(_CONFIG)
        if failed := _why(_git(self.world, self.root, "reset", "-q", "--hard", "main")):
            return failed
        self.folder.mkdir(parents=True, exist_ok=True)
        return ""

    def diff(self, *, without: Sequence[str] = ()) -> str:
        """Return what changed since the commit, as a unified diff, cut at ``LONGEST_DIFF``.

        Args:
            without: Folders, below the folder of the task, whose changes are ours.
        """
        if self.root.is_symlink() or not self.root.is_dir():
            return ""
        inside = "" if self.spot.inside == "." else f"{self.spot.inside}/"
        ours = [f":(top,exclude,literal){inside}{one}" for one in without]
        where = (f"--git-dir={self._untouched}", f"--work-tree={self.root}")
        index = {"GIT_INDEX_FILE": str(self.top / "index")}
        plain = ("diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "main")
        for words in (("read-tree", "main"), ("add", "-A", "--", ":(top)", *ours)):
            if _git(self.world, self.root, *where, *words, more=index).code:
                return ""
        made = _git(self.world, self.root, *where, *plain, "--", ":(top)", *ours, more=index)
        return made.stdout[:LONGEST_DIFF]


def _git(world: World, folder: Path, *words: str, more: dict[str, str] | None = None) -> Finished:
    """Run git with nobody's configuration but the repository's, and without asking anybody."""
    env = {
        "PATH": world.env.get("PATH", ""),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        **(more or {}),
    }
    argv = ["git", *_SAFE, *words]
    try:
        return world.run(argv, cwd=folder, env=env, timeout_s=_TIMEOUT_S)
    except FileNotFoundError:
        return Finished(code=127, stdout="", stderr="git is not installed")


def _why(finished: Finished) -> str:
    if not finished.code:
        return ""
    last = (finished.stderr.strip() or f"git ended with {finished.code}").splitlines()[-1]
    return f"the commit could not be cloned: {last[:200]}"
