"""The bundled sample logs copied to a scratch home, their dates moved up to yesterday.

They were written for this project, in the formats of Claude Code 2.1 and Codex 0.171, and hold
nothing of anybody's work.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path

HOME = "/home/sam"
PROJECT = "code/harbor"
LAST = datetime(2026, 11, 27)  # noqa: DTZ001 - a date written in the logs, moved as a whole

_STAMP = re.compile(r"2026-11-(\d\d)T(\d\d:\d\d:\d\d)")


def copy_samples(home: Path, now: datetime) -> Path:
    """Write the sample logs below ``home`` and return the project folder they are about."""
    source = Path(str(files("skillopt_sleep_server.demo"))) / "logs"
    days = (now.replace(tzinfo=None) - timedelta(days=1) - LAST).days
    for path in sorted(source.rglob("*.jsonl")):
        target = home / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8").replace(HOME, str(home))
        target.write_text(_STAMP.sub(lambda m: _moved(m, days), text), encoding="utf-8")
    project = home / PROJECT
    project.mkdir(parents=True, exist_ok=True)
    return project


def _moved(found: re.Match[str], days: int) -> str:
    day = datetime(2026, 11, int(found[1])) + timedelta(days=days)  # noqa: DTZ001
    return f"{day:%Y-%m-%d}T{found[2]}"
