"""Go to a message by number, id or part of an id, with a list of matches while typing."""

from __future__ import annotations

import re
import time

import numpy as np
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.filters.search import Search
from inspector.filters.strings import quote
from inspector.filters.visible import Messages, VisibleRows
from inspector.present import formats
from inspector.ui import budgets
from inspector.ui.dialogs.base_dialog import FittedDialog, ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.choosing_field import ChoosingField
from inspector.ui.widgets.command_list import CommandEntry, CommandList
from inspector.ui.widgets.labels import TextLabel

MOST = 100
"""Maximum number of listed messages."""
SHORTEST = 3
"""Minimum length of a part of an id in a large document."""
_LARGE_DOCUMENT = 20_000
_WIDTH, _ROWS = 560, 8
_NUMBER = re.compile(r"(?:no\.?|#)?\s*(\d[\d,. ']*)", re.IGNORECASE)


def number_in(text: str) -> int | None:
    """Returns the number in a text, plain or as displayed: "812", "1,216", "No. 812", "#812". None for other texts."""
    found = _NUMBER.fullmatch(text.strip())
    return int(re.sub(r"\D", "", found[1])) if found is not None else None


class GoToDialog(FittedDialog):
    """A field and the list of matching messages.

    Signals:
        chosen(int): select this message.
    """

    chosen = Signal(int)

    def __init__(
        self, theme_controller: ThemeController, document: CaptureDocument, rows: VisibleRows, parent: QWidget | None
    ) -> None:
        """Creates the dialog.

        Args:
            theme_controller: gives the look.
            document: the document to search.
            rows: the visible messages; read only.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="goToDialog", title="Go to No. or id", width=_WIDTH, parent=parent)
        self._document = document
        self._rows = rows
        self._exact_matches: list[int] = []
        self._found: list[int] = []
        self._candidates: Messages = np.empty(0, np.uint32)
        self._checked = 0
        self._search: Search | None = None
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.setInterval(budgets.current.more_ms)
        self._more.timeout.connect(self._continue_search)
        frame = ListFrame("goToFrame", self)
        self.list = CommandList(theme_controller, name="goToList", label="Matching messages", parent=frame)
        self.list.setFixedHeight(_ROWS * theme_controller.theme.metrics.control)
        self.gives_way = self.list
        self.list.doubleClicked.connect(lambda _index: self._take())
        frame.lines.addWidget(self.list)
        self.field = ChoosingField(
            self.list, name="goToText", label="Number, id or part of an id", hint="Number, id or part of an id",
            parent=self,
        )  # fmt: skip
        self.field.textChanged.connect(self._on_changed)
        self.field.accepted.connect(self._take)
        self.field.left.connect(self.reject)
        self._state = TextLabel(variant="hint", name="goToState", parent=self)
        lines = QVBoxLayout(self)
        zoom = theme_controller.theme.zoom
        self.take_margins(lines)
        lines.setSpacing(round(10 * zoom))
        lines.addWidget(TextLabel("Go to No. or id", variant="title", name="goToTitle", parent=self))
        lines.addWidget(self.field)
        lines.addWidget(frame)
        lines.addLayout(self._build_buttons())
        self._on_changed()
        self.field.setFocus()

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(self._state, 1)
        cancel = WordButton("Cancel", name="goToCancel", parent=self)
        cancel.clicked.connect(self.reject)
        self._go = WordButton("Go to", name="goToGo", parent=self, default=True)
        self._go.clicked.connect(self._take)
        row.addWidget(cancel)
        row.addWidget(self._go)
        return row

    # Matches

    def _on_changed(self, *_text: object) -> None:
        self._more.stop()
        self._search = None
        text, total = self.field.text().strip(), len(self._document.capture)
        self._exact_matches = []
        if not text:
            self._show_empty(f"Enter a number from 1 to {total:,}, an id or part of an id.")
            return
        number = number_in(text)
        if number is not None and 1 <= number <= total:
            self._exact_matches.append(number - 1)
        self._exact_matches += [
            message
            for message in self._document.capture.records.find_id(text)[:MOST]
            if message not in self._exact_matches
        ]
        # short texts match too many ids of a large document
        if len(text) >= SHORTEST or total <= _LARGE_DOCUMENT:
            # Ids are decoded only for messages that contain the text anywhere, which saves most of the work.
            self._search = Search(self._rows, compile_filter(quote(text)), None)
            self._found = list(self._exact_matches)
            self._show(self._exact_matches)
            self._state.setText("Searching ids...")
            self._continue_search()
            return
        if self._exact_matches:
            self._show(self._exact_matches)
        else:
            self._show_empty(f"{self._range_error()} Enter at least {SHORTEST} characters of an id.".strip())

    def _range_error(self) -> str:
        """Returns the range of valid numbers if the typed number is outside it, else ""."""
        number, total = number_in(self.field.text()), len(self._document.capture)
        if number is None or 1 <= number <= total:
            return ""
        return f"No. {number:,} does not exist. The numbers are 1 to {total:,}."

    def _continue_search(self) -> None:
        until = time.perf_counter() + budgets.current.slice_s
        if self._search is not None:
            if not self._search.step(until):
                self._state.setText(f"Searching ids... {self._search.fraction:.0%}")
                self._more.start()
                return
            self._candidates, self._checked, self._search = self._search.result(), 0, None
        if self._check_ids(until):
            if self._found:
                self._show(self._found)
            else:
                self._show_empty(self._range_error() or "No message has this id.")
        else:
            self._state.setText(f"Searching ids... {len(self._found)} so far")
            self._more.start()

    def _check_ids(self, until: float) -> bool:
        """Compares the ids of candidate messages. Returns True at the end or after enough matches."""
        wanted, known = self.field.text().strip().casefold(), set(self._exact_matches)
        while self._checked < len(self._candidates):
            if len(self._found) > MOST:
                return True
            if time.perf_counter() > until:
                return False
            message = int(self._candidates[self._checked])
            self._checked += 1
            identifier = self._document.capture.records.envelope_id(message)
            if message not in known and identifier is not None and wanted in identifier.casefold():
                self._found.append(message)
        return True

    def _show(self, messages: list[int]) -> None:
        """Lists the matches up to the maximum, and shows their number."""
        more = len(messages) > MOST
        count = formats.count_of(len(messages), "message") if messages else ""
        self._state.setText(f"More than {MOST} messages, the first {MOST} listed" if more else count)
        self._go.setEnabled(bool(messages))
        self.list.say_empty("")
        self.list.show_lines([self._line(message) for message in messages[:MOST]])

    def _show_empty(self, sentence: str) -> None:
        self._show([])
        self.list.say_empty(sentence)

    def _line(self, message: int) -> CommandEntry:
        capture = self._document.capture
        columns = capture.columns
        identifier = capture.records.envelope_id(message) or "no id"
        wanted = self.field.text().strip()
        place = identifier.casefold().find(wanted.casefold())
        lit = tuple(range(place, place + len(wanted))) if place >= 0 else ()
        sender, kind = (capture.strings[int(columns[name][message])] or "" for name in ("sender", "kind"))
        hidden = "" if self._rows.row_of(message) is not None else "hidden by this view"
        detail = ", ".join(filter(None, (sender, kind, hidden)))
        return CommandEntry(str(message), f"No. {message + 1:,}", identifier, detail=detail, lit=lit)

    def _take(self) -> None:
        line = self.list.line()
        if line is not None:
            self.accept()
            self.chosen.emit(int(line.id))
