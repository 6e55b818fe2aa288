"""What every source promises, over the registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.model.record import Cursor, SessionSeen
from skillopt_sleep.sources import SOURCES
from skillopt_sleep.testing import fake_world

CORPUS = Path(__file__).parents[1] / "corpus"
NOISE = (b"", b"\n\n", b"[]\n", b'"text"\n', b"\xff\xfe\x00", b"{" * 3_000, b"17\n{}\n")


@pytest.mark.parametrize("name", SOURCES.names())
def test_a_source_goes_by_its_registry_name(name: str) -> None:
    assert SOURCES.factory(name)().name == name


@pytest.mark.parametrize("name", SOURCES.names())
def test_a_harness_that_was_never_installed_has_no_files(name: str, tmp_path: Path) -> None:
    assert list(SOURCES.factory(name)().files(fake_world(tmp_path))) == []


@pytest.mark.parametrize("name", SOURCES.names())
def test_every_source_has_a_corpus_that_names_versions_and_dates(name: str) -> None:
    readme = (CORPUS / name / "README.md").read_text(encoding="utf-8")
    assert any(character.isdigit() for character in readme)


@pytest.mark.parametrize("name", SOURCES.names())
@pytest.mark.parametrize("blob", NOISE)
def test_noise_yields_no_turn_and_at_most_a_value_error(
    name: str, blob: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "noise.jsonl"
    path.write_bytes(blob)
    try:
        reading = SOURCES.factory(name)().read(path, None)
    except ValueError:
        return
    assert all(isinstance(record, SessionSeen) for record in reading.records)


@pytest.mark.parametrize("name", SOURCES.names())
def test_a_missing_file_is_an_os_error(name: str, tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        SOURCES.factory(name)().read(tmp_path / "none.jsonl", Cursor(offset=3, head="x"))
