"""``gate``: how often it errs, and how it came to its word on a proposal."""

from __future__ import annotations

import json

import click

from skillopt_sleep_server.cli.face import Face, command


@click.group()
def gate() -> None:
    """Calibrate the gate, or explain its word on a proposal."""


@gate.command()
@click.option("--tasks", "tasks", type=click.IntRange(1), multiple=True, help="Held-out tasks.")
@click.option("--trials", type=click.IntRange(1), default=4000, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@command
def calibrate(face: Face, tasks: tuple[int, ...], trials: int, seed: int) -> None:
    """Print false accepts, harmful accepts and power per policy, with 95 % intervals."""
    with face.engine() as engine:
        tree = engine.gate.calibrate(tasks=tasks or (10, 20, 40), trials=trials, seed=seed)
    face.give(tree)
    for policy, table in tree["policies"].items():
        face.say(policy)
        for n, row in table["n"].items():
            cells = "  ".join(
                f"{name} {cell['rate']:.1%} [{cell['low']:.1%}, {cell['high']:.1%}]"
                for name, cell in row.items()
            )
            face.say(f"  n={n:<3} {cells}")
    if tree.get("own"):
        face.say(f"on your own attempts: {json.dumps(tree['own'])}")


@gate.command()
@click.argument("number", type=click.IntRange(1))
@command
def explain(face: Face, number: int) -> None:
    """Recompute every number of a proposal's evidence from the stored attempts."""
    with face.engine() as engine:
        tree = engine.gate.explain(number)
    face.give(tree)
    for key, value in tree.items():
        face.say(f"{key:<16} {value if isinstance(value, str) else json.dumps(value)}")
