"""Tasks, clusters, the ledger of splits and the uses of held-out tasks, in the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from skillopt_sleep.codec import decode, encode
from skillopt_sleep.errors import StoreError
from skillopt_sleep.model.check import Check, Validity
from skillopt_sleep.model.task import Cluster, Split, Task
from skillopt_sleep.store.database import Database, Row


class TaskStore:
    """Reads and writes tasks; a person's pins, drops and reviewed checks outlive a new mining."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, *, project: str | None = None, dropped: bool = False) -> tuple[Task, ...]:
        """Return the tasks of a project, or of all, best score first.

        Args:
            project: Folder, or None for every project.
            dropped: Whether to return the dropped ones instead of the others.
        """
        rows = self._database.rows(
            "SELECT * FROM tasks WHERE (? IS NULL OR project = ?) AND dropped = ?",
            (project, project, int(dropped)),
        )
        return tuple(sorted(map(_task, rows), key=lambda task: (-task.score, task.id)))

    def get(self, task: str) -> Task:
        """Return the task with this id or this unique beginning of one, dropped or not.

        Raises:
            StoreError: There is none, or several begin so.
        """
        row = self._database.row("SELECT * FROM tasks WHERE id = ?", (task,))
        if row is not None:
            return _task(row)
        rows = self._database.rows(
            "SELECT * FROM tasks WHERE substr(id, 1, ?) = ? LIMIT 2", (len(task), task)
        )
        if len(rows) == 1 and task:
            return _task(rows[0])
        found = "several tasks begin with" if rows else "there is no task"
        raise StoreError(f"{found} {task!r}; see the ids in the list of tasks")

    def clusters(self, *, project: str | None = None) -> tuple[Cluster, ...]:
        """Return the recurring requests of a project, or of all, best score first."""
        rows = self._database.rows(
            "SELECT doc FROM clusters WHERE ? IS NULL OR project = ?", (project, project)
        )
        found = (decode(Cluster, row["doc"]) for row in rows)
        return tuple(sorted(found, key=lambda cluster: (-cluster.score, cluster.id)))

    def put(self, tasks: Sequence[Task], *, project: str) -> None:
        """Store tasks, new or changed, as they are; dropped ones stay dropped."""
        self._database.many(
            "INSERT INTO tasks (id, cluster, project, pinned, doc) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET cluster = excluded.cluster,"
            " project = excluded.project, pinned = excluded.pinned, doc = excluded.doc",
            [(t.id, t.cluster, project, int(t.pinned), encode(t)) for t in tasks],
        )

    def take(self, tasks: Sequence[Task], *, project: str, now: datetime) -> None:
        """Store reviewed tasks and write their sides into the ledger, all or none.

        Raises:
            StoreError: A task, or its session, would move anywhere but to train.
        """
        with self._database.transaction():
            sessions = self.session_splits()
            for task in tasks:
                old = sessions.get(task.session)
                if old is not None and old is not task.split and task.split is not Split.TRAIN:
                    raise StoreError(_moves(task.id, old, task.split))
            splits = {task.id: task.split for task in tasks}
            self.record_splits(splits, sessions={t.id: t.session for t in tasks}, now=now)
            self.put(tasks, project=project)

    def held_by_person(self, *, project: str) -> tuple[Task, ...]:
        """Return the undropped tasks that a person pinned or reviewed."""
        return tuple(task for task in self.all(project=project) if _reviewed(task))

    def replace(
        self, tasks: Sequence[Task], clusters: Sequence[Cluster], *, project: str
    ) -> tuple[Task, ...]:
        """Make these the tasks and clusters of a project and return what is stored, undropped.

        A task that is pinned, dropped or has a reviewed check stays although it is not among
        ``tasks``; pins, drops and reviewed checks of one that is among them are kept.
        """
        with self._database.transaction():
            before = {row["id"]: row for row in self._rows_of(project)}
            kept = [self._merge(task, before.get(task.id)) for task in tasks]
            fresh = {task.id for task in tasks}
            gone = [
                (key,)
                for key, row in before.items()
                if key not in fresh and not row["dropped"] and not _reviewed(_task(row))
            ]
            self._database.many("DELETE FROM tasks WHERE id = ?", gone)
            self.put(kept, project=project)
            self._database.execute("DELETE FROM clusters WHERE project = ?", (project,))
            self._database.many(
                "INSERT OR REPLACE INTO clusters (id, project, doc) VALUES (?, ?, ?)",
                [(cluster.id, project, encode(cluster)) for cluster in clusters],
            )
        return self.all(project=project)

    def _rows_of(self, project: str) -> list[Row]:
        return self._database.rows("SELECT * FROM tasks WHERE project = ?", (project,))

    def _merge(self, task: Task, row: Row | None) -> Task:
        if row is None:
            return task
        old = _task(row)
        reviewed = any(check.validity is Validity.REVIEWED for check in old.checks)
        if not reviewed:
            return replace(task, pinned=old.pinned)
        return replace(
            task,
            pinned=old.pinned,
            prompt=old.prompt,
            context=old.context,
            reference=old.reference,
            checks=old.checks,
        )

    def pin(self, task: str, *, pinned: bool = True) -> Task:
        """Pin or unpin a task, named as in ``get``, and return it as it is now.

        Raises:
            StoreError: There is no such task.
        """
        changed = replace(self.get(task), pinned=pinned)
        self._database.execute(
            "UPDATE tasks SET pinned = ?, doc = ? WHERE id = ?",
            (int(pinned), encode(changed), changed.id),
        )
        return changed

    def drop(self, task: str, *, dropped: bool = True) -> Task:
        """Leave a task out for good, also when it is mined again, or take it back.

        Raises:
            StoreError: There is no such task.
        """
        found = self.get(task)
        self._database.execute(
            "UPDATE tasks SET dropped = ? WHERE id = ?", (int(dropped), found.id)
        )
        return found

    def forget(self, sessions: Collection[str]) -> int:
        """Delete tasks that come from these sessions and their words as evidence elsewhere.

        Returns:
            How many tasks were deleted or lost evidence. The ledger keeps ids only.
        """
        touched = 0
        with self._database.transaction():
            for row in self._database.rows("SELECT * FROM tasks"):
                task = _task(row)
                if task.session in sessions:
                    self._database.execute("DELETE FROM tasks WHERE id = ?", (task.id,))
                    touched += 1
                elif (left := _without(task, sessions)) != task:
                    self.put([left], project=row["project"])
                    touched += 1
        return touched

    def memberships(self, *, project: str) -> dict[str, str]:
        """Return task id to cluster id for every stored task of a project, dropped or not."""
        return {row["id"]: row["cluster"] for row in self._rows_of(project)}

    def splits(self) -> dict[str, Split]:
        """Return task id to the side on which the ledger has it, also of tasks that are gone."""
        rows = self._database.rows("SELECT task, split FROM ledger")
        return {row["task"]: Split(row["split"]) for row in rows}

    def session_splits(self) -> dict[str, Split]:
        """Return session id to its side; train where its tasks ever stood on two."""
        sides: dict[str, Split] = {}
        for row in self._database.rows("SELECT session, split FROM ledger WHERE session != ''"):
            side = Split(row["split"])
            sides[row["session"]] = side if sides.get(row["session"], side) is side else Split.TRAIN
        return sides

    def record_splits(
        self, splits: Mapping[str, Split], *, sessions: Mapping[str, str], now: datetime
    ) -> None:
        """Write sides into the ledger, all or none.

        Args:
            splits: Task id to side.
            sessions: Task id to session id, where known.
            now: The instant of the decision.

        Raises:
            StoreError: A task would move anywhere but to train.
        """
        with self._database.transaction():
            known = self.splits()
            for task, side in splits.items():
                old = known.get(task)
                if old is not None and old is not side and side is not Split.TRAIN:
                    raise StoreError(_moves(task, old, side))
            self._database.many(
                "INSERT INTO ledger (task, session, split, since) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (task) DO UPDATE SET split = excluded.split, since = excluded.since"
                " WHERE split != excluded.split",
                [
                    (task, sessions.get(task, ""), side.value, now.isoformat())
                    for task, side in splits.items()
                ],
            )

    def record_gate_use(self, tasks: Collection[str], *, candidate: str, night: str) -> None:
        """Note that the gate looked at these held-out tasks for a candidate; once per pair."""
        self._database.many(
            "INSERT OR IGNORE INTO gate_uses (task, candidate, night) VALUES (?, ?, ?)",
            [(task, candidate, night) for task in tasks],
        )

    def gate_uses(self) -> dict[str, int]:
        """Return task id to the number of candidates that it has judged."""
        rows = self._database.rows("SELECT task, COUNT(*) AS uses FROM gate_uses GROUP BY task")
        return {row["task"]: int(row["uses"]) for row in rows}


def _moves(task: str, old: Split, new: Split) -> str:
    return (
        f"task {task!r} stands on {old.value!r} and was to move to {new.value!r};"
        " a task moves to 'train' only, so leave it where it is"
    )


def _task(row: Row) -> Task:
    return replace(decode(Task, row["doc"]), pinned=bool(row["pinned"]))


def _reviewed(task: Task) -> bool:
    return task.pinned or any(check.validity is Validity.REVIEWED for check in task.checks)


def _without(task: Task, sessions: Collection[str]) -> Task:
    def left(check: Check) -> Check:
        kept = tuple(e for e in check.evidence if e.session not in sessions)
        return replace(check, evidence=kept)

    # A check whose every source is forgotten is forgotten with it.
    checks = tuple(left(c) for c in task.checks if not c.evidence or left(c).evidence)
    evidence = tuple(e for e in task.evidence if e.session not in sessions)
    return replace(task, checks=checks, evidence=evidence)
