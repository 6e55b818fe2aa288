"""Puts a backend together: journal outside, then retries, then the budget, then the provider.

So what is journaled costs nothing, and each single try is allowed and counted.
"""

from __future__ import annotations

from skillopt_sleep.backends import BACKENDS, Backend
from skillopt_sleep.backends.access import url_host
from skillopt_sleep.backends.agent_cli import AGENTS, cli_host, own_login
from skillopt_sleep.backends.anthropic import anthropic_url
from skillopt_sleep.backends.batched import BatchedBackend, Batches, BatchProvider
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.cached import CachedBackend
from skillopt_sleep.backends.handoff import HandoffBackend, handoff_folder
from skillopt_sleep.backends.metered import MeteredBackend
from skillopt_sleep.backends.openai import openai_url
from skillopt_sleep.backends.pace import Paced
from skillopt_sleep.backends.presets import ALIASES, preset_of
from skillopt_sleep.backends.prices import FREE, Price, price_of
from skillopt_sleep.backends.retrying import RetryingBackend
from skillopt_sleep.codec import digest
from skillopt_sleep.config import BackendSettings, Settings
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.pool import Cancel
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.world import World

HANDOFF = "handoff"
LOCAL = "local"


def build(
    settings: BackendSettings,
    world: World,
    *,
    calls: CallStore,
    night: str,
    meter: Meter,
    cancel: Cancel,
    batches: Batches | None = None,
) -> Backend:
    """Return the backend that ``settings`` describe, journaled, retrying and metered.

    Args:
        settings: What is wanted.
        world: Clock, folders, environment.
        calls: The journal.
        night: The night's id.
        meter: Counts and caps.
        cancel: Raised to stop.
        batches: Where prompts gather if the settings say so; None asks each at once.

    Raises:
        ConfigError: Name, model, key or URL is missing, or money is capped and the price unknown.
        UnknownPluginError: No backend has this name.
    """
    if not settings.name:
        raise ConfigError(
            "no model is chosen; set 'target.name' to one of " + ", ".join(BACKENDS.names())
        )
    settings = _of_night(settings, world, night)
    price = price_for(settings)
    if price is None and meter.caps_money:
        raise ConfigError(
            f"the budget caps money and the price of {settings.model!r} is not known; set"
            " 'price_input' and 'price_output' (USD per million tokens), or cap 'budget.tokens'"
        )
    inner = BACKENDS.factory(settings.name)(settings, world)
    asked: Backend = MeteredBackend(inner, meter, price)
    if not isinstance(inner, HandoffBackend):
        pace = inner.pace if isinstance(inner, Paced) else None
        asked = RetryingBackend(asked, world, cancel, retries=settings.retries, pace=pace)
    identity = _identity(settings)
    journaled = CachedBackend(asked, calls, meter, world, identity=identity, night=night)
    if batches is None or not settings.batch:
        return journaled
    if not isinstance(inner, BatchProvider) or not inner.batches:
        raise ConfigError(
            f"the backend {settings.name!r} is not known to take batches; set 'batch' to false"
        )
    batched = BatchedBackend(journaled, inner, price, identity=identity, stages=batches.stages)
    batches.add(batched)
    return batched


def price_for(settings: BackendSettings) -> Price | None:
    """Return the price of a backend, free where the user's own machine or subscription answers."""
    if settings.price_input is not None:
        return price_of(settings)
    name = ALIASES.get(settings.name, settings.name)
    by_subscription = name in AGENTS and own_login(settings)
    if name in (HANDOFF, LOCAL) or by_subscription or preset_of(name).free:
        return FREE
    return price_of(settings)


def destination(settings: BackendSettings, world: World) -> str:
    """Return the host that text would go to, or "" where it stays on this machine.

    Raises:
        ConfigError: The backend has no URL, or one that is none.
    """
    name = ALIASES.get(settings.name, settings.name)
    if name in ("", HANDOFF, LOCAL):
        return ""
    if name in AGENTS:
        return cli_host(settings, world)
    if name == "anthropic":
        return url_host(anthropic_url(settings, world))
    return url_host(openai_url(settings, world))


def for_optimizer(settings: Settings) -> BackendSettings:
    """Return how the optimizer is reached: as said, else as the target is."""
    said = settings.optimizer_backend
    return said if said.name else settings.target


def for_judge(settings: Settings) -> BackendSettings:
    """Return how the judge is reached: as said, else as the optimizer is."""
    return settings.judge_backend if settings.judge_backend.name else for_optimizer(settings)


def _of_night(settings: BackendSettings, world: World, night: str) -> BackendSettings:
    if settings.name != HANDOFF:
        return settings
    return settings.model_copy(update={"folder": str(handoff_folder(settings, world) / night)})


def _identity(settings: BackendSettings) -> str:
    return digest(settings.model_dump(mode="json", include={"name", "model", "base_url", "extra"}))
