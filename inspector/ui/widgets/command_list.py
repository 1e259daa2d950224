"""List of commands, one a line: group, title, and keys at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from typing_extensions import override

from inspector.present.wire_text import safe_line
from inspector.ui.look.empty_text import EmptyText
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import ThemeController

Index = QModelIndex | QPersistentModelIndex
_GROUP_WIDTH = 92
_MAX_LENGTH = 300


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command.

    Attributes:
        id: internal id.
        group: its menu, or "Presets".
        title: its name.
        keys: its shortcuts in the desktop's words.
        detail: further text after the title.
        usable: False if it is disabled now.
        checked: it is a switch that is on.
        lit: positions of title characters that match the query.
        words: further search terms.
    """

    id: str
    group: str
    title: str
    keys: tuple[str, ...] = ()
    detail: str = ""
    usable: bool = True
    checked: bool = False
    lit: tuple[int, ...] = ()
    words: str = ""


class CommandListModel(QAbstractListModel):
    """Model of the commands.

    Attributes:
        lines: commands in order.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: list[CommandEntry] = []

    def show(self, lines: Sequence[CommandEntry]) -> None:
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.lines)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        line = self.lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return safe_line(line.title, _MAX_LENGTH)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            state = ("on" if line.checked else "") if line.usable else "not now"
            title, detail = safe_line(line.title, _MAX_LENGTH), safe_line(line.detail, _MAX_LENGTH)
            return ", ".join(filter(None, (title, detail, line.group, " or ".join(line.keys), state)))
        return None


class CommandDelegate(QStyledItemDelegate):
    """Paints the group in tertiary ink, the title, and each key in a frame."""

    def __init__(self, model: CommandListModel, theme_controller: ThemeController, parent: QListView) -> None:
        super().__init__(parent)
        self._model = model
        self._themes = theme_controller

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self._themes.theme.metrics.control)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, line = self._themes.theme, self._model.lines[index.row()]
        # The type stubs lack the fields of style options.
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        paint_ground(
            painter, theme, box,
            selected=bool(state & QStyle.StateFlag.State_Selected),
            hovered=bool(state & QStyle.StateFlag.State_MouseOver),
        )  # fmt: skip
        side = round(12 * theme.zoom)
        left = box.x() + side
        right = self._paint_keys(painter, line, box.x() + box.width() - side, box.y(), box.height())
        group = round(_GROUP_WIDTH * theme.zoom)
        self._write(painter, "body", "ink.tertiary", left, box, line.group, group - side)
        self._paint_title(painter, line, left + group, box, right - left - group - side)

    def _paint_keys(self, painter: QPainter, line: CommandEntry, right: int, top: int, height: int) -> int:
        theme = self._themes.theme
        font = theme.font("small")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        high = metrics.height() + 2
        for words in reversed(line.keys):
            wide = metrics.horizontalAdvance(words) + round(12 * theme.zoom)
            frame = QRectF(right - wide + 0.5, top + (height - high) // 2 + 0.5, wide - 1, high - 1)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("line.strong"), 1))
            painter.drawRoundedRect(frame, theme.metrics.radius_mark, theme.metrics.radius_mark)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setPen(theme.color("ink.secondary" if line.usable else "ink.disabled"))
            painter.drawText(frame, int(Qt.AlignmentFlag.AlignCenter), words)
            right -= wide + theme.metrics.unit
        return right

    def _paint_title(self, painter: QPainter, line: CommandEntry, left: int, box: QRect, room: int) -> None:
        theme = self._themes.theme
        ink = "ink.primary" if line.usable else "ink.disabled"
        title = f"✓ {line.title}" if line.checked else line.title
        moved = 2 if line.checked else 0
        plain_title = safe_line(title, _MAX_LENGTH)
        if plain_title != title or not line.lit:
            used = self._write(painter, "body", ink, left, box, plain_title, room)
        else:
            used = self._write_lit(painter, ink, left, box, title, frozenset(n + moved for n in line.lit), room)
        if line.detail and used + 16 < room:
            start = left + used + round(10 * theme.zoom)
            self._write(
                painter, "small", "ink.tertiary", start, box, safe_line(line.detail, _MAX_LENGTH), left + room - start
            )

    def _write_lit(
        self, painter: QPainter, ink: str, left: int, box: QRect, title: str, lit: frozenset[int], room: int
    ) -> int:
        used, start = 0, 0
        while start < len(title) and used < room:
            stop, on = start + 1, start in lit
            while stop < len(title) and (stop in lit) is on:
                stop += 1
            token = "accent.text" if on else ink
            used += self._write(painter, "body", token, left + used, box, title[start:stop], room - used, strong=on)
            start = stop
        return used

    def _write(
        self, painter: QPainter, role: str, token: str, left: int, box: QRect, text: str, room: int, *,
        strong: bool = False,
    ) -> int:  # fmt: skip
        """Draws one elided run of text. Returns its width in pixels."""
        theme = self._themes.theme
        font = QFont(theme.font("body" if strong else role))
        if strong:
            font.setWeight(QFont.Weight.DemiBold)
        metrics = QFontMetrics(font)
        shown = text
        if metrics.horizontalAdvance(text) > room:
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, room))
        painter.setFont(font)
        painter.setPen(theme.color(token))
        painter.drawText(left, box.y(), max(0, room) + 2, box.height(), int(Qt.AlignmentFlag.AlignVCenter), shown)
        return metrics.horizontalAdvance(shown)


class CommandList(QListView):
    """List view of commands.

    Attributes:
        lines: the model.
    """

    def __init__(self, theme_controller: ThemeController, *, name: str, label: str, parent: QWidget) -> None:
        """Makes an empty list.

        Args:
            theme_controller: source of the look.
            name: object name.
            label: accessible name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._empty = EmptyText()
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # Without it Qt measures every line on each change of the query.
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.lines = CommandListModel(self)
        self.setModel(self.lines)
        self.setItemDelegate(CommandDelegate(self.lines, theme_controller, self))

    def show_lines(self, lines: Sequence[CommandEntry], current: str = "") -> None:
        """Shows commands and selects the one with this id, else the first."""
        self.lines.show(lines)
        row = next((n for n, line in enumerate(lines) if line.id == current), 0)
        if lines:
            self.setCurrentIndex(self.lines.index(row))
            self.scrollTo(self.currentIndex())

    def say_empty(self, text: str) -> None:
        self._empty.set_text(self, text)

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        super().paintEvent(e)
        if not self.lines.lines:
            self._empty.paint(self, self._themes.theme, 2 * self._themes.theme.metrics.unit)

    def line(self) -> CommandEntry | None:
        """Returns the selected command, or None."""
        row = self.currentIndex().row()
        return self.lines.lines[row] if 0 <= row < len(self.lines.lines) else None

    def step(self, by: int, *, around: bool = True) -> None:
        """Moves the selection, wrapping at the ends if `around`."""
        count = len(self.lines.lines)
        if count:
            row = self.currentIndex().row() + by
            self.setCurrentIndex(self.lines.index(row % count if around else max(0, min(count - 1, row))))
