"""Codex: headless flags, throwaway configuration, its event stream and its rollout; runs nothing.

The stream leaves commands out now and then, so the trajectory is read from the rollout, which
lies in the throwaway home.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillopt_sleep.agents.launch import Agent, Api, Endpoint, Errand, Launch, Told
from skillopt_sleep.agents.login import hand_over
from skillopt_sleep.agents.reading import Event, compact, cut, events, first, number, part, words
from skillopt_sleep.agents.trouble import exit_trouble, trouble
from skillopt_sleep.errors import BackendError
from skillopt_sleep.model.attempt import Step
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import Finished

_FOLDER = ".codex"
_KEY = "SKILLOPT_SLEEP_MODEL_KEY"
_CALLS = ("function_call", "custom_tool_call")
_SHELLS = ("exec_command", "shell", "shell_command")
_QUIET = (
    *("features.plugins=false", "features.hooks=false", "features.multi_agent=false"),
    *("sandbox_workspace_write.exclude_slash_tmp=true", 'web_search="disabled"'),
)
_NO_TOOLS = (
    *("features.shell_tool=false", "features.unified_exec=false", "features.goals=false"),
    "features.view_image=false",
)


class Codex:
    """Knows Codex, as of version 0.171; its own sandbox confines commands."""

    name = "codex"
    program = "codex"
    api: Api = "responses"
    skills = ".agents/skills"
    sandboxed = True

    def launch(self, errand: Errand) -> Launch:
        """Return how to start it; see ``Agent.launch``."""
        (errand.home / _FOLDER).mkdir(parents=True, exist_ok=True)
        env = {"CODEX_HOME": str(errand.home / _FOLDER)}
        options = [*_QUIET, *(() if errand.tools else _NO_TOOLS)]
        if errand.endpoint is not None:
            options += _reach(errand.endpoint)
            env[_KEY] = errand.endpoint.key or "none"
        else:
            options += [f"model={compact(errand.model)}"] if errand.model else []
            variables = ("CODEX_API_KEY", "OPENAI_API_KEY")
            env |= hand_over(
                errand,
                files=(f"{_FOLDER}/auth.json",),
                variables=variables,
                program=self.program,
            )
        arguments = [
            *("exec", "--json", "--skip-git-repo-check", "--ignore-user-config"),
            *("--ignore-rules", "-s", "workspace-write" if errand.tools else "read-only"),
            *("-C", str(errand.folder)),
            *(word for option in options for word in ("-c", option)),
            "-",
        ]
        return Launch(arguments=tuple(arguments), env=env, stdin=errand.prompt)

    def told(self, errand: Errand, finished: Finished) -> Told:
        """Return what it told; see ``Agent.told``."""
        seen = list(events(finished.stdout))
        ending = next((e for e in reversed(seen) if e.get("type") == "turn.completed"), None)
        if ending is None or finished.code:
            raise self._trouble(seen, finished)
        items = [part(e, "item") for e in seen if e.get("type") == "item.completed"]
        said = [words(i.get("text")) for i in items if i.get("type") == "agent_message"]
        log = list(_rollout(errand))
        entries = [part(e, "payload") for e in log if e.get("type") == "response_item"]
        steps = [step for entry in entries for step in _steps(entry)]
        commands = tuple(_command(entry) for entry in entries if _command(entry))
        context = [part(e, "payload") for e in log if e.get("type") == "turn_context"]
        return Told(
            answer=said[-1] if said else "",
            steps=tuple(steps),
            commands=commands,
            tools=tuple(step.tool for step in steps if step.role == "assistant" and step.tool),
            model=words(context[-1].get("model")) if context else "",
            usage=_usage(part(ending, "usage"), log),
            skill_listed=_listed(entries, errand.skill) if errand.skill else None,
            skill_loaded=(
                any(f"{errand.skill}/SKILL.md" in command for command in commands)
                if errand.skill
                else None
            ),
        )

    def _trouble(self, seen: Sequence[Event], finished: Finished) -> BackendError:
        failed = [e for e in seen if e.get("type") in ("turn.failed", "error")]
        if not failed:
            return exit_trouble(self.program, finished)
        last = failed[-1]
        said = words(part(last, "error").get("message")) or words(last.get("message"))
        return trouble(self.program, said)


def _reach(endpoint: Endpoint) -> list[str]:
    provider = (
        f'{{name="target",base_url={compact(endpoint.url)},wire_api="responses",'
        f'env_key="{_KEY}",request_max_retries=2,stream_max_retries=2}}'
    )
    return [
        'model_provider="target"',
        f"model={compact(endpoint.model)}",
        f"model_providers.target={provider}",
    ]


def _rollout(errand: Errand) -> Iterator[Event]:
    """Yield the records of all rollouts in the throwaway home, the turn's own last."""
    for path in sorted((errand.home / _FOLDER / "sessions").rglob("rollout-*.jsonl")):
        yield from events(path.read_text(encoding="utf-8", errors="replace"))


def _steps(entry: Event) -> Iterator[Step]:
    kind = str(entry.get("type"))
    if kind == "message" and entry.get("role") == "assistant":
        yield Step(role="assistant", text=words(entry.get("content")))
    elif kind in _CALLS:
        given = words(entry.get("arguments")) or compact(words(entry.get("input")))
        yield Step(role="assistant", tool=words(entry.get("name")), arguments=cut(given))
    elif kind.endswith("_output"):
        yield Step(role="tool", text=cut(words(entry.get("output"))))


def _command(entry: Event) -> str:
    if entry.get("type") not in _CALLS or entry.get("name") not in _SHELLS:
        return ""
    given = first(words(entry.get("arguments")))
    asked: object = given.get("cmd") or given.get("command")
    return asked if isinstance(asked, str) else ""


def _usage(said: Event, log: Sequence[Event]) -> Usage:
    cached = number(said.get("cached_input_tokens"))
    return Usage(
        calls=max(1, sum(e.get("type") == "token_usage_record" for e in log)),
        input_tokens=max(0, number(said.get("input_tokens")) - cached),
        output_tokens=number(said.get("output_tokens")),
        cache_read_tokens=cached,
        cache_write_tokens=number(said.get("cache_write_input_tokens")),
    )


def _listed(entries: Sequence[Event], skill: str) -> bool:
    told = [words(e.get("content")) for e in entries if e.get("role") == "developer"]
    return any(f"\n- {skill}:" in text for text in told)


_CONFORMS: type[Agent] = Codex
