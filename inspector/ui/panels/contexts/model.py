"""Qt model of the context tree: rows with label, state, counts, tokens and search hits; tooltips."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.findings.by_context import Tally
from inspector.analysis.findings.naming_problems import NamingProblem, naming_problems
from inspector.analysis.passes.contexts.context_pass import REASONING_TYPE
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED
from inspector.analysis.passes.tokens.reported_usage import Usage
from inspector.analysis.passes.user_marks import EMPTY_NOTE, ContextTarget, Note
from inspector.document.document import CaptureDocument
from inspector.filters.scope import Scope
from inspector.present.formats import clock, count_of, message_number
from inspector.present.session_titles import ShownTitles
from inspector.present.sources import shared_by_source, state_of
from inspector.present.sub_agent_facts import usage_facts
from inspector.present.subject import text_of
from inspector.present.wire_text import excerpt, safe_line, tool_tip
from inspector.protocol.context_places import PLACE_EXPLANATIONS
from inspector.protocol.msp import SUBSESSION_TYPE
from inspector.protocol.timestamps import NO_TIME
from inspector.ui.panels.contexts.activity import NOTHING as NOTHING_USED
from inspector.ui.panels.contexts.activity import Activity, TreeTokens, TreeUsage
from inspector.ui.panels.contexts.rows import (
    EVERYTHING,
    ContextMatches,
    ContextRows,
    RowInsertion,
    is_root,
    is_source,
    main_code,
    place_of,
    root_code,
    source_code,
)
from inspector.ui.panels.contexts.source_level import SourceLevel

MAX_STEPS = 32
"""Most insertions announced one by one; more become a reset, so that views update once."""

MANY_TOUCHED = 500
"""Most touched contexts with exact updates; more repaint all rows."""

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class ContextTreeModel(QAbstractTableModel):
    """Table of one column, one row for each visible context.

    Attributes:
        rows: the visible rows.
        activity: message totals and halos.
        tokens: token sums, if shown.
        usage: usage reported by model calls, if shown.

    Signals:
        about_to_change(): rows will be inserted or removed; views save their position.
        rows_settled(): the change is complete.
    """

    about_to_change = Signal()
    rows_settled = Signal()

    def __init__(self, document: CaptureDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._analysis = document.analysis
        self._contexts = document.analysis.contexts
        # All rows are made below, so earlier changes are dropped.
        self._contexts.take_touched()
        self._analysis.findings.by_context.take_touched()
        self.rows = ContextRows(self._contexts, SourceLevel(document.capture))
        self.activity = Activity(self._analysis)
        self.activity.feed()
        self.animated = True
        self.tokens = TreeTokens(document.analysis)
        self._titles = ShownTitles(document.capture)
        self.usage = TreeUsage(document.analysis)

    # Meaning of rows

    def code(self, row: int) -> int:
        """Returns the code of a row; see `rows`."""
        return int(self.rows.codes[row])

    def node(self, row: int) -> int | None:
        """Returns the node of a row: MAIN for a main context, None for a space or source."""
        code = self.code(row)
        return code if code >= 0 else None if is_root(code) or is_source(code) else MAIN

    def source(self, row: int) -> int | None:
        """Returns a source's index in the capture; None for other rows."""
        code = self.code(row)
        return place_of(code) if is_source(code) else None

    def scope(self, row: int) -> Scope:
        """Returns the scope set by a click on a row."""
        return Scope(self.space(row), self.node(row), source=self.source(row))

    def _spaces_of(self, source: int) -> list[int]:
        return [self.rows.space_of(code) for code in self.rows.children(source_code(source))]

    def space(self, row: int) -> int:
        """Returns the string id of a row's space."""
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

    def space_name(self, space: int) -> str:
        """Returns a space's name: a session's label or title, the space's own name, else the document's."""
        label = self._contexts.sessions.labels.get(space) or self._titles.session_title(space)
        return label or self._document.capture.strings[space] or self._document.name

    @property
    def session_title(self) -> str:
        """Title of the document's only session; "" for several sessions, or without a title.

        Conversations without a space, as recorded from a model API, do not count.
        """
        # String id 0 is the space without a name.
        titles = [title for space in self._contexts.spaces if space and (title := self._titles.session_title(space))]
        return titles[0] if len(titles) == 1 else ""

    def is_session(self, space: int) -> bool:
        """Returns True if a space is a session with a label or title besides its id."""
        return space in self._contexts.sessions.labels or bool(self._titles.session_title(space))

    def label(self, row: int) -> str:
        """Returns a row's label on one line, with control characters visible."""
        code = self.code(row)
        if code >= 0:
            return safe_line(self._contexts.label(code))
        if is_source(code):
            return safe_line(self._document.capture.sources[place_of(code)].name)
        return safe_line(self.space_name(self.space(row))) if is_root(code) else "main"

    def is_raw_id(self, row: int) -> bool:
        """Returns True if the label is a raw id; both its ends matter."""
        code = self.code(row)
        return code >= 0 and not self._contexts.tree.label[code]

    def count(self, row: int) -> int:
        """Returns the messages of a row's subtree; for a source the messages read from it."""
        code = self.code(row)
        if code >= 0:
            tree = self._contexts.tree
            # While live, exact sums of a deep tree would be computed for every flush.
            return (tree.recent_subtree if self._document.live else tree.subtree)[code]
        if is_source(code):
            return self.rows.sources.count(place_of(code))
        space = self.space(row)
        return (self.activity.totals if is_root(code) else self._contexts.main_counts).get(space, 0)

    @property
    def is_behind(self) -> bool:
        """True if rows show older sums, because a deep tree takes long to add up during traffic."""
        return self._contexts.tree.subtree_is_behind or self._analysis.findings.by_context.is_behind

    @property
    def most_messages(self) -> int:
        """Largest message count of any row."""
        sources = map(self.rows.sources.count, range(self.rows.sources.size))
        return max((*self.activity.totals.values(), *sources), default=0)

    def token_count(self, row: int) -> int:
        """Returns the tokens of a row's subtree counted so far."""
        code = self.code(row)
        if code >= 0:
            return self.tokens.subtree_tokens(code)
        if is_source(code):
            return sum(map(self.tokens.in_space, self._spaces_of(place_of(code))))
        space = self.space(row)
        return self.tokens.in_space(space) if is_root(code) else self.tokens.in_main(space)

    def reported(self, row: int) -> Usage:
        """Returns the usage reported by model calls in a row's subtree."""
        code = self.code(row)
        if code >= 0:
            return self.usage.subtree_usage(code)
        if is_source(code):
            used = map(self.usage.in_space, self._spaces_of(place_of(code)))
            return Usage(*map(sum, zip(NOTHING_USED, *used, strict=True)))
        space = self.space(row)
        return self.usage.in_space(space) if is_root(code) else self.usage.in_main(space)

    def show_usage(self, shown: bool) -> None:
        """Shows or hides reported usage; computed only while shown."""
        self.usage.shown = shown
        self.usage.renew(now=True)
        if len(self.rows):
            self._emit_changed(0, len(self.rows) - 1)

    def ask_for_usage(self) -> None:
        """Shows usage even in a narrow panel."""
        self.usage.asked = True

    def show_tokens(self, shown: bool) -> None:
        """Shows or hides tokens; computed only while shown."""
        self.tokens.shown = shown
        self.tokens.renew(now=True)
        if len(self.rows):
            self._emit_changed(0, len(self.rows) - 1)

    def note(self, row: int) -> Note:
        """Returns the user's mark and comment of a row."""
        node = self.node(row)
        marks = self._document.analysis.marks
        return EMPTY_NOTE if node is None or not len(marks) else marks.note(ContextTarget(self.space(row), node))

    def tally(self, row: int) -> Tally:
        """Returns the findings of a row's subtree. O(1)."""
        code, found = self.code(row), self._analysis.findings.by_context
        if code >= 0:
            return found.recent(code) if self._document.live else found.subtree_tally(code)
        if is_source(code):
            tallies = [found.in_space(space) for space in self._spaces_of(place_of(code))]
            return Tally(*map(sum, zip(Tally(), *tallies, strict=True)))
        return found.in_space(self.space(row)) if is_root(code) else found.in_main(self.space(row))

    def state(self, row: int) -> str:
        """Returns active, idle, concluded or cancelled; "" for a space; the connection state for a source."""
        code = self.code(row)
        if code >= 0:
            return self._contexts.state(code, self._analysis.now_ns)
        if is_source(code):
            return state_of(self._document, place_of(code))
        return "" if is_root(code) else self.activity.main_state(self.space(row))

    def end(self, row: int) -> str:
        """Returns concluded or cancelled; "" for an open context. O(1) for any subtree."""
        code = self.code(row)
        ends = {CONCLUDED: "concluded", CANCELLED: "cancelled"}
        return ends.get(self._contexts.facts.end[code], "") if code >= 0 else ""

    def is_implicit(self, row: int) -> bool:
        """Returns True for a context that exists only as ancestor of others."""
        code = self.code(row)
        return code >= 0 and bool(self._contexts.tree.implicit[code])

    def is_reasoning(self, row: int) -> bool:
        """Returns True for a reasoning sequence."""
        code = self.code(row)
        return code >= 0 and self._contexts.type(code) == REASONING_TYPE and not self.is_implicit(row)

    # Qt interface

    @override
    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        if role == Qt.ItemDataRole.DisplayRole or role == Qt.ItemDataRole.AccessibleTextRole:
            return self.label(index.row())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self._document, self, index.row())
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return self.describe(index.row())
        return None

    def describe(self, row: int) -> str:
        """Returns level, marks and counts of a row in words."""
        parts = [f"level {self.depth(row) + 1}"]
        if self.has_children(row):
            parts.append("expanded" if self.is_expanded(row) else "collapsed")
        parts.append(count_of(self.count(row), "message"))
        if self.tokens.shown:
            parts.append(f"{count_of(self.token_count(row), 'token')}, estimate")
        if self.usage.shown and any(used := self.reported(row)):
            parts.append(f"reported {used.input:,} tokens in, {used.cached:,} cached, {used.output:,} out")
        if self.tally(row).problems:
            parts.append(tally_words(self.tally(row), notes=False))
        parts += self.note(row).words
        if self.is_reasoning(row):
            parts.append("reasoning")
        if self.is_implicit(row):
            parts.append("no messages of its own")
        elif self.state(row):
            parts.append(self.state(row))
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
        self._emit_changed(row, row)
        self.rows_settled.emit()

    def expand_to(self, depth: int = EVERYTHING) -> None:
        """Expands all rows above a depth and collapses the rest; 1 shows only root contexts."""
        self.rows.set_depth(depth)
        self._lay_out()

    def show_sources(self, shown: bool) -> None:
        """Shows or hides the level of sources in documents with several."""
        self.rows.sources.wanted = shown
        if self.rows.regrouped:
            self._lay_out()

    def find(self, text: str) -> None:
        """Shows only contexts with a matching label or id, and their ancestors; "" shows all."""
        self.rows.set_found(ContextMatches(self._contexts, text) if text.strip() else None)
        self._lay_out()

    @property
    def needle(self) -> str:
        """Search text, case folded; "" without a search."""
        return self.rows.found.needle if self.rows.found is not None else ""

    # Document changes

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Applies new traffic: inserts, removes and repaints rows.

        The cost depends on the changes, not on the number of rows. A moved tree costs some ms more at 100,000 contexts.
        """
        touched = self._contexts.take_touched()
        main = self.activity.feed()
        # After a pause of the view, the tree may be ahead of this change.
        self._follow_tree(touched)
        if changes.tree_moved and len(self.rows):
            # Older nodes may have new labels and types.
            self._emit_changed(0, len(self.rows) - 1)
        resolve = self._contexts.tree.resolve
        # Many changes are repainted together, without a search for each row.
        few = len(touched) <= MANY_TOUCHED
        odd, spaces = self._analysis.findings.by_context.take_touched()
        troubled = odd.tolist() if len(odd) <= MANY_TOUCHED else None
        if (self.tokens.renew() | self.usage.renew()) and len(self.rows):
            self._emit_changed(0, len(self.rows) - 1)
        self._emit_touched({resolve(node) for node in touched} - {MAIN} if few else touched, main, troubled, spaces)

    def _follow_tree(self, touched: set[int]) -> None:
        rows = self.rows
        rows.sources.feed()
        if not rows.is_outdated and not rows.regrouped:
            return
        # A search or another grouping decides which rows exist, so all are laid out.
        if rows.found is not None or rows.regrouped:
            rows.stale_spans()
            if rows.found is not None:
                rows.found.look_on(touched)
            self._lay_out()
            return
        self.about_to_change.emit()
        spans = rows.stale_spans()
        if len(spans) > MAX_STEPS:
            self.beginResetModel()
            rows.remove_all(spans)
            rows.insert_all(rows.insertions())
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
            self.endResetModel()
            return
        for insertion in insertions:
            self._insert(insertion)

    def _insert(self, insertion: RowInsertion) -> None:
        if insertion.codes:
            self.beginInsertRows(QModelIndex(), insertion.row, insertion.row + len(insertion.codes) - 1)
            self.rows.insert(insertion)
            self.endInsertRows()

    def _remove(self, first: int, last: int) -> None:
        self.beginRemoveRows(QModelIndex(), first, last)
        self.rows.remove(first, last)
        self.endRemoveRows()

    def _lay_out(self) -> None:
        """Lays out all rows again in a model reset."""
        self.about_to_change.emit()
        self.beginResetModel()
        self.rows.replace(*self.rows.layout())
        self.endResetModel()
        self.rows_settled.emit()

    def _emit_touched(self, touched: set[int], main: set[int], troubled: list[int] | None, spaces: set[int]) -> None:
        """Emits changed rows: those with new messages or findings, and their ancestors.

        Many changes are announced as a change of all rows: a repaint of the screen costs less than a search for rows.

        Args:
            touched: living contexts with new messages.
            main: spaces with new messages in main.
            troubled: contexts with changed findings; None if there are many.
            spaces: spaces with changed findings.
        """
        rows = self.rows
        # Taken here, so that each change is emitted once.
        codes, self.rows.dirty = self.rows.dirty, set()
        if troubled is None or len(codes) + len(touched) + len(troubled) > MANY_TOUCHED:
            self._emit_changed(0, len(rows) - 1)
        else:
            living = {*touched, *map(self._contexts.tree.resolve, troubled)} - {MAIN}
            changed = self._with_ancestors(codes, living, main | spaces)
            found = rows.rows_of(changed).tolist() if len(changed) <= MANY_TOUCHED else range(len(rows))
            if len(found) > MAX_STEPS:
                self._emit_changed(found[0], found[-1])
            elif found:
                self._emit_spans(found)
        if self.animated and self._document.live and len(touched) <= MANY_TOUCHED:
            now = time.monotonic()
            self.activity.spoke(rows.shown_codes(touched), now)
            self.activity.spoke((main_code(p) for p, space in enumerate(rows.spaces) if space in main), now)

    def _with_ancestors(self, codes: set[int], touched: set[int], main: set[int]) -> set[int]:
        parent = self._contexts.tree.parent
        for node in touched:
            above = node
            while above != MAIN and above not in codes and len(codes) <= MANY_TOUCHED:
                codes.add(above)
                above = parent[above]
        for place, space in enumerate(self.rows.spaces):
            codes.add(root_code(place))
            if space in main:
                codes.add(main_code(place))
        codes.update(map(source_code, range(self.rows.sources.size)))
        return codes

    def _emit_spans(self, rows: Sequence[int]) -> None:
        first = last = rows[0]
        for row in rows[1:]:
            if row != last + 1:
                self._emit_changed(first, last)
                first = row
            last = row
        self._emit_changed(first, last)

    def _emit_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, 0))


_CONCLUSION_LENGTH = 200
"""Characters of a conclusion in a tooltip."""


def tooltip(document: CaptureDocument, model: ContextTreeModel, row: int) -> str:
    """Returns a row's tooltip: path, id, own count, last activity, state, findings and irregularities."""
    lines = [model.note(row).comment, *_lines(document, model, row)]
    return tool_tip("\n".join(line for line in lines if line))


