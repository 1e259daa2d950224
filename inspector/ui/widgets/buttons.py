"""Buttons of the chrome: icons that follow the theme, words, and links."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController


class IconButton(QToolButton):
    """A tool button whose icon is tinted again when the theme changes."""

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
        """Make the button.

        Args:
            theme_controller: gives the colours.
            icon: name as in `icons.ICONS`.
            tooltip: what it does; also its accessible name.
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
        """Colour at rest."""
        return self._token

    def set_icon(self, icon: str, token: str | None = None) -> None:
        """Show another icon, or the same in another colour."""
        if (icon, token or self._token) == (self._icon, self._token):
            return
        self._icon = icon
        self._token = token or self._token
        self._on_theme_changed()

    def say(self, text: str) -> None:
        """Change what the button does in words: tooltip and accessible name."""
        self.setToolTip(text)
        self.setAccessibleName(text)

    def _on_theme_changed(self) -> None:
        side = round(self._size * self._themes.theme.zoom)
        self.setIconSize(QSize(side, side))
        self.setIcon(icons.icon(self._icon, self._token, on_token=self._on_token))


class WordButton(QPushButton):
    """A button of a dialog. Return presses the dialog's default one, whichever has the keyboard."""

    def __init__(self, words: str, *, name: str, parent: QWidget, default: bool = False) -> None:
        """Make the button.

        Args:
            words: what it says; a letter behind an ampersand is its key.
            name: object name.
            parent: owner.
            default: it is the dialog's default one.
        """
        super().__init__(words, parent)
        self.setObjectName(name)
        self.setAccessibleName(words.replace("&&", "\0").replace("&", "").replace("\0", "&"))
        self.setAutoDefault(False)
        self.setDefault(default)


class LinkButton(QPushButton):
    """A button that looks like a link. It never is a dialog's default button."""

    def __init__(self, text: str, *, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "link")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.set_label(text)

    @property
    def label(self) -> str:
        """What it says."""
        return self.accessibleName()

    def set_label(self, text: str) -> None:
        """Say something else; an ampersand is an ampersand, not a shortcut."""
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(text)
