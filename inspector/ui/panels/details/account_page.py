"""Page shown without a selection: the account of what happened, one linked sentence a row (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.account import AccountFigures, WhatHappened
from inspector.engine.requests.waste import WasteFigures
from inspector.present.account_sentences import AccountLine, Tone
from inspector.present.head_words import HeadWords, account_words
from inspector.present.wire_text import tool_tip
from inspector.ui import intervals
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.fitted_list import FittedList, wrap
from inspector.ui.panels.details.links import Links
from inspector.ui.panels.details.section import Page
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer

_MAX_QUOTE_LINES, _MAX_FIGURE_LINES = 3, 8
"""Most lines of a quoting sentence, and of a sentence with figures; figures are never cut."""
_TONE_COLORS: dict[Tone, str] = {
    "plain": "ink.secondary", "quiet": "ink.secondary", "bad": "severity.error", "warn": "severity.warning",
}  # fmt: skip
# Between two sentences, pixels at 100 %.
_GAP = 3
_WRAP_CACHE_SIZE = 200


_LONG_TOPICS = ("Waiting now", "Unanswered", "First message", "Collapsed", "Proposed")
"""Long subjects; they set the column's width from the start, so that later rows do not move it."""
_Target = tuple[str, int | None, str | None, str | None]


def _targets(rows: Sequence[AccountLine]) -> list[_Target]:
    """Returns subject and link target of each sentence."""
    about, found = "", list[_Target]()
    for row in rows:
        about = row.about or about
        found.append((about, row.message, row.filter, row.panel))
    return found


class AccountList(FittedList[AccountLine]):
    """List of sentences.

    Rows stay still while the pointer rests on the list, so that a click hits the intended row.

    Signals:
        panel_requested(str): show a panel, by its title.
        pointer_left(): the pointer has left the list.
    """

    panel_requested = Signal(str)
    pointer_left = Signal()

    def __init__(self, themes: ThemeController, rows: Sequence[AccountLine], parent: QWidget | None = None) -> None:
        super().__init__(themes, rows, name="accountLines", label="What happened", parent=parent)
        # By text, width and maximum lines.
        self._wrapped: dict[tuple[str, int, int], list[str]] = {}
        # Width of the subject column, pixels.
        self._widest = -1

    @override
    def row_text(self, row: AccountLine) -> str:
        place = self.rows.index(row)
        about = next((line.about for line in reversed(self.rows[: place + 1]) if line.about), "")
        return f"{about}: {row.text}"

    @override
    def copied_text(self, row: AccountLine) -> str:
        return self.row_text(row)

    @override
    def row_tooltip(self, row: AccountLine) -> str:
        leads = "Show only these messages" if row.filter is not None else f"Show {row.panel}"
        if row.message is not None:
            leads = f"Go to No. {row.message + 1}"
        return tool_tip(f"{row.text}\n{leads}")

    # Geometry

    def _about_width(self, width: int) -> int:
        if self._widest < 0:
            metrics = QFontMetrics(self.themes.theme.font("body"))
            words = {*_LONG_TOPICS, *(row.about for row in self.rows)}
            self._widest = max(map(metrics.horizontalAdvance, words))
        return min(self._widest + 3 * self.themes.theme.metrics.unit, round(width * 0.4))

    def _sign_width(self) -> int:
        return self.themes.theme.metrics.content_row

    def _lines(self, row: int, width: int) -> list[str]:
        line, room = self.rows[row], width - self._about_width(width) - self._sign_width()
        # Only quotes are cut: a cut figure would be wrong.
        most = _MAX_QUOTE_LINES if "“" in line.text else _MAX_FIGURE_LINES
        found = self._wrapped.get((line.text, room, most))
        if found is None:
            # A resize makes entries for each width on the way, so the cache is bounded.
            if len(self._wrapped) >= _WRAP_CACHE_SIZE:
                self._wrapped.clear()
            found = self._wrapped[line.text, room, most] = wrap(line.text, self.themes.theme.font("body"), room, most)
        return found

    def _line_height(self) -> int:
        return QFontMetrics(self.themes.theme.font("body")).height() + 1

    @override
    def row_height(self, row: int, width: int) -> int:
        theme = self.themes.theme
        gap = round((2 * _GAP if self.rows[row].about and row else 0) * theme.zoom)
        return theme.metrics.content_row + (len(self._lines(row, width)) - 1) * self._line_height() + gap

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, line = self.themes.theme, self.rows[row]
        gap = (
            rect.height() - theme.metrics.content_row - (len(self._lines(row, rect.width())) - 1) * self._line_height()
        )
        top, about = rect.top() + gap, self._about_width(rect.width())
        metrics = QFontMetrics(theme.font("body"))
        base = top + (theme.metrics.content_row - metrics.height()) / 2 + metrics.ascent()
        painter.setFont(theme.font("body"))
        if line.about:
            painter.setPen(theme.color(_TONE_COLORS[line.tone]))
            room = about - theme.metrics.unit
            painter.drawText(
                QPointF(rect.left(), base), metrics.elidedText(line.about, Qt.TextElideMode.ElideRight, room)
            )
        font = QFont(theme.font("body"))
        font.setUnderline(hovered)
        painter.setFont(font)
        painter.setPen(theme.color("ink.tertiary" if line.tone == "quiet" else "ink.primary"))
        for place, text in enumerate(self._lines(row, rect.width())):
            painter.drawText(QPointF(rect.left() + about, base + place * self._line_height()), text)
        self._paint_sign(painter, QRectF(rect.right() - self._sign_width(), top, self._sign_width(),
                                         theme.metrics.content_row), line, hovered)  # fmt: skip

    def _paint_sign(self, painter: QPainter, box: QRectF, line: AccountLine, hovered: bool) -> None:
        """Paints the sign at the right end: an arrow for a message link, a funnel for a filter."""
        name = "filter" if line.filter is not None else "forward"
        size = round(12 * self.themes.theme.zoom)
        token = "accent.text" if hovered else "ink.tertiary"
        pixmap = icons.pixmap(name, token, size, self.devicePixelRatioF())
        painter.drawPixmap(QPointF(box.right() - size, box.top() + (box.height() - size) / 2), pixmap)

    # Interaction

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointer_left.emit()

    @override
    def is_link(self, row: int, place: QPoint) -> bool:
        return True

    @override
    def click_row(self, row: int, place: QPoint) -> None:
        self.activate_row(row)

    @override
    def activate_row(self, row: int) -> None:
        line = self.rows[row]
        if line.message is not None:
            self.message_requested.emit(line.message)
        elif line.filter is not None:
            self.filter_requested.emit(line.filter, "replace")
        elif line.panel is not None:
            self.panel_requested.emit(line.panel)

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        super().fill_menu(menu, row)
        line = self.rows[row]
        if line.message is not None:
            go = menu.addAction(f"Go to No. {line.message + 1}")
            go.triggered.connect(lambda: self.message_requested.emit(line.message))
        if line.filter is not None:
            menu.addSeparator()
            add_filter_actions(menu, line.filter, self.filter_requested.emit, self.column_requested.emit)

    @override
    def rows_replaced(self, before: Sequence[AccountLine]) -> None:
        # Known subjects cannot widen the column.
        if not {row.about for row in self.rows} <= {*_LONG_TOPICS, *(row.about for row in before)}:
            self._widest = -1

    def update_figures(self, rows: Sequence[AccountLine]) -> None:
        """Updates sentences in place if no row moves, appears, disappears or changes its target."""
        texts = {target: line.text for target, line in zip(_targets(rows), rows, strict=True)}
        width, kept = self.viewport().width(), list(self.rows)
        for place, (target, line) in enumerate(zip(_targets(self.rows), self.rows, strict=True)):
            text = texts.get(target, line.text)
            if text != line.text and self._row_lines(text, width) == self._row_lines(line.text, width):
                kept[place] = replace(line, text=text)
        self.replace_rows(kept)

    def _row_lines(self, text: str, width: int) -> int:
        room = width - self._about_width(width) - self._sign_width()
        most = _MAX_QUOTE_LINES if "“" in text else _MAX_FIGURE_LINES
        return len(wrap(text, self.themes.theme.font("body"), room, most))

    @override
    def _on_theme_changed(self) -> None:
        self._wrapped.clear()
        self._widest = -1
        super()._on_theme_changed()


