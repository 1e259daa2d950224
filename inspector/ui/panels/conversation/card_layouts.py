"""Lays out the cards of a conversation, one function for each kind (docs/design.md 10 to 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from inspector.base.utf16 import Utf16Offsets
from inspector.present import formats
from inspector.present.badges import BADGE_BY_ID
from inspector.present.code import stretches_of
from inspector.present.conversation.cards import (
    AgentCard,
    CallCard,
    Card,
    CardKind,
    CompactionCard,
    Diff,
    DiffLine,
    EndCard,
    FoldCard,
    GroupCard,
    OtherCard,
    Output,
    Pill,
    TextCard,
    ThoughtCard,
)
from inspector.ui.look.text_flags import RIGHT
from inspector.ui.look.theme import Theme
from inspector.ui.panels.conversation.card_layout import CardBuilder, CardLayout, ImageOf, Shape, Words, Zone
from inspector.ui.panels.conversation.card_parts import (
    MAX_COLORED,
    MORE,
    add_blocks,
    add_line_across,
    add_more,
    add_pictures,
    bookmark_shape,
    edge_shape,
)
from inspector.ui.panels.conversation.text_pieces import (
    TextPiece,
    color_parts,
    color_syntax,
    plain_document,
    reading_font,
)

OPEN, SCOPE = "open", "scope"
"""Acts of zones: open or close a card, make it the scope."""

_TONES = {"good": "badge.consumed", "bad": "severity.error", "warn": "severity.warning", "quiet": "badge.collapsed"}
_TINT = 0.13
_HEAD = 28
"""Height of a card's head at 100 %."""


@dataclass(frozen=True, slots=True)
class Look:
    """Everything but the card that decides its layout.

    Attributes:
        width: of the column with its gutter, in pixels.
        depth: nesting below sub-agents and groups.
        is_open: the user has opened the card.
        is_shown: its steps are shown below it.
        shows_sender: a line above the text names the sender.
        folds_results: a call shows no output unless it is open.
        is_inherited: it is a message of the parent chat above those of a sub-session.
    """

    width: int
    depth: int = 0
    is_open: bool = False
    is_shown: bool = False
    shows_sender: bool = False
    folds_results: bool = False
    is_inherited: bool = False


def lay_out_card(
    card: Card, theme: Theme, look: Look, image_of: ImageOf = lambda _picture: None
) -> CardLayout:  # fmt: skip
    """Lays out a card for a width; `image_of` returns decoded pictures."""
    indent = round(min(look.depth, 6) * 20 * theme.zoom)
    builder = CardBuilder(theme, look.width, indent=indent, image_of=image_of)
    # A quiet call stays on one line.
    is_quiet = isinstance(card, CallCard) and card.is_quiet and not look.is_open
    names_sender = look.shows_sender and bool(card.sender) and not is_quiet
    if names_sender:
        _sender(builder, card)
    match card:
        case TextCard():
            _prompt(builder, card, look) if card.ref.kind == CardKind.PROMPT else _answer(builder, card, look)
        case ThoughtCard():
            _thought(builder, card, look)
        case CallCard():
            _call(builder, card, look)
        case AgentCard():
            _agent(builder, card, look)
        case CompactionCard():
            _compaction(builder, card)
        case EndCard():
            _end(builder, card)
        case FoldCard():
            _fold(builder, card, look)
        case GroupCard():
            _group(builder, card, look)
        case OtherCard():
            _other(builder, card)
    if names_sender:
        builder.layout.mark_y = 0
    elif card.aside and isinstance(card, TextCard):
        _aside(builder, card.aside)
    if card.marked:
        builder.layout.shapes.append(bookmark_shape(theme))
    return builder.finish()


def placeholder(theme: Theme, look: Look, height: int) -> CardLayout:
    """Returns the layout of a card that has not arrived."""
    builder = CardBuilder(theme, look.width)
    line = builder.metrics("body").height()
    rect = QRectF(builder.left, 0, builder.right - builder.left, line)
    builder.words(Words("…", "body", "ink.tertiary"), builder.left, rect, rect.width())
    builder.layout.height = height
    builder.layout.frame = rect
    return builder.layout


# Prompts, answers, thoughts


