"""Decodes pictures of messages on a worker thread within limits, caches them, and shows them.

Decoding uses the message's own bytes; no address is ever loaded. Only pixel formats are read, because SVG can name
other files. The header is checked first: pictures above the pixel limit are refused before decoding.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QImage,
    QImageIOHandler,
    QImageReader,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.protocol.payloads.content_blocks import Block
from inspector.ui.look.theme import ThemeController

_POLL_MS = 10
"""Interval of polling a thread for a finished picture."""

# The bytes in the longest base64 that is decoded (`content_blocks.MAX_ENCODED`).
MAX_BYTES = 12 << 20
MAX_PIXELS = 40_000_000
BUDGET = 12_000_000
"""Pixels decoded of one message without a request."""
_LONGEST_SIDE = 1_600
"""Pixels of the longer side after decoding; more than the panel shows."""
_FORMATS = frozenset({b"png", b"jpeg", b"jpg", b"gif", b"webp", b"bmp"})
# 16 bits a channel; Qt's own limit would report such a picture as damaged.
_QT_LIMIT_MB = MAX_PIXELS * 8 // (1 << 20) + 1
# Bytes of decoded pictures.
_CACHE_BYTES = 96 << 20

PictureKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Head:
    """Header of a picture.

    Attributes:
        size: displayed size, rotation included; invalid if unknown.
        cost: approximate pixels to decode.
        reason: error text; "" if the picture can be shown.
    """

    size: QSize = field(default_factory=QSize)
    cost: int = 0
    reason: str = ""


def read_head(data: bytes | None) -> Head:
    """Reads a picture's header; takes constant time."""
    if data is None:
        return Head(reason="its data cannot be decoded")
    if len(data) > MAX_BYTES:
        return Head(reason="too large to show")
    reader, _buffer = _reader(data)
    return _head(reader)


def decode_picture(data: bytes) -> tuple[QImage | None, QSize, str]:
    """Decodes a picture's first frame; takes up to a second, so call it on a worker thread.

    Returns:
        The image, at most _LONGEST_SIDE pixels wide or high, or None; the size in its header; the error, or "".
    """
    if len(data) > MAX_BYTES:
        return None, QSize(), "too large to show"
    reader, _buffer = _reader(data)
    head = _head(reader)
    if head.reason:
        return None, head.size, head.reason
    # 0 means no limit. The limit is shared by the process, so it is only raised.
    if 0 < QImageReader.allocationLimit() < _QT_LIMIT_MB:
        QImageReader.setAllocationLimit(_QT_LIMIT_MB)
    size = reader.size()
    if max(size.width(), size.height()) > _LONGEST_SIDE:
        reader.setScaledSize(_bounded_size(size))
    image = reader.read()
    if image.isNull():
        return None, head.size, "damaged"
    alpha = image.hasAlphaChannel()
    plain = QImage.Format.Format_ARGB32_Premultiplied if alpha else QImage.Format.Format_RGB32
    return image.convertToFormat(plain), head.size, ""


def shown_size(size: QSize) -> QSize:
    """Returns the size of the decoded picture."""
    return _bounded_size(size) if max(size.width(), size.height()) > _LONGEST_SIDE else size


