"""Installing into harnesses: previewed, merged, idempotent, reversible to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt_sleep.errors import ConfigError, UnknownPluginError
from skillopt_sleep.harness import INSTALLERS, Scope
from skillopt_sleep.install import apply, installed, preview, remove
from skillopt_sleep.testing import fake_world
from skillopt_sleep.world import World

SCOPES: tuple[Scope, ...] = ("user", "project")


def files_below(world: World) -> dict[str, bytes]:
    roots = (world.roots.home, world.roots.cwd)
    return {str(p): p.read_bytes() for r in roots for p in sorted(r.rglob("*")) if p.is_file()}


def folders_below(world: World) -> set[str]:
    return {str(p) for r in (world.roots.home, world.roots.cwd) for p in r.rglob("*") if p.is_dir()}


PLACES = [
    (name, scope) for name in INSTALLERS.names() for scope in INSTALLERS.factory(name)().scopes
]

OWN = {
    ".claude/settings.json": '{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": []}]}\n}',
    ".claude.json": '{"numStartups": 3, "mcpServers": {"x": {}}}',
    ".mcp.json": '{"mcpServers": {"x": {}}}',
    ".codex/config.toml": '# mine\nmodel = "m"  # best\n\n[mcp_servers.x]\ncommand = "x"\n',
    ".copilot/mcp-config.json": '{\r\n  "mcpServers": {"x": {"type": "local"}}\r\n}\r\n',
    ".vscode/mcp.json": '{\n  // servers\n  "servers": {"x": {}},\n  "inputs": [],\n}\n',
    ".cursor/mcp.json": "{}",
    ".config/devin/config.json": '{"hooks": {"Stop": []}, "a": 1}',
    ".devin/hooks.v1.json": '{"Stop": []}\n',
    ".openclaw/openclaw.json": "{agents: {defaults: {workspace: '~/w'}}, /* end */}\n",
    ".config/opencode/opencode.jsonc": '{\n  "model": "x/y", // mine\n}',
    "opencode.json": '{"$schema": "s"}',
}


def write_own(world: World) -> None:
    """Write a user's own settings of every harness, each in its own manner."""
    for root in (world.roots.home, world.roots.cwd):
        for name, text in OWN.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("name", "scope"), PLACES)
def test_uninstall_leaves_every_file_and_folder_as_it_was(
    tmp_path: Path, name: str, scope: Scope, *, own: bool
) -> None:
    world = fake_world(tmp_path)
    if own:
        write_own(world)
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
    with pytest.raises(ConfigError, match=r"is not JSON \(line 1"):
        apply(world, "claude-code", "user")
    assert files_below(world) == before


def test_an_unknown_harness_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownPluginError, match="no harness to install into is called 'emacs'"):
        preview(fake_world(tmp_path), "emacs", "user")


def test_removing_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not installed"):
        remove(fake_world(tmp_path), "claude-code", "user")


@pytest.mark.parametrize(("name", "scope"), PLACES)
def test_what_is_taken_out_of_a_changed_file_is_ours_alone(
    tmp_path: Path, name: str, scope: Scope
) -> None:
    world = fake_world(tmp_path)
    write_own(world)
    before = files_below(world)
    for change in apply(world, name, scope).changes:
        if change.before is not None:
            file = Path(change.path)
            file.write_bytes(file.read_bytes() + b"\n")
    remove(world, name, scope)
    left = files_below(world)
    assert left.keys() == before.keys()
    for name, content in left.items():
        assert content in (before[name], before[name] + b"\n"), name


@pytest.mark.parametrize(("name", "scope"), PLACES)
def test_a_moved_home_reaches_the_server(tmp_path: Path, name: str, scope: Scope) -> None:
    world = fake_world(tmp_path, env={"SKILLOPT_SLEEP_HOME": "/somewhere/else"})
    texts = [one.after or "" for one in preview(world, name, scope).changes]
    assert any("/somewhere/else" in text and "mcp" in text for text in texts)


