PY ?= .venv/bin/python

.PHONY: check format lint types layers test setup

setup:
	python3 -m venv .venv
	.venv/bin/pip install --quiet --upgrade pip
	.venv/bin/pip install --quiet --editable . --group dev

check: format lint types layers test

format:
	$(PY) -m ruff format --check core server tests benchmarks

lint:
	$(PY) -m ruff check core server tests benchmarks

types:
	$(PY) -m mypy
	$(PY) -m pyright

layers:
	.venv/bin/lint-imports

test:
	$(PY) -m pytest