def _bounded_size(size: QSize) -> QSize:
    return size.scaled(_LONGEST_SIDE, _LONGEST_SIDE, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


def _reader(data: bytes) -> tuple[QImageReader, QBuffer]:
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    return reader, buffer


def _head(reader: QImageReader) -> Head:
    name = bytes(reader.format().data())
    if name not in _FORMATS:
        return Head(reason="unsupported format")
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        return Head(reason="damaged")
    pixels = size.width() * size.height()
    if reader.transformation() & QImageIOHandler.Transformation.TransformationRotate90:
        size = size.transposed()
    if pixels > MAX_PIXELS:
        return Head(size, pixels, "too many pixels to show")
    # JPEG can be decoded at reduced size.
    return Head(size, pixels // 4 if name in (b"jpeg", b"jpg") else pixels)


def key_of(block: Block) -> PictureKey:
    """Returns the cache key of a picture: length and hash of its bytes."""
    encoded = block.encoded or ""
    # The hash of a str is cached in it, so repeated keys cost no pass over the data.
    return len(encoded), hash(encoded)


@dataclass(slots=True)
class _Job:
    future: Future[tuple[QImage | None, str]]
    askers: set[object]


class Pictures(QObject):
    """Decodes pictures one after the other and caches the latest.

    The worker thread uses no Qt objects, and a timer collects its results here. So a window can close without waiting.

    Signals:
        decoded(object): the picture of this key is available.
    """

    decoded = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cache: OrderedDict[PictureKey, tuple[QImage | None, str]] = OrderedDict()
        self._jobs: dict[PictureKey, _Job] = {}
        # One thread: parallel decoding would multiply the peak memory.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="pictures")
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._collect)
        # Without waiting: a picture in progress would keep the window from closing.
        self.destroyed.connect(partial(self._executor.shutdown, wait=False, cancel_futures=True))

    def decoded_picture(self, key: PictureKey) -> tuple[QImage | None, str] | None:
        """Returns the picture and its error text; None before decoding."""
        found = self._cache.get(key)
        if found is not None:
            self._cache.move_to_end(key)
        return found

    def knows(self, key: PictureKey) -> bool:
        """Returns True if a picture is decoded or queued."""
        return key in self._cache or key in self._jobs

    def request_picture(self, block: Block, asker: object) -> None:
        """Queues a picture; `decoded` follows."""
        self._submit(key_of(block), lambda: _decode(block.data()), asker)

    def request_bytes(self, key: PictureKey, data: bytes, asker: object) -> None:
        """Queues a picture by its bytes; `decoded` follows."""
        self._submit(key, lambda: _decode(data or None), asker)

    def _submit(self, key: PictureKey, decode: Callable[[], tuple[QImage | None, str]], asker: object) -> None:
        if key in self._jobs:
            self._jobs[key].askers.add(asker)
            return
        self._jobs[key] = _Job(self._executor.submit(decode), {asker})
        self._timer.start()

    def give_up(self, keys: Iterable[PictureKey], asker: object) -> None:
        """Withdraws requests; pictures without other requests are not decoded."""
        for key in keys:
            job = self._jobs.get(key)
            if job is None:
                continue
            job.askers.discard(asker)
            # A decode in progress cannot be cancelled; its result goes into the cache.
            if not job.askers and job.future.cancel():
                del self._jobs[key]

    def _collect(self) -> None:
        done = [key for key, job in self._jobs.items() if job.future.done()]
        for key in done:
            self._cache[key] = self._jobs.pop(key).future.result()
        room = _CACHE_BYTES - sum(image.sizeInBytes() for image, _ in self._cache.values() if image is not None)
        # Pictures just decoded stay, however large they are.
        while room < 0 and len(self._cache) > len(done):
            image, _ = self._cache.popitem(last=False)[1]
            room += image.sizeInBytes() if image is not None else 0
        if not self._jobs:
            self._timer.stop()
        for key in done:
            self.decoded.emit(key)


def _decode(data: bytes | None) -> tuple[QImage | None, str]:
    if data is None:
        return None, "its data cannot be decoded"
    image, _, reason = decode_picture(data)
    return image, reason


_MAX_HEIGHT = 320
_CHECKER_SIDE = 8


class PictureView(QWidget):
    """Picture at most as wide as the panel, never enlarged; a checkerboard shows transparency.

    Attributes:
        image: the picture; None before decoding, with its space reserved.
    """

    def __init__(
        self, themes: ThemeController, size: QSize, label: str, name: str, parent: QWidget | None = None
    ) -> None:
        """Reserves space for a picture of `size` pixels."""
        super().__init__(parent)
        self._themes = themes
        self._size = shown_size(size)
        self.image: QImage | None = None
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_image(self, image: QImage) -> None:
        self.image, self._size = image, image.size()
        self.updateGeometry()
        self.update()

    def _shown_size(self, width: int) -> QSize:
        size = self._size
        room = QSize(max(width, 1), round(_MAX_HEIGHT * self._themes.theme.zoom))
        if size.width() > room.width() or size.height() > room.height():
            size = size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        return size.expandedTo(QSize(1, 1))

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, self._shown_size(max(self.width(), 100) - 2).height() + 2)

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
        size = self._shown_size(self.width() - 2)
        box = QRect(1, 1, size.width(), size.height())
        if self.image is None:
            painter.fillRect(box, theme.color("surface.inset"))
        elif self.image.hasAlphaChannel():
            painter.fillRect(box, theme.color("surface.base"))
            light = theme.color("surface.inset")
            for row in range(0, box.height(), _CHECKER_SIDE):
                for column in range(row // _CHECKER_SIDE % 2 * _CHECKER_SIDE, box.width(), 2 * _CHECKER_SIDE):
                    painter.fillRect(QRect(1 + column, 1 + row, _CHECKER_SIDE, _CHECKER_SIDE).intersected(box), light)
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
        if self.image is not None:
            QGuiApplication.clipboard().setImage(self.image)
