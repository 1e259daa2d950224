"""The tree of contexts as a window shows it: what has changed since the last answer, names, and the rows in sight.

A row has a code. Codes from 0 up are nodes of the context tree. Codes below 0 alternate between a space, its main
context, and a source.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.findings.by_context import Tally as Tally
from inspector.analysis.findings.naming_problems import naming_problems
from inspector.analysis.passes.contexts.context_pass import REASONING_TYPE
from inspector.analysis.passes.contexts.context_tree import MAIN as MAIN
from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED
from inspector.analysis.passes.tokens.reported_usage import Usage as Usage
from inspector.analysis.passes.user_marks import EMPTY_NOTE, ContextTarget
from inspector.analysis.passes.user_marks import Note as Note
from inspector.document.document import CaptureDocument
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, check_row_count
from inspector.engine.tree_figures import NO_USAGE as NO_USAGE
from inspector.engine.tree_figures import TreeFigures, figures_of
from inspector.filters.strings import quote
from inspector.present.context_codes import is_root, is_source, place_of
from inspector.present.context_tips import TipFigures, naming_words, tip_lines
from inspector.present.sources import state_of
from inspector.present.wire_text import safe_line, tool_tip

_MAX_TOUCHED = 500
"""Most contexts with new messages that are named in an answer."""


class TreeChanges(msgspec.Struct, frozen=True):
    """Changes of the tree since an answer, and its figures.

    Attributes:
        events: number of changes of nodes so far, for the next request.
        nodes: nodes that appeared, moved, merged or vanished, each once, in the order of their last change, (n,) int32.
        parents: their parents, MAIN for roots, (n,) int32.
        spaces: string ids of their spaces, (n,) int32.
        aliases: the node each was merged into, MAIN if it vanished, itself if it lives, (n,) int32.
        new_spaces: string ids of spaces since the request's number, in the order first seen.
        homes: the source that each of them began in.
        sources: number of sources; 0 for a document of one source.
        touched: contexts with new messages, (n,) int32; empty if there are very many.
        touched_main: spaces with new messages in their main context.
        most_messages: largest message count of any row.
        has_usage: model calls have reported tokens.
        is_behind: rows show slightly older sums, because a deep tree takes long to add up during traffic.
        session_title: title of the only session, or "".
    """

    events: int
    nodes: NDArray[np.int32]
    parents: NDArray[np.int32]
    spaces: NDArray[np.int32]
    aliases: NDArray[np.int32]
    new_spaces: list[int]
    homes: list[int]
    sources: int
    touched: NDArray[np.int32]
    touched_main: list[int]
    most_messages: int
    has_usage: bool
    is_behind: bool
    session_title: str


class FollowContexts(Request[TreeChanges], frozen=True):
    """Changes of the tree.

    Attributes:
        events: number of changes known (`TreeChanges.events`); 0 for the whole tree.
        spaces: number of spaces known.
    """

    is_urgent: ClassVar[bool] = True
    events: int = 0
    spaces: int = 0


class FindContexts(Request[NDArray[np.int32]], frozen=True):
    """Contexts whose label or name has a text, in any case: (n,) int32 nodes."""

    text: str


class ContextRow(msgspec.Struct, frozen=True):
    """Content of a row.

    Attributes:
        code: the row.
        label: on one line, with visible control characters.
        is_raw_id: the label is an id; both its ends matter.
        count: messages of its subtree; of a source the messages read from it.
        tokens: counted tokens of its subtree, if requested.
        usage: usage reported by model calls in its subtree, if requested.
        tally: findings of its subtree.
        note: the user's mark and comment.
        state: active, idle, concluded or cancelled; "" for a space, and for an open context without messages of its
            own; the connection state for a source.
        is_implicit: it exists only as ancestor of others.
        is_reasoning: it is a reasoning sequence.
    """

    code: int
    label: str = ""
    is_raw_id: bool = False
    count: int = 0
    tokens: int = 0
    usage: Usage = NO_USAGE
    tally: Tally = Tally()
    note: Note = EMPTY_NOTE
    state: str = ""
    is_implicit: bool = False
    is_reasoning: bool = False


class DescribeContexts(Request[list[ContextRow]], frozen=True):
    """Contents of rows, at most 1,000.

    Attributes:
        codes: the rows.
        tokens, usage: sums to include.
    """

    is_urgent: ClassVar[bool] = True
    codes: tuple[int, ...]
    tokens: bool = False
    usage: bool = False


class TipOfContext(Request[str], frozen=True):
    """Tooltip of a row.

    Attributes:
        code: the row.
        tokens: includes its tokens.
    """

    is_urgent: ClassVar[bool] = True
    code: int
    tokens: bool = False


class OddName(msgspec.Struct, frozen=True):
    """An irregularity of a context's name.

    Attributes:
        words: its description.
        message: the first message that shows it.
    """

    words: str
    message: int


class ContextActions(msgspec.Struct, frozen=True):
    """Facts for the menu of a row.

    Attributes:
        filter: display filter of its subtree.
        name: name of a space or source; "" for a context.
        is_session: it is a session with a label or title besides its id.
        id: id of a space, or id or segment of a context; "" for a source.
        path: displayed path of a context; "" for other rows.
        problems: messages with a problem in its subtree.
        odd_names: irregularities of a context's name.
        note: the user's mark and comment.
    """

    filter: str
    name: str
    is_session: bool
    id: str
    path: str
    problems: int
    odd_names: list[OddName]
    note: Note


class ActionsOfContext(Request[ContextActions], frozen=True):
    """Facts for the menu of a row."""

    code: int


# Structure


def _follow(held: OpenDocument, asked: FollowContexts) -> TreeChanges:
    analysis, figures = held.document.analysis, figures_of(held)
    contexts, tree = analysis.contexts, analysis.contexts.tree
    nodes = _last_events(as_numpy(tree.events)[asked.events :])
    parents, spaces, aliases = (as_numpy(values)[nodes] for values in (tree.parent, tree.space, tree.aliases))
    new_spaces = contexts.spaces[asked.spaces :]
    touched, main = figures.take_touched()
    few = len(touched) <= _MAX_TOUCHED and asked.events > 0
    return TreeChanges(
        len(tree.events), nodes, parents, spaces, aliases, new_spaces, [*map(figures.sources.home, new_spaces)],
        figures.sources.size, np.array(sorted(map(tree.resolve, touched)) if few else [], np.int32),
        sorted(main) if few else [], figures.most_messages, analysis.usage.report_count > 0,
        tree.subtree_is_behind or analysis.findings.by_context.is_behind, figures.session_title(),
    )  # fmt: skip


def _last_events(events: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns each node once, in the order of the last events."""
    if not len(events):
        return events.copy()
    # Of several values for one place numpy keeps the last.
    places, lowest = np.arange(len(events)), int(events.min())
    last = np.empty(int(events.max()) + 1 - lowest, np.int64)
    last[events - lowest] = places
    return events[last[events - lowest] == places]