def _sender(builder: CardBuilder, card: Card) -> None:
    line = builder.metrics("label").height()
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, line)
    words = f"{card.sender} → {card.receivers}" if card.receivers else card.sender
    used = builder.words(Words(words, "label", "ink.secondary"), builder.left, rect, rect.width())
    if card.aside and not isinstance(card, CallCard):
        x = builder.left + used + builder.px(8)
        builder.words(Words(card.aside, "small", "ink.tertiary"), x, rect, builder.right - x)
    builder.y += line + builder.px(4)


def _aside(builder: CardBuilder, words: str) -> None:
    """Adds a remark below a text."""
    line = builder.metrics("small").height() + builder.px(2)
    rect = QRectF(builder.left, builder.y + builder.px(1), builder.right - builder.left, line)
    token = "accent.text" if words.startswith("global:") else "ink.tertiary"
    builder.words(Words(words, "small", token), builder.left, rect, rect.width())
    builder.y = rect.bottom()


def _prompt(builder: CardBuilder, card: TextCard, look: Look) -> None:
    builder.mark("disc", "ink.tertiary", 10)
    top, pad_x, pad_y = builder.y, builder.px(12), builder.px(9)
    rect_at = len(builder.layout.shapes)
    builder.left += pad_x
    builder.right -= pad_x
    builder.y += pad_y
    ink = "ink.secondary" if look.is_inherited else "ink.primary"
    add_blocks(builder, card.blocks, empty="(empty prompt)" if not card.pictures else "", token=ink)
    add_pictures(builder, card.pictures)
    add_more(builder, card.more)
    builder.left -= pad_x
    builder.right += pad_x
    builder.y += pad_y
    rect = QRectF(builder.left, top, builder.right - builder.left, builder.y - top)
    edge = "line.hair" if look.is_inherited else "line.control" if builder.theme.high_contrast else None
    fill = None if look.is_inherited else "accent.wash"
    builder.box(rect, fill, edge, radius=builder.theme.metrics.radius_bubble)
    # Under its text.
    builder.layout.shapes.insert(rect_at, builder.layout.shapes.pop())
    builder.layout.frame = rect


def _answer(builder: CardBuilder, card: TextCard, look: Look) -> None:
    builder.mark("ring", "ink.secondary", 0)
    ink = "ink.secondary" if look.is_inherited else "ink.primary"
    add_blocks(builder, card.blocks, empty="" if card.pictures or card.is_open else "no text", token=ink)
    add_pictures(builder, card.pictures)
    add_more(builder, card.more)
    if card.is_open:
        line = builder.metrics("small").height()
        rect = QRectF(builder.left, builder.y, builder.right - builder.left, line)
        builder.words(Words("still writing", "small", "ink.tertiary"), builder.left, rect, rect.width())
        builder.y += line


def _thought(builder: CardBuilder, card: ThoughtCard, look: Look) -> None:
    builder.mark("collapse" if look.is_open else "expand", "ink.tertiary", 0)
    if look.is_open:
        add_blocks(builder, card.blocks, italic=True, token="ink.secondary")
        add_more(builder, card.more)
        return
    theme = builder.theme
    font = reading_font(theme)
    font.setItalic(True)
    metrics = QFontMetrics(font)
    line = metrics.height() + builder.px(2)
    took = formats.duration(card.took_ns) if card.took_ns >= 0 else ""
    room = builder.right - builder.left - (builder.metrics("small").horizontalAdvance(took) + builder.px(8))
    shown = metrics.elidedText(card.line or "(no text)", Qt.TextElideMode.ElideRight, max(20, int(room)))
    ink = builder.color("ink.secondary")
    piece = TextPiece.laid_out(plain_document(shown, font), builder.left, builder.y, room, ink, max_lines=1)
    builder.add_text(piece)
    if took:
        x = builder.left + piece.ideal_width() + builder.px(8)
        rect = QRectF(x, piece.y, builder.right - x, piece.height)
        builder.words(Words(took, "small", "ink.tertiary"), x, rect, rect.width())
    builder.y = max(builder.y, piece.y + line)


# Calls


