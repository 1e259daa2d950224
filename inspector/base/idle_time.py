"""Default time until a context is idle: for settings, passes, and command options that must not import the settings."""

from __future__ import annotations

IDLE_AFTER_S = 30
"""Seconds that a context stays active after its last message (docs/design.md 2), by default."""
