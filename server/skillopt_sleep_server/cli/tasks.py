"""``tasks``: what recurs, how often, with which checks, and the funnel to it."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from skillopt_sleep.engine import funnel_lines, plain
from skillopt_sleep.model.task import Cluster, Task
from skillopt_sleep_server.cli.face import Face, command

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
    if face.as_json:
        return
    if mined.clusters:
        Console().print(_table(mined.clusters, {task.id: task for task in mined.tasks}))
    for line in (*funnel_lines(mined.funnel), *mined.notes):
        face.say(line)


def _table(clusters: tuple[Cluster, ...], known: dict[str, Task]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("what recurs", "sessions", "where", "friction", "checks", "train/held-out"):
        table.add_column(title, overflow="fold")
    for cluster in clusters:
        members = [known[name] for name in cluster.tasks if name in known]
        checks = sorted({f"{c.operator} {c.value}"[:32] for t in members for c in t.checks})
        held = sum(task.split != "train" for task in members)
        table.add_row(
            " ".join(cluster.name.split())[:60],
            str(cluster.sessions),
            ", ".join(cluster.harnesses),
            f"{cluster.friction:.0%}",
            "; ".join(checks[:3]) or "none",
            f"{len(members) - held}/{held}",
        )
    return table


@tasks.command("show")
@click.argument("task")
@command
def show(face: Face, task: str) -> None:
    """Show one task (an id, or its beginning) with its checks and where it comes from."""
    with face.engine() as engine:
        found = engine.tasks.get(task)
    face.give(plain(found))
    face.say(f"{found.id}  {found.split}  {found.repository}\n\n{found.prompt}\n")
    for check in found.checks:
        face.say(f"check {check.operator} {check.value!r} ({check.validity}) {check.note}")
    for evidence in found.evidence:
        face.say(
            f"from {evidence.session} turn {evidence.turn} ({evidence.role}): {evidence.quote}"
        )


@tasks.command("pin")
@click.argument("task")
@command
def pin(face: Face, task: str) -> None:
    """Say that a task must never break."""
    with face.engine() as engine:
        found = engine.tasks.pin(task, pinned=True)
    face.give(plain(found))
    face.say(f"{found.id} must never break from now on")


@tasks.command("unpin")
@click.argument("task")
@command
def unpin(face: Face, task: str) -> None:
    """Take back a pin."""
    with face.engine() as engine:
        found = engine.tasks.pin(task, pinned=False)
    face.give(plain(found))
    face.say(f"{found.id} is no longer pinned")


@tasks.command("drop")
@click.argument("task")
@command
def drop(face: Face, task: str) -> None:
    """Leave a task out of all nights from now on."""
    with face.engine() as engine:
        found = engine.tasks.drop(task)
    face.give(plain(found))
    face.say(f"{found.id} is left out from now on")


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
