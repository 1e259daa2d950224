"""Buttons of the window: themed icon buttons, dialog buttons, and links."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController


class IconButton(QToolButton):
    """A tool button that recolours its icon when the theme changes."""

    def __init__(
        self,
        theme_controller: ThemeController,
        icon: str,
        tooltip: str,
        *,
        name: str,
        token: str = "ink.secondary",
        on_token: str | None = None,
        variant: str = "",
        size: int = 16,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the button.

        Args:
            theme_controller: source of colours.
            icon: name as in `icons.ICONS`.
            tooltip: its action; also its accessible name.
            name: object name.
            token: colour at rest.
            on_token: colour while checked.
            variant: look, see `style_sheet`.
            size: side of the icon in logical pixels at 100 % zoom.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setToolTip(tooltip)
        self.setAccessibleName(tooltip)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        if variant:
            self.setProperty("variant", variant)
        self._themes = theme_controller
        self._icon = icon
        self._token = token
        self._on_token = on_token
        self._size = size
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @property
    def token(self) -> str:
        return self._token

    def set_icon(self, icon: str, token: str | None = None) -> None:
        if (icon, token or self._token) == (self._icon, self._token):
            return
        self._icon = icon
        self._token = token or self._token
        self._on_theme_changed()

    def set_description(self, text: str) -> None:
        """Sets the tooltip and the accessible name."""
        self.setToolTip(text)
        self.setAccessibleName(text)

    def _on_theme_changed(self) -> None:
        side = round(self._size * self._themes.theme.zoom)
        self.setIconSize(QSize(side, side))
        self.setIcon(icons.icon(self._icon, self._token, on_token=self._on_token))


class WordButton(QPushButton):
    """A button of a dialog. Enter presses the dialog's default button, whatever button has the focus."""

    def __init__(self, words: str, *, name: str, parent: QWidget, default: bool = False) -> None:
        """Makes the button.

        Args:
            words: its text; an ampersand precedes the mnemonic.
            name: object name.
            parent: owner.
            default: make it the dialog's default button.
        """
        super().__init__(words, parent)
        self.setObjectName(name)
        self.setAccessibleName(words.replace("&&", "\0").replace("&", "").replace("\0", "&"))
        self.setAutoDefault(False)
        self.setDefault(default)


class LinkButton(QPushButton):
    """A button that looks like a link. It is never a dialog's default button."""

    def __init__(self, text: str, *, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "link")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.set_label(text)

    @property
    def label(self) -> str:
        return self.accessibleName()

    def set_label(self, text: str) -> None:
        """Sets the text; an ampersand is shown as such, not as a mnemonic."""
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(text)
