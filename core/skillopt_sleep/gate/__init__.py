"""Decides on candidates from held-out evidence: pure functions, no clock, no file, no model."""
