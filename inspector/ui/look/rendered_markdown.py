"""Renders Markdown into a text document with the program's fonts and colours."""

from __future__ import annotations

from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextTable,
)

from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import Theme

_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_BAR_PLACEHOLDER = "\ue07c"
"""Replaces an escaped bar in tables during parsing: in code Qt would show its backslash, too."""
_MAX_WEIGHT = QFont.Weight.DemiBold
"""Heaviest weight of the program's fonts; Qt draws heavier text twice, one pixel apart."""


def render_markdown(document: QTextDocument, text: str, theme: Theme, *, pictures: bool = False) -> None:
    """Renders Markdown without HTML, in the program's fonts.

    Args:
        document: its content is replaced.
        text: Markdown.
        theme: source of fonts and colours.
        pictures: keep pictures; otherwise their names replace them.
    """
    lines = [
        line.replace("\\|", _BAR_PLACEHOLDER) if line.lstrip().startswith("|") else line for line in text.split("\n")
    ]
    document.setMarkdown("\n".join(lines), _FEATURES)
    document.setIndentWidth(theme.metrics.indent)
    edit = QTextCursor(document)
    edit.beginEditBlock()  # lays the document out once; otherwise every cell change lays out its whole table
    _restore_bars(document)
    _quiet_tables(document, theme)
    _tidy_blocks(document, theme, pictures=pictures)
    edit.endEditBlock()


def _restore_bars(document: QTextDocument) -> None:
    place = document.find(_BAR_PLACEHOLDER)
    while not place.isNull():
        place.insertText("|", place.charFormat())
        place = document.find(_BAR_PLACEHOLDER, place)


def _quiet_tables(document: QTextDocument, theme: Theme) -> None:
    """Draws tables with hairlines of the theme; Qt's own are as dark as the text."""
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            layout = frame.format().toTableFormat()
            layout.setBorderBrush(theme.color("line.strong"))
            layout.setBorderCollapse(True)
            layout.setBorder(1)
            layout.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)  # Qt's default is raised
            layout.setCellPadding(theme.metrics.unit)
            layout.setTopMargin(theme.metrics.unit)
            layout.setBottomMargin(theme.metrics.unit)
            frame.setFormat(layout)
            _restore_first_cell(frame)


def _restore_first_cell(table: QTextTable) -> None:
    """Removes the empty line that Qt puts into the first cell of a table after code or a quote, without its weight."""
    cell = table.cellAt(0, 0)
    cursor = cell.firstCursorPosition()
    if cursor.block() == cell.lastCursorPosition().block():
        return
    cursor.deleteChar()
    cursor.setPosition(cell.lastCursorPosition().position(), QTextCursor.MoveMode.KeepAnchor)
    bold = QTextCharFormat()
    bold.setFontWeight(_MAX_WEIGHT)
    cursor.mergeCharFormat(bold)


def _tidy_blocks(document: QTextDocument, theme: Theme, *, pictures: bool) -> None:
    mono = theme.font("mono-row")
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        layout = block.blockFormat()
        level = layout.headingLevel()
        layout.setTopMargin((3 * theme.metrics.unit if level else theme.metrics.unit) if block.position() else 0)
        layout.setBottomMargin(theme.metrics.unit // 2)
        quoted = int(layout.property(QTextFormat.Property.BlockQuoteLevel) or 0)
        if quoted:  # Qt adds 40 pixels for each level on both sides
            layout.setLeftMargin(quoted * theme.metrics.indent)
            layout.setRightMargin(0)
        code = layout.hasProperty(QTextFormat.Property.BlockCodeLanguage) or layout.hasProperty(
            QTextFormat.Property.BlockCodeFence
        )
        if code:
            layout.setNonBreakableLines(False)
            layout.setBackground(theme.color("surface.inset"))
            layout.setTopMargin(0)
            layout.setBottomMargin(0)
        cursor.setBlockFormat(layout)
        for start, end, style in _fragments(block):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            if style.isImageFormat() and pictures:
                continue
            if style.isImageFormat():
                name = style.toImageFormat().name()[:200]
                cursor.insertText(f"[picture: {safe_line(name, 200)}]", QTextCharFormat())
            elif level:
                # Otherwise Qt would enlarge the heading's font once more.
                style.clearProperty(QTextFormat.Property.FontSizeAdjustment)
                style.setFont(_heading_font(theme, level))
                cursor.setCharFormat(style)
            elif code or style.fontFixedPitch():
                style.setFont(mono)
                cursor.setCharFormat(style)
            elif style.fontWeight() > _MAX_WEIGHT:
                style.setFontWeight(_MAX_WEIGHT)
                cursor.setCharFormat(style)
        block = block.next()


_HEADING_SIZES = (1.3, 1.15, 1.0)
"""Sizes by level, relative to the program's own headings."""


def _heading_font(theme: Theme, level: int) -> QFont:
    font = QFont(theme.font("heading"))
    size = _HEADING_SIZES[min(level, len(_HEADING_SIZES)) - 1]
    if font.pixelSize() > 0:
        font.setPixelSize(round(font.pixelSize() * size))
    else:
        font.setPointSizeF(font.pointSizeF() * size)
    return font


def _fragments(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """Returns (start, end, format) of each fragment, last first, so that replacing one keeps other positions valid."""
    found: list[tuple[int, int, QTextCharFormat]] = []
    place = block.begin()
    while not place.atEnd():
        fragment = place.fragment()
        found.append((fragment.position(), fragment.position() + fragment.length(), fragment.charFormat()))
        place += 1
    return found[::-1]