class AccountPage(Page):
    """The account of a document, refreshed while it is visible.

    Signals:
        panel_requested(str): show a panel, by its title.
        renewed(HeadWords): the page has new content; carries the new head.
    """

    panel_requested = Signal(str)
    renewed = Signal(object)

    def __init__(
        self, client: Client, themes: ThemeController, links: Links, waste: LatestAnswer[WasteFigures],
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Creates an empty page.

        Args:
            client: asks the engine.
            themes: theme source.
            links: receives clicks on links.
            waste: figures of the Waste panel.
            parent: owner.
        """
        super().__init__(themes, "accountPage", "What happened", parent)
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOn
        )  # a scroll bar that comes and goes would wrap all lines again
        self._waste = waste
        self._links = links
        self.list: AccountList | None = None
        self._head: HeadWords | None = None
        self.latest = LatestAnswer(self, client, self._question, self._show, every_ms=lambda: intervals.FIGURES_MS)
        waste.answered.connect(self.latest.invalidate)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Another page used the head; an answer may not be due.
        if self._head is not None:
            self.renewed.emit(self._head)

    def tick(self) -> None:
        """Updates the waiting times once a second while messages arrive."""
        if self.latest.answer is not None and self.latest.answer.is_arriving:
            self.latest.invalidate()

    def _question(self) -> WhatHappened:
        return WhatHappened(self._waste.answer.totals if self._waste.answer is not None else None)

    def _show_again(self) -> None:
        if self.latest.answer is not None:
            self._show(self.latest.answer)

    def _show(self, figures: AccountFigures) -> None:
        account = figures.account
        if self.list is None:
            self.list = AccountList(self._themes, account.lines)
            # AccountList and Links declare the same signals.
            for name in ("message_requested", "filter_requested", "column_requested"):
                getattr(self.list, name).connect(getattr(self._links, name))
            self.list.panel_requested.connect(self.panel_requested)
            self.list.pointer_left.connect(self._show_again)
            self.show_sections([self.list], keep_place=False)
        # The pointer is over the list: keep rows in place until it leaves.
        elif self.list.underMouse():
            self.list.update_figures(account.lines)
        else:
            self.list.replace_rows(account.lines)
        self._head = account_words(account)
        self.renewed.emit(self._head)
