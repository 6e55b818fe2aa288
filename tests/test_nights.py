"""Whole nights through the providers' own SDKs against a model server on loopback.

The simulated model follows the rules that its skill holds, with noise: a useful rule raises the
score, an idle one does not, a harmful one lowers it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillopt_sleep.config import load
from skillopt_sleep.edge import real_world
from skillopt_sleep.engine import Engine
from skillopt_sleep.errors import ConfigError, ConsentError
from skillopt_sleep.model.night import Night, NightOptions, NightStatus
from skillopt_sleep.model.proposal import ProposalStatus
from skillopt_sleep.testing import fake_world
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.simulated import IDLE_RULE, SimulatedModel
from skillopt_sleep_server.demo.wire import MODEL, Asked, ModelServer

HARMFUL_RULE = "Answer in one calm sentence and give no commands."
USEFUL = "Use `uv` instead of `pip`"


@contextmanager
def nightly(root: Path, backend: str, url: str, **flags: object) -> Generator[Engine]:
    """Yield an engine on the sample logs, with a real clock and a backend at ``url``."""
    real, fake = real_world(), fake_world(root.resolve())
    project = copy_samples(fake.roots.home, real.now())
    world = fake.in_project(project)
    settings: dict[str, object] = {
        "target.name": backend,
        "target.model": MODEL,
        "target.base_url": url if backend == "anthropic" else f"{url}/v1",
        "target.key": "a-key-for-loopback",
        "human.required": False,
        **flags,
    }
    with Engine(world, load(world, settings)) as engine:
        yield engine


def rules_of(engine: Engine, night: Night, status: ProposalStatus) -> list[str]:
    found = [engine.review.get(number) for number in night.proposals]
    return [edit.text for one in found if one.status is status for edit in one.edits]


@pytest.mark.parametrize("backend", ["anthropic", "openai"])
def test_over_nights_the_useful_rule_is_adopted_and_neither_the_idle_nor_the_harmful_one(
    tmp_path: Path, backend: str
) -> None:
    model = SimulatedModel(seed=3, ideas=(IDLE_RULE, HARMFUL_RULE))
    text = ""
    with ModelServer(model) as server, nightly(tmp_path, backend, server.url) as engine:
        for seed in range(3):
            night = engine.nights.run(NightOptions(seed=seed))
            assert night.status in (NightStatus.DONE, NightStatus.NOTHING), night.reason
            for number in night.proposals:
                if engine.review.get(number).status is ProposalStatus.SUPPORTED:
                    text = Path(engine.review.adopt(number).target).read_text()
    assert USEFUL in text
    assert IDLE_RULE not in text
    assert HARMFUL_RULE not in text
    assert text.count("<!-- rule:") == 1


def test_the_report_tells_the_funnel_the_diff_the_evidence_and_the_cost(tmp_path: Path) -> None:
    with (
        ModelServer(SimulatedModel()) as server,
        nightly(tmp_path, "anthropic", server.url) as engine,
    ):
        night = engine.nights.run(NightOptions(seed=1))
        report = engine.nights.report(night)
        tree = engine.nights.report_json(night)
        (number,) = night.proposals
        recomputed = engine.gate.explain(number)
    assert f"+- {USEFUL}" in report
    assert "reached the held-out test" in report
    assert f"`skillopt-sleep adopt {number}`" in report
    assert f"failed the screen: \u201c{IDLE_RULE}\u201d" in report
    assert server.calls == tree["total"]["calls"]
    assert recomputed["disagreements"] == []
    assert recomputed["missing"] == []
    written = engine.world.roots.data / "nights" / night.id / "report.md"
    assert written.read_text() == report


def test_the_optimizer_never_sees_a_held_out_prompt(tmp_path: Path) -> None:
    seen: list[str] = []
    model = SimulatedModel()

    def listening(asked: Asked) -> str:
        if "You improve a skill document" in asked.system:
            seen.append(asked.user)
        return model(asked)

    with ModelServer(listening) as server, nightly(tmp_path, "openai", server.url) as engine:
        engine.nights.run(NightOptions(seed=1))
        held_out = [task.prompt for task in engine.tasks.all() if task.split != "train"]
    assert seen
    assert held_out
    assert not [prompt for prompt in held_out for text in seen if prompt in text]


def test_a_night_without_sessions_says_why_it_found_nothing(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    with ModelServer(SimulatedModel()) as server:
        flags: dict[str, object] = {
            "target.name": "openai_compatible",
            "target.model": MODEL,
            "target.base_url": server.url,
        }
        with Engine(world, load(world, flags)) as engine:
            night = engine.nights.run(NightOptions())
    assert night.status is NightStatus.NOTHING
    assert night.reason.startswith("nothing that recurs in this project can be checked yet")
    assert night.funnel[0].count == 0
    assert server.calls == 0


def test_an_unreachable_endpoint_fails_the_night_with_its_address(tmp_path: Path) -> None:
    with nightly(tmp_path, "openai", "http://127.0.0.1:9", **{"target.retries": 0}) as engine:
        night = engine.nights.run(NightOptions(seed=1))
    assert night.status in (NightStatus.FAILED, NightStatus.VOID)
    assert "http://127.0.0.1:9" in night.reason + " ".join(night.notes)
    assert night.proposals == ()


def test_text_goes_nowhere_before_the_user_agreed(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    flags = {"target.name": "anthropic", "target.model": "m", "target.key": "k"}
    with (
        Engine(world, load(world, flags)) as engine,
        pytest.raises(ConsentError, match=r"text would go to 'api\.anthropic\.com'"),
    ):
        engine.nights.run(NightOptions())


def test_without_a_model_nothing_runs(tmp_path: Path) -> None:
    world = fake_world(tmp_path)
    with (
        Engine(world, load(world)) as engine,
        pytest.raises(ConfigError, match="no model is chosen"),
    ):
        engine.nights.run(NightOptions())


def test_a_spent_budget_ends_the_night_in_order_and_the_next_one_goes_on(tmp_path: Path) -> None:
    with (
        ModelServer(SimulatedModel()) as server,
        nightly(tmp_path, "openai", server.url, **{"budget.calls": 60}) as engine,
    ):
        night = engine.nights.run(NightOptions(seed=1))
        assert night.status is NightStatus.BUDGET
        assert server.calls <= 60 + engine.config.settings.target.workers
        assert "raise 'budget.calls' to go on" in night.reason


def test_a_handoff_night_waits_for_answers_and_goes_on_with_them(tmp_path: Path) -> None:
    model = SimulatedModel()
    world = fake_world(tmp_path.resolve())
    project = copy_samples(world.roots.home, real_world().now())
    world = world.in_project(project)
    flags: dict[str, object] = {"target.name": "handoff", "consent.hosts": ["handoff"]}
    with Engine(world, load(world, flags)) as engine:
        rounds = 0
        while (night := engine.nights.run(NightOptions(seed=1))).status is NightStatus.WAITING:
            rounds += 1
            assert engine.handoff.prompts()
            for waiting in engine.handoff.prompts():
                asked = Asked(system=waiting.prompt.system, user=waiting.prompt.messages[-1].text)
                engine.handoff.answer(waiting.key, model(asked))
        assert night.status is NightStatus.DONE, night.reason
        assert rules_of(engine, night, ProposalStatus.SUPPORTED)[0].startswith(USEFUL)
    # Mining, replay, reflection, ranking, screen, two stages of the test and the guard, meta.
    assert rounds <= 12
