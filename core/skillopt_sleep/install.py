"""Installers' plans shown, applied and taken back, to the byte where nobody else wrote since.

What was replaced is recorded before the first write, so that an uninstall after a crash works too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from skillopt_sleep.codec import decode, encode, text_hash
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.files import (
    PRIVATE_FILE,
    make_folders,
    make_private,
    read_or_none,
    remove_synced,
    write_atomic,
)
from skillopt_sleep.harness import INSTALLERS, Installer, Scope
from skillopt_sleep.model.status import Change, InstallPlan
from skillopt_sleep.world import World

_NOTHING: tuple[list[str], ...] = ([], ["{}"], ["{", "}"])
"""Words of a file that holds nothing; one that we made goes then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What an install replaced.

    Attributes:
        changes: Each file with the text before our first install and the text we wrote last.
        made: Folders that were made, topmost first.
    """

    changes: tuple[Change, ...] = ()
    made: tuple[str, ...] = ()


def preview(world: World, harness: str, scope: Scope, *, note: bool = False) -> InstallPlan:
    """Return what installing would change; nothing is written.

    Raises:
        UnknownPluginError: There is no such harness.
        ConfigError: One of its files is not what it should be.
    """
    return INSTALLERS.factory(harness)().plan(world, scope, note=note)


def apply(world: World, harness: str, scope: Scope, *, note: bool = False) -> InstallPlan:
    """Install, all files or (on an error before the first write) none; raises as ``preview``."""
    installer = INSTALLERS.factory(harness)()
    plan = installer.plan(world, scope, note=note)
    known = _record(world, harness, scope)
    merged = {one.path: one for one in known.changes}
    for one in plan.changes:
        before, prior = one.before, merged.get(one.path)
        if prior is not None and before == prior.after:
            before = prior.before
        elif prior is not None and before is not None:
            # Somebody else wrote since our last install: their words are not to be lost.
            before = _rest(installer, world, scope, replace(prior, after=before))
        merged[one.path] = replace(one, before=before)
    made = list(known.made)
    for one in plan.changes:
        parent = Path(one.path).parent
        missing = [str(p) for p in reversed([parent, *parent.parents]) if not p.exists()]
        made += [name for name in missing if name not in made]
    _keep(world, harness, scope, Installed(changes=tuple(merged.values()), made=tuple(made)))
    for one in plan.changes:
        _write(one.path, one.after)
    return replace(plan, applied=True)


def remove(world: World, harness: str, scope: Scope) -> InstallPlan:
    """Uninstall: a file nobody touched since gets its old bytes, another loses our part only.

    Raises:
        UnknownPluginError: There is no such harness.
        ConfigError: It was not installed, or a file is not what it should be.
    """
    installer = INSTALLERS.factory(harness)()
    known = _record(world, harness, scope)
    if not known.changes:
        raise ConfigError(f"{harness!r} is not installed for this {scope}; nothing was changed")
    changes = [_back(installer, world, scope, one) for one in known.changes]
    for one in changes:
        _write(one.path, one.after)
    for name in reversed(known.made):
        folder = Path(name)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    remove_synced(_place(world, harness, scope))
    _serve_others(world, scope, {one.path for one in changes})
    return InstallPlan(harness=harness, version="", changes=tuple(changes), applied=True)


def installed(world: World, harness: str, scope: Scope) -> bool:
    """Return whether an install is recorded."""
    return bool(_record(world, harness, scope).changes)


def _serve_others(world: World, scope: Scope, taken: set[str]) -> None:
    """Put back what another harness that is installed still needs of the files ``taken``."""
    for other in INSTALLERS.names():
        if installed(world, other, scope):
            needs = {one.path for one in preview(world, other, scope).changes}
            if needs & taken:
                apply(world, other, scope)


def _back(installer: Installer, world: World, scope: Scope, one: Change) -> Change:
    content = read_or_none(Path(one.path))
    now = None if content is None else content.decode(errors="surrogateescape")
    after = one.before
    if now is None:
        after = None
    elif now != one.after:
        after = _rest(installer, world, scope, replace(one, after=now))
    return Change(path=one.path, before=now, after=after, what=one.what)


def _rest(installer: Installer, world: World, scope: Scope, one: Change) -> str | None:
    """Return what is left of a file's text (``after``) without our part, None if nothing is."""
    left = installer.without(world, scope, one.path, one.after or "")
    return None if one.before is None and left.split() in _NOTHING else left


def _write(path: str, text: str | None) -> None:
    if text is None:
        if Path(path).exists():
            remove_synced(Path(path))
        return
    make_folders(Path(path).parent)
    write_atomic(Path(path), text.encode(errors="surrogateescape"))


def _place(world: World, harness: str, scope: Scope) -> Path:
    where = "user" if scope == "user" else f"project-{text_hash(str(world.roots.cwd))[:12]}"
    return world.roots.data / "installs" / f"{harness}-{where}.json"


def _record(world: World, harness: str, scope: Scope) -> Installed:
    content = read_or_none(_place(world, harness, scope))
    if content is None:
        return Installed()
    try:
        return decode(Installed, content)
    except ValidationError as error:
        raise ConfigError(
            f"the record {str(_place(world, harness, scope))!r} of the install cannot be read;"
            " remove our entries by hand, then the record"
        ) from error


def _keep(world: World, harness: str, scope: Scope, known: Installed) -> None:
    place = _place(world, harness, scope)
    make_private(place.parent)
    write_atomic(place, encode(known).encode(), mode=PRIVATE_FILE)
