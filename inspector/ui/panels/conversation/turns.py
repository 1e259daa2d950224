"""The list of turns beside a conversation: prompt, time of models, tools and the person, calls and failures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.engine.requests.turns import DescribePrompts, Turn, Turns
from inspector.present import formats
from inspector.present.states import BY_USER
from inspector.protocol.timestamps import NO_TIME
from inspector.ui.look.hatch import paint_hatch
from inspector.ui.look.text_flags import LEFT
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.widgets.asked_rows import AskedRows
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.variable_height_view import VariableHeightView

_KEYS = Qt.Key
_GAP_NS = 60_000_000_000
"""Shortest pause between two turns that has a row."""
_PROMPT_LINES = 2
_BAR = 6
_ROOT = QModelIndex()
TURN_TIME = "the time in which any step of the turn ran, as in Steps"


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A row of the list: a turn, or the pause before one.

    Attributes:
        number: place of the turn, from 0.
        turn: the turn; None for a pause.
        prompt: first words of its prompt; None before they have arrived.
        pause_ns: length of the pause.
    """

    number: int
    turn: Turn | None
    prompt: str | None = None
    pause_ns: int = 0


def fact_words(turn: Turn) -> list[tuple[str, str]]:
    """Returns the facts below a turn's bar, each with the token of its colour."""
    facts: list[tuple[str, str]] = []
    if turn.took_ns >= 0:
        facts.append((formats.duration(turn.took_ns), "ink.tertiary"))
    if turn.calls:
        facts.append((formats.count_of(turn.calls, "call"), "ink.tertiary"))
    if turn.agents:
        facts.append((formats.count_of(turn.agents, "agent"), "ink.tertiary"))
    if turn.failed:
        facts.append((f"{turn.failed:,} failed", "severity.error"))
    if turn.rejected:
        facts.append((f"{turn.rejected:,} {BY_USER}", "severity.warning"))
    return facts


def fitting_facts(turn: Turn, metrics: QFontMetrics, width: int) -> list[tuple[str, str]]:
    """Returns the facts that fit a width. Failures and rejections stay longest, since they are sought."""
    facts = fact_words(turn)
    plain = [one for one in facts if one[1] == "ink.tertiary"]
    while plain and metrics.horizontalAdvance(" · ".join(words for words, _token in facts)) > width:
        facts.remove(plain.pop())
    return facts


def turn_text(row: TurnRow) -> str:
    """Returns a row in words, for screen readers."""
    if row.turn is None:
        return pause_words(row.pause_ns)
    turn = row.turn
    facts = ", ".join(words for words, _token in fact_words(turn))
    return f"Turn {row.number + 1}: {row.prompt or ''}" + (f". {facts}" if facts else "")


def pause_words(pause_ns: int) -> str:
    return f"{formats.duration(pause_ns)} until your next prompt"


