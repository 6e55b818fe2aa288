"""Shipped fakes for tests: a fixed world, a scripted process runner, a scripted backend, builders.

No production module may import this.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from skillopt_sleep.codec import text_hash
from skillopt_sleep.model.edit import Edit, EditKind
from skillopt_sleep.model.prompt import Prompt, Reply
from skillopt_sleep.model.proposal import GateEvidence, Proposal, ProposalStatus
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import Finished, Random, Roots, World

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until it is moved; sleeping moves it."""

    def __init__(self, at: datetime = MIDNIGHT) -> None:
        self.at = at
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the present instant."""
        return self.at

    def monotonic(self) -> float:
        """Return seconds since the fixed midnight."""
        return (self.at - MIDNIGHT).total_seconds()

    def sleep(self, seconds: float) -> None:
        """Move on by ``seconds``."""
        with self._lock:
            self.at += timedelta(seconds=seconds)


class ScriptedRun:
    """Answers the processes that were prepared, by program name, and fails on any other."""

    def __init__(self, answers: Mapping[str, Finished] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[tuple[str, ...]] = []

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: str = "",
        timeout_s: float = 60.0,
        output_cap: int = 1_000_000,
    ) -> Finished:
        """Return the prepared answer.

        Raises:
            AssertionError: Nobody prepared this program.
        """
        self.asked.append(tuple(argv))
        name = Path(argv[0]).name
        if name not in self.answers:
            raise AssertionError(f"nobody prepared a process {name!r} ({' '.join(argv)})")
        return self.answers[name]


class ScriptedSpawn:
    """Remembers what was to be started, and starts nothing."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def __call__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Path, err: Path
    ) -> None:
        """Remember ``argv`` and make its empty output files."""
        self.asked.append(tuple(argv))
        out.touch()
        err.touch()


def fake_world(
    root: Path,
    *,
    env: Mapping[str, str] | None = None,
    run: ScriptedRun | None = None,
    spawn: ScriptedSpawn | None = None,
    clock: FakeClock | None = None,
) -> World:
    """Return a world below ``root`` at a fixed midnight with an empty environment."""
    ticking = clock or FakeClock()
    names = ("home", "data", "config", "cache", "project")
    folders = {name: root / name for name in names}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return World(
        now=ticking.now,
        monotonic=ticking.monotonic,
        sleep=ticking.sleep,
        run=run or ScriptedRun(),
        spawn=spawn or ScriptedSpawn(),
        rng=Random,
        env=dict(env or {}),
        roots=Roots(
            home=folders["home"],
            data=folders["data"],
            config=folders["config"],
            cache=folders["cache"],
            cwd=folders["project"],
        ),
    )


class ScriptedBackend:
    """Answers prompts from a function or a list, and remembers what it was asked."""

    def __init__(
        self,
        answers: Callable[[Prompt], str] | Iterable[str],
        *,
        name: str = "scripted",
        model: str = "scripted-1",
    ) -> None:
        self._answer = answers if callable(answers) else _one_by_one(answers)
        self.name = name
        self.model = model
        self.asked: list[Prompt] = []
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt) -> Reply:
        """Return the next prepared answer."""
        with self._lock:
            self.asked.append(prompt)
            text = self._answer(prompt)
        return Reply(
            text=text,
            model=self.model,
            usage=Usage(calls=1, input_tokens=len(prompt.system) // 4 + 1, output_tokens=1),
        )


def _one_by_one(answers: Iterable[str]) -> Callable[[Prompt], str]:
    following = iter(answers)
    return lambda _prompt: next(following)


def build_evidence(decision: str = "accept") -> GateEvidence:
    """Return what the gate saw of six held-out clusters that all rose."""
    return GateEvidence(
        policy="evidence",
        metric="mixed",
        tasks=6,
        live_mean=0.25,
        candidate_mean=0.75,
        e_value=21.0,
        e_harm=0.1,
        wins=6,
        decision=decision,
        reason="6 of 6 held-out clusters rose",
        strict_agrees=True,
    )


def build_proposal(
    target: Path,
    *,
    before: str | None = "old\n",
    after: str = "new\n",
    status: ProposalStatus = ProposalStatus.SUPPORTED,
) -> Proposal:
    """Return a proposal, not stored yet, that would change ``target``."""
    return Proposal(
        number=0,
        candidate="c1",
        project="/project",
        skill_name="habits",
        target=str(target),
        before=before,
        after=after,
        before_hash=text_hash(before),
        after_hash=text_hash(after),
        status=status,
        edits=(Edit(kind=EditKind.ADD, text="Use uv", why="you said so twice"),),
        evidence=build_evidence(),
        night="n1",
        created_at=MIDNIGHT,
    )
