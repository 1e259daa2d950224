"""Base classes of dialogs: size, deletion, rows of words, framed lists."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.labels import IconLabel, TextLabel
from inspector.ui.widgets.scrolled_part import ScrolledPart

_TITLE_BAR = 36
"""Room for the desktop's window frame; logical pixels."""
_MARGINS = 24, 20, 24, 16
"""Left, top, right and bottom margins of a dialog's content; logical pixels at 100 % zoom."""


class Dialog(QDialog):
    """A dialog that deletes itself when it closes."""

    def __init__(self, theme_controller: ThemeController, *, name: str, title: str, parent: QWidget | None) -> None:
        """Creates an empty dialog; `open()` shows it.

        Args:
            theme_controller: gives the look.
            name: object name.
            title: window title and accessible name.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAccessibleName(title)

    def most_size(self) -> QSize:
        """Returns the maximum size on the screen."""
        screen = self.screen().availableSize()
        return QSize(screen.width(), screen.height() - _TITLE_BAR)

    def take_size(self, width: int, height: int) -> None:
        """Resizes to a size at 100 % zoom, scaled by the zoom and limited by the screen."""
        zoom = self._themes.theme.zoom
        self.resize(QSize(round(width * zoom), round(height * zoom)).boundedTo(self.most_size()))

    def take_margins(self, page: QVBoxLayout) -> None:
        zoom = self._themes.theme.zoom
        page.setContentsMargins(*(round(side * zoom) for side in _MARGINS))

    @override
    def done(self, result: int) -> None:
        super().done(result)
        self.deleteLater()


_MIN_SHRUNK_HEIGHT = 96
"""Minimum height of the part that shrinks on a small screen; pixels."""


class FittedDialog(Dialog):
    """A dialog with a fixed width and the height of its content."""

    def __init__(
        self, theme_controller: ThemeController, *, name: str, title: str, width: int, parent: QWidget | None
    ) -> None:
        """Creates an empty dialog.

        Args:
            theme_controller: gives the zoom.
            name: object name.
            title: window title and accessible name.
            width: in logical pixels at 100 % zoom.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name=name, title=title, parent=parent)
        self._plain_width = width
        self.gives_way: QWidget | None = None

    def fit(self) -> None:
        """Resizes to the zoomed width and the content's height."""
        most = self.most_size()
        width = min(round(self._plain_width * self._themes.theme.zoom), most.width())
        layout = self.layout()
        if layout is None:
            return
        if isinstance(self.gives_way, ScrolledPart):
            sides = layout.contentsMargins()
            self.gives_way.setFixedHeight(self.gives_way.height_for(width - sides.left() - sides.right()))
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        beyond = height - most.height()
        if beyond > 0 and self.gives_way is not None:
            was = self.gives_way.height()
            self.gives_way.setFixedHeight(max(_MIN_SHRUNK_HEIGHT, was - beyond))
            height -= was - self.gives_way.height()
        if isinstance(self.gives_way, ScrolledPart):
            self.gives_way.scroll_where_needed(beyond > 0)
        # a fixed size follows the content when texts appear or the zoom changes
        self.setFixedSize(width, height)

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self.fit()
        return done


class WordsRow(QHBoxLayout):
    """The head of a dialog: an icon, a title and one or two sentences.

    Attributes:
        text: the sentences.
    """

    def __init__(
        self, themes: ThemeController, icon: str, token: str, title: str, text: str, *, name: str, parent: QWidget
    ) -> None:
        """Creates the row.

        Args:
            themes: gives the look.
            icon, token: name of the icon, and token of its colour.
            title: a few words.
            text: plain text.
            name: prefix of object names.
            parent: the dialog.
        """
        super().__init__()
        self.setSpacing(14)
        sign = IconLabel(themes, icon, token, size=24, name=f"{name}Icon", parent=parent)
        self.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(6)
        words.addWidget(TextLabel(title, variant="heading", name=f"{name}Title", wrap=True, parent=parent))
        self.text = TextLabel(text, name=f"{name}Text", wrap=True, parent=parent)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words.addWidget(self.text)
        self.addLayout(words, 1)


class ListFrame(QFrame):
    """A card in the colour of lists that keeps rows off its round corners.

    Attributes:
        lines: its layout.
    """

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "list")
        self.lines = QVBoxLayout(self)
        self.lines.setContentsMargins(1, 4, 1, 4)
