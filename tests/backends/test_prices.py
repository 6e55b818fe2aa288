"""Prices and the forecast of a night."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.backends.build import for_judge, for_optimizer, price_for
from skillopt_sleep.backends.forecast import Load, forecast
from skillopt_sleep.backends.prices import Price, listed, price_of, priced
from skillopt_sleep.config import BackendSettings, Settings
from skillopt_sleep.model.usage import Usage

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "paid"),
    [
        ("claude-sonnet-4-5", 3.0),
        ("claude-sonnet-4-5-20250929", 3.0),
        ("gpt-5", 1.25),
        ("openai/gpt-5-2025-08-07", 1.25),
        ("gpt-5-mini", 0.25),
    ],
)
def test_a_model_is_found_with_and_without_its_date(model: str, paid: float) -> None:
    price = listed(model)
    assert price is not None
    assert price.input == paid


@pytest.mark.parametrize("model", ["", "gpt-5-turbo", "my-own-model", "gpt"])
def test_a_price_that_nobody_knows_is_not_guessed(model: str) -> None:
    assert listed(model) is None
    assert priced(Usage(calls=2, input_tokens=9), listed(model)) == Usage(
        calls=2, input_tokens=9, unpriced=2
    )


def test_money_is_tokens_times_price() -> None:
    price = Price(input=3, output=15, cache_read=0.3, cache_write=3.75)
    usage = Usage(
        calls=1,
        input_tokens=MILLION,
        output_tokens=MILLION,
        cache_read_tokens=MILLION,
        cache_write_tokens=MILLION,
    )
    assert price.of(usage) == pytest.approx(22.05)
    assert price.saved(usage) == pytest.approx(2.7 - 0.75)


def test_what_cache_and_batch_saved_is_the_list_price_less_what_was_paid() -> None:
    price = Price(input=4, output=20, cache_read=0.4, cache_write=5)
    usage = Usage(
        calls=1,
        input_tokens=MILLION,
        output_tokens=MILLION,
        cache_read_tokens=MILLION,
        cache_write_tokens=MILLION,
    )
    single, batched = priced(usage, price), priced(usage, price, share=0.5)
    assert [single.dollars, single.saved] == pytest.approx([29.4, 2.6])
    assert [batched.dollars, batched.saved] == pytest.approx([14.7, 17.3])
    assert batched.dollars + batched.saved == pytest.approx(3 * 4 + 20)


def test_settings_override_the_table() -> None:
    price = price_of(BackendSettings(model="gpt-5", price_input=7, price_output=8))
    assert price is not None
    assert (price.input, price.output) == (7, 8)


@pytest.mark.parametrize("name", ["handoff", "ollama", "vllm"])
def test_one_s_own_machine_costs_nothing(name: str) -> None:
    price = price_for(BackendSettings(name=name, model="anything"))
    assert price is not None
    assert price.of(Usage(input_tokens=MILLION)) == 0


def test_optimizer_and_judge_follow_the_target_unless_told() -> None:
    target, optimizer = BackendSettings(name="ollama"), BackendSettings(name="anthropic")
    assert for_judge(Settings(target=target)) == for_optimizer(Settings(target=target)) == target
    assert for_judge(Settings(target=target, optimizer_backend=optimizer)) == optimizer


loads = st.builds(
    Load,
    train=st.integers(0, 200),
    held_out=st.integers(0, 200),
    mine_calls=st.integers(0, 50),
    rubrics=st.floats(0, 3),
)
NIGHT = Settings(target=BackendSettings(name="anthropic", model="claude-haiku-4-5"))


@settings(max_examples=60, deadline=None)
@given(loads)
def test_a_forecast_adds_up_and_grows_with_the_load(load: Load) -> None:
    made = forecast(NIGHT, load)
    assert made.total.calls == sum(usage.calls for usage in made.by_stage.values())
    assert set(made.figures()) == {"calls", "tokens", "dollars"}
    more = Load(
        train=load.train + 1,
        held_out=load.held_out + 1,
        mine_calls=load.mine_calls,
        rubrics=load.rubrics,
    )
    assert forecast(NIGHT, more).total.calls >= made.total.calls


def test_a_night_without_tasks_costs_nothing() -> None:
    assert forecast(NIGHT, Load(train=0, held_out=5)).total == Usage()


def test_a_forecast_with_an_unknown_price_names_no_money() -> None:
    unknown = Settings(target=BackendSettings(name="openai", model="secret-model"))
    assert set(forecast(unknown, Load(train=8, held_out=8)).figures()) == {"calls", "tokens"}
