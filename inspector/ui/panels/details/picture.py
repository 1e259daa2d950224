"""A picture of a message, decoded from its own bytes within bounds; nothing is ever loaded from an address.

Only formats that are pixels are read: SVG can name other files, and is shown as text elsewhere. A header that promises
more pixels than the bound is believed and refused before anything is decoded.
"""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QImageReader, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.protocol.payloads.blocks import Block
from inspector.ui.theme import ThemeController

MAX_BYTES = 12 << 20
MAX_PIXELS = 40_000_000
_KEPT = 1_600
"""Pixels of the longer side that are kept: more than the pane ever shows."""
_TALLEST = 320
_FORMATS = frozenset({b"png", b"jpeg", b"jpg", b"gif", b"webp", b"bmp"})
_CHECKER = 8


def decode_picture(data: bytes) -> tuple[QImage | None, QSize, str]:
    """Decode a picture's first frame.

    Returns:
        The image, at most _KEPT pixels wide or high (None where it cannot be shown), the size it says it has, and why
        it is not shown ("" where it is).
    """
    if len(data) > MAX_BYTES:
        return None, QSize(), "too large to be shown here"
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    if bytes(reader.format().data()) not in _FORMATS:
        return None, QSize(), "in no format that is shown here"
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        return None, QSize(), "damaged"
    if size.width() * size.height() > MAX_PIXELS:
        return None, size, "too many pixels to be shown here"
    if max(size.width(), size.height()) > _KEPT:
        reader.setScaledSize(size.scaled(_KEPT, _KEPT, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1)))
    image = reader.read()
    return (None, size, "damaged") if image.isNull() else (image, size, "")


def read_picture(block: Block) -> tuple[QImage | None, str]:
    """The picture of a block, and a line about it: "image, image/png, 12.3 kB, 640 by 480 pixels"."""
    data = block.data()
    if data is None:
        return None, f"{block.words()}, its data cannot be decoded"
    image, size, reason = decode_picture(data)
    pixels = f"{size.width()} by {size.height()} pixels" if size.isValid() else ""
    words = ", ".join(filter(None, (block.words(), pixels, reason)))
    return image, words


class PictureView(QWidget):
    """A picture as wide as the pane at most, never enlarged; what is transparent shows a quiet check."""

    def __init__(
        self, themes: ThemeController, image: QImage, label: str, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._themes = themes
        self.image = image
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def _shown(self, width: int) -> QSize:
        size = self.image.size()
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
        if self.image.hasAlphaChannel():
            painter.fillRect(box, theme.color("surface.base"))
            light = theme.color("surface.inset")
            for row in range(0, box.height(), _CHECKER):
                for column in range(row // _CHECKER % 2 * _CHECKER, box.width(), 2 * _CHECKER):
                    painter.fillRect(QRect(1 + column, 1 + row, _CHECKER, _CHECKER).intersected(box), light)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(box, self.image)
        painter.setPen(theme.color("line.hair"))
        painter.drawRect(box.adjusted(-1, -1, 0, 0))

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setObjectName(f"{self.objectName()}Menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy picture").triggered.connect(self.copy)
        menu.popup(event.globalPos())

    def copy(self) -> None:
        """Put the picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.image)
