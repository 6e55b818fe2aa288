"""The run folder: every artifact of a training run, and the state that it resumes from.

Files are written whole or not at all; the state comes last, so that it never speaks of artifacts
that are not there. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock, Timeout
from pydantic import ValidationError

from skillopt_sleep.codec import decode, encode, plain, text_hash
from skillopt_sleep.errors import BusyError, ConfigError, StoreError
from skillopt_sleep.files import PRIVATE_FILE, make_private, read_or_none, write_atomic
from skillopt_sleep.optimizer.course import RunState, TrainOutcome
from skillopt_sleep.optimizer.trainer import Proposed

CONFIG = "config.json"
STATE = "state.json"
HISTORY = "history.json"
BEST = "best_skill.md"


class RunFolder:
    """Writes and reads the files of one training run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def held(self) -> Generator[None]:
        """Keep the folder for this process while the run is under way.

        Raises:
            BusyError: Another process has it.
        """
        lock = FileLock(make_private(self.path) / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise BusyError(
                f"another process trains in {str(self.path)!r}; wait for it or name another folder"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def begin(self, config: Mapping[str, Any]) -> None:
        """Write the configuration, or check that the folder was begun with the same.

        Raises:
            ConfigError: The folder belongs to a run of another configuration.
        """
        wanted = orjson.dumps(config, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        found = read_or_none(self.path / CONFIG)
        if found is not None and found != wanted:
            raise ConfigError(
                f"{str(self.path)!r} holds a run of another configuration; name another folder"
                " or give the same configuration to resume it"
            )
        self._write(CONFIG, wanted)

    def state(self) -> RunState | None:
        """Return where the run stands; None if it has not begun.

        Raises:
            StoreError: The state cannot be read.
        """
        found = read_or_none(self.path / STATE)
        if found is None:
            return None
        try:
            return decode(RunState, found)
        except ValidationError as error:
            raise StoreError(
                f"{str(self.path / STATE)!r} is damaged ({error.error_count()} places); name"
                " another folder to train anew"
            ) from error

    def save(self, state: RunState) -> None:
        """Write the documents, the history and the totals, and last the state."""
        for document in (state.current, state.best):
            self._version(document)
        self._write(BEST, state.best.encode())
        self._json(HISTORY, [plain(one) for one in state.history])
        self._json("totals.json", {name: plain(used) for name, used in state.totals.items()})
        self._write(STATE, encode(state).encode())

    def save_step(self, step: int, proposed: Proposed) -> None:
        """Write what a step came to before the gate."""
        folder = f"steps/{step:04d}"
        self._json(f"{folder}/rollouts.json", [plain(one) for one in proposed.attempts])
        self._json(
            f"{folder}/patches.json", [[plain(e) for e in patch] for patch in proposed.patches]
        )
        self._json(f"{folder}/merged.json", [plain(edit) for edit in proposed.merged])
        self._json(f"{folder}/ranking.json", [plain(edit) for edit in proposed.ranking])
        self._json(f"{folder}/apply.json", [plain(one) for one in proposed.applied])
        for one in proposed.candidates:
            self._version(one.content)

    def save_note(self, name: str, value: object) -> None:
        """Write one more artifact of JSON values under a name such as ``epochs/01/meta``."""
        self._json(f"{name}.json", value)

    def save_scores(self, outcome: TrainOutcome) -> None:
        """Write baseline, final and test scores."""
        scores = {
            "baseline": outcome.baseline,
            "final": outcome.final,
            "test_baseline": outcome.test_baseline,
            "test_final": outcome.test_final,
        }
        self._json(
            "scores.json",
            {name: plain(one) if one is not None else None for name, one in scores.items()},
        )

    def _version(self, document: str) -> None:
        name = f"skills/{text_hash(document)[:12]}.md"
        if not (self.path / name).exists():
            self._write(name, document.encode())

    def _json(self, name: str, value: object) -> None:
        self._write(name, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))

    def _write(self, name: str, content: bytes) -> None:
        path = self.path / name
        make_private(path.parent)
        write_atomic(path, content, mode=PRIVATE_FILE)
