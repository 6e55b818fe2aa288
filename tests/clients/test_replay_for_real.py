"""From a real agent's log to a replay by the same agent: harvested, mined, cloned, judged."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.clients.agent_server import AgentServer, agent_server
from tests.clients.minds import MEND, RULE, SKILL, TEST, mender
from tests.clients.scratch import CLAUDE, CODEX, Client, Scratch, need

REQUESTS = (
    "Fix the failing test in calc.py: The operator is wrong",
    "Please fix the failing test in calc.py: The operator is wrong",
)
DOCUMENT = f"---\nname: {SKILL}\ndescription: Read before any task here.\n---\n\n- {RULE}.\n"
AGENTS = {"claude_code": (CLAUDE, "anthropic", ""), "codex": (CODEX, "openai", "/v1")}


def prepared(root: Path, url: str, agent: str) -> Scratch:
    """Return a home with a repository whose test fails, and settings for replays in a clone."""
    client, backend, path = AGENTS[agent]
    scratch = Scratch(root=root.resolve(), url=url)
    for folder in (scratch.home, scratch.root / "tmp", scratch.state / "config", scratch.project):
        folder.mkdir(parents=True)
    client.settings(scratch.home, url)
    (scratch.project / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (scratch.project / "test_calc.py").write_text(
        "import unittest\n\nimport calc\n\n\nclass Sum(unittest.TestCase):\n"
        "    def test_sum(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"
    )
    (scratch.project / ".gitignore").write_text("__pycache__/\n")
    git(scratch, "init", "-q", "-b", "trunk")
    git(scratch, "add", "-A")
    git(scratch, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", "Begin")
    (scratch.state / "config" / "config.toml").write_text(
        # Sessions seconds apart are one occasion, and a test cannot wait for another.
        f'[mine]\nmin_sessions = 1\norigins = ["headless"]\nuse_model = false\n\n'
        f'[target]\nname = "{backend}"\n'
        f'model = "loopback-1"\nbase_url = "{url}{path}"\nkey = "a-key-for-loopback"\n\n'
        '[replay]\nmode = "workspace"\nunconfined = true\ntimeout_s = 60\n'
    )
    return scratch


def git(scratch: Scratch, *words: str) -> str:
    return scratch.run(["git", *words], {"GIT_CONFIG_NOSYSTEM": "1"})


def live(scratch: Scratch, client: Client, server: AgentServer) -> None:
    """Let the agent work twice, as its user would; take its work back each time."""
    for request in REQUESTS:
        client.ask(scratch, request, server.url)
        assert "a + b" in (scratch.project / "calc.py").read_text()
        git(scratch, "checkout", "-q", ".")


def hashes(folder: Path) -> dict[str, str]:
    """Return what every file and folder below holds; hashes, so that a difference stays short."""
    return {
        path.relative_to(folder).as_posix(): (
            sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        )
        for path in folder.rglob("*")
    }


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return sorted(name for name, _ in before.items() ^ after.items())


@pytest.mark.parametrize("agent", AGENTS)
def test_a_task_from_a_real_log_is_replayed_in_a_clone_and_judged_there(
    agent: str, tmp_path: Path
) -> None:
    client = AGENTS[agent][0]
    need(client)
    with agent_server(mender(agent)) as server:
        scratch = prepared(tmp_path, server.url, agent)
        # Claude Code needs leave for its shell; the client's own argv only allows our server.
        worker = with_shell(client)
        live(scratch, worker, server)
        scratch.sleep("harvest")
        mined = json.loads(scratch.sleep("tasks", "--json"))
        tasks = {task["prompt"]: task for task in mined["tasks"]}
        assert set(tasks) == set(REQUESTS)
        skill = scratch.root / "SKILL.md"
        skill.write_text(DOCUMENT)
        before = hashes(scratch.home)
        made = replayed(scratch, tasks[REQUESTS[0]]["id"], "--skill", str(skill))
        assert changed(before, hashes(scratch.home)) == []
    checks = {one["operator"]: one["value"] for one in tasks[REQUESTS[0]]["checks"]}
    assert checks["command_passes"] == TEST
    assert made["failure"] is None
    assert made["score"]["hard"] == 1.0
    assert {one["passed"] for one in made["verdicts"]} == {True}
    assert (made["skill_listed"], made["skill_loaded"]) == (True, True)
    assert made["client"].startswith(f"{agent} ")
    assert made["model"] == "loopback-1"
    assert made["outcome"]["commands"][-2:] == [MEND, TEST]
    assert "+    return a + b" in made["outcome"]["diff"]
    assert SKILL not in made["outcome"]["diff"]
    assert made["outcome"]["answer"] == "The sum is right now and the test passes."


def with_shell(client: Client) -> Client:
    """Return the client with leave to run commands."""
    if client.name == "claude-code":
        flags = ("--allowedTools", "Bash", "--output-format", "json", "-p")
    else:
        flags = ("exec", "--json", "--skip-git-repo-check", "-s", "workspace-write")
    return Client(
        name=client.name,
        program=client.program,
        argv=flags,
        # Two writes within a second would leave bytecode that looks fresh and is not.
        env=lambda url: {**client.env(url), "PYTHONDONTWRITEBYTECODE": "1"},
        settings=client.settings,
        by_stdin=client.by_stdin,
    )


def replayed(scratch: Scratch, task: str, *words: str) -> dict[str, Any]:
    said = json.loads(scratch.sleep("replay", task, "--json", *words))
    (attempt,) = said["attempts"]
    made: dict[str, Any] = attempt
    return made
