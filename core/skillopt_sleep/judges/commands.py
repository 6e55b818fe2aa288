"""Checks that run in the attempt's own workspace: a command passes, a file holds a text.

An outcome without a workspace cannot be judged here, which is an error and no verdict. The
command gets a bare environment; whoever made the workspace decides what else it may reach.
"""

from __future__ import annotations

from pathlib import Path

from skillopt_sleep.backends import Backend
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.judges import Judge
from skillopt_sleep.judges.rules import contains
from skillopt_sleep.judges.substance import lacks_substance
from skillopt_sleep.model.attempt import Outcome, Verdict
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.world import Finished, World

TIMEOUT_S = 600.0
SEPARATOR = "::"
"""Between path and text in the value of a ``file_contains`` check."""

_LARGEST_FILE = 5_000_000
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


class CommandsJudge:
    """Decides the operators ``command_passes`` and ``file_contains``."""

    def __init__(self, world: World, _backend: Backend | None = None) -> None:
        self._world = world

    def verdict(self, check: Check, task: Task, outcome: Outcome) -> Verdict:
        """Return whether ``outcome`` meets ``check``; see ``Judge.verdict``."""
        if not outcome.workspace:
            raise BackendError(
                f"check {check.id!r} looks at files and the attempt made none; replay the task in"
                " a workspace, or drop the check",
                fault=Fault.REFUSED,
            )
        if poor := lacks_substance(outcome):
            return Verdict(check=check.id, passed=False, share=0.0, reason=poor)
        folder = Path(outcome.workspace)
        match check.operator:
            case Operator.COMMAND_PASSES:
                passed, reason = self._passes(check, folder)
            case Operator.FILE_CONTAINS:
                passed, reason = _holds(check, folder)
            case _:
                raise ConfigError(
                    f"the judge 'commands' does not know the operator {check.operator!r}"
                )
        return Verdict(check=check.id, passed=passed, share=float(passed), reason=reason)

    def _passes(self, check: Check, folder: Path) -> tuple[bool, str]:
        env = {name: self._world.env[name] for name in _PASSED_ON if name in self._world.env}
        finished = self._world.run(
            ["sh", "-c", check.value],
            cwd=folder,
            env={**env, "HOME": str(folder)},
            timeout_s=TIMEOUT_S,
        )
        if finished.timed_out:
            return False, f"{check.value!r} did not end within {TIMEOUT_S:g} s"
        return finished.code == 0, f"{check.value!r} ended with {finished.code}{_last(finished)}"


def _last(finished: Finished) -> str:
    lines = (finished.stderr.strip() or finished.stdout.strip()).splitlines()
    return f": {lines[-1][:200]}" if lines and finished.code else ""


def _holds(check: Check, folder: Path) -> tuple[bool, str]:
    name, separator, wanted = check.value.partition(SEPARATOR)
    if not separator or not wanted:
        raise ConfigError(
            f"check {check.id!r} has {check.value!r}; write it as 'path{SEPARATOR}text'"
        )
    path = (folder / name.strip()).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ConfigError(f"check {check.id!r} names {name!r}, which lies outside the workspace")
    if not path.is_file():
        return False, f"there is no file {name!r}"
    with path.open("rb") as stream:
        text = stream.read(_LARGEST_FILE).decode(errors="replace")
    there = contains(text, wanted.strip())
    return there, f"{name!r} {'holds' if there else 'does not hold'} {wanted.strip()!r}"


_CONFORMS: type[Judge] = CommandsJudge
