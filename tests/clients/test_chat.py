"""Agent CLIs with all tools off as models: the published clients against a model on loopback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.clients.agent_server import Hang, Heard, Refuse, Say, Turn, agent_server
from tests.clients.scratch import CLAUDE, CODEX, COPILOT, NOWHERE, PROGRAMS, need

from skillopt_sleep.backends import BACKENDS, Backend
from skillopt_sleep.backends.build import destination, price_for
from skillopt_sleep.backends.prices import FREE
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.edge import real_world
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep.testing import fake_world
from skillopt_sleep.world import World

CLIS = {
    "claude_cli": (CLAUDE, ""),
    "codex_cli": (CODEX, "/v1"),
    "copilot_cli": (COPILOT, "/v1"),
}
ASKS_NOBODY = {"request_user_input"}
"""A tool of Codex that cannot be switched off, and that fails where nobody sits."""

PROMPT = Prompt(
    stage=Stage.ATTEMPT,
    system="House rule: answer in capitals.",
    messages=(
        Message(role="user", text="first question"),
        Message(role="assistant", text="FIRST ANSWER"),
        Message(role="user", text="second question"),
    ),
)


def world(root: Path) -> World:
    """Return a real world whose folders are below ``root`` and whose environment is bare."""
    fake, real = fake_world(root.resolve()), real_world()
    env = {
        "PATH": f"{PROGRAMS}{os.pathsep}{real.env['PATH']}",
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1",
    }
    return replace(real, roots=fake.roots, env=env)


def backend(name: str, at: World, url: str, **more: object) -> Backend:
    client, path = CLIS[name]
    need(client)
    settings = BackendSettings.model_validate(
        {
            "name": name,
            "model": "loopback-1",
            "base_url": url + path,
            "key": "a-key-for-loopback",
            "timeout_s": 60,
            **more,
        }
    )
    return BACKENDS.factory(name)(settings, at)


def files(folder: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", CLIS)
def test_a_client_is_a_model_without_tools_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    at = world(tmp_path)
    (at.roots.home / ".claude").mkdir()
    (at.roots.home / ".claude" / "CLAUDE.md").write_text("MEMORY-OF-THE-USER")
    before = files(at.roots.home)
    with agent_server(lambda _heard: Say("UNDERSTOOD")) as server:
        reply = backend(name, at, server.url).complete(PROMPT)
        heard = [one for one in server.heard if "second question" in str(one.body)]
    assert reply.text == "UNDERSTOOD"
    assert reply.usage.calls >= 1
    assert heard
    for one in heard:
        said = str(one.body)
        assert {tool.name for tool in one.tools} <= ASKS_NOBODY
        assert "House rule" in said
        assert "FIRST ANSWER" in said
        assert "MEMORY-OF-THE-USER" not in said
    assert files(at.roots.home) == before
    assert files(at.roots.cache) == {}


FAULTS = {401: Fault.AUTH, 429: Fault.RATE, 500: Fault.SERVER, 529: Fault.OVERLOADED}
TRIED = [
    # Copilot asks again for half a minute by itself, too long for a test, but for a bad key.
    *((name, code) for name in ("claude_cli", "codex_cli") for code in FAULTS),
    ("copilot_cli", 401),
]


@pytest.mark.parametrize(("name", "code"), TRIED)
def test_a_client_that_prints_an_error_has_not_answered(
    name: str, code: int, tmp_path: Path
) -> None:
    def refuse(_heard: Heard) -> Turn:
        return Refuse(code, "no answer today")

    with agent_server(refuse) as server, pytest.raises(BackendError) as caught:
        backend(name, world(tmp_path), server.url, timeout_s=30).complete(PROMPT)
    assert caught.value.fault is FAULTS[code], caught.value


def test_a_client_that_hangs_is_stopped_at_the_deadline(tmp_path: Path) -> None:
    with agent_server(lambda _heard: Hang()) as server, pytest.raises(BackendError) as caught:
        backend("claude_cli", world(tmp_path), server.url, timeout_s=3).complete(PROMPT)
    assert caught.value.fault is Fault.TIMEOUT


@pytest.mark.parametrize("name", CLIS)
def test_a_client_without_a_login_is_told_so(name: str, tmp_path: Path) -> None:
    need(CLIS[name][0])
    settings = BackendSettings(name=name)
    with pytest.raises(ConfigError, match="has no login here"):
        BACKENDS.factory(name)(settings, world(tmp_path)).complete(PROMPT)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("claude_cli", "api.anthropic.com"),
        ("codex_cli", "chatgpt.com"),
        ("copilot_cli", "api.githubcopilot.com"),
        ("copilot_chat", "api.githubcopilot.com"),
    ],
)
def test_where_a_client_s_text_goes_is_known_and_a_subscription_pays(
    name: str, host: str, tmp_path: Path
) -> None:
    settings = BackendSettings(name=name, model="claude-opus-5-5")
    assert destination(settings, fake_world(tmp_path)) == host
    assert price_for(settings) == FREE
    keyed = settings.model_copy(update={"key_env": "MY_KEY"})
    assert price_for(keyed) != FREE
