"""Lower half of the timeline: plot of context growth or rates, its head, and the choice of a reader."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QActionGroup, QHideEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.growth import ContextGrowth, Growth, ReaderName
from inspector.engine.requests.model_contexts import Reader
from inspector.engine.requests.rates import Rates
from inspector.tokens.counter import TOKENIZER
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import Segments
from inspector.ui.panels.growth.canvas import PlotCanvas
from inspector.ui.panels.growth.growth_figure import GrowthFigure
from inspector.ui.panels.growth.rates_figure import RatesFigure
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.head import ChoiceButton
from inspector.ui.panels.timeline.legend import Key, Legend
from inspector.ui.widgets.latest_answer import Client, LatestAnswer

_FOLLOW_MS = 60
"""Delay of a plot while a key repeats, so that only the last message is computed."""

_REST = 20
"""Pause after an answer, as a multiple of its duration."""
_LEAD = "of"
SELECTED = "Follow the selected message"


class ReaderChoice(ChoiceButton):
    """Menu button of the form "of **analyst with activities** v".

    Signals:
        reader_chosen(Reader): the user chose a reader.
        selected_chosen(): the user chose to follow the selected message.
    """

    reader_chosen = Signal(object)
    selected_chosen = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(themes, _LEAD, (("", ""),), name="growthReader", parent=parent)
        self._readers: dict[str, Reader] = {}
        self._group: QActionGroup | None = None
        self._follows = True
        self._brief: dict[str, str] = {}
        self._is_brief = False

    def show_readers(self, known: Sequence[ReaderName], reader: Reader | None, *, follows: bool) -> None:
        """Offers all readers and checks the present one.

        Args:
            known: the possible readers.
            reader: the present one.
            follows: it follows the selected message.
        """
        words = {str(place): one.words for place, one in enumerate(known)}
        readers = {str(place): one.reader for place, one in enumerate(known)}
        value = next((key for key, one in readers.items() if one == reader), "")
        if (words, value, follows) == (self._words, self.value, self._follows) and self._readers == readers:
            return
        self._follows = follows
        self._brief = {str(place): one.name for place, one in enumerate(known)}
        # The button needs a label even without readers; it is hidden then.
        self._words = words or {"": "no one"}
        self.value = value if words else ""
        self._readers = readers
        self._fill()
        self._update_texts()

    def shorten(self, on: bool) -> None:
        """Omits the senders of the results the reader reads, for a narrow head."""
        if on != self._is_brief:
            self._is_brief = on
            self.updateGeometry()
            self.update()

    @property
    @override
    def _shown_words(self) -> str:
        words = super()._shown_words
        return self._brief.get(self.value, words) if self._is_brief else words

    def _choose(self, key: str) -> None:
        """Chooses a reader for good, even if the selected message already leads to it."""
        self.value = key
        self.reader_chosen.emit(self._readers[key])

    def _fill(self) -> None:
        # Clearing the menu deletes the actions, but not their group.
        if self._group is not None:
            self._group.deleteLater()
        self.menu_of_options.clear()
        group = self._group = QActionGroup(self)
        goes = self.menu_of_options.addAction(SELECTED)
        goes.setCheckable(True)
        goes.setChecked(self._follows)
        goes.triggered.connect(lambda: self.selected_chosen.emit())
        self.menu_of_options.addSeparator()
        for key in self._readers:
            action = group.addAction(self._words[key].replace("&", "&&"))
            action.setCheckable(True)
            action.setData(key)
            action.setChecked(key == self.value and not self._follows)
            self.menu_of_options.addAction(action)
        group.triggered.connect(lambda action: self._choose(action.data()))
        self.setEnabled(bool(self._readers))


GROWTH, RATES = "Context growth", "Messages per second"
UNIT = f"tokens,\nestimate\n({TOKENIZER})"
UNIT_REPORTED = f"tokens,\nreported;\nestimate\n({TOKENIZER})"
NO_READER = "There is no message for a model yet."
WORKING = "Computing this context..."
NOT_COUNTED = "Tokens of these messages are not counted yet."


class GrowthHead(QWidget):
    """Choice of plots, choice of the reader, and the legend beside or below them.

    Attributes:
        plots, reader, legend, legend_below: its parts.
    """

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("growthHead")
        self.setAccessibleName("Plot settings")
        self.plots = Segments(themes, (GROWTH, RATES), "growthPlots", "Plot", self)
        self.plots.choose(GROWTH)
        self.reader = ReaderChoice(themes, self)
        self.reader.hide()  # until the readers are known
        self.legend = Legend(themes, "plotLegend", self)
        self.legend_below = Legend(themes, "plotLegendBelow", self)
        self._column = QVBoxLayout(self)
        self._row = QHBoxLayout()
        for widget in (self.plots, self.reader):
            self._row.addWidget(widget)
        self._row.addWidget(self.legend, 1)
        self._row.addStretch()  # keeps them at the left if the legend is below
        self._column.addLayout(self._row)
        self._column.addWidget(self.legend_below)
        self._column.setSpacing(0)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_keys(self, keys: Sequence[Key]) -> None:
        for legend in (self.legend, self.legend_below):
            legend.show_keys(keys)
        self.fit()

    def fit(self) -> None:
        """Shortens the reader if the legend does not fit beside it, and moves the legend below if that is not enough.

        The legend is always complete.
        """
        margins, hidden = self._row.contentsMargins(), self.reader.isHidden()
        room = self.width() - margins.left() - margins.right() - 3 * self._row.spacing()
        room -= self.plots.sizeHint().width()
        self.reader.shorten(False)
        self.reader.drop_lead(False)
        taken = 0 if hidden else self.reader.sizeHint().width()
        self.reader.shorten(taken + self.legend.width_of(short=False) > room)
        taken = 0 if hidden else self.reader.sizeHint().width()
        self.reader.drop_lead(taken > room)
        beside = taken + self.legend.width_of(short=True) <= room
        self.legend.setVisible(beside)
        self.legend_below.setVisible(not beside)
        high = 0 if beside else self.legend_below.height_of(self.width())
        self.setMinimumHeight(self._themes.theme.metrics.head)
        self.setMaximumHeight(self._themes.theme.metrics.head + high)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        for y in (0, self.height() - 1):
            painter.fillRect(0, y, self.width(), 1, theme.color("line.hair"))

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self._column.setContentsMargins(0, 0, 0, 0)
        self._row.setContentsMargins(metrics.pane_padding - 2 * metrics.unit, 1, metrics.pane_padding, 1)
        self._row.setSpacing(metrics.unit)
        self.legend_below.keep_off(metrics.pane_padding, metrics.pane_padding)
        self.fit()
        self.update()


class GrowthPlot(QWidget):
    """Context growth or messages per second of one document.

    Signals:
        message_requested(int): select this message.
        left(): Esc was pressed.

    Attributes:
        head, canvas: its parts.
        growth, rates: the two plots.
    """

    message_requested = Signal(int)
    left = Signal()

    def __init__(
        self, client: Client, theme: ThemeController, axis: TimeAxis, choices: PlotChoices, parent: QWidget
    ) -> None:
        """Creates the plots.

        Args:
            client: asks the engine.
            theme: gives the look.
            axis: the visible range of time.
            choices: the reader of the model context, shared with other views.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("growthPlot")
        self.setAccessibleName("Plots over time")
        self._themes, self._axis = theme, axis
        self._stopped = False
        self._choices = choices
        self.head = GrowthHead(theme, self)
        self.canvas = PlotCanvas(axis, theme, "growthCanvas", self)
        self.growth = GrowthFigure(client, axis, theme, self.canvas.follow_cursor)
        self.rates = RatesFigure(client, axis, theme, self._ask_for_rates, self.canvas.follow_cursor)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.canvas, 1)
        self.setFocusProxy(self.canvas)
        self.canvas.message_requested.connect(self.message_requested)
        self.canvas.left.connect(self.left)
        self.head.plots.chosen.connect(self._choose_plot)
        self.head.reader.reader_chosen.connect(choices.choose)
        self.head.reader.selected_chosen.connect(lambda: choices.choose(None))
        self.latest = LatestAnswer(
            self, client, lambda: ContextGrowth(choices.reader_choice, axis.counts), self._show_growth,
            every_ms=self._pause_ms, rest=_REST, ready=lambda: self.head.plots.choice == GROWTH,
        )  # fmt: skip
        self.latest_rates = LatestAnswer(
            self, client, self.rates.question, self._show_rates,
            every_ms=lambda: intervals.FIGURES_MS, ready=lambda: self.head.plots.choice == RATES,
        )  # fmt: skip
        self._moved = QTimer(self)
        self._moved.setSingleShot(True)
        self._moved.setInterval(_FOLLOW_MS)
        self._moved.timeout.connect(self.refresh)
        choices.reader_changed.connect(self._on_reader_changed)
        self._show_figure()

    def _on_reader_changed(self, at_once: bool) -> None:
        """Updates the plot for another reader, at once after a choice of the user."""
        self.latest.is_stale = True
        if not self.isVisible() or self._stopped or self.head.plots.choice != GROWTH:
            return
        if at_once:
            self.refresh()
        else:
            self._moved.start()

    def stop(self) -> None:
        """Ends all requests."""
        self._stopped = True
        self.latest.stop()
        self.latest_rates.stop()
        self._moved.stop()

    def refresh(self) -> None:
        """Updates the plot at once."""
        (self.latest_rates if self.head.plots.choice == RATES else self.latest).request_now()

    def _pause_ms(self) -> float:
        """Returns the shortest time between two requests; short while summaries are left to count."""
        answer = self.latest.answer
        unfinished = answer is not None and answer.unfinished
        return intervals.SUMMARIES_MS if unfinished else intervals.FIGURES_MS

    def _show_growth(self, figures: Growth) -> None:
        self._choices.shown = figures.reader
        self.growth.show(figures)
        self._update_texts()
        self.canvas.redraw()
        if figures.unfinished:
            self.latest.is_stale = True  # the next answer has all summaries

    def _ask_for_rates(self) -> None:
        self.latest_rates.request_now()

    def _show_rates(self, rates: Rates) -> None:
        self.rates.show(rates)
        self._update_texts()
        self.canvas.redraw()

    def _show_figure(self) -> None:
        self.canvas.setAccessibleName(self.head.plots.choice)
        self.canvas.show_figure(self.rates if self.head.plots.choice == RATES else self.growth)

    def _choose_plot(self, plot: str) -> None:
        self.head.reader.setVisible(plot == GROWTH and self.growth.figures.reader is not None)
        self._show_figure()
        self._update_texts()
        self.refresh()

    def _update_texts(self) -> None:
        """Updates head, legend and the text of an empty plot."""
        head, figures = self.head, self.growth.figures
        if head.plots.choice == RATES:
            self.canvas.unit = "messages\nper second"
            head.show_keys(self.rates.keys)
            return
        head.reader.show_readers(figures.readers, figures.reader, follows=self._choices.chosen is None)
        head.reader.setVisible(figures.reader is not None)
        percent = figures.counted_percent
        share = f"\n\ncounting tokens,\n{percent} %" if percent is not None else ""
        self.canvas.unit = (UNIT_REPORTED if len(figures.report_places) else UNIT) + share
        head.show_keys(self.growth.keys)
        if self.latest.answer is None:
            self.growth.empty = WORKING
        elif figures.reader is None:
            self.growth.empty = NO_READER
        elif not len(figures.places):
            self.growth.empty = "This context is empty."
        else:
            self.growth.empty = NOT_COUNTED if figures.uncounted and not figures.lines[0].any() else ""

    # Qt events

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._moved.stop()
