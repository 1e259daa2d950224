"""Icons from the Remix icon font, drawn in one colour at any size.

QtAwesome does the same, but its QtPy layer wraps every class of three Qt modules, a quarter of the start time. Only its
Remix font and its map of names are used (`resources/fonts`).
"""

from __future__ import annotations

import json
import logging
from functools import cache

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap
from typing_extensions import override

from inspector.base import paths

_log = logging.getLogger(__name__)


def glyph_icon(name: str, *, off: QColor, on: QColor, disabled: QColor) -> QIcon:
    """Makes an icon of one glyph.

    Args:
        name: name in the Remix set ("folder-open-line").
        off: colour at rest.
        on: colour while its button is checked.
        disabled: colour while disabled.

    Raises:
        KeyError: if there is no such glyph.
    """
    return QIcon(_GlyphEngine(_characters()[name], off, on, disabled))


class _GlyphEngine(QIconEngine):
    """Draws one character of the font, as high as the icon."""

    def __init__(self, character: str, off: QColor, on: QColor, disabled: QColor) -> None:
        super().__init__()
        self._character = character
        self._off, self._on, self._disabled = off, on, disabled

    @override
    def clone(self) -> QIconEngine:
        return _GlyphEngine(self._character, self._off, self._on, self._disabled)

    @override
    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        resting = self._on if state == QIcon.State.On else self._off
        font = QFont(_family())
        font.setPixelSize(max(1, rect.height()))
        painter.save()
        painter.setFont(font)
        painter.setPen(self._disabled if mode == QIcon.Mode.Disabled else resting)
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), self._character)
        painter.restore()

    @override
    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        drawn = QPixmap(size)
        if drawn.isNull():
            return drawn  # requested by a button without room
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return drawn


@cache
def _characters() -> dict[str, str]:
    codes = json.loads(paths.resource("fonts", "RemixIcon.json").read_bytes())
    return {name: chr(int(code, 16)) for name, code in codes.items()}


@cache  # Qt would load the file again at each call
def _family() -> str:
    """Loads the font and returns its family. Needs a QGuiApplication."""
    number = QFontDatabase.addApplicationFont(str(paths.resource("fonts", "RemixIcon.ttf")))
    if number < 0:
        _log.error("the bundled font of the icons could not be loaded")
        return ""
    return QFontDatabase.applicationFontFamilies(number)[0]
