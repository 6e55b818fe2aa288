"""The two SDK backends against a real HTTP server that answers and misbehaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.loopback import (
    Hang,
    ModelServer,
    Raw,
    Reset,
    Response,
    Said,
    Status,
    closed_url,
    model_server,
)

from skillopt_sleep.backends import BACKENDS, Backend
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.testing import fake_world

KEY = "sk-planted-1234567890"
SDKS = ("anthropic", "openai")
PROMPT = Prompt(
    stage=Stage.ATTEMPT,
    system="Be brief.",
    messages=(
        Message(role="user", text="one"),
        Message(role="assistant", text="1"),
        Message(role="user", text="two"),
    ),
    max_tokens=77,
    temperature=0.5,
)


def backend(root: Path, name: str, url: str, **more: object) -> Backend:
    world = fake_world(root, env={"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY})
    settings = BackendSettings.model_validate(
        {"name": name, "model": "m-1", "base_url": url, "timeout_s": 5, **more}
    )
    return BACKENDS.factory(name)(settings, world)


def fault_of(root: Path, name: str, response: Response, **more: object) -> BackendError:
    with model_server(lambda _ask: response) as server:
        asked = backend(root, name, server.url, **more)
        with pytest.raises(BackendError) as caught:
            asked.complete(PROMPT)
        assert server.count == 1
    return caught.value


@pytest.mark.parametrize("name", SDKS)
def test_a_prompt_reaches_the_provider_whole_and_its_answer_comes_back(
    name: str, tmp_path: Path
) -> None:
    with model_server(lambda _ask: Said(text="fine", cached_tokens=7)) as server:
        reply = backend(tmp_path, name, server.url, extra={"top_p": 0.5}).complete(PROMPT)
        (ask,) = server.asks
    assert (reply.text, reply.model) == ("fine", "m-1")
    assert reply.usage == Usage(calls=1, input_tokens=10, output_tokens=5, cache_read_tokens=7)
    assert (ask.system, ask.text) == ("Be brief.", "one\n1\ntwo")
    assert (ask.body["temperature"], ask.body["top_p"]) == (0.5, 0.5)
    assert 77 in (ask.body.get("max_tokens"), ask.body.get("max_completion_tokens"))


def test_the_system_prompt_is_what_anthropic_is_asked_to_cache(tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        backend(tmp_path, "anthropic", server.url).complete(PROMPT)
        (ask,) = server.asks
    assert [block["cache_control"] for block in ask.body["system"]] == [{"type": "ephemeral"}]


@pytest.mark.parametrize("name", SDKS)
@pytest.mark.parametrize(
    ("response", "fault"),
    [
        (Status(code=401), Fault.AUTH),
        (Status(code=403), Fault.AUTH),
        (Status(code=402), Fault.AUTH),
        (Status(code=400, message="Your credit balance is too low"), Fault.AUTH),
        (Status(code=404), Fault.REFUSED),
        (Status(code=429), Fault.RATE),
        (Status(code=500), Fault.SERVER),
        (Status(code=502), Fault.SERVER),
        (Status(code=503), Fault.OVERLOADED),
        (Status(code=529), Fault.OVERLOADED),
        (Status(code=504), Fault.TIMEOUT),
        (Reset(), Fault.UNREACHABLE),
        (Raw(body=b"Sorry, we are closed.", content_type="text/html"), Fault.MALFORMED),
        (Raw(body=b"Here is prose."), Fault.MALFORMED),
        (Raw(body=b'{"model": "m-1", "con', short_by=0), Fault.MALFORMED),
        (Raw(body=b'{"model": "m-1", "content": []}', short_by=9), Fault.MALFORMED),
        (Raw(body=b'{"unexpected": true}'), Fault.MALFORMED),
        (Said(text=" \n"), Fault.MALFORMED),
        (Said(text="", stop="length"), Fault.TRUNCATED),
        (Said(text="no", stop="refusal"), Fault.REFUSED),
        (Said(text="fine", model="another-model"), Fault.MALFORMED),
    ],
    ids=str,
)
def test_trouble_is_told_apart(name: str, response: Response, fault: Fault, tmp_path: Path) -> None:
    error = fault_of(tmp_path, name, response)
    assert error.fault is fault
    assert "127.0.0.1" in str(error)


@pytest.mark.parametrize("name", SDKS)
def test_an_answer_that_never_comes_is_given_up_at_the_deadline(name: str, tmp_path: Path) -> None:
    error = fault_of(tmp_path, name, Hang(), timeout_s=0.2)
    assert error.fault is Fault.TIMEOUT
    assert "0.2 s" in str(error)


@pytest.mark.parametrize("name", SDKS)
def test_a_wait_that_the_provider_asks_for_is_passed_on(name: str, tmp_path: Path) -> None:
    error = fault_of(tmp_path, name, Status(code=429, headers={"Retry-After": "7"}))
    assert error.retry_after_s == 7.0


@pytest.mark.parametrize("name", SDKS)
def test_an_endpoint_where_nobody_listens_is_named(name: str, tmp_path: Path) -> None:
    url = closed_url()
    with pytest.raises(BackendError, match=url) as caught:
        backend(tmp_path, name, url).complete(PROMPT)
    assert caught.value.fault is Fault.UNREACHABLE


@pytest.mark.parametrize("name", SDKS)
def test_text_follows_no_redirect_to_another_host(name: str, tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as other:
        away = Status(code=307, headers={"Location": f"{other.url}/v1/messages"})
        assert fault_of(tmp_path, name, away).fault is Fault.REFUSED
        assert other.count == 0


@pytest.mark.parametrize("name", SDKS)
@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 500])
def test_the_key_stands_in_no_error(name: str, code: int, tmp_path: Path) -> None:
    error = fault_of(tmp_path, name, Status(code=code, message=f"bad key {KEY}, sorry"))
    shown = [repr(error), str(error), str(error.__cause__), repr(vars(error))]
    assert not [text for text in shown if KEY in text]


@pytest.mark.parametrize("name", SDKS)
def test_the_key_reaches_the_provider_and_no_text_about_the_backend(
    name: str, tmp_path: Path
) -> None:
    with model_server(lambda _ask: "fine") as server:
        asked = backend(tmp_path, name, server.url)
        asked.complete(PROMPT)
        (ask,) = server.asks
    sent = (ask.headers.get("x-api-key"), ask.headers.get("authorization"))
    assert sent in ((KEY, None), (None, f"Bearer {KEY}"))
    assert KEY not in f"{asked!r} {vars(asked)!r}"


@pytest.mark.parametrize("name", [*SDKS, "deepseek", "azure_openai"])
def test_a_missing_key_is_named_before_anything_is_sent(name: str, tmp_path: Path) -> None:
    settings = BackendSettings(name=name, model="m-1", base_url="http://127.0.0.1:9")
    with pytest.raises(ConfigError, match="_API_KEY"):
        BACKENDS.factory(name)(settings, fake_world(tmp_path))


def test_a_named_key_variable_must_be_set(tmp_path: Path) -> None:
    settings = BackendSettings(name="vllm", model="m-1", key_env="MY_KEY")
    with pytest.raises(ConfigError, match="MY_KEY"):
        BACKENDS.factory("vllm")(settings, fake_world(tmp_path))


def test_a_bearer_token_is_enough_for_anthropic(tmp_path: Path) -> None:
    world = fake_world(tmp_path, env={"ANTHROPIC_AUTH_TOKEN": KEY})
    with model_server(lambda _ask: "fine") as server:
        settings = BackendSettings(name="anthropic", model="m-1", base_url=server.url)
        BACKENDS.factory("anthropic")(settings, world).complete(PROMPT)
        (ask,) = server.asks
    assert (ask.headers.get("authorization"), ask.headers.get("x-api-key")) == (
        f"Bearer {KEY}",
        None,
    )


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
        ("openai/gpt-5", "gpt-5-2025-08-07"),
        ("GPT-5", "gpt-5"),
    ],
)
def test_a_dated_name_of_the_same_model_is_the_same_model(
    asked: str, answered: str, tmp_path: Path
) -> None:
    with model_server(lambda _ask: Said(text="fine", model=answered)) as server:
        reply = backend(tmp_path, "openai", server.url, model=asked).complete(PROMPT)
    assert reply.model == answered


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("gpt-5", "gpt-5-mini"), ("claude-sonnet-4", "claude-sonnet-4-5"), ("o3-mini", "o3")],
)
def test_a_smaller_or_newer_model_of_the_family_is_another_model(
    asked: str, answered: str, tmp_path: Path
) -> None:
    error = fault_of(tmp_path, "openai", Said(text="fine", model=answered), model=asked)
    assert error.fault is Fault.MALFORMED


def ask_by(root: Path, name: str, server: ModelServer, path: str = "") -> None:
    env = {"DASHSCOPE_API_KEY": KEY, "AZURE_OPENAI_AD_TOKEN": KEY}
    settings = BackendSettings(name=name, model="m-1", base_url=server.url + path)
    BACKENDS.factory(name)(settings, fake_world(root, env=env)).complete(PROMPT)


def test_a_preset_knows_its_provider_s_quirks(tmp_path: Path) -> None:
    with model_server(lambda _ask: "fine") as server:
        ask_by(tmp_path, "qwen", server)
        ask_by(tmp_path, "openai_compatible", server)
        qwen, plain = server.asks
    assert (qwen.body["enable_thinking"], qwen.body["max_tokens"]) == (False, 77)
    assert "enable_thinking" not in plain.body


def test_the_user_s_account_at_openai_is_told_to_openai_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The SDK itself reads the process's environment, which no port of ours stands between.
    account = {"OPENAI_ORG_ID": "org-planted", "OPENAI_PROJECT_ID": "proj-planted"}
    for name, value in account.items():
        monkeypatch.setenv(name, value)
    world = fake_world(tmp_path, env={**account, "OPENAI_API_KEY": KEY, "DEEPSEEK_API_KEY": KEY})
    with model_server(lambda _ask: "fine") as server:
        for name in ("openai_compatible", "deepseek", "openai"):
            settings = BackendSettings(name=name, model="m-1", base_url=server.url)
            BACKENDS.factory(name)(settings, world).complete(PROMPT)
        asks = server.asks
    assert len(asks) == 3
    assert not [
        value for ask in asks for value in ask.headers.values() if value in account.values()
    ]


def test_azure_takes_a_token_and_may_name_its_deployment_as_it_likes(tmp_path: Path) -> None:
    with model_server(lambda _ask: Said(text="fine", model="gpt-5")) as server:
        ask_by(tmp_path, "azure_openai", server)
        (ask,) = server.asks
    assert ask.headers["authorization"] == f"Bearer {KEY}"
    assert ask.body["max_completion_tokens"] == 77


def test_thoughts_before_the_answer_are_not_the_answer(tmp_path: Path) -> None:
    said = "<think>hm, rm -rf?</think>\n\nuse git clean"
    with model_server(lambda _ask: said) as server:
        reply = backend(tmp_path, "ollama", server.url).complete(PROMPT)
    assert reply.text == "use git clean"
