"""Claude Code: headless flags, throwaway configuration, stream of JSON events; runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skillopt_sleep.agents.launch import Agent, Api, Endpoint, Errand, Launch, Told
from skillopt_sleep.agents.login import hand_over
from skillopt_sleep.agents.reading import Event, compact, cut, events, number, part, parts, words
from skillopt_sleep.agents.trouble import exit_trouble, trouble
from skillopt_sleep.model.attempt import Step
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import Finished

_TOOLS = "Bash,BashOutput,Edit,Glob,Grep,KillShell,NotebookEdit,Read,Skill,TodoWrite,Write"
_QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
}
_TOKENS = ("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY")
_CREDENTIALS = ".claude/.credentials.json"


class ClaudeCode:
    """Knows Claude Code, as of version 2.1."""

    name = "claude_code"
    program = "claude"
    api: Api = "messages"
    skills = ".claude/skills"
    sandboxed = False

    def launch(self, errand: Errand) -> Launch:
        """Return how to start it; see ``Agent.launch``."""
        env = dict(_QUIET)
        if errand.endpoint is not None:
            env |= _reach(errand.endpoint)
        else:
            env |= hand_over(errand, files=(_CREDENTIALS,), variables=_TOKENS, program=self.program)
        return Launch(arguments=tuple(_arguments(errand)), env=env, stdin=errand.prompt)

    def told(self, errand: Errand, finished: Finished) -> Told:
        """Return what it told; see ``Agent.told``."""
        seen = list(events(finished.stdout))
        ending = next((one for one in reversed(seen) if one.get("type") == "result"), None)
        if ending is None:
            raise exit_trouble(self.program, finished)
        answer = words(ending.get("result"))
        if ending.get("is_error") or ending.get("subtype") != "success" or finished.code:
            said = [answer, *map(str, ending.get("errors") or ()), str(ending.get("subtype", ""))]
            status = number(ending.get("api_error_status")) or None
            raise trouble(self.program, "; ".join(filter(None, said)), status=status)
        steps = [step for one in seen for step in _steps(one)]
        calls = [(words(b.get("name")), part(b, "input")) for b in _blocks(seen, "tool_use")]
        return Told(
            answer=answer,
            steps=tuple(steps),
            commands=tuple(words(c.get("command")) for tool, c in calls if tool == "Bash"),
            tools=tuple(tool for tool, _ in calls),
            model=_model(seen),
            usage=_usage(seen, ending),
            skill_listed=_listed(seen, errand.skill) if errand.skill else None,
            skill_loaded=_loaded(seen, errand.skill) if errand.skill else None,
        )


def _reach(endpoint: Endpoint) -> dict[str, str]:
    key = "ANTHROPIC_AUTH_TOKEN" if endpoint.bearer else "ANTHROPIC_API_KEY"
    return {"ANTHROPIC_BASE_URL": endpoint.url, key: endpoint.key}


def _arguments(errand: Errand) -> list[str]:
    # Memory files are looked for in all folders above, up to the root; those are not the clone's.
    above = [str(top / name) for top in _above(errand.folder) for name in _MEMORY]
    settings = {"claudeMdExcludes": above, "disableAllHooks": True}
    found = [
        *("-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence"),
        *("--setting-sources", "project", "--settings", compact(settings)),
        *("--strict-mcp-config", "--mcp-config", '{"mcpServers":{}}'),
        *("--permission-mode", "acceptEdits", "--max-turns", str(errand.turns)),
        *("--tools", _TOOLS if errand.tools else ""),
    ]
    if errand.tools:
        found += ["--allowedTools", _TOOLS]
    if model := errand.endpoint.model if errand.endpoint else errand.model:
        found += ["--model", model]
    return found


_MEMORY = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/**")


def _above(folder: Path) -> list[Path]:
    root = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
    return list(root.parents)


def _steps(event: Event) -> list[Step]:
    made: list[Step] = []
    kind = event.get("type")
    if kind not in ("assistant", "user") or event.get("isSynthetic"):
        return made
    for block in parts(part(event, "message"), "content"):
        match block.get("type"):
            case "text":
                made.append(Step(role=str(kind), text=words(block.get("text"))))
            case "tool_use":
                made.append(
                    Step(
                        role="assistant",
                        tool=words(block.get("name")),
                        arguments=cut(compact(block.get("input"))),
                    )
                )
            case "tool_result":
                made.append(Step(role="tool", text=cut(words(block.get("content")))))
            case _:
                continue
    return made


def _blocks(seen: Sequence[Event], kind: str) -> list[Event]:
    messages = [part(one, "message") for one in seen]
    blocks = [block for message in messages for block in parts(message, "content")]
    return [block for block in blocks if block.get("type") == kind]


def _model(seen: Sequence[Event]) -> str:
    models = [words(part(one, "message").get("model")) for one in seen if _spoken(one)]
    return next((model for model in reversed(models) if model), "")


def _spoken(event: Event) -> bool:
    return event.get("type") == "assistant"


def _usage(seen: Sequence[Event], ending: Event) -> Usage:
    usage = part(ending, "usage")
    replies = {words(part(one, "message").get("id")) for one in seen if _spoken(one)}
    cost = ending.get("total_cost_usd")
    return Usage(
        calls=len(replies),
        input_tokens=number(usage.get("input_tokens")),
        output_tokens=number(usage.get("output_tokens")),
        cache_read_tokens=number(usage.get("cache_read_input_tokens")),
        cache_write_tokens=number(usage.get("cache_creation_input_tokens")),
        dollars=float(cost) if isinstance(cost, int | float) else 0.0,
    )


def _listed(seen: Sequence[Event], skill: str) -> bool | None:
    for one in seen:
        if one.get("type") == "system" and one.get("subtype") == "init" and "skills" in one:
            return skill in one["skills"]
    return None


def _loaded(seen: Sequence[Event], skill: str) -> bool:
    """Whether the skill's text reached the model: through the Skill tool, or read as a file."""
    told = [part(one, "tool_use_result") for one in seen]
    read = [words(part(block, "input").get("file_path")) for block in _blocks(seen, "tool_use")]
    return any(one.get("success") is True and one.get("commandName") == skill for one in told) or (
        any(path.endswith(f"/{skill}/SKILL.md") for path in read)
    )


_CONFORMS: type[Agent] = ClaudeCode
