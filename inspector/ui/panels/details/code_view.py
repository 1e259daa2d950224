"""Views of source code and file differences: monospaced text with syntax colours that arrive in slices.

The text is readable at once. Colours are computed between events, so that a long text never blocks the window.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextLayout
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.base.utf16 import Utf16Offsets
from inspector.present import formats
from inspector.present.code import Sort, Stretch, counted_words, language_of, stretches_of, without_numbers
from inspector.present.wire_text import mask_start, visible_controls
from inspector.protocol.payloads.file_edits import FileEdit, Line, Sign
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import LinkText
from inspector.ui.panels.details.text_block import ALL_CHARACTERS, FIRST_LINES, TextView, shorten

_SLICE_S, _PAUSE_MS = 0.008, 1

_TOKENS: dict[Sort, str] = {
    "comment": "ink.tertiary", "string": "json.string", "number": "json.number", "keyword": "json.word",
    "name": "accent.text",
}  # fmt: skip
_ALPHA = 0.13
_MAX_DIFFERENCE_LINES = 1_500
"""Most lines of a difference shown on request."""


class CodeColors(QObject):
    """Syntax colours of a text view, computed in slices."""

    def __init__(self, themes: ThemeController, view: TextView) -> None:
        super().__init__(view)
        self._themes = themes
        self._view = view
        self._found: list[Stretch] = []
        self._pieces: Iterator[Stretch] = iter(())
        self._offsets = Utf16Offsets("")
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._color_slice)
        themes.changed.connect(self._repaint)

    def show(self, text: str, pieces: Iterable[Stretch]) -> None:
        """Starts to colour `text`, the content of the view.

        Args:
            text: the text shown.
            pieces: stretches in Python character offsets, computed lazily.
        """
        self._offsets = Utf16Offsets(text)
        self._found = []
        self._pieces = iter(pieces)
        self._timer.start(_PAUSE_MS)

    def _color_slice(self) -> None:
        until = time.perf_counter() + _SLICE_S
        new: list[Stretch] = []
        done = True
        for piece in self._pieces:
            new.append(piece)
            if time.perf_counter() > until:
                done = False
                break
        if done:
            self._timer.stop()
        self._found += new
        self._paint(new)

    def _repaint(self) -> None:
        self._paint(self._found)

    def _paint(self, pieces: Sequence[Stretch]) -> None:
        document = self._view.document()
        looks = {sort: self._text_format(token) for sort, token in _TOKENS.items()}
        by_block: dict[int, list[QTextLayout.FormatRange]] = {}
        for piece in pieces:
            start, stop = (self._offsets.units(place) for place in (piece.start, piece.stop))
            block = document.findBlock(start)
            while block.isValid() and block.position() < stop:
                first = max(start, block.position())
                last = min(stop, block.position() + block.length() - 1)
                if last > first:
                    ranges = by_block.setdefault(block.blockNumber(), block.layout().formats())
                    one = QTextLayout.FormatRange()
                    one.start, one.length, one.format = first - block.position(), last - first, looks[piece.sort]  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
                    ranges.append(one)
                block = block.next()
        for number, ranges in by_block.items():
            block = document.findBlockByNumber(number)
            # Formats of the layout instead of the document: no undo steps and no signals.
            block.layout().setFormats(ranges)
            document.markContentsDirty(block.position(), block.length())

    def _text_format(self, token: str) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(self._themes.theme.color(token))
        return look


class CodeBlock(QWidget):
    """Source code with a "Show all" link.

    Args:
        language: a name of `inspector.present.code`; None for plain text.
    """

    def __init__(
        self, themes: ThemeController, text: str, *, name: str, label: str, language: str | None,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._text = text
        self._language = language
        self.view = TextView(themes, name, label, mono=True, parent=self)
        self._colors = CodeColors(themes, self.view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.view)
        head = shorten(text)
        self.more: LinkText | None = None
        if len(head) < len(text):
            words = f"Show all {formats.number(len(text))} characters"
            if len(text) > ALL_CHARACTERS:
                words = f"Show the first {formats.number(ALL_CHARACTERS)} characters, Raw has the rest"
            self.more = LinkText(themes, words, f"{name}More", self)
            self.more.clicked.connect(self.show_all)
            layout.addWidget(self.more)
        self._show(head)

    def show_all(self) -> None:
        """Shows the text up to `ALL_CHARACTERS`."""
        self._show(self._text[:ALL_CHARACTERS])
        if self.more is not None:
            self.more.hide()

    def _show(self, text: str) -> None:
        shown = visible_controls(mask_start(text, len(text)))
        self.view.show_plain(shown)
        if self._language is not None:
            self._colors.show(shown, _numbered_stretches(shown, self._language))


def _numbered_stretches(text: str, language: str) -> Iterator[Stretch]:
    """Yields the stretches of a text with optional line numbers."""
    found = without_numbers(text)
    if found is None:
        yield from stretches_of(text, language)
        return
    bare, heads = found
    place = 0
    for head, line in zip(heads, text.split("\n"), strict=True):
        if head:
            yield Stretch(place, place + head, "comment")
        place += len(line) + 1
    yield from _shift_stretches(stretches_of(bare, language), bare.split("\n"), heads)


def _shift_stretches(pieces: Iterable[Stretch], lines: Sequence[str], before: Sequence[int]) -> Iterator[Stretch]:
    """Shifts stretches into a text with `before` more characters at the head of each line."""
    line, start, shift = 0, 0, before[0] if before else 0
    for piece in pieces:
        at, stop = piece.start, piece.stop
        while at < stop:
            while line + 1 < len(lines) and at > start + len(lines[line]):
                start += len(lines[line]) + 1
                line += 1
                shift += before[line]
            end = min(stop, start + len(lines[line]))
            if end > at:
                yield Stretch(at + shift, end + shift, piece.sort)
            # The line end itself has no colour.
            at = max(end + 1, at + 1)


class DifferenceView(QWidget):
    """A file edit as added and removed lines, by sign and colour; the first lines at first."""

    def __init__(self, themes: ThemeController, edit: FileEdit, *, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._edit = edit
        label = f"{edit.path}, {counted_words(edit)}"
        self.view = TextView(themes, name, label, mono=True, parent=self)
        self._colors = CodeColors(themes, self.view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.view)
        self.more: LinkText | None = None
        if len(edit.lines) > FIRST_LINES:
            shown = min(len(edit.lines), _MAX_DIFFERENCE_LINES)
            all_there = shown == len(edit.lines) and not edit.left_out
            words = f"Show all {shown:,} lines" if all_there else f"Show the first {shown:,} lines, Tree has the rest"
            self.more = LinkText(themes, words, f"{name}More", self)
            self.more.clicked.connect(self.show_all)
            layout.addWidget(self.more)
        self._show(edit.lines[:FIRST_LINES])
        themes.changed.connect(self._color_backgrounds)

    def show_all(self) -> None:
        """Shows the lines up to `_MAX_DIFFERENCE_LINES`."""
        self._show(self._edit.lines[:_MAX_DIFFERENCE_LINES])
        if self.more is not None:
            self.more.hide()

    def _show(self, lines: Sequence[Line]) -> None:
        self._lines: list[Line] = [(sign, visible_controls(line)) for sign, line in lines]
        text = "\n".join(f"{_SIGNS[sign]} {line}" for sign, line in self._lines)
        self.view.setPlainText(text)
        self.view.updateGeometry()
        self._color_backgrounds()
        language = language_of(self._edit.path)
        if language is not None:
            self._colors.show(text, _difference_stretches(self._lines, language))

    def _color_backgrounds(self) -> None:
        """Colours the background of added and removed lines."""
        theme = self._themes.theme
        washes: dict[Sign, QTextBlockFormat] = {}
        tokens: dict[Sign, str] = {"+": "badge.consumed", "-": "severity.error"}
        for sign, token in tokens.items():
            color = QColor(theme.color(token))
            color.setAlphaF(_ALPHA)
            look = QTextBlockFormat()
            look.setBackground(color)
            washes[sign] = look
        cursor = QTextCursor(self.view.document())
        # One edit block for all lines: otherwise Qt lays out after each of them.
        cursor.beginEditBlock()
        for place, (sign, _) in enumerate(self._lines):
            if sign in washes:
                cursor.setPosition(self.view.document().findBlockByNumber(place).position())
                cursor.mergeBlockFormat(washes[sign])
        cursor.endEditBlock()


_SIGNS: dict[Sign, str] = {" ": " ", "+": "+", "-": "\N{MINUS SIGN}", "@": "\N{HORIZONTAL ELLIPSIS}"}


def _difference_stretches(lines: Sequence[Line], language: str) -> Iterator[Stretch]:
    """Yields stretches of the new text, then of the old text, by offsets in the difference."""
    keeps: tuple[Callable[[Sign], bool], ...] = (lambda sign: sign in " +", lambda sign: sign == "-")
    # Old and new text are lexed apart: a mix of both is no valid source.
    for keep in keeps:
        some: list[str] = []
        before: list[int] = []
        skipped = 0
        for sign, line in lines:
            if keep(sign):
                some.append(line)
                before.append(skipped + 2)
                skipped = 0
            else:
                skipped += len(line) + 3
        yield from _shift_stretches(stretches_of("\n".join(some), language), some, before)
