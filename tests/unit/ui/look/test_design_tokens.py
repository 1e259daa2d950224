"""Recomputes the contrast table of docs/design.md 10 from the tokens (plain data; no Qt is used here)."""

from __future__ import annotations

import re

import pytest

from inspector.base import paths
from inspector.ui.look.design_tokens import BASE_PX, COLORS, FAMILIES, METRICS, PILL_ALPHA, TYPE_ROLES, Metrics

SCHEMES = ("dark", "light")
ALL_SURFACES = (
    "surface.base",
    "surface.chrome",
    "surface.raised",
    "surface.input",
    "surface.inset",
    "surface.hover",
    "accent.wash",
    "accent.washdim",
)
CONTROL_SURFACES = ("surface.chrome", "surface.input")
TEXT, MARK = 4.5, 3.0

# token, surfaces, least allowed, lowest (dark, light) as docs/design.md 10 states them
TABLE = [
    ("line.control", CONTROL_SURFACES, MARK, (3.1, 3.0)),
    ("ink.primary", ALL_SURFACES, TEXT, (10.5, 13.7)),
    ("ink.secondary", ALL_SURFACES, TEXT, (6.3, 6.4)),
    ("ink.tertiary", ALL_SURFACES, TEXT, (4.7, 4.7)),
    ("accent.text", ALL_SURFACES, TEXT, (6.0, 5.5)),
    ("accent.on", ("accent.fill",), TEXT, (4.9, 5.8)),
    ("accent.ring", ALL_SURFACES, MARK, (4.9, 3.9)),
    ("severity.error", ALL_SURFACES, TEXT, (5.1, 4.8)),
    ("severity.warning", ALL_SURFACES, TEXT, (6.9, 5.7)),
    ("severity.note", ALL_SURFACES, TEXT, (5.5, 5.3)),
    ("state.active", ALL_SURFACES, MARK, (5.8, 3.7)),
    ("state.idle", ALL_SURFACES, MARK, (4.7, 4.7)),
    ("state.cancelled", ALL_SURFACES, MARK, (4.7, 4.7)),
    ("state.concluded", ALL_SURFACES, MARK, (6.3, 6.4)),
    ("gauge.full", ALL_SURFACES, MARK, (5.1, None)),
    ("gauge.warn", ALL_SURFACES, MARK, (None, 3.1)),
    ("rec", ALL_SURFACES, MARK, (4.1, 4.4)),
    ("ink.primary", ("find.hit",), TEXT, (4.5, 10.9)),
    ("accent.ring", ("find.hit",), 2.0, (None, None)),
    ("json.string", ALL_SURFACES, TEXT, (None, None)),
    ("json.number", ALL_SURFACES, TEXT, (None, None)),
    ("json.word", ALL_SURFACES, TEXT, (None, None)),
]
PILLS = [("badge.transient", (5.0, 4.8)), ("badge.consumed", (4.7, 4.8)), ("badge.collapsed", (4.5, 5.0))]
HIGHLIGHTS = ("rose", "orange", "lime", "teal", "sky", "violet")
PILL_SURFACES = ("surface.base", "surface.hover", "accent.wash", "accent.washdim")

Rgb = tuple[float, float, float]


