"""The middle of a window with a document: tabs and notices above, the view that was chosen below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.ui.docview.center import Center
from inspector.ui.docview.view_head import ViewHead

if TYPE_CHECKING:
    from inspector.ui.window.main_window import MainWindow


class DocumentPage(QWidget):
    """What stands in the place of the start page; empty until a document is shown.

    Attributes:
        head: tabs and notices.
        center: the views.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.head = ViewHead(window.theme, window)
        self.head.notices.left.connect(window.focus_center)
        self.center = Center(window.theme, self)
        self.center.made.connect(lambda view: window.msp.view.adopt(view))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.center, 1)
        self.head.hide()
        self.hide()  # else a window that is not seen yet shows it on top of its menus
