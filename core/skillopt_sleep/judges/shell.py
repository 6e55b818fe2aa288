"""Whether a command line runs a given command, by shell words; runs nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import regex

Words = tuple[str, ...]

_SEPARATORS = frozenset({";", "&", "&&", "|", "||", "|&", "(", ")", ";;", "{", "}", "\n", "!"})
_KEYWORDS = frozenset({"then", "do", "else", "if", "while", "until", "elif"})
_PREFIXES = frozenset({"sudo", "env", "time", "nohup", "command", "exec", "nice", "xargs"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_PYTHON = regex.compile(r"python[0-9.]*$")
_ASSIGNMENT = regex.compile(r"[A-Za-z_]\w*=")
_RUNNERS: tuple[Words, ...] = (
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("hatch", "run"),
    ("npx",),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "exec"),
    ("bunx",),
    ("uvx",),
    ("bundle", "exec"),
)
_DEEPEST = 3


def ran(wanted: str, commands: Sequence[str]) -> bool:
    """Return whether one of ``commands`` runs ``wanted``.

    The program must be the same, paths and version digits aside; the further words of ``wanted``
    must follow in order, with only options between them, and more may come after. So
    ``pip install`` is run by ``pip install x``, ``sudo pip3 -q install x`` and
    ``cd a && python -m pip install x``, and not by ``echo pip install`` or ``pip uninstall``.
    Quotes, redirections, ``VAR=x`` before a command, and runners such as ``uv run`` are seen
    through. Letters count as written.
    """
    aims = [reading for words in _simple(wanted, 0) for reading in _readings(words)][:1]
    return any(
        _runs(aim, reading)
        for aim in aims
        for command in commands
        for words in _simple(command, 0)
        for reading in _readings(words)
    )


def _simple(command: str, depth: int) -> Iterator[Words]:
    # The simple commands of a line, those inside `bash -c "…"` and `$(…)` included.
    if depth > _DEEPEST:
        return
    current: list[str] = []
    for word in [*_split(command), ";"]:
        if word not in _SEPARATORS:
            current.append(word)
            continue
        words = _stripped(current)
        current = []
        if not words:
            continue
        yield words
        inner = _inner(words)
        if inner:
            yield from _simple(inner, depth + 1)
    for found in regex.finditer(r"\$\(([^()]*)\)|`([^`]*)`", command):
        yield from _simple(found[1] or found[2] or "", depth + 1)


def _split(command: str) -> list[str]:
    text = command.replace("\\\n", " ")
    words: list[str] = []
    for line in text.split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()\n")
        lexer.whitespace_split = True
        try:
            words += list(lexer)
        except ValueError:
            # A quote that is never closed: plain words are the best reading left.
            words += line.split()
        words.append("\n")
    return words


def _stripped(words: Sequence[str]) -> Words:
    rest = list(words)
    while rest and (rest[0] in _KEYWORDS or rest[0] in _PREFIXES or _ASSIGNMENT.match(rest[0])):
        prefix = rest.pop(0)
        while prefix in _PREFIXES and rest and rest[0].startswith("-"):
            rest.pop(0)
    return tuple(rest)


def _inner(words: Words) -> str:
    if _name(words[0]) in _SHELLS:
        for index, word in enumerate(words[1:-1], 1):
            if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
                return words[index + 1]
    return ""


def _readings(words: Words) -> Iterator[Words]:
    # Every reading of one simple command, the most telling last word first: runners seen through.
    if not words:
        return
    name = _name(words[0])
    plain = (name, *words[1:])
    if _PYTHON.match(name) and len(words) > 2 and words[1] == "-m":
        yield (words[2], *words[3:])
    else:
        yield plain
    for runner in _RUNNERS:
        if plain[: len(runner)] == runner:
            rest = list(plain[len(runner) :])
            while rest and rest[0].startswith("-"):
                rest.pop(0)
            yield from _readings(_stripped(rest))


def _name(word: str) -> str:
    name = PurePosixPath(word).name or word
    return regex.sub(r"^(pip|python)[0-9.]+$", r"\1", name)


def _runs(aim: Words, words: Words) -> bool:
    if not aim or aim[0] != words[0]:
        return False
    left = list(aim[1:])
    after_option = False
    for word in words[1:]:
        if not left:
            return True
        if word == left[0]:
            left.pop(0)
            after_option = False
        elif word.startswith("-"):
            after_option = "=" not in word
        elif left[0].startswith("-"):
            # An option that is wanted may stand anywhere.
            continue
        elif after_option:
            after_option = False
        else:
            return False
    return not left
