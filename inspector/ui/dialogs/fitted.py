"""A dialog of one width that is always as high as what it holds: lines of help and trouble come and go."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.dialogs.dialog import Dialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.scrolled_part import ScrolledPart

_LEAST = 96
"""Height of what gives way on a small screen, in pixels."""


class FittedDialog(Dialog):
    """Follows its layout's height."""

    def __init__(
        self, theme_controller: ThemeController, *, name: str, title: str, width: int, parent: QWidget | None
    ) -> None:
        """Make an empty dialog.

        Args:
            theme_controller: gives the zoom.
            name: object name.
            title: of the window; its accessible name too.
            width: in logical pixels at 100 % zoom.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name=name, title=title, parent=parent)
        self._plain_width = width
        self.gives_way: QWidget | None = None

    def fit(self) -> None:
        """Take the width of the zoom and the height of the content."""
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
            self.gives_way.setFixedHeight(max(_LEAST, was - beyond))
            height -= was - self.gives_way.height()
        if isinstance(self.gives_way, ScrolledPart):
            self.gives_way.scroll_where_needed(beyond > 0)
        self.setFixedSize(width, height)

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self.fit()
        return done
