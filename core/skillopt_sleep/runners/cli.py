"""Runs any agent CLI that ``agents`` knows: finds it, confines it, bounds it, reads its answer."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from skillopt_sleep.agents import find_version
from skillopt_sleep.agents.claude_code import ClaudeCode
from skillopt_sleep.agents.codex import Codex
from skillopt_sleep.agents.confine import bare_env, confined, sandbox
from skillopt_sleep.agents.copilot import Copilot
from skillopt_sleep.agents.forwarder import Toll, forwarding
from skillopt_sleep.agents.launch import Agent, Endpoint, Errand, Told
from skillopt_sleep.agents.opencode import OpenCode
from skillopt_sleep.agents.trouble import fault_of
from skillopt_sleep.backends.access import key_of, model_of
from skillopt_sleep.backends.anthropic import KEY_VARIABLES, TOKEN_VARIABLE, anthropic_url
from skillopt_sleep.backends.openai import openai_url
from skillopt_sleep.backends.presets import ALIASES, PRESETS, preset_of
from skillopt_sleep.config import BackendSettings, Settings
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.runners import Room, Runner
from skillopt_sleep.world import World


def claude_code(world: World, settings: Settings) -> Runner:
    """Return the runner of Claude Code."""
    return CliRunner(ClaudeCode(), world, settings)


def codex(world: World, settings: Settings) -> Runner:
    """Return the runner of Codex."""
    return CliRunner(Codex(), world, settings)


def copilot(world: World, settings: Settings) -> Runner:
    """Return the runner of Copilot CLI."""
    return CliRunner(Copilot(), world, settings)


def opencode(world: World, settings: Settings) -> Runner:
    """Return the runner of OpenCode."""
    return CliRunner(OpenCode(), world, settings)


class CliRunner:
    """Runs one agent CLI on errands, each in a room of its own."""

    def __init__(self, agent: Agent, world: World, settings: Settings) -> None:
        self.name = agent.name
        self.skills = agent.skills
        self._agent = agent
        self._world = world
        self._settings = settings

    @property
    def version(self) -> str:
        """Version of the CLI, or "" where it is not installed; asked for once."""
        return self._found

    @cached_property
    def _found(self) -> str:
        return find_version(self._world, self._agent.program)

    def obstacle(self) -> str:
        """Return why it cannot attempt anything here; see ``Runner.obstacle``."""
        program = self._agent.program
        if not self.version:
            return f"{program!r} is not installed"
        if not self._settings.replay.unconfined and not self._is_confined():
            return (
                f"nothing confines {program!r} on this machine; install bubblewrap, or allow it"
                " with 'replay.unconfined'"
            )
        try:
            endpoint = endpoint_for(self._agent, self._settings.target, self._world)
        except ConfigError as error:
            return str(error)
        if endpoint is None and not self._settings.replay.login:
            return (
                f"{program!r} cannot speak to the backend {self._settings.target.name!r}; choose"
                " another 'replay.runner', or let it use your login with 'replay.login'"
            )
        return ""

    def run(self, prompt: str, room: Room, *, skill: str, toll: Toll) -> Told:
        """Let the agent do what ``prompt`` asks; see ``Runner.run``."""
        replay = self._settings.replay
        endpoint = endpoint_for(self._agent, self._settings.target, self._world)
        errand = Errand(
            prompt=prompt,
            folder=room.folder,
            home=room.home,
            endpoint=None,
            login=self._world.roots.home if replay.login else None,
            env=self._world.env,
            skill=skill,
            turns=replay.max_turns,
        )
        if endpoint is None:
            toll()
            return self._answered(errand, room)
        patience = self._settings.target.timeout_s
        with forwarding(endpoint, self._agent.api, toll=toll, timeout_s=patience) as door:
            try:
                told = self._answered(replace(errand, endpoint=door.inside), room)
            except BackendError as error:
                if door.spent is not None:
                    raise door.spent from None
                if door.status >= 400:
                    raise BackendError(str(error), fault=fault_of("", door.status)) from None
                raise
        return replace(told, usage=replace(told.usage, calls=door.count))

    def _answered(self, errand: Errand, room: Room) -> Told:
        launch = self._agent.launch(errand)
        timeout_s = self._settings.replay.timeout_s
        finished = confined(self._world, room.top)(
            [self._path(), *launch.arguments],
            cwd=room.folder,
            env={**bare_env(self._world, room.home), **launch.env},
            stdin=launch.stdin,
            timeout_s=timeout_s,
        )
        if finished.timed_out:
            raise BackendError(
                f"{self._agent.program!r} did not end within {timeout_s:g} s; raise"
                " 'replay.timeout_s'",
                fault=Fault.TIMEOUT,
            )
        told = self._agent.told(errand, finished)
        if not told.answer.strip():
            raise BackendError(
                f"{self._agent.program!r} ended without an answer; try the task in a terminal",
                fault=Fault.MALFORMED,
            )
        return told

    def _path(self) -> str:
        found = shutil.which(self._agent.program, path=self._world.env.get("PATH", ""))
        return str(Path(found).absolute()) if found else self._agent.program

    def _is_confined(self) -> bool:
        return self._agent.sandboxed or bool(sandbox(self._world))


def endpoint_for(agent: Agent, target: BackendSettings, world: World) -> Endpoint | None:
    """Return the model under test as ``agent`` reaches it, or None where it cannot.

    Raises:
        ConfigError: Model, key or URL is missing.
    """
    name = ALIASES.get(target.name, target.name)
    if agent.api == "messages" and name == "anthropic":
        key, origin = key_of(target, world, KEY_VARIABLES, needed=True)
        return Endpoint(
            url=anthropic_url(target, world),
            key=key.get_secret_value() if key else "",
            bearer=origin == TOKEN_VARIABLE,
            model=model_of(target),
        )
    if agent.api != "messages" and (name in PRESETS or name in ("openai", "openai_compatible")):
        preset = preset_of(name)
        key, _ = key_of(target, world, preset.key_env, needed=preset.needs_key)
        return Endpoint(
            url=openai_url(target, world),
            key=key.get_secret_value() if key else "",
            model=model_of(target),
        )
    return None


_CONFORMS: type[Runner] = CliRunner
