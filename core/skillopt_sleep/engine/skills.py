"""The skill desk: where each rule of the live skill comes from, and which ones do nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.config import Config
from skillopt_sleep.cycle.cast import Cast, assemble
from skillopt_sleep.cycle.lookback import WATCH
from skillopt_sleep.cycle.prepare import read_live
from skillopt_sleep.engine.setup import Setup
from skillopt_sleep.errors import ConfigError
from skillopt_sleep.model.apply import NO_LIMITS, apply_edits
from skillopt_sleep.model.blame import RuleBlame, Worth
from skillopt_sleep.model.edit import Edit, EditKind, RuleOrigin, origins
from skillopt_sleep.model.progress import Progress, silent
from skillopt_sleep.model.proposal import GateEvidence, Proposal
from skillopt_sleep.model.skill import Rule, managed_document, parse
from skillopt_sleep.model.task import Split, Task
from skillopt_sleep.optimizer.evaluate import evaluate
from skillopt_sleep.optimizer.prune import RuleWorth, weigh_rules
from skillopt_sleep.optimizer.update import candidate
from skillopt_sleep.pool import Cancel
from skillopt_sleep.replay import Rollouts
from skillopt_sleep.staging.decide import live_path
from skillopt_sleep.staging.stage import Staged, stage, summary
from skillopt_sleep.store.database import Database
from skillopt_sleep.store.nights import FactStore
from skillopt_sleep.store.proposals import ProposalStore
from skillopt_sleep.store.tasks import TaskStore
from skillopt_sleep.world import World

_LEAVE_OUT = frozenset({"idle", "harms"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What leaving rules out one by one showed.

    Attributes:
        worths: One per learned rule, in the document's order.
        proposal: The skill without those that are idle or harm, staged; None where there are none,
            or where leaving all of them out together harms.
        reason: One sentence.
    """

    worths: tuple[Worth, ...]
    proposal: Proposal | None
    reason: str


