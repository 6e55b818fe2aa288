"""Each published agent CLI as a runner: it works in a clone, and its trouble is never an answer."""

from __future__ import annotations

import os
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.clients.agent_server import Call, Hang, Heard, Mind, Refuse, Say, Turn, agent_server
from tests.clients.minds import HANDS, MEND, RULE, SKILL, TEST, mender
from tests.clients.scratch import CLIENTS, PROGRAMS, need

from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.config import BudgetSettings, Settings
from skillopt_sleep.edge import real_world
from skillopt_sleep.environments.bench import Bench
from skillopt_sleep.environments.workspace import WorkspaceEnvironment
from skillopt_sleep.errors import BackendError, BudgetSpentError, Fault
from skillopt_sleep.judges.score import all_judges
from skillopt_sleep.model.attempt import Attempt
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.testing import ScriptedBackend, fake_world
from skillopt_sleep.world import World

CLIENT_OF = {
    "claude_code": "claude-code",
    "codex": "codex",
    "copilot": "copilot",
    "opencode": "opencode",
}
DOCUMENT = f"---\nname: {SKILL}\ndescription: Read before any task here.\n---\n\n- {RULE}.\n"
CHECKS = (
    Check(id="passes", operator=Operator.COMMAND_PASSES, value=TEST),
    Check(id="ran", operator=Operator.COMMAND_RAN, value="unittest"),
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a world of its own with a repository whose test fails, and the real processes."""
    real, fake = real_world(), fake_world(tmp_path.resolve())
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    made = replace(fake, run=real.run, monotonic=real.monotonic, env={"PATH": path})
    folder = made.roots.cwd
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (folder / "test_calc.py").write_text(
        "import unittest\n\nimport calc\n\n\nclass Sum(unittest.TestCase):\n"
        "    def test_sum(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"
    )
    for words in (["init", "-q", "-b", "trunk"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        identity = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
        env = {"PATH": path, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *identity, *words], cwd=folder, env=env, check=True)
    return made


def attempted(
    world: World,
    agent: str,
    url: str,
    *,
    skill: str = "",
    meter: Meter | None = None,
    **replay: float,
) -> Attempt:
    need(CLIENTS[CLIENT_OF[agent]])
    path = "" if agent == "claude_code" else "/v1"
    target: dict[str, Any] = {
        "name": "anthropic" if agent == "claude_code" else "openai",
        "model": "loopback-1",
        "base_url": url + path,
        "key": "a-key-for-loopback",
    }
    settings = Settings.model_validate(
        {
            "target": target,
            "replay": {"mode": "workspace", "unconfined": True, "timeout_s": 90, **replay},
        }
    )
    task = Task(
        id="t",
        cluster="c",
        prompt="Fix the failing test in calc.py",
        repository=str(world.roots.cwd),
        harness="claude" if agent == "claude_code" else agent,
        checks=CHECKS,
    )
    bench = Bench(
        world=world,
        settings=settings,
        target=ScriptedBackend([]),
        judges=all_judges(world, None),
        tasks=(task,),
        meter=meter,
    )
    return WorkspaceEnvironment(bench).attempt(task, skill, 0)


@pytest.mark.parametrize("agent", CLIENT_OF)
def test_an_agent_finds_the_skill_by_itself_and_works_in_the_clone(
    agent: str, world: World
) -> None:
    with agent_server(mender(agent, told="Never mind")) as server:
        made = attempted(world, agent, server.url, skill=DOCUMENT)
        heads = [heard.headers for heard in server.heard]
        keys = {head.get("authorization", head.get("x-api-key")) for head in heads}
        seen = str([heard.body for heard in server.heard])
    assert made.failure is None
    assert made.score is not None
    assert made.outcome is not None
    assert (made.score.hard, made.skill_loaded) == (1.0, True)
    assert made.skill_listed is (None if agent == "opencode" else True)
    assert made.client.startswith(f"{agent} ")
    assert made.outcome.commands[-2:] == (MEND, TEST)
    assert "+    return a + b" in made.outcome.diff
    assert made.usage.calls == len(server.heard)
    assert (world.roots.cwd / "calc.py").read_text().endswith("a - b\n")
    assert list((world.roots.cache / "skillopt-sleep-workspace").iterdir()) == []
    assert keys <= {"a-key-for-loopback", "Bearer a-key-for-loopback"}
    assert "a-key-for-loopback" not in seen


def test_without_the_rule_the_same_agent_fails_and_that_is_a_score(world: World) -> None:
    with agent_server(mender("claude_code", told="Never mind")) as server:
        made = attempted(world, "claude_code", server.url)
    assert made.score is not None
    assert (made.score.hard, made.skill_loaded, made.skill_listed) == (0.0, None, None)
    assert [verdict.passed for verdict in made.verdicts] == [False, True]


def test_nothing_of_the_user_reaches_the_agent(world: World) -> None:
    kept = "sk-ant-the-users-own"
    hands = HANDS["claude_code"]

    def curious(heard: Heard) -> Turn:
        if len(heard.results) < 2:
            words = ("env; git remote -v; git log --all --oneline; ls -a ~", "cat .git/config")
            return hands.shell(heard, words[len(heard.results)])
        return Say(f"This is all that I found: {heard.results}")

    world = replace(world, env={**world.env, "MY_SECRET": kept, "GITHUB_TOKEN": kept})
    (world.roots.home / "CLAUDE.md").write_text("REMEMBERED")
    with agent_server(curious) as server:
        made = attempted(world, "claude_code", server.url)
        seen = str([heard.body for heard in server.heard])
    assert made.outcome is not None
    assert "SKILLOPT_SLEEP_OWN=1" in made.outcome.answer
    for hidden in (kept, "a-key-for-loopback", "REMEMBERED", "[remote"):
        assert hidden not in seen


@pytest.mark.parametrize(
    ("agent", "code", "fault"),
    [
        ("claude_code", 429, Fault.RATE),
        ("claude_code", 529, Fault.OVERLOADED),
        ("codex", 500, Fault.SERVER),
        ("copilot", 503, Fault.OVERLOADED),
    ],
)
def test_a_client_that_cannot_reach_its_model_has_failed(
    agent: str, code: int, fault: Fault, world: World
) -> None:
    with agent_server(lambda _heard: Refuse(code, "no good")) as server:
        made = attempted(world, agent, server.url)
        assert len(server.heard) <= 4
    assert made.score is None
    assert made.outcome is None
    assert made.failure is not None
    assert made.failure.fault is fault


@pytest.mark.parametrize("agent", ["claude_code", "codex"])
def test_a_bad_key_ends_more_than_one_attempt(agent: str, world: World) -> None:
    with (
        agent_server(lambda _heard: Refuse(401, "no such key")) as server,
        pytest.raises(BackendError) as caught,
    ):
        attempted(world, agent, server.url)
    assert caught.value.fault is Fault.AUTH


def silent(_heard: Heard) -> Turn:
    return Hang()


def sleepy(heard: Heard) -> Turn:
    return Call(heard.tool("Bash"), {"command": "sleep 60"})


def wordless(_heard: Heard) -> Turn:
    return Say(" ")


@pytest.mark.parametrize(
    ("mind", "fault"),
    [(silent, Fault.TIMEOUT), (sleepy, Fault.TIMEOUT), (wordless, Fault.MALFORMED)],
)
def test_a_client_that_hangs_or_says_nothing_has_failed(
    mind: Mind, fault: Fault, world: World
) -> None:
    with agent_server(mind) as server:
        made = attempted(world, "claude_code", server.url, timeout_s=4)
    assert made.failure is not None
    assert made.failure.fault is fault


def test_a_client_that_talks_on_and_on_is_stopped_by_turns(world: World) -> None:
    hands = HANDS["claude_code"]
    with agent_server(lambda heard: hands.shell(heard, "true")) as server:
        made = attempted(world, "claude_code", server.url, max_turns=3)
        assert len(server.heard) <= 4
    assert made.failure is not None
    assert made.failure.fault is Fault.TRUNCATED


def test_a_client_that_talks_on_and_on_keeps_to_the_budget(world: World) -> None:
    hands = HANDS["codex"]
    database = Database(world.roots.data / "sleep.sqlite")
    meter = Meter(BudgetSettings(calls=5), CallStore(database), world, night="n")
    with (
        closing(database),
        agent_server(lambda heard: hands.shell(heard, "true")) as server,
        pytest.raises(BudgetSpentError),
    ):
        attempted(world, "codex", server.url, meter=meter)
    assert len(server.heard) == meter.total.calls == 5
