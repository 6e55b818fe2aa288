"""Each operator of the rules judge on outcomes that meet it and outcomes that do not."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.errors import ConfigError
from skillopt_sleep.judges.rules import RulesJudge, contains
from skillopt_sleep.judges.shell import ran
from skillopt_sleep.model.attempt import Outcome
from skillopt_sleep.model.check import JUDGE_OF, Check, Operator
from skillopt_sleep.model.task import Task
from skillopt_sleep.testing import fake_world

TASK = Task(id="t", cluster="c", prompt="p")


def passes(root: Path, operator: Operator, value: str, outcome: Outcome) -> bool:
    check = Check(id="x", operator=operator, value=value)
    verdict = RulesJudge(fake_world(root)).verdict(check, TASK, outcome)
    assert verdict.share == float(verdict.passed)
    assert verdict.reason
    return verdict.passed


def said(text: str) -> Outcome:
    return Outcome(answer=text)


@pytest.mark.parametrize(
    ("text", "wanted", "there"),
    [
        ("We use pnpm here.", "npm", False),
        ("We use npm here.", "npm", True),
        ("Use pipx for that.", "pip", False),
        ("Write docstrings now.", "docstring", True),
        ("It is a PEP 8 thing.", "pep 8", True),
        ("the makefile is old", "Makefile", False),
        ("the Makefile is old", "Makefile", True),
        ("run  uv\n sync now", "uv sync", True),
        ("call foo() then", "foo()", True),
        ("ﬁle names", "file", True),
        ("用中文写提交信息", "中文", True),
        ("see a.py2 there", "a.py", False),
        ("--no-verify is out", "--no-verify", True),
    ],
)
def test_a_text_is_looked_for_as_whole_words(text: str, wanted: str, there: bool) -> None:
    assert contains(text, wanted) is there


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1).filter(lambda text: text.split()))
def test_every_text_contains_itself(text: str) -> None:
    assert contains(text, text)


def test_code_counts_as_much_as_words_and_what_was_taken_out_does_not(tmp_path: Path) -> None:
    diff = "--- a/x\n+++ b/x\n-import yaml\n+import tomllib\n"
    outcome = Outcome(answer="I changed the import.", diff=diff)
    assert passes(tmp_path, Operator.CONTAINS, "tomllib", outcome)
    assert not passes(tmp_path, Operator.NOT_CONTAINS, "tomllib", outcome)
    assert passes(tmp_path, Operator.NOT_CONTAINS, "yaml", outcome)


@pytest.mark.parametrize(
    ("operator", "value", "good", "bad"),
    [
        (Operator.CONTAINS, "ruff", "I ran ruff on it.", "I ran black on it."),
        (Operator.NOT_CONTAINS, "npm", "I ran pnpm on it.", "I ran npm on it."),
        (Operator.REGEX, r"^feat\(\w+\):", "feat(cli): add it now", "I add: feat(cli): it"),
        (Operator.NOT_REGEX, r"(?i)todo", "It is all done.", "There is a Todo left."),
        (Operator.MAX_WORDS, "5", "It is all done.", "It is all done and dusted."),
        (Operator.MIN_WORDS, "5", "It is all done and dusted.", "It is all done."),
        (Operator.SECTION, "Risks", "## Risks\nThere are none.", "## Risks\n## Tests\nRan it."),
        (Operator.SECTION, "## risks", "**Risks:**\nThere are none.", "The risks are low here."),
        (Operator.SECTION, "Risks", "Risks:\nThere are none.", "# Risk\nThere are none."),
    ],
)
def test_text_operators_tell_good_from_bad(
    operator: Operator, value: str, good: str, bad: str, tmp_path: Path
) -> None:
    assert passes(tmp_path, operator, value, said(good))
    assert not passes(tmp_path, operator, value, said(bad))


def test_characters_of_scripts_without_spaces_are_words(tmp_path: Path) -> None:
    assert not passes(tmp_path, Operator.MAX_WORDS, "5", said("全部测试都已通过。"))


def test_tools_are_those_that_were_called_and_not_those_that_are_named(tmp_path: Path) -> None:
    used = Outcome(answer="I looked it up.", tools=("Read", "WebFetch"))
    named = said("TOOL_CALL: WebFetch\nI looked it up with WebFetch.")
    assert passes(tmp_path, Operator.TOOL_CALLED, "webfetch", used)
    assert not passes(tmp_path, Operator.TOOL_CALLED, "webfetch", named)
    assert not passes(tmp_path, Operator.TOOL_NOT_CALLED, "webfetch", used)
    assert passes(tmp_path, Operator.TOOL_NOT_CALLED, "webfetch", named)


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("pip install x", "pip install"),
        ("pip3 install x", "pip install"),
        ("python -m pip install x", "pip install"),
        ("python3.11 -m pip install x", "pip install"),
        ("sudo -E pip install x", "pip install"),
        ("./.venv/bin/pip install x", "pip install"),
        ("cd app && pip install x", "pip install"),
        ("pip --quiet install x", "pip install"),
        ("PIP_NO_INPUT=1 pip install x", "pip install"),
        ('bash -lc "cd a; pip install x"', "pip install"),
        ("(cd a; pip install x)", "pip install"),
        ("if true; then pip install x; fi", "pip install"),
        ("echo $(pip install x)", "pip install"),
        ("git -C repo commit -m 'one two'", "git commit"),
        ("git push origin main --force", "git push --force"),
        ("uv run pytest -q", "pytest"),
        ("uv run pytest -q", "uv run"),
        ("npx --yes prettier .", "prettier"),
        ("pytest", "python -m pytest"),
        ("true\npip install x", "pip install"),
        ("pip install \\\n  x", "pip install x"),
        ("echo 'unclosed\npip install x", "pip install"),
        ("make test", "make test"),
    ],
)
def test_a_command_is_seen_through_its_wrapping(command: str, wanted: str) -> None:
    assert ran(wanted, [command])


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("pip uninstall x", "pip install"),
        ("echo pip install x", "pip install"),
        ("echo 'pip install x'", "pip install"),
        ("uv pip install x", "pip install"),
        ("pnpm install", "npm install"),
        ("git log commit", "git commit"),
        ("git push origin main", "git push --force"),
        ("# pip install x", "pip install"),
        ("pip", "pip install"),
        ("", "pip install"),
    ],
)
def test_another_command_is_another_command(command: str, wanted: str) -> None:
    assert not ran(wanted, [command])


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text())
def test_no_text_makes_the_shell_reader_stumble(wanted: str, command: str) -> None:
    assert ran(wanted, [command]) in (True, False)


def test_commands_are_judged_by_what_was_run(tmp_path: Path) -> None:
    outcome = Outcome(answer="I will not use npm publish.", commands=("pnpm test",))
    assert passes(tmp_path, Operator.COMMAND_RAN, "pnpm test", outcome)
    assert passes(tmp_path, Operator.COMMAND_NOT_RAN, "npm publish", outcome)
    assert not passes(tmp_path, Operator.COMMAND_NOT_RAN, "pnpm test", outcome)


@pytest.mark.parametrize("operator", [Operator.REGEX, Operator.NOT_REGEX])
def test_a_pattern_that_takes_too_long_proves_nothing(operator: Operator, tmp_path: Path) -> None:
    assert not passes(tmp_path, operator, r"(a|aa|aaa)+$", said("It is " + "a" * 5000 + "!"))


@pytest.mark.parametrize(
    ("operator", "value"), [(Operator.REGEX, "("), (Operator.MAX_WORDS, "few")]
)
def test_an_operand_that_makes_no_sense_is_named(
    operator: Operator, value: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="'x'"):
        passes(tmp_path, operator, value, said("It is all done."))


@pytest.mark.parametrize("operator", [one for one, judge in JUDGE_OF.items() if judge == "rules"])
@settings(max_examples=10, deadline=None)
@given(st.text(alphabet=" \n\t\u200b#*-`"))
def test_an_empty_answer_meets_no_demand(operator: Operator, answer: str) -> None:
    check = Check(id="x", operator=operator, value="500")
    with TemporaryDirectory() as folder:
        judge = RulesJudge(fake_world(Path(folder)))
    assert not judge.verdict(check, TASK, said(answer)).passed
