"""Head of the timeline: choices of lanes, messages and spacing, and buttons for brush and zoom."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.present.wire_text import tool_tip
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.pane_head import LineHead
from inspector.ui.panels.timeline.axis import Spacing
from inspector.ui.widgets.buttons import IconButton

SPACING_WORDS: tuple[tuple[Spacing, str], ...] = (
    ("time", "time"), ("scale", "time, to scale"), ("message", "message"),
)  # fmt: skip
"""Choices of the spacing. The first one leaves long silences out."""
_ELIDED = Qt.TextElideMode.ElideRight
_BRUSH_WORDS = "Drag to select a time range. Shift+drag, or B and arrow keys, always work"


class ChoiceButton(QToolButton):
    """A sentence with a menu for its last words: "Lanes by **participant** v".

    Signals:
        chosen(str): id of the choice.
    """

    chosen = Signal(str)

    def __init__(
        self, themes: ThemeController, lead: str, options: Sequence[tuple[str, str]], *, name: str, parent: QWidget
    ) -> None:
        """Creates the button with the first option chosen.

        Args:
            themes: gives the look.
            lead: beginning of the sentence.
            options: ids and labels.
            name: object name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes, self._lead, self._leadless = themes, lead, False
        self._words = dict(options)
        self.value = options[0][0]
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.menu_of_options = QMenu(self)
        self.menu_of_options.setObjectName(f"{name}Menu")
        self.menu_of_options.setAccessibleName(lead)
        group = QActionGroup(self)
        for option, text in options:
            action = group.addAction(text)
            action.setCheckable(True)
            action.setChecked(option == self.value)
            action.setData(option)
            self.menu_of_options.addAction(action)
        group.triggered.connect(lambda action: self.choose(action.data()))
        self.clicked.connect(lambda: self.menu_of_options.popup(self.mapToGlobal(QPoint(0, self.height()))))
        self._update_texts()

    def drop_lead(self, on: bool) -> None:
        """Hides the beginning of the sentence in a narrow head. The accessible name keeps it."""
        if on != self._leadless:
            self._leadless = on
            self.setToolTip(tool_tip(self.accessibleName()) if on else "")
            self.updateGeometry()
            self.update()

    @property
    def _shown_lead(self) -> str:
        return "" if self._leadless or not self._lead else f"{self._lead} "

    @property
    def _shown_words(self) -> str:
        return self._words[self.value]

    def choose(self, option: str) -> None:
        """Chooses an option; emits `chosen` if it differs."""
        if option != self.value:
            self.value = option
            self._update_texts()
            self.chosen.emit(option)
        for action in self.menu_of_options.actions():
            action.setChecked(action.data() == self.value)

    def _update_texts(self) -> None:
        self.setAccessibleName(f"{self._lead} {self._words[self.value]}")
        if self._leadless:
            self.setToolTip(tool_tip(self.accessibleName()))
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        lead = QFontMetrics(theme.font("body")).horizontalAdvance(self._shown_lead)
        words = QFontMetrics(theme.font("body-medium")).horizontalAdvance(self._shown_words)
        return QSize(lead + words + round(24 * theme.zoom), round(24 * theme.zoom))

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        if self.hasFocus() or self.underMouse():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(theme.color("accent.ring") if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.washdim") if self.underMouse() else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        side = round(14 * theme.zoom)
        line = QRectF(self.rect()).adjusted(4, 0, -side - 3, 0)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(line, flags, self._shown_lead)
        line.setLeft(line.left() + painter.fontMetrics().horizontalAdvance(self._shown_lead))
        painter.setFont(theme.font("body-medium"))
        painter.setPen(theme.color("ink.primary"))
        room = int(line.width())
        painter.drawText(line, flags, painter.fontMetrics().elidedText(self._shown_words, _ELIDED, room))
        chevron = icons.pixmap("ri.arrow-down-s-line", "ink.secondary", side, self.devicePixelRatioF())
        painter.drawPixmap(self.width() - side - 3, (self.height() - side) // 2, chevron)


class TimelineHead(LineHead):
    """One line above the ruler.

    Signals:
        by_chosen(str): the meaning of a lane.
        shown_chosen(str): "all" or "table".
        spacing_chosen(str): the spacing of messages, an `axis.Spacing`.
        fit_requested(), zoom_requested(float): show everything; zoom in (over 1) or out.
        brush_toggled(bool): the next drag brushes a time range.

    Attributes:
        by, shown, spacing, brush: its parts.
    """

    by_chosen = Signal(str)
    shown_chosen = Signal(str)
    spacing_chosen = Signal(str)
    fit_requested = Signal()
    zoom_requested = Signal(float)
    brush_toggled = Signal(bool)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(themes, name="timelineHead", label="Timeline settings", parent=parent)
        by = (("participant", "participant"), ("context", "context"))
        shown = (("all", "all messages"), ("table", "visible messages"))
        self.by = ChoiceButton(themes, "Lanes by", by, name="timelineBy", parent=self)
        self.shown = ChoiceButton(themes, "Show", shown, name="timelineShown", parent=self)
        self.by.chosen.connect(self.by_chosen)
        self.shown.chosen.connect(self.shown_chosen)
        self.spacing = spacing_choice(themes, self)
        self.spacing.chosen.connect(self.spacing_chosen)
        for widget in (self.by, self.shown, self.spacing):
            self.row.addWidget(widget)
        self.row.addStretch(1)
        self.brush = IconButton(
            themes, "ri.crop-line", _BRUSH_WORDS, name="timelineBrush", variant="small",
            on_token="accent.text", parent=self,
        )  # fmt: skip
        self.brush.setCheckable(True)
        self.brush.toggled.connect(self.brush_toggled)
        self.row.addWidget(self.brush)
        for icon, words, name in (
            ("ri.fullscreen-line", "Show the whole capture (F)", "timelineFit"),
            ("ri.subtract-line", "Zoom out (-)", "timelineLess"),
            ("ri.add-line", "Zoom in (+)", "timelineMore"),
        ):
            button = IconButton(themes, icon, words, name=name, variant="small", parent=self)
            self.row.addWidget(button)
            if name == "timelineFit":
                button.clicked.connect(self.fit_requested)
            else:
                factor = 1.5 if name == "timelineMore" else 1 / 1.5
                # `factor` is bound here, since the loop changes the variable.
                button.clicked.connect(lambda _=False, factor=factor: self.zoom_requested.emit(factor))
        self.begin()

    def show_brushing(self, on: bool) -> None:
        """Checks the button of brushing mode."""
        self.brush.setChecked(on)

    @override
    def fit(self) -> None:
        """Hides the beginnings of sentences, one by one, until they fit."""
        choices = (self.spacing, self.by, self.shown)
        room = self.room_beside(choices)
        for dropped in range(len(choices) + 1):
            for place, choice in enumerate(reversed(choices)):
                choice.drop_lead(place < dropped)
            if sum(choice.sizeHint().width() for choice in choices) <= room:
                return


def spacing_choice(themes: ThemeController, parent: QWidget) -> ChoiceButton:
    """Creates the choice of spacing: "Axis by **time** v"."""
    made = ChoiceButton(themes, "Axis by", SPACING_WORDS, name="timelineSpacing", parent=parent)
    made.setAccessibleDescription("Time omits long silences; time to scale keeps them")
    return made
