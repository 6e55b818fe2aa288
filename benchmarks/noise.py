"""A simulated world with noise: requests of three kinds, a model that errs, three rules to learn.

The kinds are those of docs/gate.md. One rule helps, one does nothing, one harms; what each is
worth is known, so that a gate can be judged. The model is a backend that another package could
bring, found through its entry point; it is no language model.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
from datetime import datetime, timedelta
from pathlib import Path

from skillopt_sleep.backends import BACKENDS, Backend
from skillopt_sleep.config import BackendSettings
from skillopt_sleep.model.prompt import Prompt, Reply, Stage
from skillopt_sleep.model.usage import Usage
from skillopt_sleep.world import World
from skillopt_sleep_server.demo.simulated import IDLE_RULE, SimulatedModel
from skillopt_sleep_server.demo.wire import Asked

NAME = "noisy"
HELPFUL = "Give every amount in EUR, with two decimals."
NULL = IDLE_RULE
HARMFUL = "Keep the whole answer within one calm sentence."
RULES = {"helpful": HELPFUL, "null": NULL, "harmful": HARMFUL}

CLUSTERS = 20
WANTED = "EUR"

_RATES = (0.95,) * 7 + (0.5,) * 6 + (0.08,) * 7
_LIFTED = {0.5: 4, 0.08: 5}
_LOWERED = {0.95: 3, 0.5: 2, 0.08: 1}
_TO, _BY = 0.9, 0.3

_REQUEST = re.compile(r"Invoice case (\d+)\b")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Truth:
    """How often each request goes well, without a skill and with each rule.

    Attributes:
        rates: Pass rate per cluster.
        lifted: Clusters that the helpful rule brings to 0.9.
        lowered: Clusters whose rate the harmful rule multiplies by 0.3.
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"truth {seed}")
        rates = list(_RATES)
        rng.shuffle(rates)
        self.rates = tuple(rates)
        self.lifted = self._some(_LIFTED, rng)
        self.lowered = self._some(_LOWERED, rng)

    def rate(self, cluster: int, skill: str) -> float:
        """Return the pass rate of a cluster under a skill document, in [0, 1]."""
        rate = self.rates[cluster]
        if HELPFUL in skill and cluster in self.lifted:
            rate = _TO
        if HARMFUL in skill and cluster in self.lowered:
            rate *= _BY
        return rate

    def worth(self, skill: str) -> float:
        """Return what a skill changes in the mean pass rate, in [-1, 1]."""
        gains = [self.rate(one, skill) - self.rates[one] for one in range(CLUSTERS)]
        return sum(gains) / CLUSTERS

    def _some(self, counts: dict[float, int], rng: random.Random) -> frozenset[int]:
        found: list[int] = []
        for rate, count in counts.items():
            found += rng.sample([n for n in range(CLUSTERS) if self.rates[n] == rate], count)
        return frozenset(found)


def task_lines(seed: int, *, members: int, at: datetime) -> str:
    """Return tasks in the format of ``tasks export``: one train member a cluster, others held out.

    Args:
        seed: Equal seeds give equal words.
        members: Held-out members of each cluster.
        at: When the first request was made; the others follow daily.
    """
    lines = [
        _line(seed, cluster, member, split="held_out" if member else "train", at=at)
        for cluster in range(CLUSTERS)
        for member in range(members + 1)
    ]
    return "\n".join(lines) + "\n"


def _line(seed: int, cluster: int, member: int, *, split: str, at: datetime) -> str:
    rng = random.Random(f"words {seed} {cluster} {member}")
    words = " ".join("".join(rng.choices(_LETTERS, k=7)) for _ in range(6))
    session = f"made:{cluster}-{member}"
    said = {"session": session, "turn": 1, "role": "human", "quote": "amounts in euro"}
    check = {"operator": "contains", "value": WANTED, "evidence": [said]}
    return json.dumps(
        {
            "id": f"case-{cluster:02d}-{member:02d}",
            "cluster": f"case-{cluster:02d}",
            "prompt": f"Invoice case {cluster}: {words}",
            "checks": [check],
            "split": split,
            "session": session,
            "at": (at + timedelta(days=cluster)).isoformat(),
            "score": 1.0,
            "evidence": [said],
        }
    )


class NoisyBackend:
    """Attempts requests by their true rates and suggests all three rules; ``model`` is the seed.

    Noise follows from seed, night, text and draw alone, so that neither the order nor the number of
    workers changes an answer.
    """

    def __init__(self, settings: BackendSettings, world: World) -> None:
        self.name = NAME
        self.model = settings.model
        self._world = world
        self._seed = int(settings.model)
        self._truth = Truth(self._seed)
        self._adviser = SimulatedModel(self._seed, ideas=tuple(RULES.values()))

    def complete(self, prompt: Prompt) -> Reply:
        """Return an answer; it costs a token for each four characters."""
        said = "\n\n".join(one.text for one in prompt.messages)
        text = (
            self._attempt(prompt.system, said, prompt.draw)
            if prompt.stage is Stage.ATTEMPT
            else self._adviser(Asked(system=prompt.system, user=said))
        )
        asked = len(prompt.system) + len(said)
        usage = Usage(calls=1, input_tokens=asked // 4 + 1, output_tokens=len(text) // 4 + 1)
        return Reply(text=text, model=self.model, usage=usage)

    def _attempt(self, system: str, said: str, draw: int) -> str:
        found = _REQUEST.search(said)
        if found is None:
            raise ValueError(f"not one of our requests: {said!r}")
        night = self._world.now().isoformat()
        blob = f"{self._seed}\0{night}\0{draw}\0{system}\0{said}".encode()
        luck = int.from_bytes(hashlib.sha256(blob).digest()[:8], "big") / 2**64
        passed = luck < self._truth.rate(int(found[1]), system)
        return f"The total is 12.00 {WANTED}." if passed else "The total is twelve."


def announce(folder: Path, kind: type[Backend] = NoisyBackend) -> None:
    """Make the noisy backend known, as an installed package would; ``folder`` is written to."""
    made = folder / "noisy_backend-1.dist-info"
    made.mkdir(parents=True, exist_ok=True)
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy-backend\nVersion: 1\n")
    target = f"{kind.__module__}:{kind.__name__}"
    (made / "entry_points.txt").write_text(f"[{BACKENDS.group}]\n{NAME} = {target}\n")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


_CONFORMS: type[Backend] = NoisyBackend
