"""Which shell commands an answer proposes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.environments.answer import proposed_commands


@pytest.mark.parametrize(
    ("answer", "commands"),
    [
        ("Run this:\n```bash\npnpm install\npnpm test\n```\n", ("pnpm install", "pnpm test")),
        ("```sh\n# first\nmake a\n\nmake b # then\n```", ("make a", "make b # then")),
        ("```console\n$ ls\na  b\n$ cat a\nhello\n```", ("ls", "cat a")),
        ("```\n$ make\nok\n```", ("make",)),
        ("```\nmake\n```", ()),
        ("```python\nimport os\n```", ()),
        ("```bash\n$ ls\nfile\n```", ("ls",)),
        ("```bash\ncurl a \\\n  -o b\n```", ("curl a  -o b",)),
        (
            "```bash\ncat <<EOF > a\nnpm install\nEOF\nls\n```",
            (
                "cat <<EOF > a\nnpm install\nEOF",
                "ls",
            ),
        ),
        ("  ```bash\n  git status\n  ```", ("git status",)),
        ("~~~shell\nls\n~~~", ("ls",)),
        ("````bash\nls\n````", ("ls",)),
        ("```bash\nls", ("ls",)),
        ("Use `npm install`, or npm test.", ()),
        ("", ()),
    ],
)
def test_commands_are_read_from_shell_blocks(answer: str, commands: tuple[str, ...]) -> None:
    assert proposed_commands(answer) == commands


@settings(max_examples=60, deadline=None)
@given(st.lists(st.from_regex(r"[a-z]{1,8}( [a-z0-9./]{1,8}){0,3}", fullmatch=True)))
def test_plain_commands_come_back_as_they_went_in(commands: list[str]) -> None:
    body = "".join(f"{one}\n" for one in commands)
    assert proposed_commands(f"Do:\n```bash\n{body}```\nDone.") == tuple(commands)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="`~$ab \n<E\\"))
def test_no_answer_makes_the_reader_stumble(answer: str) -> None:
    assert all(one.strip() for one in proposed_commands(answer))
