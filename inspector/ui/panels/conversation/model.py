"""Item model of a conversation: the outline in columns, and cards that are asked for as they come into sight."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from typing_extensions import override

from inspector.engine.requests.conversation import DescribeCards
from inspector.present.conversation.cards import Card, CardKind
from inspector.present.conversation.outline import Outline
from inspector.ui.panels.conversation.card_words import card_text
from inspector.ui.widgets.latest_answer import Client

Key = tuple[int, int]
"""Kind and first message of a card."""

BLOCK = 24
"""Cards of one request; a screen shows about fifteen."""
_MAX_CARDS = 1_500
_ROOT = QModelIndex()
_TEXT_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
_NO_ROWS: NDArray[np.int64] = np.zeros(0, np.int64)


class ConversationModel(QAbstractListModel):
    """The cards of a conversation in display order.

    Signals:
        spliced(int, int, int): from a row on, so many rows were replaced by so many others.
        cards_arrived(int, int): cards of a range arrived later than they were asked for.

    Attributes:
        outline: None before the first answer.
        opened: cards that the user has opened.
        whole: cards whose whole text was asked for.
        opens_all: cards are open unless the user has closed them.
        opens_thoughts: thoughts are open unless the user has closed them.
        folds_results: calls show no output unless the user has opened them.
    """

    spliced = Signal(int, int, int)
    cards_arrived = Signal(int, int)

    def __init__(self, client: Client, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self.outline: Outline | None = None
        self.opened: set[Key] = set()
        self.whole: set[Key] = set()
        self.opens_all = self.opens_thoughts = self.folds_results = False
        self._cards: OrderedDict[Key, Card] = OrderedDict()
        self._outdated: set[Key] = set()
        self._asked: set[Key] = set()
        self._generation = 0
        self._missing = 0  # rows removed before the new outline is in place

    # Outline

    def show(self, outline: Outline) -> None:
        """Shows an outline. Rows at its beginning and end that stay the same are kept."""
        before, self._generation = self.outline, self._generation + 1
        self._outdated = set(self._cards)
        self._asked.clear()
        if before is None:
            self._replace(0, 0, outline)
            return
        start, old_stop, new_stop = changed_part(before, outline)
        self._replace(start, old_stop - start, outline, new_stop - start)

    def _replace(self, start: int, removed: int, outline: Outline, added: int | None = None) -> None:
        added = len(outline) - start if added is None else added
        if removed:
            self.beginRemoveRows(_ROOT, start, start + removed - 1)
            self._missing = removed
            self.endRemoveRows()
        if added:
            self.beginInsertRows(_ROOT, start, start + added - 1)
            self.outline, self._missing = outline, 0
            self.endInsertRows()
        self.outline, self._missing = outline, 0
        self.spliced.emit(start, removed, added)

    def __len__(self) -> int:
        return 0 if self.outline is None else len(self.outline)

    def key(self, row: int) -> Key:
        assert self.outline is not None
        return int(self.outline.kinds[row]), int(self.outline.messages[row])

    def row_of_key(self, key: Key) -> int:
        """Returns the row of a card, or -1."""
        if self.outline is None:
            return -1
        found = np.flatnonzero((self.outline.messages == key[1]) & (self.outline.kinds == key[0]))
        return int(found[0]) if len(found) else -1

    def row_of_message(self, message: int) -> int:
        """Returns the row of a message, or of the fold that hides it; -1 in other scopes."""
        if self.outline is None or not 0 <= message < len(self.outline.items):
            return -1
        return int(self.outline.items[message])

    @property
    def failed_rows(self) -> NDArray[np.int64]:
        """The rows of failures, ascending; a fold or sub-agent stands for the failures in it."""
        outline = self.outline
        return _NO_ROWS if outline is None else np.unique(outline.items[outline.failures].astype(np.int64))

    @property
    def prompt_rows(self) -> NDArray[np.int64]:
        """The rows of prompts that begin turns, ascending."""
        outline = self.outline
        if outline is None:
            return _NO_ROWS
        return np.flatnonzero((outline.kinds == CardKind.PROMPT) & (outline.depths == 0))

    def is_open(self, row: int) -> bool:
        """Returns True if the user has opened a card."""
        key = self.key(row)
        return (key in self.opened) != (self.opens_all or (self.opens_thoughts and key[0] == CardKind.THOUGHT))

    def is_inherited(self, row: int) -> bool:
        """Returns True for a message of the parent chat above those of a sub-session."""
        outline = self.outline
        return (
            outline is not None and outline.kinds[0] == CardKind.INHERITED and bool(outline.is_open[0])
            and 0 < row <= outline.counts[0]
        )  # fmt: skip

    # Cards

    def card(self, row: int) -> Card | None:
        """Returns a card; an earlier one, or None, until it has arrived."""
        key = self.key(row)
        if (key not in self._cards or key in self._outdated) and key not in self._asked:
            first = row - row % BLOCK
            self._ask(range(first, min(first + BLOCK, len(self))))
        return self._cards.get(key)

    def known_card(self, row: int) -> Card | None:
        """Returns a card that has arrived; asks for none."""
        return self._cards.get(self.key(row))

    def prefetch(self, seen: range) -> None:
        """Asks for the cards around the rows in sight, so that scrolling finds them."""
        for edge in (seen.stop + BLOCK // 2, seen.start - BLOCK // 2):
            if 0 <= edge < len(self):
                first = edge - edge % BLOCK
                self._ask(range(first, min(first + BLOCK, len(self))))

    def invalidate_card(self, key: Key) -> None:
        """Asks for a card again, because another form of it is wanted."""
        self._outdated.add(key)
        self._asked.discard(key)

    def _ask(self, rows: Iterable[int]) -> None:
        outline = self.outline
        if outline is None:
            return
        wanted = [row for row in rows if self._is_wanted(self.key(row))]
        keys = [self.key(row) for row in wanted]
        self._asked.update(keys)
        whole = [row for row, key in zip(wanted, keys, strict=True) if key in self.whole]
        short = [row for row, key in zip(wanted, keys, strict=True) if key not in self.whole]
        for part, is_whole in ((short, False), (whole, True)):
            if part:
                self._send(part, is_whole=is_whole)

    def _is_wanted(self, key: Key) -> bool:
        return (key not in self._cards or key in self._outdated) and key not in self._asked

    def _send(self, rows: list[int], *, is_whole: bool) -> None:
        outline, generation = self.outline, self._generation
        assert outline is not None
        refs = tuple(outline.ref(row) for row in rows)
        asked = {(ref.kind, ref.message) for ref in refs}
        in_call = True

        def take(cards: list[Card]) -> None:
            if generation != self._generation:
                return
            changed = False
            for card in cards:
                key = (card.ref.kind, card.ref.message)
                changed |= self._cards.get(key) != card
                self._put(key, card)
            self._asked -= asked
            if changed and not in_call:
                self.cards_arrived.emit(rows[0], rows[-1])

        self._client.send_request(DescribeCards(refs, whole=is_whole), take)
        in_call = False

    def _put(self, key: Key, card: Card) -> None:
        self._outdated.discard(key)
        if self._cards.get(key) != card:
            self._cards[key] = card
        self._cards.move_to_end(key)
        while len(self._cards) > _MAX_CARDS:
            gone, _ = self._cards.popitem(last=False)
            self._outdated.discard(gone)

    # Model

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:
        if parent.isValid():
            return 0
        return len(self) - self._missing

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role in _TEXT_ROLES and index.isValid() and index.row() < len(self):
            card = self.card(index.row())
            if card is None:
                return ""
            return f"Parent chat: {card_text(card)}" if self.is_inherited(index.row()) else card_text(card)
        return None


def changed_part(before: Outline, after: Outline) -> tuple[int, int, int]:
    """Returns the first row that differs, and the stops of the differing rows before and after."""
    least = min(len(before), len(after))

    def same(old: slice, new: slice) -> NDArray[np.bool_]:
        return (before.messages[old] == after.messages[new]) & (before.kinds[old] == after.kinds[new]) & (
            before.depths[old] == after.depths[new]
        )  # fmt: skip

    differs = np.flatnonzero(~same(slice(0, least), slice(0, least)))
    start = int(differs[0]) if len(differs) else least
    room = least - start
    tail = np.flatnonzero(~same(slice(len(before) - room, len(before)), slice(len(after) - room, len(after)))[::-1])
    kept = int(tail[0]) if len(tail) else room
    return start, len(before) - kept, len(after) - kept