def _call(builder: CardBuilder, card: CallCard, look: Look) -> None:
    failed = card.pill is not None and card.pill.tone == "bad"
    if card.is_quiet and not look.is_open:
        _quiet_call(builder, card)
        return
    if failed:
        builder.mark("clear", "severity.error", 5)
    elif card.diffs:
        builder.mark("ri.pencil-line", "ink.secondary", 5)
    elif card.pill is not None and card.pill.tone == "good":
        builder.mark("check", "ink.secondary", 5)
    elif card.answer < 0:
        builder.mark("ri.time-line", "ink.tertiary", 5)
    else:
        builder.mark("collapse" if look.is_open else "expand", "ink.tertiary", 5)
    top, shapes_at = builder.y, len(builder.layout.shapes)
    left, right = builder.left, builder.right
    head = QRectF(left, top, right - left, builder.px(_HEAD))
    inner = head.adjusted(builder.px(10), 0, -builder.px(10), 0)
    builder.head_line(inner, _head_words(card), _facts(card), _pill(card.pill, card.decision))
    builder.y = head.bottom()
    if card.about and look.is_open:
        _line(builder, card.about, "small", "ink.tertiary")
    if card.command and look.is_open:
        _mono(builder, card.command, "ink.primary")
    for diff in card.diffs:
        _diff(builder, diff, headed=len(card.diffs) > 1)
    builder.y += builder.px(4) if card.diffs else 0  # the last line keeps inside of the round corners
    if look.is_open or not look.folds_results:
        if card.output is not None and (card.output.lines or card.output.above or card.output.below):
            _output(builder, card.output)
        add_pictures(builder, card.pictures, inside=True)
    rect = QRectF(left, top, right - left, builder.y - top)
    has_body = builder.y > head.bottom() + 1
    shapes = builder.layout.shapes
    edge = "severity.error" if failed else "line.hair"
    first = len(shapes)
    builder.box(rect, "surface.base" if has_body else "surface.inset", None)
    if has_body:
        builder.box(head, "surface.inset", None, top_only=True)
    made = shapes[first:]
    del shapes[first:]
    shapes[shapes_at:shapes_at] = made
    shapes.append(edge_shape(builder.theme, rect, edge, 0.4 if failed else 1.0))
    builder.layout.frame = rect
    builder.layout.zones.insert(0, Zone(head, OPEN, "Open or close this call"))


def _quiet_call(builder: CardBuilder, card: CallCard) -> None:
    builder.mark("expand", "ink.tertiary", 2)
    line = builder.metrics("mono").height() + builder.px(4)
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, line)
    words = [Words(card.verb, "mono-medium"), Words(card.subject, "mono", "ink.secondary")]
    facts = [card.said] if card.said else []
    facts += [formats.duration(card.took_ns)] if card.took_ns >= 0 else []
    if facts:
        words.append(Words(" · ".join(facts), "small", "ink.tertiary"))
    x, gap = rect.left(), builder.px(8)
    kept = builder.metrics("small").horizontalAdvance(words[-1].text) + gap + 3 if facts else 0
    for place, one in enumerate(words):
        room = rect.right() - x - (kept if place == 1 else 0)
        if room > builder.px(16):
            x += builder.words(one, x, rect, room) + gap
    builder.layout.zones.append(Zone(rect, OPEN, "Open this call"))
    builder.y += line


def _head_words(card: CallCard) -> list[Words]:
    if card.is_command:
        words = [Words(f"{card.verb} {card.subject}", "mono-medium")]
    else:
        words = [Words(card.verb, "mono-medium")]
        if card.subject:
            words.append(Words(card.subject, "mono"))
    if card.said and not card.diffs:
        words.append(Words(card.said, "small", "ink.tertiary"))
    if card.diffs:
        words += _counts(sum(one.added for one in card.diffs), sum(one.removed for one in card.diffs))
    if card.aside:
        words.append(Words(card.aside, "small", "ink.tertiary"))
    return words


def _counts(added: int, removed: int) -> list[Words]:
    words = [Words(f"+{added:,}", "small", "badge.consumed")] if added else []
    return words + ([Words(f"\N{MINUS SIGN}{removed:,}", "small", "severity.error")] if removed else [])


def _facts(card: CallCard) -> list[Words]:
    facts = [Words(formats.duration(card.took_ns), "small", "ink.tertiary")] if card.took_ns >= 0 else []
    facts += [
        Words(BADGE_BY_ID[one].text, "small", BADGE_BY_ID[one].token) for one in card.badges if one in BADGE_BY_ID
    ]
    if card.decision and card.pill is not None:
        facts.insert(0, Words(card.decision, "small", "severity.warning"))
    return facts


def _pill(pill: Pill | None, decision: str = "") -> tuple[str, str] | None:
    if pill is not None:
        return pill.word, _TONES.get(pill.tone, "badge.collapsed")
    return (decision, "severity.warning") if decision else None


