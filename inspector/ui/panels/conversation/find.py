"""Find in the conversation: asks for hits, goes from one to the next, and opens the cards and folds that hide them.

While the user types, the view shows the first hit at or after the place of reading, and selects no card. Escape returns
to that place with its cards and folds, unless the user has gone to a hit, picked a card or scrolled since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

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


class ReadingPlace(NamedTuple):
    """Scroll position and open cards.

    Attributes:
        key: kind and message of the topmost card; None without cards.
        top: its top in the viewport.
        at_end: the view follows its end.
        unfolded, folded: as in `OutlineOptions`.
        opened, whole: as in `ConversationModel`.
    """

    key: tuple[int, int] | None
    top: int
    at_end: bool
    unfolded: tuple[int, ...]
    folded: tuple[int, ...]
    opened: frozenset[tuple[int, int]]
    whole: frozenset[tuple[int, int]]

    @property
    def open_messages(self) -> tuple[int, ...]:
        """The messages of opened and closed cards and folds, ascending."""
        cards = {message for _kind, message in self.opened | self.whole}
        return tuple(sorted({*cards, *self.unfolded, *self.folded}))


class Reader(Protocol):
    """Moves of the panel that the search needs."""

    def reading_place(self) -> ReadingPlace: ...

    def restore_place(self, place: ReadingPlace) -> None: ...

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
        self._origin: ReadingPlace | None = None  # before the first hit was shown
        self._shown: ReadingPlace | None = None  # after the last hit was shown
        self._is_typed = False
        self._awaited: Callable[[], object] | None = None
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._ask)
        self.bar.query_changed.connect(self._on_typed)
        model.cards_arrived.connect(self._on_cards_arrived)
        view.picked.connect(self._keep_place)
        self.bar.step_requested.connect(self.step)
        self.bar.closed.connect(self.close)

    def open(self) -> None:
        """Shows the bar and repeats the last search."""
        self.bar.open()
        if self._query is None:
            self._on_query_changed(self.bar.query)

    def close(self) -> None:
        """Closes the bar, removes the highlights, and returns to the place before the typing."""
        self.bar.hide()
        self._on_query_changed(None)
        self._return_to_origin()
        self._keep_place()
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
        self._keep_place()
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

    # Place of reading

    def _keep_place(self, *_picked: object) -> None:
        """Forgets the place before the typing, since the user has chosen another."""
        self._origin = self._shown = self._awaited = None
        self._is_typed = False

    def _return_to_origin(self) -> None:
        self._awaited = None
        if self._origin is not None and self._shown in (None, self._reader.reading_place()):
            self._reader.restore_place(self._origin)
        self._shown = None

    def _preview(self) -> None:
        """Shows the first hit at or after the place of reading."""
        if self._origin is None:
            self._origin = self._reader.reading_place()
        self._return_to_origin()
        hits, key = self._shown_hits(), self._origin.key
        if not len(hits):
            return
        later = hits[hits >= (key[1] if key is not None else 0)]
        hit = self._at = int(later[0] if len(later) else hits[0])
        self._reader.show_or_reveal(hit, lambda: self._show(hit, selects=False))
        self._shown = self._reader.reading_place()

    def _on_cards_arrived(self, *_rows: object) -> None:
        act, self._awaited = self._awaited, None
        if act is not None:
            act()

    # Search

    def _on_typed(self, query: FindQuery | None) -> None:
        self._on_query_changed(query)
        self._is_typed = query is not None
        if query is None:
            self._return_to_origin()

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
        typed, self._is_typed = self._is_typed, False
        wanted, self._wanted = self._wanted, 0
        if typed and not wanted:
            self._preview()
        self._show_count()
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
        self._reader.show_or_reveal(message, lambda: self._show(message, selects=True))

    def _show(self, message: int, *, selects: bool) -> None:
        """Selects the card of a hit, opens it if the hit is hidden in it, and scrolls to the hit."""
        row = self._model.row_of_message(message)
        if row < 0 or self._at != message:
            return
        if selects:
            self._reader.go_to_row(row)
        elif row not in self._view.rows_in_sight():
            self._view.place_at_top(row)
        if self._model.card(row) is None:
            self._awaited = lambda: self._show(message, selects=False)
            return
        if self._first_hit(row) is None and self._model.key(row)[0] in (
            CardKind.CALL, CardKind.THOUGHT, CardKind.PROMPT, CardKind.ANSWER,
        ) and not self._model.is_open(row):  # fmt: skip
            self._reader.open_row(row)
        found = self._first_hit(row)
        if found is not None:
            self._view.show_offset(row, found)
        else:
            # The whole card is on its way.
            self._awaited = lambda: self._show(message, selects=False)
        if self._shown is not None:
            self._shown = self._reader.reading_place()

    def _first_hit(self, row: int) -> float | None:
        """Returns the height of the first hit in the shown texts of a card."""
        for text in self._view.layout_of(row).texts:
            for start, _stop in text.hits:
                top = text.top_of(start)
                if top < text.bottom:
                    return top
        return None
