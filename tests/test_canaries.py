"""A good, an idle and a harmful edit through the real path, with models good and bad."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from benchmarks.noise import NAME, announce

from skillopt_sleep.config import BackendSettings, load
from skillopt_sleep.engine import Engine
from skillopt_sleep.engine.canaries import GOOD, IDLE, MARK
from skillopt_sleep.errors import BackendError, ConfigError, ConsentError, Fault
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.testing import fake_world
from skillopt_sleep.world import World


class Plain:
    """Follows its skill, or not, as its name says."""

    name = NAME

    def __init__(self, settings: BackendSettings, _world: World) -> None:
        self.model = settings.model

    def complete(self, prompt: Prompt) -> Reply:
        if self.model == "down":
            raise BackendError("nobody is there", fault=Fault.REFUSED)
        follows = {
            "obedient": GOOD in prompt.system,
            "deaf": False,
            "superstitious": GOOD in prompt.system or IDLE in prompt.system,
        }[self.model]
        text = f"A sentence about it.\n{MARK}" if follows else "A sentence about it."
        return Reply(text=text, model=self.model)


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path) -> Generator[None]:
    sys.modules.setdefault(Plain.__module__, sys.modules[__name__])
    folder = tmp_path / "plugins"
    announce(folder, Plain)
    yield
    sys.path.remove(str(folder))


def asked(root: Path, model: str, **flags: object) -> dict[str, bool]:
    world = fake_world(root)
    settings: dict[str, object] = {
        "target.name": NAME,
        "target.model": model,
        "target.base_url": "http://127.0.0.1:9",
        **flags,
    }
    with Engine(world, load(world, settings)) as engine:
        return {one.name: one.ok for one in engine.canaries()}


@pytest.mark.parametrize(
    ("model", "good", "idle", "harmful"),
    [
        ("obedient", True, True, True),
        ("deaf", False, True, False),
        ("superstitious", True, False, True),
    ],
)
def test_each_canary_tells_what_it_was_sent_for(
    tmp_path: Path, model: str, good: bool, idle: bool, harmful: bool
) -> None:
    found = asked(tmp_path, model)
    assert found == {"good canary": good, "idle canary": idle, "harmful canary": harmful}


def test_a_model_that_does_not_answer_is_no_verdict_on_the_gate(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="100% of the attempts failed"):
        asked(tmp_path, "down", **{"target.retries": 0})


def test_canaries_need_a_model_and_the_users_yes(tmp_path: Path) -> None:
    with pytest.raises(ConsentError):
        asked(tmp_path, "obedient", **{"target.base_url": "https://models.example"})
    with pytest.raises(ConfigError, match="no model is chosen"):
        asked(tmp_path, "obedient", **{"target.name": ""})
