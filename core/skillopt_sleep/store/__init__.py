"""SQLite through sqlite-utils: one file a noun, the schema and its migrations in ``database``."""
