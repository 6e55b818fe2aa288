"""GitHub Copilot CLI: headless flags, throwaway configuration, stream of events; runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt_sleep.agents.launch import Agent, Api, Errand, Launch, Told
from skillopt_sleep.agents.login import hand_over
from skillopt_sleep.agents.reading import Event, compact, cut, events, part, parts, words
from skillopt_sleep.agents.trouble import exit_trouble, trouble
from skillopt_sleep.model.attempt import Step
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import Finished

_TOKENS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
_FLAGS = (
    *("--output-format", "json", "--no-color", "--no-ask-user", "--disable-builtin-mcps"),
    *("--allow-tool=shell", "--allow-tool=write", "--disallow-temp-dir"),
)
_KEPT = ("session.error", "session.skills_loaded")
_SHELLS = ("bash", "powershell")


class Copilot:
    """Knows Copilot CLI, as of version 1.0.102; it reports no tokens of other people's models."""

    name = "copilot"
    program = "copilot"
    api: Api = "chat"
    skills = ".agents/skills"
    sandboxed = False

    def launch(self, errand: Errand) -> Launch:
        """Return how to start it; see ``Agent.launch``."""
        env = {"COPILOT_HOME": str(errand.home / ".copilot"), "COPILOT_AUTO_UPDATE": "false"}
        if errand.endpoint is not None:
            env |= {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": errand.endpoint.url,
                "COPILOT_PROVIDER_API_KEY": errand.endpoint.key or "no-key-is-wanted",
                "COPILOT_MODEL": errand.endpoint.model,
            }
        else:
            env |= {"COPILOT_MODEL": errand.model} if errand.model else {}
            env |= hand_over(
                errand,
                files=(".copilot/config.json",),
                variables=_TOKENS,
                program=self.program,
            )
        flags = (*_FLAGS, *(() if errand.tools else ("--available-tools=none",)))
        return Launch(arguments=("-p", errand.prompt, *flags), env=env)

    def told(self, errand: Errand, finished: Finished) -> Told:
        """Return what it told; see ``Agent.told``."""
        seen = list(_clean(finished.stdout))
        failed = [part(e, "data") for e in seen if e.get("type") == "session.error"]
        if failed:
            status: object = failed[-1].get("statusCode")
            known = status if isinstance(status, int) else None
            raise trouble(self.program, words(failed[-1].get("message")), status=known)
        messages = [part(e, "data") for e in seen if e.get("type") == "assistant.message"]
        if finished.code or not messages:
            raise exit_trouble(self.program, finished)
        requests = [request for message in messages for request in parts(message, "toolRequests")]
        commands = [
            words(part(request, "arguments").get("command"))
            for request in requests
            if request.get("name") in _SHELLS
        ]
        return Told(
            answer=words(messages[-1].get("content")),
            steps=tuple(step for event in seen for step in _steps(event)),
            commands=tuple(command for command in commands if command),
            tools=tuple(words(request.get("name")) for request in requests),
            model=words(messages[-1].get("model")),
            usage=Usage(calls=len(messages)),
            skill_listed=_listed(seen, errand.skill) if errand.skill else None,
            skill_loaded=_loaded(seen, requests, errand.skill) if errand.skill else None,
        )


def _clean(text: str) -> Iterator[Event]:
    """Yield the events that stay, without the passing ones that only draw a screen."""
    for event in events(text):
        if not event.get("ephemeral") or event.get("type") in _KEPT:
            yield event


def _steps(event: Event) -> Iterator[Step]:
    told = part(event, "data")
    if event.get("type") == "assistant.message":
        if text := words(told.get("content")):
            yield Step(role="assistant", text=text)
        for request in parts(told, "toolRequests"):
            yield Step(
                role="assistant",
                tool=words(request.get("name")),
                arguments=cut(compact(request.get("arguments"))),
            )
    elif event.get("type") == "tool.execution_complete":
        content = words(part(told, "result").get("content"))
        yield Step(role="tool", text=cut(content or words(part(told, "error").get("message"))))


def _listed(seen: Sequence[Event], skill: str) -> bool | None:
    for event in seen:
        if event.get("type") == "session.skills_loaded":
            return any(
                one.get("name") == skill and one.get("enabled") is not False
                for one in parts(part(event, "data"), "skills")
            )
    return None


def _loaded(seen: Sequence[Event], requests: Sequence[Event], skill: str) -> bool:
    """Whether the skill tool gave the skill, or its file was shown."""
    asked = {
        words(request.get("toolCallId"))
        for request in requests
        if part(request, "arguments").get("skill") == skill
        or words(part(request, "arguments").get("path")).endswith(f"/{skill}/SKILL.md")
    }
    ended = [part(e, "data") for e in seen if e.get("type") == "tool.execution_complete"]
    return any(e.get("toolCallId") in asked and e.get("success") is True for e in ended)


_CONFORMS: type[Agent] = Copilot
