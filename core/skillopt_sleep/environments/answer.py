"""Shell commands that an answer proposes, read from its fenced blocks; runs none of them."""

from __future__ import annotations

import regex

_FENCE = regex.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*\n"
    r"(?P<body>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)",
    regex.MULTILINE | regex.DOTALL,
)
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal", "shell-session"})
_SESSIONS = frozenset({"console", "terminal", "shell-session"})
_HEREDOC = regex.compile(r"<<-?\s*(['\"]?)(\w+)\1")


def proposed_commands(answer: str) -> tuple[str, ...]:
    """Return the shell commands of all shell blocks, oldest first.

    Comment lines are left out, lines that end in a backslash are joined, here-documents belong to
    their command. In a block that shows a session, or where any line starts with ``$``, only
    those lines count and the rest is output.
    """
    found: list[str] = []
    for block in _FENCE.finditer(answer):
        language = block["language"].lower()
        lines = block["body"].splitlines()
        prompted = [line.strip() for line in lines if line.lstrip().startswith(("$ ", "> $ "))]
        if prompted and (language in _SHELLS or not language):
            found += [line.lstrip("> ").removeprefix("$ ").strip() for line in prompted]
        elif language in _SHELLS - _SESSIONS:
            found += _joined(lines)
    return tuple(line for line in found if line)


def _joined(lines: list[str]) -> list[str]:
    commands: list[str] = []
    current: list[str] = []
    ending = ""
    for line in lines:
        current.append(line.strip() if not ending else line)
        if ending:
            if line.strip() == ending:
                ending = ""
        elif heredoc := _HEREDOC.search(line):
            ending = heredoc[2]
        if not ending and not line.endswith("\\"):
            commands.append(_one(current))
            current = []
    if current:
        commands.append(_one(current))
    return [one for one in commands if one and not one.startswith("#")]


def _one(lines: list[str]) -> str:
    return "\n".join(lines).replace("\\\n", " ").strip()
