"""``status`` and ``doctor``: the state of things, and what is not well."""

from __future__ import annotations

import click

from skillopt_sleep.engine import plain
from skillopt_sleep.model.status import Status
from skillopt_sleep_server.cli.face import FAILED_CODE, Face, command
from skillopt_sleep_server.cli.install import install_lines
from skillopt_sleep_server.cli.night import flags_of, model_options


@click.command()
@click.option("--installs", is_flag=True, help="Which harnesses it is installed into.")
@command
def status(face: Face, *, installs: bool) -> None:
    """Show what is archived, what waits for you and what to do next."""
    with face.engine() as engine:
        if installs:
            known = engine.installs.installed()
            face.give({"installs": {name: list(scopes) for name, scopes in known.items()}})
            for line in install_lines(known):
                face.say(line)
            return
        found = engine.status()
    face.give(plain(found))
    for line in status_lines(found):
        face.say(line)


def status_lines(found: Status) -> list[str]:
    """Return the state of things, a line each."""
    archived = ", ".join(f"{count} {name}" for name, count in sorted(found.sessions.items()))
    counted = ", ".join(f"{count} {name}" for name, count in sorted(found.tasks.items()))
    lines = [
        f"project   {found.project}",
        f"skill     {found.skill}",
        f"archive   {f'{archived} sessions' if archived else 'empty'} in {found.data}",
        f"tasks     {counted or 'none mined yet'}",
    ]
    for model in found.models:
        place = model.host or "this machine"
        where = (
            f"{model.backend} {model.model} at {place}".replace("  ", " ") if model.backend else ""
        )
        agreed = "agreed" if model.consent else "not agreed to"
        lines.append(
            f"{model.role:<9} {f'{where}, key {model.key}, {agreed}' if where else 'none'}"
        )
    night = found.last_night
    if night is not None:
        lines.append(
            f"night     {night.id} {night.status}{f': {night.reason}' * bool(night.reason)}"
        )
    if found.running:
        lines.append("running   a night runs now")
    waiting = ", ".join(str(number) for number in found.open_proposals)
    lines.append(f"waiting   {f'proposals {waiting}' if waiting else 'nothing'}")
    lines.append(f"next      {found.next_step}")
    return lines


@click.command()
@click.option(
    "--canaries",
    is_flag=True,
    help="Send a good, an idle and a harmful edit through the gate, with the chosen model.",
)
@model_options
@command
def doctor(face: Face, *, canaries: bool, **models: object) -> None:
    """Look at everything that a night needs, and say what is not well."""
    face.flags.update(flags_of(models))
    with face.engine() as engine:
        findings = engine.doctor()
        if canaries:
            findings += engine.canaries(face.progress())
    face.give({"findings": [plain(one) for one in findings]})
    for one in findings:
        face.say(f"{'ok  ' if one.ok else 'LOOK'} {one.name}: {one.words}")
    if not all(one.ok for one in findings):
        raise SystemExit(FAILED_CODE)
