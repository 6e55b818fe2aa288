"""No secret reaches the archive in a name: an id, a model, a version, a tool, a kind."""

from __future__ import annotations

import json
from typing import cast

import pytest
from tests.sources.archive import CORPUS, Archive

from skillopt_sleep.codec import encode
from skillopt_sleep.sources import SOURCES
from skillopt_sleep.sources._names import short, without_secrets

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
STRUCTURE = {"type", "role", "kind", "timestamp"}


def planted(value: object, *, key: str = "") -> object:
    """Return ``value`` with the token at the end of every text that is no structure."""
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return {name: planted(inner, key=name) for name, inner in pairs}
    if isinstance(value, list):
        return [planted(inner, key=key) for inner in cast("list[object]", value)]
    return f"{value} {TOKEN}" if isinstance(value, str) and key not in STRUCTURE else value


@pytest.mark.parametrize(
    ("corpus", "folder", "source"),
    [
        ("claude/2.1.332", ".claude", "claude"),
        ("codex/0.171.0", ".codex", "codex"),
        ("copilot/1.0.102", ".copilot/session-state/a", "copilot"),
        ("cursor", ".cursor", "cursor"),
        ("openclaw/v3", ".openclaw", "openclaw"),
    ],
)
def test_a_token_in_every_field_is_in_no_byte_of_the_archive(
    archive: Archive, corpus: str, folder: str, source: str
) -> None:
    for log in archive.lay_out(corpus, folder).rglob("*.jsonl"):
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        log.write_text("".join(json.dumps(planted(row)) + "\n" for row in rows), encoding="utf-8")
    report = archive.harvest(source)
    assert archive.sessions()
    assert TOKEN[4:20] not in encode(report)
    archive.database.scrub()
    assert TOKEN[4:20].encode() not in archive.database.path.read_bytes()


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    for log in sorted((CORPUS / name).rglob("*.jsonl")):
        reading = SOURCES.factory(name)().read(log, None)
        assert without_secrets(reading) is reading


def test_a_long_name_is_cut_after_its_secret_is_replaced() -> None:
    assert TOKEN[4:12] not in short(f"0.171.0 {'x' * 20} {TOKEN}")
    assert short("a" * 50) == "a" * 40
