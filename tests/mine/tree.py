"""A log tree of real requests in several wordings, languages and harnesses, as sessions.

Each row says what recurs; the rest is noise that comes once. Built in code, so that it needs no
log format and can be read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from skillopt_sleep.model.session import Origin, Session, ToolCall, Turn, TurnKind

START = datetime(2025, 12, 1, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something in a session: a human's words, the agent's, a command it ran, or an event."""

    kind: TurnKind = TurnKind.PROMPT
    text: str = ""
    command: str = ""
    output: str = ""
    failed: bool = False
    wrote: str = ""


def asked(text: str) -> Said:
    return Said(text=text)


def remarked(text: str) -> Said:
    return Said(kind=TurnKind.REMARK, text=text)


def replied(text: str) -> Said:
    return Said(kind=TurnKind.ASSISTANT, text=text)


def ran(command: str, *, failed: bool = False, output: str = "") -> Said:
    return Said(command=command, failed=failed, output=output)


def wrote(text: str) -> Said:
    return Said(wrote=text)


def event(kind: TurnKind) -> Said:
    return Said(kind=kind)


def session(
    name: str,
    *said: Said,
    day: float = 0,
    harness: str = "claude",
    cwd: str = "/home/me/shop",
    origin: Origin = Origin.HUMAN,
    skills: Sequence[str] = (),
) -> Session:
    """Return a session of what was said and done, a minute apart, begun ``day`` days in."""
    begun = START + timedelta(days=day)
    turns: list[Turn] = []
    calls: list[ToolCall] = []
    for minute, one in enumerate(said):
        at = begun + timedelta(minutes=minute)
        if one.command or one.wrote:
            arguments = {"command": one.command} if one.command else {"content": one.wrote}
            calls.append(
                ToolCall(
                    id=f"{name}-{minute}",
                    name="Bash" if one.command else "Write",
                    arguments=json.dumps(arguments),
                    after=len(turns) - 1,
                    command=one.command,
                    files=("src/app.py",) if one.wrote else (),
                    output=one.output,
                    error=one.failed,
                    exit_code=int(one.failed),
                    at=at,
                )
            )
        else:
            turns.append(Turn(index=len(turns), kind=one.kind, text=one.text, at=at, line=minute))
    return Session(
        id=f"{harness}:{name}",
        harness=harness,
        session_id=name,
        path=f"/logs/{name}.jsonl",
        origin=origin,
        cwd=cwd,
        started_at=begun,
        ended_at=begun + timedelta(minutes=len(said)),
        turns=tuple(turns),
        calls=tuple(calls),
        skills=tuple(skills),
    )


INSTALL = (
    "add the dependency httpx to the project",
    "please add httpx as a dependency of the project",
    "add a dependency on rich to this project",
    "could you add pydantic to the project dependencies?",
)
NOTES = (
    "write the release notes for version 1.4",
    "write release notes for 1.5.0",
    "can you write the release notes for version 1.6 please",
)
FAILING = (
    "fix the failing tests in tests/test_cart.py",
    "fix the failing test in tests/test_orders.py",
    "the tests in tests/test_users.py are failing, fix them",
)
FEHLER = (
    "übersetze die Fehlermeldungen in der Datei messages.py ins Deutsche",
    "übersetze bitte die Fehlermeldungen in errors.py ins Deutsche",
    "übersetze alle Fehlermeldungen in forms.py ins Deutsche",
)
MIGRATION = (
    "ユーザーテーブルのマイグレーションを作成してください",
    "注文テーブルのマイグレーションを作成してください",
    "商品テーブルのマイグレーションを作成して",
)
RECURRING = {
    "dependency": INSTALL,
    "notes": NOTES,
    "failing": FAILING,
    "translate": FEHLER,
    "migration": MIGRATION,
}
ONCE = (
    "why does the login page redirect twice after a password reset?",
    "draw a sequence diagram of the checkout",
    "rename the class Basket to Cart everywhere",
    "what is the difference between a lock and a semaphore",
    "set up a pre-commit hook that formats the code",
    "our docker image is 2 GB, make it smaller",
    "explain the caching layer to me as if I were new here",
    "schreibe eine E-Mail an das Team über den Ausfall gestern",
    "voeg een donkere modus toe aan de instellingenpagina",
    "explique-moi comment fonctionne la file d'attente",
    "将日志输出改为 JSON 格式",
    "find out who calls the function total_price",
    "generate sample data for the demo, 50 customers",
    "upgrade the frontend to the newest framework version",
    "the map does not show markers on small screens",
    "hi",
    "thanks, that was all",
    "compare the two payment providers in a table",
    "delete all branches that were merged before June",
    "benchmark the search endpoint with 100 concurrent users",
)


