"""The item model of the dialog that reads a merged context: one row per entry, words for those that are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPen
from typing_extensions import override

from inspector.present.wire_text import plain, tool_tip
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.layer_words import order_words
from inspector.ui.panels.list_delegate import ListDelegate
from inspector.ui.panels.list_view import Key, ListModel

if TYPE_CHECKING:
    from inspector.msp.merged import Entry, MergedContext

_KEY = ""


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry in words; safe to show.

    Attributes:
        layer: its number, from 1.
        title: of the layer.
        text: the beginning of it.
    """

    layer: int
    title: str
    text: str
    role: str
    reason: str
    tokens: str


class EntryRows:
    """What stands in which row: entries stay as they are while they are read."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def key_at(self, row: int) -> Key:
        """What names a row."""
        return _KEY, row

    def row_of(self, key: Key) -> int:
        """The row of a key."""
        return key[1] if key[1] < self._count else -1


class EntriesModel(ListModel):
    """One row per entry of a merged context.

    Attributes:
        entries: with the number of the layer of each.
    """

    def __init__(self, merged: MergedContext, parent: QObject | None = None, *, counted: bool = True) -> None:
        super().__init__(parent)
        self._merged = merged
        self._counted = counted
        self._lines: dict[int, EntryLine] = {}
        self.entries: list[tuple[int, Entry]] = [
            (number, entry) for number, layer in enumerate(merged.layers, 1) for entry in layer.entries
        ]
        self._rows = EntryRows(len(self.entries))

    @property
    @override
    def listed(self) -> EntryRows:
        return self._rows

    def line(self, row: int) -> EntryLine:
        """A row in words."""
        found = self._lines.get(row)
        if found is None:
            number, entry = self.entries[row]
            tokens = f"{entry.tokens:,}" if self._counted else ""
            found = self._lines[row] = EntryLine(
                number, self._merged.layers[number - 1].title, order_words(entry, self._merged.rules),
                plain(entry.role, 60) or "no role", plain(entry.reason, 300), tokens,
            )  # fmt: skip
        return found

    # What a row says

    @override
    def text(self, row: int) -> str:
        return self.line(row).text

    @override
    def spoken(self, row: int) -> str:
        line = self.line(row)
        tokens = f", {line.tokens} tokens" if line.tokens else ""
        return f"Layer {line.layer}, {line.title}: {line.text}{tokens}. {line.reason}"

    @override
    def tip(self, row: int) -> str:
        line = self.line(row)
        return tool_tip(f"{line.text}\n\n{line.reason}")


class EntriesDelegate(ListDelegate):
    """Paints an entry: number of its layer, the beginning of its text, its tokens."""

    def __init__(self, model: EntriesModel, themes: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(themes, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        theme, line = self._themes.theme, self._model.line(row)
        side = round(15 * self._zoom)
        left = cell.left() + theme.metrics.pane_padding
        box = QRect(left, cell.top() + (cell.height() - side) // 2, side, side)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.strong"), 1))
        painter.drawRoundedRect(box, theme.metrics.radius_mark, theme.metrics.radius_mark)
        painter.setFont(theme.font("badge"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(line.layer))
        left += side + round(8 * self._zoom)
        right = cell.right() + 1 - theme.metrics.pane_padding
        wide = self._metrics["small"].horizontalAdvance(line.tokens) + 2
        self._draw(painter, "small", "ink.tertiary", right - wide, cell, line.tokens, wide + 2)
        room = right - wide - theme.metrics.cell_padding - left
        self._draw(painter, "body", "ink.primary", left, cell, line.text, room)
