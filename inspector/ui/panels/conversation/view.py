"""The list of cards: layouts of cards in sight, keys, pointer, and selected text across cards."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from inspector.present.conversation.cards import Card, CardKind
from inspector.present.wire_text import safe_line
from inspector.ui.look.hit_highlight import Locate
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.conversation.card_layout import CardLayout, ImageOf, column_of, paint_mark
from inspector.ui.panels.conversation.card_layouts import OPEN, Look, lay_out_card, placeholder
from inspector.ui.panels.conversation.card_words import card_heading, card_text
from inspector.ui.panels.conversation.model import ConversationModel, Key
from inspector.ui.panels.conversation.text_pieces import Range, reading_font
from inspector.ui.widgets.variable_height_view import VariableHeightView

_KEYS = Qt.Key
_STEP = 40
"""Pixels of a step of the wheel's third."""
_MAX_LAYOUTS = 160
_TOP = 12
_MAX_ESTIMATED_LINES = 24
_BYTES_A_LINE = 90
_DRAG_MS = 40
_ESTIMATES = {
    CardKind.THOUGHT: 30, CardKind.CALL: 96, CardKind.AGENT: 110, CardKind.COMPACTION: 44, CardKind.FOLD: 30,
    CardKind.RECORDS: 28, CardKind.GROUP: 34, CardKind.OTHER: 30, CardKind.INHERITED: 30, CardKind.END: 80,
}  # fmt: skip
GLOBAL = "global"
"""Act of the key G."""
UNOPENABLE = (CardKind.PROMPT, CardKind.ANSWER, CardKind.COMPACTION, CardKind.OTHER, CardKind.END)
"""Kinds of cards that are always open."""


class TextPlace(NamedTuple):
    """A place in the text of the conversation: card, text in it, and offset in UTF-16 units."""

    row: int
    text: int
    offset: int


