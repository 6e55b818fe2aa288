"""Forgetting reaches everything that was made from a session, down to the bytes on the disk."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from skillopt_sleep.config import load
from skillopt_sleep.edge import real_world
from skillopt_sleep.engine import Engine
from skillopt_sleep.errors import BusyError
from skillopt_sleep.model.night import NightOptions, NightStatus
from skillopt_sleep.testing import fake_world
from skillopt_sleep.world import World
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import MODEL, ModelServer

WORD = "plantedzebra"


def planted(root: Path) -> World:
    """Return a world whose sample logs hold the word in requests and corrections."""
    world = fake_world(root.resolve())
    project = copy_samples(world.roots.home, real_world().now())
    for log in world.roots.home.rglob("*.jsonl"):
        text = log.read_text(encoding="utf-8").replace("can you ", f"can you {WORD} ")
        log.write_text(text.replace("of pip", f"of pip {WORD}"), encoding="utf-8")
    return world.in_project(project)


def holding(folder: Path) -> list[str]:
    """Return the files below ``folder`` that hold the word, in whatever part of them."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.name for path in files if WORD.encode() in path.read_bytes())


@contextmanager
def after_nights(world: World) -> Generator[Engine]:
    """Yield an engine after one whole night, and one that waits for answers."""
    with ModelServer(SimulatedModel(seed=3, ideas=(f"Say {WORD} first.",))) as server:
        flags: dict[str, object] = {
            "target.name": "openai",
            "target.model": MODEL,
            "target.base_url": f"{server.url}/v1",
            "target.key": "a-key-for-loopback",
        }
        with Engine(world, load(world, flags)) as engine:
            assert engine.nights.run(NightOptions(seed=1)).proposals
    waiting: dict[str, object] = {"target.name": "handoff", "consent.hosts": ["handoff"]}
    with Engine(world, load(world, waiting)) as engine:
        assert engine.nights.run(NightOptions(seed=2)).status is NightStatus.WAITING
        yield engine


def test_a_word_of_forgotten_sessions_stands_in_no_file_and_no_report(tmp_path: Path) -> None:
    world = planted(tmp_path)
    with after_nights(world) as engine:
        assert "sleep.sqlite" in holding(world.roots.data)
        for session in engine.archive.sessions():
            if any(WORD in turn.text for turn in session.turns):
                assert engine.archive.forget(session=session.id) == 1
        assert holding(world.roots.data) == []
        assert engine.archive.sessions()
        assert engine.review.open() == ()
        told = [engine.nights.report(night) for night in engine.nights.all()]
        assert WORD not in "".join(told)
    with Engine(world, load(world)) as engine:
        engine.archive.harvest()
        assert holding(world.roots.data) == []


def test_everything_forgotten_leaves_no_word_and_can_be_said_twice(tmp_path: Path) -> None:
    world = planted(tmp_path)
    with after_nights(world) as engine:
        assert engine.archive.forget(everything=True) > 1
        assert holding(world.roots.data) == []
        assert engine.tasks.all() == ()
        assert engine.archive.forget(everything=True) == 0


def test_an_adopted_rule_can_be_reverted_after_its_sessions_are_forgotten(tmp_path: Path) -> None:
    world = planted(tmp_path)
    with after_nights(world) as engine:
        number = engine.review.open()[0].number
        adopted = engine.review.adopt(number, human="terminal", unproven=True)
        engine.archive.forget(everything=True)
        kept = engine.review.get(number)
        assert [one.quote for edit in kept.edits for one in edit.evidence if one.quote] == []
        engine.review.revert(number, human="terminal")
        assert not Path(adopted.target).exists()


def test_nothing_is_forgotten_while_a_night_runs(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    locks = world.roots.data / "locks"
    locks.mkdir(parents=True)
    with (
        Engine(world, load(world)) as engine,
        FileLock(locks / "night-0.lock"),
        pytest.raises(BusyError, match="a night is running"),
    ):
        engine.archive.forget(everything=True)
