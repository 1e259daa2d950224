"""Go to a message by number, id or part of an id, with a list of matches while typing."""

from __future__ import annotations

import re

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inspector.engine.requests.message_ids import FindMessages, IdMatch, IdProgress, SearchIds
from inspector.present import formats
from inspector.ui.dialogs.base_dialog import FittedDialog, ListFrame
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.choosing_field import ChoosingField
from inspector.ui.widgets.command_list import CommandEntry, CommandList
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client, Pending

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

    def __init__(self, theme_controller: ThemeController, client: Client, view: int, parent: QWidget | None) -> None:
        """Creates the dialog.

        Args:
            theme_controller: gives the look.
            client: asks the engine.
            view: number of the view of the table.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="goToDialog", title="Go to No. or id", width=_WIDTH, parent=parent)
        self._client, self._view = client, view
        self._exact_matches: list[IdMatch] = []
        self._search: Pending | None = None
        self.finished.connect(self._stop_search)
        frame = ListFrame("goToFrame", self)
        self.list = CommandList(theme_controller, name="goToList", label="Matching messages", parent=frame)
        self.list.setFixedHeight(_ROWS * theme_controller.theme.metrics.control)
        self.gives_way = self.list
        self.list.entered.connect(lambda _row: self._take())
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

    def _stop_search(self, *_result: object) -> None:
        if self._search is not None:
            self._search.cancel()
        self._search = None

    def _on_changed(self, *_text: object) -> None:
        self._stop_search()
        text, total = self.field.text().strip(), self._client.state.messages
        self._exact_matches = []
        if not text:
            self._show_empty(f"Enter a number from 1 to {total:,}, an id or part of an id.")
            return
        self._exact_matches = self._client.answer_now(FindMessages(self._view, number_in(text), text, MOST))
        # short texts match too many ids of a large document
        if len(text) >= SHORTEST or total <= _LARGE_DOCUMENT:
            self._show(self._exact_matches)
            self._state.setText("Searching ids...")
            known = tuple(match.message for match in self._exact_matches)
            self._search = self._client.request_parts(
                SearchIds(self._view, text, known, MOST - len(known)), self._show_progress, self._on_found,
                self._state.setText,
            )  # fmt: skip
            return
        if self._exact_matches:
            self._show(self._exact_matches)
        else:
            self._show_empty(f"{self._range_error()} Enter at least {SHORTEST} characters of an id.".strip())

    def _range_error(self) -> str:
        """Returns the range of valid numbers if the typed number is outside it, else ""."""
        number, total = number_in(self.field.text()), self._client.state.messages
        if number is None or 1 <= number <= total:
            return ""
        return f"No. {number:,} does not exist. The numbers are 1 to {total:,}."

    def _show_progress(self, progress: IdProgress) -> None:
        is_searching = progress.fraction < 1
        words = f"{progress.fraction:.0%}" if is_searching else f"{progress.found + len(self._exact_matches)} so far"
        self._state.setText(f"Searching ids... {words}")

    def _on_found(self, found: list[IdMatch]) -> None:
        matches = [*self._exact_matches, *found]
        if matches:
            self._show(matches)
        else:
            self._show_empty(self._range_error() or "No message has this id.")

    def _show(self, matches: list[IdMatch]) -> None:
        """Lists the matches up to the maximum, and shows their number."""
        more = len(matches) > MOST
        count = formats.count_of(len(matches), "message") if matches else ""
        self._state.setText(f"More than {MOST} messages, the first {MOST} listed" if more else count)
        self._go.setEnabled(bool(matches))
        self.list.set_empty_text("")
        self.list.show_lines([self._line(match) for match in matches[:MOST]])

    def _show_empty(self, sentence: str) -> None:
        self._show([])
        self.list.set_empty_text(sentence)

    def _line(self, match: IdMatch) -> CommandEntry:
        identifier, wanted = match.id or "no id", self.field.text().strip()
        place = identifier.casefold().find(wanted.casefold())
        lit = tuple(range(place, place + len(wanted))) if place >= 0 else ()
        detail = ", ".join(filter(None, (match.sender, match.kind, "hidden by this view" if match.is_hidden else "")))
        return CommandEntry(str(match.message), f"No. {match.message + 1:,}", identifier, detail=detail, lit=lit)

    def _take(self) -> None:
        line = self.list.line()
        if line is not None:
            self.accept()
            self.chosen.emit(int(line.id))
