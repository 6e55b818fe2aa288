"""Plugin point 5: installers plan changes to a harness's files; they write nothing."""

from __future__ import annotations

from typing import Literal, Protocol

from skillopt_sleep.model.status import InstallPlan
from skillopt_sleep.registry import Registry
from skillopt_sleep.world import World

Scope = Literal["user", "project"]


class Installer(Protocol):
    """Knows where one harness wants a skill, an MCP entry and hooks."""

    @property
    def name(self) -> str:
        """Registry name."""
        ...

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Scopes that the harness keeps settings for."""
        ...

    def present(self, world: World) -> bool:
        """Return whether the harness is used on this machine."""
        ...

    def plan(self, world: World, scope: Scope, *, note: bool = False) -> InstallPlan:
        """Return what installing would change now; nothing if all is in place.

        With ``note``, a marked region of the harness's memory file names our skills too.

        Raises:
            ConfigError: A file of the harness is not what it should be, such as broken JSON, or
                the harness has no settings of this scope.
        """
        ...

    def without(self, world: World, scope: Scope, path: str, text: str) -> str:
        """Return ``text`` of one installed file without our part.

        Used where the file has changed since it was installed.

        Raises:
            ConfigError: The file is not what it should be.
        """
        ...


INSTALLERS: Registry[Installer] = Registry(
    kind="harness to install into",
    group="skillopt_sleep.installers",
    builtin={
        "claude-code": "skillopt_sleep.harness.claude_code:installer",
        "codex": "skillopt_sleep.harness.codex:installer",
        "copilot": "skillopt_sleep.harness.copilot:installer",
        "cursor": "skillopt_sleep.harness.cursor:installer",
        "devin": "skillopt_sleep.harness.devin:installer",
        "openclaw": "skillopt_sleep.harness.openclaw:installer",
        "opencode": "skillopt_sleep.harness.opencode:installer",
    },
)
"""Factories take nothing."""
