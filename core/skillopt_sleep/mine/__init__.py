"""From stored sessions to recurring tasks with checks; reads the store, asks at most one model."""
