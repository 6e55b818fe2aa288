"""Plugin point 2: backends complete prompts, by an API, an agent CLI or a person's own agent.

A backend knows nothing of tasks, skills or budgets; metering, caching and retrying are wrappers
in this folder that are backends themselves.
"""

from __future__ import annotations

from typing import Protocol

from skillopt_sleep.backends.presets import ALIASES, PRESETS
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.registry import Registry


class Backend(Protocol):
    """Completes prompts.

    Attributes:
        name: Registry name.
        model: Model id asked for, part of every cache key.
    """

    @property
    def name(self) -> str:
        """Registry name."""
        ...

    @property
    def model(self) -> str:
        """Model id asked for."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """Return the model's answer to ``prompt``; safe to call from several threads.

        Raises:
            BackendError: There is no answer; ``fault`` says what kind of trouble it was.
        """
        ...


_COMPATIBLE = "skillopt_sleep.backends.openai:CompatibleBackend"
_BUILTIN = {
    "anthropic": "skillopt_sleep.backends.anthropic:AnthropicBackend",
    "openai": "skillopt_sleep.backends.openai:OpenAIBackend",
    "openai_compatible": _COMPATIBLE,
    "local": "skillopt_sleep.backends.local:LocalBackend",
    **dict.fromkeys(
        ("claude_cli", "codex_cli", "copilot_cli"),
        "skillopt_sleep.backends.agent_cli:AgentCliBackend",
    ),
    "handoff": "skillopt_sleep.backends.handoff:HandoffBackend",
    **dict.fromkeys(PRESETS, _COMPATIBLE),
}

BACKENDS: Registry[Backend] = Registry(
    kind="backend",
    group="skillopt_sleep.backends",
    builtin={**_BUILTIN, **{alias: _BUILTIN[name] for alias, name in ALIASES.items()}},
)
"""Factories take ``(settings: BackendSettings, world: World)``."""
