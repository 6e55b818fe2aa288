"""What holds for every backend and preset in the registry."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.loopback import model_server

from skillopt_sleep.backends import BACKENDS
from skillopt_sleep.backends.agent_cli import AGENTS
from skillopt_sleep.backends.presets import ALIASES, PRESETS
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import AnswersWantedError, ConfigError
from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep.testing import fake_world

PROMPT = Prompt(stage=Stage.ATTEMPT, messages=(Message(role="user", text="q"),))


BY_HTTP = [name for name in BACKENDS.names() if ALIASES.get(name, name) not in {"local", *AGENTS}]


@pytest.mark.parametrize("name", BY_HTTP)
def test_every_backend_goes_by_its_name_and_answers(name: str, tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        settings = BackendSettings.model_validate(
            {"name": name, "model": "m-1", "base_url": server.url, "key": "k"}
        )
        backend = BACKENDS.factory(name)(settings, fake_world(tmp_path))
        assert (backend.name, backend.model) == (name, "m-1")
        if name == "handoff":
            with pytest.raises(AnswersWantedError):
                backend.complete(PROMPT)
        else:
            assert backend.complete(PROMPT).text == "fine"


@pytest.mark.parametrize("name", sorted(set(BACKENDS.names()) - set(BY_HTTP)))
def test_a_backend_that_is_a_program_or_a_file_says_what_is_missing(
    name: str, tmp_path: Path
) -> None:
    settings = BackendSettings(name=name, model="m-1")
    with pytest.raises(ConfigError, match=r"install|no file"):
        BACKENDS.factory(name)(settings, fake_world(tmp_path, env={"PATH": str(tmp_path)}))


def test_presets_are_https_or_on_this_machine() -> None:
    for name, preset in PRESETS.items():
        local = preset.base_url.startswith("http://127.0.0.1")
        assert local or not preset.base_url or preset.base_url.startswith("https://"), name
        assert local is preset.free, name
        assert preset.key_env or not preset.needs_key, name


def test_aliases_name_what_is_there() -> None:
    assert set(ALIASES.values()) <= set(BACKENDS.names())