class TurnsModel(QAbstractListModel):
    """The rows of the list: turns, with long pauses between them. Prompts are asked for as they come into sight.

    Attributes:
        turns: the turns; None before the first answer.
    """

    def __init__(self, client: Client, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.turns: Turns | None = None
        self._numbers = np.zeros(0, np.int64)
        self._pauses = np.zeros(0, np.int64)
        self._rows = np.zeros(0, np.int64)
        self._prompts = AskedRows[str](client, self._question, self._on_arrived)

    def _question(self, start: int, stop: int) -> DescribePrompts:
        assert self.turns is not None
        return DescribePrompts(tuple(self.turns.messages[start:stop].tolist()))

    def _on_arrived(self, start: int, stop: int) -> None:
        stop = min(stop, self.count)
        if start < stop:
            self.dataChanged.emit(self.index(int(self._rows[start])), self.index(int(self._rows[stop - 1])))

    @property
    def count(self) -> int:
        """Number of turns."""
        return 0 if self.turns is None else len(self.turns)

    def show(self, turns: Turns) -> None:
        """Shows turns. Those at the beginning of a longer list keep their rows."""
        pauses = np.zeros(len(turns), np.int64)
        starts, stops = turns.starts_ns[1:], turns.stops_ns[:-1]
        known = (starts != NO_TIME) & (stops != NO_TIME)
        pauses[1:][known] = starts[known] - stops[known]
        pauses[pauses < _GAP_NS] = 0
        # A pause has a row before the row of its turn.
        rows = np.arange(len(turns)) + np.cumsum(pauses > 0)
        numbers = np.repeat(np.arange(len(turns)), 1 + (pauses > 0))
        is_turn = np.zeros(len(numbers), np.bool_)
        is_turn[rows] = True
        pauses = np.where(is_turn, 0, pauses[numbers])
        kept = len(self._numbers)
        if not kept or len(numbers) < kept:
            self.beginResetModel()
            self._set(turns, rows, numbers, pauses)
            self._prompts.clear()
            self.endResetModel()
            return
        if len(numbers) > kept:
            self.beginInsertRows(_ROOT, kept, len(numbers) - 1)
        self._set(turns, rows, numbers, pauses)
        self._prompts.renew()
        if len(numbers) > kept:
            self.endInsertRows()
        self.dataChanged.emit(self.index(0), self.index(kept - 1))

    def _set(
        self, turns: Turns, rows: NDArray[np.int64], numbers: NDArray[np.int64], pauses: NDArray[np.int64]
    ) -> None:  # fmt: skip
        self.turns, self._rows, self._numbers, self._pauses = turns, rows, numbers, pauses

    def row_of(self, number: int) -> int:
        """Returns the row of a turn, or -1."""
        return int(self._rows[number]) if 0 <= number < self.count else -1

    def row(self, row: int) -> TurnRow:
        """Returns a row."""
        number, pause_ns = int(self._numbers[row]), int(self._pauses[row])
        if pause_ns or self.turns is None:
            return TurnRow(number, None, pause_ns=pause_ns)
        return TurnRow(number, self.turns[number], self._prompts.row(number))

    def are_pauses(self, first: int, stop: int) -> NDArray[np.bool_]:
        """(n,) bool: True for rows that are pauses."""
        return self._pauses[first:stop] > 0

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._numbers)

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) and index.isValid():
            return turn_text(self.row(index.row()))
        if role == Qt.ItemDataRole.ToolTipRole and index.isValid():
            turn = self.row(index.row()).turn
            known = turn is not None and turn.took_ns >= 0
            return f"{formats.duration(turn.took_ns)}: {TURN_TIME}" if turn is not None and known else None
        return None


