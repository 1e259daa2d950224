"""Popup list of completion candidates below the edited word."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import Candidate, Completion
from inspector.present.rows import TERTIARY, Layout, ListedRows, Row, Text
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.frames import frame_of
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

MOST_ROWS = 10
"""Most rows visible at once."""
_WIDTH, _MAX_WIDTH = 480, 760
_KEYS = "Tab to accept, Up and Down to choose, Esc to close"

_SIDE = 8
"""Padding at both sides of a row."""

LAYOUT = Layout(height="content_row", left=_SIDE, right=_SIDE)


def candidate_spec(place: int, candidate: Candidate) -> Row:
    """Returns a candidate with its meaning or its count at the right."""
    count, label = candidate.count, safe_line(candidate.label, 500)
    words = candidate.help if count is None else f"{count:,}"
    cell = (
        Text(label, "mono-row", elide="middle", space=16),
        Text(
            words, "small", TERTIARY, "right" if count is None else "never", least=1 if count is None else 0, right=True
        ),
    )
    short = safe_line(candidate.label, 200)
    spoken = ", ".join(filter(None, (short, candidate.help if count is None else _times(count))))
    return Row(place, ((cell,),), short, spoken=spoken)


class FilterCompletions(FloatingFrame):
    """The popup with candidates below an editor.

    Attributes:
        chosen: True after the user moved the selection by key, so that Enter accepts it.

    Signals:
        picked(Candidate): a candidate was clicked.
        closed: the popup was hidden.
    """

    picked = Signal(object)
    closed = Signal()

    def __init__(self, theme_controller: ThemeController, anchor: QWidget) -> None:
        """Makes the hidden popup.

        Args:
            theme_controller: source of the look.
            anchor: the popup opens below it.
        """
        super().__init__(theme_controller, name="filterCompletions", parent=anchor)
        self.setAccessibleName("Completions")
        self._anchor = anchor
        self.chosen = False
        self._candidates: list[Candidate] = []
        self._specs: list[Row] = []
        self._model = RowsModel(ListedRows(LAYOUT), self)
        self.view = RowsView(
            self._model, theme_controller, name="filterCandidates", title="Completions", parent=self, in_dialog=True,
            led=True,
        )  # fmt: skip
        # The editor keeps the focus, so that typing goes on.
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.viewport().setAutoFillBackground(False)
        self.view.picked.connect(lambda row, _clicked: self.picked.emit(self._candidates[row]))
        self._keys = TextLabel(_KEYS, variant="small", name="filterCompletionKeys", parent=self)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.view)
        self._column.addWidget(self._keys)
        self.hide()

    def show_completion(self, completion: Completion, left: int) -> None:
        """Shows candidates, or hides the popup if there are none.

        Args:
            completion: the candidates.
            left: position of the word in the anchor, in pixels.
        """
        if not completion.candidates:
            self.hide()
            return
        self.chosen = False
        self._candidates = completion.candidates
        self._specs = [candidate_spec(place, one) for place, one in enumerate(completion.candidates)]
        self._model.replace_source(ListedRows(LAYOUT, self._specs))
        self.view.select_row(0)
        self._place(left)
        self.show()
        self.raise_()

    def _place(self, left: int) -> None:
        window, theme = frame_of(self._anchor), self._themes.theme
        # A child of the window, so that it can cover the panes below the editor.
        if self.parentWidget() is not window:
            self.setParent(window)
        edge = theme.metrics.unit
        self._column.setContentsMargins(edge, edge, edge, edge)
        self._column.setSpacing(edge)
        self._keys.setContentsMargins(theme.metrics.cell_padding, 0, 0, 0)
        rows = min(MOST_ROWS, self._model.rowCount())
        self.view.setFixedHeight(rows * theme.metrics.content_row)
        # As wide as its longest candidate: names of sub-agents often differ at their ends.
        counted = [spec.lines[0][0] for spec, one in zip(self._specs, self._candidates, strict=True) if one.count]
        longest = max(map(self.view.delegate.cells.natural_width, counted), default=0) + 2 * edge
        longest += round(2 * _SIDE * theme.zoom) + theme.metrics.scroll_bar
        width = min(max(round(_WIDTH * theme.zoom), longest), round(_MAX_WIDTH * theme.zoom))
        width = min(width, window.width() - 2 * edge)
        below = self._anchor.mapTo(window, QPoint(left, self._anchor.height() + 4))
        self.resize(width, self._column.sizeHint().height())
        self.move(min(below.x(), window.width() - width - edge), below.y())

    def current(self) -> Candidate | None:
        """Returns the selected candidate; None while hidden."""
        row = self.view.currentIndex().row()
        return self._candidates[row] if self.isVisible() and 0 <= row < self._model.rowCount() else None

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.closed.emit()

    def labels(self) -> list[str]:
        """Returns the labels of visible candidates."""
        return [candidate.label for candidate in self._candidates] if self.isVisible() else []

    def step(self, by: int) -> None:
        """Moves the selection and wraps at the ends; the first Down selects the first candidate."""
        row, count = self.view.currentIndex().row(), self._model.rowCount()
        first = not self.chosen and by > 0
        self.chosen = True
        self.view.select_row(row if first else (row + by) % count)


def _times(count: int) -> str:
    return f"{count:,} time{'' if count == 1 else 's'}"
