"""The theme: colours by meaning, fonts by role, the grid, Qt's palette and the one style sheet.

A `Theme` is immutable; `ThemeController` makes a new one when the setting, the density, the zoom or the system's colour
scheme changes, applies it to the application and says `changed`. Widgets keep the controller, ask `controller.theme`
when they paint, and drop what they cached on `changed`. Values: `design_tokens.py`, from docs/design.md 10 to 13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

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
"""What the user chose."""

FUSION = "drawnByFusion"
"""Property of an application that has the style."""


class Theme:
    """Everything that decides how a thing looks, for one colour scheme, density and zoom.

    Attributes:
        dark: whether surfaces are dark.
        high_contrast: whether the system asked for more contrast.
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
        """Make a theme; needs a QApplication because fonts are chosen and measured."""
        self.dark = dark
        self.high_contrast = high_contrast
        self.density: Density = density
        self.zoom = zoom
        self.fonts = Fonts(bundled=bundled_fonts, density=density, zoom=zoom)
        self.metrics = Metrics.at(font_height=self.fonts.body_height, density=density, zoom=zoom)
        index = 0 if dark else 1
        self._colors = {token: QColor(pair[index]) for token, pair in COLORS.items()}
        if high_contrast:
            for token, stand_in in HIGH_CONTRAST.items():
                self._colors[token] = QColor(COLORS[stand_in][index])

    def color(self, name: str) -> QColor:
        """Colour of a token. It is shared: copy before changing it.

        Raises:
            KeyError: there is no such token.
        """
        return self._colors[name]

    def family_color(self, family: str) -> QColor:
        """Colour of a kind family (`design_tokens.FAMILIES`); strangers get that of "unknown"."""
        return self._colors.get(f"family.{family}", self._colors["family.unknown"])

    def family_mark(self, family: str) -> str:
        """Shape of a kind family's mark: disc, square, diamond, triangle, bars or ring."""
        return FAMILY_MARKS.get(family, "ring")

    def pill_fill(self, token: str) -> QColor:
        """Fill of a pill whose text has this colour: the colour itself, mostly transparent."""
        fill = QColor(self.color(token))
        fill.setAlphaF(PILL_ALPHA[0 if self.dark else 1])
        return fill

    def font(self, role: str) -> QFont:
        """Font of a type role (`design_tokens.TYPE_ROLES`). It is shared: copy before changing it.

        Raises:
            KeyError: there is no such role.
        """
        return self.fonts.font(role)

    def palette(self) -> QPalette:
        """Qt's palette in this theme's colours."""
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
        """The style sheet for chrome; it has no rule for rows, which delegates paint."""
        names = {token: color.name() for token, color in self._colors.items()}
        return build_style_sheet(names, self.fonts, self.metrics, dark=self.dark)


def apply(app: QApplication, theme: Theme) -> None:
    """Give an application this theme: Fusion, palette, font, style sheet, icon colours."""
    icons.use_colors(theme.color)
    if not app.property(FUSION):  # asking for the style itself makes sixteen enums, a tenth of a start
        app.setStyle("Fusion")
        app.setProperty(FUSION, True)
    app.setPalette(theme.palette())
    app.setFont(theme.font("body"))
    sheet = theme.style_sheet()
    if app.styleSheet() != sheet:  # the same one again would be laid over every widget anew, 10 ms a window
        app.setStyleSheet(sheet)


class ThemeController(QObject):
    """Keeps the application's theme in step with the settings and with the system.

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
        """Make the theme and apply it.

        Args:
            app: the application; kept.
            setting: follow the system, or always light or dark.
            density: Compact or Comfortable.
            zoom: 0.8 to 2.0.
            bundled_fonts: use the bundled faces whatever the system has (screenshots, tests).
            parent: owner; the application by default.
        """
        super().__init__(parent or app)
        self._app = app
        self._setting: ThemeSetting = setting
        self._density: Density = density
        self._zoom = _within_zoom(zoom)
        self._bundled_fonts = bundled_fonts
        # Kept: what a passing wrapper of the hints gives does not outlive it.
        self._hints = app.styleHints()
        self._accessibility = _accessibility_of(self._hints)
        self._hints.colorSchemeChanged.connect(self._on_system_changed)
        if self._accessibility is not None:
            self._accessibility.contrastPreferenceChanged.connect(self._on_system_changed)
        self._theme = self._make()
        apply(app, self._theme)

    @property
    def theme(self) -> Theme:
        """The theme in force."""
        return self._theme

    @property
    def setting(self) -> ThemeSetting:
        """What the user chose."""
        return self._setting

    def set_setting(self, setting: ThemeSetting) -> None:
        """Follow the system, or always light or dark."""
        if setting != self._setting:
            self._setting = setting
            self._replace()

    def set_density(self, density: Density) -> None:
        """Compact or Comfortable."""
        if density != self._density:
            self._density = density
            self._replace()

    def set_zoom(self, zoom: float) -> None:
        """Scale type and grid; kept within 0.8 and 2.0."""
        zoom = _within_zoom(zoom)
        if zoom != self._zoom:
            self._zoom = zoom
            self._replace()

    def dispose(self) -> None:
        """Stop following the system; the theme stays applied."""
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
        """Also where light or dark was chosen: more contrast is wanted in either."""
        darkness = self._setting == "system" and system_is_dark() != self._theme.dark
        if darkness or _system_wants_contrast() != self._theme.high_contrast:
            self._replace()


def system_is_dark() -> bool:
    """Whether the system asks for dark surfaces; unknown counts as light."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def _system_wants_contrast() -> bool:
    hints = QGuiApplication.styleHints()
    accessibility = _accessibility_of(hints)
    return accessibility is not None and accessibility.contrastPreference() == Qt.ContrastPreference.HighContrast


def _accessibility_of(hints: QStyleHints) -> QAccessibilityHints | None:
    """What the system asks for on behalf of those who need it, for as long as `hints` is kept; since Qt 6.10."""
    accessibility = getattr(hints, "accessibility", None)
    return None if accessibility is None else accessibility()


def _within_zoom(zoom: float) -> float:
    return min(2.0, max(0.8, zoom))
