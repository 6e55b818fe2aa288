"""Each client's own check and installer takes our plugin folder as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clients.scratch import (
    CLAUDE,
    CODEX,
    COPILOT,
    OPENCLAW,
    Client,
    Scratch,
    need,
    search_path,
)

PLUGINS = Path(__file__).parents[2] / "plugins"
PLUGIN = "skillopt-sleep@skillopt-sleep"


def scratch_for(client: Client, root: Path) -> Scratch:
    need(client)
    scratch = Scratch(root=root.resolve())
    for folder in (scratch.project, scratch.root / "tmp"):
        folder.mkdir(parents=True)
    return scratch


def run(scratch: Scratch, client: Client, *words: str) -> str:
    return scratch.run([client.program, *words], {"PATH": search_path(client.programs)})


@pytest.mark.parametrize("name", ["claude-code", "copilot", "openclaw"])
def test_claude_code_finds_nothing_wrong_with_a_folder_of_its_form(
    tmp_path: Path, name: str
) -> None:
    scratch = scratch_for(CLAUDE, tmp_path)
    told = run(scratch, CLAUDE, "plugin", "validate", str(PLUGINS / name))
    assert "Validation passed" in told
    assert "warning" not in told.lower()


def test_claude_code_installs_the_plugin(tmp_path: Path) -> None:
    scratch = scratch_for(CLAUDE, tmp_path)
    run(scratch, CLAUDE, "plugin", "marketplace", "add", str(PLUGINS / "claude-code"))
    run(scratch, CLAUDE, "plugin", "install", PLUGIN)
    assert "skillopt-sleep" in run(scratch, CLAUDE, "mcp", "list")


def test_codex_installs_the_plugin_and_lists_its_server(tmp_path: Path) -> None:
    scratch = scratch_for(CODEX, tmp_path)
    run(scratch, CODEX, "plugin", "marketplace", "add", str(PLUGINS / "codex"))
    run(scratch, CODEX, "plugin", "add", PLUGIN)
    listed = run(scratch, CODEX, "mcp", "list")
    assert "skillopt-sleep" in listed
    assert "enabled" in listed


def test_copilot_installs_the_plugin_and_lists_its_server(tmp_path: Path) -> None:
    scratch = scratch_for(COPILOT, tmp_path)
    run(scratch, COPILOT, "plugin", "marketplace", "add", str(PLUGINS / "copilot"))
    assert "Installed 1 skill" in run(scratch, COPILOT, "plugin", "install", PLUGIN)
    assert "skillopt (local)" in run(scratch, COPILOT, "mcp", "list")


def test_openclaw_installs_the_plugin(tmp_path: Path) -> None:
    scratch = scratch_for(OPENCLAW, tmp_path)
    words = ("plugins", "install", "--force", "--accept-capabilities", str(PLUGINS / "openclaw"))
    assert "Installed plugin: skillopt-sleep" in run(scratch, OPENCLAW, *words)
