"""The wall between held-out tasks and the optimizer, over whole nights.

What the optimizer is asked holds nothing of a held-out task; more than that, on a first night it
does not depend on the held-out tasks at all.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from benchmarks.noise import NAME, NoisyBackend, announce, task_lines

from skillopt_sleep.codec import text_hash
from skillopt_sleep.config import load
from skillopt_sleep.engine import Engine
from skillopt_sleep.model.night import NightOptions
from skillopt_sleep.model.prompt import Prompt, Reply, Stage
from skillopt_sleep.testing import MIDNIGHT, FakeClock, fake_world

SEED = 4


class Listening(NoisyBackend):
    """The noisy model; on held-out tasks each of its answers has a mark of its own."""

    heard: list[tuple[Prompt, Reply]] = []  # noqa: RUF012 - one ear for all instances of a test

    def complete(self, prompt: Prompt) -> Reply:
        reply = super().complete(prompt)
        if prompt.blind:
            mark = text_hash(f"{prompt.system}{prompt.messages[0].text}{prompt.draw}")[:16]
            reply = replace(reply, text=f"{reply.text} Mark {mark}.")
        Listening.heard.append((prompt, reply))
        return reply


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path) -> Generator[None]:
    # The entry point is found by this module's name, whatever the runner imported it as.
    sys.modules.setdefault(Listening.__module__, sys.modules[__name__])
    folder = tmp_path / "plugins"
    announce(folder, Listening)
    yield
    sys.path.remove(str(folder))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheard:
    """What was asked over some nights.

    Attributes:
        optimizer: Prompts to the optimizer, per night, sorted.
        held_out: Requests, check values, answers and evidence of held-out tasks.
        tested: How many held-out attempts were made.
    """

    optimizer: list[list[str]] = field(default_factory=list[list[str]])
    held_out: set[str] = field(default_factory=set[str])
    tested: int = 0


def nights(root: Path, *, held_out: int, count: int) -> Overheard:
    """Run nights on train tasks that are always the same and held-out ones of seed ``held_out``."""
    Listening.heard.clear()
    lines = [json.loads(line) for line in task_lines(SEED, members=1, at=MIDNIGHT).splitlines()]
    other = task_lines(held_out, members=1, at=MIDNIGHT).splitlines()
    tasks = [one for one in lines if one["split"] == "train"]
    hidden = [one for one in map(json.loads, other) if one["split"] == "held_out"]
    for number, one in enumerate(hidden):
        secret = f"never-say-{held_out}-{number}"
        one["checks"].append({"operator": "not_contains", "value": secret, "note": f"n-{secret}"})
        one["reference"] = f"r-{secret}"
        one["evidence"][0]["quote"] = f"q-{secret}"
    clock = FakeClock()
    world = fake_world(root, clock=clock)
    flags: dict[str, object] = {
        "target.name": NAME,
        "target.model": str(SEED),
        "target.base_url": "http://127.0.0.1:9",
        "gate.auto_adopt": True,
    }
    told, tested, optimizer = 0, 0, list[list[str]]()
    with Engine(world, load(world, flags)) as engine:
        engine.tasks.load("\n".join(json.dumps(one) for one in [*tasks, *hidden]))
        for night in range(count):
            engine.nights.run(NightOptions(seed=night, harvest=False))
            fresh = Listening.heard[told:]
            told = len(Listening.heard)
            asked = [prompt for prompt, _ in fresh if prompt.stage is not Stage.ATTEMPT]
            tested += sum(prompt.blind for prompt, _ in fresh)
            optimizer.append(sorted(f"{p.stage} {p.system} {p.messages}" for p in asked))
            clock.at += timedelta(days=1)
    known = {word for one in hidden for word in (one["prompt"], *_secrets(one))}
    known |= {reply.text for prompt, reply in Listening.heard if prompt.blind}
    return Overheard(optimizer=optimizer, held_out=known, tested=tested)


def _secrets(task: dict[str, object]) -> list[str]:
    found = str(task["reference"]).removeprefix("r-")
    return [found, *str(task["prompt"]).split(": ")[1].split()]


def test_no_prompt_of_the_optimizer_holds_anything_of_a_held_out_task(tmp_path: Path) -> None:
    heard = nights(tmp_path, held_out=11, count=3)
    asked = [text for night in heard.optimizer for text in night]
    assert len(asked) >= 9
    assert heard.tested > 50
    assert not [word for word in heard.held_out for text in asked if word in text]


def test_what_the_optimizer_is_asked_does_not_depend_on_the_held_out_tasks(tmp_path: Path) -> None:
    def reflections(seed: int) -> list[str]:
        (asked,) = nights(tmp_path / str(seed), held_out=seed, count=1).optimizer
        # What the meta skill is asked after the gate may say accepted or rejected, and no more.
        return [text for text in asked if not text.startswith("meta")]

    one, two = reflections(21), reflections(22)
    assert len(one) >= 3
    assert one == two


def test_after_the_gate_the_optimizer_hears_accepted_or_rejected_and_no_number(
    tmp_path: Path,
) -> None:
    (asked,) = nights(tmp_path, held_out=11, count=1).optimizer
    (meta,) = [text for text in asked if text.startswith("meta")]
    words = meta.split("messages")[-1]
    assert "evidence" not in words
    assert "held" not in words
    assert not any(mark in words for mark in ("0.", "1.0", "E =", "%"))
