"""Sets rendered Markdown in the type and colours of the program."""

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

from inspector.present.wire_text import plain
from inspector.ui.look.theme import Theme

_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_BAR = "\ue07c"
"""Stands for an escaped bar of a table while Qt parses: in code Qt shows the backslash, too."""
_HEAVIEST = QFont.Weight.DemiBold
"""Of the program's fonts; Qt draws heavier text twice, one pixel apart."""


def render_markdown(document: QTextDocument, text: str, theme: Theme, *, pictures: bool = False) -> None:
    """Renders Markdown with HTML off, in the program's own type.

    Args:
        document: filled anew.
        text: Markdown.
        theme: gives fonts and colours.
        pictures: keep pictures; otherwise their names replace them.
    """
    lines = [line.replace("\\|", _BAR) if line.lstrip().startswith("|") else line for line in text.split("\n")]
    document.setMarkdown("\n".join(lines), _FEATURES)
    document.setIndentWidth(theme.metrics.indent)
    edit = QTextCursor(document)
    edit.beginEditBlock()  # lays the document out once; every change of a cell lays a whole table out
    _restore_bars(document)
    _quiet_tables(document, theme)
    _tidy_blocks(document, theme, pictures=pictures)
    edit.endEditBlock()


def _restore_bars(document: QTextDocument) -> None:
    place = document.find(_BAR)
    while not place.isNull():
        place.insertText("|", place.charFormat())
        place = document.find(_BAR, place)


def _quiet_tables(document: QTextDocument, theme: Theme) -> None:
    """Draws tables with hairlines of the theme; Qt's own are as dark as the text."""
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            layout = frame.format().toTableFormat()
            layout.setBorderBrush(theme.color("line.strong"))
            layout.setBorderCollapse(True)
            layout.setBorder(1)
            layout.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)  # Qt's own is raised
            layout.setCellPadding(theme.metrics.unit)
            layout.setTopMargin(theme.metrics.unit)
            layout.setBottomMargin(theme.metrics.unit)
            frame.setFormat(layout)


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
        if quoted:  # Qt leaves 40 pixels a level on both sides
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
                cursor.insertText(f"[picture: {plain(name, 200)}]", QTextCharFormat())
            elif level:
                style.clearProperty(QTextFormat.Property.FontSizeAdjustment)
                style.setFont(_heading_font(theme, level))
                cursor.setCharFormat(style)
            elif code or style.fontFixedPitch():
                style.setFont(mono)
                cursor.setCharFormat(style)
            elif style.fontWeight() > _HEAVIEST:
                style.setFontWeight(_HEAVIEST)
                cursor.setCharFormat(style)
        block = block.next()


_HEADING_SIZES = (1.3, 1.15, 1.0)
"""Of the program's own headings, by level."""


def _heading_font(theme: Theme, level: int) -> QFont:
    font = QFont(theme.font("heading"))
    size = _HEADING_SIZES[min(level, len(_HEADING_SIZES)) - 1]
    if font.pixelSize() > 0:
        font.setPixelSize(round(font.pixelSize() * size))
    else:
        font.setPointSizeF(font.pointSizeF() * size)
    return font


def _fragments(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """(start, end, format) of each stretch of one look, last first: replacing one leaves the others in place."""
    found: list[tuple[int, int, QTextCharFormat]] = []
    place = block.begin()
    while not place.atEnd():
        fragment = place.fragment()
        found.append((fragment.position(), fragment.position() + fragment.length(), fragment.charFormat()))
        place += 1
    return found[::-1]
