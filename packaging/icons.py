"""The program's icon in the forms systems want, drawn from the one SVG: PNG in sizes, .ico and .icns."""

from __future__ import annotations

import os
import struct
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QByteArray, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Of the freedesktop icon theme."""

_ICO_SIZES = (16, 20, 24, 32, 40, 48, 64, 256)
_ICNS_TYPES = (
    (b"icp4", 16), (b"icp5", 32), (b"ic11", 32), (b"ic12", 64), (b"ic07", 128), (b"ic13", 256), (b"ic08", 256),
    (b"ic14", 512), (b"ic09", 512), (b"ic10", 1024),
)  # fmt: skip
"""Kinds of pictures in an .icns file, and their sizes in pixels."""


def png(svg: Path, size: int) -> bytes:
    """The picture in a size."""
    renderer = QSvgRenderer(str(svg))
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


def ico(svg: Path) -> bytes:
    """The icon for Windows: a table of sizes, then a PNG for each."""
    pictures = [png(svg, size) for size in _ICO_SIZES]
    head = struct.pack("<HHH", 0, 1, len(pictures))
    place = len(head) + 16 * len(pictures)
    for size, picture in zip(_ICO_SIZES, pictures, strict=True):
        head += struct.pack("<BBBBHHLL", size % 256, size % 256, 0, 0, 1, 32, len(picture), place)
        place += len(picture)
    return head + b"".join(pictures)


def icns(svg: Path) -> bytes:
    """The icon for macOS: each PNG behind its kind and length."""
    pictures = [(kind, png(svg, size)) for kind, size in _ICNS_TYPES]
    parts = b"".join(kind + struct.pack(">L", 8 + len(picture)) + picture for kind, picture in pictures)
    return b"icns" + struct.pack(">L", 8 + len(parts)) + parts
