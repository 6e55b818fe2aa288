"""What all commands share: where to look, JSON or words, progress on stderr, exit codes."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import click

from skillopt_sleep.edge import open_engine
from skillopt_sleep.engine import Engine
from skillopt_sleep.errors import (
    AnswersWantedError,
    BudgetSpentError,
    BusyError,
    ConfigError,
    ConsentError,
    SkillError,
    SleepError,
    StagingError,
    TaskFileError,
    UnknownPluginError,
)
from skillopt_sleep.model.progress import Progress, Tick, silent

REFUSED = (
    ConfigError,
    ConsentError,
    UnknownPluginError,
    TaskFileError,
    StagingError,
    SkillError,
    BusyError,
)

FAILED_CODE, REFUSED_CODE, WAITING_CODE, BUDGET_CODE = 1, 2, 3, 4


@dataclass(slots=True)
class Face:
    """Where one command looks and how it speaks.

    Attributes:
        as_json: Whether one JSON object goes to stdout, and nothing else.
        home: Folder that holds the harnesses' logs, or None for the user's own.
        project: Project folder, or None for the folder the user stands in.
        flags: Settings from the command line, dotted.
    """

    as_json: bool
    home: Path | None
    project: Path | None
    flags: dict[str, object] = field(default_factory=dict[str, object])

    def engine(self) -> Engine:
        """Open the engine for this command."""
        return open_engine(home=self.home, project=self.project, flags=self.flags)

    def say(self, words: str) -> None:
        """Print words for a human; nothing in JSON mode."""
        if not self.as_json:
            click.echo(words)

    def give(self, tree: Mapping[str, Any]) -> None:
        """Print the command's one JSON object; nothing in word mode."""
        if self.as_json:
            click.echo(json.dumps(tree, ensure_ascii=False, indent=2))

    def progress(self) -> Progress:
        """Return a watcher that draws on stderr when that is a terminal."""
        return _Bar() if sys.stderr.isatty() else silent


class _Bar:
    """One line on stderr, drawn over."""

    def __init__(self) -> None:
        self._stage = ""

    def __call__(self, tick: Tick) -> None:
        """Draw one sign of progress."""
        if self._stage and tick.stage != self._stage:
            sys.stderr.write("\n")
        self._stage = tick.stage
        share = f"{tick.done}/{tick.total}" if tick.total else str(tick.done or "")
        sys.stderr.write(f"\r\x1b[K{tick.stage:<9} {share} {tick.note}"[:120])
        sys.stderr.flush()


def command(run: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--json``, ``--home`` and ``--project`` and turn errors into exit codes."""

    @click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
    @click.option(
        "--home",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Folder that holds .claude, .codex and so on [default: your home].",
    )
    @click.option(
        "--project",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="Project folder [default: the folder you stand in].",
    )
    @functools.wraps(run)
    def wrapped(
        as_json: bool,
        home: Path | None,
        project: Path | None,
        **kwargs: object,
    ) -> None:
        face = Face(as_json=as_json, home=home, project=project)
        try:
            run(face, **kwargs)
        except SleepError as error:
            refuse(face, error)
        except BrokenPipeError:
            raise  # whoever read our output went away; click ends quietly
        except OSError as error:
            refuse(face, SleepError(f"the system said: {error}; mend that, then run this again"))

    return wrapped


def refuse(face: Face, error: SleepError) -> NoReturn:
    """Say what went wrong in one sentence and leave with its exit code."""
    code = exit_code(error)
    if face.as_json:
        kind = type(error).__name__
        face.give({"error": {"kind": kind, "message": str(error), "exit_code": code}})
    else:
        click.echo(f"skillopt-sleep: {error}", err=True)
    raise SystemExit(code)


def exit_code(error: SleepError) -> int:
    """Return 1 failed, 2 refused, 3 waiting for answers, 4 budget spent."""
    if isinstance(error, AnswersWantedError):
        return WAITING_CODE
    if isinstance(error, BudgetSpentError):
        return BUDGET_CODE
    return REFUSED_CODE if isinstance(error, REFUSED) else FAILED_CODE
