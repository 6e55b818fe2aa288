PYTHON ?= $(shell command -v python3.11 || command -v python3)
PY := .venv/bin/python
CODE := core server tests benchmarks

.PHONY: check format lint types layers test demo clean

check: format lint types layers test

demo: .venv/made
	.venv/bin/skillopt-sleep demo

format: .venv/made
	$(PY) -m ruff format --check $(CODE)

lint: .venv/made
	$(PY) -m ruff check $(CODE)

types: .venv/made
	$(PY) -m mypy
	$(PY) -m pyright

layers: .venv/made
	.venv/bin/lint-imports

test: .venv/made
	$(PY) -m pytest

.venv/made: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -m pip install --quiet --editable . --group dev
	touch .venv/made

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist build
