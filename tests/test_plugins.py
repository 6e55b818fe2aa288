"""The plugin folders: manifests that parse, one skill text, commands that exist, true tables."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from click.testing import CliRunner

from skillopt_sleep import __version__
from skillopt_sleep.harness import INSTALLERS
from skillopt_sleep_server.cli import cli

PLUGINS = Path(__file__).parents[1] / "plugins"
NAMES = sorted(folder.name for folder in PLUGINS.iterdir() if folder.is_dir())
SKILL = PLUGINS / "claude-code" / "skills" / "sleep" / "SKILL.md"


def files(name: str, pattern: str) -> list[Path]:
    return sorted(path for path in (PLUGINS / name).rglob(pattern) if path.is_file())


def strings(tree: object, key: str) -> list[str]:
    """Return all texts under a key, however deep."""
    if isinstance(tree, list):
        return [one for inner in cast("list[object]", tree) for one in strings(inner, key)]
    if not isinstance(tree, dict):
        return []
    held = cast("dict[str, object]", tree)
    found = [held[key]] if isinstance(held.get(key), str) else []
    return [*map(str, found), *(one for inner in held.values() for one in strings(inner, key))]


@pytest.mark.parametrize("name", NAMES)
def test_every_plugin_has_an_installer_and_a_readme_whose_table_names_its_files(name: str) -> None:
    assert name in INSTALLERS.names()
    readme = (PLUGINS / name / "README.md").read_text()
    assert f"skillopt-sleep install {name}" in readme
    assert f"skillopt-sleep uninstall {name}" in readme
    for path in files(name, "*"):
        place = path.relative_to(PLUGINS / name).as_posix()
        if place != "README.md" and not place.startswith(".claude-plugin/"):
            assert f"`{place}`" in readme, place
    for place in re.findall(r"^\|[^|]*\| `([^`]+)` \|", readme, re.MULTILINE):
        assert (PLUGINS / name / place).is_file(), place


@pytest.mark.parametrize("name", NAMES)
def test_there_is_one_text_of_the_skill(name: str) -> None:
    copies = files(name, "SKILL.md")
    assert copies
    assert all(copy.read_bytes() == SKILL.read_bytes() for copy in copies)


def test_the_skill_has_a_front_matter_that_every_client_reads() -> None:
    _, head, body = SKILL.read_text().split("---", 2)
    tree = yaml.safe_load(head)
    assert tree["name"] == "sleep"
    assert len(tree["description"]) <= 1024
    assert "$ARGUMENTS" in body


@pytest.mark.parametrize("name", NAMES)
def test_manifests_carry_our_version_and_start_our_server(name: str) -> None:
    servers: list[dict[str, Any]] = []
    for path in files(name, "*.json"):
        tree = json.loads(path.read_text())
        if path.name == "plugin.json":
            assert tree["version"] == __version__
            for part in ("skills", "mcpServers", "hooks"):
                assert (PLUGINS / name / tree.get(part, ".")).exists()
        servers += [
            tree[key]["skillopt"]
            for key in ("mcpServers", "servers")
            if key in tree and isinstance(tree[key], dict)
        ]
    assert servers
    for server in servers:
        assert [server["command"], *server["args"]] == ["skillopt-sleep", "mcp"]


@pytest.mark.parametrize("name", NAMES)
def test_hooks_call_commands_that_exist(name: str, tmp_path: Path) -> None:
    for path in files(name, "hooks*.json"):
        commands = strings(json.loads(path.read_text()), "command")
        assert len(commands) == 3
        for command in commands:
            program, *words = shlex.split(command)
            assert program == "skillopt-sleep"
            env = {"HOME": str(tmp_path), "SKILLOPT_SLEEP_HOME": str(tmp_path / "state")}
            outcome = CliRunner().invoke(cli, words, input="{}", env=env)
            assert outcome.exit_code == 0, outcome.output
            assert outcome.output == ""
