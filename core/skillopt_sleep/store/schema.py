"""The tables, as migrations in order; a released migration is never changed, only followed."""

from __future__ import annotations

from sqlite_utils import Database as SqliteDatabase
from sqlite_utils import Migrations

MIGRATIONS = Migrations("skillopt_sleep")

_FIRST = """
CREATE TABLE files (
  path TEXT PRIMARY KEY, source TEXT NOT NULL, cursor TEXT NOT NULL, size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, seen_at TEXT NOT NULL,
  gone INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT ''
);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, harness TEXT NOT NULL, session_id TEXT NOT NULL, path TEXT NOT NULL,
  origin TEXT NOT NULL, parent TEXT NOT NULL DEFAULT '', cwd TEXT NOT NULL DEFAULT '',
  branch TEXT NOT NULL DEFAULT '', commit_id TEXT NOT NULL DEFAULT '',
  version TEXT NOT NULL DEFAULT '', models TEXT NOT NULL DEFAULT '[]',
  skills TEXT NOT NULL DEFAULT '[]', started_at TEXT, ended_at TEXT
);
CREATE INDEX sessions_by_time ON sessions(started_at);
CREATE TABLE turns (
  number INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, key TEXT NOT NULL,
  kind TEXT NOT NULL, text TEXT NOT NULL, pasted TEXT NOT NULL DEFAULT '[]', at TEXT,
  language TEXT NOT NULL DEFAULT '', path TEXT NOT NULL, line INTEGER NOT NULL,
  UNIQUE (session, key)
);
CREATE VIRTUAL TABLE turns_fts USING fts5(text, content='turns', content_rowid='number');
CREATE TRIGGER turns_said AFTER INSERT ON turns WHEN new.kind IN ('prompt', 'remark', 'command')
BEGIN INSERT INTO turns_fts(rowid, text) VALUES (new.number, new.text); END;
CREATE TRIGGER turns_unsaid AFTER DELETE ON turns WHEN old.kind IN ('prompt', 'remark', 'command')
BEGIN INSERT INTO turns_fts(turns_fts, rowid, text) VALUES ('delete', old.number, old.text); END;
CREATE TABLE tool_calls (
  session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, id TEXT NOT NULL,
  name TEXT NOT NULL, arguments TEXT NOT NULL, command TEXT NOT NULL DEFAULT '',
  files TEXT NOT NULL DEFAULT '[]', output TEXT NOT NULL DEFAULT '',
  error INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, exit_code INTEGER,
  seconds REAL, at TEXT, path TEXT NOT NULL, line INTEGER NOT NULL,
  PRIMARY KEY (session, id)
);
CREATE INDEX tool_calls_by_id ON tool_calls(id);
CREATE TABLE same_session (
  other TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE
);
CREATE TABLE forgotten (id TEXT PRIMARY KEY);
CREATE TABLE log_usage (
  harness TEXT NOT NULL, key TEXT NOT NULL,
  session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  day TEXT NOT NULL, model TEXT NOT NULL, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL, PRIMARY KEY (harness, key)
);
CREATE INDEX log_usage_by_session ON log_usage(session);
CREATE TABLE skipped (
  path TEXT NOT NULL, kind TEXT NOT NULL, version TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (path, kind, version)
);
CREATE TABLE tasks (
  id TEXT PRIMARY KEY, cluster TEXT NOT NULL, project TEXT NOT NULL DEFAULT '',
  dropped INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0, doc TEXT NOT NULL
);
CREATE TABLE clusters (id TEXT PRIMARY KEY, project TEXT NOT NULL DEFAULT '', doc TEXT NOT NULL);
CREATE TABLE ledger (
  task TEXT PRIMARY KEY, session TEXT NOT NULL DEFAULT '', split TEXT NOT NULL,
  since TEXT NOT NULL
);
CREATE TABLE gate_uses (
  task TEXT NOT NULL, candidate TEXT NOT NULL, night TEXT NOT NULL,
  PRIMARY KEY (task, candidate)
);
CREATE TABLE attempts (
  id TEXT PRIMARY KEY, night TEXT NOT NULL, task TEXT NOT NULL, cluster TEXT NOT NULL,
  skill_hash TEXT NOT NULL, draw INTEGER NOT NULL, doc TEXT NOT NULL
);
CREATE INDEX attempts_by_task ON attempts(task, skill_hash, draw);
CREATE TABLE calls (
  key TEXT PRIMARY KEY, night TEXT NOT NULL, stage TEXT NOT NULL, at TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE TABLE spent (
  id INTEGER PRIMARY KEY, night TEXT NOT NULL, stage TEXT NOT NULL, at TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE TABLE candidates (
  id TEXT PRIMARY KEY, project TEXT NOT NULL, skill_name TEXT NOT NULL, status TEXT NOT NULL,
  night TEXT NOT NULL, doc TEXT NOT NULL
);
CREATE TABLE rejected_edits (
  id TEXT PRIMARY KEY, project TEXT NOT NULL, skill_name TEXT NOT NULL, night TEXT NOT NULL,
  at TEXT NOT NULL, doc TEXT NOT NULL
);
CREATE TABLE proposals (
  number INTEGER PRIMARY KEY AUTOINCREMENT, candidate TEXT NOT NULL, project TEXT NOT NULL,
  status TEXT NOT NULL, doc TEXT NOT NULL
);
CREATE TABLE approvals (
  number INTEGER NOT NULL, action TEXT NOT NULL, after_hash TEXT NOT NULL, how TEXT NOT NULL,
  at TEXT NOT NULL, until TEXT NOT NULL, PRIMARY KEY (number, action)
);
CREATE TABLE nights (
  id TEXT PRIMARY KEY, project TEXT NOT NULL, status TEXT NOT NULL, started_at TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@MIGRATIONS()
def first(db: SqliteDatabase) -> None:
    """Make every table of the first release."""
    for statement in _FIRST.split(";\n"):
        if statement.strip():
            db.conn.execute(statement)
