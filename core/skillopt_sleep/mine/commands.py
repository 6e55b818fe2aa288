"""What a shell command in a log is for: does it verify the work, commit it or take it back?

Reads commands as text and never runs them; what it cannot split it calls nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import regex

_SPLIT = regex.compile(r"&&|\|\||;|\n|(?<![>&\d])\|(?!\|)")
_REDIRECT = regex.compile(r"\d?>&\d|\d?>>?\s*\S+|<\s*\S+")
_ASSIGNMENT = regex.compile(r"^[A-Za-z_]\w*=")
_RUNNERS = ("uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "npx", "pnpm exec")
_RUNNERS_MORE = ("yarn", "bunx", "bundle exec", "python -m", "python3 -m", "sudo", "time", "env")
_VERIFIERS = (
    *("pytest", "tox", "nox", "unittest", "ruff", "mypy", "pyright", "flake8", "pylint", "black"),
    *("jest", "vitest", "mocha", "eslint", "tsc", "prettier", "rspec", "rubocop", "phpunit"),
    *("go test", "go vet", "go build", "golangci-lint", "cargo test", "cargo clippy"),
    *("cargo check", "cargo build", "cargo fmt", "mvn test", "mvn verify", "gradle test"),
    *("./gradlew test", "dotnet test", "dotnet build", "swift test", "mix test", "ctest"),
    *("deno test", "deno lint", "shellcheck", "terraform validate", "pre-commit run"),
)
_TASK_RUNNERS = (
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "make",
    "just",
    "mise",
    "task",
    "rake",
    "nx",
    "turbo",
)
_TASK_RUNNERS_MORE = ("invoke", "composer", "poe", "gmake", "moon", "pdm", "hatch", "rye")
_VERIFYING_TASK = regex.compile(
    r"(?:test|tests|check|checks|lint|build|verify|validate|typecheck|type-check|ci)(?:[:_.-].*)?"
)
_PROGRAMS = """
pip pip3 uv poetry pdm pipenv conda npm npx pnpm yarn bun deno node python python3 go cargo
make just git gh docker podman kubectl helm terraform ruff black mypy pyright pytest tox nox
flake8 pylint isort eslint prettier tsc jest vitest mocha mvn gradle dotnet brew apt apt-get
curl wget rg grep sed awk jq psql sqlite3 rspec rubocop bundle composer php rails ./gradlew
golangci-lint gofmt goimports shellcheck pre-commit biome oxlint swift alembic django-admin
httpie ansible vim nano hg svn ctest cmake ninja bazel
"""
_KNOWN = frozenset(_PROGRAMS.split())


def parts(command: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each simple command in ``command``."""
    for piece in _SPLIT.split(_REDIRECT.sub(" ", command)):
        try:
            found = shlex.split(piece, comments=True)
        except ValueError:
            # A here-document or a lone quote: the first words still say what runs.
            found = piece.split()
        while found and (_ASSIGNMENT.match(found[0]) or found[0] in ("(", "{", "!", "then", "do")):
            found = found[1:]
        if found:
            yield tuple(found)


def bare(simple: tuple[str, ...]) -> tuple[str, ...]:
    """Return a simple command without runners such as ``uv run`` in front."""
    rest = list(simple)
    for _ in range(3):
        for runner in (*_RUNNERS, *_RUNNERS_MORE):
            head = runner.split()
            if rest[: len(head)] == head and len(rest) > len(head) and not _own(rest):
                rest = rest[len(head) :]
                break
        else:
            break
    return tuple(rest)


def _own(rest: list[str]) -> bool:
    return bool(_verifying_task(tuple(rest))) or any(
        rest[: len(v.split())] == v.split() for v in _VERIFIERS
    )


def verifies(command: str) -> str:
    """Return the short name of the check that ``command`` runs, such as "go test", or ""."""
    for simple in parts(command):
        tail = bare(simple)
        for verifier in _VERIFIERS:
            head = tuple(verifier.split())
            if tail[: len(head)] == head:
                return verifier
        if named := _verifying_task(simple):
            return named
    return ""


def _verifying_task(simple: tuple[str, ...]) -> str:
    if simple[0] not in (*_TASK_RUNNERS, *_TASK_RUNNERS_MORE):
        return ""
    size = 3 if simple[1:2] in (("run",), ("exec",)) else 2
    last = simple[size - 1 : size]
    return " ".join(simple[:size]) if last and _VERIFYING_TASK.fullmatch(last[0]) else ""


def verifying_part(command: str) -> str:
    """Return the part of ``command`` that verifies, as it can be run again, or ""."""
    for piece in _SPLIT.split(command):
        if verifies(piece):
            return _REDIRECT.sub("", piece).strip()
    return ""


def landed(command: str) -> bool:
    """Whether ``command`` makes a commit."""
    return any(simple[:2] == ("git", "commit") for simple in parts(command))


def reverted(command: str) -> bool:
    """Whether ``command`` takes work back: git revert, restore, reset --hard, checkout -- FILE."""
    for simple in parts(command):
        if simple[:2] in (("git", "revert"), ("git", "restore")):
            return True
        if simple[:2] == ("git", "reset") and "--hard" in simple:
            return True
        if simple[:2] == ("git", "checkout") and "--" in simple:
            return True
    return False


def is_program(word: str) -> bool:
    """Whether ``word`` is the name of a program that people run in a shell."""
    return word in _KNOWN
