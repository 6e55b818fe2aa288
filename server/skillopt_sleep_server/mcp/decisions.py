"""The tools that carry out what the human decided, each only with the human's own word.

The word is an accepted question where the client can ask one, else what a hook or a terminal
recorded for exactly these bytes. Nothing that a tool returned counts as a word.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

from mcp.server.elicitation import AcceptedElicitation
from mcp.server.mcpserver import Context, ElicitationResult, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from skillopt_sleep_server.mcp.views import InstallView, ProposalView

if TYPE_CHECKING:
    from skillopt_sleep.engine import Engine

T = TypeVar("T")

CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
PUTS_AWAY = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)

_DIFF_LINES = 40

Scope = Literal["user", "project"]
Number = Annotated[int, Field(ge=1, description="The proposal's number, as the user typed it")]
Reason = Annotated[str, Field(description="The user's word on it")]


class Word(BaseModel):
    """The human's answer."""

    agree: bool = Field(description="Yes, do it")


class Ask(Protocol):
    """Opens the engine for a project and asks it something, in a thread."""

    def __call__(self, project: str | None, question: "Callable[[Engine], T]") -> Awaitable[T]:
        """Return the engine's answer."""
        ...


def register_decisions(server: MCPServer[Any], ask: Ask) -> None:
    """Give the server ``adopt``, ``reject``, ``revert`` and ``install``."""
    _register_install(server, ask)

    def asker(action: str) -> Callable[..., Awaitable[Word | Elicit[Word]]]:
        async def question(number: int, context: Context[Any, Any]) -> Word | Elicit[Word]:
            diff = await ask(None, lambda engine: engine.review.diff(number))
            return _asked(context, f"{action.capitalize()} proposal {number}?", diff)

        return question

    @server.tool(name="skillopt.adopt", title="Adopt a proposal", annotations=CHANGES)
    async def adopt(
        number: Number,
        word: Annotated[ElicitationResult[Word], Resolve(asker("adopt"))],
        unproven: Annotated[bool, Field(description="Although the evidence is thin")] = False,
        reason: Reason = "",
    ) -> ProposalView:
        """Write a proposal into the live skill; only when the user named its number."""
        human = _heard(word)
        return await ask(
            None,
            lambda engine: ProposalView.of(
                engine.review.adopt(number, human=human, unproven=unproven, reason=reason)
            ),
        )

    @server.tool(name="skillopt.reject", title="Reject a proposal", annotations=PUTS_AWAY)
    async def reject(
        number: Number,
        word: Annotated[ElicitationResult[Word], Resolve(asker("reject"))],
        reason: Reason = "",
    ) -> ProposalView:
        """Put a proposal away; only when the user named its number."""
        human = _heard(word)
        return await ask(
            None,
            lambda engine: ProposalView.of(
                engine.review.reject(number, human=human, reason=reason)
            ),
        )

    @server.tool(name="skillopt.revert", title="Revert a proposal", annotations=CHANGES)
    async def revert(
        number: Number,
        word: Annotated[ElicitationResult[Word], Resolve(asker("revert"))],
        reason: Reason = "",
    ) -> ProposalView:
        """Bring back the text before a proposal; only when the user named its number."""
        human = _heard(word)
        return await ask(
            None,
            lambda engine: ProposalView.of(
                engine.review.revert(number, human=human, reason=reason)
            ),
        )


def _register_install(server: MCPServer[Any], ask: Ask) -> None:
    async def question(
        harness: str, scope: Scope, context: Context[Any, Any], dry_run: bool = False
    ) -> Word | Elicit[Word]:
        if dry_run:
            return Word(agree=False)
        plan = await ask(None, lambda engine: engine.installs.preview(harness, scope=scope))
        changes = "\n".join(f"{one.path}: {one.what}" for one in plan.changes)
        return _asked(context, f"Install skillopt-sleep into {harness}?", changes)

    @server.tool(name="skillopt.install", title="Install into a harness", annotations=CHANGES)
    async def install(
        harness: Annotated[str, Field(description="Such as claude-code or codex")],
        word: Annotated[ElicitationResult[Word], Resolve(question)],
        scope: Scope = "user",
        dry_run: Annotated[bool, Field(description="Only say what would change")] = False,
    ) -> InstallView:
        """Put the skill, the MCP entry and the hooks into another agent's settings."""
        if dry_run:
            return await ask(
                None,
                lambda engine: InstallView.of(engine.installs.preview(harness, scope=scope)),
            )
        if not _heard(word):
            raise ToolError(
                f"no human has said to install into {harness!r}; run"
                f" 'skillopt-sleep install {harness}' in a terminal"
            )
        return await ask(
            None, lambda engine: InstallView.of(engine.installs.apply(harness, scope=scope))
        )


def _asked(context: Context[Any, Any], words: str, shown: str) -> Word | Elicit[Word]:
    """Return the question for a human, or no word at all where the client cannot ask."""
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return Word(agree=False)
    cut = "\n".join(shown.splitlines()[:_DIFF_LINES])
    return Elicit(f"{words}\n\n{cut}", Word)


def _heard(word: ElicitationResult[Word]) -> str:
    """Return "elicitation" where the human said yes to the question, else ""."""
    if isinstance(word, AcceptedElicitation) and word.data.agree:
        return "elicitation"
    return ""
