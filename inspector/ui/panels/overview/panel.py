"""The overview: what was asked, what came of it, and cards in a grid."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget
from typing_extensions import override

from inspector.engine.requests.overview import ShowOverview
from inspector.engine.requests.waste import WasteFigures
from inspector.present.overview.cards import Card, Overview
from inspector.present.overview.merging import update_in_place
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.overview.card_view import CardView
from inspector.ui.panels.overview.word_flow import Fragment, flow_of, line_height, paint_fragment
from inspector.ui.panels.overview.word_link import WordLink
from inspector.ui.widgets.latest_answer import Client, LatestAnswer

_TWO_COLUMNS_FROM = 1000
"""Width in pixels at 100 % from which cards stand in two columns."""
_REST = 20
"""Pause after an overview, as a multiple of the time it took."""
_MARGIN, _GAP, _HEAD_GAP = 26, 14, 6
_LONGEST_TITLE_LINES = 2


class OverviewPage(QWidget):
    """Head and cards of an overview.

    Signals:
        link_chosen(Link): a link was clicked.
        pointer_left(): the pointer has left the page.

    Attributes:
        overview: its contents, after the first answer.
        cards: the cards in reading order.
    """

    link_chosen = Signal(object)
    pointer_left = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.overview: Overview | None = None
        self.cards: list[CardView] = []
        self._links: list[WordLink] = []
        self._head: list[Fragment] = []
        self._title: list[str] = []
        self._title_top = 0.0
        self.setObjectName("overviewPage")
        self.setAccessibleName("Overview")
        themes.changed.connect(self.relayout)

    def update_texts(self, overview: Overview) -> None:
        """Shows new texts of the same cards, in the same places."""
        self.overview = overview
        for view, card in zip(self.cards, overview.cards, strict=True):
            if view.card != card:
                view.show_card(card)

    def show_overview(self, overview: Overview) -> None:
        """Shows an overview; cards with the same ids stay."""
        self.overview = overview
        before = {view.card.id: view for view in self.cards}
        self.cards = [self._card_view(before.pop(card.id, None), card) for card in overview.cards]
        for gone in before.values():
            gone.hide()
            gone.deleteLater()
        self.setAccessibleDescription("\n".join(overview.texts[:3]))
        self.lay_out()
        self._order_tabs()

    def _card_view(self, known: CardView | None, card: Card) -> CardView:
        if known is not None:
            if known.card != card:
                known.show_card(card)
            return known
        view = CardView(self._themes, card, self)
        view.link_chosen.connect(self.link_chosen)
        view.show()
        return view

    def _order_tabs(self) -> None:
        """Lets Tab go through the cards in reading order."""
        before: QWidget | None = self._links[-1] if self._links else None
        for view in self.cards:
            for link in view.links:
                if before is not None:
                    QWidget.setTabOrder(before, link)
                before = link

    def relayout(self) -> None:
        """Lays out everything after a change of the theme."""
        for view in self.cards:
            view.relayout()
        self.lay_out()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.lay_out()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.pointer_left.emit()

    def lay_out(self) -> None:
        """Places head and cards for the present width."""
        overview, theme = self.overview, self._themes.theme
        if overview is None:
            return
        zoom = theme.zoom
        margin, gap = round(_MARGIN * zoom), round(_GAP * zoom)
        inner = max(1, self.width() - 2 * margin)
        y = self._place_head(overview, margin, inner) + gap
        two = self.width() >= _TWO_COLUMNS_FROM * zoom
        column = (inner - gap) // 2 if two else inner
        waiting: CardView | None = None
        for view in self.cards:
            if two and not view.card.wide and waiting is None:
                waiting = view
                continue
            if waiting is not None and not view.card.wide:
                height = max(waiting.height_for(column), view.height_for(column))
                waiting.setGeometry(margin, y, column, height)
                view.setGeometry(margin + inner - column, y, column, height)
                waiting, y = None, y + height + gap
                continue
            if waiting is not None:
                y, waiting = self._place_whole(waiting, margin, y, inner, gap), None
            y = self._place_whole(view, margin, y, inner, gap)
        if waiting is not None:
            y = self._place_whole(waiting, margin, y, inner, gap)
        self.setMinimumHeight(y - gap + margin)
        self.update()

    def _place_whole(self, view: CardView, x: int, y: int, width: int, gap: int) -> int:
        height = view.height_for(width)
        view.setGeometry(x, y, width, height)
        return y + height + gap

    def _place_head(self, overview: Overview, margin: int, inner: int) -> int:
        theme = self._themes.theme
        y = float(round(0.7 * margin)) + line_height(theme)
        self._title_top = y
        metrics = QFontMetricsF(theme.font("title"))
        self._title = _wrapped(overview.title, metrics, inner)
        y += len(self._title) * metrics.height() + round(_HEAD_GAP * theme.zoom)
        flow = flow_of(theme, overview.below, inner)
        self._head = flow.moved(margin, y)
        linked = [one for one in self._head if one.words.link is not None]
        while len(self._links) < len(linked):
            link = WordLink(self._themes, self)
            link.clicked.connect(self._follow)
            self._links.append(link)
        for link, fragment in zip(self._links, linked, strict=False):
            link.show_at(fragment, context="")
        for spare in self._links[len(linked) :]:
            spare.hide()
        return round(y + flow.height)

    def _follow(self) -> None:
        link = self.sender()
        if isinstance(link, WordLink) and link.words.link is not None:
            self.link_chosen.emit(link.words.link)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._themes.theme
        painter.fillRect(event.rect(), theme.color("surface.chrome"))
        if self.overview is None:
            return
        margin = round(_MARGIN * theme.zoom)
        box = QRectF(margin, round(0.7 * margin) - 2, self.width() - 2 * margin, line_height(theme))
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        above = QFontMetricsF(theme.font("body")).elidedText(
            self.overview.above, Qt.TextElideMode.ElideRight, box.width()
        )
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, above)
        painter.setFont(theme.font("title"))
        painter.setPen(theme.color("ink.primary"))
        metrics = QFontMetricsF(theme.font("title"))
        for place, line in enumerate(self._title):
            painter.drawText(QPointF(margin, self._title_top + place * metrics.height() + metrics.ascent()), line)
        for fragment in self._head:
            if fragment.words.link is None:
                paint_fragment(painter, theme, fragment)


def _wrapped(text: str, metrics: QFontMetricsF, width: float) -> list[str]:
    """Breaks a title into at most two lines."""
    if metrics.horizontalAdvance(text) <= width:
        return [text]
    first = ""
    for word in text.split(" "):
        if metrics.horizontalAdvance(f"{first} {word}".strip()) > width:
            break
        first = f"{first} {word}".strip()
    rest = text[len(first) :].strip() if first else text
    lines = [first, rest] if first else [rest]
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines[:_LONGEST_TITLE_LINES]]


class OverviewPanel(QScrollArea):
    """The overview of one document, up to date while it is visible.

    Lines stay in place while the pointer rests on the page, so that a click hits the intended one.

    Signals:
        link_chosen(Link): a link was clicked.

    Attributes:
        page: the page.
        latest: the overview.
    """

    link_chosen = Signal(object)

    def __init__(
        self, client: Client, themes: ThemeController, waste: LatestAnswer[WasteFigures], parent: QWidget | None = None
    ) -> None:  # fmt: skip
        """Creates an empty page.

        Args:
            client: asks the engine.
            themes: theme source.
            waste: figures of the Waste panel.
            parent: owner.
        """
        super().__init__(parent)
        self._waste = waste
        self._has_runs = False
        self.setObjectName("overview")
        self.setAccessibleName("Overview")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # A bar that comes and goes would wrap all lines again.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.page = OverviewPage(themes, self)
        self.setWidget(self.page)
        self.page.link_chosen.connect(self.link_chosen)
        self.page.pointer_left.connect(self._show_again)
        self.latest = LatestAnswer(
            self, client, self._question, self._show, every_ms=lambda: intervals.FIGURES_MS, rest=_REST
        )
        waste.answered.connect(self.latest.invalidate)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._show_focused)

    def tick(self) -> None:
        """Updates waiting times once a second while messages arrive."""
        if self.latest.answer is not None and self.latest.answer.is_arriving:
            self.latest.invalidate()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Home and End scroll to the first and the last line."""
        bar = self.verticalScrollBar()
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            bar.setValue(bar.minimum() if event.key() == Qt.Key.Key_Home else bar.maximum())
        else:
            super().keyPressEvent(event)

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    def _question(self) -> ShowOverview:
        return ShowOverview(self._waste.answer.totals if self._waste.answer is not None else None, self._has_runs)

    def _show_again(self) -> None:
        # A click on a link leaves the page too; its handler comes first.
        QTimer.singleShot(0, self, self._show_latest)

    def _show_latest(self) -> None:
        if self.latest.answer is not None and not self.page.underMouse() and self.page.overview != self.latest.answer:
            self.page.show_overview(self.latest.answer)

    def _show(self, overview: Overview) -> None:
        if overview.is_comparable and not self._has_runs:
            self._has_runs = True  # comparing them takes longer than all other cards
            self.latest.invalidate()
        before = self.page.overview
        if before is not None and before.cards and self.page.underMouse() and overview.is_arriving:
            self.page.update_texts(update_in_place(before, overview))
        else:
            self.page.show_overview(overview)

    def _show_focused(self, _before: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self.isAncestorOf(now):
            self.ensureWidgetVisible(now)
