"""The configuration file of a training run: YAML or TOML, inherited through ``base``.

Numbers left out are those of the paper. It opens no environment and asks no model; secrets are in
no text that it gives out.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from skillopt_sleep.config import (
    BackendSettings,
    BudgetSettings,
    GateSettings,
    OptimizerSettings,
    SkillSettings,
)
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.redact import redact

BASE = "base"
"""Key that names the file, or files, a configuration inherits from; relative to its own folder."""

_PAPER: dict[str, Any] = {"optimizer": {"epochs": 4}, "gate": {"policy": "strict"}}


class TrainConfig(BaseModel):
    """A training run as it is configured.

    Attributes:
        environment: Registry name of the environment.
        options: What that environment wants, such as the folder of its data.
        initial: File of the document to begin with, or "" for none.
        folder: The run folder, or "" to have one named.
        seed: Seed of every random choice.
        workers: Attempts and questions under way at once.
        train_limit: At most so many train tasks; 0 is all. Likewise the other two limits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    environment: str = "prompt"
    options: dict[str, str] = Field(default_factory=dict)
    initial: str = ""
    folder: str = ""
    seed: int = 0
    workers: int = Field(default=16, ge=1, le=64)
    train_limit: int = Field(default=0, ge=0)
    held_out_limit: int = Field(default=0, ge=0)
    test_limit: int = Field(default=0, ge=0)
    target: BackendSettings = BackendSettings()
    optimizer_backend: BackendSettings = BackendSettings()
    judge_backend: BackendSettings = BackendSettings()
    optimizer: OptimizerSettings = OptimizerSettings(epochs=4)
    gate: GateSettings = GateSettings(policy="strict")
    budget: BudgetSettings = BudgetSettings(calls=0)
    skill: SkillSettings = SkillSettings()

    def resolved(self) -> dict[str, Any]:
        """Return all values for the run folder, keys left out and other secrets replaced."""
        tree = self.model_dump(mode="json", exclude={"folder"})
        for role in ("target", "optimizer_backend", "judge_backend"):
            tree[role].pop("key", None)
        return cast("dict[str, Any]", _redacted(tree))


def load_train_config(path: Path, overrides: Sequence[str] = ()) -> TrainConfig:
    """Return the configuration in ``path`` with its bases below and ``overrides`` above it.

    Args:
        path: A file ending in .yaml, .yml or .toml.
        overrides: Texts ``a.b=value``; the value is read as YAML.

    Raises:
        ConfigError: A file is missing, not of its format or inherits from itself, a key is
            unknown, or a value does not fit.
    """
    tree = _merged(_PAPER, _read(path, ()))
    for text in overrides:
        tree = _merged(tree, _override(text))
    try:
        return TrainConfig.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(f"{str(path)!r} {_explain(error)}") from None


def _read(path: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    place = path.resolve()
    if place in above:
        raise ConfigError(f"{str(path)!r} inherits from itself; take it out of 'base'")
    try:
        text = path.read_text(encoding="utf-8")
        found: object = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)
    except FileNotFoundError:
        raise ConfigError(f"there is no file {str(path)!r}; name a YAML or TOML file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error}; mend that place") from error
    tree = {} if found is None else found
    if not isinstance(tree, dict):
        raise ConfigError(f"{str(path)!r} holds no table; write keys and values")
    own = cast("dict[str, Any]", tree)
    bases: object = own.pop(BASE, [])
    names = [bases] if isinstance(bases, str) else bases
    if not isinstance(names, list):
        raise ConfigError(f"{str(path)!r} has a 'base' that is no file name; name a file or a list")
    below: dict[str, Any] = {}
    for name in cast("list[object]", names):
        below = _merged(below, _read(path.parent / str(name), (*above, place)))
    return _merged(below, own)


def _override(text: str) -> dict[str, Any]:
    key, mark, value = text.partition("=")
    if not mark or not key.strip():
        raise ConfigError(f"the override {text!r} has no key; write 'a.b=value'")
    try:
        parsed: Any = yaml.safe_load(value) if value.strip() else ""
    except yaml.YAMLError as error:
        raise ConfigError(f"the override {text!r} has a value that is not YAML") from error
    for part in reversed(key.strip().split(".")):
        parsed = {part: parsed}
    return cast("dict[str, Any]", parsed)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    tree = dict(below)
    for key, value in above.items():
        under = tree.get(key)
        both = isinstance(under, dict) and isinstance(value, dict)
        tree[key] = (
            _merged(cast("dict[str, Any]", under), cast("dict[str, Any]", value)) if both else value
        )
    return tree


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = [str(part) for part in first["loc"]]
    key = ".".join(where)
    if first["type"] != "extra_forbidden":
        return f"sets {key!r} to a value that does not fit: {first['msg'].lower()}; change it"
    kind: type[BaseModel] = TrainConfig
    for part in where[:-1]:
        inner = kind.model_fields[part].annotation
        kind = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else kind
    near = difflib.get_close_matches(where[-1], kind.model_fields, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}" if near else f"known: {', '.join(kind.model_fields)}"
    return f"sets {key!r}, which is not a setting; {hint}"


def _redacted(value: object) -> object:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        tree = cast("dict[str, object]", value)
        return {key: _redacted_at(key, one) for key, one in tree.items()}
    if isinstance(value, list):
        return [_redacted(one) for one in cast("list[object]", value)]
    return value


def _redacted_at(key: str, value: object) -> object:
    """Redact a value together with its key, since some secrets are known by their name only."""
    if isinstance(value, str) and redact(f"{key}={value}") != f"{key}={value}":
        return redact(f"{key}={value}").removeprefix(f"{key}=")
    return _redacted(value)
