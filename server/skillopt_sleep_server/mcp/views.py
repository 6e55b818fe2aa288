"""What the tools return, as typed objects: small enough for a model, no transcript, no secret."""

from __future__ import annotations

from pydantic import BaseModel, Field

from skillopt_sleep.model.night import Night
from skillopt_sleep.model.proposal import Proposal
from skillopt_sleep.model.session import HarvestReport
from skillopt_sleep.model.status import InstallPlan, Job, Status
from skillopt_sleep.model.task import Cluster, Task

_SHORT = 200


class ModelView(BaseModel):
    """How one role's model is reached."""

    role: str
    backend: str
    model: str
    host: str
    key: str
    agreed: bool


class JobView(BaseModel):
    """A night in a process of its own."""

    job: str
    state: str = Field(description="running, ended or died")
    stage: str = ""
    done: int = 0
    total: int = 0
    reason: str = ""
    night: NightView | None = None

    @classmethod
    def of(cls, job: Job) -> JobView:
        """Return a job's view."""
        return cls(
            job=job.id,
            state=job.state,
            stage=job.stage,
            done=job.done,
            total=job.total,
            reason=job.reason,
            night=NightView.of(job.night) if job.night else None,
        )


class FunnelView(BaseModel):
    """One step from sessions to rules."""

    name: str
    count: int
    note: str = ""


class NightView(BaseModel):
    """What one night did."""

    night: str
    status: str
    reason: str
    funnel: list[FunnelView]
    proposals: list[int]
    calls: int
    tokens: int
    dollars: float
    notes: list[str]
    forecast: dict[str, float] = Field(default_factory=dict)

    @classmethod
    def of(cls, night: Night) -> NightView:
        """Return a night's view."""
        from skillopt_sleep.engine import total  # noqa: PLC0415 - see ``place``

        spent = total(night.usage)
        return cls(
            night=night.id,
            status=night.status.value,
            reason=night.reason,
            funnel=[FunnelView(name=s.name, count=s.count, note=s.note) for s in night.funnel],
            proposals=list(night.proposals),
            calls=spent.calls,
            tokens=spent.tokens,
            dollars=spent.dollars,
            notes=list(night.notes),
            forecast=dict(night.forecast),
        )


class StatusView(BaseModel):
    """How things stand."""

    version: str
    project: str
    sessions: dict[str, int]
    tasks: dict[str, int]
    models: list[ModelView]
    skill: str
    open_proposals: list[int]
    jobs: list[JobView]
    last_night: NightView | None = Field(description="None where a job already shows it")
    next_step: str

    @classmethod
    def of(cls, status: Status, jobs: list[Job]) -> StatusView:
        """Return the view of a status and the jobs that matter to it."""
        night = status.last_night
        shown = [job.night.id for job in jobs if job.night]
        return cls(
            version=status.version,
            project=status.project,
            sessions=dict(status.sessions),
            tasks=dict(status.tasks),
            models=[
                ModelView(
                    role=m.role,
                    backend=m.backend,
                    model=m.model,
                    host=m.host,
                    key=m.key,
                    agreed=m.consent,
                )
                for m in status.models
            ],
            skill=status.skill,
            open_proposals=list(status.open_proposals),
            last_night=NightView.of(night) if night and night.id not in shown else None,
            jobs=[JobView.of(job) for job in jobs],
            next_step=status.next_step,
        )


class HarvestView(BaseModel):
    """What one harvest saw."""

    files: dict[str, int]
    sessions: dict[str, int]
    new_sessions: int
    new_prompts: dict[str, int]
    unreadable: list[str]
    alarms: list[str]

    @classmethod
    def of(cls, seen: HarvestReport) -> HarvestView:
        """Return a harvest's view."""
        return cls(
            files=dict(seen.files),
            sessions=dict(seen.sessions),
            new_sessions=seen.new_sessions,
            new_prompts=dict(seen.prompts),
            unreadable=[f"{one.path}: {one.reason}" for one in seen.unreadable],
            alarms=list(seen.alarms),
        )


class TaskView(BaseModel):
    """One recurring request."""

    name: str
    sessions: int
    harnesses: list[str]
    friction: float
    train: int
    held_out: int
    checks: list[str]

    @classmethod
    def of(cls, cluster: Cluster, known: dict[str, Task]) -> TaskView:
        """Return a cluster's view."""
        members = [known[name] for name in cluster.tasks if name in known]
        held = sum(task.split != "train" for task in members)
        return cls(
            name=" ".join(cluster.name.split())[:_SHORT],
            sessions=cluster.sessions,
            harnesses=list(cluster.harnesses),
            friction=cluster.friction,
            train=len(members) - held,
            held_out=held,
            checks=sorted({f"{c.operator} {c.value}"[:_SHORT] for t in members for c in t.checks}),
        )


class TasksView(BaseModel):
    """What recurs in the project, and the funnel to it."""

    tasks: list[TaskView]
    funnel: list[FunnelView]
    notes: list[str]


class ProposalView(BaseModel):
    """One proposal in a list."""

    number: int
    status: str
    skill: str
    target: str
    edits: list[str]
    evidence: str
    decision: str
    flags: list[str]

    @classmethod
    def of(cls, proposal: Proposal) -> ProposalView:
        """Return a proposal's view."""
        from skillopt_sleep.engine import summary  # noqa: PLC0415 - see ``place``

        return cls(
            number=proposal.number,
            status=proposal.status.value,
            skill=proposal.skill_name,
            target=proposal.target,
            edits=[f"{edit.kind}: {edit.text or edit.anchor}" for edit in proposal.edits],
            evidence=summary(proposal.evidence),
            decision=proposal.evidence.reason,
            flags=list(proposal.flags),
        )


class ProposalsView(BaseModel):
    """The proposals of the project."""

    proposals: list[ProposalView]


class ShownView(BaseModel):
    """One proposal whole: its diff and its report."""

    proposal: ProposalView
    diff: str
    report: str


class PromptView(BaseModel):
    """One prompt of a waiting night; the page is all that the one who answers may see."""

    key: str
    page: str


class PromptsView(BaseModel):
    """Prompts that wait for an answer."""

    prompts: list[PromptView]
    waiting: int = Field(description="How many wait in all")
    next_step: str


class AnsweredView(BaseModel):
    """What is left after an answer."""

    waiting: int
    next_step: str


class InstallView(BaseModel):
    """What an install changes, or changed."""

    harness: str
    version: str
    applied: bool
    changes: list[str]
    notes: list[str]

    @classmethod
    def of(cls, plan: InstallPlan) -> InstallView:
        """Return a plan's view."""
        return cls(
            harness=plan.harness,
            version=plan.version,
            applied=plan.applied,
            changes=[f"{one.path}: {one.what}" for one in plan.changes],
            notes=list(plan.notes),
        )


JobView.model_rebuild()