def _lines(document: CaptureDocument, model: ContextTreeModel, row: int) -> list[str]:
    node, total, source = model.node(row), model.count(row), model.source(row)
    if source is not None:
        return _source_lines(document, model, row, source)
    if node is None:
        found = tally_words(model.tally(row))
        if not model.is_session(model.space(row)):
            return [f"{count_of(total, 'message')} in this space", found, f"Space: {model.label(row)}"]
        name = safe_line(document.capture.strings[model.space(row)] or "none")
        return [f"{count_of(total, 'message')} in this session", found, f"Session: {model.label(row)}", f"Id: {name}"]
    contexts, tree = document.analysis.contexts, document.analysis.contexts.tree
    if node < 0:
        last = model.activity.main_last_ns.get(model.space(row), NO_TIME)
        found = tally_words(model.tally(row))
        used = [f"{one.name}: {one.value}" for one in usage_facts(document.analysis, model.space(row), MAIN)]
        return [f"{count_of(total, 'message')} without a context", _state(model.state(row), last), *used, found]
    own = tree.own[node]
    lines = [f"{count_of(own, 'message')} here" + (f", {total:,} including nested contexts" if total != own else "")]
    if model.tokens.shown:
        lines.append(f"{count_of(model.token_count(row), 'token')}, estimate, including nested contexts")
    lines.append(_state(model.state(row), contexts.last_ns[node]))
    lines += [f"{one.name}: {one.value}" for one in usage_facts(document.analysis, tree.space[node], node)]
    found = tally_words(model.tally(row))
    if found:
        lines.append(f"{found}, here and below" if model.has_children(row) else found)
    lines += [contexts.type_reason(node), contexts.note(node)]
    if (told := contexts.first_context_place(node)) in PLACE_EXPLANATIONS:
        lines.append(f"Declared by {PLACE_EXPLANATIONS[told]}")
    lines += [f"Irregular: {odd_words(odd)}" for odd in naming_problems(contexts, node)]
    if tree.label[node]:
        is_session = contexts.type(node) == SUBSESSION_TYPE
        lines.append(f"{'Sub-session' if is_session else 'Asked'}: {model.label(row)}")
    if (ended := contexts.concluded_by[node]) >= 0:
        said = excerpt(text_of(document.capture, ended), _CONCLUSION_LENGTH)
        word = "Cancelled" if model.end(row) == "cancelled" else "Concluded"
        lines.append(f"{word} in No. {ended + 1}{f': {said}' if said else ''}")
    lines.append(f"Path: {safe_line(tree.path(node))}")
    if tree.label[node] or "/" in tree.name[node]:
        lines.append(f"Id: {safe_line(tree.name[node])}")
    return lines


