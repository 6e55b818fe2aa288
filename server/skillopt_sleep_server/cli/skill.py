"""``skill``: where each rule of the live skill comes from, and which ones it can do without."""

from __future__ import annotations

from collections.abc import Iterator

import click

from skillopt_sleep.engine import plain
from skillopt_sleep.model.blame import RuleBlame, Worth
from skillopt_sleep_server.cli.face import Face, command
from skillopt_sleep_server.cli.night import flags_of, model_options, stop_on_signals

_QUOTES = 3


@click.group()
def skill() -> None:
    """Look at the live skill rule by rule, or let it shrink."""


@skill.command()
@click.option("--target", default=None, help="Skill file [default: this project's].")
@command
def blame(face: Face, target: str | None) -> None:
    """Show for every rule where it came from and what let it in."""
    face.flags.update(flags_of({"target": target}))
    with face.engine() as engine:
        rules = engine.skills.blame()
    face.give({"rules": [plain(one) for one in rules]})
    for one in rules:
        for line in _lines(one):
            face.say(line)
    if not rules:
        face.say("the live skill has no learned rule")


@skill.command()
@model_options
@command
def prune(face: Face, **models: object) -> None:
    """Leave out each rule in turn, and propose the skill without those that do nothing."""
    face.flags.update(flags_of(models))
    with face.engine() as engine:
        pruned = engine.skills.prune(progress=face.progress(), cancel=stop_on_signals())
    face.give(plain(pruned))
    for one in pruned.worths:
        face.say(f"{_worth(one)}: {_short(one.text)}")
    face.say(pruned.reason)
    if pruned.proposal is not None:
        face.say(f"look at it with 'skillopt-sleep show {pruned.proposal.number}'")


def _lines(one: RuleBlame) -> Iterator[str]:
    yield f"[{one.rule}] {_short(one.text)}"
    if not one.proposal:
        yield "    written by a person"
    else:
        edited = ", changed by a person before that" if one.edited else ""
        on = f" on {one.adopted_at:%Y-%m-%d}" if one.adopted_at else ""
        yield f"    proposal {one.proposal}, adopted{on}{edited}: {one.evidence}"
        yield f"    from {len(one.tasks)} tasks in {len(one.sessions)} sessions: {one.why}"
        for quote in one.quotes[:_QUOTES]:
            yield f"    you said: {_short(quote)}"
    if one.since:
        yield f"    since then: {one.since}"
    yield f"    {_worth(one.worth)}" if one.worth else "    never left out; see 'skill prune'"


def _worth(one: Worth) -> str:
    words = {
        "earns": "earns its place",
        "harms": "harms",
        "idle": "idle",
        "unclear": "unclear",
    }
    return (
        f"{words[one.word]} (E = {one.e_value:.1f} for it, {one.e_harm:.1f} against it,"
        f" {one.tasks} clusters, {one.at:%Y-%m-%d})"
    )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 100 else f"{flat[:99]}…"