class TurnsView(VariableHeightView):
    """The list of turns.

    Signals:
        turn_requested(int): go to this turn.
        menu_asked(int, QPoint): show the menu of this turn at this position on the screen.
        left(): Esc was pressed.
    """

    turn_requested = Signal(int)
    menu_asked = Signal(int, object)
    left = Signal()

    def __init__(self, model: TurnsModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turns = model
        self._themes = themes
        self._shown = -1
        self.setObjectName("conversationTurns")
        self.setAccessibleName("Turns")
        self.setProperty("variant", "base")
        self.setFrameShape(VariableHeightView.Shape.NoFrame)
        self.setModel(model)
        self._at_end = False
        themes.changed.connect(self._reset_layout)

    @override
    def reset(self) -> None:
        super().reset()
        # Other lists follow their end.
        self._at_end = False
        self.verticalScrollBar().setValue(0)

    def mark_turn(self, number: int) -> None:
        """Marks the turn at the top of the conversation; the keyboard's row stays while the list has the focus."""
        if number != self._shown:
            self._shown = number
            row = self._turns.row_of(number)
            if row >= 0 and not self.hasFocus():
                self.show_row(row)
            self.viewport().update()

    # Layout

    @property
    def _padding(self) -> int:
        return self._themes.theme.metrics.pane_padding

    def _px(self, plain: float) -> int:
        return round(plain * self._themes.theme.zoom)

    @override
    def expected(self, first: int, stop: int) -> NDArray[np.int64]:
        return np.where(self._turns.are_pauses(first, stop), self._pause_height(), self._turn_height(1))

    @override
    def measured(self, row: int) -> int:
        found = self._turns.row(row)
        if found.turn is None:
            return self._pause_height()
        return self._turn_height(len(self._prompt_lines(found, self._row_width)))

    def _turn_height(self, lines: int) -> int:
        theme = self._themes.theme
        line, small = (QFontMetrics(theme.font(role)).height() for role in ("body", "small"))
        return self._px(10) + lines * line + self._px(6 + _BAR + 6) + small + self._px(9)

    def _pause_height(self) -> int:
        return QFontMetrics(self._themes.theme.font("small")).height() + self._px(8)

    def _prompt_lines(self, row: TurnRow, width: int) -> list[str]:
        """Returns the first lines of a prompt, wrapped; the last one is elided."""
        theme = self._themes.theme
        if row.turn is None:
            return []
        metrics = QFontMetrics(theme.font("body"))
        room = width - 2 * self._padding - self._number_width(row)
        text = "(empty prompt)" if row.prompt == "" else row.prompt or " "
        layout = QTextLayout(text, theme.font("body"))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        lines: list[str] = []
        units = text.encode("utf-16-le", "surrogatepass")
        while len(lines) < _PROMPT_LINES:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(max(20, room))
            start, length = line.textStart(), line.textLength()
            if len(lines) == _PROMPT_LINES - 1:
                length = len(units) // 2 - start
            piece = units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace").strip()
            lines.append(metrics.elidedText(piece, Qt.TextElideMode.ElideRight, max(20, room)))
        layout.endLayout()
        return lines or [""]

    def _number_width(self, row: TurnRow) -> int:
        return QFontMetrics(self._themes.theme.font("body-strong")).horizontalAdvance(f"{row.number + 1}") + self._px(8)

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.color("surface.base"))
        for row in self.rows_in_sight():
            found, rect = self._turns.row(row), self._rect(row)
            if found.turn is None:
                self._paint_pause(painter, found, rect)
            else:
                self._paint_turn(painter, found, found.turn, rect)
                if self.hasFocus() and row == self.currentIndex().row():
                    painter.setPen(theme.color("accent.ring"))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def _paint_pause(self, painter: QPainter, row: TurnRow, rect: QRect) -> None:
        theme = self._themes.theme
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        box = rect.adjusted(self._padding, 0, -self._padding, 0)
        words, metrics = pause_words(row.pause_ns), painter.fontMetrics()
        framed = f"— {words} —"
        words = framed if metrics.horizontalAdvance(framed) <= box.width() else words
        painter.drawText(box, LEFT, metrics.elidedText(words, Qt.TextElideMode.ElideRight, box.width()))

    def _paint_turn(self, painter: QPainter, row: TurnRow, turn: Turn, rect: QRect) -> None:
        theme = self._themes.theme
        if row.number == self._shown:
            painter.fillRect(rect, theme.color("accent.wash" if self.hasFocus() else "accent.washdim"))
            painter.fillRect(rect.x(), rect.y(), theme.metrics.selection_bar + 1, rect.height(),
                             theme.color("accent.fill"))  # fmt: skip
        left, top = rect.x() + self._padding, rect.y() + self._px(10)
        width = rect.width() - 2 * self._padding
        line = QFontMetrics(theme.font("body")).height()
        number = self._number_width(row)
        _draw(painter, theme.font("body-strong"), theme.color("ink.primary"), QRect(left, top, number, line),
              f"{row.number + 1}")  # fmt: skip
        for text in self._prompt_lines(row, rect.width()):
            _draw(painter, theme.font("body"), theme.color("ink.primary"),
                  QRect(left + number, top, width - number, line), text)  # fmt: skip
            top += line
        top += self._px(6)
        _paint_split(painter, theme, turn, QRectF(left, top, width, self._px(_BAR)))
        top += self._px(_BAR + 6)
        small = theme.font("small")
        metrics, x = QFontMetrics(small), left
        for place, (words, token) in enumerate(fitting_facts(turn, metrics, width)):
            text = f" · {words}" if place else words
            room = left + width - x
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, room))
            _draw(painter, small, theme.color(token), QRect(x, top, room, metrics.height()), shown)
            x += metrics.horizontalAdvance(text)

    # Input

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), _KEYS(event.key())
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
        elif key == _KEYS.Key_Escape:
            self.left.emit()
        elif key in (_KEYS.Key_Return, _KEYS.Key_Enter):
            self._choose(row)
        elif self._navigate(row, key):
            self._skip_pause(1 if key in (_KEYS.Key_Down, _KEYS.Key_PageDown, _KEYS.Key_Home) else -1)
            self._choose(self.currentIndex().row())
        else:
            event.ignore()

    def _skip_pause(self, step: int) -> None:
        row = self.currentIndex().row()
        if 0 <= row < self._turns.rowCount() and self._turns.row(row).turn is None:
            self.show_row(row + step)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and event.button() is Qt.MouseButton.LeftButton:
            self.show_row(index.row(), quietly=True)
            self._choose(index.row())

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid() and self._turns.row(index.row()).turn is not None:
            at = self.visualRect(index).center() if keyboard else event.pos()
            self.menu_asked.emit(self._turns.row(index.row()).number, self.viewport().mapToGlobal(at))

    def _choose(self, row: int) -> None:
        if 0 <= row < self._turns.rowCount():
            self.turn_requested.emit(self._turns.row(row).number)


