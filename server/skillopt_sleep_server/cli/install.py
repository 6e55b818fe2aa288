"""``install`` and ``uninstall``: into a harness and out of it, previewed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Literal

import click

from skillopt_sleep.engine import plain
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.status import InstallPlan
from skillopt_sleep_server.cli.face import Face, command

Scope = Literal["user", "project"]

SCOPE = (
    click.option("--user", "scope", flag_value="user", default=True, help="For you, everywhere."),
    click.option("--only-project", "scope", flag_value="project", help="For this project."),
)


def _scope(raw: str | None) -> Scope:
    return "project" if raw == "project" else "user"


@click.command()
@click.argument("harness", required=False)
@click.option("--all", "everything", is_flag=True, help="Into every harness that is found.")
@click.option("--dry-run", is_flag=True, help="Show the changes and make none.")
@SCOPE[0]
@SCOPE[1]
@command
def install(
    face: Face, harness: str | None, scope: str | None, *, everything: bool, dry_run: bool
) -> None:
    """Install into a harness, such as claude-code."""
    with face.engine() as engine:
        names = (
            engine.installs.names() if everything else [_named(harness, engine.installs.names())]
        )
        act = engine.installs.preview if dry_run else engine.installs.apply
        plans = [act(name, scope=_scope(scope)) for name in names]
    face.give({"plans": [plain(plan) for plan in plans]})
    for plan in plans:
        _told(face, plan, "would change" if dry_run else "changed")


@click.command()
@click.argument("harness")
@SCOPE[0]
@SCOPE[1]
@command
def uninstall(face: Face, harness: str, scope: str | None) -> None:
    """Take everything back that install changed."""
    with face.engine() as engine:
        plan = engine.installs.remove(harness, scope=_scope(scope))
    face.give({"plans": [plain(plan)]})
    _told(face, plan, "put back")


def install_lines(known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return which harness it is installed into, a line each."""
    return [f"{name:<12} {', '.join(scopes) or 'not installed'}" for name, scopes in known.items()]


def _named(harness: str | None, known: Sequence[str]) -> str:
    if harness is None:
        raise ConfigError(f"name a harness to install into: {', '.join(known)}; or say --all")
    return harness


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
