"""Journal, retries and budget around a backend, most of them against a server that counts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import Answer, Response, Said, Status, model_server

from skillopt_sleep.backends import Backend
from skillopt_sleep.backends.budget import Meter
from skillopt_sleep.backends.build import build, destination
from skillopt_sleep.backends.retrying import OUTAGES, REST_S, RetryingBackend
from skillopt_sleep.config import BackendSettings, BudgetSettings
from skillopt_sleep.errors import (
    BackendError,
    BudgetSpentError,
    CancelledError,
    ConfigError,
    Fault,
    UnknownPluginError,
)
from skillopt_sleep.model.prompt import Message, Prompt, Reply, Stage
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.pool import Cancel
from skillopt_sleep.store.calls import CallStore
from skillopt_sleep.store.database import Database
from skillopt_sleep.testing import FakeClock, ScriptedBackend, fake_world
from skillopt_sleep.world import World

WORKERS = 4


class Bench:
    """One night's database, meter and world."""

    def __init__(self, root: Path, budget: BudgetSettings | None = None) -> None:
        self.root = root
        self.clock = FakeClock()
        self.world: World = fake_world(
            root, clock=self.clock, env={"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
        )
        self.cancel = Cancel()
        self.budget = budget or BudgetSettings()
        self.calls = CallStore(Database(root / "data" / "db.sqlite"))
        self.meter = self.fresh_meter()

    def fresh_meter(self, night: str = "n1") -> Meter:
        return Meter(self.budget, self.calls, self.world, night=night)

    def backend(self, url: str, *, night: str = "n1", **more: object) -> Backend:
        settings = BackendSettings.model_validate(
            {"name": "openai_compatible", "model": "m-1", "base_url": url, **more}
        )
        return build(
            settings,
            self.world,
            calls=self.calls,
            night=night,
            meter=self.meter,
            cancel=self.cancel,
        )


def prompt(text: str = "q", *, draw: int = 0, stage: Stage = Stage.ATTEMPT) -> Prompt:
    return Prompt(stage=stage, messages=(Message(role="user", text=text),), draw=draw)


def in_turn(*responses: Response) -> Answer:
    """Answer with each response once, then with the last for ever."""
    return lambda ask: responses[min(ask.number, len(responses) - 1)]


def test_an_equal_prompt_is_paid_for_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with model_server(lambda ask: f"answer {ask.number}") as server:
        asked = bench.backend(server.url)
        one, two = asked.complete(prompt()), asked.complete(prompt())
        assert server.count == 1
    assert (one.text, two.text) == ("answer 0", "answer 0")
    assert (one.cached, two.cached, one.usage) == (False, True, two.usage)
    assert bench.meter.total.calls == 1
    assert bench.meter.total.cached_calls == 1


def test_threads_that_ask_the_same_together_get_one_answer(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with (
        model_server(lambda ask: f"answer {ask.number}") as server,
        ThreadPoolExecutor(WORKERS) as pool,
    ):
        asked = bench.backend(server.url)
        replies = list(pool.map(asked.complete, [prompt()] * 12))
        assert server.count == 1
    assert {reply.text for reply in replies} == {"answer 0"}


def test_another_draw_is_another_call(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with model_server(lambda ask: f"answer {ask.number}") as server:
        asked = bench.backend(server.url)
        texts = [asked.complete(prompt(draw=draw)).text for draw in (0, 1, 0)]
    assert texts == ["answer 0", "answer 1", "answer 0"]


@pytest.mark.parametrize(("stage", "calls"), [(Stage.ATTEMPT, 2), (Stage.MINE, 1)])
def test_attempts_are_drawn_anew_each_night_and_the_miner_s_answers_stay(
    stage: Stage, calls: int, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    with model_server(lambda _ask: "fine") as server:
        for night in ("n1", "n2"):
            bench.backend(server.url, night=night).complete(prompt(stage=stage))
        assert server.count == calls


def test_another_model_does_not_get_this_one_s_answers(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with model_server(lambda _ask: "fine") as server:
        bench.backend(server.url, model="m-1").complete(prompt())
        bench.backend(server.url, model="m-2").complete(prompt())
        assert server.count == 2


def test_a_night_that_was_cut_off_pays_for_nothing_twice(tmp_path: Path) -> None:
    with model_server(lambda ask: ask.text) as server:
        first = Bench(tmp_path)
        before = [first.backend(server.url).complete(prompt(f"q{n}")).text for n in range(5)]
        again = Bench(tmp_path)
        asked = again.backend(server.url)
        after = [asked.complete(prompt(f"q{n}")).text for n in range(8)]
        assert server.count == 8
    assert after[:5] == before
    assert again.meter.total.calls == 8


def test_no_more_calls_reach_the_server_than_the_budget_has(tmp_path: Path) -> None:
    bench = Bench(tmp_path, BudgetSettings(calls=10))
    with (
        model_server(lambda ask: ask.text) as server,
        ThreadPoolExecutor(WORKERS) as pool,
    ):
        asked = bench.backend(server.url)
        futures = [pool.submit(asked.complete, prompt(f"q{n}")) for n in range(40)]
        spent = [f for f in futures if isinstance(f.exception(), BudgetSpentError)]
        assert server.count == 10
    assert len(spent) == 30


def test_failed_tries_count_against_the_budget(tmp_path: Path) -> None:
    bench = Bench(tmp_path, BudgetSettings(calls=3))
    with model_server(lambda _ask: Status(code=500)) as server:
        with pytest.raises(BudgetSpentError, match=r"budget of 3 calls is spent; raise 'budget\."):
            bench.backend(server.url, retries=9).complete(prompt())
        assert server.count == 3


def test_a_token_budget_is_exceeded_by_the_last_call_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, BudgetSettings(tokens=100))
    with model_server(lambda _ask: Said(text="x", input_tokens=40, output_tokens=5)) as server:
        asked = bench.backend(server.url)
        for number in range(3):
            asked.complete(prompt(f"q{number}"))
        with pytest.raises(BudgetSpentError) as caught:
            asked.complete(prompt("q3"))
        assert server.count == 3
    assert caught.value.what == "tokens"
    assert bench.meter.total.tokens == 135


def test_tokens_of_an_answer_that_said_nothing_are_paid_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    said = Said(text="", stop="length", input_tokens=30, output_tokens=50)
    with model_server(lambda _ask: said) as server, pytest.raises(BackendError):
        bench.backend(server.url).complete(prompt())
    assert bench.meter.total.tokens == 80


def test_money_is_counted_per_stage_and_capped_per_night_and_month(tmp_path: Path) -> None:
    bench = Bench(tmp_path, BudgetSettings(month_dollars=0.5))
    prices: dict[str, Any] = {"price_input": 10_000, "price_output": 20_000}
    with model_server(lambda _ask: "fine") as server:
        asked = bench.backend(server.url, **prices)
        asked.complete(prompt("a", stage=Stage.JUDGE))
        asked.complete(prompt("b"))
        assert {name: u.dollars for name, u in bench.meter.by_stage.items()} == {
            "judge": pytest.approx(0.2),
            "attempt": pytest.approx(0.2),
        }
        asked.complete(prompt("c"))
        with pytest.raises(BudgetSpentError, match="this month"):
            asked.complete(prompt("d"))
        assert server.count == 3
        bench.meter = bench.fresh_meter("n2")
        with pytest.raises(BudgetSpentError, match="this month"):
            bench.backend(server.url, night="n2", **prices).complete(prompt("e"))


def test_a_cap_on_money_needs_a_price(tmp_path: Path) -> None:
    bench = Bench(tmp_path, BudgetSettings(dollars=1))
    with pytest.raises(ConfigError, match=r"'m-1' is not known.*price_input"):
        bench.backend("http://127.0.0.1:9")


def test_a_night_ends_when_its_time_is_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path, BudgetSettings(seconds=60))
    with model_server(lambda _ask: "fine") as server:
        asked = bench.backend(server.url)
        asked.complete(prompt("a"))
        bench.clock.sleep(61)
        with pytest.raises(BudgetSpentError, match="60 seconds"):
            asked.complete(prompt("b"))


def test_the_time_of_earlier_runs_of_a_night_counts_and_the_time_between_does_not(
    tmp_path: Path,
) -> None:
    with model_server(lambda _ask: "fine") as server:
        first = Bench(tmp_path, BudgetSettings(seconds=60))
        first.clock.sleep(40)
        first.backend(server.url).complete(prompt("a"))
        again = Bench(tmp_path, BudgetSettings(seconds=60))
        again.clock.sleep(9000)
        again.meter = again.fresh_meter()
        asked = again.backend(server.url)
        again.clock.sleep(19)
        asked.complete(prompt("b"))
        again.clock.sleep(2)
        with pytest.raises(BudgetSpentError, match="60 seconds"):
            asked.complete(prompt("c"))
    assert again.meter.total.seconds == pytest.approx(59)


@pytest.mark.parametrize(
    ("cap", "what"),
    [
        ({"month_calls": 3}, "calls"),
        ({"month_tokens": 45}, "tokens"),
        ({"month_seconds": 35}, "seconds"),
    ],
)
def test_a_month_has_caps_of_its_own_over_all_its_nights(
    cap: dict[str, int], what: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, BudgetSettings.model_validate(cap))
    with model_server(lambda _ask: "fine") as server:
        for night in ("n1", "n2", "n3"):
            bench.meter = bench.fresh_meter(night)
            bench.clock.sleep(10)
            bench.backend(server.url, night=night).complete(prompt(night))
        bench.meter = bench.fresh_meter("n4")
        bench.clock.sleep(10)
        with pytest.raises(BudgetSpentError, match=f"{what} this month.*month_{what}"):
            bench.backend(server.url, night="n4").complete(prompt("n4"))
        assert server.count == 3
        bench.clock.sleep(31 * 86_400)
        bench.meter = bench.fresh_meter("n5")
        bench.backend(server.url, night="n5").complete(prompt("n5"))


def test_what_many_calls_may_cost_counts_while_they_are_under_way(tmp_path: Path) -> None:
    bench = Bench(tmp_path, BudgetSettings(tokens=100))
    likely = Usage(calls=1, input_tokens=40)
    for _ in range(3):
        bench.meter.reserve(likely)
    with pytest.raises(BudgetSpentError, match="100 tokens"):
        bench.meter.reserve(likely)
    for _ in range(3):
        bench.meter.settle(Stage.ATTEMPT, Usage(calls=1, input_tokens=10), expected=likely)
    bench.meter.reserve(likely)
    assert bench.meter.total.tokens == 30


def test_trouble_that_passes_is_waited_out(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    troubles = (Status(code=500), Status(code=529), Status(code=503), "fine")
    with model_server(in_turn(*troubles)) as server:
        assert bench.backend(server.url).complete(prompt()).text == "fine"
        assert server.count == 4
    assert 3.5 <= bench.clock.monotonic() <= 7.5


def test_the_provider_says_how_long_to_wait(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    limited = Status(code=429, headers={"Retry-After": "37"})
    with model_server(in_turn(limited, "fine")) as server:
        assert bench.backend(server.url).complete(prompt()).text == "fine"
    assert 37 <= bench.clock.monotonic() < 39


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"}, 62),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "500ms"}, 0.5),
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1m2s"}, 0),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:30Z",
            },
            30,
        ),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "9h"}, 120),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "soon"}, 0),
    ],
)
@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_used_up_rate_limit_is_waited_out_before_it_is_hit(
    name: str, headers: dict[str, str], wait: float, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    with model_server(lambda _ask: Said(text="fine", headers=headers)) as server:
        asked = bench.backend(server.url, name=name)
        asked.complete(prompt("a"))
        assert bench.clock.monotonic() == 0
        asked.complete(prompt("b"))
    assert bench.clock.monotonic() == pytest.approx(wait, abs=0.3)


def test_threads_together_start_no_more_requests_than_are_left(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    minute = 60.0
    limit, seen, lock = 3, list[float](), threading.Lock()

    def answer(_ask: object) -> Response:
        with lock:
            now = bench.clock.monotonic()
            seen.append(now)
            used = sum(1 for at in seen if at // minute == now // minute)
        if used > limit:
            return Status(code=429)
        left = {
            "x-ratelimit-remaining-requests": str(limit - used),
            "x-ratelimit-reset-requests": f"{minute - now % minute + 0.5:.1f}s",
        }
        return Said(text="fine", headers=left)

    with model_server(answer) as server:
        asked = bench.backend(server.url)
        asked.complete(prompt("first"))
        with ThreadPoolExecutor(WORKERS) as pool:
            futures = [pool.submit(asked.complete, prompt(f"q{n}")) for n in range(2)]
        assert [future.result().text for future in futures] == ["fine"] * 2
        asked.complete(prompt("last"))
        assert server.count == 4
    assert bench.clock.monotonic() >= minute


def test_tokens_that_are_left_are_counted_in_requests_of_the_largest_size(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    left = [
        {"x-ratelimit-remaining-tokens": number, "x-ratelimit-reset-tokens": "30s"}
        for number in ("20", "14", "14")
    ]
    with model_server(lambda ask: Said(text="fine", headers=left[ask.number])) as server:
        asked = bench.backend(server.url)
        asked.complete(prompt("a"))
        asked.complete(prompt("b"))
        assert bench.clock.monotonic() == 0
        asked.complete(prompt("c"))
    assert bench.clock.monotonic() == pytest.approx(30, abs=0.3)


def test_nobody_waits_an_hour_for_a_provider(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    limited = Status(code=429, headers={"Retry-After": "3600"})
    with model_server(lambda _ask: limited) as server, pytest.raises(BackendError):
        bench.backend(server.url).complete(prompt())
    assert (server.count, bench.clock.monotonic()) == (1, 0)


def test_a_bad_key_fails_every_further_call_without_making_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with model_server(lambda _ask: Status(code=401)) as server:
        asked = bench.backend(server.url)
        for number in range(3):
            with pytest.raises(BackendError) as caught:
                asked.complete(prompt(f"q{number}"))
            assert caught.value.fault is Fault.AUTH
        assert server.count == 1


def test_a_provider_that_is_down_is_left_alone_for_a_while(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    up = threading.Event()
    with model_server(lambda _ask: "fine" if up.is_set() else Status(code=500)) as server:
        asked = bench.backend(server.url, retries=0)
        for number in range(OUTAGES + 5):
            with pytest.raises(BackendError):
                asked.complete(prompt(f"q{number}"))
        assert server.count == OUTAGES
        up.set()
        bench.clock.sleep(REST_S)
        assert asked.complete(prompt("again")).text == "fine"


def test_an_answer_that_is_garbled_is_asked_for_once_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with model_server(lambda _ask: Said(text="")) as server, pytest.raises(BackendError):
        bench.backend(server.url).complete(prompt())
    assert server.count == 2


def test_a_wait_ends_when_somebody_cancels(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with model_server(cancelling(bench.cancel)) as server:
        with pytest.raises(CancelledError):
            bench.backend(server.url).complete(prompt())
        assert server.count == 1
    assert bench.clock.monotonic() < 1


def cancelling(cancel: Cancel) -> Answer:
    def answer(_ask: object) -> Response:
        cancel.request()
        return Status(code=500)

    return answer


def failing(times: int) -> Callable[[Prompt], str]:
    left = [times]

    def answer(_prompt: Prompt) -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise BackendError("down", fault=Fault.SERVER)
        return "fine"

    return answer


def test_equal_prompts_wait_equally_long(tmp_path: Path) -> None:
    waits: list[float] = []
    for _ in range(2):
        clock = FakeClock()
        world = fake_world(tmp_path, clock=clock)
        backend = RetryingBackend(ScriptedBackend(failing(3)), world, Cancel(), retries=4)
        backend.complete(prompt())
        waits.append(clock.monotonic())
    assert waits[0] == waits[1] > 0


def test_nothing_chosen_and_nothing_known_are_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with pytest.raises(ConfigError, match="no model is chosen"):
        bench.backend("", name="")
    with pytest.raises(UnknownPluginError, match="'openay'"):
        bench.backend("", name="openay")


@pytest.mark.parametrize(
    ("name", "url", "host"),
    [
        ("anthropic", "", "api.anthropic.com"),
        ("claude_chat", "", "api.anthropic.com"),
        ("openai", "", "api.openai.com"),
        ("qwen", "", "dashscope-intl.aliyuncs.com"),
        ("openai_compatible", "https://me:pw@llm.example.org:8443/v1", "llm.example.org:8443"),
        ("ollama", "", ""),
        ("openai", "http://localhost:8000/v1", ""),
        ("handoff", "", ""),
    ],
)
def test_where_text_would_go_is_known_without_a_key(
    name: str, url: str, host: str, tmp_path: Path
) -> None:
    settings = BackendSettings(name=name, model="m", base_url=url)
    assert destination(settings, fake_world(tmp_path)) == host


def test_the_ledger_survives_and_adds_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.meter.reserve()
    bench.meter.settle(Stage.MINE, Usage(calls=1, input_tokens=3))
    bench.meter.reserve()
    bench.meter.settle(Stage.MINE, Usage(calls=1, output_tokens=4))
    again = bench.fresh_meter()
    assert again.by_stage == {"mine": Usage(calls=2, input_tokens=3, output_tokens=4)}


def test_a_reply_comes_back_from_the_journal_as_it_went_in(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    reply = Reply(text="ß\n", model="m", usage=Usage(calls=1, dollars=0.25), seconds=1.5)
    bench.calls.keep("k", reply, night="n", stage=Stage.MINE, at=bench.world.now())
    assert bench.calls.reply("k") == reply
    assert bench.calls.reply("other") is None
