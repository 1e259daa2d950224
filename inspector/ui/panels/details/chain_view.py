"""A causal chain, everywhere in the same form: delta, rail, icon, name, one relation word, No. (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QMenu
from typing_extensions import override

from inspector.analysis import Analysis
from inspector.analysis.chain import ChainStep
from inspector.analysis.pending import is_cancelled, is_pending, is_refused, pending_age_ns
from inspector.capture.hashes import NO_ROW
from inspector.present import formats
from inspector.present.wire_text import plain, tool_tip
from inspector.protocol import kinds
from inspector.ui.look import icons
from inspector.ui.panels.details.rows import RowsView
from inspector.ui.panels.details.subject import TEXT_KINDS, name_of
from inspector.ui.panels.details.words import delta

_DELTA, _RAIL, _ICON, _NAME = 56, 70, 85, 104  # left edges (of the delta: its right one) at 100 %
_TOOK_FROM = 440  # narrower, what a step took is in its tooltip alone
_LEAST = "mmm"  # of a relation, or it says nothing
RAIL_LEFT, NAME_LEFT = _RAIL, _NAME
"""Where the rail stands and where words begin, at 100 %."""
_LONGEST = ("+59 min 59 s", "+23 h 59 min")
"""Room is kept for times this long, so that a step that comes later moves nothing."""

NOWHERE = -1
"""The message of a row that stands for something that did not happen."""


@dataclass(frozen=True, slots=True)
class Link:
    """A row of a chain.

    Attributes:
        message: NOWHERE for what did not happen.
        icon: instead of the kind's.
    """

    message: int
    kind: str
    delta: str
    name: str
    mono: bool = False
    relation: str = ""
    own: bool = False
    token: str = "ink.tertiary"
    tooltip: str = ""
    took: str = ""
    icon: str = ""

    @property
    def leads(self) -> bool:
        """Whether it is a link to another message."""
        return not self.own and self.message != NOWHERE

    @property
    def number(self) -> str:
        """Its number, "" for none."""
        return "" if self.message == NOWHERE else str(self.message + 1)


def link_of(
    analysis: Analysis, step: ChainStep, own: int, relation: str | None = None, token: str = "ink.tertiary"
) -> Link:
    """The row of one step.

    Args:
        own: the message the chain is about.
        relation: a word instead of the step's own.
        token: colour of the relation.
    """
    name, mono = name_of(analysis, step.message)
    kind = analysis.capture.string("kind", step.message) or ""
    word = step.relation if relation is None else relation
    last = kind.rpartition("/")[2]
    if not mono and (kind in TEXT_KINDS or word == last) and relation is None:
        word = "" if name != last and kind.startswith("reasoning/") else word
        word = "" if word == name else word
    if relation is None and (came_to_nothing := _unanswered(analysis, step.message, word)):
        word, token = came_to_nothing, "severity.warning"
    when = "this" if step.message == own else delta(step.delta_ns)
    sender = analysis.capture.string("sender", step.message)
    took = "" if step.took_ns is None or step.took_ns < 0 else formats.duration(step.took_ns)
    since = f"{took} after No. {step.after + 1}" if took and step.after is not None else ""
    tooltip = "\n".join(filter(None, (name[:600], f"from {sender}" if sender else "", since)))
    said = plain(word, 80)
    return Link(step.message, kind, when, plain(name, 200), mono, said, step.message == own, token, tooltip, took)


def _unanswered(analysis: Analysis, message: int, word: str) -> str:
    """What is said of a call that has come to nothing, or to nothing yet; "" of any other message."""
    kind = analysis.capture.string("kind", message)
    if kind not in (kinds.REQUEST, kinds.PROPOSAL) or analysis.correlation.columns["answer"][message] != NO_ROW:
        return ""
    if is_refused(analysis, message):
        return "refused"
    if not is_pending(analysis, message):
        return "cancelled" if is_cancelled(analysis, message) else ""
    if analysis.now_ns is None:
        return word if kind == kinds.PROPOSAL else "no answer"
    age = pending_age_ns(analysis, message)
    return word if age is None else formats.waiting(age)


class ChainView(RowsView[Link]):
    """The chain as a list; Enter or a click goes to a message.

    Attributes:
        took: whether each row also says how long it took since the step it came out of.
    """

    took = False
    _measured: tuple[object, int] = (None, 0)

    @override
    def row_text(self, row: Link) -> str:
        took = _took(row) if self.took else ""
        number = f"No. {row.number}" if row.number else ""
        return ", ".join(filter(None, (row.delta, row.name, row.relation, took, number)))

    @override
    def row_tooltip(self, row: Link) -> str:
        return tool_tip(row.tooltip)

    @override
    def first_row(self) -> int:
        return next((place for place, row in enumerate(self.rows) if row.own), 0)

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, link = self.themes.theme, self.rows[row]
        zoom = theme.zoom
        if link.own or hovered:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface.hover"))
            painter.drawRoundedRect(rect, theme.metrics.radius_mark, theme.metrics.radius_mark)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(theme.font("body-medium" if link.own else "body"))
        painter.setPen(theme.color("ink.primary" if link.own else "ink.tertiary"))
        box = QRect(rect.left(), rect.top(), round(_DELTA * zoom) + self._longer(), rect.height())
        painter.drawText(box, middle | int(Qt.AlignmentFlag.AlignRight), link.delta)
        rect = rect.adjusted(self._longer(), 0, 0, 0)
        self._paint_rail(painter, rect, row)
        side = theme.metrics.icon_row
        ratio = self.devicePixelRatioF()
        pixmap = icons.pixmap(link.icon, "ink.secondary", side, ratio) if link.icon else (
            icons.kind_pixmap(link.kind, side, ratio)
        )  # fmt: skip
        painter.drawPixmap(rect.left() + round(_ICON * zoom), rect.top() + (rect.height() - side) // 2, pixmap)
        self._paint_words(painter, rect, link, hovered)

    def _longer(self) -> int:
        """Pixels by which times need more than their column: a figure is never cut, and room for long ones is kept."""
        room = round(_DELTA * self.themes.theme.zoom)
        if self._measured[0] is not self.rows:
            metrics = QFontMetrics(self.themes.theme.font("body-medium"))
            texts = (*_LONGEST, *(link.delta for link in self.rows))
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            self._measured = (self.rows, widest)
        return max(0, self._measured[1] - room)

    def _paint_rail(self, painter: QPainter, rect: QRect, row: int) -> None:
        theme = self.themes.theme
        center = QPointF(rect.left() + round(_RAIL * theme.zoom), rect.center().y() + 0.5)
        radius = (4.5 if self.rows[row].own else 3) * theme.zoom
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rail = QPen(theme.color("accent.ring"), 1)
        painter.setPen(rail)
        painter.setOpacity(0.55)
        if row > 0:
            painter.drawLine(QPointF(center.x(), rect.top()), QPointF(center.x(), center.y() - radius))
        if row < len(self.rows) - 1:
            painter.drawLine(QPointF(center.x(), center.y() + radius), QPointF(center.x(), rect.bottom() + 1))
        painter.setOpacity(1)
        painter.setPen(QPen(theme.color("accent.ring"), 1.5))
        own = self.rows[row].own
        painter.setBrush(theme.color("accent.ring") if own else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, radius, radius)
        painter.restore()

    def _paint_words(self, painter: QPainter, rect: QRect, link: Link, hovered: bool) -> None:
        theme = self.themes.theme
        unit = theme.metrics.unit
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        number = link.number
        font = QFont(theme.font("body-medium"))
        font.setWeight(QFont.Weight.Normal)
        font.setUnderline(hovered and not link.own)
        right = rect.right() - 2 * unit + 2
        painter.setFont(font)
        painter.setPen(theme.color("ink.tertiary" if link.own else "accent.text"))
        painter.drawText(
            QRect(rect.left(), rect.top(), right - rect.left(), rect.height()),
            middle | int(Qt.AlignmentFlag.AlignRight),
            number,
        )
        # Beside figures of unequal length the times would stand askew.
        longest = str(max(row.message for row in self.rows) + 1) if self.shows_took else number
        right -= QFontMetrics(font).horizontalAdvance(longest) + 2 * unit
        if self.shows_took:
            right = self._paint_took(painter, rect, link, right)
        left = rect.left() + round(_NAME * theme.zoom)
        name, relation = self.words_in(link, right - left)
        name_font = theme.font("mono-row" if link.mono else "body")
        painter.setFont(name_font)
        painter.setPen(theme.color("ink.primary"))
        painter.drawText(QRectF(left, rect.top(), right - left + 2, rect.height()), middle, name)
        left += QFontMetrics(name_font).horizontalAdvance(name) + 2 * unit
        if relation:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color(link.token))
            painter.drawText(QRectF(left, rect.top(), max(0, right - left) + 2, rect.height()), middle, relation)

    @property
    def shows_took(self) -> bool:
        """Whether rows say how long they took; where there is little room their tooltips alone do."""
        return self.took and self.width() >= round(_TOOK_FROM * self.themes.theme.zoom)

    def words_in(self, link: Link, room: int) -> tuple[str, str]:
        """What is shown of a row's name and relation in so many pixels; "" for a relation there is no room for.

        A name, such as a tool's, goes before all else; beside a text, a relation may leave a third of the room.
        """
        theme = self.themes.theme
        names = QFontMetrics(theme.font("mono-row" if link.mono else "body"))
        relations = QFontMetrics(theme.font("small"))
        wanted, gap = relations.horizontalAdvance(link.relation), 2 * theme.metrics.unit if link.relation else 0
        is_text = not link.mono and link.kind in TEXT_KINDS and bool(link.relation)
        name_room = max(room - wanted - gap, room // 3) if is_text else room
        name = names.elidedText(link.name, Qt.TextElideMode.ElideRight, name_room)
        rest = room - names.horizontalAdvance(name) - gap
        if not link.relation or rest < min(wanted, relations.horizontalAdvance(_LEAST)):
            return name, ""
        return name, relations.elidedText(link.relation, Qt.TextElideMode.ElideRight, rest + 2)

    def _paint_took(self, painter: QPainter, rect: QRect, link: Link, right: int) -> int:
        """How long a step took, right of its name; returns where the name has to stop."""
        theme = self.themes.theme
        metrics = QFontMetrics(theme.font("small"))
        wanted = max((metrics.horizontalAdvance(_took(row)) for row in self.rows), default=0)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        box = QRect(right - wanted, rect.top(), wanted, rect.height())
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), _took(link))
        return right - wanted - 2 * theme.metrics.unit

    @override
    def is_link(self, row: int, place: QPoint) -> bool:
        return self.rows[row].leads

    @override
    def click_row(self, row: int, place: QPoint) -> None:
        self.activate_row(row)

    @override
    def activate_row(self, row: int) -> None:
        if self.rows[row].leads:
            self.message_requested.emit(self.rows[row].message)

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        if self.rows[row].leads:
            go = menu.addAction(f"Go to No. {self.rows[row].number}")
            go.triggered.connect(lambda: self.activate_row(row))
        super().fill_menu(menu, row)


def _took(link: Link) -> str:
    return f"took {link.took}" if link.took else ""


def links_of(analysis: Analysis, steps: Sequence[ChainStep], own: int) -> list[Link]:
    """The rows of a chain."""
    return [link_of(analysis, step, own) for step in steps]
