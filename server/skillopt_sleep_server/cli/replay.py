"""``replay``: one task attempted once more, with the trajectory and the verdicts."""

from __future__ import annotations

from pathlib import Path

import click

from skillopt_sleep.engine import plain
from skillopt_sleep.model.attempt import Attempt, Step
from skillopt_sleep.model.task import Task
from skillopt_sleep_server.cli.face import FAILED_CODE, Face, command
from skillopt_sleep_server.cli.night import flags_of, model_options, stop_on_signals

_SHOWN = 2000


@click.command()
@click.argument("task")
@click.option(
    "--skill",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Skill document to attempt it under [default: the live one].",
)
@click.option("--harness", default="", help="Let this agent attempt it in a clone.")
@click.option("-k", "draws", type=click.IntRange(1, 100), default=1, help="How many attempts.")
@model_options
@command
def replay(
    face: Face, task: str, skill: Path | None, harness: str, draws: int, **models: object
) -> None:
    """Attempt one task (an id, or its beginning) and show what was done and how it was judged."""
    face.flags.update(flags_of(models))
    with face.engine() as engine:
        found = engine.replays.task(task)
        made = engine.replays.attempt(
            found,
            skill=skill,
            harness=harness,
            draws=draws,
            progress=face.progress(),
            cancel=stop_on_signals(),
        )
    face.give({"task": plain(found), "attempts": [plain(one) for one in made]})
    for attempt in made:
        _show(face, found, attempt)
    if all(attempt.failure for attempt in made):
        raise SystemExit(FAILED_CODE)


def _show(face: Face, task: Task, attempt: Attempt) -> None:
    who = attempt.client or "one prompt"
    face.say(f"attempt {attempt.draw + 1} by {who}, model {attempt.model}\n")
    for note in attempt.notes:
        face.say(f"note: {note}")
    if attempt.failure is not None:
        face.say(f"failed ({attempt.failure.fault}): {attempt.failure.reason}\n")
        return
    face.say(f"the skill was {_skill(attempt)}\n")
    if attempt.outcome is not None:
        for step in attempt.outcome.steps:
            face.say(_step(step))
        if attempt.outcome.diff:
            face.say(f"\n{attempt.outcome.diff}")
    for check, verdict in zip(task.checks, attempt.verdicts, strict=False):
        mark = "passed" if verdict.passed else "failed"
        face.say(f"{mark}: {check.operator} {check.value!r}: {verdict.reason}")
    if attempt.score is not None:
        face.say(f"score: hard {attempt.score.hard:g}, soft {attempt.score.soft:.2f}")
    cost = f"{attempt.usage.calls} calls, {attempt.usage.tokens} tokens"
    face.say(f"cost: {cost}, {attempt.seconds:.1f} s\n")


def _skill(attempt: Attempt) -> str:
    if attempt.client == "":
        return "put into the prompt, which proves nothing about its use"
    listed = {True: "listed", False: "not listed", None: "perhaps listed"}[attempt.skill_listed]
    loaded = {True: "loaded", False: "not loaded", None: "perhaps loaded"}[attempt.skill_loaded]
    return f"{listed} and {loaded} by the client"


def _step(step: Step) -> str:
    text = step.text if len(step.text) <= _SHOWN else f"{step.text[:_SHOWN]} [cut]"
    if step.tool and step.role == "assistant":
        return f"> {step.tool} {step.arguments[:_SHOWN]}"
    mark = "<" if step.role == "tool" else " "
    return "\n".join(f"{mark} {line}" for line in text.splitlines())
