"""``demo``: a whole night on sample logs, against a simulated model or a real one."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from skillopt_sleep.edge import open_engine
from skillopt_sleep.engine import Engine, cost_line, funnel_lines
from skillopt_sleep.engine import total as total_of
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.night import Night, NightOptions
from skillopt_sleep.model.proposal import Proposal, ProposalStatus
from skillopt_sleep_server.cli.face import Face, command
from skillopt_sleep_server.cli.night import CODES
from skillopt_sleep_server.demo.samples import copy_samples
from skillopt_sleep_server.demo.simulated import SimulatedModel
from skillopt_sleep_server.demo.wire import MODEL, ModelServer

AFTER = """\
Now on your own logs:
  skillopt-sleep harvest                       read them (nothing leaves this machine)
  skillopt-sleep tasks                         what recurs in the project you stand in
  skillopt-sleep setup --backend anthropic --model MODEL    choose a model, see what is sent, agree
  skillopt-sleep night                         run a night; --backend handoff needs no key"""


_TURNED_DOWN = ("failed the screen", "stopped before any test", "reject", "pending")


@click.command()
@click.option("--base-url", default=None, help="Run it on a real model that listens here.")
@click.option("--model", default=None, help="Its name.")
@click.option(
    "--backend", default="openai_compatible", show_default=True, help="How it is reached."
)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--keep", is_flag=True, help="Keep the scratch folder and say where it is.")
@command
def demo(
    face: Face, base_url: str | None, model: str | None, backend: str, seed: int, *, keep: bool
) -> None:
    """Run a whole night on sample logs; needs no key, no network and no agent."""
    if (base_url is None) != (model is None):
        raise ConfigError(
            "a real model needs both --base-url and --model; without both it is simulated"
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the scratch goes then too
    with _scratch(keep=keep) as folder, _model(base_url, seed) as url:
        if base_url is None:
            face.say(
                "The model in this demo is SIMULATED: a small program, not a language model.\n"
            )
        else:
            face.say(f"The model in this demo is {model} at {base_url}.\n")
        ended = _night(
            face, folder, url, model or MODEL, backend if base_url else "anthropic", seed
        )
        if keep:
            face.say(f"\nThe scratch folder is {folder}")
    face.say(f"\n{AFTER}")
    raise SystemExit(CODES[ended.status])


@contextmanager
def _scratch(*, keep: bool) -> Generator[Path]:
    if keep:
        yield Path(tempfile.mkdtemp(prefix="skillopt-sleep-demo-")).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="skillopt-sleep-demo-") as name:
        yield Path(name).resolve()


@contextmanager
def _model(base_url: str | None, seed: int) -> Generator[str]:
    if base_url is not None:
        yield base_url
        return
    with ModelServer(SimulatedModel(seed)) as server:
        yield server.url


def _night(face: Face, folder: Path, url: str, model: str, backend: str, seed: int) -> Night:
    """Harvest, run the night, show what came of it, adopt what is supported."""
    project = folder / "home" / "code" / "harbor"
    project.mkdir(parents=True)
    flags: dict[str, object] = {
        "target.name": backend,
        "target.model": model,
        "target.base_url": url,
        "target.key": "no-key-needed",
    }
    with open_engine(
        home=folder / "home", project=project, flags=flags, state=folder / "state"
    ) as engine:
        copy_samples(folder / "home", engine.world.now())
        engine.setup.require()
        ended = engine.nights.run(NightOptions(seed=seed), progress=face.progress())
        adopted = _adopt(engine, ended)
        face.give(engine.nights.report_json(engine.nights.last() or ended))
        for line in _story(engine, ended, adopted):
            face.say(line)
    return ended


def _adopt(engine: Engine, night: Night) -> Proposal | None:
    """Adopt the first supported proposal, as a person would after reading it."""
    for number in night.proposals:
        if engine.review.get(number).status is ProposalStatus.SUPPORTED:
            return engine.review.adopt(number, human="demo", reason="the demo adopts it")
    return None


def _story(engine: Engine, night: Night, adopted: Proposal | None) -> Iterator[str]:
    yield from ("From sessions to rules:", *(f"  {line}" for line in funnel_lines(night.funnel)))
    for number in night.proposals:
        proposal = engine.review.get(number)
        yield f"\n{'ADOPTED' if proposal.status is ProposalStatus.ADOPTED else 'NOT ADOPTED'}"
        yield engine.review.report(number)
    for note in night.notes:
        if note.startswith(_TURNED_DOWN):
            yield f"\nNOT ADOPTED\n{note}"
    spent = total_of(night.usage)
    yield f"\nIt cost {cost_line(spent)}."
    if adopted is not None:
        yield f"\nThe live skill {adopted.target} now reads:\n"
        yield from (f"    {line}" for line in adopted.after.splitlines())
    elif night.reason:
        yield f"\n{night.reason}"