def _output(builder: CardBuilder, output: Output) -> None:
    """Adds lines of output; failing ones are red."""
    pad = builder.px(10)
    builder.y += builder.px(6)
    x = builder.left + pad
    if output.above:
        builder.link(formats.count_of(output.above, "more line"), MORE, x, builder.y)
    text = "\n".join(line.text for line in output.lines)
    if text:
        document = plain_document(text, builder.theme.font("mono-row"), mono=True)
        parts: list[tuple[int, int, QColor]] = []
        start = 0
        for line in output.lines:
            if line.is_failure:
                parts.append((start, start + len(line.text), builder.color("severity.error")))
            start += len(line.text) + 1
        if parts:
            color_parts(document, parts, Utf16Offsets(text))
        builder.add_text(
            TextPiece.laid_out(document, x, builder.y, builder.right - pad - x, builder.color("ink.secondary"))
        )
    if output.below:
        builder.link(formats.count_of(output.below, "more line"), MORE, x, builder.y)
    builder.y += builder.px(6)


def _mono(builder: CardBuilder, text: str, token: str) -> None:
    pad = builder.px(10)
    builder.y += builder.px(6)
    document = plain_document(text, builder.theme.font("mono-row"), mono=True)
    builder.add_text(TextPiece.laid_out(document, builder.left + pad, builder.y, builder.right - builder.left - 2 * pad,
                                        builder.color(token)))  # fmt: skip
    builder.y += builder.px(4)


def _line(builder: CardBuilder, text: str, role: str, token: str) -> None:
    pad = builder.px(10)
    line = builder.metrics(role).height() + builder.px(4)
    rect = QRectF(builder.left + pad, builder.y + builder.px(2), builder.right - builder.left - 2 * pad, line)
    builder.words(Words(text, role, token), rect.left(), rect, rect.width())
    builder.y = rect.bottom()


def _diff(builder: CardBuilder, diff: Diff, *, headed: bool) -> None:
    """Adds the lines of a change with their numbers; the whole line has the colour of its sign."""
    theme, pad = builder.theme, builder.px(10)
    if headed or diff.note:
        line = builder.metrics("mono-row").height() + builder.px(8)
        rect = QRectF(builder.left + pad, builder.y, builder.right - builder.left - 2 * pad, line)
        left = [Words(f"{diff.verb} {diff.name}", "mono-row"), *_counts(diff.added, diff.removed)]
        if diff.note:
            left.append(Words(diff.note, "small", "ink.tertiary"))
        builder.head_line(rect, left, [], None)
        builder.y = rect.bottom()
    text = "\n".join(line.text for line in diff.lines)
    if diff.lines:
        font = theme.font("mono-row")
        document = plain_document(text, font, mono=True)
        if diff.language and len(text) <= MAX_COLORED:
            color_syntax(document, text, stretches_of(text, diff.language), theme)
        numbers = QFontMetrics(font).horizontalAdvance("0" * max(4, len(str(max(_number(one) for one in diff.lines)))))
        sign_x = builder.left + builder.px(6) + numbers + builder.px(8)
        x = sign_x + builder.px(16)
        piece = TextPiece.laid_out(document, x, builder.y, builder.right - builder.px(6) - x,
                                   builder.color("ink.primary"))  # fmt: skip
        first = len(builder.layout.shapes)
        builder.add_text(piece)
        builder.layout.shapes.insert(first, _diff_lines(builder, diff.lines, piece, numbers, sign_x, font))
    if diff.more:
        builder.link(formats.count_of(diff.more, "more line"), MORE, builder.left + pad, builder.y + builder.px(2))
        builder.y += builder.px(4)
    builder.y += builder.px(1)


def _number(line: DiffLine) -> int:
    return line.old if line.sign == "-" else line.new or line.old


