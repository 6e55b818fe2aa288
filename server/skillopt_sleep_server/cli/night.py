"""``night`` (alias ``run``) and ``dry-run``: one full cycle, or what it would cost."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import click

from skillopt_sleep.engine import Cancel, Engine
from skillopt_sleep.errors import SleepError
from skillopt_sleep.model.night import Night, NightOptions, NightStatus
from skillopt_sleep_server.cli.face import (
    BUDGET_CODE,
    FAILED_CODE,
    WAITING_CODE,
    Face,
    command,
    refuse,
)

F = TypeVar("F", bound=Callable[..., Any])

CODES = {
    NightStatus.DONE: 0,
    NightStatus.NOTHING: 0,
    NightStatus.WAITING: WAITING_CODE,
    NightStatus.BUDGET: BUDGET_CODE,
    NightStatus.VOID: FAILED_CODE,
    NightStatus.CANCELLED: FAILED_CODE,
    NightStatus.FAILED: FAILED_CODE,
    NightStatus.RUNNING: FAILED_CODE,
}


def model_options(run: F) -> F:
    """Give a command the options that choose models, budget and gate for this run."""
    options = (
        click.option("--backend", default=None, help="How the target model is reached."),
        click.option("--model", default=None, help="Target model."),
        click.option("--base-url", default=None, help="Where it listens."),
        click.option("--optimizer-backend", default=None, help="[default: as the target]"),
        click.option("--optimizer-model", default=None),
        click.option("--optimizer-base-url", default=None),
        click.option("--target", default=None, help="Skill file to train."),
        click.option("--gate", default=None, type=click.Choice(["evidence", "strict", "off"])),
        click.option("--max-calls", default=None, type=click.IntRange(1), help="Hard cap."),
        click.option(
            "--max-dollars", default=None, type=click.FloatRange(0, min_open=True), help="Hard cap."
        ),
    )
    for option in reversed(options):
        run = option(run)
    return run


_SETTING_OF = {
    "backend": "target.name",
    "model": "target.model",
    "base_url": "target.base_url",
    "optimizer_backend": "optimizer_backend.name",
    "optimizer_model": "optimizer_backend.model",
    "optimizer_base_url": "optimizer_backend.base_url",
    "target": "skill.target",
    "gate": "gate.policy",
    "max_calls": "budget.calls",
    "max_dollars": "budget.dollars",
}


def flags_of(options: dict[str, object]) -> dict[str, object]:
    """Return the options of ``model_options`` as dotted settings."""
    return {_SETTING_OF[name]: value for name, value in options.items() if value is not None}


@click.command()
@click.option("--source", "sources", multiple=True, help="Harvest only this source.")
@click.option("--no-harvest", is_flag=True, help="Work on what the archive holds.")
@click.option("--fresh", is_flag=True, help="Begin anew although a night was cut off.")
@click.option("--seed", type=int, default=None)
@click.option("--job", default=None, hidden=True, help="Told by the one that started this worker.")
@model_options
@command
def night(
    face: Face,
    sources: tuple[str, ...],
    seed: int | None,
    job: str | None,
    *,
    no_harvest: bool,
    fresh: bool,
    **models: object,
) -> None:
    """Run one night: harvest, mine, replay, reflect, gate, stage."""
    face.flags.update(flags_of(models))
    options = NightOptions(seed=seed, only=sources, harvest=not no_harvest, fresh=fresh)
    with face.engine() as engine:
        cancel = stop_on_signals()
        if job is None:
            ended = engine.nights.run(options, progress=face.progress(), cancel=cancel)
            _show(face, engine, ended)
        else:
            ended = _work(face, engine, options, job, cancel)
    raise SystemExit(CODES[ended.status])


def _work(face: Face, engine: Engine, options: NightOptions, job: str, cancel: Cancel) -> Night:
    """Run a job's night and print its outcome before the job's lock is let go.

    Whoever follows the job takes a worker that holds no lock and has said nothing for dead.
    """
    with engine.jobs.working(job, cancel) as progress:
        try:
            ended = engine.nights.run(options, progress=progress, cancel=cancel)
        except SleepError as error:
            refuse(face, error)
        _show(face, engine, ended)
    return ended


@click.command("dry-run")
@click.option("--source", "sources", multiple=True, help="Harvest only this source.")
@model_options
@command
def dry_run(face: Face, sources: tuple[str, ...], **models: object) -> None:
    """Show what a night would work on and cost, without a single model call."""
    face.flags.update(flags_of(models))
    with face.engine() as engine:
        planned = engine.nights.forecast(NightOptions(only=sources), progress=face.progress())
        _show(face, engine, planned)


def _show(face: Face, engine: Engine, ended: Night) -> None:
    face.give(engine.nights.report_json(ended))
    face.say(engine.nights.report(ended))


def stop_on_signals() -> Cancel:
    """Return a flag that is raised when this process is asked to end."""
    cancel = Cancel()

    def stop(_number: int, _frame: FrameType | None) -> None:
        cancel.request()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return cancel
