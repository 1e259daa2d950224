"""Geometry of the timeline's head column, ruler, strip and margins."""

from __future__ import annotations

from inspector.ui.look.theme import Theme

HEAD_PX, RULER_PX, STRIP_PX = 127, 25, 22
"""Width of the lanes' heads, heights of the ruler and of the overview strip; pixels at 100 %."""


def head_width(theme: Theme) -> int:
    """Returns the width of the lanes' heads; everything on the time axis begins there."""
    return round(HEAD_PX * theme.zoom)


def right_margin(theme: Theme) -> int:
    """Returns the space for the scroll bar to the right of the time axis."""
    return theme.metrics.scroll_bar