def _diff_lines(
    builder: CardBuilder, lines: Sequence[DiffLine], piece: TextPiece, numbers: int, sign_x: float, font: QFont
) -> Shape:
    theme, left, width = builder.theme, builder.left, builder.right - builder.left
    layout, block = piece.document.documentLayout(), piece.document.begin()
    tops: list[int] = []
    while block.isValid() and len(tops) < len(lines):
        # Whole pixels, and each line up to the next, so that tinted lines touch.
        tops.append(round(piece.y + layout.blockBoundingRect(block).top()))
        block = block.next()
    ends = [*tops[1:], round(piece.bottom + 0.5)]
    rows = [(top, end - top, line) for top, end, line in zip(tops, ends, lines, strict=False)]
    height = QFontMetrics(font).height()

    def paint(painter: QPainter) -> None:
        painter.setFont(font)
        for top, high, line in rows:
            if line.sign in "+-":
                tint = QColor(theme.color("badge.consumed" if line.sign == "+" else "severity.error"))
                tint.setAlphaF(_TINT)
                painter.fillRect(QRectF(left + 1, top, width - 2, high), tint)
            painter.setPen(theme.color("ink.tertiary"))
            if (number := _number(line)) > 0:
                box = QRectF(left + 6, top, numbers, height)
                painter.drawText(box, RIGHT, str(number))
            if line.sign.strip():
                ink = {"+": "badge.consumed", "-": "severity.error"}.get(line.sign, "ink.tertiary")
                painter.setPen(theme.color(ink))
                painter.drawText(QRectF(sign_x, top, 20, height), line.sign.replace("@", "⋯"))

    return paint


# Sub-agents, groups, folds


def _agent(builder: CardBuilder, card: AgentCard, look: Look) -> None:
    builder.mark("ri.robot-line", "ink.secondary", 5)
    top, at = builder.y, len(builder.layout.shapes)
    head = QRectF(builder.left, top, builder.right - builder.left, builder.px(_HEAD))
    inner = head.adjusted(builder.px(10), 0, -builder.px(10), 0)
    facts = [Words(formats.duration(card.took_ns), "small", "ink.tertiary")] if card.took_ns >= 0 else []
    builder.head_line(
        inner, [Words(card.agent or "Sub-agent", "body-strong"), Words(card.task, "body", "ink.secondary")], facts,
        _pill(card.pill),
    )  # fmt: skip
    builder.y = head.bottom()
    pad = builder.px(10)
    line = builder.metrics("small").height() + builder.px(10)
    rect = QRectF(builder.left + pad, builder.y, builder.right - builder.left - 2 * pad, line)
    x = rect.left()
    link = "Hide its steps" if look.is_shown else f"Show its {formats.count_of(card.steps, 'step')}"
    if card.steps:
        x += _inline_link(builder, link, OPEN, x, rect) + builder.px(12)
    if card.node >= 0:
        x += _inline_link(builder, "Only this agent", SCOPE, x, rect) + builder.px(12)
    words = _agent_facts(card)
    if card.failed:
        failed = f"{card.failed:,} failed"
        builder.words(Words(failed, "small", "severity.error"), x, rect, rect.right() - x)
        x += builder.metrics("small").horizontalAdvance(failed) + builder.px(8)
    builder.words(Words(words, "small", "ink.tertiary"), x, rect, rect.right() - x)
    builder.y = rect.bottom()
    # Prompt and result of an agent with its steps in sight are cards of their own.
    blocks = card.result if not look.is_shown else () if card.has_prompt_below else card.prompt
    if blocks:
        ink, lines = ("ink.secondary", 0) if look.is_shown else ("ink.primary", 0 if look.is_open else 4)
        builder.left += pad
        builder.right -= pad
        add_blocks(builder, blocks, token=ink, max_lines=lines)
        builder.left -= pad
        builder.right += pad
        builder.y += builder.px(8)
    _wrap(builder, head, top, at)


def _agent_facts(card: AgentCard) -> str:
    facts = [formats.count_of(card.calls, "tool call")] if card.calls > 0 else []
    facts += [card.model] if card.model else []
    facts += [f"{formats.short_count(card.tokens)} tokens"] if card.tokens >= 0 else []
    facts += [formats.dollars(card.dollars)] if card.dollars is not None else []
    return " · ".join(facts)


def _wrap(builder: CardBuilder, head: QRectF, top: float, at: int) -> None:
    """Puts the box of a card under its parts."""
    rect = QRectF(builder.left, top, builder.right - builder.left, builder.y - top)
    shapes = builder.layout.shapes
    first = len(shapes)
    builder.box(rect, "surface.base", None)
    builder.box(head, "surface.inset", None, top_only=True)
    made = shapes[first:]
    del shapes[first:]
    shapes[at:at] = made
    shapes.append(edge_shape(builder.theme, rect, "line.hair", 1.0))
    builder.layout.frame = rect
    builder.layout.zones.insert(0, Zone(head, OPEN, "Show or hide its steps"))


def _inline_link(builder: CardBuilder, text: str, act: str, x: float, rect: QRectF) -> float:
    width = builder.words(Words(text, "small", "accent.text"), x, rect, rect.right() - x)
    builder.layout.zones.append(Zone(QRectF(x, rect.top(), width, rect.height()), act, text))
    return width


