"""The installs desk: into harnesses and out of them."""

from __future__ import annotations

from dataclasses import dataclass

from skillopt_sleep import install
from skillopt_sleep.assets import plugin_folder
from skillopt_sleep.harness import INSTALLERS, Scope
from skillopt_sleep.model.status import InstallPlan
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True)
class Installs:
    """Previews, applies and takes back."""

    world: World

    def names(self) -> tuple[str, ...]:
        """Return the harnesses that can be installed into, sorted."""
        return INSTALLERS.names()

    def present(self, scope: Scope) -> tuple[str, ...]:
        """Return those of them that are used on this machine and know this scope, sorted."""
        known = [INSTALLERS.factory(name)() for name in self.names()]
        return tuple(one.name for one in known if scope in one.scopes and one.present(self.world))

    def sleep_skill(self) -> str:
        """Return the text of the skill ``sleep``, with ``$ARGUMENTS`` for the user's words."""
        path = plugin_folder("claude-code") / "skills" / "sleep" / "SKILL.md"
        return path.read_text(encoding="utf-8").split("---", 2)[2].lstrip()

    def preview(self, harness: str, *, scope: Scope, note: bool = False) -> InstallPlan:
        """Return what installing would change; nothing is written; see ``install.preview``."""
        return install.preview(self.world, harness, scope, note=note)

    def apply(self, harness: str, *, scope: Scope, note: bool = False) -> InstallPlan:
        """Install; see ``install.apply``."""
        return install.apply(self.world, harness, scope, note=note)

    def remove(self, harness: str, *, scope: Scope) -> InstallPlan:
        """Uninstall; see ``install.remove``."""
        return install.remove(self.world, harness, scope)

    def installed(self) -> dict[str, tuple[Scope, ...]]:
        """Return harness to the scopes it is installed for, all known harnesses."""
        scopes: tuple[Scope, ...] = ("user", "project")
        return {
            name: tuple(one for one in scopes if install.installed(self.world, name, one))
            for name in self.names()
        }
