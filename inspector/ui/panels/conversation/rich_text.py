"""Writes parsed Markdown blocks into text documents with the program's fonts and colours."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFrameFormat,
    QTextOption,
    QTextTable,
    QTextTableFormat,
)

from inspector.present.conversation.blocks import (
    Block,
    CodeBlock,
    Heading,
    ListBlock,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Run,
    Runs,
    RunStyle,
    Table,
)
from inspector.ui.look.theme import Theme
from inspector.ui.panels.conversation.text_pieces import SealedDocument, block_format, new_document, reading_font

_HEADING_SIZES = (1.3, 1.15, 1.0)
"""Sizes by level, relative to the reading font."""
_CHECKED, _UNCHECKED = "\u2611", "\u2610"
_BULLETS = ("\u2022", "\u25e6", "\u25aa")
_ALIGNS = {
    "left": Qt.AlignmentFlag.AlignLeft, "center": Qt.AlignmentFlag.AlignHCenter, "right": Qt.AlignmentFlag.AlignRight,
}  # fmt: skip

Flow = Sequence[Block]
"""Blocks that share a document."""


def split_blocks(blocks: Sequence[Block]) -> Iterator[CodeBlock | Table | Flow]:
    """Yields code and tables alone, and the blocks between them together."""
    flow: list[Block] = []
    for block in blocks:
        if isinstance(block, CodeBlock | Table):
            if flow:
                yield flow
            flow = []
            yield block
        else:
            flow.append(block)
    if flow:
        yield flow


class RichWriter:
    """Writes blocks into a new document.

    Attributes:
        document: the result.
    """

    def __init__(self, theme: Theme, *, italic: bool = False) -> None:
        """Starts an empty document.

        Args:
            theme: fonts and colours.
            italic: all text is italic.
        """
        self._theme = theme
        self._italic = italic
        self._font = QFont(reading_font(theme))
        self.document: SealedDocument = new_document(self._font)
        self._cursor = QTextCursor(self.document)
        self._is_first = True

    def write(self, blocks: Sequence[Block]) -> SealedDocument:
        """Writes blocks; returns the document."""
        self._cursor.beginEditBlock()
        for block in blocks:
            self._block(block, 0)
        self._cursor.endEditBlock()
        return self.document

    def write_table(self, table: Table) -> SealedDocument:
        """Writes a table; returns the document."""
        self._cursor.beginEditBlock()
        self._table(table)
        self._cursor.endEditBlock()
        return self.document

    # Blocks

    def _px(self, plain: float) -> int:
        return round(plain * self._theme.zoom)

    def _start(self, look: QTextBlockFormat) -> None:
        """Starts a paragraph; the document has one already."""
        if self._is_first:
            self._is_first = False
            look.setTopMargin(0)
            self._cursor.setBlockFormat(look)
        else:
            self._cursor.insertBlock(look, QTextCharFormat())

    def _block(self, block: Block, depth: int, *, left: int = 0) -> None:
        match block:
            case Paragraph():
                self._start(block_format(top=self._px(6), left=left))
                self._runs(block.runs)
            case Heading():
                self._start(block_format(top=self._px(10), left=left))
                self._runs(block.runs, self._heading_font(block.level))
            case CodeBlock():
                for line in block.text.split("\n"):
                    look = block_format(mono=True, left=left + self._px(8))
                    look.setBackground(self._theme.color("surface.inset"))
                    self._start(look)
                    self._cursor.insertText(line, self._code_format(fill=False))
            case ListBlock():
                self._list(block, depth, left)
            case Quote():
                for inner in block.blocks:
                    self._block(inner, depth, left=left + self._px(14))
            case Rule():
                look = block_format(top=self._px(6), left=left)
                self._start(look)
                faint = QTextCharFormat()
                faint.setForeground(self._theme.color("ink.disabled"))
                self._cursor.insertText("\u2500" * 12, faint)
            case Table():
                for cells in (block.head, *block.rows):  # inside of a list: its cells in a line
                    self._start(block_format(left=left))
                    for place, cell in enumerate(cells):
                        self._runs(((Run(" | "), *cell)) if place else cell)

    def _list(self, block: ListBlock, depth: int, left: int) -> None:
        indent = left + self._px(20)
        for place, item in enumerate(block.items):
            self._item(item, None if block.start is None else block.start + place, depth, indent)

    def _item(self, item: ListItem, number: int | None, depth: int, left: int) -> None:
        """Writes an item with a hanging mark: bullets of Qt would take the indent of their list."""
        mark = f"{number}." if number is not None else _BULLETS[min(depth, len(_BULLETS) - 1)]
        if item.checked is not None:
            mark = _CHECKED if item.checked else _UNCHECKED
        is_first = True
        for block in item.blocks or (Paragraph(()),):
            if is_first and isinstance(block, Paragraph):
                look = block_format(top=self._px(3), left=left)
                hangs = not _is_right_to_left(block.runs)  # else Qt would hang the text over the right edge
                if hangs:
                    look.setTextIndent(-self._px(16))
                    look.setTabPositions([_tab(self._px(16))])
                self._start(look)
                self._cursor.insertText(f"{mark}\t" if hangs else f"{mark} ", self._format())
                self._runs(block.runs)
            elif is_first:
                self._start(block_format(top=self._px(3), left=left))
                self._cursor.insertText(mark, self._format())
                self._block(block, depth + 1, left=left)
            else:
                self._block(block, depth + 1, left=left)
            is_first = False

    def _table(self, table: Table) -> None:
        theme, columns = self._theme, max(1, len(table.head))
        look = QTextTableFormat()
        look.setBorderBrush(theme.color("line.hair"))
        look.setBorderCollapse(True)
        look.setBorder(1)
        look.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        look.setCellPadding(theme.metrics.unit)
        look.setCellSpacing(0)
        look.setMargin(0)
        look.setHeaderRowCount(1)
        made = self._cursor.insertTable(1 + len(table.rows), columns, look)
        for row, cells in enumerate((table.head, *table.rows)):
            for column, cell in enumerate(cells[:columns]):
                self._cell(made, row, column, cell, table.aligns[column] if column < len(table.aligns) else "left")
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        last = QTextBlockFormat()
        last.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        self._cursor.setBlockFormat(last)

    def _cell(self, table: QTextTable, row: int, column: int, runs: Runs, align: str) -> None:
        cell = table.cellAt(row, column)
        self._cursor = cell.firstCursorPosition()
        look = QTextBlockFormat()
        look.setAlignment(_ALIGNS.get(align, Qt.AlignmentFlag.AlignLeft))
        self._cursor.setBlockFormat(look)
        if not row:
            fill = cell.format().toTableCellFormat()
            fill.setBackground(self._theme.color("surface.inset"))
            cell.setFormat(fill)
        self._runs(runs, self._heading_font(3) if not row else None)

    # Runs

    def _runs(self, runs: Runs, font: QFont | None = None) -> None:
        for run in runs:
            # A line end inside a paragraph.
            self._cursor.insertText(run.text.replace("\n", "\u2028"), self._format(run.style, run.link, font))

    def _format(self, style: int = 0, link: str = "", font: QFont | None = None) -> QTextCharFormat:
        if style & RunStyle.CODE:
            look = self._code_format(fill=not link)
        else:
            look = QTextCharFormat()
            used = QFont(font or self._font)
            if style & RunStyle.BOLD:
                used.setWeight(QFont.Weight.DemiBold)
            used.setItalic(self._italic or bool(style & RunStyle.ITALIC))
            used.setStrikeOut(bool(style & RunStyle.STRIKE))
            look.setFont(used)
        if link:
            look.setAnchor(True)
            look.setAnchorHref(link)
            look.setForeground(self._theme.color("accent.text"))
        return look

    def _code_format(self, *, fill: bool) -> QTextCharFormat:
        look = QTextCharFormat()
        font = QFont(self._theme.font("mono"))
        look.setFont(font)
        if fill:
            look.setBackground(self._theme.color("surface.inset" if not self._theme.dark else "surface.raised"))
        return look

    def _heading_font(self, level: int) -> QFont:
        font = QFont(self._font)
        font.setWeight(QFont.Weight.DemiBold)
        font.setPixelSize(round(self._font.pixelSize() * _HEADING_SIZES[min(level, len(_HEADING_SIZES)) - 1]))
        return font


def _is_right_to_left(runs: Runs) -> bool:
    """Returns True if the first letter with a direction is of a script from right to left."""
    directions = (unicodedata.bidirectional(letter) for run in runs for letter in run.text)
    return next((one != "L" for one in directions if one in ("L", "R", "AL")), False)


def _tab(position: float) -> QTextOption.Tab:
    return QTextOption.Tab(position, QTextOption.TabType.LeftTab)
