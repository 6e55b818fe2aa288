"""An empty archive over an empty home folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.archive import Archive

from skillopt_sleep.store.database import Database


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    home = tmp_path / "home"
    home.mkdir()
    database = Database(tmp_path / "data" / "archive.db")
    yield Archive(home=home, database=database, root=tmp_path)
    database.close()
