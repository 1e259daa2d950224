"""Design tokens: colours of both themes, kind families, type roles and grid.

Plain data without Qt, so that the contrast test can recompute the whole table. `Theme` in `theme.py` serves the values;
no other module names a colour. Source: docs/design.md 10 to 13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Literal

Density = Literal["compact", "comfortable"]
"""Row density."""

# On each surface below them, texts have a contrast of at least 4.5, marks and edges of controls 3. A test computes
# it.
COLORS: dict[str, tuple[str, str]] = {
    # token: (dark, light)
    "surface.base": ("#16181b", "#ffffff"),
    "surface.chrome": ("#1d1f23", "#f2f3f5"),
    "surface.raised": ("#24272c", "#ffffff"),
    "surface.input": ("#111315", "#ffffff"),
    "surface.inset": ("#1b1e22", "#f6f7f9"),
    "surface.hover": ("#1f2226", "#f3f5f8"),
    "line.hair": ("#2a2d33", "#e1e4e9"),
    "line.strong": ("#3a3f47", "#c9ced6"),
    "line.control": ("#656c77", "#868d98"),
    "ink.primary": ("#e4e6ea", "#1b1e23"),
    "ink.secondary": ("#aeb4be", "#4c525c"),
    "ink.tertiary": ("#949ba6", "#5f6671"),
    "ink.disabled": ("#5d636d", "#a2a8b2"),
    "accent.text": ("#93abff", "#2f50c8"),
    "accent.fill": ("#4a69d9", "#3a5bd0"),
    "accent.on": ("#ffffff", "#ffffff"),
    "accent.wash": ("#262f4d", "#e1e8fd"),
    "accent.washdim": ("#262a31", "#e9ebef"),
    "accent.ring": ("#7d97ff", "#4a69e2"),
    "badge.transient": ("#e6b450", "#7d4f00"),
    "badge.consumed": ("#6cc784", "#146631"),
    "badge.collapsed": ("#aab1bb", "#50565f"),
    "severity.error": ("#f47f7a", "#c22626"),
    "severity.warning": ("#e6b450", "#7d4f00"),
    "severity.note": ("#8fa8d8", "#3f5c9c"),
    "state.active": ("#54c271", "#1f883d"),
    "state.idle": ("#949ba6", "#5f6671"),
    "state.cancelled": ("#949ba6", "#5f6671"),
    "state.concluded": ("#aeb4be", "#4c525c"),
    "gauge.warn": ("#e6b450", "#b57708"),
    "gauge.full": ("#f47f7a", "#d13b36"),
    "rec": ("#f2605a", "#c9302a"),
    "find.hit": ("#576598", "#c3d0fb"),
    "highlight.rose": ("#ff8fa6", "#ab1046"),
    "highlight.orange": ("#f2a25c", "#904200"),
    "highlight.lime": ("#a9d25a", "#436000"),
    "highlight.teal": ("#4ecdbd", "#00605c"),
    "highlight.sky": ("#6cc2f4", "#00588f"),
    "highlight.violet": ("#cda6ff", "#6d33b5"),
    "json.string": ("#4ecdbd", "#00605c"),
    "json.number": ("#f2a25c", "#904200"),
    "json.word": ("#cda6ff", "#6d33b5"),
    # Chosen by search: each pair differs by 9 (light) or 10.9 (dark) in CIEDE2000, also in colour-blind sight.
    "family.chat": ("#419fec", "#016aae"),
    "family.tools": ("#55cfa9", "#15674b"),
    "family.proposals": ("#e58a52", "#a2500b"),
    "family.reasoning": ("#e9b5e2", "#783e79"),
    "family.streams": ("#dad66a", "#433f06"),
    # Rare families share a neutral, since seven hues are noise.
    "family.control": ("#959ca7", "#5c636e"),
    "family.gateway": ("#959ca7", "#5c636e"),
    "family.unknown": ("#959ca7", "#5c636e"),
}
"""All colours: token to (dark, light). Icons may be tinted with any of them."""

HIGH_CONTRAST: dict[str, str] = {
    "ink.tertiary": "ink.secondary",
    "line.hair": "line.control",
    "line.strong": "line.control",
}
"""Replacement tokens for high contrast (docs/design.md 17)."""

# Low enough for a contrast of 4.5 between a pill's text and its fill.
PILL_ALPHA = (0.16, 0.13)
"""Opacity of a pill's fill, (dark, light)."""

