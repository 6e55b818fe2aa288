"""Settings: read once from TOML files, environment and flags, immutable, each with its origin.

Order of strength: flag, environment, project ``.skillopt-sleep.toml``, user ``config.toml``,
default. Unknown keys are errors that name the nearest known one. Keys of providers are held as
secrets and appear in no text this module makes.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.score import Metric
from skillopt_sleep.world import World

PROJECT_FILE = ".skillopt-sleep.toml"
USER_FILE = "config.toml"
_PREFIX = "SKILLOPT_SLEEP_"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HarvestSettings(_Section):
    """What is read. ``exclude`` holds folders of repositories that are never read."""

    sources: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class MineSettings(_Section):
    """What counts as recurring, and which sessions are looked at."""

    min_sessions: int = Field(default=2, ge=1)
    half_life_days: float = Field(default=30.0, gt=0)
    origins: tuple[str, ...] = ("human",)
    semantic: bool = False
    semantic_folder: str = ""
    use_model: bool = True
    everywhere: bool = False
    automation_per_day: int = Field(default=5, ge=1)
    sealed_share: float = Field(default=0.0, ge=0, lt=1)


class BackendSettings(_Section):
    """How one model is reached.

    ``key_env`` names the variable that holds the key; ``key`` is for those who keep it in their
    private config file. ``extra`` goes to the provider's request as it is. With ``batch`` a night
    hands its many prompts over together, for half the price and later.
    """

    name: str = ""
    model: str = ""
    base_url: str = ""
    key_env: str = ""
    key: SecretStr | None = None
    timeout_s: float = Field(default=120.0, gt=0)
    max_tokens: int = Field(default=4096, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    retries: int = Field(default=4, ge=0)
    workers: int = Field(default=4, ge=1, le=64)
    folder: str = ""
    batch: bool = False
    extra: dict[str, Any] = Field(default_factory=dict)
    price_input: float | None = Field(default=None, ge=0)
    price_output: float | None = Field(default=None, ge=0)


class OptimizerSettings(_Section):
    """The SkillOpt loop; names as in the paper. ``edit_budget`` is the textual learning rate L.

    ``weight_tokens`` and ``weight_seconds`` say how much of the score, in [0, 1], a halving of
    either is worth in a training run.
    """

    epochs: int = Field(default=1, ge=1)
    batch_size: int = Field(default=40, ge=1)
    accumulation: int = Field(default=1, ge=1)
    minibatch_size: int = Field(default=8, ge=1)
    edit_budget: int = Field(default=4, ge=1)
    min_edit_budget: int = Field(default=2, ge=1)
    schedule: Literal["none", "constant", "linear", "cosine", "autonomous"] = "cosine"
    update_mode: Literal["patch", "rewrite", "full_rewrite"] = "patch"
    aggregate_width: int = Field(default=8, ge=2)
    rollouts: int = Field(default=1, ge=1)
    slow_update: bool = True
    slow_items: int = Field(default=20, ge=1)
    meta_skill: bool = True
    skill_aware: bool = True
    dream_factor: int = Field(default=0, ge=0)
    recall_k: int = Field(default=0, ge=0)
    preferences: tuple[str, ...] = ()
    max_train_tasks: int = Field(default=40, ge=1)
    weight_tokens: float = Field(default=0.0, ge=0, le=1)
    weight_seconds: float = Field(default=0.0, ge=0, le=1)


class GateSettings(_Section):
    """How a candidate is judged. Thresholds are for one candidate; m of them multiply by m.

    ``lifetime_budget`` holds the false adoptions expected in thirty nights; with ``e_lond`` the
    ``false_discovery_rate`` holds instead, for any number of nights. With a ``co_metric`` a
    candidate of equal quality that costs at least 15 % less may be accepted too.
    """

    policy: Literal["strict", "evidence", "off"] = "evidence"
    metric: Metric = Metric.MIXED
    co_metric: Literal["none", "tokens", "seconds"] = "none"
    support_at: float = Field(default=10.0, gt=1)
    adopt_at: float = Field(default=20.0, gt=1)
    reject_below: float = Field(default=0.5, gt=0, lt=1)
    harm_at: float = Field(default=10.0, gt=1)
    max_nights: int = Field(default=5, ge=1)
    pool: int = Field(default=3, ge=1)
    finalists: int = Field(default=2, ge=1)
    max_tasks: int = Field(default=40, ge=1)
    lifetime: Literal["budget", "e_lond"] = "budget"
    lifetime_budget: float = Field(default=0.5, gt=0)
    false_discovery_rate: float = Field(default=0.1, gt=0, lt=1)
    auto_adopt: bool = False


class ReplaySettings(_Section):
    """How tasks are attempted: as one prompt, or by an agent CLI in a clone of the repository.

    ``runner`` names the CLI; "" takes the one each task was asked of. ``login`` allows the CLI's
    own login to be handed over, a copy for each attempt. ``unconfined`` allows attempts where no
    sandbox keeps the agent's commands inside the clone.
    """

    mode: Literal["prompt", "workspace"] = "prompt"
    runner: str = ""
    timeout_s: float = Field(default=900.0, gt=0)
    max_turns: int = Field(default=40, ge=1)
    login: bool = False
    unconfined: bool = False


class BudgetSettings(_Section):
    """Hard caps for one night, over all its runs, and for a calendar month; 0 means none."""

    calls: int = Field(default=2000, ge=0)
    tokens: int = Field(default=0, ge=0)
    dollars: float = Field(default=0.0, ge=0)
    seconds: float = Field(default=0.0, ge=0)
    month_calls: int = Field(default=0, ge=0)
    month_tokens: int = Field(default=0, ge=0)
    month_dollars: float = Field(default=0.0, ge=0)
    month_seconds: float = Field(default=0.0, ge=0)
    max_failure_share: float = Field(default=0.3, gt=0, le=1)


class SkillSettings(_Section):
    """Which skill document is trained and where it lives.

    ``target`` is a file; when empty the managed skill of the project is used,
    ``.claude/skills/<name>/SKILL.md`` below it.
    """

    name: str = "learned-habits"
    description: str = (
        "House rules learned from this project's own sessions. Read before starting any task here."
    )
    target: str = ""
    max_tokens: int = Field(default=2000, ge=100)
    max_growth_tokens: int = Field(default=400, ge=20)


class DeliverySettings(_Section):
    """Which harnesses the managed skill is put before once it is adopted, and how.

    A ``link`` is one folder that points to the other; a ``copy`` suits repositories that are shared
    with systems that know no links.
    """

    harnesses: tuple[str, ...] = (
        "claude-code",
        "codex",
        "copilot",
        "cursor",
        "devin",
        "openclaw",
        "opencode",
    )
    mode: Literal["copy", "link"] = "copy"


class ConsentSettings(_Section):
    """What the user agreed to in ``setup``: hosts that may receive text."""

    hosts: tuple[str, ...] = ()
    at: str = ""


class HumanSettings(_Section):
    """Whether adopt, reject and revert need the human's own word; on unless waived here."""

    required: bool = True


