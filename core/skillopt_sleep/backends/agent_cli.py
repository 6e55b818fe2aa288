"""Agent CLIs with all tools off as models, for those who have a subscription and no key.

Each prompt is a run of its own, in an empty folder that harvest knows as ours, with an empty home:
no memory, skill, hook or tool of the user's is there. A backend with a URL or a key of its own
uses that; any other uses a copy of the CLI's login, which whoever chooses such a backend agrees to.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from skillopt_sleep.agents.claude_code import ClaudeCode
from skillopt_sleep.agents.codex import Codex
from skillopt_sleep.agents.confine import bare_env, confined
from skillopt_sleep.agents.copilot import Copilot
from skillopt_sleep.agents.launch import Agent, Endpoint, Errand, Told
from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.access import Access, key_of, url_host, url_of
from skillopt_sleep.backends.presets import ALIASES
from skillopt_sleep.backends.wire import check_model
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.files import make_private
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.world import Finished, World

WORKSPACE = "skillopt-sleep-workspace"
"""Folder by whose name harvest knows a session as our own."""

AGENTS: dict[str, Callable[[], Agent]] = {
    "claude_cli": ClaudeCode,
    "codex_cli": Codex,
    "copilot_cli": Copilot,
}
_HOSTS = {
    "claude_cli": "https://api.anthropic.com",
    "codex_cli": "https://chatgpt.com",
    "copilot_cli": "https://api.githubcopilot.com",
}
_URLS = {
    "claude_cli": "https://api.anthropic.com",
    "codex_cli": "https://api.openai.com/v1",
    "copilot_cli": "",
}
_KEYS = {
    "claude_cli": ("ANTHROPIC_API_KEY",),
    "codex_cli": ("OPENAI_API_KEY",),
    "copilot_cli": ("COPILOT_PROVIDER_API_KEY",),
}

_ASK = """\
Answer the request below in words alone. Use no tools and ask nothing back.

{system}"""
_SYSTEM = """\
<instructions>
{system}
</instructions>

"""


class AgentCliBackend:
    """Asks the model behind one agent CLI."""

    def __init__(self, settings: BackendSettings, world: World) -> None:
        """Find the CLI; nothing is started.

        Raises:
            ConfigError: It is not installed, or a URL or key is wrong.
        """
        self.name = settings.name
        self._agent = AGENTS[_kind(settings)]()
        self.model = settings.model or f"{self._agent.program} default"
        self._settings = settings
        self._world = world
        self._endpoint = _endpoint(settings, world)
        self._program = shutil.which(self._agent.program, path=world.env.get("PATH", ""))
        if self._program is None:
            raise ConfigError(
                f"the backend {self.name!r} needs the program {self._agent.program!r}, which is not"
                " installed; install it, or choose another backend"
            )

    def complete(self, prompt: Prompt) -> Reply:
        """Return the CLI's answer; see ``Backend.complete``."""
        begun = self._world.monotonic()
        with self._room() as top:
            told = self._told(prompt, top)
        if not told.answer.strip():
            raise BackendError(
                f"{self._agent.program!r} ended without an answer; try it in a terminal",
                fault=Fault.MALFORMED,
            )
        if self._settings.model and told.model:
            access = Access(url=self._agent.program, key=None, key_from="")
            # Names without a number, such as "sonnet", stand for whatever is newest.
            alias = not any(sign.isdigit() for sign in self._settings.model)
            check_model(access, self._settings.model, told.model, own_names=alias)
        return Reply(
            text=told.answer,
            model=told.model or self.model,
            usage=told.usage,
            seconds=self._world.monotonic() - begun,
        )

    @contextmanager
    def _room(self) -> Generator[Path]:
        above = self._world.roots.cache / WORKSPACE
        try:
            make_private(above)
            top = Path(tempfile.mkdtemp(prefix="chat-", dir=above))
        except OSError as error:
            raise BackendError(
                f"the folder {str(above)!r} cannot be used: {error}; make it writable",
                fault=Fault.UNREACHABLE,
            ) from None
        try:
            for name in ("folder", "home/tmp"):
                (top / name).mkdir(parents=True)
            yield top
        finally:
            shutil.rmtree(top, ignore_errors=True)

    def _told(self, prompt: Prompt, top: Path) -> Told:
        errand = Errand(
            prompt=as_one(prompt),
            folder=top / "folder",
            home=top / "home",
            endpoint=self._endpoint,
            login=None if self._endpoint else self._world.roots.home,
            env=self._world.env,
            turns=1,
            tools=False,
            model=self._settings.model,
        )
        finished = self._run(errand, top)
        if finished.timed_out:
            raise BackendError(
                f"{self._agent.program!r} did not end within {self._settings.timeout_s:g} s; raise"
                " 'timeout_s'",
                fault=Fault.TIMEOUT,
            )
        return self._agent.told(errand, finished)

    def _run(self, errand: Errand, top: Path) -> Finished:
        launch = self._agent.launch(errand)
        program = str(Path(self._program or self._agent.program).absolute())
        try:
            return confined(self._world, top)(
                [program, *launch.arguments],
                cwd=errand.folder,
                env={**bare_env(self._world, errand.home), **launch.env},
                stdin=launch.stdin,
                timeout_s=self._settings.timeout_s,
            )
        except OSError as error:
            # A prompt on the command line may be longer than the system allows.
            raise BackendError(
                f"{self._agent.program!r} cannot be started: {error.strerror}; see whether it runs"
                " in a terminal, and whether the skill is very long",
                fault=Fault.REFUSED,
            ) from None


def as_one(prompt: Prompt) -> str:
    """Return instructions and conversation as one text, for CLIs that take no more than that."""
    system = _SYSTEM.format(system=prompt.system) if prompt.system else ""
    head = _ASK.format(system=system)
    if len(prompt.messages) == 1:
        return f"{head}{prompt.messages[0].text}"
    said = [f"<{one.role}>\n{one.text}\n</{one.role}>" for one in prompt.messages]
    return f"{head}Go on with this conversation:\n\n" + "\n\n".join(said)


def cli_host(settings: BackendSettings, world: World) -> str:
    """Return the host that text would go to, or "" for this machine.

    Raises:
        ConfigError: The URL is none.
    """
    endpoint = _endpoint(settings, world)
    return url_host(endpoint.url if endpoint else _HOSTS[_kind(settings)])


def own_login(settings: BackendSettings) -> bool:
    """Return whether the CLI's own login is used, so that a subscription pays."""
    return not (settings.base_url or settings.key or settings.key_env)


def _kind(settings: BackendSettings) -> str:
    return ALIASES.get(settings.name, settings.name)


def _endpoint(settings: BackendSettings, world: World) -> Endpoint | None:
    if own_login(settings):
        return None
    key, _ = key_of(settings, world, _KEYS[_kind(settings)], needed=False)
    return Endpoint(
        url=url_of(settings, world, default=_URLS[_kind(settings)], variable=""),
        key=key.get_secret_value() if key else "",
        model=settings.model,
    )


_CONFORMS: type[Backend] = AgentCliBackend
