"""The setup desk: which folders are read, which text would go where, and the user's yes to that.

Consent names hosts. A loopback host needs none, since nothing leaves the machine.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from skillopt_sleep.backends import BACKENDS
from skillopt_sleep.backends.agent_cli import AGENTS, own_login
from skillopt_sleep.backends.anthropic import KEY_VARIABLES
from skillopt_sleep.backends.build import HANDOFF, LOCAL, destination, for_judge, for_optimizer
from skillopt_sleep.backends.presets import ALIASES, preset_of
from skillopt_sleep.config import USER_FILE, BackendSettings, Config, load
from skillopt_sleep.errors import ConfigError, ConsentError
from skillopt_sleep.files import PRIVATE_FILE, make_private, write_atomic
from skillopt_sleep.model.status import ModelStatus, SetupPlan
from skillopt_sleep.sources import SOURCES
from skillopt_sleep.world import World

ROLES = ("target", "optimizer", "judge")

_TEXT_OF = {
    "target": "the words of recurring requests and the skill document, for replays",
    "optimizer": "replayed attempts, your corrections and the skill document, for reflection",
    "judge": "answers of replays and the rubric, for judging",
}


@dataclass(frozen=True, slots=True)
class Setup:
    """Shows and records what the user agrees to."""

    world: World
    config: Config

    def plan(self) -> SetupPlan:
        """Return what would be read and sent under the present settings."""
        consent = self.config.settings.consent
        models = self.models()
        sends = tuple(
            f"{_TEXT_OF[m.role]}: to {_place(m, self.world)}"
            f" ({m.backend}{f', model {m.model}' if m.model else ''})"
            for m in models
            if m.backend
        )
        return SetupPlan(
            folders=self._folders(),
            sends=sends or ("no model is chosen yet, so nothing would be sent",),
            hosts=tuple(dict.fromkeys(m.host for m in models if m.host)),
            config_file=str(self.world.roots.config / USER_FILE),
            chosen=all(m.backend for m in models),
            agreed_at=datetime.fromisoformat(consent.at) if consent.at else None,
        )

    def models(self) -> tuple[ModelStatus, ...]:
        """Return how each role's model is reached; optimizer and judge follow the target's."""
        return tuple(self._model(role) for role in ROLES)

    def require(self) -> None:
        """Return if every host that would receive text was agreed to.

        Raises:
            ConfigError: No backend is chosen.
            ConsentError: The user has not agreed.
        """
        for model in self.models():
            if not model.backend:
                raise ConfigError(
                    "no model is chosen, so nothing can be replayed; run 'skillopt-sleep setup', or"
                    " name one with --backend and --model (--backend handoff needs no key)"
                )
            if not model.consent:
                raise ConsentError(
                    f"text would go to {model.host!r} and nobody has agreed to that; run"
                    " 'skillopt-sleep setup' to see what is sent and say yes"
                )

    def agree(self, *, hosts: Sequence[str], values: Mapping[str, object]) -> SetupPlan:
        """Write the user's choices and their yes to ``config.toml``, keeping its comments.

        Args:
            hosts: Hosts that may receive text; "handoff" for one's own agent.
            values: Dotted setting names to values; checked before anything is written.

        Raises:
            ConfigError: A value does not fit, or the file is not TOML.
        """
        checked = load(self.world, values)
        path = self.world.roots.config / USER_FILE
        document = _read(path)
        everything: dict[str, object] = {
            **{key: value for key, value in values.items() if value is not None},
            "consent.hosts": sorted({*checked.settings.consent.hosts, *hosts}),
            "consent.at": self.world.now().isoformat(),
        }
        for key, value in everything.items():
            _set(document, key, value)
        make_private(path.parent)
        write_atomic(path, tomlkit.dumps(document).encode(), mode=PRIVATE_FILE)
        return Setup(self.world, load(self.world)).plan()

    def _model(self, role: str) -> ModelStatus:
        settings = role_settings(self.config, role)
        if settings.name:
            BACKENDS.known(settings.name)
        place = self._destination(settings)
        agreed = self.config.settings.consent.hosts
        return ModelStatus(
            role=role,
            backend=settings.name,
            model=settings.model,
            host=place,
            key=_key_from(settings, self.world),
            consent=not place or place in agreed,
        )

    def _destination(self, settings: BackendSettings) -> str:
        return HANDOFF if settings.name == HANDOFF else destination(settings, self.world)

    def _folders(self) -> dict[str, tuple[str, ...]]:
        wanted = self.config.settings.harvest.sources or SOURCES.names()
        found: dict[str, tuple[str, ...]] = {}
        for name in wanted:
            files = list(SOURCES.factory(name)().files(self.world))
            if files:
                common = os.path.commonpath([str(path.parent) for path in files])
                found[name] = (common,)
        return found


def role_settings(config: Config, role: str) -> BackendSettings:
    """Return how a role's model is reached; optimizer and judge follow the target's."""
    settings = config.settings
    if role == "optimizer":
        return for_optimizer(settings)
    return for_judge(settings) if role == "judge" else settings.target


def _key_from(settings: BackendSettings, world: World) -> str:
    name = ALIASES.get(settings.name, settings.name)
    if name in ("", HANDOFF, LOCAL):
        return "not needed"
    if settings.key is not None:
        return "config"
    if name in AGENTS and own_login(settings):
        return "its own login"
    usual = KEY_VARIABLES if name == "anthropic" else preset_of(settings.name).key_env
    names = (settings.key_env,) if settings.key_env else usual
    found = next((one for one in names if world.env.get(one, "").strip()), "")
    if found:
        return f"env {found}"
    needed = name == "anthropic" or preset_of(settings.name).needs_key
    return "missing" if needed else "not needed"


def _place(model: ModelStatus, world: World) -> str:
    if model.host == HANDOFF:
        return f"files in {world.roots.data / HANDOFF}, for your own agent or you to answer"
    return model.host or "this machine only"


def _read(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"the settings file {str(path)!r} is not valid TOML: {error}; mend it, then run setup"
        ) from error


def _set(document: tomlkit.TOMLDocument, key: str, value: object) -> None:
    *parents, leaf = key.split(".")
    node = cast("Any", document)
    for parent in parents:
        if parent not in node:
            node[parent] = tomlkit.table()
        node = node[parent]
    node[leaf] = list(cast("Sequence[object]", value)) if isinstance(value, tuple) else value