def _find(held: OpenDocument, asked: FindContexts) -> Steps[NDArray[np.int32]]:
    return figures_of(held).search(asked.text.casefold())


# Rows


def _describe(held: OpenDocument, asked: DescribeContexts) -> list[ContextRow]:
    check_row_count(len(asked.codes))
    figures = figures_of(held)
    if asked.tokens:
        figures.tokens.renew()
    if asked.usage:
        figures.usage.renew()
    rows = TreeRows(held.document, figures, with_tokens=asked.tokens, with_usage=asked.usage)
    return [rows.row(code) for code in asked.codes if rows.is_known(code)]


class TreeRows:
    """Makes the contents of rows."""

    def __init__(
        self, document: CaptureDocument, figures: TreeFigures, *, with_tokens: bool = False, with_usage: bool = False
    ) -> None:
        self._document, self._figures = document, figures
        self._contexts = document.analysis.contexts
        self._found = document.analysis.findings.by_context
        self._spaces = self._contexts.spaces
        self._with_tokens, self._with_usage = with_tokens, with_usage

    def is_known(self, code: int) -> bool:
        """Returns True for the code of a row that may exist."""
        if code >= 0:
            return code < len(self._contexts.tree)
        return place_of(code) < (self._figures.sources.size if is_source(code) else len(self._spaces))

    def space(self, code: int) -> int:
        """Returns the string id of a row's space; 0 for a source."""
        if is_source(code):
            return 0
        return self._contexts.tree.space[code] if code >= 0 else self._spaces[place_of(code)]

    def row(self, code: int) -> ContextRow:
        if code >= 0:
            return self._context(code)
        return self._source(code) if is_source(code) else self._space(code) if is_root(code) else self._main(code)

    def _context(self, node: int) -> ContextRow:
        contexts, tree, live = self._contexts, self._contexts.tree, self._document.live
        implicit = bool(tree.implicit[node])
        # While live, exact sums of a deep tree would be computed for every answer.
        count = (tree.recent_subtree if live else tree.subtree)[node]
        return ContextRow(
            node, safe_line(contexts.label(node)), not tree.label[node], count,
            self._figures.tokens.subtree_tokens(node) if self._with_tokens else 0,
            self._figures.usage.subtree_usage(node) if self._with_usage else NO_USAGE,
            self._found.recent(node) if live else self._found.subtree_tally(node),
            self._note(tree.space[node], node),
            # A context without messages of its own is neither idle nor active.
            self.end(node) if implicit else contexts.state(node, self._document.analysis.now_ns),
            implicit, contexts.type(node) == REASONING_TYPE and not implicit,
        )  # fmt: skip

    def end(self, node: int) -> str:
        """Returns concluded or cancelled; "" for an open context."""
        return {CONCLUDED: "concluded", CANCELLED: "cancelled"}.get(self._contexts.facts.end[node], "")

    def _main(self, code: int) -> ContextRow:
        space, figures = self.space(code), self._figures
        return ContextRow(
            code, "main", False, self._contexts.main_counts.get(space, 0),
            figures.tokens.in_main(space) if self._with_tokens else 0,
            figures.usage.in_main(space) if self._with_usage else NO_USAGE,
            self._found.in_main(space), self._note(space, MAIN), figures.main_state(space),
        )  # fmt: skip

    def _space(self, code: int) -> ContextRow:
        space, figures = self.space(code), self._figures
        return ContextRow(
            code, safe_line(figures.space_name(space)), False, figures.totals.get(space, 0),
            figures.tokens.in_space(space) if self._with_tokens else 0,
            figures.usage.in_space(space) if self._with_usage else NO_USAGE, self._found.in_space(space),
        )  # fmt: skip

    def _source(self, code: int) -> ContextRow:
        source, figures = place_of(code), self._figures
        spaces = figures.spaces_of(source)
        tallies = [self._found.in_space(space) for space in spaces]
        used = map(figures.usage.in_space, spaces) if self._with_usage else ()
        return ContextRow(
            code, safe_line(self._document.capture.sources[source].name), False, figures.sources.count(source),
            sum(map(figures.tokens.in_space, spaces)) if self._with_tokens else 0,
            Usage(*map(sum, zip(NO_USAGE, *used, strict=True))),
            Tally(*map(sum, zip(Tally(), *tallies, strict=True))), state=state_of(self._document, source),
        )  # fmt: skip

    def _note(self, space: int, node: int) -> Note:
        marks = self._document.analysis.marks
        return marks.note(ContextTarget(space, node)) if len(marks) else EMPTY_NOTE


