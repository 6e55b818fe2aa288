"""The tools: each opens the engine, asks one desk and returns a view; none decides anything.

Long work runs in a detached worker; a call waits a while and then returns the job's id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

from skillopt_sleep.model.night import NightOptions
from skillopt_sleep.model.status import Job
from skillopt_sleep_server.mcp.decisions import register_decisions
from skillopt_sleep_server.mcp.handoff import register_handoff
from skillopt_sleep_server.mcp.place import Place
from skillopt_sleep_server.mcp.views import (
    FunnelView,
    HarvestView,
    JobView,
    NightView,
    ProposalsView,
    ProposalView,
    ShownView,
    StatusView,
    TasksView,
    TaskView,
)

if TYPE_CHECKING:
    from skillopt_sleep.engine import Engine

WAIT_S = 45.0
"""How long ``consolidate`` waits unless asked; every known client's own limit is longer."""

MOST_WAIT_S = 240.0
_POLL_S = 0.5

Project = Annotated[
    str | None, Field(description="Project folder; the client's working folder if left out")
]
Number = Annotated[int, Field(ge=1, description="The proposal's number")]

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
SENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
)


def register(server: MCPServer[Any], place: Place) -> None:
    """Give the server all its tools."""
    _register_reading(server, place)
    _register_night(server, place)
    register_handoff(server, place)
    register_decisions(server, place.ask)


def _register_reading(server: MCPServer[Any], place: Place) -> None:
    @server.tool(name="skillopt.status", title="How things stand", annotations=READS)
    async def status(
        project: Project = None,
        job: Annotated[str | None, Field(description="A job to follow")] = None,
    ) -> StatusView:
        """Show what is archived, what runs, what waits for the user and what to do next."""

        def look(engine: Engine) -> StatusView:
            running = engine.jobs.running()
            jobs = [engine.jobs.get(job)] if job else [running] if running else []
            return StatusView.of(engine.status(), jobs)

        return await place.ask(project, look)

    @server.tool(name="skillopt.harvest", title="Read the agents' logs", annotations=ADDS)
    async def harvest(
        project: Project = None,
        sources: Annotated[list[str] | None, Field(description="Only these sources")] = None,
    ) -> HarvestView:
        """Read what is new in the logs of the user's coding agents into the local archive."""
        return await place.ask(
            project, lambda engine: HarvestView.of(engine.archive.harvest(only=sources or ()))
        )

    @server.tool(name="skillopt.tasks", title="What recurs", annotations=ADDS)
    async def tasks(project: Project = None) -> TasksView:
        """List the requests that recur in this project, with their checks, mined offline."""

        def look(engine: Engine) -> TasksView:
            mined = engine.tasks.refresh()
            known = {task.id: task for task in mined.tasks}
            return TasksView(
                tasks=[TaskView.of(cluster, known) for cluster in mined.clusters],
                funnel=[FunnelView(name=s.name, count=s.count, note=s.note) for s in mined.funnel],
                notes=list(mined.notes),
            )

        return await place.ask(project, look)

    @server.tool(name="skillopt.proposals", title="What waits for a decision", annotations=READS)
    async def proposals(
        project: Project = None,
        decided: Annotated[bool, Field(description="Decided ones too")] = False,
    ) -> ProposalsView:
        """List the proposals that wait for the user."""

        def look(engine: Engine) -> ProposalsView:
            found = engine.review.all() if decided else engine.review.open()
            return ProposalsView(proposals=[ProposalView.of(one) for one in found])

        return await place.ask(project, look)

    @server.tool(name="skillopt.show", title="One proposal", annotations=READS)
    async def show(number: Number, project: Project = None) -> ShownView:
        """Show one proposal: its diff, its evidence and where it comes from."""
        return await place.ask(
            project,
            lambda engine: ShownView(
                proposal=ProposalView.of(engine.review.get(number)),
                diff=engine.review.diff(number),
                report=engine.review.report(number),
            ),
        )


def _register_night(server: MCPServer[Any], place: Place) -> None:
    @server.tool(name="skillopt.consolidate", title="Run a night", annotations=SENDS)
    async def consolidate(
        context: Context[Any, Any],
        project: Project = None,
        dry_run: Annotated[
            bool, Field(description="Only say what it would work on and cost; no model call")
        ] = False,
        wait_s: Annotated[
            float, Field(ge=0, le=MOST_WAIT_S, description="How long to wait for its end")
        ] = WAIT_S,
        max_calls: Annotated[
            int | None, Field(ge=1, description="Cap on model calls, below the settings' own")
        ] = None,
    ) -> JobView:
        """Harvest, mine, replay, reflect, gate and stage in the background; returns a job."""
        if dry_run:
            planned = await place.ask(
                project, lambda engine: engine.nights.forecast(NightOptions())
            )
            return JobView(job="", state="ended", night=NightView.of(planned))
        arguments = ["--max-calls", str(max_calls)] if max_calls else []
        job = await place.ask(project, lambda engine: engine.nights.detach(arguments))
        return JobView.of(await _follow(place, project, job, context, wait_s))

    @server.tool(name="skillopt.cancel", title="Stop a night", annotations=ADDS)
    async def cancel(
        job: Annotated[str, Field(description="The job's id")], project: Project = None
    ) -> JobView:
        """Ask a running night to stop; what it finished is kept, and it can be gone on with."""
        return await place.ask(project, lambda engine: JobView.of(engine.jobs.cancel(job)))


async def _follow(
    place: Place, project: str | None, job: Job, context: Context[Any, Any], wait_s: float
) -> Job:
    """Wait for a job's end, telling the client how far it is, at most ``wait_s`` seconds."""
    name = job.id
    with anyio.move_on_after(wait_s):
        while job.state == "running":
            await anyio.sleep(_POLL_S)
            job = await place.ask(project, lambda engine: engine.jobs.get(name))
            await context.report_progress(job.done, job.total or None, job.stage or "starting")
    return job
