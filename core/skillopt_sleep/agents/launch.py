"""What an agent CLI is asked to do and what it tells of it, the same for every CLI.

Values and one Protocol; starts nothing. An agent file knows one CLI: its flags, its folders, its
output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from skillopt_sleep.model.attempt import Step
from skillopt_sleep.model.usage import NO_USAGE, Usage
from skillopt_sleep.world import Finished

Api = Literal["messages", "responses", "chat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The model that a CLI is to use, apart from its own login.

    Attributes:
        url: Base URL as the API's SDKs take it.
        key: The key, or "" where none is wanted.
        bearer: Whether the key is a bearer token rather than an API key.
        model: The provider's id of the model.
    """

    url: str
    key: str = field(default="", repr=False)
    bearer: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One bounded piece of headless work.

    Attributes:
        prompt: What is asked.
        folder: The folder to work in.
        home: An empty folder that stands in for the user's home.
        endpoint: The model, or None to use the CLI's own login.
        login: The user's home to take a copy of the CLI's login from, or None.
        env: The user's environment; a CLI takes its own login variables from it, with ``login``.
        skill: Name of the skill that lies in the folder, or "".
        turns: Most replies of the model, where the CLI can count them.
        tools: Whether the agent may use its tools.
        model: Model to use with the CLI's own login, or "" for the one it chooses.
    """

    prompt: str
    folder: Path
    home: Path
    endpoint: Endpoint | None
    login: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    skill: str = ""
    turns: int = 40
    tools: bool = True
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start a CLI on an errand.

    Attributes:
        arguments: What follows the program's path.
        env: Variables that it needs besides the common ones; they hold keys.
        stdin: What it reads.
    """

    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    stdin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a CLI tells of an errand that it finished.

    Attributes:
        answer: The final answer.
        steps: What was said and done, oldest first, without the prompt.
        commands: Shell commands that were run, oldest first.
        tools: Names of the tools called, in order.
        model: Model that answered, or "" where the CLI does not say.
        usage: What it cost.
        skill_listed: Whether the model was told of the skill; None where the CLI does not say.
        skill_loaded: Whether the skill's text was read; None where the CLI does not say.
    """

    answer: str
    steps: tuple[Step, ...] = ()
    commands: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    model: str = ""
    usage: Usage = NO_USAGE
    skill_listed: bool | None = None
    skill_loaded: bool | None = None


class Agent(Protocol):
    """Knows one agent CLI."""

    @property
    def name(self) -> str:
        """Name of it in settings and registries."""
        ...

    @property
    def program(self) -> str:
        """Name of its executable."""
        ...

    @property
    def api(self) -> Api:
        """The API that its model must speak."""
        ...

    @property
    def skills(self) -> str:
        """Folder, below the one it works in, where it looks for skills by itself."""
        ...

    @property
    def sandboxed(self) -> bool:
        """Whether it confines commands to the folder by itself."""
        ...

    def launch(self, errand: Errand) -> Launch:
        """Return how to start it; writes its settings, and a copy of its login, into the home.

        Raises:
            ConfigError: A login is wanted and the user has none.
        """
        ...

    def told(self, errand: Errand, finished: Finished) -> Told:
        """Return what it told; ``finished`` ended by itself, in time.

        Raises:
            BackendError: It failed, or printed an error in place of an answer.
        """
        ...