def rgb(color: str) -> Rgb:
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def luminance(color: Rgb) -> float:
    """Relative luminance, WCAG 2.2."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Rgb, other: Rgb) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def over(color: Rgb, below: Rgb, alpha: float) -> Rgb:
    red, green, blue = (alpha * top + (1 - alpha) * under for top, under in zip(color, below, strict=True))
    return red, green, blue


def token(name: str, scheme: int) -> Rgb:
    return rgb(COLORS[name][scheme])


@pytest.mark.parametrize("scheme", [0, 1], ids=SCHEMES)
@pytest.mark.parametrize(("name", "surfaces", "least", "stated"), TABLE, ids=[row[0] for row in TABLE])
def test_lowest_contrast(
    name: str, surfaces: tuple[str, ...], least: float, stated: tuple[float | None, float | None], scheme: int
) -> None:
    lowest = min(contrast(token(name, scheme), token(surface, scheme)) for surface in surfaces)
    assert round(lowest, 1) >= least
    expected = stated[scheme]
    if expected is not None:
        assert lowest == pytest.approx(expected, abs=0.1)


def test_hits_stand_out_from_dark_rows() -> None:
    assert contrast(token("find.hit", 0), token("surface.base", 0)) >= MARK


@pytest.mark.parametrize("scheme", [0, 1], ids=SCHEMES)
@pytest.mark.parametrize(("name", "stated"), PILLS, ids=[row[0] for row in PILLS])
def test_pill_text_on_its_own_fill(name: str, stated: tuple[float, float], scheme: int) -> None:
    text = token(name, scheme)
    lowest = min(contrast(text, over(text, token(surface, scheme), PILL_ALPHA[scheme])) for surface in PILL_SURFACES)
    assert round(lowest, 1) >= TEXT
    assert lowest == pytest.approx(stated[scheme], abs=0.1)


@pytest.mark.parametrize("scheme", [0, 1], ids=SCHEMES)
@pytest.mark.parametrize("name", HIGHLIGHTS)
def test_highlight_colours_can_be_read_on_every_surface_and_seen_on_their_own_tint(name: str, scheme: int) -> None:
    color = token(f"highlight.{name}", scheme)
    assert min(contrast(color, token(surface, scheme)) for surface in ALL_SURFACES) >= TEXT
    tints = [over(color, token(surface, scheme), PILL_ALPHA[scheme]) for surface in PILL_SURFACES]
    assert min(contrast(color, tint) for tint in tints) >= TEXT
    # What stands in the gutter stays visible on the tint.
    for mark in ("accent.ring", "accent.text", "severity.error", "severity.warning", "severity.note"):
        assert min(contrast(token(mark, scheme), tint) for tint in tints) >= MARK, mark


@pytest.mark.parametrize(("scheme", "stated"), [(0, 4.6), (1, 4.7)], ids=SCHEMES)
def test_family_marks(scheme: int, stated: float) -> None:
    lowest = min(
        contrast(token(f"family.{family}", scheme), token(surface, scheme))
        for family in FAMILIES
        for surface in ALL_SURFACES
    )
    assert lowest == pytest.approx(stated, abs=0.1)


def test_chrome_images_use_the_tokens_colours() -> None:
    files = sorted(paths.resource("icons", "chrome").glob("*.svg"))
    assert files
    for file in files:
        match = re.fullmatch(r"[a-z-]+?-((?:ink|accent)\.[a-z]+)-(dark|light)\.svg", file.name)
        assert match is not None, file.name
        colors = set(re.findall(r"#[0-9a-f]{6}", file.read_text(encoding="utf-8")))
        assert colors == {COLORS[match[1]][SCHEMES.index(match[2])]}, file.name


def test_type_sizes_at_the_base_of_12() -> None:
    sizes = {role: (BASE_PX + spec.step_px, spec.weight) for role, spec in TYPE_ROLES.items()}
    assert sizes["display"] == (22, 600)
    assert sizes["title"] == (16, 600)
    assert sizes["heading"] == (13, 600)
    assert sizes["column"] == sizes["badge"] == (11, 500)
    assert sizes["mono-row"] == (11, 400)


def test_rows_follow_the_font_and_the_density() -> None:
    compact = Metrics.for_font(font_height=15)
    comfortable = Metrics.for_font(font_height=16, density="comfortable")
    assert (compact.row, compact.column_head) == (24, 24)
    assert (comfortable.row, comfortable.column_head) == (28, 24)
    assert compact == METRICS


def test_zoom_scales_the_grid_but_not_the_focus_ring() -> None:
    double = Metrics.for_font(font_height=30, zoom=2.0)
    assert (double.row, double.control, double.focus_ring) == (48, 56, METRICS.focus_ring)
