"""The theme: colours, fonts, grid, palette and style sheet; follows setting, density, zoom and system.

A `Theme` is immutable. `ThemeController` makes a new one when the setting, the density, the zoom or the system's colour
scheme changes. It applies the theme to the application and emits `changed`. Widgets keep the controller, read
its `theme` when they paint, and clear their caches on `changed`. Values: `design_tokens.py`, from docs/design.md
10 to 13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from inspector.settings.model import MAX_ZOOM_PERCENT, MIN_ZOOM_PERCENT
from inspector.ui.look import icons
from inspector.ui.look.design_tokens import (
    COLORS,
    FAMILY_MARKS,
    HIGH_CONTRAST,
    METRICS,
    PILL_ALPHA,
    Density,
    Metrics,
)
from inspector.ui.look.fonts import Fonts
from inspector.ui.look.style_sheet import build_style_sheet

if TYPE_CHECKING:
    from PySide6.QtGui import QAccessibilityHints, QStyleHints

__all__ = ["METRICS", "Density", "Metrics", "Theme", "ThemeController", "ThemeSetting", "apply"]

ThemeSetting = Literal["system", "light", "dark"]
"""The user's choice."""

FUSION = "drawnByFusion"
"""Property of an application that uses the Fusion style."""


class Theme:
    """Colours, fonts and sizes for one colour scheme, density and zoom.

    Attributes:
        dark: True for dark surfaces.
        high_contrast: True if the system asks for more contrast.
        density: Compact or Comfortable.
        zoom: 0.8 to 2.0; scales type and grid together.
        fonts: the type roles.
        metrics: the grid.
    """

    def __init__(
        self,
        *,
        dark: bool,
        density: Density = "compact",
        zoom: float = 1.0,
        high_contrast: bool = False,
        bundled_fonts: bool = False,
    ) -> None:
        """Makes a theme; needs a QApplication, since fonts are chosen and measured."""
        self.dark = dark
        self.high_contrast = high_contrast
        self.density: Density = density
        self.zoom = zoom
        self.fonts = Fonts(bundled=bundled_fonts, density=density, zoom=zoom)
        self.metrics = Metrics.for_font(font_height=self.fonts.body_height, density=density, zoom=zoom)
        index = 0 if dark else 1
        self._colors = {token: QColor(pair[index]) for token, pair in COLORS.items()}
        if high_contrast:
            for token, stand_in in HIGH_CONTRAST.items():
                self._colors[token] = QColor(COLORS[stand_in][index])

    def color(self, name: str) -> QColor:
        """Returns the colour of a token; it is shared, so copy it before a change.

        Raises:
            KeyError: if there is no such token.
        """
        return self._colors[name]

    def family_color(self, family: str) -> QColor:
        """Returns the colour of a kind family (`design_tokens.FAMILIES`), or of "unknown" for others."""
        return self._colors.get(f"family.{family}", self._colors["family.unknown"])

    def family_mark(self, family: str) -> str:
        """Returns the mark of a kind family: disc, square, diamond, triangle, bars or ring."""
        return FAMILY_MARKS.get(family, "ring")

    def pill_fill(self, token: str) -> QColor:
        """Returns the fill of a pill with text in this colour: the same colour, mostly transparent."""
        fill = QColor(self.color(token))
        fill.setAlphaF(PILL_ALPHA[0 if self.dark else 1])
        return fill

    def font(self, role: str) -> QFont:
        """Returns the font of a type role (`design_tokens.TYPE_ROLES`); it is shared, so copy it before a change.

        Raises:
            KeyError: if there is no such role.
        """
        return self.fonts.font(role)

    def palette(self) -> QPalette:
        """Builds Qt's palette."""
        palette = QPalette()
        roles = QPalette.ColorRole
        for role, token in {
            roles.Window: "surface.chrome",
            roles.WindowText: "ink.primary",
            roles.Base: "surface.base",
            roles.AlternateBase: "surface.inset",
            roles.Text: "ink.primary",
            roles.Button: "surface.raised",
            roles.ButtonText: "ink.primary",
            roles.BrightText: "severity.error",
            roles.ToolTipBase: "surface.raised",
            roles.ToolTipText: "ink.primary",
            roles.PlaceholderText: "ink.tertiary",
            roles.Highlight: "accent.wash",
            roles.HighlightedText: "ink.primary",
            roles.Link: "accent.text",
            roles.LinkVisited: "accent.text",
            roles.Accent: "accent.fill",
            roles.Light: "surface.raised",
            roles.Midlight: "line.hair",
            roles.Mid: "line.strong",
            roles.Dark: "line.control",
            roles.Shadow: "line.control",
        }.items():
            palette.setColor(role, self.color(token))
        for role in (roles.WindowText, roles.Text, roles.ButtonText, roles.PlaceholderText, roles.HighlightedText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color("ink.disabled"))
        palette.setColor(QPalette.ColorGroup.Disabled, roles.Highlight, self.color("accent.washdim"))
        palette.setColor(QPalette.ColorGroup.Inactive, roles.Highlight, self.color("accent.washdim"))
        return palette

    def style_sheet(self) -> str:
        """Builds the style sheet; rows have no rules in it, since delegates paint them."""
        names = {token: color.name() for token, color in self._colors.items()}
        return build_style_sheet(names, self.fonts, self.metrics, dark=self.dark)


