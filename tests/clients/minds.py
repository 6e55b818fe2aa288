"""What the model on loopback does for each agent: red test, mend, green test, a last word.

It mends only where it has read the rule, or was told to by the human; each agent names its tools
in its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.clients.agent_server import Call, Heard, Say, Turn

TEST = "python3 -m unittest -q"
MEND = "sed -i 's/a - b/a + b/' calc.py"
RULE = "Swap the operator in calc.py"
SKILL = "learned-habits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """How one agent's model reads a skill and runs a command."""

    read: Callable[[Heard, str], Call]
    shell: Callable[[Heard, str], Call]


def _bash(heard: Heard, command: str) -> Call:
    return Call(heard.tool("Bash", "bash"), {"command": command, "description": "work"})


HANDS = {
    "claude_code": Hands(
        read=lambda heard, name: Call(heard.tool("Skill"), {"skill": name}), shell=_bash
    ),
    "codex": Hands(
        read=lambda heard, name: Call(
            heard.tool("exec_command"), {"cmd": f"cat .agents/skills/{name}/SKILL.md"}
        ),
        shell=lambda heard, command: Call(heard.tool("exec_command"), {"cmd": command}),
    ),
    "copilot": Hands(
        read=lambda heard, name: Call(heard.tool("skill"), {"skill": name}),
        shell=lambda heard, command: Call(
            heard.tool("bash"), {"command": command, "description": "work", "mode": "sync"}
        ),
    ),
    "opencode": Hands(
        read=lambda heard, name: Call(
            heard.tool("bash"),
            {"command": f"cat .agents/skills/{name}/SKILL.md", "description": "read"},
        ),
        shell=_bash,
    ),
}


def mender(agent: str, *, told: str = "The operator is wrong") -> Callable[[Heard], Turn]:
    """Return a model that mends ``calc.py`` if the skill's rule, or ``told``, is in its context."""
    hands = HANDS[agent]

    def mind(heard: Heard) -> Turn:
        if not heard.tools:
            return Say("A title")
        listed = SKILL in str(heard.body)
        knows = RULE in str(heard.body) or told in heard.prompt
        steps = [*([hands.read(heard, SKILL)] if listed else []), hands.shell(heard, TEST)]
        done = len(heard.results)
        if done < len(steps):
            return steps[done]
        if not knows:
            return Say("I looked at it and could not find the mistake.")
        more = [hands.shell(heard, MEND), hands.shell(heard, TEST)]
        at = done - len(steps)
        return more[at] if at < len(more) else Say("The sum is right now and the test passes.")

    return mind