def installs() -> list[Session]:
    made: list[Session] = []
    corrections = (
        "no, use uv instead of pip",
        "use uv, not pip",
        "no, use uv instead of pip please",
        "nein, nimm uv statt pip",
    )
    for n, text in enumerate(INSTALL):
        made.append(
            session(
                f"install-{n}",
                asked(text),
                ran(f"pip install package{n}"),
                replied("I installed the package with pip and pinned it in requirements.txt."),
                asked(corrections[n]),
                ran(f"uv add package{n}"),
                replied("I added the package with uv; the lock file is up to date."),
                day=2 * n,
                harness=("claude", "codex", "claude", "copilot")[n],
                cwd=("/home/me/shop", "/home/me/blog")[n % 2],
            )
        )
    return made


def notes() -> list[Session]:
    first = replied("## Notes 🎉\n\nThis release brings a faster search and fixes the login page.")
    second = replied("## Notes\n\nThis release brings a faster search and fixes the login page.")
    return [
        session(f"notes-{n}", asked(text), first, asked("no emoji"), second, day=7 * n + 0.2)
        for n, text in enumerate(NOTES)
    ]


def failing() -> list[Session]:
    return [
        session(
            f"failing-{n}",
            asked(text),
            ran("pytest -q tests", failed=True, output="1 failed: AssertionError"),
            wrote("def total(items):\n    return sum(item.price for item in items)\n"),
            ran("pytest -q tests", output="12 passed"),
            replied("The sum left out the last item; the tests are green now."),
            day=3 * n + 0.3,
            harness=("codex", "claude", "codex")[n],
        )
        for n, text in enumerate(FAILING)
    ]


def plain(name: str, texts: Sequence[str], *, offset: float) -> list[Session]:
    return [
        session(f"{name}-{n}", asked(text), replied("Done as you asked."), day=4 * n + offset)
        for n, text in enumerate(texts)
    ]


def noise() -> list[Session]:
    return [
        session(
            f"once-{n}",
            asked(text),
            replied("Here is what I found, and what I changed."),
            day=n * 0.7 + 0.4,
            harness=("claude", "codex", "openclaw")[n % 3],
            cwd=f"/home/me/repo{n % 4}",
        )
        for n, text in enumerate(ONCE)
    ]


def machines() -> list[Session]:
    """Sessions that nobody typed, or that a machine typed in a human's place."""
    text = "summarise the new issues of the tracker"
    often = [
        session(f"cron-{n}", asked(text), replied("Nothing new."), day=10 + n / 24, cwd="/srv/bot")
        for n in range(8)
    ]
    hidden = [
        session(f"{origin.value}-{n}", asked(words), replied("Done."), day=n + 0.1, origin=origin)
        for origin, words in (
            (Origin.SUBAGENT, "search the code base for uses of the old client"),
            (Origin.AUTOMATION, "check the build and report"),
            (Origin.OWN, INSTALL[0]),
        )
        for n in range(3)
    ]
    restarted = session(
        "once-again", asked(ONCE[1]), replied("Here."), day=0.7 + 0.4 + 0.01, cwd="/home/me/repo1"
    )
    return [*often, *hidden, restarted]


def tree() -> list[Session]:
    """Return all sessions of the tree."""
    return [
        *installs(),
        *notes(),
        *failing(),
        *plain("translate", FEHLER, offset=0.5),
        *plain("migration", MIGRATION, offset=0.6),
        *noise(),
        *machines(),
    ]


def moved(sessions: Sequence[Session], *, days: float) -> list[Session]:
    """Return ``sessions`` begun ``days`` later, under other ids."""
    return [
        replace(
            one,
            id=f"{one.id}+{days}",
            turns=tuple(
                replace(t, at=t.at + timedelta(days=days)) for t in one.turns if t.at is not None
            ),
        )
        for one in sessions
    ]
