"""A night in a process of its own, watched from outside without a pause."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.edge import open_engine
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import MODEL, ModelServer


@pytest.mark.parametrize("policy", ["strict", "nonsense"])
def test_a_worker_that_comes_to_its_end_is_never_taken_for_dead(
    tmp_path: Path, policy: str
) -> None:
    root = tmp_path.resolve()
    with ModelServer(SimulatedModel()) as model, open_engine(state=root / "state") as engine:
        project = copy_samples(root / "home", engine.world.now())
        (project / ".skillopt-sleep.toml").write_text(
            "[target]\nname = 'openai_compatible'\n"
            f"model = '{MODEL}'\nbase_url = '{model.url}/v1'\n"
        )
        with open_engine(home=root / "home", project=project, state=root / "state") as watcher:
            arguments = ["--gate", "strict"] if policy == "strict" else ["--optimizer-backend", "x"]
            job = watcher.nights.detach(arguments)
            states = [job.state]
            begun = watcher.world.monotonic()
            while job.state == "running" and watcher.world.monotonic() - begun < 60:
                job = watcher.jobs.get(job.id)
                states.append(job.state)
    assert set(states) == {"running", "ended"}, job.reason
    assert (job.night is not None) == (policy == "strict")
    assert bool(job.reason) == (policy == "nonsense")
