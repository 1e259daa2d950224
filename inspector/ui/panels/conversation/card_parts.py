"""Parts of several kinds of cards: Markdown, code, pictures, links to the rest, outline and bookmark."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from inspector.present import formats
from inspector.present.code import stretches_of
from inspector.present.conversation.blocks import Block, CodeBlock, Table
from inspector.present.conversation.cards import Picture
from inspector.ui.look import icons
from inspector.ui.look.theme import Theme
from inspector.ui.panels.conversation.card_layout import CardBuilder, Shape, Words
from inspector.ui.panels.conversation.rich_text import RichWriter, split_blocks
from inspector.ui.panels.conversation.text_pieces import TextPiece, color_syntax, plain_document

MORE, PICTURE = "more", "picture"
"""Acts of zones: show all of a card's text, show a picture."""
MAX_COLORED = 20_000
"""Limit of code with syntax colours, in characters."""
_MAX_PICTURE = 320
"""Limit of a picture's height at 100 %."""


def add_blocks(
    builder: CardBuilder, blocks: Sequence[Block], *, italic: bool = False, token: str = "ink.primary", empty: str = "",
    max_lines: int = 0,
) -> None:  # fmt: skip
    """Adds Markdown: code and tables have boxes of their own."""
    theme, gap = builder.theme, builder.px(8)
    if not blocks and empty:
        add_plain_line(builder, empty)
        return
    width = builder.right - builder.left
    for place, part in enumerate(split_blocks(blocks)):
        if place:
            builder.y += gap
        if isinstance(part, CodeBlock):
            _add_code(builder, part)
        elif isinstance(part, Table):
            document = RichWriter(theme, italic=italic).write_table(part)
            builder.add_text(TextPiece.laid_out(document, builder.left, builder.y, width, builder.color(token)))
            if part.more:
                add_plain_line(builder, formats.count_of(part.more, "more row"))
        else:
            document = RichWriter(theme, italic=italic).write(part)
            builder.add_text(TextPiece.laid_out(document, builder.left, builder.y, width, builder.color(token),
                                                max_lines=max_lines))  # fmt: skip
        if max_lines:
            break


def add_plain_line(builder: CardBuilder, text: str) -> None:
    line = builder.metrics("body").height() + builder.px(2)
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, line)
    builder.words(Words(text, "body", "ink.tertiary"), rect.left(), rect, rect.width())
    builder.y += line


def _add_code(builder: CardBuilder, code: CodeBlock) -> None:
    theme, pad_x, pad_y = builder.theme, builder.px(10), builder.px(7)
    document = plain_document(code.text, theme.font("mono-row"), mono=True)
    if code.language and len(code.text) <= MAX_COLORED:
        color_syntax(document, code.text, stretches_of(code.text, code.language), theme)
    at, top = len(builder.layout.shapes), builder.y
    width = builder.right - builder.left - 2 * pad_x
    piece = builder.add_text(
        TextPiece.laid_out(document, builder.left + pad_x, top + pad_y, width, builder.color("ink.primary"))
    )
    builder.y = piece.bottom + pad_y
    rect = QRectF(builder.left, top, builder.right - builder.left, builder.y - top)
    builder.box(rect, "surface.inset", "line.hair")
    builder.layout.shapes.insert(at, builder.layout.shapes.pop())


def add_pictures(builder: CardBuilder, pictures: Sequence[Picture], *, inside: bool = False) -> None:
    """Adds pictures of the log; a click shows one in the details. Others are a line of words."""
    pad = builder.px(10) if inside else 0
    x, room = builder.left + pad, builder.right - builder.left - 2 * pad
    for picture in pictures:
        image, reason = builder.image_of(picture) or (None, "")
        builder.y += builder.px(6)
        act, words = f"{PICTURE}:{picture.message}", f"{picture.words}. Show the picture in the details"
        if image is not None:
            builder.image(image, act, x, room, builder.px(_MAX_PICTURE), words)
        else:
            told = ", ".join(filter(None, (picture.words, reason)))
            builder.link(f"Picture: {told}", act, x, builder.y, words=words)
    if pictures:
        builder.y += builder.px(6)


def add_more(builder: CardBuilder, more: int) -> None:
    if more:
        builder.link(f"Show {formats.count_of(more, 'more character')}", MORE, builder.left, builder.y + builder.px(4))


def edge_shape(theme: Theme, rect: QRectF, token: str, alpha: float) -> Shape:
    """Returns a shape: the outline of a card."""
    color = QColor(theme.color(token))
    color.setAlphaF(alpha)
    radius = theme.metrics.radius_card

    def paint(painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    return paint


def bookmark_shape(theme: Theme) -> Shape:
    side = round(12 * theme.zoom)

    def paint(painter: QPainter) -> None:
        dpr = painter.device().devicePixelRatio()
        painter.drawPixmap(0, 0, icons.pixmap("mark", "accent.text", side, dpr))

    return paint


def add_line_across(builder: CardBuilder, words: str) -> None:
    """Adds words in the middle of a hairline."""
    theme = builder.theme
    metrics = builder.metrics("small")
    height = metrics.height() + builder.px(12)
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, height)
    text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, int(rect.width() * 0.8))
    width = metrics.horizontalAdvance(text)
    x = rect.center().x() - width / 2

    def paint(painter: QPainter) -> None:
        painter.setPen(QPen(theme.color("line.strong"), 1))
        middle, gap = round(rect.center().y()), builder.px(10)
        painter.drawLine(round(rect.left()), middle, round(x) - gap, middle)
        painter.drawLine(round(x + width) + gap, middle, round(rect.right()), middle)

    builder.layout.shapes.append(paint)
    builder.words(Words(text, "small", "ink.secondary"), x, rect, width + 2)
    builder.y += height
