"""``setup``: see what is read and sent, choose a model, say yes once."""

from __future__ import annotations

import sys

import click

from skillopt_sleep.engine import plain
from skillopt_sleep.errors import ConfigError, ConsentError
from skillopt_sleep.model.status import SetupPlan
from skillopt_sleep_server.cli.face import Face, command
from skillopt_sleep_server.cli.night import flags_of, model_options


@click.command()
@click.option("--yes", is_flag=True, help="Agree without being asked.")
@click.option("--key-env", default=None, help="Variable that holds the target's key.")
@model_options
@command
def setup(face: Face, key_env: str | None, *, yes: bool, **models: object) -> None:
    """Show what is read and which text would go where; nothing is sent before your yes."""
    face.flags.update(flags_of(models))
    if "target.name" in face.flags:
        # Another way to reach a model: what was said of the one before does not hold for it.
        face.flags.setdefault("target.model", "")
        face.flags.setdefault("target.base_url", "")
    if key_env:
        face.flags["target.key_env"] = key_env
    with face.engine() as engine:
        plan = engine.setup.plan()
        if not plan.chosen:
            raise ConfigError(
                "no model is chosen, so there is nothing to agree to; name one with --backend and"
                " --model (--backend handoff needs no key)"
            )
        if not face.as_json:
            for line in plan_lines(plan):
                click.echo(line, err=True)
        if plan.hosts and not yes and not _agrees(plan):
            raise ConsentError("nothing was agreed to, so nothing will be sent; run setup again")
        agreed = engine.setup.agree(hosts=plan.hosts, values=face.flags)
    face.give(plain(agreed))
    face.say(f"noted in {agreed.config_file}; next: 'skillopt-sleep dry-run', then 'night'")


def plan_lines(plan: SetupPlan) -> list[str]:
    """Return what would be read and sent, a line each."""
    lines = ["Read (never changed):"]
    lines += [
        f"  {name}: {', '.join(folders)}" for name, folders in sorted(plan.folders.items())
    ] or ["  no agent logs were found below your home"]
    lines.append("Sent, after secrets are taken out:")
    lines += [f"  {sentence}" for sentence in plan.sends]
    lines.append(f"Your answer is kept in {plan.config_file}")
    return lines


def _agrees(plan: SetupPlan) -> bool:
    if not sys.stdin.isatty():
        raise ConsentError(
            f"setup needs your yes to sending text to {', '.join(plan.hosts) or 'files'}; run it in"
            " a terminal, or add --yes"
        )
    return click.confirm("Agree?", err=True)
