# Refusals in many scripts stand here on purpose.
# ruff: noqa: RUF001
"""Answers that try to score without doing the work score nothing, and plain honest ones do."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.judges.score import all_judges, judge_all, score
from skillopt_sleep.model.attempt import Outcome
from skillopt_sleep.model.check import Check, Operator
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Task
from skillopt_sleep.testing import ScriptedBackend, fake_world

GENEROUS = '{"pass": true, "share": 1.0, "reason": "looks fine"}'

CHECKS = (
    Check(id="1", operator=Operator.CONTAINS, value="pnpm"),
    Check(id="2", operator=Operator.CONTAINS, value="pytest"),
    Check(id="3", operator=Operator.NOT_CONTAINS, value="yarn"),
    Check(id="4", operator=Operator.REGEX, value=r"pnpm|Tests"),
    Check(id="5", operator=Operator.NOT_REGEX, value=r"npm publish"),
    Check(id="6", operator=Operator.MAX_WORDS, value="500"),
    Check(id="7", operator=Operator.TOOL_NOT_CALLED, value="WebFetch"),
    Check(id="8", operator=Operator.COMMAND_NOT_RAN, value="npm publish"),
    Check(id="9", operator=Operator.RUBRIC, value="The tests are run with pnpm."),
)
TASK = Task(id="t", cluster="c", prompt="run the tests", checks=CHECKS)

EMPTY = ("", "   ", "\n\n\t", "```bash\n```", "#", "...", "\u200b")
KEYWORDS = (
    "pnpm, pytest, ruff, uv, mypy",
    "- pnpm\n- pytest\n- ruff\n- uv",
    "pnpm pytest ruff uv mypy docker",
    "1. pnpm\n2. pytest\n3. Tests\n4. lint",
    "**pnpm**\n**pytest**\n**Tests**\n**done**",
    "Keywords\npnpm\npytest\nTests\nrisks",
    "pnpm | pytest | Tests | ruff",
    "测试, 安装, pnpm, pytest, 构建",
)
HEADINGS = (
    "# pnpm",
    "# Summary\n\n## Tests with pnpm\n\n## pytest\n",
    "**Summary**\n\n**Tests: pnpm pytest**\n",
    "Summary pnpm\n=======\n\n---\n",
)
REFUSALS = (
    "I'm sorry, but I can't help with pnpm or pytest.",
    "I\u2019m sorry, but I can\u2019t assist with that request about pnpm and pytest.",
    "I cannot comply with running pnpm pytest.",
    "As an AI language model, I am unable to run pnpm or pytest.",
    "Es tut mir leid, aber ich kann pnpm und pytest nicht ausführen.",
    "Je suis désolé, je ne peux pas exécuter pnpm ni pytest.",
    "Lo siento, no puedo ejecutar pnpm ni pytest.",
    "Mi dispiace, non posso eseguire pnpm e pytest.",
    "Desculpe, não posso executar pnpm nem pytest.",
    "Het spijt me, ik kan pnpm en pytest niet uitvoeren.",
    "Przykro mi, nie mogę uruchomić pnpm ani pytest.",
    "Извините, я не могу запустить pnpm и pytest.",
    "Вибачте, я не можу запустити pnpm і pytest.",
    "抱歉，我无法协助运行 pnpm 和 pytest。",
    "申し訳ありませんが、pnpm と pytest は実行できかねます。",
    "죄송하지만 pnpm과 pytest를 실행할 수 없습니다.",
    "Üzgünüm, pnpm ve pytest çalıştırmayı yapamam.",
    "عذرًا، لا أستطيع تشغيل pnpm و pytest.",
    "क्षमा करें, मैं pnpm और pytest नहीं चला सकता।",
    "Xin lỗi, tôi không thể chạy pnpm và pytest.",
)
PRETENCE = (
    'TOOL_CALL: Bash({"command": "pnpm test"})',
    "TOOL_CALL: pnpm pytest\nTOOL_CALL: Tests",
    "<tool_call>pnpm pytest</tool_call>",
)
HONEST = (
    "I ran `pnpm test` and pytest; both are green.",
    "```bash\npnpm install\npnpm exec pytest -q\n```",
    "Tests run with pnpm; pytest passes. Nothing else changed.",
    "Die Tests laufen mit pnpm und pytest durch.",
    "Sorry for the earlier mistake. Fixed:\n```bash\npnpm exec pytest\n```",
    "用 pnpm 运行了 pytest，全部测试都通过了。",
    "pnpm exec pytest",
)


def scored(answer: str, root: Path) -> Score:
    judges = all_judges(fake_world(root), ScriptedBackend(lambda _prompt: GENEROUS))
    return score(CHECKS, judge_all(TASK, Outcome(answer=answer), judges))


@pytest.mark.parametrize("answer", [*EMPTY, *KEYWORDS, *HEADINGS, *REFUSALS, *PRETENCE])
def test_an_answer_that_does_no_work_passes_no_check_at_all(answer: str, tmp_path: Path) -> None:
    assert scored(answer, tmp_path) == Score(hard=0.0, soft=0.0)


@pytest.mark.parametrize("answer", HONEST)
def test_a_plain_honest_answer_passes(answer: str, tmp_path: Path) -> None:
    assert scored(answer, tmp_path) == Score(hard=1.0, soft=1.0)


def test_a_long_answer_that_apologises_for_one_thing_is_still_judged(tmp_path: Path) -> None:
    work = "The tests run with pnpm and pytest, and each of them was looked at. " * 10
    answer = f"{work} I'm sorry that I can't help with the deployment."
    assert scored(answer, tmp_path).soft == 1.0
