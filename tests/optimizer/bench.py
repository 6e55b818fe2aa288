"""A small world for the optimizer's tests: tasks that want a word, an agent that reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random

from skillopt_sleep.codec import digest, text_hash
from skillopt_sleep.config import OptimizerSettings, SkillSettings
from skillopt_sleep.errors import Fault
from skillopt_sleep.model.attempt import Attempt, Failure, Outcome, Verdict
from skillopt_sleep.model.check import Check, Evidence, Operator
from skillopt_sleep.model.prompt import Prompt
from skillopt_sleep.model.score import Score
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.optimizer.advisor import Advisor
from skillopt_sleep.optimizer.trainer import Trainer
from skillopt_sleep.replay import Rollout
from skillopt_sleep.testing import ScriptedBackend

WORDS = ("citron", "bramble", "harbor", "lantern")


def make_task(number: int, *, split: Split = Split.TRAIN, word: str | None = None) -> Task:
    wanted = word or WORDS[number % len(WORDS)]
    return Task(
        id=f"{split}-{number}",
        cluster=f"c-{split}-{number}",
        prompt=f"Request {split} number {number}: describe item {number}",
        checks=(Check(id="k", operator=Operator.CONTAINS, value=wanted),),
        split=split,
        evidence=(Evidence(session=f"claude:{number}", turn=1, quote=f"say {wanted} please"),),
    )


def never(_one: Rollout) -> bool:
    return False


class Agent:
    """Passes a task if the skill has a rule with the task's word; else by a coin of its own."""

    def __init__(self, *, luck: float = 0.0, fails: Callable[[Rollout], bool] = never) -> None:
        self.luck = luck
        self.fails = fails
        self.asked: list[Rollout] = []

    def __call__(self, wanted: Sequence[Rollout]) -> tuple[Attempt, ...]:
        self.asked += wanted
        return tuple(self._attempt(one) for one in wanted)

    def _attempt(self, one: Rollout) -> Attempt:
        word = one.task.checks[0].value
        name = digest(one.task.id, one.skill, one.draw)
        coin = int(sha256(name.encode()).hexdigest(), 16) % 1000 / 1000
        passed = f"Mention {word}" in one.skill or coin < self.luck
        failed = self.fails(one)
        return Attempt(
            id=name,
            task=one.task.id,
            cluster=one.task.cluster,
            skill_hash=text_hash(one.skill),
            draw=one.draw,
            outcome=None if failed else Outcome(answer=f"an answer {word if passed else ''}"),
            score=None if failed else Score(hard=float(passed), soft=float(passed)),
            verdicts=()
            if failed
            else (Verdict(check="k", passed=passed, share=float(passed), reason=f"want {word}"),),
            failure=Failure(fault=Fault.TIMEOUT, reason="too slow") if failed else None,
            usage=Usage(calls=1, input_tokens=10, output_tokens=5),
            seconds=1.0,
        )


def advise(prompt: Prompt) -> str:
    """Answer every stage as a plain optimizer would: a rule for each word that was wanted."""
    text = prompt.messages[-1].text
    match prompt.stage:
        case "reflect" if "Write the rules anew" in prompt.system:
            return json.dumps({"rules": _rules(text)})
        case "reflect" if "variants" in prompt.system:
            return json.dumps({"requests": ["another wording", "a third wording"]})
        case "reflect":
            return json.dumps({"edits": _edits(text)})
        case "aggregate":
            numbers = re.findall(
                r"^(\d+)\. (\w+)(?: \[(.*?)\])? \(support \d+\): (.*?) --", text, re.M
            )
            merged = [
                {"from": [int(n)], "op": "add", "text": words, "why": "kept"}
                for n, _, _, words in numbers
            ]
            return json.dumps({"edits": merged})
        case "select":
            count = len(re.findall(r"^\d+\. ", text, re.M))
            return json.dumps({"order": list(range(count, 0, -1)), "keep": 1})
        case "update":
            words = re.findall(r"Mention \w+", text)
            return json.dumps(
                {"rules": [{"text": f"{one} in each."} for one in dict.fromkeys(words)]}
            )
        case "slow":
            return json.dumps({"guidance": "Look at the whole request first."})
        case _:
            return json.dumps({"advice": f"Propose plain rules ({len(text)})."})


def _edits(text: str) -> list[dict[str, object]]:
    wanted: dict[str, list[str]] = {}
    for block in text.split("## Trial ")[1:]:
        if " 0 of " in block.split("\n", 1)[0] and (seen := re.search(r"say (\w+) please", block)):
            wanted.setdefault(seen[1], []).append(block.split(":", 1)[0])
    return [
        {
            "op": "add",
            "text": f"Mention {word} in each answer.",
            "why": "it was wanted",
            "trials": labels,
        }
        for word, labels in wanted.items()
    ]


def _rules(text: str) -> list[dict[str, str]]:
    kept = re.findall(r"^\[(\w{8})\] (.*)$", text, re.M)
    new = [one["text"] for one in _edits(text)]
    return [{"id": name, "text": words} for name, words in kept] + [
        {"id": "", "text": str(words)} for words in new
    ]


def make_trainer(
    agent: Agent,
    backend: ScriptedBackend,
    settings: OptimizerSettings | None = None,
    archive: tuple[Task, ...] = (),
) -> Trainer:
    return Trainer(
        rollouts=agent,
        advisor=Advisor(backend, workers=3),
        settings=settings or OptimizerSettings(),
        skill=SkillSettings(),
        rng=Random,
        archive=archive,
    )
