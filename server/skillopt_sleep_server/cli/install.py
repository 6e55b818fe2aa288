"""``install`` and ``uninstall``: into a harness and out of it, previewed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import click

from skillopt_sleep.engine import Engine, plain
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.status import InstallPlan
from skillopt_sleep_server.cli.face import Face, command

Scope = Literal["user", "project"]


def _scoped(made: click.Command) -> click.Command:
    """Let ``--project`` stand alone, for the folder the user stands in, and choose the scope."""
    here = click.Option(
        ["--project"],
        is_flag=False,
        flag_value=".",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="For one project only: the folder you stand in, or the one named behind it.",
    )
    made.params = [here if one.name == "project" else one for one in made.params]
    return made


@_scoped
@click.command()
@click.argument("harness", required=False)
@click.option("--all", "everything", is_flag=True, help="Into every harness that is used here.")
@click.option("--dry-run", is_flag=True, help="Show the changes and make none.")
@click.option("--user", is_flag=True, help="For you, everywhere [the default].")
@click.option("--note", is_flag=True, help="A short note in AGENTS.md or CLAUDE.md too.")
@command
def install(
    face: Face, harness: str | None, *, everything: bool, dry_run: bool, user: bool, note: bool
) -> None:
    """Install into a harness, such as claude-code."""
    scope = _scope(face, user=user)
    with face.engine() as engine:
        act = engine.installs.preview if dry_run else engine.installs.apply
        plans = [
            act(name, scope=scope) for name in _named(engine, harness, scope, everything=everything)
        ]
    face.give({"plans": [plain(plan) for plan in plans]})
    for plan in plans:
        _told(face, plan, "would change" if dry_run else "changed")


@_scoped
@click.command()
@click.argument("harness", required=False)
@click.option("--all", "everything", is_flag=True, help="Out of every harness it is in.")
@click.option("--user", is_flag=True, help="For you, everywhere [the default].")
@command
def uninstall(face: Face, harness: str | None, *, everything: bool, user: bool) -> None:
    """Take everything back that install changed."""
    scope = _scope(face, user=user)
    with face.engine() as engine:
        known = engine.installs.installed()
        names = [name for name in known if scope in known[name]] if everything else [harness]
        if names == [None]:
            raise ConfigError(f"name a harness: {', '.join(known)}; or say --all")
        plans = [engine.installs.remove(str(name), scope=scope) for name in names]
    face.give({"plans": [plain(plan) for plan in plans]})
    for plan in plans:
        _told(face, plan, "put back")


def install_lines(known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return which harness it is installed into, a line each."""
    return [f"{name:<12} {', '.join(scopes) or 'not installed'}" for name, scopes in known.items()]


def _scope(face: Face, *, user: bool) -> Scope:
    if user and face.project is not None:
        raise ConfigError("--user and --project were both given; give one")
    return "user" if face.project is None else "project"


def _named(engine: Engine, harness: str | None, scope: Scope, *, everything: bool) -> Sequence[str]:
    known = engine.installs.names()
    if not everything:
        if harness is None:
            raise ConfigError(f"name a harness to install into: {', '.join(known)}; or say --all")
        return [harness]
    present = engine.installs.present(scope)
    if not present:
        raise ConfigError(
            f"none of {', '.join(known)} is used here; name the one to install into all the same"
        )
    return present


def _told(face: Face, plan: InstallPlan, verb: str) -> None:
    version = f" {plan.version}" if plan.version else ""
    if not plan.changes:
        face.say(f"{plan.harness}{version}: everything is in place")
    for change in plan.changes:
        face.say(f"{verb} {change.path}: {change.what}")
        if not plan.applied:
            before = (change.before or "").splitlines()
            after = (change.after or "").splitlines()
            for line in difflib.unified_diff(before, after, lineterm="", n=1):
                face.say(f"    {line}")
    for note in plan.notes:
        face.say(f"note: {note}")
