"""A picture of a message as the details show it; what decodes it is in `pictures`."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.pictures import shown_size

_TALLEST = 320
_CHECKER = 8


class PictureView(QWidget):
    """A picture as wide as the pane at most, never enlarged; what is transparent shows a quiet check.

    Attributes:
        image: the picture; None until it is decoded, when its room is kept free.
    """

    def __init__(
        self, themes: ThemeController, size: QSize, label: str, name: str, parent: QWidget | None = None
    ) -> None:
        """Make room for a picture of a size in pixels."""
        super().__init__(parent)
        self._themes = themes
        self._size = shown_size(size)
        self.image: QImage | None = None
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_image(self, image: QImage) -> None:
        """Show the picture."""
        self.image, self._size = image, image.size()
        self.updateGeometry()
        self.update()

    def _shown(self, width: int) -> QSize:
        size = self._size
        room = QSize(max(width, 1), round(_TALLEST * self._themes.theme.zoom))
        if size.width() > room.width() or size.height() > room.height():
            size = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        return size.expandedTo(QSize(1, 1))

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, self._shown(max(self.width(), 100) - 2).height() + 2)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        size = self._shown(self.width() - 2)
        box = QRect(1, 1, size.width(), size.height())
        if self.image is None:
            painter.fillRect(box, theme.color("surface.inset"))
        elif self.image.hasAlphaChannel():
            painter.fillRect(box, theme.color("surface.base"))
            light = theme.color("surface.inset")
            for row in range(0, box.height(), _CHECKER):
                for column in range(row // _CHECKER % 2 * _CHECKER, box.width(), 2 * _CHECKER):
                    painter.fillRect(QRect(1 + column, 1 + row, _CHECKER, _CHECKER).intersected(box), light)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self.image is not None:
            painter.drawImage(box, self.image)
        painter.setPen(theme.color("line.hair"))
        painter.drawRect(box.adjusted(-1, -1, 0, 0))

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setObjectName(f"{self.objectName()}Menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction("Copy picture")
        copy.setEnabled(self.image is not None)
        copy.triggered.connect(self.copy)
        menu.popup(event.globalPos())

    def copy(self) -> None:
        """Put the picture on the clipboard."""
        if self.image is not None:
            QGuiApplication.clipboard().setImage(self.image)
