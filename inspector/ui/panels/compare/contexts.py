"""Contexts of both models before the chosen step, in two lanes."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.engine.requests.compared_contexts import (
    CompareContexts,
    ComparedContexts,
    ContextRow,
    DescribeComparedContexts,
)
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.compare.lane_rows import LaneRows
from inspector.ui.widgets.latest_answer import Client, Pending
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows
from inspector.ui.widgets.rows.heads import RowHeads
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

CHOOSE = "Select a step to compare what both models had received before it."
UNKNOWN = "The logs do not show what the models received."


class ContextLanes(QWidget):
    """Entries of both contexts; equal ones are folded.

    Attributes:
        view, rows: its parts.
        shown: the contexts; None without a step.
    """

    def __init__(self, client: Client, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("compareContextLanes")
        self.setAccessibleName("Contexts of both models")
        self._client = client
        self._key: tuple[int, int] | None = None
        self._pending: Pending | None = None
        self.shown: ComparedContexts | None = None
        self._texts = self._new_texts()
        self.rows = LaneRows(None, self._text_of, noun="message")
        self.model = RowsModel(self.rows, self)
        self.view = RowsView(
            self.model, themes, name="compareContextList", title="Contexts of both models", parent=self
        )  # fmt: skip
        self.view.expanded.connect(lambda row, _open: self._switch(row))
        self.view.set_empty_text(CHOOSE)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.heads = RowHeads(self.view, themes, self, name="compareContextHeads")
        column.addWidget(self.heads)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)

    def show_row(self, number: int, place: int | None) -> None:
        """Asks for the contexts before a row of a comparison; None shows none."""
        key = None if place is None else (number, place)
        if key == self._key:
            return
        if self._pending is not None:
            self._pending.cancel()
        self._key, self._pending = key, None
        if key is None:
            self._show(None)
            return
        self._pending = self._client.send_request(CompareContexts(*key), self._show, self._on_failed)

    def _on_failed(self, sentence: str) -> None:
        self._show(None)
        self.view.set_empty_text(sentence)

    def _show(self, found: ComparedContexts | None) -> None:
        self.shown = found
        self._texts = self._new_texts()
        titles = ("", "")
        if found is not None:
            one, other = (f"{name} had received: {safe_line(title) or 'unknown'}"
                          for name, title in zip("AB", found.titles, strict=True))  # fmt: skip
            titles = one, other
        self.rows = LaneRows(found, self._text_of, titles, "message")
        self.model.replace_source(self.rows)
        self.heads.update()
        self.view.set_empty_text(CHOOSE if found is None else UNKNOWN)

    def _new_texts(self) -> DescribedRows[int, ContextRow]:
        return DescribedRows(self._client, self._question, lambda one: one.row, lambda _place: self.model.renew())

    def _question(self, rows: tuple[int, ...]) -> DescribeComparedContexts:
        return DescribeComparedContexts(*(self._key or (0, 0)), rows)

    def _text_of(self, place: int) -> ContextRow | None:
        return self._texts.find(place, lambda: self._near(place))

    def _near(self, place: int) -> Iterable[int]:
        row = self.rows.row_of_step(place)
        for near in range(max(0, row - BEFORE), min(row + AFTER, len(self.rows))):
            entry = self.rows.entry(near)
            if entry.is_step:
                yield entry.place

    def _switch(self, row: int) -> None:
        entry = self.rows.entry(row)
        with self.model.changing():
            self.rows.switch_fold(entry.place)
