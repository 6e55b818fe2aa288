"""What the engine says of itself, of a setup and of an install, for faces to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from skillopt_sleep.model.night import Night


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """How one role's model is reached; holds no key.

    Attributes:
        role: "target", "optimizer" or "judge".
        backend: Registry name, or "" where none is set.
        model: Model id.
        host: Host that would receive text, or "" for files only.
        key: Where the key comes from, such as "env ANTHROPIC_API_KEY", "config", "missing" or
            "not needed".
        consent: Whether the user agreed that text goes there.
    """

    role: str
    backend: str
    model: str
    host: str
    key: str
    consent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of things on this machine for one project.

    Attributes:
        version: Of this program.
        project: Folder the user stands in.
        data: Folder of our database.
        sessions: Archived sessions per harness.
        tasks: Tasks per split of this project.
        last_night: The newest night of this project, or None.
        running: Whether a night runs on this project now.
        open_proposals: Numbers of proposals that wait for the human.
        models: One per role.
        skill: Path of the live skill document.
        next_step: What to do next, one sentence.
    """

    version: str
    project: str
    data: str
    sessions: Mapping[str, int] = field(default_factory=dict[str, int])
    tasks: Mapping[str, int] = field(default_factory=dict[str, int])
    last_night: Night | None = None
    running: bool = False
    open_proposals: tuple[int, ...] = ()
    models: tuple[ModelStatus, ...] = ()
    skill: str = ""
    next_step: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupPlan:
    """What ``setup`` shows before it asks.

    Attributes:
        folders: Log folders that would be read, per source name.
        sends: Which text would go where, one sentence per role.
        hosts: Hosts that would receive text.
        config_file: The file the answer is written to.
        agreed_at: When the user agreed before, or None.
        chosen: Whether every role has a model.
    """

    folders: Mapping[str, tuple[str, ...]]
    sends: tuple[str, ...]
    hosts: tuple[str, ...]
    config_file: str
    agreed_at: datetime | None = None
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file an install or uninstall touches.

    Attributes:
        path: The file.
        before: Its text now, or None where there is none.
        after: The text it will have, or None if it is removed.
        what: One sentence.
    """

    path: str
    before: str | None
    after: str | None
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """What an installer would do.

    Attributes:
        harness: Registry name.
        version: The harness's version found, or "".
        changes: In order; empty if all is in place.
        notes: Sentences for the human, such as a step only they can take.
        applied: Whether it has been done.
    """

    harness: str
    version: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    applied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A night in a process of its own, seen from outside.

    Attributes:
        id: Sortable id, unique.
        project: Folder it works for.
        started_at: When it was started.
        state: "running", "ended" or "died".
        stage: What is going on, or "".
        done: Units finished in this stage.
        total: Units in this stage, or 0.
        night: The night, once it has ended; None if it died or was refused.
        reason: One sentence where it died or was refused.
    """

    id: str
    project: str
    started_at: datetime
    state: str
    stage: str = ""
    done: int = 0
    total: int = 0
    night: Night | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of ``doctor``.

    Attributes:
        name: What was looked at.
        ok: Whether it is well.
        words: What was found and, if it is not well, what to do.
    """

    name: str
    ok: bool
    words: str