def _compaction(builder: CardBuilder, card: CompactionCard) -> None:
    builder.mark("ri.scissors-cut-line", "ink.tertiary", 4)
    words = card.words or "Context compacted"
    if card.before >= 0 and card.after >= 0:
        words += f" · {formats.short_count(card.before)} → {formats.short_count(card.after)} tokens"
    elif card.before >= 0:
        words += f" · {formats.short_count(card.before)} tokens before"
    add_line_across(builder, words)


def _end(builder: CardBuilder, card: EndCard) -> None:
    """Adds the end of a sub-session as a line across, and its summary in a box."""
    builder.mark("clear" if card.is_discarded else "check", "ink.tertiary", 4)
    add_line_across(builder, card.words)
    if not card.blocks:
        return
    pad, top, at = builder.px(12), builder.y + builder.px(4), len(builder.layout.shapes)
    builder.left += pad
    builder.right -= pad
    builder.y = top + builder.px(8)
    line = builder.metrics("label").height() + builder.px(4)
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, line)
    builder.words(Words("Summary", "label", "ink.secondary"), builder.left, rect, rect.width())
    builder.y = rect.bottom()
    add_blocks(builder, card.blocks)
    add_more(builder, card.more)
    builder.left -= pad
    builder.right += pad
    builder.y += builder.px(9)
    builder.box(QRectF(builder.left, top, builder.right - builder.left, builder.y - top), "surface.inset", "line.hair")
    builder.layout.shapes.insert(at, builder.layout.shapes.pop())


def _fold(builder: CardBuilder, card: FoldCard, look: Look) -> None:
    builder.mark("more" if not look.is_shown else "collapse", "ink.tertiary", 1)
    line = builder.metrics("body").height() + builder.px(3)
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, line)
    quiet = card.ref.kind == CardKind.RECORDS
    words = Words(card.words, "small" if quiet else "body", "ink.tertiary" if quiet else "accent.text")
    took = formats.duration(card.took_ns) if card.took_ns > 0 and not quiet else ""
    kept = builder.metrics("small").horizontalAdvance(took) + builder.px(8) if took else 0
    x = rect.left() + builder.words(words, rect.left(), rect, rect.width() - kept) + builder.px(8)
    if took:
        builder.words(Words(took, "small", "ink.tertiary"), x, rect, rect.right() - x)
    builder.layout.zones.append(Zone(rect, OPEN, "Hide these steps" if look.is_shown else "Show these steps"))
    builder.y += line


def _group(builder: CardBuilder, card: GroupCard, look: Look) -> None:
    builder.mark("collapse" if look.is_shown else "expand", "ink.tertiary", 4)
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, builder.px(24))
    facts = [Words(formats.duration(card.took_ns), "small", "ink.tertiary")] if card.took_ns >= 0 else []
    # The words of a span begin with its name.
    words = card.words if not card.words.startswith(card.label) else ""
    left = [Words(card.label, "body-strong")] + ([Words(words, "body", "ink.secondary")] if words else [])
    if card.steps and not look.is_shown:
        left.append(Words(formats.count_of(card.steps, "step"), "small", "ink.tertiary"))
    builder.head_line(rect, left, facts, _pill(card.pill))
    builder.layout.zones.append(Zone(rect, OPEN, "Show or hide its steps"))
    builder.y = rect.bottom()


def _other(builder: CardBuilder, card: OtherCard) -> None:
    builder.mark("ri.information-line", "ink.tertiary", 1)
    theme = builder.theme
    metrics = builder.metrics("small")
    rect = QRectF(builder.left, builder.y, builder.right - builder.left, metrics.height() + builder.px(4))
    x = rect.left() + builder.words(Words(card.label, "label", "ink.tertiary"), rect.left(), rect, rect.width() / 2)
    x += builder.px(8)
    right = rect.right()
    pill = _pill(card.pill)
    if pill is not None:
        right -= builder.pill(*pill, right, rect) + builder.px(8)
    if card.words:
        font = theme.font("mono-row" if card.mono else "body")
        document = plain_document(card.words, font, mono=card.mono)
        builder.add_text(TextPiece.laid_out(document, x, builder.y + 1, max(40.0, right - x),
                                            builder.color("ink.secondary"), max_lines=12))  # fmt: skip
    builder.y = max(builder.y, rect.bottom())
