"""The item model of the list: words are made for the rows that are asked for, tokens are added up in slices."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import plain, tool_tip
from inspector.ui.msp.panel.list_rows import Order, SubsessionRows
from inspector.ui.msp.panel.list_words import about, age_words, state_of, tokens_words
from inspector.ui.msp.panel.tallies import Tallies
from inspector.ui.msp.panel.words import NO_MESSAGES, dot_state
from inspector.ui.panels.list_view import ListModel

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument
    from inspector.msp.objects import Subsession

NO_SUMMARY = "No summary, messages kept for the record"


@dataclass(frozen=True, slots=True)
class SubsessionLine:
    """A row in words.

    Attributes:
        mark: whose shape it has: active, concluded, cancelled.
        label, about: on one line each; masked.
        count: how many messages, as a figure.
        age: how long it is open, or when it was closed.
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
        """The row as text, separated by tabs."""
        return "\t".join((self.label, self.age, self.count, self.tokens, self.about))


class SubsessionListModel(ListModel):
    """One row per sub-session.

    Attributes:
        rows: what stands where.
        order, open_only: what the user chose.
        tallies: adds tokens up.
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

    def take(self) -> None:
        """Read the document anew; rows keep their place where they are the same as before."""
        before, depths = self.rows.subs, self.rows.depths
        rows = SubsessionRows()
        rows.take(
            self._document.subsessions, self.order, open_only=self.open_only, tokens=lambda sub: self.tokens(sub)[0]
        )
        self._lines.clear()
        if [sub.key for sub in before] == [sub.key for sub in rows.subs] and depths == rows.depths:
            self.rows = rows
            self.renew()
            return
        with self.changing():
            self.rows = rows

    def renew(self) -> None:
        """The same rows may say something else now."""
        self._lines.clear()
        if len(self.rows):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 0))

    def tokens(self, sub: Subsession) -> tuple[int, bool]:
        """Tokens of its own messages so far, and whether that is all."""
        return self.tallies.of(sub)

    def line(self, row: int) -> SubsessionLine:
        """A row in words."""
        found = self._lines.get(row)
        if found is None:
            sub = self.rows.subs[row]
            tokens, complete = self.tokens(sub)
            said = NO_SUMMARY if sub.discarded and not sub.summary else about(sub)
            if not said and not len(sub.messages):
                said = NO_MESSAGES
            counted = tokens_words(tokens, complete=complete) if complete or self.tallies.counts_on else ""
            found = self._lines[row] = SubsessionLine(
                dot_state(sub), plain(sub.label, 120), plain(said, 200), formats.number(len(sub.messages)),
                age_words(sub, time.time_ns()), counted,
            )  # fmt: skip
        return found

    # What a row says

    @override
    def text(self, row: int) -> str:
        return self.line(row).label

    @override
    def spoken(self, row: int) -> str:
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
