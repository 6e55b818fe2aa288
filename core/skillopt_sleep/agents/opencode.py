"""OpenCode: headless flags, throwaway configuration, stream of JSON parts; runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt_sleep.agents.launch import Agent, Api, Endpoint, Errand, Launch, Told
from skillopt_sleep.agents.login import hand_over
from skillopt_sleep.agents.reading import Event, compact, cut, events, number, part, words
from skillopt_sleep.agents.trouble import exit_trouble, trouble
from skillopt_sleep.model.attempt import Step
from skillopt_sleep.model.usage import NO_USAGE, Usage
from skillopt_sleep.world import Finished

_PROVIDER = "target"
_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
}
_SETTINGS = {
    "autoupdate": False,
    "share": "disabled",
    "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
}
_TOKENS = ("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")


class OpenCode:
    """Knows OpenCode, as of version 1.18; it does not say which skills it listed."""

    name = "opencode"
    program = "opencode"
    api: Api = "chat"
    skills = ".agents/skills"
    sandboxed = False

    def launch(self, errand: Errand) -> Launch:
        """Return how to start it; see ``Agent.launch``."""
        settings: Event = dict(_SETTINGS)
        env = dict(_QUIET)
        if errand.endpoint is not None:
            settings |= _reach(errand.endpoint)
        else:
            env |= hand_over(
                errand,
                files=(".local/share/opencode/auth.json",),
                variables=_TOKENS,
                program=self.program,
            )
        if not errand.tools:
            settings["tools"] = {"*": False}
        # Its settings file would be below the folder that holds the login; the variable wins.
        env["OPENCODE_CONFIG_CONTENT"] = compact(settings)
        return Launch(arguments=("run", "--format", "json"), env=env, stdin=errand.prompt)

    def told(self, errand: Errand, finished: Finished) -> Told:
        """Return what it told; see ``Agent.told``."""
        seen = list(events(finished.stdout))
        failed = [part(e, "error") for e in seen if e.get("type") == "error"]
        if failed:
            told = part(failed[-1], "data")
            why = words(told.get("message")) or words(failed[-1].get("name"))
            raise trouble(self.program, why, status=number(told.get("statusCode")) or None)
        steps = [step for event in seen for step in _steps(event)]
        said = [step.text for step in steps if step.role == "assistant" and step.text]
        if finished.code or not said:
            raise exit_trouble(self.program, finished)
        calls = [part(e, "part") for e in seen if e.get("type") == "tool_use"]
        commands = [words(part(c, "state", "input").get("command")) for c in calls]
        return Told(
            answer=said[-1],
            steps=tuple(steps),
            commands=tuple(command for command in commands if command),
            tools=tuple(words(call.get("tool")) for call in calls),
            model=errand.endpoint.model if errand.endpoint else "",
            usage=_usage(seen),
            skill_loaded=_loaded(calls, errand.skill) if errand.skill else None,
        )


def _reach(endpoint: Endpoint) -> Event:
    model = f"{_PROVIDER}/{endpoint.model}"
    provider: Event = {
        "npm": "@ai-sdk/openai-compatible",
        "name": _PROVIDER,
        "options": {"baseURL": endpoint.url, "apiKey": endpoint.key or "none"},
        "models": {endpoint.model: {"name": endpoint.model}},
    }
    return {"model": model, "small_model": model, "provider": {_PROVIDER: provider}}


def _steps(event: Event) -> Iterator[Step]:
    told = part(event, "part")
    if event.get("type") == "text":
        yield Step(role="assistant", text=words(told.get("text")))
    elif event.get("type") == "tool_use":
        state = part(told, "state")
        given = cut(compact(state.get("input")))
        yield Step(role="assistant", tool=words(told.get("tool")), arguments=given)
        yield Step(role="tool", text=cut(words(state.get("output")) or words(state.get("error"))))


def _usage(seen: Sequence[Event]) -> Usage:
    ended = [part(e, "part", "tokens") for e in seen if e.get("type") == "step_finish"]
    spent = [
        Usage(
            calls=1,
            input_tokens=number(tokens.get("input")),
            output_tokens=number(tokens.get("output")) + number(tokens.get("reasoning")),
            cache_read_tokens=number(part(tokens, "cache").get("read")),
            cache_write_tokens=number(part(tokens, "cache").get("write")),
        )
        for tokens in ended
    ]
    return sum(spent, NO_USAGE)


def _loaded(calls: Sequence[Event], skill: str) -> bool:
    """Whether the skill tool gave the skill, or its file was read."""
    for call in calls:
        state = part(call, "state")
        given = part(state, "input")
        named = call.get("tool") == "skill" and given.get("name") == skill
        place = f"/{skill}/SKILL.md"
        read = words(given.get("filePath")).endswith(place) or place in words(given.get("command"))
        if (named or read) and state.get("status") == "completed":
            return True
    return False


_CONFORMS: type[Agent] = OpenCode
