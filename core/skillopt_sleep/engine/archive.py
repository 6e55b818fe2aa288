"""The archive desk: logs harvested, sessions listed, searched and forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.config import Config
from skillopt_sleep.engine.forgetting import Forgetting
from skillopt_sleep.mine.signals import corrections
from skillopt_sleep.model.progress import Progress, Tick, silent
from skillopt_sleep.model.session import HarvestReport, Hit, LogUsage, Session
from skillopt_sleep.redact import redact
from skillopt_sleep.sources import SOURCES
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.world import World


@dataclass(frozen=True, slots=True)
class Archive:
    """What was read from the logs, redacted."""

    world: World
    config: Config
    database: Database

    @property
    def _store(self) -> SessionStore:
        return SessionStore(self.database)

    def source_names(self) -> tuple[str, ...]:
        """Return the names of all sources, sorted."""
        return SOURCES.names()

    def known(self, source: str) -> str:
        """Return ``source`` if there is one of this name.

        Raises:
            UnknownPluginError: There is none.
        """
        return SOURCES.known(source)

    def harvest(
        self,
        *,
        only: Sequence[str] = (),
        file: Path | None = None,
        source: str = "",
        progress: Progress = silent,
    ) -> HarvestReport:
        """Read what is new in the logs.

        Args:
            only: Source names, or all that the settings name.
            file: One exported log instead of the usual places.
            source: Format of ``file``.
            progress: Told after each file.

        Raises:
            UnknownPluginError: There is no such source.
            SourceError: Logs exist but none can be reached.
        """

        def tell(name: str, done: int, total: int) -> None:
            progress(Tick(stage="harvest", done=done, total=total, note=name))

        return harvest(
            self.world,
            self.database,
            self.config.settings.harvest,
            only=only,
            file=file,
            source=source,
            progress=tell,
        )

    def sessions(
        self, *, harness: str = "", project: str = "", limit: int = 0
    ) -> tuple[Session, ...]:
        """Return archived sessions in log order; the newest ``limit`` of them if it is not 0."""
        return tuple(self._store.sessions(harness=harness, repository=project, limit=limit))

    def session(self, name: str) -> Session:
        """Return one session by its id, the harness's own id, or the beginning of either.

        Raises:
            StoreError: There is none, or several begin so.
        """
        return self._store.session(name)

    def search(self, words: str, *, limit: int = 20) -> tuple[Hit, ...]:
        """Return turns that hold these words, best first."""
        return self._store.search(words, limit=limit)

    def corrections(self, session: Session) -> tuple[str, ...]:
        """Return the human's words that correct the agent, in log order."""
        return tuple(turn.text for turn in corrections(session))

    def usage(self) -> tuple[LogUsage, ...]:
        """Return the tokens that the logs report, per day and model."""
        return self._store.usage()

    def forget(self, *, session: str = "", repository: str = "", everything: bool = False) -> int:
        """Purge sessions from archive, tasks and evidence; return how many; see ``Forgetting``."""
        return Forgetting(self.world, self.config, self.database).forget(
            session=session, repository=repository, everything=everything
        )

    def redacted(self, text: str) -> str:
        """Return ``text`` as it would be stored and sent."""
        return redact(text)
