"""How a log says that we made it ourselves; knows no format."""

from __future__ import annotations

import re

_FOLDER = re.compile(r"(?:^|[/\\])skillopt-sleep-workspace(?:[/\\]|$)")
_NAME = "skillopt-sleep"


def is_own(cwd: str, *starters: object) -> bool:
    """Return whether a session in ``cwd``, started by a client so named, is a replay of ours."""
    return _FOLDER.search(cwd) is not None or _NAME in starters
