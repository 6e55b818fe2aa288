"""What is known of the agent CLIs: find one and its version; knows no task and no skill."""

from __future__ import annotations

import re
import shutil

from skillopt_sleep.world import World

_NUMBER = re.compile(r"\d+\.\d+[\w.\-]*")
_PATIENCE_S = 10.0


def find_version(world: World, program: str) -> str:
    """Return the version that ``program --version`` prints, or "" where it is not installed."""
    path = shutil.which(program, path=world.env.get("PATH", ""))
    if path is None:
        return ""
    finished = world.run(
        [path, "--version"], cwd=world.roots.cwd, env=world.env, timeout_s=_PATIENCE_S
    )
    found = _NUMBER.search(finished.stdout)
    return found.group().rstrip(".") if found else ""
