"""``proposals``, ``show``, ``diff``, ``edit``, ``approve``, ``adopt``, ``reject``, ``revert``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from skillopt_sleep.engine import Engine, summary
from skillopt_sleep.errors import ConfigError, ConsentError
from skillopt_sleep.model.proposal import Proposal
from skillopt_sleep_server.cli.face import Face, command

NUMBER = click.argument("number", type=click.IntRange(1))
REASON = click.option("--reason", default="", help="Your word on it, kept with the decision.")
YES = click.option(
    "--yes",
    is_flag=True,
    help="At a terminal, do not ask again; from a script, a yes of 'approve' is needed.",
)


@click.command()
@click.option("--all", "everything", is_flag=True, help="Decided ones too.")
@command
def proposals(face: Face, *, everything: bool) -> None:
    """List what waits for your decision."""
    with face.engine() as engine:
        found = engine.review.all() if everything else engine.review.open()
        face.give({"proposals": [engine.review.report_json(one.number) for one in found]})
    for one in found:
        face.say(f"{one.number:>3}  {one.status:<9} {one.skill_name}: {summary(one.evidence)}")
        for edit in one.edits:
            face.say(f"     {edit.kind}: {' '.join(edit.text.split())[:90]}")
    if not found:
        face.say("nothing waits for you; 'skillopt-sleep night' runs the next night")


@click.command()
@NUMBER
@command
def show(face: Face, number: int) -> None:
    """Show one proposal: its diff, its evidence, where it comes from."""
    with face.engine() as engine:
        face.give(engine.review.report_json(number))
        face.say(engine.review.report(number))


@click.command()
@NUMBER
@command
def diff(face: Face, number: int) -> None:
    """Print one proposal as a unified diff."""
    with face.engine() as engine:
        text = engine.review.diff(number)
    face.give({"number": number, "diff": text})
    face.say(text.rstrip("\n"))


@click.command()
@NUMBER
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Take the text from this file instead of an editor.",
)
@command
def edit(face: Face, number: int, file: Path | None) -> None:
    """Change a proposal's text; it is yours then, and the evidence says so."""
    with face.engine() as engine:
        proposal = engine.review.get(number)
        if file is not None:
            text = file.read_text(encoding="utf-8")
        else:
            typed = click.edit(proposal.after, extension=".md", require_save=True)
            if typed is None:
                raise ConfigError(f"the editor saved nothing, so proposal {number} stays as it was")
            text = typed
        engine.review.edit(number, text)
        face.give(engine.review.report_json(number))
        face.say(engine.review.report(number))


@click.command()
@NUMBER
@click.option("--reject", "action", flag_value="reject", help="Say yes to rejecting it.")
@click.option("--revert", "action", flag_value="revert", help="Say yes to reverting it.")
@click.option("--adopt", "action", flag_value="adopt", default=True, help="Say yes to adopting it.")
@command
def approve(face: Face, number: int, action: str | None) -> None:
    """Give your yes to one decision, for fifteen minutes, so that an agent may carry it out."""
    if not sys.stdin.isatty():
        raise ConfigError(
            "'approve' is the human's word and needs a terminal; run it in one yourself"
        )
    with face.engine() as engine:
        proposal = engine.review.get(number)
        _look(engine, proposal)
        wanted = action or "adopt"
        if not click.confirm(f"Let an agent {wanted} proposal {number}?", err=True):
            raise ConsentError(f"you said no, so nothing may {wanted} proposal {number}")
        engine.review.approve(number, wanted, how="terminal")
    face.give({"number": number, "action": wanted, "approved": True})
    face.say(f"noted for fifteen minutes: {wanted} proposal {number}")


@click.command()
@NUMBER
@click.option("--unproven", is_flag=True, help="Adopt it although the evidence is not enough.")
@REASON
@YES
@command
def adopt(face: Face, number: int, reason: str, *, unproven: bool, yes: bool) -> None:
    """Write a proposal into the live skill, with a backup."""
    with face.engine() as engine:
        human = _human(face, engine, number, "adopt", yes=yes)
        done = engine.review.adopt(number, human=human, unproven=unproven, reason=reason)
        _told(
            face, engine, done, f"adopted into {done.target}; backup {done.backup or 'not needed'}"
        )


@click.command()
@NUMBER
@REASON
@YES
@command
def reject(face: Face, number: int, reason: str, *, yes: bool) -> None:
    """Put a proposal away; nothing live changes."""
    with face.engine() as engine:
        human = _human(face, engine, number, "reject", yes=yes)
        done = engine.review.reject(number, human=human, reason=reason)
        _told(face, engine, done, "rejected; its rule will not be proposed again soon")


@click.command()
@NUMBER
@REASON
@YES
@command
def revert(face: Face, number: int, reason: str, *, yes: bool) -> None:
    """Bring back the bytes that adopting a proposal replaced."""
    with face.engine() as engine:
        human = _human(face, engine, number, "revert", yes=yes)
        done = engine.review.revert(number, human=human, reason=reason)
        _told(face, engine, done, f"reverted; {done.target} is as it was before")


def _human(face: Face, engine: Engine, number: int, action: str, *, yes: bool) -> str:
    """Return "terminal" when the human says yes at one, else "" (a recorded yes is looked for)."""
    if not sys.stdin.isatty():
        return ""
    if not yes:
        _look(engine, engine.review.get(number))
        if not click.confirm(f"{action.capitalize()} proposal {number}?", err=True):
            raise ConsentError(f"you said no, so proposal {number} stays as it is")
    return "terminal"


def _look(engine: Engine, proposal: Proposal) -> None:
    click.echo(engine.review.report(proposal.number), err=True)


def _told(face: Face, engine: Engine, proposal: Proposal, words: str) -> None:
    face.give(engine.review.report_json(proposal.number))
    face.say(f"proposal {proposal.number} is {words}")
    for line in proposal.extra.get("delivery", "").splitlines():
        face.say(f"note: {line}")
