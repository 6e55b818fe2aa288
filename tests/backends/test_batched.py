"""Batches against a server that speaks both protocols: gathered, handed in once, paid at half."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.loopback import Response, Said, Status, model_server

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.batched import Batches
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.build import build
from skillopt_sleep.config import BackendSettings, BudgetSettings
from skillopt_sleep.errors import (
    AnswersWantedError,
    BackendError,
    BudgetSpentError,
    CancelledError,
    ConfigError,
    Fault,
)
from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep.pool import Cancel
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.testing import FakeClock, fake_world

SDKS = ("anthropic", "openai")


class Impatient(FakeClock):
    """A clock at which somebody cancels as soon as there is a wait."""

    cancel: Cancel

    def sleep(self, seconds: float) -> None:
        self.cancel.request()
        super().sleep(seconds)


class Night:
    """One run of a night whose only backend takes batches."""

    def __init__(
        self,
        root: Path,
        url: str,
        name: str,
        budget: BudgetSettings | None = None,
        clock: FakeClock | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        world = fake_world(root, clock=self.clock)
        self.cancel = Cancel()
        if isinstance(self.clock, Impatient):
            self.clock.cancel = self.cancel
        self.calls = CallStore(Database(root / "data" / "db.sqlite"))
        self.meter = Meter(budget or BudgetSettings(), self.calls, world, night="n1")
        self.batches = Batches(self.calls, self.meter, world, self.cancel, night="n1")
        settings = BackendSettings.model_validate(
            {
                "name": name,
                "model": "m-1",
                "base_url": url,
                "key": "k",
                "batch": True,
                "price_input": 10_000,
                "price_output": 10_000,
                "max_tokens": 50,
            }
        )
        self.backend: Backend = build(
            settings,
            world,
            calls=self.calls,
            night="n1",
            meter=self.meter,
            cancel=self.cancel,
            batches=self.batches,
        )

    def ask(self, *texts: str) -> list[str | Fault | None]:
        """Ask for each text; an answer, what went wrong, or None for what still waits."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> str | Fault | None:
        try:
            return self.backend.complete(prompt(text)).text
        except AnswersWantedError:
            return None
        except BackendError as error:
            return error.fault


def prompt(text: str, stage: Stage = Stage.ATTEMPT) -> Prompt:
    return Prompt(
        stage=stage, system="S", messages=(Message(role="user", text=text),), max_tokens=50
    )


@pytest.mark.parametrize("name", SDKS)
def test_what_gathered_is_answered_together_at_half_price(name: str, tmp_path: Path) -> None:
    with model_server(lambda ask: f"re {ask.text}") as server:
        night = Night(tmp_path, server.url, name)
        assert night.ask("a", "b", "c", "a") == [None] * 4
        assert night.batches.flush()
        assert night.ask("a", "b", "c") == ["re a", "re b", "re c"]
        assert not night.batches.flush()
        (batch,) = server.shop.batches
        assert len(batch.entries) == 3
        assert {ask.system for ask in server.asks} == {"S"}
    total = night.meter.total
    assert (total.calls, total.cached_calls) == (3, 0)
    assert total.dollars == total.saved == pytest.approx(3 * 0.15 / 2)
    assert night.calls.batches("n1") == ()


@pytest.mark.parametrize("name", SDKS)
def test_a_night_that_was_cut_off_hands_nothing_in_again(name: str, tmp_path: Path) -> None:
    with model_server(lambda ask: f"re {ask.text}") as server:
        server.shop.looks = 10**9
        first = Night(tmp_path, server.url, name, clock=Impatient())
        first.ask("a", "b")
        with pytest.raises(CancelledError):
            first.batches.flush()
        server.shop.looks = 1
        again = Night(tmp_path, server.url, name)
        assert again.ask("a", "b", "later") == [None] * 3
        assert again.batches.flush()
        assert again.ask("a", "b", "later") == ["re a", "re b", "re later"]
        assert [len(one.entries) for one in server.shop.batches] == [2, 1]
        assert server.count == 3
    assert again.meter.total.calls == 3


@pytest.mark.parametrize("name", SDKS)
def test_a_prompt_that_failed_in_a_batch_has_no_answer_and_no_second_try_tonight(
    name: str, tmp_path: Path
) -> None:
    said: dict[str, Response] = {
        "good": "fine",
        "busy": Status(code=529),
        "other": Said(text="x", model="m-2"),
        "empty": Said(text="", stop="length"),
    }
    with model_server(lambda ask: said[ask.text]) as server:
        night = Night(tmp_path, server.url, name)
        night.ask(*said)
        assert night.batches.flush()
        expected = ["fine", Fault.OVERLOADED, Fault.MALFORMED, Fault.TRUNCATED]
        assert night.ask(*said) == expected
        assert night.ask(*said) == expected
        assert not night.batches.flush()
        assert server.count == 4
    assert night.meter.total.calls == 4


@pytest.mark.parametrize("name", SDKS)
def test_a_bad_key_in_a_batch_is_told_as_one(name: str, tmp_path: Path) -> None:
    with model_server(lambda _ask: Status(code=401)) as server:
        night = Night(tmp_path, server.url, name)
        night.ask("a")
        night.batches.flush()
        assert night.ask("a") == [Fault.AUTH]


def test_what_asks_one_thing_after_the_other_is_asked_at_once(tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        night = Night(tmp_path, server.url, "anthropic")
        assert night.backend.complete(prompt("a", Stage.MINE)).text == "fine"
        assert server.shop.batches == []
    assert night.meter.total.dollars == pytest.approx(0.15)


@pytest.mark.parametrize("name", SDKS)
def test_no_more_prompts_are_handed_in_than_the_budget_has_calls(name: str, tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        night = Night(tmp_path, server.url, name, BudgetSettings(calls=3))
        night.ask(*"abcde")
        assert night.batches.flush()
        assert night.ask(*"abcde").count("fine") == 3
        with pytest.raises(BudgetSpentError, match="3 calls"):
            night.batches.flush()
        assert server.count == 3


def test_a_batch_holds_no_more_than_the_money_that_is_left_can_pay(tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        # At most 50 tokens of output at half of 0.01 dollars each: a quarter of a dollar a prompt.
        night = Night(tmp_path, server.url, "openai", BudgetSettings(dollars=1))
        night.ask(*"abcdefgh")
        night.batches.flush()
        (batch,) = server.shop.batches
        assert len(batch.entries) == 4


def test_when_the_time_is_up_the_provider_is_told(tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        server.shop.looks = 10**9
        night = Night(tmp_path, server.url, "anthropic", BudgetSettings(seconds=300))
        night.ask("a")
        with pytest.raises(BudgetSpentError, match="300 seconds"):
            night.batches.flush()
        assert [one.cancelled for one in server.shop.batches] == [True]
    assert night.calls.batches("n1") == ()
    assert night.clock.monotonic() < 500


def test_a_provider_that_is_down_for_a_while_is_looked_at_again(tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        server.shop.looks = 12
        server.shop.down = 10
        night = Night(tmp_path, server.url, "anthropic")
        night.ask("a", "b")
        night.batches.flush()
        assert night.ask("a", "b") == ["fine", "fine"]
        assert len(server.shop.batches) == 1


def test_a_provider_without_batches_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'deepseek' is not known to take batches"):
        Night(tmp_path, "http://127.0.0.1:9", "deepseek")
