"""The command ``skillopt-sleep``: one file a command group; each prints and never decides."""

from __future__ import annotations

import json
import sys
from importlib import import_module

import click

from skillopt_sleep import __version__

_GROUPS = {
    "demo": "demo:demo",
    "setup": "setup:setup",
    "doctor": "status:doctor",
    "status": "status:status",
    "harvest": "archive:harvest",
    "sessions": "archive:sessions",
    "forget": "archive:forget",
    "tasks": "tasks:tasks",
    "replay": "replay:replay",
    "night": "night:night",
    "run": "night:night",
    "dry-run": "night:dry_run",
    "proposals": "review:proposals",
    "show": "review:show",
    "diff": "review:diff",
    "edit": "review:edit",
    "approve": "review:approve",
    "adopt": "review:adopt",
    "reject": "review:reject",
    "revert": "review:revert",
    "skill": "skill:skill",
    "train": "train:train",
    "eval": "train:evaluate",
    "transfer": "train:transfer",
    "gate": "gate:gate",
    "redact": "archive:redact",
    "install": "install:install",
    "uninstall": "install:uninstall",
    "hook": "hook:hook",
    "mcp": "mcp:mcp",
}


_REFUSED_CODE = 2


class _Lazy(click.Group):
    """Imports a command's file only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names but the hidden ones, in the order of use."""
        return [name for name in _GROUPS if name not in {"run", "hook"}]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or None where there is no such name."""
        target = _GROUPS.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        found = getattr(import_module(f"skillopt_sleep_server.cli.{module}"), attribute)
        return found if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command with the nearest name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = nearest(args[0] if args else "", list(_GROUPS))
            if near:
                raise click.UsageError(f"{error.message} Did you mean {near!r}?", ctx) from error
            raise


def nearest(word: str, known: list[str]) -> str:
    """Return the known name that is most like ``word``, or ""."""
    import difflib  # noqa: PLC0415 - only a typo needs it

    found = difflib.get_close_matches(word, known, n=1)
    return found[0] if found else ""


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="skillopt-sleep")
def cli() -> None:
    """Learn from your coding agents' logs overnight; review and adopt in the morning."""


def main() -> None:
    """Run the command line; the console script's entry point."""
    try:
        cli(prog_name="skillopt-sleep", standalone_mode=False)
    except click.ClickException as error:
        if "--json" in sys.argv:
            kind = type(error).__name__
            told = {"kind": kind, "message": error.format_message(), "exit_code": error.exit_code}
            click.echo(json.dumps({"error": told}, ensure_ascii=False, indent=2))
        else:
            error.show()
        raise SystemExit(error.exit_code) from error
    except click.Abort as error:
        click.echo("skillopt-sleep: stopped; nothing was changed", err=True)
        raise SystemExit(_REFUSED_CODE) from error
