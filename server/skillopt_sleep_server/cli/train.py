"""``train``, ``eval`` and ``transfer``: a skill trained on given tasks, scored, tried elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from skillopt_sleep.engine import Elsewhere, plain, read_skill
from skillopt_sleep_server.cli.face import Face, command
from skillopt_sleep_server.cli.night import stop_on_signals

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path, dir_okay=False)
_SPLITS = click.Choice(["train", "val", "test"])


def configured(run: F) -> F:
    """Give a command ``--config`` and ``-o``."""
    run = click.option(
        "-o", "overrides", multiple=True, metavar="A.B=VALUE", help="Set one value."
    )(run)
    return click.option(
        "--config", "path", type=_FILE, required=True, help="YAML or TOML, see docs/optimizer.md."
    )(run)


@click.command()
@configured
@command
def train(face: Face, path: Path, overrides: tuple[str, ...]) -> None:
    """Train a skill on train tasks, judged on held-out ones; run again to resume."""
    with face.engine() as engine:
        outcome = engine.training.train(
            path, overrides, progress=face.progress(), cancel=stop_on_signals()
        )
    face.give(plain(outcome))
    for one in outcome.history:
        face.say(
            f"step {one.step:<4} {one.kind:<5} {one.decision:<8} {one.live:.3f} ->"
            f" {one.candidate:.3f}  {one.reason}"
        )
    face.say(f"held out: hard {outcome.baseline.hard:.3f} -> {outcome.final.hard:.3f}")
    if outcome.test_baseline is not None and outcome.test_final is not None:
        face.say(f"test: hard {outcome.test_baseline.hard:.3f} -> {outcome.test_final.hard:.3f}")
    face.say(f"the best skill is {outcome.folder}/best_skill.md")


@click.command("eval")
@configured
@click.option("--skill", type=_FILE, help="Skill document [default: none].")
@click.option("--split", type=_SPLITS, default="val", show_default=True)
@click.option("-k", "draws", type=click.IntRange(1), default=1, help="Tries of each task.")
@command
def evaluate(
    face: Face, path: Path, overrides: tuple[str, ...], skill: Path | None, split: str, draws: int
) -> None:
    """Score one skill on a split."""
    document = read_skill(skill) if skill else ""
    with face.engine() as engine:
        score = engine.training.score(
            path,
            overrides,
            document=document,
            split=split,
            draws=draws,
            progress=face.progress(),
        )
    face.give(plain(score))
    within = (
        f" [{score.interval.low:.3f}, {score.interval.high:.3f}]"
        if score.interval and draws == 1
        else ""
    )
    face.say(
        f"hard {score.hard:.3f}{within}, soft {score.soft:.3f} on {score.attempts} attempts;"
        f" {score.failed} failed; {score.tokens:.0f} tokens, {score.seconds:.1f} s an attempt"
    )


@click.command()
@configured
@click.option("--skill", "skills", type=_FILE, multiple=True, help="Skill document.")
@click.option("--model", "models", multiple=True, help="Model of the configured backend.")
@click.option("--harness", "harnesses", multiple=True, help="Agent that works in a clone.")
@click.option("--split", type=_SPLITS, default="test", show_default=True)
@click.option("-k", "draws", type=click.IntRange(1), default=1, help="Tries of each task.")
@command
def transfer(
    face: Face,
    path: Path,
    overrides: tuple[str, ...],
    skills: tuple[Path, ...],
    *,
    split: str,
    draws: int,
    **where: tuple[str, ...],
) -> None:
    """Score skills, and no skill, on each model and harness."""
    places = [
        Elsewhere(model=model, harness=harness)
        for model in where["models"] or ("",)
        for harness in where["harnesses"] or ("",)
    ]
    with face.engine() as engine:
        cells = engine.training.transfer(
            path,
            overrides,
            skills={str(skill): read_skill(skill) for skill in skills},
            places=places,
            split=split,
            draws=draws,
            progress=face.progress(),
        )
    face.give({"cells": [plain(one) for one in cells]})
    for one in cells:
        face.say(
            f"{one.skill or 'no skill':<30} {one.model:<24} {one.harness:<12}"
            f" hard {one.score.hard:.3f} soft {one.score.soft:.3f} gain {one.gain:+.3f}"
        )
