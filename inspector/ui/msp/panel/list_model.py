"""Rows, order and item model of the list of sub-sessions, with texts for state, age and tokens.

Rows are formatted on demand; tokens are summed in slices.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.timestamps import NO_TIME
from inspector.ui.msp.panel.texts import NO_MESSAGES, age, dot_state
from inspector.ui.msp.panel.token_counts import Tallies
from inspector.ui.panels.list_view import Key, ListModel

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument
    from inspector.msp.objects import Subsession

_SEARCHED_MESSAGES = 8
"""Number of first messages searched for text."""


def state_of(sub: Subsession) -> str:
    """Returns its state: open, closed or discarded."""
    return "open" if sub.is_open else "discarded" if sub.discarded else "closed"


def age_words(sub: Subsession, now_ns: int) -> str:
    """Returns its age: "open for 1 min", "closed 2 h ago"; only its state without a time."""
    state = state_of(sub)
    span = age(sub.created_ns if sub.is_open else sub.closed_ns, now_ns)
    if not span:
        return state
    return f"open for {span}" if sub.is_open else f"{state} {span} ago"


def tokens_words(tokens: int, *, complete: bool) -> str:
    """Formats an estimate: "348 tokens". An ellipsis follows the figure while counting."""
    if complete:
        return formats.count_of(tokens, "token")
    return f"{tokens:,}… tokens" if tokens else "… tokens"


def about(sub: Subsession) -> str:
    """Returns its summary, else its first text."""
    if sub.summary:
        return sub.summary
    contents = (message.content for message in sub.messages[:_SEARCHED_MESSAGES])
    return next((text for text in contents if text.strip()), "")


DEEPEST = 12
"""Maximum indent level; deeper rows would have no width left for their label."""


class Order(enum.StrEnum):
    """Sort order of the list; nested sub-sessions stay below their parent."""

    CHAT = "chat"
    LATEST = "latest"
    MESSAGES = "messages"
    TOKENS = "tokens"

    @property
    def words(self) -> str:
        """Label in the menu."""
        return _WORDS[self]


_WORDS = {
    Order.CHAT: "Chat order",
    Order.LATEST: "Latest first",
    Order.MESSAGES: "Most messages first",
    Order.TOKENS: "Most tokens first",
}


class SubsessionRows:
    """Rows of the list.

    Attributes:
        subs, depths: by row.
        open, all: number of open sub-sessions and of all.
    """

    def __init__(self) -> None:
        self.subs: list[Subsession] = []
        self.depths: list[int] = []
        self.open = self.all = 0
        self._row_of: dict[Key, int] = {}

    def replace_rows(
        self, subs: Sequence[Subsession], order: Order, *, open_only: bool, tokens: Callable[[Subsession], int]
    ) -> None:
        """Lists the sub-sessions of a document.

        Args:
            subs: all of them, in document order.
            order: sort order among siblings.
            open_only: True to omit closed ones without an open descendant.
            tokens: returns the known tokens of a sub-session's own messages.
        """
        self.all, self.open = len(subs), sum(sub.is_open for sub in subs)
        below: dict[str | None, list[Subsession]] = {}
        known = {sub.key for sub in subs}
        wanted = _open_ones(subs, known) if open_only else known
        for sub in subs:
            if sub.key in wanted:
                below.setdefault(_key_above(sub, known), []).append(sub)
        if order is not Order.CHAT:
            rank = _rank(order, tokens)
            for siblings in below.values():
                siblings.sort(key=rank, reverse=True)
        self.subs, self.depths = [], []
        for sub, depth in _walk(below):
            self.subs.append(sub)
            self.depths.append(min(depth, DEEPEST))
        self._row_of = {(sub.key, 0): row for row, sub in enumerate(self.subs)}

    def __len__(self) -> int:
        return len(self.subs)

    def key_at(self, row: int) -> Key:
        return self.subs[row].key, 0

    def row_of(self, key: Key) -> int:
        """Returns the row of a key, or -1 if it is not listed."""
        return self._row_of.get(key, -1)


def _key_above(sub: Subsession, known: set[str]) -> str | None:
    """Returns the key of the parent sub-session, or None below the chat itself."""
    above = sub.parent
    key = getattr(above, "key", None) if above is not None else None
    return key if key in known and above is not sub.session else None


def _open_ones(subs: Iterable[Subsession], known: set[str]) -> set[str]:
    """Returns keys of open sub-sessions and their ancestors."""
    wanted: set[str] = set()
    by_key = {sub.key: sub for sub in subs}
    for sub in by_key.values():
        key = sub.key if sub.is_open else None
        while key is not None and key not in wanted:
            wanted.add(key)
            key = _key_above(by_key[key], known)
    return wanted


def _rank(order: Order, tokens: Callable[[Subsession], int]) -> Callable[[Subsession], int]:
    if order is Order.LATEST:
        return _latest
    return tokens if order is Order.TOKENS else _messages


def _messages(sub: Subsession) -> int:
    return len(sub.messages)


def _latest(sub: Subsession) -> int:
    """Returns the time of its last message or change."""
    latest = sub.messages[-1].time_ns if len(sub.messages) else NO_TIME
    return max(latest, sub.created_ns, sub.closed_ns)


def _walk(below: dict[str | None, list[Subsession]]) -> Iterator[tuple[Subsession, int]]:
    """Yields sub-sessions and depths in preorder. Iterative, because files may nest deeply."""
    waiting = [(sub, 0) for sub in reversed(below.get(None, ()))]
    while waiting:
        sub, depth = waiting.pop()
        yield sub, depth
        waiting += [(inner, depth + 1) for inner in reversed(below.get(sub.key, ()))]


NO_SUMMARY = "No summary, messages kept for the record"


@dataclass(frozen=True, slots=True)
class SubsessionLine:
    """A row as texts.

    Attributes:
        mark: state shape: active, idle, concluded or cancelled.
        label, about: on one line each; masked.
        count: number of messages.
        age: how long it is open, or since when it is closed.
        tokens: of its own messages, estimate.
    """

    mark: str
    label: str
    about: str
    count: str
    age: str
    tokens: str

    @property
    def copied(self) -> str:
        """The row as text separated by tabs."""
        return "\t".join((self.label, self.age, self.count, self.tokens, self.about))


class SubsessionListModel(ListModel):
    """One row per sub-session.

    Attributes:
        rows: the rows.
        order, open_only: the user's choices.
        tallies: token sums.
    """

    def __init__(self, document: SessionDocument, tallies: Tallies, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.tallies = tallies
        self._lines: dict[int, SubsessionLine] = {}
        self.rows = SubsessionRows()
        self.order = Order.CHAT
        self.open_only = False

    @property
    @override
    def listed(self) -> SubsessionRows:
        return self.rows

    def reload(self) -> None:
        """Reads the document again. Keeps the selection and scroll position if the rows are the same."""
        before, depths = self.rows.subs, self.rows.depths
        rows = SubsessionRows()
        rows.replace_rows(
            self._document.subsessions, self.order, open_only=self.open_only, tokens=lambda sub: self.tokens(sub)[0]
        )
        self._lines.clear()
        # A reset would lose selection and scroll position.
        if [sub.key for sub in before] == [sub.key for sub in rows.subs] and depths == rows.depths:
            self.rows = rows
            self.renew()
            return
        with self.changing():
            self.rows = rows

    def renew(self) -> None:
        """Notifies views that texts may have changed."""
        self._lines.clear()
        if len(self.rows):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 0))

    def tokens(self, sub: Subsession) -> tuple[int, bool]:
        """Returns tokens of its own messages so far, and True if complete."""
        return self.tallies.sum_of(sub)

    def line(self, row: int) -> SubsessionLine:
        """Returns a row as texts, cached."""
        found = self._lines.get(row)
        if found is None:
            sub = self.rows.subs[row]
            tokens, complete = self.tokens(sub)
            text = NO_SUMMARY if sub.discarded and not sub.summary else about(sub)
            if not text and not len(sub.messages):
                text = NO_MESSAGES
            counted = tokens_words(tokens, complete=complete) if complete or self.tallies.counts_on else ""
            found = self._lines[row] = SubsessionLine(
                dot_state(self._document, sub), safe_line(sub.label, 120), safe_line(text, 200),
                formats.number(len(sub.messages)), age_words(sub, self._document.latest_ns), counted,
            )  # fmt: skip
        return found

    # Texts of a row

    @override
    def text(self, row: int) -> str:
        return self.line(row).label

    @override
    def accessible_text(self, row: int) -> str:
        line, sub = self.line(row), self.rows.subs[row]
        nested = f"nested, level {self.rows.depths[row] + 1}" if self.rows.depths[row] else ""
        count = formats.count_of(len(sub.messages), "message")
        parts = (line.label, state_of(sub), nested, line.age, count, line.tokens, line.about)
        return ", ".join(dict.fromkeys(filter(None, parts)))

    @override
    def tip(self, row: int) -> str:
        line, sub = self.line(row), self.rows.subs[row]
        count = formats.count_of(len(sub.messages), "message")
        head = f"{line.label}\n{line.age}, {count}{f', {line.tokens} (estimate)' if line.tokens else ''}"
        return tool_tip(f"{head}\n\n{about(sub)[:600]}".rstrip())
