"""Where the tools work, and how they ask the engine: in a thread, opened for one question.

The engine is imported by the first question, since importing it takes longer than a client likes
to wait for the list of tools.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError

from skillopt_sleep.errors import SleepError

if TYPE_CHECKING:
    from skillopt_sleep.engine import Engine

T = TypeVar("T")

_PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "DEVIN_PROJECT_DIR")
"""Where a client says which folder it works in; without one it is the server's own folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the tools work.

    Attributes:
        project: Folder unless an argument names another; None for the client's working folder.
        home: Folder that holds the harnesses' logs, or None for the user's own.
        state: Folder for our database and settings, or None for the usual one.
    """

    project: Path | None = None
    home: Path | None = None
    state: Path | None = None

    async def ask(self, project: str | None, question: Callable[[Engine], T]) -> T:
        """Return what ``question`` makes of the engine, in a thread.

        Raises:
            ToolError: The engine refused; the sentence says what to do.
        """

        def run() -> T:
            from skillopt_sleep.edge import open_engine  # noqa: PLC0415 - see above

            folder = self._folder(project)
            with open_engine(home=self.home, project=folder, state=self.state) as engine:
                return question(engine)

        try:
            return await anyio.to_thread.run_sync(run)
        except SleepError as error:
            raise ToolError(str(error)) from error
        except OSError as error:
            raise ToolError(f"the system said: {error}; mend that, then ask again") from error

    def _folder(self, project: str | None) -> Path:
        if project is None:
            return self.project or _client_folder()
        folder = Path(project)
        if not folder.is_absolute() or not folder.is_dir():
            raise ToolError(f"{project!r} is no folder; name the project by its absolute path")
        return folder


def _client_folder() -> Path:
    from skillopt_sleep.edge import real_world  # noqa: PLC0415 - see above

    world = real_world()
    named = [world.env[name] for name in _PROJECT_VARIABLES if world.env.get(name)]
    folders = [Path(name) for name in named if Path(name).is_dir()]
    return (folders[0] if folders else world.roots.cwd).resolve()
