"""Popup list of completion candidates below the edited word."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHideEvent, QPainter
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.filters.completion import Candidate, Completion
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel

MOST_ROWS = 10
"""Most rows visible at once."""
_WIDTH = 480
_KEYS = "Tab to accept, Up and Down to choose, Esc to close"

Index = QModelIndex | QPersistentModelIndex


class _CandidateModel(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.candidates: list[Candidate] = []

    def show(self, candidates: list[Candidate]) -> None:
        self.beginResetModel()
        self.candidates = candidates
        self.endResetModel()

    @override
    def rowCount(self, parent: Index | None = None) -> int:
        return len(self.candidates)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        candidate = self.candidates[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return safe_line(candidate.label, 200)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = candidate.help if candidate.count is None else _times(candidate.count)
            return ", ".join(filter(None, (safe_line(candidate.label, 200), words)))
        return None


class _CandidateDelegate(QStyledItemDelegate):
    """Paints a candidate, with its meaning or its count at the right."""

    def __init__(self, model: _CandidateModel, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self._themes = themes

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self._themes.theme.metrics.content_row)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._themes.theme
        box: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        chosen = index.row() == self._view().currentIndex().row()
        if chosen:
            painter.fillRect(box, theme.color("accent.wash"))
        candidate = self._model.candidates[index.row()]
        side = theme.metrics.cell_padding
        inside = box.adjusted(side, 0, -side, 0)
        font = theme.font("mono-row")
        words = f"{candidate.count:,}" if candidate.count is not None else candidate.help
        small = QFontMetrics(theme.font("small"))
        room = inside.width() - (small.horizontalAdvance(words) + 2 * side if candidate.count is not None else 0)
        shown = QFontMetrics(font).elidedText(safe_line(candidate.label, 500), Qt.TextElideMode.ElideMiddle, room)
        painter.setFont(font)
        painter.setPen(theme.color("ink.primary"))
        painter.drawText(inside, int(Qt.AlignmentFlag.AlignVCenter), shown)
        taken = QFontMetrics(font).horizontalAdvance(shown) + 2 * side
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.secondary" if chosen else "ink.tertiary"))
        rest = inside.adjusted(taken, 0, 0, 0)
        right = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        painter.drawText(rest, right, small.elidedText(words, Qt.TextElideMode.ElideRight, rest.width()))

    def _view(self) -> QListView:
        view = self.parent()
        assert isinstance(view, QListView)
        return view


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
        self._model = _CandidateModel(self)
        self.view = QListView(self)
        self.view.setObjectName("filterCandidates")
        self.view.setAccessibleName("Completions")
        # The editor keeps the focus, so that typing goes on.
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setFrameShape(QListView.Shape.NoFrame)
        # Without it Qt measures every candidate at each key press.
        self.view.setUniformItemSizes(True)
        self.view.viewport().setAutoFillBackground(False)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setModel(self._model)
        self.view.setItemDelegate(_CandidateDelegate(self._model, theme_controller, self.view))
        self.view.clicked.connect(lambda index: self.picked.emit(self._model.candidates[index.row()]))
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
        self._model.show(completion.candidates)
        self.view.setCurrentIndex(self._model.index(0))
        self._place(left)
        self.show()
        self.raise_()

    def _place(self, left: int) -> None:
        window, theme = self._anchor.window(), self._themes.theme
        # A child of the window, so that it can cover the panes below the editor.
        if self.parentWidget() is not window:
            self.setParent(window)
        edge = theme.metrics.unit
        self._column.setContentsMargins(edge, edge, edge, edge)
        self._column.setSpacing(edge)
        self._keys.setContentsMargins(theme.metrics.cell_padding, 0, 0, 0)
        rows = min(MOST_ROWS, self._model.rowCount())
        self.view.setFixedHeight(rows * theme.metrics.content_row)
        width = min(round(_WIDTH * theme.zoom), window.width() - 2 * edge)
        below = self._anchor.mapTo(window, QPoint(left, self._anchor.height() + 4))
        self.resize(width, self._column.sizeHint().height())
        self.move(min(below.x(), window.width() - width - edge), below.y())

    def current(self) -> Candidate | None:
        """Returns the selected candidate; None while hidden."""
        row = self.view.currentIndex().row()
        return self._model.candidates[row] if self.isVisible() and 0 <= row < self._model.rowCount() else None

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.closed.emit()

    def labels(self) -> list[str]:
        """Returns the labels of visible candidates."""
        return [candidate.label for candidate in self._model.candidates] if self.isVisible() else []

    def step(self, by: int) -> None:
        """Moves the selection and wraps at the ends; the first Down selects the first candidate."""
        row, count = self.view.currentIndex().row(), self._model.rowCount()
        first = not self.chosen and by > 0
        self.chosen = True
        self.view.setCurrentIndex(self._model.index(row if first else (row + by) % count))
        self.view.viewport().update()


def _times(count: int) -> str:
    return f"{count:,} time{'' if count == 1 else 's'}"
