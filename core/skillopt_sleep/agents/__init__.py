"""What is known of the agent CLIs: find one and its version; knows no task and no skill."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from skillopt_sleep.world import World

_NUMBER = re.compile(r"\d+\.\d+[\w.\-]*")
_PATIENCE_S = 10.0


def find_version(world: World, program: str) -> str:
    """Return the version that ``program --version`` prints, or "" where it is not installed."""
    path = shutil.which(program, path=world.env.get("PATH", ""))
    if path is None:
        return ""
    # Some clients write into their home even when asked for their version.
    with tempfile.TemporaryDirectory() as home:
        env = {**world.env, "HOME": home, "CODEX_HOME": home, "COPILOT_HOME": home}
        finished = world.run([path, "--version"], cwd=Path(home), env=env, timeout_s=_PATIENCE_S)
    found = _NUMBER.search(finished.stdout)
    return found.group().rstrip(".") if found else ""
