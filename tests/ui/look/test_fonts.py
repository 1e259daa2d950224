"""Tests of `inspector.ui.look.fonts`."""

from __future__ import annotations

import struct

import pytest
from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF
from PySide6.QtWidgets import QApplication

from inspector.base import paths
from inspector.ui.look.design_tokens import TYPE_ROLES
from inspector.ui.look.fonts import BUNDLED_FACES, MONO_FAMILY, UI_FAMILY, Fonts


@pytest.fixture
def fonts(qapp: QApplication) -> Fonts:
    assert qapp is not None
    return Fonts(bundled=True)


@pytest.mark.parametrize("name", BUNDLED_FACES)
def test_bundled_faces_have_truetype_outlines(name: str) -> None:
    data = paths.resource("fonts", name).read_bytes()
    (tables,) = struct.unpack_from(">H", data, 4)
    tags = {data[12 + 16 * at : 16 + 16 * at] for at in range(tables)}
    assert b"glyf" in tags
    assert b"CFF " not in tags


def test_bundled_faces_are_small() -> None:
    assert sum(paths.resource("fonts", name).stat().st_size for name in BUNDLED_FACES) < 3_000_000


@pytest.mark.parametrize("role", TYPE_ROLES)
def test_role_resolves_to_the_bundled_face(fonts: Fonts, role: str) -> None:
    info = QFontInfo(fonts.font(role))
    spec = TYPE_ROLES[role]
    assert info.family() == (MONO_FAMILY if spec.mono else UI_FAMILY)
    assert (info.pixelSize(), info.weight()) == (12 + spec.step_px, spec.weight)
    assert info.fixedPitch() == spec.mono


def test_figures_are_tabular(fonts: Fonts) -> None:
    metrics = QFontMetricsF(fonts.font("body"))
    assert metrics.horizontalAdvance("1111") == pytest.approx(metrics.horizontalAdvance("8888"), abs=0.01)


def test_bytes_stay_bytes_without_ligatures(fonts: Fonts) -> None:
    tags = {bytes(tag.toString().data()).decode() for tag in fonts.font("mono").featureTags()}
    assert {"calt", "liga"} <= tags


def test_comfortable_is_a_pixel_larger_and_zoom_scales(qapp: QApplication) -> None:
    assert qapp is not None
    assert Fonts(bundled=True, density="comfortable").base_px == 13
    assert Fonts(bundled=True, zoom=2.0).base_px == 24


def test_system_fonts_are_never_below_twelve(qapp: QApplication) -> None:
    assert qapp is not None
    font = Fonts().font("body")
    assert isinstance(font, QFont)
    assert font.pixelSize() >= 12


@pytest.mark.parametrize("role", [role for role, spec in TYPE_ROLES.items() if not spec.mono])
def test_a_hyphen_joins_words_though_figures_are_tabular(fonts: Fonts, role: str) -> None:
    """Inter makes it as wide as a figure with `tnum`; `packaging/fonts.py` takes that back."""
    metrics = QFontMetricsF(fonts.font(role))
    assert metrics.horizontalAdvance("-") < 0.85 * metrics.horizontalAdvance("0")
    assert metrics.horizontalAdvance("1") == pytest.approx(metrics.horizontalAdvance("8"))
