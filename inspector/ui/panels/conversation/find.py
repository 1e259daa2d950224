"""Find in the conversation: asks for hits, goes from one to the next, and opens the cards and folds that hide them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer

from inspector.engine.requests.conversation import FindInConversation
from inspector.engine.requests.find import FindQuery, PatternError
from inspector.present.conversation.cards import CardKind
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.conversation.model import ConversationModel
from inspector.ui.panels.conversation.view import ConversationView
from inspector.ui.widgets.find_bar import FindBar
from inspector.ui.widgets.latest_answer import Client, Pending

_TYPING_MS = 150
HIDING = (CardKind.FOLD, CardKind.RECORDS, CardKind.AGENT, CardKind.GROUP, CardKind.INHERITED)
"""Kinds of cards that may hide others."""


class Reader(Protocol):
    """Moves of the panel that the search needs."""

    def go_to_row(self, row: int) -> None: ...

    def open_row(self, row: int) -> None: ...

    def show_or_reveal(self, message: int, then: Callable[[], object]) -> None: ...

    def show_ticks(self) -> None: ...


class ConversationFind(QObject):
    """The search of one conversation.

    Attributes:
        bar: text, options and number of hits.
        messages: messages with a hit, ascending, (n,) int64.
    """

    def __init__(
        self, client: Client, model: ConversationModel, view: ConversationView, reader: Reader, themes: ThemeController,
        parent: QObject,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._client, self._model, self._view, self._reader = client, model, view, reader
        self.bar = FindBar(themes)
        self.bar.editor.setPlaceholderText("Find in the conversation")
        self.bar.hide()
        self.messages: NDArray[np.int64] = np.zeros(0, np.int64)
        self._query: FindQuery | None = None
        self._pending: Pending | None = None
        self._asking = False
        self._wanted = 0
        self._at: int | None = None
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._ask)
        self.bar.query_changed.connect(self._on_query_changed)
        self.bar.step_requested.connect(self.step)
        self.bar.closed.connect(self.close)

    def open(self) -> None:
        """Shows the bar and repeats the last search."""
        self.bar.open()
        if self._query is None:
            self._on_query_changed(self.bar.query)

    def close(self) -> None:
        """Closes the bar and removes the highlights."""
        self.bar.hide()
        self._on_query_changed(None)
        self._view.setFocus()

    def stop(self) -> None:
        """Ends all requests."""
        self._typing.stop()
        self._cancel()

    def rows(self) -> NDArray[np.int64]:
        """Returns the rows of hits, ascending; a fold stands for the hits in it."""
        outline = self._model.outline
        if outline is None:
            return np.zeros(0, np.int64)
        rows = outline.items[self.messages[self.messages < len(outline.items)]].astype(np.int64)
        return np.unique(rows[rows >= 0])

    def repeat(self) -> None:
        """Searches again after a change of the document."""
        if self._query is not None and not self._asking and not self._typing.isActive():
            self._ask()

    def step(self, step: int) -> None:
        """Goes to the next (1) or previous (-1) hit, and wraps around."""
        if self._query is None:
            self.open()
            return
        if self._asking or self._typing.isActive():
            self._wanted = step
            return
        hits = self._shown_hits()
        if not len(hits):
            return
        start = self._at if self._at is not None else self._current_message() - (1 if step > 0 else 0)
        places = np.flatnonzero(hits > start) if step > 0 else np.flatnonzero(hits < start)
        place = int(places[0 if step > 0 else -1]) if len(places) else (0 if step > 0 else len(hits) - 1)
        self._go_to(int(hits[place]))
        self._show_count(wrapped=not len(places))

    def _current_message(self) -> int:
        outline, row = self._model.outline, self._view.currentIndex().row()
        return int(outline.messages[row]) if outline is not None and 0 <= row < len(outline) else -1

    def _shown_hits(self) -> NDArray[np.int64]:
        """Returns the messages with hits that have a card."""
        outline = self._model.outline
        if outline is None:
            return np.zeros(0, np.int64)
        known = self.messages[self.messages < len(outline.items)]
        return known[outline.items[known] >= 0]

    # Search

    def _on_query_changed(self, query: FindQuery | None) -> None:
        self._cancel()
        self._at, self._wanted = None, 0
        self.messages = np.zeros(0, np.int64)
        trouble, self._query, locate = "", query, None
        if query is not None:
            try:
                locate = query.locator()
            except PatternError as error:
                trouble, self._query = error.message, None
        self._view.locate = locate
        self._view.viewport().update()
        self._reader.show_ticks()
        if self._query is None:
            self._typing.stop()
            self.bar.show_state(trouble, usable=False, wrong=bool(trouble))
        else:
            self.bar.show_state("Searching", usable=False)
            self._typing.start()

    def _cancel(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
        self._pending, self._asking = None, False

    def _ask(self) -> None:
        if self._query is None:
            return
        self._asking = True
        pending = self._client.send_request(FindInConversation(self._query), self._on_hits, self._on_failure)
        # A short answer has arrived already.
        if self._asking:
            self._pending = pending

    def _on_hits(self, messages: list[int]) -> None:
        self._pending, self._asking = None, False
        self.messages = np.array(messages, np.int64)
        self._reader.show_ticks()
        self._show_count()
        wanted, self._wanted = self._wanted, 0
        if wanted:
            self.step(wanted)

    def _on_failure(self, sentence: str) -> None:
        self._pending, self._asking = None, False
        self.bar.show_state(sentence, usable=False, wrong=True)

    def _show_count(self, *, wrapped: bool = False) -> None:
        hits = self._shown_hits()
        if not len(hits):
            self.bar.show_state("Nothing found", usable=False)
            return
        place = np.flatnonzero(hits == self._at) if self._at is not None else np.zeros(0, np.int64)
        words = f"{int(place[0]) + 1:,} of {len(hits):,}" if len(place) else f"{len(hits):,} found"
        self.bar.show_state(f"wrapped, {words}" if wrapped else words)

    # Moves

    def _go_to(self, message: int) -> None:
        self._at = message
        self._reader.show_or_reveal(message, lambda: self._show(message))

    def _show(self, message: int) -> None:
        """Selects the card of a hit, opens it if the hit is hidden in it, and scrolls to the hit."""
        row = self._model.row_of_message(message)
        if row < 0:
            return
        self._reader.go_to_row(row)
        if self._first_hit(row) is None and self._model.key(row)[0] in (
            CardKind.CALL, CardKind.THOUGHT, CardKind.PROMPT, CardKind.ANSWER,
        ) and not self._model.is_open(row):  # fmt: skip
            self._reader.open_row(row)
        found = self._first_hit(row)
        if found is not None:
            self._view.show_offset(row, found)

    def _first_hit(self, row: int) -> float | None:
        """Returns the height of the first hit in the shown texts of a card."""
        for text in self._view.layout_of(row).texts:
            for start, _stop in text.hits:
                top = text.top_of(start)
                if top < text.bottom:
                    return top
        return None
