"""Colours of gauges by the used share of a limit (docs/design.md 10)."""

from __future__ import annotations

from PySide6.QtGui import QColor

from inspector.ui.look.theme import Theme

WARN_SHARE, FULL_SHARE = 0.75, 0.90
"""Shares of a limit from which a gauge warns, and is full."""


def gauge_color(theme: Theme, share: float) -> QColor:
    return theme.color("gauge.full" if share >= FULL_SHARE else "gauge.warn" if share >= WARN_SHARE else "ink.tertiary")
