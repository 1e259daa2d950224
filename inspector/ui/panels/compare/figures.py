"""Figures of both runs and their differences: A, B, delta."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from inspector.engine.requests.run_comparisons import RunTotals, Verdict
from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.labels import TextLabel

_RIGHT = Qt.AlignmentFlag.AlignRight
_MINUS = "\N{MINUS SIGN}"


def _number(value: float) -> str:
    return f"{value:,.5g}" if isinstance(value, float) else f"{value:,}"


def _time(value: float) -> str:
    return formats.duration(round(value * 1e9))


_FIGURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("Score", "score", _number), ("Messages", "messages", _number), ("Calls", "calls", _number),
    ("Failed calls", "failed", _number), ("Changed files", "files", _number),
    ("Input tokens", "input", formats.short_count), ("Output tokens", "output", formats.short_count),
    ("Cost", "cost", formats.dollars), ("Time", "seconds", _time),
)  # fmt: skip


def figure_rows(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    """Yields name, A, B and delta of the figures that a run has."""
    if verdict.a.passed is not None or verdict.b.passed is not None:
        yield "Outcome", _outcome(verdict.a), _outcome(verdict.b), ""
    for title, name, words in _FIGURES:
        values = getattr(verdict.a, name), getattr(verdict.b, name)
        if any(value is not None for value in values) and (any(values) or name in ("score", "messages")):
            one, other = ("unknown" if value is None else words(value) for value in values)
            yield title, one, other, "" if None in values else _delta(values[1] - values[0], words)


def _outcome(totals: RunTotals) -> str:
    return "unknown" if totals.passed is None else "passed" if totals.passed else "not passed"


def _delta(value: float, words: Callable[[Any], str]) -> str:
    return "=" if not value else f"+{words(value)}" if value > 0 else f"{_MINUS}{words(-value)}"


class FiguresCard(QWidget):
    """A small table of the figures."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("compareFigures")
        self.setAccessibleName("Figures of both runs")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._grid = QGridLayout(self)
        self.rows: list[tuple[str, str, str, str]] = []
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        metrics, zoom = self._themes.theme.metrics, self._themes.theme.zoom
        edge = 2 * metrics.unit
        self._grid.setContentsMargins(metrics.pane_padding, edge, metrics.pane_padding, edge)
        self._grid.setHorizontalSpacing(round(16 * zoom))
        self._grid.setVerticalSpacing(0)

    def show_figures(self, verdict: Verdict) -> None:
        """Shows the figures of a comparison."""
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.rows = list(figure_rows(verdict))
        for row, cells in enumerate([("", "A", "B", "Delta"), *self.rows]):
            for column, text in enumerate(cells):
                is_name = not column or not row
                label = TextLabel(text, variant="tertiary" if is_name else "secondary", parent=self)
                self._grid.addWidget(label, row, column, _RIGHT if column else Qt.AlignmentFlag.AlignLeft)
        self._grid.setRowStretch(len(self.rows) + 1, 1)
