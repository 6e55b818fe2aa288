"""``tasks``: what recurs, how often, with which checks, and the funnel to it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from skillopt_sleep.engine import TaskChange, funnel_lines, plain
from skillopt_sleep.model.mined import Mined
from skillopt_sleep_server.cli.face import Face, command

_SHORT_ID, _NAME, _CHECK, _CHECKS = 10, 70, 40, 4

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group(invoke_without_command=True)
@command
def tasks(face: Face) -> None:
    """List what recurs in this project, or: show, pin, unpin, drop, export, import, cluster."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    with face.engine() as engine:
        mined = engine.tasks.refresh(progress=face.progress())
    face.give(
        {
            "clusters": [plain(one) for one in mined.clusters],
            "tasks": [plain(one) for one in mined.tasks],
            "funnel": [plain(step) for step in mined.funnel],
            "notes": list(mined.notes),
        }
    )
    for line in _listing(mined):
        face.say(line)


def _listing(mined: Mined) -> list[str]:
    """Return what recurs, a few lines each, then the funnel and what to do next."""
    known = {task.id: task for task in mined.tasks}
    lines: list[str] = []
    for cluster in mined.clusters:
        members = [known[name] for name in cluster.tasks if name in known]
        held = sum(task.split != "train" for task in members)
        checks = sorted({f"{c.operator} {c.value}" for task in members for c in task.checks})
        pinned = ", pinned" if any(task.pinned for task in members) else ""
        lines += [
            f"{cluster.id[:_SHORT_ID]}  {' '.join(cluster.name.split())[:_NAME]}",
            f"    {cluster.sessions} sessions in {', '.join(cluster.harnesses)};"
            f" {cluster.friction:.0%} went wrong at first;"
            f" {len(members) - held} train, {held} held out{pinned}",
            f"    checks: {'; '.join(one[:_CHECK] for one in checks[:_CHECKS]) or 'none yet'}",
        ]
    lines += ["", *funnel_lines(mined.funnel), *mined.notes]
    if not mined.clusters:
        lines.append(
            "nothing recurs here yet; stand in a folder that 'skillopt-sleep sessions' names, or"
            " come back when the same thing was asked for in two sessions"
        )
    return lines


@tasks.command("show")
@click.argument("name")
@command
def show(face: Face, name: str) -> None:
    """Show a task, or all tasks of a recurring request: checks and where they come from."""
    with face.engine() as engine:
        found = engine.tasks.named(name)
    face.give({"tasks": [plain(one) for one in found]})
    for task in found:
        marks = " pinned" if task.pinned else ""
        face.say(f"{task.id}  {task.split}{marks}  {task.repository}\n\n{task.prompt}\n")
        for check in task.checks:
            face.say(f"check {check.operator} {check.value!r} ({check.validity}) {check.note}")
        for evidence in task.evidence:
            source = f"{evidence.session} turn {evidence.turn} ({evidence.role})"
            face.say(f"from {source}: {evidence.quote}")
        face.say("")


def _changing(change: TaskChange, words: str, what: str) -> click.Command:
    """Return the command that makes one change to a task or to all of a recurring request."""

    @click.command(change, help=what)
    @click.argument("name")
    @command
    def changing(face: Face, name: str) -> None:
        with face.engine() as engine:
            found = engine.tasks.change(name, change)
        face.give({"tasks": [plain(one) for one in found]})
        for task in found:
            face.say(f"{task.id} {words}")

    return changing


for _command in (
    _changing("pin", "must never break from now on", "Say that a task must never break."),
    _changing("unpin", "is no longer pinned", "Take back a pin."),
    _changing("drop", "is left out from now on", "Leave a task out of all nights from now on."),
    _changing("restore", "takes part again", "Take back a drop."),
):
    tasks.add_command(_command)


@tasks.command("export")
@command
def export(face: Face) -> None:
    """Print the tasks as lines that a person can review and edit."""
    with face.engine() as engine:
        text = engine.tasks.export()
    face.give({"text": text})
    if not face.as_json:
        click.echo(text, nl=False)


@tasks.command("import")
@click.argument("file", type=FILE)
@command
def load(face: Face, file: Path) -> None:
    """Take reviewed tasks from a file; refused with the line when one is wrong."""
    with face.engine() as engine:
        count = engine.tasks.load(file.read_text(encoding="utf-8"))
    face.give({"imported": count})
    face.say(f"{count} tasks imported")


@tasks.command("edit")
@command
def edit(face: Face) -> None:
    """Review the tasks in your editor."""
    with face.engine() as engine:
        typed = click.edit(engine.tasks.export(), extension=".jsonl", require_save=True)
        count = engine.tasks.load(typed) if typed is not None else 0
    face.give({"imported": count})
    face.say(f"{count} tasks imported" if typed is not None else "nothing was saved or changed")


@tasks.command("cluster")
@click.option("--input", "file", type=FILE, required=True, help="A JSON line per prompt: id, text.")
@click.option("--semantic", is_flag=True, help="With embeddings (extra [semantic]).")
@command
def cluster(face: Face, file: Path, *, semantic: bool) -> None:
    """Group prompts from a file by what they ask for."""
    if semantic:
        face.flags["mine.semantic"] = True
    with face.engine() as engine:
        clusters = engine.tasks.cluster_file(file)
    face.give({"clusters": clusters})
    for name, number in clusters.items():
        face.say(f"{number}\t{name}")
    sys.stdout.flush()