def _tip(held: OpenDocument, asked: TipOfContext) -> str:
    document, figures = held.document, figures_of(held)
    rows = TreeRows(document, figures, with_tokens=asked.tokens)
    if not rows.is_known(asked.code):
        return ""
    row, space = rows.row(asked.code), rows.space(asked.code)
    state = document.analysis.contexts.state(row.code, document.analysis.now_ns) if row.code >= 0 else row.state
    facts = TipFigures(
        row.label, row.count, row.tokens if asked.tokens else None, row.tally, state,
        figures.main_last_ns.get(space), figures.is_session(space),
        is_source(row.code) and figures.sources.shares(place_of(row.code)),
    )  # fmt: skip
    lines = [row.note.comment, *tip_lines(document, row.code, space, facts)]
    return tool_tip("\n".join(line for line in lines if line))


# Acts of the user


def _actions(held: OpenDocument, asked: ActionsOfContext) -> ContextActions:
    document, figures, code = held.document, figures_of(held), asked.code
    rows, contexts = TreeRows(document, figures), document.analysis.contexts
    if not rows.is_known(code):
        raise RequestError("There is no such context.")
    row, space, tree = rows.row(code), rows.space(code), contexts.tree
    problems, space_id = row.tally.problems, document.capture.strings[space]
    in_space = f"space == {quote(space_id)}" if space else "!space"
    if is_source(code):
        name = document.capture.sources[place_of(code)].name
        return ContextActions(f"source == {quote(name)}", name, False, "", "", problems, [], row.note)
    if is_root(code):
        name, is_session = figures.space_name(space), figures.is_session(space)
        return ContextActions(in_space, name, is_session, space_id, "", problems, [], row.note)
    path, own_id = (tree.path(code), tree.name[code]) if code >= 0 else ("", "")
    part = f"context under {quote(path)}" if code >= 0 else "!context"
    filter_ = part if len(contexts.spaces) == 1 else f"{in_space} && {part}"
    odd = [OddName(naming_words(one), one.row) for one in naming_problems(contexts, max(code, MAIN))]
    return ContextActions(filter_, "", False, own_id, path, problems, odd, row.note)


QUERIES = (
    Query(FollowContexts, TreeChanges, _follow),
    Query(FindContexts, NDArray[np.int32], _find),
    Query(DescribeContexts, list[ContextRow], _describe),
    Query(TipOfContext, str, _tip),
    Query(ActionsOfContext, ContextActions, _actions),
)
