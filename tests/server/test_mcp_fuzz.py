"""Arguments of any kind: an answer or a sentence that helps, never a masked error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp_types import TextContent

from skillopt_sleep_server.mcp.app import build
from skillopt_sleep_server.mcp.place import Place

NAMES = (
    "status",
    "harvest",
    "tasks",
    "consolidate",
    "cancel",
    "proposals",
    "show",
    "adopt",
    "reject",
    "revert",
    "prompts",
    "answer",
    "install",
)

KEYS = ("project", "job", "sources", "decided", "number", "dry_run", "wait_s", "max_calls", "key")
MORE = ("text", "most", "harness", "scope", "unproven", "reason", "word", "context", "x")

values: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["/", "/tmp", "..", "codex", "user", "../../etc/passwd"])
    | st.lists(st.text(max_size=4), max_size=2)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    root: Path = tmp_path_factory.mktemp("fuzz").resolve()
    for name in ("home", "project"):
        (root / name).mkdir()
    return Place(project=root / "project", home=root / "home", state=root / "state")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(NAMES),
    arguments=st.dictionaries(st.sampled_from(KEYS + MORE), values, max_size=3),
)
def test_any_arguments_get_an_answer_or_a_sentence(
    place: Place, name: str, arguments: dict[str, Any]
) -> None:
    async def run() -> None:
        async with Client(build(place)) as client:
            outcome = await client.call_tool(f"skillopt.{name}", arguments)
            words = "\n".join(b.text for b in outcome.content if isinstance(b, TextContent))
            if outcome.is_error:
                assert words
                assert words != f"Error executing tool skillopt.{name}"
            else:
                assert outcome.structured_content is not None

    anyio.run(run)