class ConversationView(VariableHeightView):
    """Shows the cards of a `ConversationModel`.

    Signals:
        acted(int, str): perform an act on the card in a row.
        picked(int, bool): the user moved to a card; True for a click.
        link_asked(str): open an address after a question.
        menu_asked(int, QPoint): show the menu of a card at this position on the screen.
        left(): Esc was pressed.
        scrolled(): other cards are in sight.

    Attributes:
        measured_count: number of layouts made, for tests.
        image_of: decoded pictures.
        locate: finds search hits in a text; None without a search.
        shows_senders: cards name their senders.
    """

    acted = Signal(int, str)
    picked = Signal(int, bool)
    link_asked = Signal(str)
    menu_asked = Signal(int, object)
    left = Signal()
    scrolled = Signal()

    def __init__(self, model: ConversationModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards = model
        self._themes = themes
        self._layouts: OrderedDict[Key, tuple[Card | None, Look, Locate | None, CardLayout]] = OrderedDict()
        self.measured_count = 0
        self.locate: Locate | None = None
        self.image_of: ImageOf = lambda _picture: None
        self.shows_senders = False
        self._anchor_place: TextPlace | None = None
        self._head_place: TextPlace | None = None
        self._pressed: QPoint | None = None
        self._held: tuple[Key, int] | None = None
        self._drag = QTimer(self)
        self._drag.setInterval(_DRAG_MS)
        self._drag.timeout.connect(self._scroll_while_dragging)
        self.setObjectName("conversationView")
        self.setAccessibleName("Conversation")
        self.setAccessibleDescription("One card a row: prompts, thoughts, calls with their results, and answers")
        self.setProperty("variant", "base")
        self.setFrameShape(VariableHeightView.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setModel(model)
        # A log is read from its beginning.
        self._at_end = False
        model.rowsAboutToBeRemoved.connect(self._hold)
        model.rowsAboutToBeInserted.connect(self._hold)
        model.spliced.connect(self._on_spliced)
        model.cards_arrived.connect(self._on_cards_arrived)
        self.verticalScrollBar().valueChanged.connect(self.scrolled)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self._layouts.clear()
        self.verticalScrollBar().setSingleStep(round(_STEP * self._themes.theme.zoom))
        self._reset_layout()

    def _px(self, plain: float) -> int:
        return round(plain * self._themes.theme.zoom)

    # Layout

    def column(self) -> tuple[int, int]:
        """Returns left edge and width of the text column."""
        theme = self._themes.theme
        return column_of(theme, self.viewport().width(), reading_font(theme))

    @override
    def expected(self, first: int, stop: int) -> NDArray[np.int64]:
        outline = self._cards.outline
        if outline is None:
            return np.zeros(stop - first, np.int64)
        line = QFontMetrics(reading_font(self._themes.theme)).lineSpacing() * 1.18
        by_kind = np.array([self._px(_ESTIMATES.get(kind, 0)) for kind in CardKind], np.int64)
        kinds = outline.kinds[first:stop]
        found = by_kind[kinds]
        texts = (kinds == CardKind.PROMPT) | (kinds == CardKind.ANSWER)
        lines = np.clip(outline.sizes[first:stop] // _BYTES_A_LINE, 1, _MAX_ESTIMATED_LINES)
        found = np.where(texts, lines * line + self._px(24), found).astype(np.int64)
        if first == 0 and len(found):
            found[0] += self._px(_TOP)
        return found

    @override
    def measured(self, row: int) -> int:
        return self.layout_of(row).height + self._above(row)

    def _above(self, row: int) -> int:
        return self._px(_TOP) if row == 0 else 0

    def layout_of(self, row: int) -> CardLayout:
        """Returns the layout of a card; an estimate until the card has arrived."""
        outline, theme = self._cards.outline, self._themes.theme
        assert outline is not None
        key, card = self._cards.key(row), self._cards.card(row)
        names_sender = self.shows_senders and key[0] in (CardKind.PROMPT, CardKind.ANSWER, CardKind.CALL)
        look = Look(
            self.column()[1], int(outline.depths[row]), is_open=self._cards.is_open(row),
            is_shown=bool(outline.is_open[row]), shows_sender=names_sender, folds_results=self._cards.folds_results,
            is_inherited=self._cards.is_inherited(row),
        )  # fmt: skip
        known = self._layouts.get(key)
        if known is not None and known[0] is card and known[1] == look and known[2] is self.locate:
            self._layouts.move_to_end(key)
            return known[3]
        if card is None:
            return placeholder(theme, look, max(self._px(20), self.heights.height(row) - self._above(row)))
        if known is not None and known[0] is card and known[1] == look:
            layout = known[3]
        else:
            self.measured_count += 1
            layout = lay_out_card(card, theme, look, self.image_of)
        for text in layout.texts:
            text.show_hits(self.locate)
        self._layouts[key] = card, look, self.locate, layout
        while len(self._layouts) > _MAX_LAYOUTS:
            self._layouts.popitem(last=False)
        return layout

    @override
    def row_words(self, row: int) -> tuple[str, str]:
        # A reader that walks through all rows asks for no card.
        card = self._cards.card(row) if row in self.rows_in_sight() else self._cards.known_card(row)
        if card is None:
            name = CardKind(self._cards.key(row)[0]).name.capitalize()
            return name, name
        return card_heading(card), card_text(card)

    # Changes

    def _hold(self, *_rows: object) -> None:
        """Remembers the topmost card in sight before rows are replaced."""
        if self._held is None and len(self.heights):
            for row in self.rows_in_sight():
                if row < len(self._cards):
                    self._held = self._cards.key(row), self._top(row)
                    break
        self._settling = True

    def _on_spliced(self, start: int, _removed: int, added: int) -> None:
        held, self._held = self._held, None
        self._settling = False
        self._drop_selection_from(start)
        # States and counts of kept rows may differ.
        self.heights.exact[:] = self.heights.exact & (np.arange(len(self.heights)) < start + added)
        row = self._cards.row_of_key(held[0]) if held is not None and not self._at_end else -1
        if row >= 0 and held is not None:
            self._set_value(self.heights.top(row) - held[1])
            self._recheck()
            self._lay_out_visible((row, held[1]))
        else:
            self._recheck()
            self._lay_out_visible()
        self.viewport().update()
        self.scrolled.emit()

    def _recheck(self) -> None:
        """Lays visible cards out again; unchanged ones are cached."""
        for row in self.rows_in_sight():
            self.heights.invalidate_row(row)

    def _on_cards_arrived(self, first: int, last: int) -> None:
        for row in range(first, min(last + 1, len(self.heights))):
            self.heights.invalidate_row(row)
        self._lay_out_visible()
        self.viewport().update()

    def relay(self, row: int) -> None:
        """Lays a card out again after the user opened or closed it; its top stays."""
        if 0 <= row < len(self.heights):
            self._layouts.pop(self._cards.key(row), None)
            self.lay_out_again(row)
            self.scrolled.emit()

    def relay_all(self) -> None:
        """Lays all cards out again; the topmost one stays."""
        self._reset_layout()
        self.scrolled.emit()

    @property
    def at_end(self) -> bool:
        return self._at_end

    def hold_top(self) -> None:
        """Keeps the topmost card in place at the next change, even at the end."""
        self._at_end = False

    def place_at_top(self, row: int) -> None:
        """Scrolls a card to the top of the view."""
        if 0 <= row < len(self.heights):
            self._at_end = False
            self.heights.set_exact([row], [self.measured(row)])
            self._set_value(self.heights.top(row))
            self._lay_out_visible((row, 0))
            self.viewport().update()
            self.scrolled.emit()

    def show_offset(self, row: int, y: float) -> None:
        """Scrolls until a height of a card is in sight."""
        bar, top = self.verticalScrollBar(), self._top(row) + self._above(row) + round(y)
        room = self.viewport().height()
        if top < self._px(20) or top > room - self._px(60):
            self._at_end = False
            bar.setValue(bar.value() + top - room // 3)

    # Selected text

    def _origin(self, row: int) -> QPointF:
        return QPointF(self.column()[0], self._top(row) + self._above(row))

    def place_at(self, point: QPoint) -> TextPlace | None:
        """Returns the place in the text nearest to a point of the view."""
        if not len(self.heights):
            return None
        row = self.heights.row_at(max(0, point.y() + self.verticalScrollBar().value()))
        layout = self.layout_of(row)
        inside = QPointF(point) - self._origin(row)
        text = layout.text_at(inside)
        return TextPlace(row, text, layout.texts[text].position_at(inside) if text >= 0 else 0)

    def _selection(self) -> tuple[TextPlace, TextPlace] | None:
        if self._anchor_place is None or self._head_place is None or self._anchor_place == self._head_place:
            return None
        first, last = sorted((self._anchor_place, self._head_place))
        return first, last

    def selected_part(self, row: int, text: int, length: int) -> Range | None:
        """Returns the selected part of a text of a card."""
        found = self._selection()
        if found is None:
            return None
        first, last = found
        if not (first.row, first.text) <= (row, text) <= (last.row, last.text):
            return None
        start = first.offset if (first.row, first.text) == (row, text) else 0
        stop = last.offset if (last.row, last.text) == (row, text) else length
        return start, stop

    @property
    def has_selected_text(self) -> bool:
        return self._selection() is not None

    def selected_parts(self) -> tuple[str, range, str] | None:
        """Returns the selected text of the first card, the rows of whole cards, and the text of the last card."""
        found = self._selection()
        if found is None:
            return None
        first, last = (place.row for place in found)
        after = self._selected_in(last) if last != first else ""
        return self._selected_in(first), range(first + 1, max(first + 1, last)), after

    def _selected_in(self, row: int) -> str:
        texts = self.layout_of(row).texts
        pieces = [(text, self.selected_part(row, place, text.length)) for place, text in enumerate(texts)]
        return "\n".join(text.text(part) for text, part in pieces if part is not None and part[1] > part[0])

    def clear_selected_text(self) -> None:
        self._anchor_place = self._head_place = None
        self.viewport().update()

    def _drop_selection_from(self, row: int) -> None:
        found = self._selection()
        if found is not None and found[1].row >= row:
            self.clear_selected_text()

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        point = event.position().toPoint()
        self._pressed = point
        place = self.place_at(point)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._anchor_place is not None:
            self._head_place = place
        else:
            self._anchor_place = self._head_place = place
        self.viewport().update()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            if (point - self._pressed).manhattanLength() >= QGuiApplication.styleHints().startDragDistance() // 2:
                self._head_place = self.place_at(point)
                outside = not 0 <= point.y() < self.viewport().height()
                if outside and not self._drag.isActive():
                    self._drag.start()
                elif not outside:
                    self._drag.stop()
                self.viewport().update()
            return
        self.viewport().setCursor(self._cursor_at(point))

    def _cursor_at(self, point: QPoint) -> Qt.CursorShape:
        index = self.indexAt(point)
        if not index.isValid():
            return Qt.CursorShape.ArrowCursor
        layout, inside = self.layout_of(index.row()), QPointF(point) - self._origin(index.row())
        if layout.link_at(inside):
            return Qt.CursorShape.PointingHandCursor
        if any(text.rect.contains(inside) for text in layout.texts):
            return Qt.CursorShape.IBeamCursor
        return Qt.CursorShape.PointingHandCursor if layout.zone_at(inside) else Qt.CursorShape.ArrowCursor

    def _scroll_while_dragging(self) -> None:
        point = self.viewport().mapFromGlobal(self.cursor().pos())
        bar, room = self.verticalScrollBar(), self.viewport().height()
        step = point.y() if point.y() < 0 else max(0, point.y() - room)
        if self._pressed is None or not step:
            self._drag.stop()
            return
        bar.setValue(bar.value() + step)
        self._head_place = self.place_at(QPoint(point.x(), min(max(point.y(), 0), room - 1)))
        self.viewport().update()

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        self._drag.stop()
        if pressed is None or event.button() is not Qt.MouseButton.LeftButton or self.has_selected_text:
            return
        point = event.position().toPoint()
        index = self.indexAt(point)
        if not index.isValid():
            return
        row = index.row()
        self.show_row(row, quietly=True)
        self.picked.emit(row, True)
        inside = QPointF(point) - self._origin(row)
        layout = self.layout_of(row)
        link = layout.link_at(inside)
        zone = layout.zone_at(inside)
        if link:
            self.link_asked.emit(link)
        elif zone is not None:
            self.acted.emit(row, zone.act)
        elif inside.x() < self._px(30) and self._is_openable(row):
            self.acted.emit(row, OPEN)

    def _is_openable(self, row: int) -> bool:
        return self._cards.key(row)[0] not in UNOPENABLE

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Selects the word under the pointer."""
        place = self.place_at(event.position().toPoint())
        if place is None or place.text < 0:
            return
        start, stop = self.layout_of(place.row).texts[place.text].word_at(place.offset)
        self._anchor_place, self._head_place = place._replace(offset=start), place._replace(offset=stop)
        self.viewport().update()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            at = self.visualRect(index).center() if keyboard else event.pos()
            self.menu_asked.emit(index.row(), self.viewport().mapToGlobal(at))

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            index = self.indexAt(event.pos())
            words = ""
            if index.isValid():
                layout, inside = self.layout_of(index.row()), QPointF(event.pos()) - self._origin(index.row())
                zone, link = layout.zone_at(inside), layout.link_at(inside)
                words = safe_line(link, 300) if link else zone.words if zone is not None else ""
            QToolTip.showText(event.globalPos(), words.replace("<", "\u2039"), self.viewport())
            return True
        return super().viewportEvent(event)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), _KEYS(event.key())
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.acted.emit(row, "copy")
        elif modifiers or key == _KEYS.Key_Space:  # the window handles these keys
            event.ignore()
        elif key == _KEYS.Key_Escape:
            if self.has_selected_text:
                self.clear_selected_text()
            else:
                self.left.emit()
        elif key in (_KEYS.Key_Return, _KEYS.Key_Enter):
            if row >= 0:
                self.acted.emit(row, OPEN)
        elif key == _KEYS.Key_G and row >= 0:
            self.acted.emit(row, GLOBAL)
        elif key == _KEYS.Key_Home:
            self._at_end = False
            self._move_to(0)
        elif self._navigate(row, key):
            if self.currentIndex().row() != row:
                self.picked.emit(self.currentIndex().row(), False)
        else:
            event.ignore()

    def _move_to(self, row: int) -> None:
        self.show_row(row)
        self.picked.emit(row, False)

    # Painting

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        if not self.currentIndex().isValid() and len(self.heights):  # Qt would move to the first row
            self.show_row(self.whole_in_sight[0], quietly=True)
        super().focusInEvent(event)
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.color("surface.base"))
        current, x = self.currentIndex().row(), self.column()[0]
        for row in self.rows_in_sight():
            layout, y = self.layout_of(row), self._top(row) + self._above(row)
            painter.save()
            painter.translate(x, y)
            if row == current:
                self._paint_current(painter, layout)
            paint_mark(painter, theme, layout.mark, self._px(4) + layout_indent(layout, self._px(34)), layout.mark_y,
                       self.devicePixelRatioF())  # fmt: skip
            for shape in layout.shapes:
                shape(painter)
            for place, text in enumerate(layout.texts):
                text.paint(painter, theme, self.selected_part(row, place, text.length))
            painter.restore()

    def _paint_current(self, painter: QPainter, layout: CardLayout) -> None:
        """Paints a bar at the left of the current card, and a ring with the keyboard focus."""
        theme = self._themes.theme
        bar = QRectF(0, layout.frame.top() - 1, theme.metrics.selection_bar, max(layout.frame.height() + 2, 12))
        painter.fillRect(bar, theme.color("accent.fill" if self.hasFocus() else "line.strong"))
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("accent.ring"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            radius, aside = theme.metrics.radius_card + 2.5, self._px(6) if layout.is_bare else 2.5
            painter.drawRoundedRect(layout.frame.adjusted(-aside, -2.5, aside, 2.5), radius, radius)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def layout_indent(layout: CardLayout, gutter: int) -> float:
    """Returns the indent of a nested card."""
    return max(0.0, layout.frame.left() - gutter) if not layout.frame.isEmpty() else 0.0
