"""Item model of the context tree: rows with label, state, counts, tokens and search hits."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QObject, Signal

from inspector.engine.requests.context_tree import (
    MAIN,
    ContextRow,
    DescribeContexts,
    FindContexts,
    FollowContexts,
    Note,
    Tally,
    TipOfContext,
    TreeChanges,
    Usage,
)
from inspector.engine.requests.filters import Scope
from inspector.present.context_codes import is_root, is_source, main_code, place_of
from inspector.present.context_tips import tally_words
from inspector.present.formats import count_of
from inspector.ui import intervals
from inspector.ui.panels.contexts.halos import Halos
from inspector.ui.panels.contexts.rows import EVERYTHING, ContextMatches, ContextRows, RowInsertion
from inspector.ui.panels.contexts.source import ContextSource
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows
from inspector.ui.widgets.rows.model import RowsModel

MAX_STEPS = 32
"""Most insertions announced one by one; more become a reset, so that views update once."""
_SEARCH_REST = 10
"""Pause after a search, as a multiple of its duration."""


class ContextTreeModel(RowsModel):
    """Rows of visible contexts. The engine describes them as they come into sight.

    Attributes:
        client: asks the engine.
        rows: the visible rows.
        changes: the last changes of the tree, and figures of all rows.
        halos: halos of contexts with new messages.
        animated: new messages start halos.
        shows_tokens: rows have tokens.
        shows_usage: rows have usage reported by model calls.
        is_usage_asked: the user asked for it; otherwise a narrow panel omits it in favour of labels.
        room: width of the view in pixels at 100 %.

    Signals:
        followed(): the rows show the present state of the engine.
        matches_shown(): the matches of a search have arrived.
    """

    followed = Signal()
    matches_shown = Signal()

    def __init__(self, client: Client, parent: QObject | None = None) -> None:
        super().__init__(ContextSource(self), parent)
        self.client = client
        self.room = 0.0
        self.rows = ContextRows()
        self._found: ContextMatches | None = None
        self.halos = Halos()
        self.animated = True
        self.shows_tokens = self.shows_usage = self.is_usage_asked = False
        self._described: DescribedRows[int, ContextRow] = DescribedRows(
            client, self._rows_request, lambda row: row.code, self._on_described
        )
        self.changes: LatestAnswer[TreeChanges] = LatestAnswer(
            self, client, self._changes_request, self._take, every_ms=lambda: 0
        )
        self._search: LatestAnswer[NDArray[np.int32]] = LatestAnswer(
            self, client, lambda: FindContexts(self.needle), self._show_found,
            every_ms=lambda: intervals.LISTS_MS, rest=_SEARCH_REST, ready=lambda: self.needle != "",
        )  # fmt: skip
        self.changes.request_now()

    def stop(self) -> None:
        """Ends all requests."""
        self.changes.stop()
        self._search.stop()

    # Contents of rows

    def _rows_request(self, codes: tuple[int, ...]) -> DescribeContexts:
        return DescribeContexts(codes, tokens=self.shows_tokens, usage=self.shows_usage)

    def content(self, row: int) -> ContextRow:
        """Returns the content of a row; an empty one while it is on its way."""
        code = self.code(row)
        found = self._described.find(code, lambda: self.rows.codes[max(0, row - BEFORE) : row + AFTER].tolist())
        return found or ContextRow(code)

    def renew_rows(self, first: int, last: int) -> None:
        """Has the rows of a range described again, and others when they come into sight."""
        self._described.drop()
        self._described.request(self.rows.codes[first : last + 1].tolist())

    def _on_described(self, code: int) -> None:
        row = self.rows.row_of(code)
        if row >= 0:
            self.renew(row, row)

    def request_tip(self, row: int, show: Callable[[str], object]) -> None:
        """Asks for the tooltip of a row."""
        self.client.send_request(TipOfContext(self.code(row), self.shows_tokens), show)

    # Meaning of rows

    def code(self, row: int) -> int:
        """Returns the code of a row (`inspector.present.context_codes`)."""
        return int(self.rows.codes[row])

    def node(self, row: int) -> int | None:
        """Returns the node of a row: MAIN for a main context, None for a space or source."""
        code = self.code(row)
        return code if code >= 0 else None if is_root(code) or is_source(code) else MAIN

    def source_of(self, row: int) -> int | None:
        """Returns a source's index in the capture; None for other rows."""
        code = self.code(row)
        return place_of(code) if is_source(code) else None

    def scope(self, row: int) -> Scope:
        """Returns the scope set by a click on a row."""
        return Scope(self.space(row), self.node(row), source=self.source_of(row))

    def space(self, row: int) -> int:
        """Returns the string id of a row's space; 0 for a source."""
        return self.rows.space_of(self.code(row))

    def depth(self, row: int) -> int:
        """Returns the level of a row: 0 for a space, 1 for its main context and root contexts; 1 more below sources."""
        return int(self.rows.depths[row])

    def has_children(self, row: int) -> bool:
        return self.rows.has_children(self.code(row))

    def is_expanded(self, row: int) -> bool:
        """Returns True if the rows below a row are visible."""
        code = self.code(row)
        return self.rows.has_children(code) and self.rows.is_open(code, self.depth(row))

    @property
    def session_title(self) -> str:
        """Title of the document's only session; "" for several sessions, or without a title."""
        return self.changes.answer.session_title if self.changes.answer is not None else ""

    def label(self, row: int) -> str:
        """Returns a row's label on one line, with control characters visible."""
        return self.content(row).label

    def is_raw_id(self, row: int) -> bool:
        """Returns True if the label is a raw id; both its ends matter."""
        return self.content(row).is_raw_id

    def count(self, row: int) -> int:
        """Returns the messages of a row's subtree; for a source the messages read from it."""
        return self.content(row).count

    @property
    def is_behind(self) -> bool:
        """True if rows show older sums, because a deep tree takes long to add up during traffic."""
        return self.changes.answer is not None and self.changes.answer.is_behind

    @property
    def most_messages(self) -> int:
        """Largest message count of any row."""
        return self.changes.answer.most_messages if self.changes.answer is not None else 0

    @property
    def has_usage(self) -> bool:
        """True if any call reported usage."""
        return self.changes.answer is not None and self.changes.answer.has_usage

    def token_count(self, row: int) -> int:
        """Returns the tokens of a row's subtree counted so far."""
        return self.content(row).tokens

    def reported(self, row: int) -> Usage:
        """Returns the usage reported by model calls in a row's subtree."""
        return self.content(row).usage

    def show_usage(self, shown: bool) -> None:
        """Shows or hides reported usage."""
        self.shows_usage = shown
        self._describe_again()

    def ask_for_usage(self) -> None:
        """Shows usage even in a narrow panel."""
        self.is_usage_asked = True

    def show_tokens(self, shown: bool) -> None:
        """Shows or hides tokens."""
        self.shows_tokens = shown
        self._describe_again()

    def _describe_again(self) -> None:
        self._described.drop()
        self.renew()

    def note(self, row: int) -> Note:
        """Returns the user's mark and comment of a row."""
        return self.content(row).note

    def tally(self, row: int) -> Tally:
        """Returns the findings of a row's subtree."""
        return self.content(row).tally

    def state(self, row: int) -> str:
        """Returns active, idle, concluded or cancelled; "" for a space, and for an open context without messages.

        Of a source it is the state of its connection.
        """
        return self.content(row).state

    def is_implicit(self, row: int) -> bool:
        """Returns True for a context that exists only as ancestor of others."""
        return self.content(row).is_implicit

    def is_reasoning(self, row: int) -> bool:
        """Returns True for a reasoning sequence."""
        return self.content(row).is_reasoning

    def set_room(self, room: float) -> None:
        """Sets the width of the view in pixels at 100 %, which decides the columns."""
        if room != self.room:
            self.room = room
            self.renew()

    def describe(self, row: int) -> str:
        """Returns level, marks and counts of a row in words."""
        content, parts = self.content(row), [f"level {self.depth(row) + 1}"]
        if self.has_children(row):
            parts.append("expanded" if self.is_expanded(row) else "collapsed")
        parts.append(count_of(content.count, "message"))
        if self.shows_tokens:
            parts.append(f"{count_of(content.tokens, 'token')}, estimate")
        if self.shows_usage and any(used := content.usage):
            parts.append(f"reported {used.input:,} tokens in, {used.cached:,} cached, {used.output:,} out")
        if content.tally.problems:
            parts.append(tally_words(content.tally, notes=False))
        parts += content.note.words
        if content.is_reasoning:
            parts.append("reasoning")
        if content.is_implicit:
            parts.append("no messages of its own")
        elif content.state:
            parts.append(content.state)
        return ", ".join(parts)

    # Expansion and search

    def set_expanded(self, row: int, on: bool) -> None:
        """Expands or collapses a row; does nothing for rows without children."""
        if on == self.is_expanded(row) or not self.has_children(row):
            return
        self.about_to_change.emit()
        self.rows.set_open(self.code(row), on)
        if on:
            self._insert(self.rows.insertion_below(row))
        elif self.rows.end(row) > row + 1:
            self._remove(row + 1, self.rows.end(row) - 1)
        self.renew(row, row)
        self.rows_settled.emit()

    def expand_to(self, depth: int = EVERYTHING) -> None:
        """Expands all rows above a depth and collapses the rest; 1 shows only root contexts."""
        self.rows.set_depth(depth)
        self._lay_out()

    def show_sources(self, shown: bool) -> None:
        """Shows or hides the level of sources in documents with several."""
        self.rows.sources_wanted = shown
        if self.rows.regrouped:
            self._lay_out()

    def find(self, text: str) -> None:
        """Shows only contexts with a matching label or id, and their ancestors; "" shows all."""
        if text.strip():
            self._found = ContextMatches(self.rows.tree, text)
            self._search.request_now()
        else:
            self._found = None
            self.rows.set_found(None)
            self._lay_out()

    @property
    def needle(self) -> str:
        """Search text, case folded; "" without a search."""
        return self._found.needle if self._found is not None else ""

    def _show_found(self, matches: NDArray[np.int32]) -> None:
        if self._found is not None:
            self._found.show(matches)
            self.rows.set_found(self._found)
            self._lay_out()
            self.matches_shown.emit()

    @property
    def is_searching(self) -> bool:
        """True until the matches of the present text have arrived."""
        return self._found is not self.rows.found

    # Document changes

    def _changes_request(self) -> FollowContexts:
        return FollowContexts(self.rows.tree.events, len(self.rows.tree.spaces))

    def _take(self, changes: TreeChanges) -> None:
        """Applies new traffic: inserts and removes rows. The cost depends on the changes, not on the number of rows."""
        rows = self.rows
        moved = rows.apply_changes(changes)
        if rows.regrouped or (moved and (rows.found is not None or not len(rows))):
            # Another grouping decides which rows exist, and so does a search, which follows soon.
            self._lay_out()
        elif moved:
            self._move_rows()
        if self.animated and self.client.state.is_live:
            now = time.monotonic()
            self.halos.start(rows.shown_codes(changes.touched.tolist()), now)
            main = set(changes.touched_main)
            self.halos.start((main_code(p) for p, space in enumerate(rows.tree.spaces) if space in main), now)
        self.followed.emit()

    def _move_rows(self) -> None:
        rows = self.rows
        self.about_to_change.emit()
        spans = rows.stale_spans()
        if len(spans) > MAX_STEPS:
            self.beginResetModel()
            rows.remove_all(spans)
            rows.insert_all(rows.insertions())
            self.drop_specs()
            self.endResetModel()
        else:
            for first, last in spans:
                self._remove(first, last)
            self._insert_all(rows.insertions())
        self.rows_settled.emit()

    def _insert_all(self, insertions: list[RowInsertion]) -> None:
        if len(insertions) > MAX_STEPS:
            self.beginResetModel()
            self.rows.insert_all(insertions)
            self.drop_specs()
            self.endResetModel()
            return
        for insertion in insertions:
            self._insert(insertion)

    def _insert(self, insertion: RowInsertion) -> None:
        if insertion.codes:
            self.beginInsertRows(QModelIndex(), insertion.row, insertion.row + len(insertion.codes) - 1)
            self.rows.insert(insertion)
            self.drop_specs()
            self.endInsertRows()

    def _remove(self, first: int, last: int) -> None:
        self.beginRemoveRows(QModelIndex(), first, last)
        self.rows.remove(first, last)
        self.drop_specs()
        self.endRemoveRows()

    def _lay_out(self) -> None:
        """Lays out all rows again in a model reset."""
        self.about_to_change.emit()
        self.beginResetModel()
        self.rows.replace(*self.rows.layout())
        self.drop_specs()
        self.endResetModel()
        self.rows_settled.emit()