def apply(app: QApplication, theme: Theme) -> None:
    """Applies a theme to the application: Fusion, palette, font, style sheet, icon colours."""
    icons.use_colors(theme.color)
    if not app.property(FUSION):  # `app.style()` would wrap sixteen enums, a tenth of the start time
        app.setStyle("Fusion")
        app.setProperty(FUSION, True)
    app.setPalette(theme.palette())
    app.setFont(theme.font("body"))
    sheet = theme.style_sheet()
    if app.styleSheet() != sheet:  # setting the same sheet again costs 10 ms for each window
        app.setStyleSheet(sheet)


class ThemeController(QObject):
    """Updates the application's theme when the settings or the system change.

    Signals:
        changed: the theme was replaced and applied; caches of fonts, colours and pixmaps are stale.
    """

    changed = Signal()

    def __init__(
        self,
        app: QApplication,
        *,
        setting: ThemeSetting = "system",
        density: Density = "compact",
        zoom: float = 1.0,
        bundled_fonts: bool = False,
        parent: QObject | None = None,
    ) -> None:
        """Makes and applies the theme.

        Args:
            app: the application.
            setting: follow the system, or always light or dark.
            density: Compact or Comfortable.
            zoom: 0.8 to 2.0.
            bundled_fonts: use the bundled faces on every system (screenshots, tests).
            parent: owner; the application by default.
        """
        super().__init__(parent or app)
        self._app = app
        self._setting: ThemeSetting = setting
        self._density: Density = density
        self._zoom = _within_zoom(zoom)
        self._bundled_fonts = bundled_fonts
        # Kept alive: objects returned by the hints do not outlive their Python wrapper.
        self._hints = app.styleHints()
        self._accessibility = _accessibility_of(self._hints)
        self._hints.colorSchemeChanged.connect(self._on_system_changed)
        if self._accessibility is not None:
            self._accessibility.contrastPreferenceChanged.connect(self._on_system_changed)
        self._theme = self._make()
        apply(app, self._theme)

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def setting(self) -> ThemeSetting:
        return self._setting

    def set_setting(self, setting: ThemeSetting) -> None:
        if setting != self._setting:
            self._setting = setting
            self._replace()

    def set_density(self, density: Density) -> None:
        if density != self._density:
            self._density = density
            self._replace()

    def set_zoom(self, zoom: float) -> None:
        """Sets the zoom, clamped to 0.8 and 2.0."""
        zoom = _within_zoom(zoom)
        if zoom != self._zoom:
            self._zoom = zoom
            self._replace()

    def dispose(self) -> None:
        """Stops following the system; the theme stays applied."""
        self._hints.colorSchemeChanged.disconnect(self._on_system_changed)
        if self._accessibility is not None:
            self._accessibility.contrastPreferenceChanged.disconnect(self._on_system_changed)
        self.deleteLater()

    def _make(self) -> Theme:
        dark = system_is_dark() if self._setting == "system" else self._setting == "dark"
        return Theme(
            dark=dark,
            density=self._density,
            zoom=self._zoom,
            high_contrast=_system_wants_contrast(),
            bundled_fonts=self._bundled_fonts,
        )

    def _replace(self) -> None:
        self._theme = self._make()
        apply(self._app, self._theme)
        self.changed.emit()

    def _on_system_changed(self) -> None:
        """Also for a fixed light or dark theme, since contrast may change in either."""
        darkness = self._setting == "system" and system_is_dark() != self._theme.dark
        if darkness or _system_wants_contrast() != self._theme.high_contrast:
            self._replace()


def system_is_dark() -> bool:
    """Returns True if the system asks for dark surfaces; False if unknown."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def _system_wants_contrast() -> bool:
    hints = QGuiApplication.styleHints()
    accessibility = _accessibility_of(hints)
    return accessibility is not None and accessibility.contrastPreference() == Qt.ContrastPreference.HighContrast


def _accessibility_of(hints: QStyleHints) -> QAccessibilityHints | None:
    """Returns the system's accessibility hints, valid while `hints` is kept; None before Qt 6.10."""
    accessibility = getattr(hints, "accessibility", None)
    return None if accessibility is None else accessibility()


def _within_zoom(zoom: float) -> float:
    return min(MAX_ZOOM_PERCENT / 100, max(MIN_ZOOM_PERCENT / 100, zoom))
