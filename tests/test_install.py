"""Installing into Claude Code: previewed, merged, idempotent, reversible to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.errors import ConfigError, UnknownPluginError
from skillopt_sleep.harness import INSTALLERS, Scope
from skillopt_sleep.harness.merge import parse, put, render, take
from skillopt_sleep.install import apply, installed, preview, remove
from skillopt_sleep.testing import fake_world
from skillopt_sleep.world import World

SCOPES: tuple[Scope, ...] = ("user", "project")


def files_below(world: World) -> dict[str, bytes]:
    roots = (world.roots.home, world.roots.cwd)
    return {str(p): p.read_bytes() for r in roots for p in sorted(r.rglob("*")) if p.is_file()}


def folders_below(world: World) -> set[str]:
    return {str(p) for r in (world.roots.home, world.roots.cwd) for p in r.rglob("*") if p.is_dir()}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", INSTALLERS.names())
def test_uninstall_leaves_every_file_and_folder_as_it_was(
    tmp_path: Path, name: str, scope: Scope
) -> None:
    world = fake_world(tmp_path)
    (world.roots.home / ".claude").mkdir()
    (world.roots.home / ".claude" / "settings.json").write_text(
        '{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": []}]}\n}'
    )
    (world.roots.home / ".claude.json").write_text('{"numStartups": 3, "mcpServers": {"x": {}}}')
    before, folders = files_below(world), folders_below(world)
    plan = preview(world, name, scope)
    assert files_below(world) == before
    assert apply(world, name, scope).changes == plan.changes
    assert files_below(world) != before
    assert installed(world, name, scope)
    assert preview(world, name, scope).changes == ()
    assert apply(world, name, scope).changes == ()
    remove(world, name, scope)
    assert files_below(world) == before
    assert folders_below(world) == folders
    assert not installed(world, name, scope)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_file_that_changed_since_loses_our_part_only(tmp_path: Path, scope: Scope) -> None:
    world = fake_world(tmp_path)
    apply(world, "claude-code", scope)
    home, project = world.roots.home, world.roots.cwd
    servers = home / ".claude.json" if scope == "user" else project / ".mcp.json"
    tree = json.loads(servers.read_text())
    assert tree["mcpServers"]["skillopt"]["args"][-1] == "mcp"
    tree["mcpServers"]["other"] = {"command": "x"}
    servers.write_text(json.dumps(tree))
    remove(world, "claude-code", scope)
    assert json.loads(servers.read_text()) == {"mcpServers": {"other": {"command": "x"}}}


def test_the_users_own_hooks_stay_beside_ours(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    path = world.roots.home / ".claude" / "settings.json"
    path.parent.mkdir()
    own = {"hooks": [{"type": "command", "command": "mine"}]}
    path.write_text(json.dumps({"hooks": {"SessionStart": [own]}}))
    apply(world, "claude-code", "user")
    groups = json.loads(path.read_text())["hooks"]["SessionStart"]
    assert groups[0] == own
    assert len(groups) == 2


def test_a_moved_home_is_handed_to_the_server_and_the_hooks(tmp_path: Path) -> None:
    world = fake_world(tmp_path, env={"SKILLOPT_SLEEP_HOME": "/tmp/a b"})
    apply(world, "claude-code", "user")
    servers = json.loads((world.roots.home / ".claude.json").read_text())
    assert servers["mcpServers"]["skillopt"]["env"] == {"SKILLOPT_SLEEP_HOME": "/tmp/a b"}
    hooks = (world.roots.home / ".claude" / "settings.json").read_text()
    assert "SKILLOPT_SLEEP_HOME='/tmp/a b' skillopt-sleep hook prompt" in hooks


def test_broken_json_is_refused_and_left_alone(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    (world.roots.home / ".claude.json").write_text("{oops")
    before = files_below(world)
    with pytest.raises(ConfigError, match=r"is not plain JSON \(line 1"):
        apply(world, "claude-code", "user")
    assert files_below(world) == before


def test_an_unknown_harness_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownPluginError, match="no harness to install into is called 'emacs'"):
        preview(fake_world(tmp_path), "emacs", "user")


def test_removing_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not installed"):
        remove(fake_world(tmp_path), "claude-code", "user")


keys = st.text(st.characters(codec="ascii", exclude_characters='"\\'), min_size=1, max_size=5)
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(keys, trees, max_size=4))
def test_what_is_put_in_can_be_taken_out_again(tree: dict[str, object]) -> None:
    text = render(tree, None)
    changed = parse("x", text)
    put(changed, ("our own key", "inner"), {"a": 1})
    again = parse("x", render(changed, text))
    assert cast("dict[str, object]", again["our own key"]) == {"inner": {"a": 1}}
    take(again, ("our own key", "inner"))
    assert render(again, text) == text
