"""The simulated model: a small agent with bad habits that follows the rules its skill holds.

It is no language model. It knows a dozen kinds of request about Python packages, does them with
``pip`` unless a rule says otherwise, and errs at a set rate. As an optimizer it turns what the
human said into a rule, and adds one that changes nothing, so that there is something to turn down.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable

from skillopt_sleep_server.demo.wire import Asked

FOLLOWS = 0.95
"""Share of attempts in which a rule of the skill is followed."""

BY_ITSELF = 0.05
"""Share of attempts in which the agent does the right thing unasked."""

IDLE_RULE = "Take a moment to think about what the request is really about before you begin."

_SKILL = re.compile(r"<skill>\n(.*?)\n</skill>", re.DOTALL)
_PREFER = re.compile(
    r"\buse\s+`?([\w.-]+)`?\s*,?\s+(?:instead of|rather than|(?:and\s+)?not|never)\s+`?([\w.-]+)`?",
    re.IGNORECASE,
)
_SILENT = re.compile(r"\b(?:no|without|never run) commands?\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^(\d+)[.:)]", re.MULTILINE)
_QUOTED_EDIT = re.compile(
    r"^(\d+)\. (\w+)(?: \[[^\]]*\])? \(support \d+\): (.*?) -- ", re.MULTILINE
)

# What is asked for: a pattern, the way with pip, the way with uv.
_WORK = (
    (
        r"virtual environment|venv",
        "python -m venv .venv && pip install -r requirements.txt",
        "uv venv && uv sync",
    ),
    (r"dev dependency", "pip install {name}", "uv add --dev {name}"),
    (r"\b(remove|drop|unused)\b", "pip uninstall -y {name}", "uv remove {name}"),
    (
        r"\b(upgrade|bump|latest)\b",
        "pip install --upgrade {name}",
        "uv lock --upgrade-package {name}",
    ),
    (r"outdated", "pip list --outdated", "uv pip list --outdated"),
    (r"freeze|lock file", "pip freeze > requirements.lock", "uv lock"),
    (r"wheel", "pip install build && python -m build --wheel", "uv build --wheel"),
    (
        r"server",
        "pip install -r requirements.txt && uvicorn harbor.app:app",
        "uv run uvicorn harbor.app:app",
    ),
    (r"install|add|package", "pip install {name}", "uv add {name}"),
)
_PACKAGES = re.compile(r"\b(requests|httpx|numpy|pandas|ruff|rich|pytest)\b")


class SimulatedModel:
    """Answers what a night asks; equal questions get a new draw of the noise each time."""

    def __init__(self, seed: int = 1, *, ideas: tuple[str, ...] = (IDLE_RULE,)) -> None:
        """Make a model.

        Args:
            seed: Equal seeds give equal noise.
            ideas: Rules it proposes as an optimizer beside what the human said.
        """
        self._seed = seed
        self._ideas = ideas
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> str:
        """Return the answer to one request."""
        for mark, answer in _ROLES:
            if mark in asked.system:
                return answer(asked)
        if "You see trials" in asked.system:
            return _reflect(asked, self._ideas)
        return self._attempt(asked)

    def _attempt(self, asked: Asked) -> str:
        skill = "".join(_SKILL.findall(asked.system))
        preferred = _preferences(skill).get("pip", "")
        luck = self._luck(asked)
        if _SILENT.search(skill) and luck < FOLLOWS:
            return "Done, the way you like it."
        follows = luck < FOLLOWS if preferred == "uv" else luck < BY_ITSELF
        return _work(asked.user, modern=follows)

    def _luck(self, asked: Asked) -> float:
        question = f"{asked.system}\0{asked.user}"
        with self._lock:
            self._asked[question] += 1
            turn = self._asked[question]
        digest = hashlib.sha256(f"{self._seed}\0{turn}\0{question}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64


def _work(request: str, *, modern: bool) -> str:
    name = (_PACKAGES.findall(request) or ["the-package"])[-1]
    for pattern, old, new in _WORK:
        if re.search(pattern, request, re.IGNORECASE):
            command = (new if modern else old).format(name=name)
            return f"This does what you asked for:\n\n```bash\n{command}\n```\n"
    return "I looked at it and have nothing to change."


def _preferences(text: str) -> dict[str, str]:
    """Return tool to the one to be used in its place, as sentences like "use X, not Y" say."""
    return {old.lower(): new.lower() for new, old in _PREFER.findall(text)}


def _reflect(asked: Asked, ideas: tuple[str, ...]) -> str:
    rules = [
        f"Use `{new}` instead of `{old}` for every command that installs, runs or builds something."
        for old, new in sorted(_preferences(_said(asked.user)).items())
    ]
    labels = re.findall(r"^## Trial (T\d+)", asked.user, re.MULTILINE)
    edits = [
        {"op": "add", "anchor": "", "text": rule, "why": why, "trials": labels}
        for rule, why in (
            *((rule, "the human corrected this in several sessions") for rule in rules),
            *((idea, "it may help") for idea in ideas),
        )
        if rule not in asked.user
    ]
    return json.dumps({"edits": edits})


def _said(text: str) -> str:
    """Return the human's own words in a prompt to the optimizer."""
    marked = re.findall(
        r"The human's own words about it.*?\n(.*?)(?=\n### |\nSeen in the logs|\n## |\Z)",
        text,
        re.DOTALL,
    )
    return "\n".join(marked)


def _nothing(key: str, value: object) -> Callable[[Asked], str]:
    return lambda _asked: json.dumps({key: value})


def _merge(asked: Asked) -> str:
    groups: dict[str, list[int]] = {}
    for number, _kind, text in _QUOTED_EDIT.findall(asked.user):
        groups.setdefault(text, []).append(int(number))
    return json.dumps(
        {
            "edits": [
                {
                    "from": numbers,
                    "op": "add",
                    "anchor": "",
                    "text": text,
                    "why": "said several times",
                }
                for text, numbers in groups.items()
            ]
        }
    )


def _rank(asked: Asked) -> str:
    return json.dumps(
        {"order": [int(number) for number in _NUMBERED.findall(asked.user)], "keep": 2}
    )


def _corrections(asked: Asked) -> str:
    rows = re.findall(r"^(\d+)\. <<<words\s(.*?)\swords>>>", asked.user, re.MULTILINE | re.DOTALL)
    return json.dumps({"corrections": [int(number) for number, row in rows if _PREFER.search(row)]})


def _name(asked: Asked) -> str:
    words = re.findall(r"[a-z]{4,}", asked.user.partition("<<<words")[2].lower())
    return json.dumps({"name": " ".join(words[:5]) or "a request", "checks": []})


_ROLES: tuple[tuple[str, Callable[[Asked], str]], ...] = (
    ("You see edits that were proposed apart", _merge),
    ("You see proposed edits. Rank them", _rank),
    ("You advise yourself", _nothing("advice", "")),
    ("You look at requests that one person made", _name),
    ("numbered remarks of a person", _corrections),
)
