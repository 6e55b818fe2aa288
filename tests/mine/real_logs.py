"""Compares the corrections found in a folder of labelled logs with its labels."""

from __future__ import annotations

import json
from pathlib import Path

from skillopt_sleep.config import HarvestSettings
from skillopt_sleep.mine.signals import corrections
from skillopt_sleep.model.session import Session
from skillopt_sleep.sources.harvest import harvest
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.sessions import SessionStore
from skillopt_sleep.testing import fake_world


def harvested(logs: Path, folder: Path) -> list[Session]:
    """Return every session of the labelled logs."""
    world = fake_world(folder).at_home(logs / "home")
    database = Database(folder / "logs.db")
    harvest(world, database, HarvestSettings())
    for export in sorted((logs / "vscode-export").glob("*.json")):
        harvest(world, database, HarvestSettings(), file=export, source="vscode")
    return list(SessionStore(database).sessions())


def compare(logs: Path, folder: Path) -> tuple[int, list[str], list[str]]:
    """Return how many labelled corrections are found, which are missed, and the false ones."""
    sessions = harvested(logs, folder)
    found, missed, false = 0, list[str](), list[str]()
    for line in (logs / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        got = [
            turn.text
            for one in sessions
            if one.path.endswith(label["file"])
            for turn in corrections(one)
        ]
        wanted = label["user_corrections"]
        hits = [text for text in wanted if any(_same(text, g) for g in got)]
        found += len(hits)
        missed += [text for text in wanted if text not in hits]
        known = [*wanted, *label.get("user_corrections_debatable", [])]
        false += [g for g in got if not any(_same(text, g) for text in known)]
    return found, missed, false


def _same(one: str, two: str) -> bool:
    return one.strip().startswith(two.strip()) or two.strip().startswith(one.strip())