@pytest.mark.parametrize(("name", "scope"), PLACES)
def test_a_skill_of_the_users_own_that_is_named_sleep_is_not_overwritten(
    tmp_path: Path, name: str, scope: Scope
) -> None:
    world = fake_world(tmp_path)
    skills = [one for one in preview(world, name, scope).changes if one.path.endswith("SKILL.md")]
    path = Path(skills[0].path)
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: sleep\n---\nHow to sleep well.\n")
    before = files_below(world)
    with pytest.raises(ConfigError, match="is your own, nothing was changed"):
        apply(world, name, scope)
    assert files_below(world) == before


def test_a_harness_without_settings_per_project_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="install with --user"):
        preview(fake_world(tmp_path), "openclaw", "project")


def test_a_harness_is_present_where_it_left_a_folder(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    (world.roots.home / ".codex").mkdir()
    present = [n for n in INSTALLERS.names() if INSTALLERS.factory(n)().present(world)]
    assert present == ["codex"]


def test_toml_that_is_broken_is_refused_and_left_alone(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    path = world.roots.home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text("model = \n")
    with pytest.raises(ConfigError, match="is not TOML"):
        apply(world, "codex", "user")
    assert path.read_text() == "model = \n"


def test_what_a_harness_wrote_between_two_installs_survives_the_uninstall(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    servers = world.roots.home / ".claude.json"
    servers.write_text('{"numStartups": 1}')
    apply(world, "claude-code", "user")
    servers.write_text(servers.read_text().replace("1", "2", 1))
    moved = fake_world(tmp_path, env={"SKILLOPT_SLEEP_HOME": "/moved"})
    apply(moved, "claude-code", "user")
    assert "/moved" in servers.read_text()
    remove(moved, "claude-code", "user")
    assert servers.read_text() == '{"numStartups": 2}'


@pytest.mark.parametrize("first", ["claude-code", "copilot"])
def test_two_harnesses_that_share_a_file_do_not_take_it_from_each_other(
    tmp_path: Path, first: str
) -> None:
    world = fake_world(tmp_path)
    second = "copilot" if first == "claude-code" else "claude-code"
    shared = world.roots.cwd / ".mcp.json"
    shared.write_text('{"mcpServers": {"x": {}}}')
    apply(world, "claude-code", "project")
    entry = shared.read_text()
    apply(world, "copilot", "project")
    assert shared.read_text() == entry
    remove(world, first, "project")
    assert shared.read_text() == entry
    remove(world, second, "project")
    assert shared.read_text() == '{"mcpServers": {"x": {}}}'


@pytest.mark.parametrize(("name", "scope"), PLACES)
@pytest.mark.parametrize("own", [None, "# Mine\n\nBe kind.", "# Mine\n"])
def test_a_note_in_the_memory_file_comes_on_request_and_goes_again(
    tmp_path: Path, name: str, scope: Scope, own: str | None
) -> None:
    world = fake_world(tmp_path)
    bare = {one.path for one in preview(world, name, scope).changes}
    noted = {one.path for one in preview(world, name, scope, note=True).changes}
    (memory,) = noted - bare
    if own is not None:
        Path(memory).parent.mkdir(parents=True, exist_ok=True)
        Path(memory).write_text(own)
    before = files_below(world)
    apply(world, name, scope, note=True)
    assert "learned-habits" in Path(memory).read_text()
    assert Path(memory).read_text().startswith(own or "<!-- skillopt-sleep: begin -->")
    assert apply(world, name, scope, note=True).changes == ()
    Path(memory).write_text(Path(memory).read_text() + "\nLater words.\n")
    remove(world, name, scope)
    left = Path(memory).read_text()
    assert "skillopt" not in left
    assert left.startswith((own or "").rstrip())
    assert left.endswith("\nLater words.\n")
    Path(memory).unlink()
    assert {**files_below(world), memory: b""} == {**before, memory: b""}