FAMILIES = ("chat", "tools", "proposals", "reasoning", "streams", "control", "gateway", "unknown")
"""Kind families in the order of docs/design.md 11; their letters are the values of `protocol.kinds.Family`."""

FAMILY_MARKS: dict[str, str] = dict(
    zip(FAMILIES, ("disc", "square", "diamond", "triangle", "bars", "ring", "ring", "ring"), strict=True)
)
"""Shape of a family's mark in the timeline."""


@dataclass(frozen=True)
class TypeRole:
    """One type role."""

    step_px: int
    """Difference to the base size, in pixels."""
    weight: int
    """400, 500 or 600."""
    mono: bool = False
    """Uses the monospace face."""


TYPE_ROLES: dict[str, TypeRole] = {
    "display": TypeRole(10, 600),
    "title": TypeRole(4, 600),
    "heading": TypeRole(1, 600),
    "body": TypeRole(0, 400),
    "body-medium": TypeRole(0, 500),
    "body-strong": TypeRole(0, 600),
    "small": TypeRole(-1, 400),
    "label": TypeRole(-1, 600),
    "column": TypeRole(-1, 500),
    "badge": TypeRole(-1, 500),
    "mono-row": TypeRole(-1, 400, mono=True),
    "mono": TypeRole(0, 400, mono=True),
    "mono-medium": TypeRole(0, 500, mono=True),
}
"""Type roles of docs/design.md 12, as differences to the base size (12 px in Compact)."""

BASE_PX = 12
"""Smallest base size of type, in pixels."""


@dataclass(frozen=True)
class Metrics:
    """The grid of docs/design.md 13, in logical pixels, at one density and zoom."""

    unit: int = 4
    """Step of the grid."""
    pane_padding: int = 14
    """Left and right padding of a pane."""
    cell_padding: int = 8
    """Padding between a column's text and its edge."""
    section_gap: int = 8
    """Gap between sections."""
    indent: int = 14
    """Indent of one tree level."""
    menu_bar: int = 26
    tool_bar: int = 42
    presets: int = 32
    head: int = 30
    """Pane heads, view tabs and detail tabs."""
    detail_head: int = 60
    notice: int = 26
    section_label: int = 26
    status_bar: int = 24
    column_head: int = 24
    row: int = 24
    """One line of a table or tree."""
    participant_row: int = 36
    finding_row: int = 26
    sub_session_row: int = 56
    content_row: int = 20
    """A content row in the details."""
    control: int = 28
    """Buttons, fields, the filter bar."""
    chip: int = 22
    badge: int = 16
    badge_glyph: int = 8
    gauge_width: int = 64
    gauge_height: int = 4
    scroll_bar: int = 10
    icon: int = 16
    """Icons of bars and buttons."""
    icon_row: int = 14
    """Icons in rows."""
    icon_gutter: int = 12
    """Icons in the message table's gutter."""
    radius_mark: int = 4
    radius_button: int = 5
    radius_field: int = 6
    radius_card: int = 6
    radius_bubble: int = 8
    focus_ring: int = 2
    selection_bar: int = 2

    @classmethod
    def for_font(cls, *, font_height: int, density: Density = "compact", zoom: float = 1.0) -> Metrics:
        """Returns the grid for a body font.

        Args:
            font_height: height of the body font, in pixels, zoom included.
            density: Comfortable rows are 4 px taller.
            zoom: 0.8 to 2.0; scales everything but focus ring and selection bar.
        """
        plain = cls()
        scaled = {
            field.name: max(1, round(getattr(plain, field.name) * zoom))
            for field in fields(cls)
            if field.name not in ("focus_ring", "selection_bar")
        }
        extra = round(4 * zoom) if density == "comfortable" else 0
        row = math.ceil((font_height + 8 * zoom) / 4) * 4 + extra
        return replace(plain, **{**scaled, "row": row, "column_head": row - extra})


METRICS = Metrics()
"""The grid in Compact at 100 %."""