class Settings(_Section):
    """All settings."""

    harvest: HarvestSettings = HarvestSettings()
    mine: MineSettings = MineSettings()
    target: BackendSettings = BackendSettings()
    optimizer_backend: BackendSettings = BackendSettings()
    judge_backend: BackendSettings = BackendSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    gate: GateSettings = GateSettings()
    replay: ReplaySettings = ReplaySettings()
    budget: BudgetSettings = BudgetSettings()
    skill: SkillSettings = SkillSettings()
    delivery: DeliverySettings = DeliverySettings()
    consent: ConsentSettings = ConsentSettings()
    human: HumanSettings = HumanSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings and where each came from.

    Attributes:
        settings: The values.
        origins: Dotted key to "file:line", "env NAME" or "flag"; a key not in it is a default.
    """

    settings: Settings
    origins: Mapping[str, str]

    def origin(self, key: str) -> str:
        """Return where the value of a dotted key comes from."""
        return self.origins.get(key, "default")


def load(world: World, flags: Mapping[str, object] | None = None) -> Config:
    """Return the settings for the project the user stands in.

    Args:
        world: Folders and environment; ``SKILLOPT_SLEEP_<SECTION>__<KEY>`` sets one value.
        flags: Dotted keys to values from the command line; None values are ignored.

    Raises:
        ConfigError: A file is not TOML, a key is unknown, or a value is out of range.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for path in (world.roots.config / USER_FILE, world.roots.cwd / PROJECT_FILE):
        for key, value, line in _from_file(path):
            _put(merged, origins, key, value, f"{path}:{line}")
    for name, text in sorted(world.env.items()):
        if named := _env_key(name):
            _put(merged, origins, named, _scalar(text), f"env {name}")
    for key, value in (flags or {}).items():
        if value is not None:
            _put(merged, origins, key, value, "flag")
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(_explain(error, origins)) from None
    return Config(settings=settings, origins=origins)


def known_keys() -> tuple[str, ...]:
    """Return every dotted key there is, sorted."""
    return tuple(sorted(_walk(Settings, "")))


def _walk(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _walk(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def _from_file(path: Path) -> Iterator[tuple[str, object, int]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings file {str(path)!r} cannot be read: {error}") from error
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"the settings file {str(path)!r} is not valid TOML: {error}; mend that place"
        ) from error
    lines = text.splitlines()
    for key, value in _flatten(tree, ""):
        leaf = key.rpartition(".")[2]
        line = next((n for n, row in enumerate(lines, 1) if row.lstrip().startswith(leaf)), 1)
        yield key, value, line


def _flatten(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict) and not (prefix and name == "extra"):
            yield from _flatten(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _env_key(name: str) -> str:
    if not name.startswith(_PREFIX) or "__" not in name:
        return ""
    return name.removeprefix(_PREFIX).lower().replace("__", ".")


def _scalar(text: str) -> object:
    try:
        return cast("object", tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError:
        return text


def _put(
    tree: dict[str, Any], origins: dict[str, str], key: str, value: object, origin: str
) -> None:
    known = known_keys()
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}" if near else f"known: {', '.join(known)}"
        raise ConfigError(f"{origin} sets {key!r}, which is not a setting; {hint}")
    *parents, leaf = key.split(".")
    node = tree
    for parent in parents:
        node = node.setdefault(parent, {})
    node[leaf] = value
    origins[key] = origin


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    key = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
    where = origins.get(key, "default")
    return f"{where} sets {key!r} to a value that does not fit: {first['msg'].lower()}; change it"
