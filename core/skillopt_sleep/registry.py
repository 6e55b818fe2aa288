"""Names to plugin factories, each imported only when it is asked for.

One registry per plugin point; the points themselves (sources, backends, judges, environments,
installers, runners) hold theirs beside their Protocol. This file knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar, cast

from skillopt_sleep.errors import UnknownPluginError

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Registry(Generic[P]):
    """Names to plugin factories of one kind.

    Attributes:
        kind: What to call these in an error, such as "transcript source".
        group: Entry-point group in which other packages announce theirs.
        builtin: Name to "module:attribute".
    """

    kind: str
    group: str
    builtin: Mapping[str, str] = field(default_factory=dict[str, str])

    def names(self) -> tuple[str, ...]:
        """Return all known names, sorted."""
        return tuple(sorted({*self.builtin, *(e.name for e in entry_points(group=self.group))}))

    def known(self, name: str) -> str:
        """Return ``name`` if some plugin has it; imports nothing.

        Raises:
            UnknownPluginError: No plugin has this name.
        """
        names = self.names()
        if name not in names:
            raise UnknownPluginError(self.kind, name, names)
        return name

    def factory(self, name: str) -> Callable[..., P]:
        """Return the factory called ``name``; built-ins win over entry points.

        An import failure inside the plugin surfaces as itself.

        Raises:
            UnknownPluginError: No plugin has this name.
        """
        if target := self.builtin.get(name):
            module, _, attribute = target.partition(":")
            return cast("Callable[..., P]", getattr(import_module(module), attribute))
        for entry in entry_points(group=self.group, name=name):
            return cast("Callable[..., P]", entry.load())
        raise UnknownPluginError(self.kind, name, self.names())