class Legend(QWidget):
    """Colours of the bars."""

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setAccessibleName(
            "Blue: model. Green: tools, hatched: with your permission. Hatched: waiting for a decision."
        )
        themes.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(self._themes.theme.metrics.row + 4)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.base"))
        font = theme.font("small")
        metrics, x = QFontMetrics(font), theme.metrics.pane_padding
        side = round(8 * theme.zoom)
        for brush, words in (
            (QBrush(theme.color("accent.fill")), "model"), (QBrush(theme.color("family.tools")), "tools"),
            (None, "decisions"),
        ):  # fmt: skip
            box = QRectF(x, (self.height() - side) / 2, side, side)
            if brush is None:
                paint_hatch(painter, theme, box)
            else:
                painter.fillRect(box, brush)
            x += side + round(4 * theme.zoom)
            _draw(painter, font, theme.color("ink.secondary"), QRect(x, 0, self.width() - x, self.height()), words)
            x += metrics.horizontalAdvance(words) + round(10 * theme.zoom)


def _draw(painter: QPainter, font: QFont, ink: QColor, box: QRect, text: str) -> None:
    painter.setFont(font)
    painter.setPen(ink)
    painter.drawText(box, LEFT, text)


def _paint_split(painter: QPainter, theme: Theme, turn: Turn, box: QRectF) -> None:
    """Paints the bar of a turn: the shares of model, tools and waiting."""
    total = turn.model_ns + turn.tools_ns + turn.allowed_ns + turn.person_ns
    painter.save()
    radius = box.height() / 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("line.hair"))
    painter.drawRoundedRect(box, radius, radius)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    x = box.left()
    for share, token, hatched in (
        (turn.model_ns, "accent.fill", False), (turn.tools_ns, "family.tools", False),
        (turn.allowed_ns, "family.tools", True), (turn.person_ns, "", True),
    ):  # fmt: skip
        width = box.width() * share / total if total else 0
        part = QRectF(x, box.top(), width, box.height())
        if width > 0 and hatched:
            paint_hatch(painter, theme, part, token)
        elif width > 0:
            painter.fillRect(part, theme.color(token))
        x += width
    painter.restore()