@dataclass(frozen=True, slots=True)
class Skills:
    """Tells of the live skill and lets it shrink."""

    world: World
    config: Config
    database: Database

    def blame(self) -> tuple[RuleBlame, ...]:
        """Return where each learned rule of the live skill comes from, in the document's order.

        Raises:
            SkillError: The live skill cannot be read.
        """
        known = dict(self._origins())
        worths = self._worths()
        return tuple(
            _blame(rule, known.get(rule.id), worths.get(rule.id))
            for rule in parse(self._live() or "").rules
        )

    def prune(self, *, progress: Progress = silent, cancel: Cancel | None = None) -> Pruned:
        """Leave out each rule in turn, and stage the skill without those that do nothing or harm.

        They are tried on train tasks, which costs the gate no held-out task; a rule was made for
        those, so that they speak for it if any do.

        Raises:
            ConsentError: Text would go to a place that nobody agreed to.
            ConfigError: No model is chosen, or there is no train task to try a rule on.
            SkillError: The live skill cannot be read.
            BackendError: The model could not be asked, or the budget is spent.
        """
        live = self._live() or ""
        if not parse(live).rules:
            return Pruned(worths=(), proposal=None, reason="the live skill has no learned rule")
        Setup(self.world, self.config).require()
        tasks = self._train()
        cast = assemble(
            self.world,
            self.config.settings,
            self.database,
            night=f"prune-{self.world.now():%Y%m%d-%H%M%S-%f}",
            cancel=cancel or Cancel(),
            progress=progress,
        )
        rollouts = cast.replay(tasks)
        found = weigh_rules(
            live,
            tasks=tasks,
            rollouts=rollouts,
            settings=self.config.settings.gate,
            uses={},
            rng=self.world.rng("prune"),
        )
        worths = tuple(self._worth(one) for one in found)
        FactStore(self.database).put(self._fact, encode(_Worths(worths=worths)))
        proposal, reason = self._shorter(cast, live, found, tasks, rollouts)
        return Pruned(worths=worths, proposal=proposal, reason=reason)

    def _shorter(
        self,
        cast: Cast,
        live: str,
        found: Sequence[RuleWorth],
        tasks: Sequence[Task],
        rollouts: Rollouts,
    ) -> tuple[Proposal | None, str]:
        """Try the skill without all idle and harmful rules, and stage it unless that harms."""
        leaving = [one for one in found if one.word in _LEAVE_OUT]
        if not leaving:
            return None, "every rule earns its place, or it is unclear; see 'skill blame'"
        edits = [
            Edit(kind=EditKind.DELETE, anchor=one.rule.id, why=f"it is {one.word}")
            for one in leaving
        ]
        content, _ = apply_edits(live, edits, limits=NO_LIMITS)
        gate = self.config.settings.gate
        (judged,) = evaluate(
            live=live,
            candidates=[candidate(live, content, edits, night=cast.night)],
            held_out=tasks,
            rollouts=rollouts,
            settings=gate.model_copy(update={"policy": "evidence"}),
            uses={},
            rng=self.world.rng("prune"),
        )
        evidence = judged.candidate.evidence
        if evidence is None or evidence.e_harm > 1.0 / gate.reject_below:
            return None, "leaving all of them out together seems to harm, so nothing was staged"
        staged = Staged(
            candidate=replace(judged.candidate, evidence=_told(evidence)),
            before=live,
            target=str(self._path),
        )
        proposal = stage(
            ProposalStore(self.database),
            staged,
            project=self._project,
            skill_name=self.config.settings.skill.name,
            night=cast.night,
            at=self.world.now(),
        )
        return proposal, f"proposal {proposal.number} leaves out {len(leaving)} of {len(found)}"

    def _worth(self, one: RuleWorth) -> Worth:
        return Worth(
            rule=one.rule.id,
            text=one.rule.text,
            word=one.word,
            e_value=one.evidence.e_value,
            e_harm=one.evidence.e_harm,
            tasks=one.evidence.tasks,
            at=self.world.now(),
        )

    def _worths(self) -> dict[str, Worth]:
        text = FactStore(self.database).get(self._fact)
        found = decode(_Worths, text).worths if text else ()
        return {one.rule: one for one in found}

    def _train(self) -> tuple[Task, ...]:
        tasks = TaskStore(self.database).all(project=self._project)
        train = tuple(task for task in tasks if task.split is Split.TRAIN and task.checks)
        if not train:
            raise ConfigError(
                "there is no train task to try a rule on; 'skillopt-sleep tasks' mines them"
            )
        return train

    def _origins(self) -> Iterator[tuple[str, tuple[Proposal, RuleOrigin]]]:
        """Yield rule id, proposal and origin in order of adoption, so that the last one counts."""
        skill = self.config.settings.skill
        fresh = managed_document(skill.name, skill.description)
        adopted = ProposalStore(self.database).adopted(
            project=self._project, target=str(self._path)
        )
        for proposal in adopted:
            _, applied = apply_edits(proposal.before or fresh, proposal.edits, limits=NO_LIMITS)
            for origin in origins(applied):
                yield origin.rule, (proposal, origin)

    @property
    def _project(self) -> str:
        return str(self.world.roots.cwd)

    @property
    def _fact(self) -> str:
        return f"worth:{self._project}:{self.config.settings.skill.name}"

    @property
    def _path(self) -> Path:
        skill, roots = self.config.settings.skill, self.world.roots
        return live_path(skill.target, name=skill.name, project=roots.cwd, home=roots.home)

    def _live(self) -> str | None:
        return read_live(self._path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worths:
    worths: tuple[Worth, ...] = ()


def _told(evidence: GateEvidence) -> GateEvidence:
    """Return the evidence with a word for the human, who decides unless the gate was sure."""
    if evidence.decision == "accept":
        return evidence
    changed = sum(one != 0 for one in evidence.differences)
    reason = (
        f"without them {changed} of {evidence.tasks} train clusters scored otherwise"
        if changed
        else f"without them nothing changed on {evidence.tasks} train clusters"
    )
    return replace(evidence, decision="unproven", reason=reason)


def _blame(rule: Rule, known: tuple[Proposal, RuleOrigin] | None, worth: Worth | None) -> RuleBlame:
    plain = RuleBlame(rule=rule.id, text=rule.text, note=rule.note, worth=worth)
    if known is None:
        return plain
    proposal, origin = known
    human = (one.quote for one in origin.evidence if one.role == "human" and one.quote)
    return replace(
        plain,
        proposal=proposal.number,
        adopted_at=proposal.decided_at,
        edited=proposal.edited,
        why=origin.why,
        tasks=origin.tasks,
        sessions=origin.sessions,
        quotes=tuple(dict.fromkeys(human)),
        evidence=summary(proposal.evidence),
        since=proposal.extra.get(WATCH, ""),
    )