def _source_lines(document: CaptureDocument, model: ContextTreeModel, row: int, source: int) -> list[str]:
    """Returns the lines of a source: its messages, and the ones shared with other sources."""
    shared = shared_by_source(document)[source]
    return [
        f"{count_of(model.count(row), 'message')} read from this source, {model.state(row)}",
        f"{count_of(shared, 'message')} shared with another source; each counts where it was read" * (shared > 0),
        "Spaces that began in another source are listed there" * model.rows.sources.shares(source),
        tally_words(model.tally(row)),
        f"Source: {safe_line(str(document.capture.sources[source].path))}",
    ]


def tally_words(tally: Tally, *, notes: bool = True) -> str:
    """Returns findings in words: "2 messages with a problem: 1 error, 2 warnings"; "" for no finding."""
    counts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes if notes else 0, "note")]
    found = ", ".join(count_of(count, word) for count, word in counts if count)
    return f"{count_of(tally.problems, 'message')} with a problem: {found}" if tally.problems else found


def odd_words(odd: NamingProblem) -> str:
    """Returns an irregularity and its first message: "malformed context path, No. 12"."""
    again = f" and {odd.times - 1:,} more" if odd.times > 1 else ""
    return f"{odd.check.title[:1].lower()}{odd.check.title[1:]}, {message_number(odd.row)}{again}"


def _state(state: str, last_ns: int) -> str:
    when = f", last message at {clock(last_ns)}" if last_ns != NO_TIME else ""
    return f"{state.capitalize()}{when}"
