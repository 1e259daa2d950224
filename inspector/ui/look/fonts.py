"""Chooses font families and caches one `QFont` for each type role.

docs/design.md 12: macOS and Windows use the system's faces. Linux uses the desktop's face, or the bundled Inter if that
is DejaVu Sans or missing; its monospace face is JetBrains Mono. Screenshots and tests always use the bundled faces.
Bundled files are TrueType outlines: Qt thickens CFF stems.
"""

from __future__ import annotations

import logging
import sys

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetrics

from inspector.base import paths
from inspector.ui.look.design_tokens import BASE_PX, TYPE_ROLES, Density

BUNDLED_FACES = (
    "Inter-Regular.ttf",
    "Inter-Medium.ttf",
    "Inter-SemiBold.ttf",
    "JetBrainsMono-Regular.ttf",
    "JetBrainsMono-Medium.ttf",
)
"""Files below `resources/fonts`."""

UI_FAMILY = "Inter"
"""Bundled face for text."""

MONO_FAMILY = "JetBrains Mono"
"""Bundled face for monospace text."""

_FALLBACK_FAMILIES = {"", "dejavu sans", "sans serif", "sans", "bitstream vera sans"}
"""Fallback families of a desktop without a chosen font."""

_log = logging.getLogger(__name__)


def load_bundled() -> None:
    """Loads the bundled faces unless Qt knows them already.

    Needs a `QGuiApplication`. A face that fails to load is logged as an error, and the system's is used instead.
    """
    if {UI_FAMILY, MONO_FAMILY} <= set(QFontDatabase.families()) and _has_bundled_weights():
        return
    for name in BUNDLED_FACES:
        if QFontDatabase.addApplicationFont(str(paths.resource("fonts", name))) < 0:
            _log.error("the bundled font %s could not be loaded", name)


def _has_bundled_weights() -> bool:
    styles = {style.lower().replace(" ", "") for style in QFontDatabase.styles(UI_FAMILY)}
    return {"regular", "medium", "semibold"} <= styles


class Fonts:
    """Fonts of all type roles at one density and zoom.

    Attributes:
        ui_families: families for text, best first.
        mono_families: monospace families, best first.
        base_px: size of the body role, in pixels, zoom included.
        body_height: line height of the body role, in pixels.
    """

    def __init__(self, *, bundled: bool = False, density: Density = "compact", zoom: float = 1.0) -> None:
        """Loads the bundled faces and chooses families.

        Args:
            bundled: use the bundled faces on every system (screenshots, tests).
            density: Compact is one pixel smaller than the system's size.
            zoom: 0.8 to 2.0.
        """
        load_bundled()
        system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        self.ui_families = [UI_FAMILY] if bundled else _ui_families(system)
        self.mono_families = [MONO_FAMILY] if bundled else _mono_families()
        # The bundled face has no system size; one pixel more gives 12 in Compact, as in the pictures.
        system_px = BASE_PX + 1 if bundled else QFontInfo(system).pixelSize()
        less = 1 if density == "compact" else 0
        self.plain_px = max(BASE_PX, system_px - less)
        self.zoom = zoom
        self._fonts: dict[str, QFont] = {}
        self.base_px = self.font("body").pixelSize()
        self.body_height = QFontMetrics(self.font("body")).height()

    def font(self, role: str) -> QFont:
        """Returns the font of a role in `TYPE_ROLES`; it is cached, so copy it before a change.

        Raises:
            KeyError: if there is no such role.
        """
        font = self._fonts.get(role)
        if font is None:
            font = self._fonts[role] = self._make(role)
        return font

    def _make(self, role: str) -> QFont:
        spec = TYPE_ROLES[role]
        font = QFont(self.mono_families if spec.mono else self.ui_families)
        font.setPixelSize(max(8, round((self.plain_px + spec.step_px) * self.zoom)))
        font.setWeight(QFont.Weight(spec.weight))
        font.setHintingPreference(QFont.HintingPreference.PreferVerticalHinting)
        # Ligatures would draw != as one sign and -> as an arrow; filters and payloads must look as typed.
        font.setFeature(QFont.Tag("calt"), 0)
        if spec.mono:
            font.setStyleHint(QFont.StyleHint.Monospace)
            font.setFixedPitch(True)
            font.setFeature(QFont.Tag("liga"), 0)
        else:
            font.setStyleHint(QFont.StyleHint.SansSerif)
            # Digits of equal width keep numbers aligned in columns.
            font.setFeature(QFont.Tag("tnum"), 1)
        return font


def _ui_families(system: QFont) -> list[str]:
    if sys.platform == "win32":
        return ["Segoe UI Variable Text", "Segoe UI", UI_FAMILY]
    family = QFontInfo(system).family()
    if sys.platform == "darwin":
        return [family, UI_FAMILY]
    return [UI_FAMILY] if family.lower() in _FALLBACK_FAMILIES else [family, UI_FAMILY]


def _mono_families() -> list[str]:
    known = set(QFontDatabase.families())
    wanted = {"darwin": ["SF Mono", "Menlo"], "win32": ["Cascadia Mono", "Consolas"]}.get(sys.platform, [])
    return [family for family in wanted if family in known] + [MONO_FAMILY]


def name_font(font: QFont) -> QFont:
    """Returns a font for names and ids without tabular figures, which would space hyphens as wide as digits."""
    plain = QFont(font)
    plain.setFeature(QFont.Tag("tnum"), 0)
    return plain
