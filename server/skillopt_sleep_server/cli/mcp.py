"""``mcp``: the MCP server on stdio."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Project folder [default: the client's working folder].",
)
def mcp(project: Path | None) -> None:
    """Serve the tools of skillopt over stdio to an MCP client."""
    from skillopt_sleep_server.mcp.app import serve  # noqa: PLC0415 - the SDK costs half a second

    serve(project)
