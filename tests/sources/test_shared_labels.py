"""Real logs against labels checked by eye: prompts, tool calls and tool errors, file by file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.config import HarvestSettings
from skillopt_sleep.model.session import Session
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.testing import fake_world

TRANSCRIPTS = Path(__file__).parents[2].parent / "shared" / "transcripts"
LABELS = TRANSCRIPTS / "labels.jsonl"
pytestmark = pytest.mark.skipif(
    not LABELS.exists(), reason="labelled real logs lie outside the repository"
)
ROWS: list[dict[str, Any]] = (
    [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    if LABELS.exists()
    else []
)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Session]]:
    root = tmp_path_factory.mktemp("labels")
    database = Database(root / "archive.db")
    world = fake_world(root).at_home(TRANSCRIPTS / "home")
    report = harvest(world, database, HarvestSettings())
    assert report.unreadable == ()
    for row in ROWS:
        if not row["file"].startswith("home/"):
            harvest(
                world,
                database,
                HarvestSettings(),
                file=TRANSCRIPTS / row["file"],
                source="vscode",
            )
    yield {session.path: session for session in SessionStore(database).sessions()}
    database.close()


@pytest.mark.parametrize("row", ROWS, ids=[Path(row["file"]).name[:24] for row in ROWS])
def test_every_labelled_prompt_is_found_and_none_invented(
    sessions: dict[str, Session], row: dict[str, Any]
) -> None:
    session = sessions[str(TRANSCRIPTS / row["file"])]
    found = [turn.text for turn in session.prompts]
    labels = row["real_user_prompts"]
    assert len(found) == len(labels), found
    for text, label in zip(found, labels, strict=True):
        assert text.startswith(label)


@pytest.mark.parametrize("row", ROWS, ids=[Path(row["file"]).name[:24] for row in ROWS])
def test_tool_calls_errors_and_refusals_are_exact(
    sessions: dict[str, Session], row: dict[str, Any]
) -> None:
    session = sessions[str(TRANSCRIPTS / row["file"])]
    assert len(session.calls) == row["n_tool_calls"]
    if row["n_tool_errors"] is not None:
        assert sum(call.error for call in session.calls) == row["n_tool_errors"]
    assert sum(call.refused for call in session.calls) == row["n_user_rejections"]
