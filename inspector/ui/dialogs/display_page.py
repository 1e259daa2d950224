"""Settings > General > Display: theme, density, zoom, and the marks, states and rows of the table."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QFrame, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.present.badges import BADGE_BY_ID
from inspector.settings import Display
from inspector.settings.model import MAX_ZOOM_PERCENT, MIN_ZOOM_PERCENT
from inspector.tokens.counter import TOKENIZER
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import Density, ThemeController, ThemeSetting
from inspector.ui.widgets.form import CheckField, Form
from inspector.ui.widgets.labels import HairLine
from inspector.ui.widgets.scrolled_part import ScrolledPart
from inspector.ui.widgets.segmented import SegmentedControl

_ROWS = (
    ("1203", "transient", "", "10 activity records (page 2/3, IDs: 210, 211, 212...)"),
    ("1201", "consumed", "analysis_store", "Stored 1 analysis finding(s)"),
    ("1199", "collapsed", "", "10 activity records (page 1/3, IDs: 200, 201, 202...)"),
)
"""No., badge, tool, text: an example with real texts of the protocol."""


class HintsPreview(QFrame):
    """The example with or without hints, painted like the table."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        """Creates the preview without hints."""
        super().__init__(parent)
        self._themes = theme_controller
        self._hints = False
        self._paints: PaintCache | None = None
        self.setObjectName("settingsHintsPreview")
        self.setAccessibleName("Example of context hints")
        self.setProperty("variant", "card")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme_controller.changed.connect(self._on_theme_changed)

    def shows_hints(self) -> bool:
        return self._hints

    def set_hints(self, shown: bool) -> None:
        self._hints = shown
        words = ", ".join(badge for _, badge, _, _ in _ROWS)
        self.setAccessibleDescription(f"Rows with the badges {words}" if shown else "Rows without badges")
        self.update()

    def _on_theme_changed(self) -> None:
        self._paints = None
        self.updateGeometry()
        self.update()

    def _brushes(self) -> PaintCache:
        dpr = self.devicePixelRatioF()
        # The cache has pixmaps for one pixel ratio, and windows change screens.
        if self._paints is None or self._paints.dpr != dpr:
            self._paints = PaintCache(self._themes.theme, dpr)
        return self._paints

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        return QSize(round(300 * theme.zoom), len(_ROWS) * theme.metrics.row + round(14 * theme.zoom))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(round(160 * self._themes.theme.zoom), self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        theme = self._themes.theme
        top = round(7 * theme.zoom)
        for place, (number, badge, tool, text) in enumerate(_ROWS):
            row = QRect(0, top + place * theme.metrics.row, self.width(), theme.metrics.row)
            self._paint_row(painter, row, number, badge, tool, text)

    def _paint_row(self, painter: QPainter, row: QRect, number: str, badge: str, tool: str, text: str) -> None:
        paints = self._brushes()
        zoom = paints.theme.zoom
        gap = round(8 * zoom)
        right = row.right() - round(14 * zoom)
        x = round(13 * zoom)
        x += paints.draw(painter, "body", "ink.tertiary", x, row, number, right - x) + round(12 * zoom)
        collapsed = badge == "collapsed"
        if collapsed:
            x += paints.icon(painter, "expand", "ink.secondary", x - round(2 * zoom), row) + round(2 * zoom)
        if self._hints:
            x += paints.badge(painter, BADGE_BY_ID[badge], x, row) + gap
        if tool:
            x += paints.draw(painter, "mono-row", "ink.primary", x, row, tool, right - x) + gap
        paints.draw(painter, "body", "ink.tertiary" if collapsed else "ink.primary", x, row, text, right - x)


ZOOM_STEPS = tuple(range(MIN_ZOOM_PERCENT, MAX_ZOOM_PERCENT + 1, 10))
"""Percent."""

HINTS_HELP = "Mark tool results that may be collapsed, were consumed, or were replaced by their summary."
STATES_HELP = "Show the outcome at the end of a row, such as answered or waiting, and the duration after its time."
BOOKKEEPING_HELP = "Hide internal records of programs, such as hooks and snapshots."
SIDES_HELP = "Hide contexts and participants while a document has one context and few participants."
STREAMS_HELP = "Show one row for all frames of a stream, and for repeated messages of a transcript."
TOKENS_HELP = f"Estimate the tokens of each message with {TOKENIZER} in the background. No data leaves this computer."
MOTION_HELP = "Briefly highlight contexts and participants with new messages. Off if the system requests less motion."

FIRST_VIEWS = (("overview", "Overview"), ("conversation", "Conversation"), ("messages", "Messages"))
"""Ids and titles of views that a document can open on."""
FIRST_VIEW_HELP = "View that a newly opened document shows. A document without that view shows its messages."
DEVELOPER_HELP = "Figures about the running program: delays, timings, queues, tasks and objects."


class DisplayPage(QWidget):
    """Edits a copy of the display settings.

    Signals:
        changed(Display): the user made a change; a new object each time.
    """

    changed = Signal(object)

    def __init__(self, theme_controller: ThemeController, display: Display, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            display: the shown settings; not changed.
            parent: the owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._display_now = display.model_copy()
        self.setObjectName("settingsDisplay")
        self.setAccessibleName("Display")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        part = ScrolledPart(name="settingsDisplayPart", label="Display", parent=self)
        part.lines.addLayout(self._build())
        part.lines.addStretch(1)
        column.addWidget(part)
        self.show_values(display)

    def _build(self) -> Form:
        themes = self._themes
        form = Form(themes, self)
        self._theme = SegmentedControl(
            themes,
            (("system", "System"), ("light", "Light"), ("dark", "Dark")),
            name="settingsTheme",
            label="Theme",
            parent=self,
        )
        self._theme.chosen.connect(self._on_theme_chosen)
        self._density = SegmentedControl(
            themes,
            (("compact", "Compact"), ("comfortable", "Comfortable")),
            name="settingsDensity",
            label="Density",
            parent=self,
        )
        self._density.chosen.connect(self._on_density_chosen)
        self._zoom = QComboBox(self)
        self._zoom.setObjectName("settingsZoom")
        self._zoom.setAccessibleName("Zoom")
        self._zoom.addItems([f"{step} %" for step in ZOOM_STEPS])
        self._zoom.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._zoom.activated.connect(self._on_zoom_chosen)
        self._first_view = QComboBox(self)
        self._first_view.setObjectName("settingsFirstView")
        self._first_view.setAccessibleName("Show first")
        self._first_view.setToolTip(FIRST_VIEW_HELP)
        for view, title in FIRST_VIEWS:
            self._first_view.addItem(title, view)
        self._first_view.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._first_view.activated.connect(self._on_first_view_chosen)
        form.add_field("Theme", self._theme)
        form.add_field("Density", self._density)
        form.add_field("Zoom", self._zoom, self._zoom)
        form.add_field("Show first", self._first_view, self._first_view)
        form.add_across(HairLine("settingsDisplayLine", self))
        self._hints = CheckField("Show context hints", HINTS_HELP, name="settingsHints", parent=self)
        self._hints.toggled.connect(self._on_hints_toggled)
        self._preview = HintsPreview(themes, self)
        self._hints.add_below(self._preview)
        self._states = CheckField("Show states", STATES_HELP, name="settingsStates", parent=self)
        self._states.toggled.connect(self._on_states_toggled)
        self._streams = CheckField("Fold streams and copies", STREAMS_HELP, name="settingsStreams", parent=self)
        self._streams.toggled.connect(self._on_streams_toggled)
        self._bookkeeping = CheckField(
            "Hide bookkeeping rows", BOOKKEEPING_HELP, name="settingsBookkeeping", parent=self
        )
        self._bookkeeping.toggled.connect(self._on_bookkeeping_toggled)
        self._tokens = CheckField("Count tokens", TOKENS_HELP, name="settingsTokens", parent=self)
        self._tokens.toggled.connect(self._on_tokens_toggled)
        self._motion = CheckField("Animate activity", MOTION_HELP, name="settingsMotion", parent=self)
        self._motion.toggled.connect(self._on_motion_toggled)
        form.add_wide(self._hints)
        form.add_wide(self._states)
        form.add_wide(self._streams)
        form.add_wide(self._bookkeeping)
        self._sides = CheckField("Hide panes without a choice", SIDES_HELP, name="settingsSides", parent=self)
        self._sides.toggled.connect(lambda folds: self._change(fold_sides=folds))
        form.add_wide(self._sides)
        form.add_wide(self._tokens)
        self._developer = CheckField("Show the Developer menu", DEVELOPER_HELP, name="settingsDeveloper", parent=self)
        self._developer.toggled.connect(self._on_developer_toggled)
        form.add_wide(self._motion)
        form.add_wide(self._developer)
        return form

    def show_values(self, display: Display) -> None:
        """Shows other settings without a signal."""
        self._display_now = display.model_copy()
        self._theme.set_value(display.theme)
        self._density.set_value(display.density)
        nearest = min(ZOOM_STEPS, key=lambda step: abs(step - display.zoom_percent))
        self._zoom.setCurrentIndex(ZOOM_STEPS.index(nearest))
        self._first_view.setCurrentIndex([view for view, _ in FIRST_VIEWS].index(display.show_first))
        self._hints.set_checked(display.show_context_hints)
        self._preview.set_hints(display.show_context_hints)
        self._states.set_checked(display.show_states)
        self._streams.set_checked(display.fold_streams)
        self._bookkeeping.set_checked(display.hide_bookkeeping)
        self._sides.set_checked(display.fold_sides)
        self._tokens.set_checked(display.count_tokens)
        self._motion.set_checked(display.animate)
        self._developer.set_checked(display.developer_menu)

    def _change(self, **values: object) -> None:
        self._display_now = self._display_now.model_copy(update=values)
        self.changed.emit(self._display_now.model_copy())

    def _on_theme_chosen(self, theme: str) -> None:
        self._change(theme=cast("ThemeSetting", theme))

    def _on_density_chosen(self, density: str) -> None:
        self._change(density=cast("Density", density))

    def _on_zoom_chosen(self, place: int) -> None:
        self._change(zoom_percent=ZOOM_STEPS[place])

    def _on_first_view_chosen(self, place: int) -> None:
        self._change(show_first=FIRST_VIEWS[place][0])

    def _on_hints_toggled(self, shown: bool) -> None:
        self._preview.set_hints(shown)
        self._change(show_context_hints=shown)

    def _on_states_toggled(self, shown: bool) -> None:
        self._change(show_states=shown)

    def _on_bookkeeping_toggled(self, hidden: bool) -> None:
        self._change(hide_bookkeeping=hidden)

    def _on_streams_toggled(self, folded: bool) -> None:
        self._change(fold_streams=folded)

    def _on_tokens_toggled(self, counted: bool) -> None:
        self._change(count_tokens=counted)

    def _on_developer_toggled(self, shown: bool) -> None:
        self._change(developer_menu=shown)

    def _on_motion_toggled(self, animated: bool) -> None:
        self._change(animate=animated)
