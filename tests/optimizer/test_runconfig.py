"""Configuration files of training runs: formats, inheritance, overrides, errors, no secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.optimizer.runconfig import load_train_config


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_left_out_is_as_in_the_paper(tmp_path: Path) -> None:
    config = load_train_config(write(tmp_path, "a.yaml", "optimizer: {edit_budget: 3}\n"))
    assert (config.optimizer.epochs, config.optimizer.batch_size) == (4, 40)
    assert (config.optimizer.edit_budget, config.workers) == (3, 16)
    assert config.gate.policy == "strict"


def test_a_file_inherits_from_its_bases_over_folders_and_formats(tmp_path: Path) -> None:
    write(tmp_path, "base.toml", "seed = 1\n[optimizer]\nepochs = 2\nbatch_size = 10\n")
    write(tmp_path, "models/small.yml", "base: ../base.toml\ntarget: {model: small}\n")
    path = write(tmp_path, "run.yaml", "base: [models/small.yml]\noptimizer: {epochs: 3}\n")
    config = load_train_config(path, ["optimizer.epochs=5", "options.data=/tmp/x", "seed=7"])
    assert (config.seed, config.target.model) == (7, "small")
    assert (config.optimizer.epochs, config.optimizer.batch_size) == (5, 10)
    assert config.options == {"data": "/tmp/x"}


@pytest.mark.parametrize(
    ("text", "overrides", "words"),
    [
        ("optimizer: {epoch: 1}", [], "sets 'optimizer.epoch', which is not a setting; did you"),
        ("optimizer: {epochs: 0}", [], "sets 'optimizer.epochs' to a value that does not fit"),
        ("base: run.yaml", [], "inherits from itself"),
        ("base: other.yaml", [], "there is no file"),
        ("base: 3", [], "has a 'base' that is no file name"),
        ("- a\n- b", [], "holds no table"),
        ("a: [", [], "cannot be read"),
        ("", ["seed"], "the override 'seed' has no key"),
        ("", ["sede=1"], "did you mean 'seed'"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(
    tmp_path: Path, text: str, overrides: list[str], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_train_config(write(tmp_path, "run.yaml", text), overrides)
    assert words in str(caught.value)


def test_the_resolved_configuration_holds_no_secret(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4e5" * 9
    path = write(
        tmp_path,
        "run.yaml",
        f"target: {{name: openai, key: hunter2secret, extra: {{token: {secret}}}}}\n"
        f"optimizer_backend: {{base_url: 'https://me:{secret}@example.org/v1'}}\n",
    )
    words = json.dumps(load_train_config(path).resolved())
    assert "hunter2secret" not in words
    assert secret not in words
    assert '"name": "openai"' in words
