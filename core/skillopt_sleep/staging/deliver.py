"""Delivery: copies of the managed skill, or links to it, where the other harnesses read skills.

The live file is the one source. A copy is only ever replaced by the program that made it: one that
a human changed is left alone and told of. Each step can be repeated, so a crash in between is
mended by doing it again.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from filelock import FileLock

from skillopt_sleep.codec import decode, encode, text_hash
from skillopt_sleep.files import (
    PRIVATE_FILE,
    make_folders,
    make_private,
    read_or_none,
    remove_synced,
    sync_folder,
    write_atomic,
)
from skillopt_sleep.staging.transaction import undo_folders

Mode = Literal["copy", "link"]

FOLDERS = {
    "claude-code": ".claude/skills",
    "codex": ".agents/skills",
    "copilot": ".agents/skills",
    "cursor": ".agents/skills",
    "devin": ".agents/skills",
    "openclaw": ".agents/skills",
    "opencode": ".agents/skills",
}
"""Harness to a folder, below the project or the home, where it reads skills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """One copy that we made.

    Attributes:
        path: The copy.
        content: Hash of the bytes we wrote last, "" before the first time and for a link.
        made: Folders that were made for it, topmost first.
    """

    path: str
    content: str = ""
    made: tuple[str, ...] = ()


def places(live: Path, harnesses: Sequence[str]) -> tuple[Path, ...]:
    """Return where copies of ``live`` belong, sorted; none if it lies in no folder of skills.

    Args:
        live: The live skill document.
        harnesses: Names as in ``FOLDERS``; unknown ones have no place.
    """
    for own in FOLDERS.values():
        tail = Path(own) / live.parent.name / live.name
        if live.parts[-len(tail.parts) :] == tail.parts:
            base = live.parents[len(tail.parts) - 1]
            wanted = {FOLDERS[name] for name in harnesses if name in FOLDERS} - {own}
            return tuple(sorted(base / one / live.parent.name / live.name for one in wanted))
    return ()


class Deliveries:
    """Keeps copies in step with their source; its own notes are below one private folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def announce(self, live: Path) -> None:
        """Write down that ``live`` is about to change, for ``due`` after a crash."""
        note = make_private(self._folder) / f"{text_hash(str(live))[:16]}.due"
        write_atomic(note, str(live).encode(), mode=PRIVATE_FILE)

    def due(self) -> tuple[Path, ...]:
        """Return the live files that were announced and not brought into step since."""
        notes = sorted(self._folder.glob("*.due"))
        return tuple(Path(note.read_text(encoding="utf-8")) for note in notes)

    def bring(self, live: Path, copies: Sequence[Path], mode: Mode) -> tuple[str, ...]:
        """Make every copy equal to ``live``, or remove it where there is no live file.

        Returns:
            One sentence for each copy that was left alone.

        Raises:
            OSError: Disk full or no permission.
        """
        with self._locked():
            told = [self._one(live, copy, mode) for copy in copies]
            remove_synced(self._folder / f"{text_hash(str(live))[:16]}.due")
        return tuple(sentence for sentence in told if sentence)

    def _one(self, live: Path, copy: Path, mode: Mode) -> str:
        content = read_or_none(live)
        if copy.parent.is_symlink():
            return self._linked(live, copy, content, mode)
        if copy.resolve() == live:
            return ""
        now, known = read_or_none(copy), self._known(copy)
        if now is not None and now != content and known.content != text_hash(now):
            return (
                f"{str(copy)!r} was changed by hand and was left alone, so it differs from"
                f" {str(live)!r}; remove it, then adopt or revert again"
            )
        if content is None:
            if now is not None:
                remove_synced(copy)
            self._forget(known)
        elif mode == "link" and _holds_only(copy.parent, copy.name):
            self._link(live, copy, known)
        else:
            self._copy(content, copy, known)
        return ""

    def _linked(self, live: Path, copy: Path, content: bytes | None, mode: Mode) -> str:
        if copy.parent.resolve() != live.parent.resolve():
            return f"{str(copy.parent)!r} is a link to another place and was left alone; remove it"
        if content is None or mode == "copy":
            copy.parent.unlink()
            sync_folder(copy.parent.parent)
            if content is None:
                self._forget(self._known(copy))
            else:
                self._copy(content, copy, self._known(copy))
        return ""

    def _copy(self, content: bytes, copy: Path, known: Delivered) -> None:
        known = self._prepare(copy.parent, known)
        write_atomic(copy, content)
        self._keep(replace(known, content=text_hash(content)))

    def _link(self, live: Path, copy: Path, known: Delivered) -> None:
        known = self._prepare(copy.parent.parent, known)
        if copy.parent.is_dir():
            copy.unlink(missing_ok=True)
            copy.parent.rmdir()
        copy.parent.symlink_to(_relative(live.parent, copy.parent.parent), target_is_directory=True)
        sync_folder(copy.parent.parent)

    def _prepare(self, folder: Path, known: Delivered) -> Delivered:
        missing = [str(p) for p in reversed([folder, *folder.parents]) if not p.exists()]
        known = replace(known, made=known.made or tuple(missing))
        self._keep(known)
        make_folders(folder)
        return known

    def _note(self, path: str) -> Path:
        return self._folder / f"{text_hash(path)[:16]}.json"

    def _known(self, copy: Path) -> Delivered:
        content = read_or_none(self._note(str(copy)))
        return Delivered(path=str(copy)) if content is None else decode(Delivered, content)

    def _keep(self, known: Delivered) -> None:
        write_atomic(self._note(known.path), encode(known).encode(), mode=PRIVATE_FILE)

    def _forget(self, known: Delivered) -> None:
        undo_folders(known.made or (str(Path(known.path).parent),))
        remove_synced(self._note(known.path))

    @contextmanager
    def _locked(self) -> Generator[None]:
        with FileLock(make_private(self._folder) / "lock", timeout=10):
            yield


def _holds_only(folder: Path, name: str) -> bool:
    return not folder.is_dir() or all(one.name == name for one in folder.iterdir())


def _relative(target: Path, start: Path) -> Path:
    """Return ``target`` as seen from ``start``; both have a folder in common."""
    shared = next(one for one in (start, *start.parents) if target.is_relative_to(one))
    ups = len(start.relative_to(shared).parts)
    return Path(*[".."] * ups, target.relative_to(shared))
