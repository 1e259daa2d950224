"""Figures of a document's context tree that are kept between requests: counts by space and source, sums, a search."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.tokens.reported_usage import Usage
from inspector.analysis.passes.tokens.token_sums import NodeTokens
from inspector.analysis.views.summaries.context_usage import NodeUsage, usage_by_node
from inspector.document.document import CaptureDocument
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Steps
from inspector.engine.source_level import SourceLevel
from inspector.present.session_titles import ShownTitles
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

_SUMS_S = 0.5
"""Shortest time between two sums over all contexts, seconds."""
_PAUSE_FACTOR = 10
"""Ratio of pause to duration of a slow sum, as over very many contexts."""
NO_USAGE = Usage(0, 0, 0, 0)


class TreeFigures:
    """Figures by space and source, and the nodes with new messages.

    Attributes:
        sources: messages by source.
        totals: messages by space (string id).
        main_last_ns: time of the last message in the main context, by space.
        tokens, usage: sums by context, once requested.
    """

    def __init__(self, document: CaptureDocument) -> None:
        self._document = document
        self._analysis = document.analysis
        self._fed_count = 0
        self._touched: set[int] = set()
        self._main: set[int] = set()
        self._search: NameSearch | None = None
        self._titles = ShownTitles(document.capture)
        self.sources = SourceLevel(document.capture)
        self.totals: dict[int, int] = {}
        self.main_last_ns: dict[int, int] = {}
        self.tokens = TreeTokens(document.analysis)
        self.usage = TreeUsage(document.analysis)
        self.feed()
        # Messages from before are not new.
        self.take_touched()

    def note_changed(self, changed: Rows, /) -> None:
        """Does nothing: new messages are counted by their number."""

    def feed(self) -> None:
        """Counts new messages. O(new messages)."""
        self.sources.feed()
        touched = self._analysis.contexts.take_touched()
        self._touched |= touched
        if self._search is not None:
            self._search.touched |= touched
        start, stop = self._fed_count, len(self._analysis)
        self._fed_count = stop
        if start == stop:
            return
        columns = self._analysis.capture.columns
        # Gaps are no messages.
        messages = columns["flags"][start:stop] & Flag.GAP.value == 0
        structure = self._analysis.contexts.sessions.are_structure(columns["kind"][start:stop])
        # Nor are records about a session itself.
        messages = messages if structure is None else messages & ~structure
        spaces, contexts, times = (columns[name][start:stop][messages] for name in ("space", "context", "time_ns"))
        # A context of only slashes counts as main too; it only misses the state of main.
        main = np.flatnonzero(contexts == 0)
        counts = np.bincount(spaces)
        for space in np.flatnonzero(counts).tolist():
            self.totals[space] = self.totals.get(space, 0) + int(counts[space])
            self.main_last_ns.setdefault(space, NO_TIME)
        self._note_main(spaces[main], times[main])

    def _note_main(self, spaces: NDArray[Any], times: NDArray[np.int64]) -> None:
        """Updates the latest times of main contexts."""
        if not len(spaces):
            return
        latest = np.full(int(spaces.max()) + 1, NO_TIME, np.int64)
        # Most captures have one space: maximum.at is slow by comparison.
        if spaces.min() == spaces.max():
            latest[spaces[0]] = times.max()
        else:
            np.maximum.at(latest, spaces, times)
        spoke = np.flatnonzero(latest != NO_TIME).tolist()
        for space in spoke:
            self.main_last_ns[space] = max(self.main_last_ns[space], int(latest[space]))
        self._main.update(spoke)

    def take_touched(self) -> tuple[set[int], set[int]]:
        """Returns contexts with new messages since the last call, and spaces with new messages in main."""
        touched, self._touched = self._touched, set()
        main, self._main = self._main, set()
        return touched, main

    def main_state(self, space: int) -> str:
        """Returns "active" or "idle"; the main context has no end."""
        return self._analysis.contexts.activity(self.main_last_ns.get(space, NO_TIME), self._analysis.now_ns)

    @property
    def most_messages(self) -> int:
        """Largest message count of a space or source."""
        return max((*self.totals.values(), *self.sources.counts), default=0)

    # Names

    def space_name(self, space: int) -> str:
        """Returns a space's name: a session's label or title, the space's own name, else the document's."""
        label = self._analysis.contexts.sessions.labels.get(space) or self._titles.space_title(space)
        return label or self._analysis.capture.strings[space] or self._document.name

    def is_session(self, space: int) -> bool:
        """Returns True if a space is a session with a label or title besides its id."""
        return space in self._analysis.contexts.sessions.labels or bool(self._titles.space_title(space))

    def session_title(self) -> str:
        """Returns the title of the document's only session; "" for several sessions, or without a title.

        Conversations without a space, as recorded from a model API, do not count.
        """
        spaces = self._analysis.contexts.spaces
        # String id 0 is the space without a name.
        titles = [title for space in spaces if space and (title := self._titles.session_title(space))]
        return titles[0] if len(titles) == 1 else ""

    def spaces_of(self, source: int) -> list[int]:
        """Returns the spaces below a source."""
        return [space for space in self._analysis.contexts.spaces if self.sources.home(space) == source]

    # Search

    def search(self, needle: str) -> Steps[NDArray[np.int32]]:
        """Returns the living nodes whose label or name has a text, case folded."""
        self.feed()
        if self._search is None or self._search.needle != needle:
            self._search = NameSearch(self._analysis.contexts, needle)
        search = self._search
        yield from search.update()
        return np.fromiter(search.matches, np.int32, len(search.matches))


def figures_of(held: OpenDocument) -> TreeFigures:
    """Returns the figures, up to date."""
    figures = held.kept(TreeFigures, lambda: TreeFigures(held.document))
    figures.feed()
    return figures


class NameSearch:
    """Nodes with a matching label or name, case-insensitive.

    Attributes:
        needle: the text, case folded.
        matches: matching nodes.
        touched: nodes whose label may have changed.
    """

    def __init__(self, contexts: ContextPass, needle: str) -> None:
        self._tree = contexts.tree
        self.needle = needle
        self.matches: set[int] = set()
        self.touched: set[int] = set()
        self._seen, self._moves = 0, -1

    def update(self) -> Steps[None]:
        """Updates the result. O(new and touched nodes), or O(all nodes) after moves or merges."""
        tree = self._tree
        if tree.moves != self._moves:
            self.matches.clear()
            self._seen, self._moves = 0, tree.moves
        touched, self.touched = self.touched, set()
        self._match_nodes([node for node in touched if node < self._seen])
        while self._seen < len(tree):
            stop = min(self._seen + _SEARCHED_NODES, len(tree))
            self._match_nodes(range(self._seen, stop))
            self._seen = stop
            yield

    def _match_nodes(self, nodes: Iterable[int]) -> None:
        tree, aliases = self._tree, self._tree.aliases
        for node in nodes:
            if aliases[node] == node:
                label = tree.label[node]
                if self.needle in tree.name[node].casefold() or (label and self.needle in label.casefold()):
                    self.matches.add(node)


_SEARCHED_NODES = 5_000
"""Nodes searched between two pauses: some milliseconds."""


class TreeTokens:
    """Token sums by context; slightly older ones during a count."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._sums: NodeTokens | None = None
        self._spaces: dict[int, int] = {}
        self._due = 0.0

    def renew(self) -> None:
        """Updates the sums, if they are not a moment old."""
        began = time.monotonic()
        if self._sums is not None and began < self._due and not self._analysis.tokens.done:
            return
        sums = self._analysis.tokens.node_sums()
        self._due = began + max(_SUMS_S, _PAUSE_FACTOR * (time.monotonic() - began))
        if sums is not self._sums:
            self._sums = sums
            self._spaces.clear()

    def subtree_tokens(self, node: int) -> int:
        """Returns the tokens of a context and all below it."""
        held = self._sums.subtree if self._sums is not None else ()
        return int(held[node]) if 0 <= node < len(held) - 1 else 0

    def in_main(self, space: int) -> int:
        """Returns the tokens of a space's main context alone."""
        return self._sums.main.get(space, 0) if self._sums is not None else 0

    def in_space(self, space: int) -> int:
        """Returns the tokens of a whole space."""
        if space not in self._spaces:
            # A single space holds everything, so no sum over root contexts is needed.
            if len(self._analysis.contexts.spaces) == 1 and self._sums is not None:
                self._spaces[space] = int(self._sums.subtree[MAIN])
            else:
                roots = self._analysis.contexts.tree.roots.each(space)
                self._spaces[space] = self.in_main(space) + sum(map(self.subtree_tokens, roots))
        return self._spaces[space]


class TreeUsage:
    """Usage reported by model calls, by context; slightly older during traffic."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._sums: NodeUsage | None = None
        self._summed_lengths = (-1, -1)
        self._due = 0.0

    def renew(self) -> None:
        """Updates the sums, if they are not a moment old."""
        began = time.monotonic()
        lengths = len(self._analysis.usage.columns), len(self._analysis.contexts.tree)
        if lengths == self._summed_lengths or began < self._due:
            return
        self._sums, self._summed_lengths = usage_by_node(self._analysis), lengths
        self._due = began + max(_SUMS_S, _PAUSE_FACTOR * (time.monotonic() - began))

    def subtree_usage(self, node: int) -> Usage:
        """Returns the usage of a context and all below it."""
        held = self._sums.subtree if self._sums is not None else ()
        return Usage(*map(int, held[node])) if 0 <= node < len(held) - 1 else NO_USAGE

    def in_main(self, space: int) -> Usage:
        """Returns the usage of a space's main context alone."""
        return self._sums.main.get(space, NO_USAGE) if self._sums is not None else NO_USAGE

    def in_space(self, space: int) -> Usage:
        """Returns the usage of a whole space."""
        return self._sums.spaces.get(space, NO_USAGE) if self._sums is not None else NO_USAGE
