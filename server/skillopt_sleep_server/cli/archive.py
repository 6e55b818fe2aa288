"""``harvest``, ``sessions``, ``forget`` and ``redact``: what the logs hold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from skillopt_sleep.engine import Engine, plain
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.session import HarvestReport, Session, TurnKind
from skillopt_sleep_server.cli.face import Face, command

_SHOWN = 20


@click.command()
@click.option("--source", "sources", multiple=True, help="Only this source; may be repeated.")
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Read one exported log; needs --source.",
)
@command
def harvest(face: Face, sources: tuple[str, ...], file: Path | None) -> None:
    """Read what the agents' logs hold that is new."""
    if file is not None and len(sources) != 1:
        raise ConfigError(
            f"--file {str(file)!r} needs one --source that says its format, such as --source vscode"
        )
    with face.engine() as engine:
        seen = engine.archive.harvest(
            only=() if file else sources,
            file=file,
            source=sources[0] if file else "",
            progress=face.progress(),
        )
    face.give(plain(seen))
    for line in _harvest_words(seen):
        face.say(line)


def _harvest_words(seen: HarvestReport) -> list[str]:
    lines = [
        f"{name:<10} {seen.files[name]:>5} files  {seen.sessions.get(name, 0):>5} sessions"
        f"  {seen.prompts.get(name, 0):>5} new prompts"
        for name in sorted(seen.files)
        if seen.files[name] or seen.sessions.get(name)
    ]
    if not lines:
        lines.append(
            "no agent logs were found; looked in the places of every known agent below your home,"
            " name another with --home, or read an export with --file and --source"
        )
    if seen.excluded:
        lines.append(f"{seen.excluded} sessions left out since their repository is excluded")
    lines += [f"unreadable: {one.path}: {one.reason}" for one in seen.unreadable]
    skipped = sum(seen.skipped.values())
    if skipped:
        lines.append(f"{skipped} records of {len(seen.skipped)} unknown kinds were passed over")
    return [*lines, *(f"look: {alarm}" for alarm in seen.alarms)]


@click.group(invoke_without_command=True)
@click.option("--harness", default="", help="Only this harness.")
@click.option("--limit", type=click.IntRange(0), default=0, help="Only the newest N (0: all).")
@command
def sessions(face: Face, harness: str, limit: int) -> None:
    """List the archived sessions in log order, or: show, search, export."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    with face.engine() as engine:
        if harness:
            engine.archive.known(harness)
        found = engine.archive.sessions(harness=harness, limit=limit)
        face.give({"sessions": [session_tree(engine, one) for one in found]})
        for one in found:
            face.say(_session_line(one))
    if not found:
        face.say("the archive holds no session yet; run 'skillopt-sleep harvest'")


def session_tree(engine: Engine, session: Session) -> dict[str, Any]:
    """Return one session's documented JSON object."""
    return {
        "id": session.id,
        "harness": session.harness,
        "path": session.path,
        "session_id": session.session_id,
        "origin": session.origin.value,
        "cwd": session.cwd,
        "branch": session.branch,
        "commit": session.commit,
        "version": session.version,
        "models": list(session.models),
        "started_at": session.started_at.isoformat() if session.started_at else None,
        "ended_at": session.ended_at.isoformat() if session.ended_at else None,
        "human_prompts": [turn.text for turn in session.prompts],
        "remarks": [t.text for t in session.turns if t.kind is TurnKind.REMARK],
        "commands": [t.text for t in session.turns if t.kind is TurnKind.COMMAND],
        "tool_calls": len(session.calls),
        "tool_errors": sum(call.error for call in session.calls),
        "rejections": sum(call.refused for call in session.calls),
        "corrections": list(engine.archive.corrections(session)),
        "skills": list(session.skills),
        "usage": [plain(use) for use in session.usage],
    }


def _session_line(session: Session) -> str:
    begun = session.started_at.strftime("%Y-%m-%d %H:%M") if session.started_at else "-" * 16
    first = " ".join(session.prompts[0].text.split())[:60] if session.prompts else ""
    return (
        f"{begun}  {session.harness:<9} {session.origin.value:<10}"
        f" {len(session.prompts):>3} prompts {len(session.calls):>4} calls  {session.id}"
        f"  {session.cwd or '-'}  {first}"
    )


@sessions.command("show")
@click.argument("session")
@command
def show_session(face: Face, session: str) -> None:
    """Show one session (an id, or its beginning)."""
    with face.engine() as engine:
        found = engine.archive.session(session)
        tree = session_tree(engine, found)
    tree["turns"] = [plain(turn) for turn in found.turns]
    tree["calls"] = [plain(call) for call in found.calls]
    face.give(tree)
    face.say(_session_line(found))
    for turn in found.turns:
        face.say(f"\n[{turn.kind.value}] {turn.text}")


@sessions.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1), default=_SHOWN)
@command
def search(face: Face, words: tuple[str, ...], limit: int) -> None:
    """Find turns that hold these words."""
    with face.engine() as engine:
        hits = engine.archive.search(" ".join(words), limit=limit)
    face.give({"hits": [plain(hit) for hit in hits]})
    for hit in hits:
        face.say(f"{hit.session} turn {hit.turn}: {' '.join(hit.excerpt.split())}")
    if not hits:
        face.say(f"no turn holds {' '.join(words)!r}")


@sessions.command("export")
@click.argument("session")
@command
def export(face: Face, session: str) -> None:
    """Print one session whole, as JSON."""
    face.as_json = True
    with face.engine() as engine:
        face.give(plain(engine.archive.session(session)))


@click.command()
@click.option("--session", default="", help="Forget this session.")
@click.option("--repository", default="", help="Forget all sessions of this repository folder.")
@click.option("--everything", is_flag=True, help="Forget all.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def forget(face: Face, session: str, repository: str, *, everything: bool, yes: bool) -> None:
    """Purge a session, a repository or everything from archive, tasks and evidence."""
    if sum((bool(session), bool(repository), everything)) != 1:
        raise ConfigError("say what to forget: one of --session, --repository or --everything")
    what = session or repository or "everything"
    if not yes and not sys.stdin.isatty():
        raise ConfigError(f"forgetting {what!r} cannot be undone; add --yes to do it from a script")
    if not yes and not click.confirm(f"Forget {what}? The harness's own logs stay", err=True):
        raise SystemExit(2)
    with face.engine() as engine:
        count = engine.archive.forget(session=session, repository=repository, everything=everything)
    face.give({"forgotten": count})
    face.say(f"{count} sessions forgotten; the harness's own logs were not touched")


@click.command()
@command
def redact(face: Face) -> None:
    """Print standard input as it would be stored and sent."""
    with face.engine() as engine:
        text = engine.archive.redacted(sys.stdin.read())
    face.give({"text": text})
    if not face.as_json:
        click.echo(text, nl=False)
