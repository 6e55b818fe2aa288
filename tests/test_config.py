"""Settings: read once, each with its origin, unknown keys refused with the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.config import PROJECT_FILE, USER_FILE, known_keys, load
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.testing import fake_world


def test_flags_beat_environment_beats_project_beats_user(tmp_path: Path) -> None:
    world = fake_world(tmp_path, env={"SKILLOPT_SLEEP_BUDGET__CALLS": "3"})
    (world.roots.config / USER_FILE).write_text(
        "[budget]\ncalls = 1\ntokens = 1\ndollars = 1.0\nseconds = 1.0\n"
    )
    (world.roots.cwd / PROJECT_FILE).write_text("[budget]\ncalls = 2\ntokens = 2\ndollars = 2.0\n")
    config = load(world, {"budget.tokens": 4, "budget.seconds": None})
    budget = config.settings.budget
    assert (budget.calls, budget.tokens, budget.dollars, budget.seconds) == (3, 4, 2.0, 1.0)
    assert config.origin("budget.calls") == "env SKILLOPT_SLEEP_BUDGET__CALLS"
    assert config.origin("budget.tokens") == "flag"
    assert config.origin("budget.dollars") == f"{world.roots.cwd / PROJECT_FILE}:4"
    assert config.origin("budget.seconds") == f"{world.roots.config / USER_FILE}:5"
    assert config.origin("gate.policy") == "default"


def test_a_typo_is_refused_with_its_place_and_the_nearest_name(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    path = world.roots.cwd / PROJECT_FILE
    path.write_text("[budget]\n\ncals = 2\n")
    with pytest.raises(ConfigError) as caught:
        load(world)
    assert str(caught.value) == (
        f"{path}:3 sets 'budget.cals', which is not a setting; did you mean 'budget.calls'"
    )


def test_a_value_out_of_range_names_its_origin(tmp_path: Path) -> None:
    world = fake_world(tmp_path, env={"SKILLOPT_SLEEP_GATE__SUPPORT_AT": "0.5"})
    with pytest.raises(
        ConfigError, match=r"env SKILLOPT_SLEEP_GATE__SUPPORT_AT sets 'gate.support_at'"
    ):
        load(world)


def test_a_broken_file_is_an_error_not_a_default(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    (world.roots.config / USER_FILE).write_text("[budget\n")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load(world)


def test_a_key_in_the_settings_is_never_shown(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    planted = "-".join(("very", "private", "words"))
    (world.roots.config / USER_FILE).write_text(f'[target]\nname = "openai"\nkey = "{planted}"\n')
    config = load(world)
    assert planted not in repr(config)
    assert planted not in config.settings.model_dump_json()
    assert config.settings.target.key is not None
    assert config.settings.target.key.get_secret_value() == planted


def test_every_section_is_known() -> None:
    assert {"budget.calls", "gate.policy", "target.base_url", "consent.hosts"} <= set(known_keys())
