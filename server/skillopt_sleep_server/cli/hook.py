"""``hook``: what a harness's hooks call; quick, and never a reason for a session to fail."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from skillopt_sleep.errors import SleepError

if TYPE_CHECKING:
    from skillopt_sleep.engine import Engine

_TYPED = re.compile(r"\s*[/$](?:skillopt-sleep:)?sleep\s+(adopt|reject|revert)\s+(\d+)\s*")


@click.command()
@click.argument("event", type=click.Choice(["session-start", "session-end", "prompt"]))
@click.option("--source", default="claude", help="Whose logs the session is in.")
def hook(event: str, source: str) -> None:
    """Answer one event of a harness; its JSON comes on stdin."""
    try:
        told: object = json.loads(sys.stdin.read() or "{}")
        if isinstance(told, dict):
            _EVENTS[event](cast("dict[str, Any]", told), source)
    except (SleepError, OSError, ValueError) as error:
        # A hook that fails would disturb the user's session; the next night tells the same again.
        click.echo(f"skillopt-sleep: {error}", err=True)


def _session_start(told: dict[str, Any], _source: str) -> None:
    with _engine(told) as engine:
        waiting = engine.review.open()
    if waiting:
        numbers = ", ".join(str(one.number) for one in waiting)
        click.echo(f"skillopt-sleep: proposals wait for you ({numbers}); /sleep status")


def _session_end(told: dict[str, Any], source: str) -> None:
    """Read the log that was named, or what is new in all logs of the harness."""
    named = told.get("transcript_path")
    path = Path(named) if isinstance(named, str) else None
    with _engine(told) as engine:
        if path is not None and path.is_file():
            engine.archive.harvest(file=path, source=source)
        else:
            engine.archive.harvest(only=(source,))


def _prompt(told: dict[str, Any], _source: str) -> None:
    found = _TYPED.fullmatch(str(told.get("prompt", "")))
    if found is None:
        return
    with _engine(told) as engine:
        engine.review.approve(int(found[2]), found[1], how="prompt")


def _engine(told: dict[str, Any]) -> Engine:
    # Imported only here: a prompt that is no decision must not wait for it.
    from skillopt_sleep.edge import open_engine  # noqa: PLC0415

    folder = told.get("cwd")
    known = isinstance(folder, str) and Path(folder).is_dir()
    return open_engine(project=Path(str(folder)) if known else None)


_EVENTS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "session-start": _session_start,
    "session-end": _session_end,
    "prompt": _prompt,
}
