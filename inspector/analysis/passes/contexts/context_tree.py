"""Stores the nodes of the context tree: splits paths, applies keys, starts and moves (docs/protocols.md 6 and 7).

A node is one context. Its identity is its id; its path is computed. Roots are found by id, other nodes by parent and
segment. Number -1 is the main context, which is no node.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.text_column import TextColumn
from inspector.analysis.passes.contexts.naming_notes import NamingOddity
from inspector.analysis.passes.contexts.node_ancestry import NodeAncestry
from inspector.analysis.passes.contexts.node_facts import MAIN
from inspector.analysis.passes.contexts.node_index import NodeIndex
from inspector.analysis.passes.contexts.subtree_sums import SubtreeSums
from inspector.base.siblings import Siblings
from inspector.protocol.context_paths import (
    LAST_SHOWN,
    MAX_SHOWN_LEVELS,
    DisplayedPath,
    display_segment,
    normalise,
    shorten_path,
)
from inspector.store.columns.block import OBJECT_KEY

__all__ = ["MAIN", "ContextTree"]

MAX_LEVELS = 1_000
"""Limit of path segments that become nodes; the last node's name has the rest. The drafts suggest five levels."""

_GROWTH = 256
# Each ancestor with an id gives one more name, and trees may be 1,000 levels deep.
_MAX_NAMES = 16  # of one node


class ContextTree:
    """Nodes by number, in the order first seen, as parallel arrays; a merged node's number stays as an alias.

    Attributes:
        parent: parent node, MAIN for a root.
        name: the id (roots) or segment.
        space: string id of its space.
        children: child nodes in the order first seen. roots: the same by space.
        implicit: an ancestor without messages or declaration of its own.
        own: messages in it.
        cut: nodes with the rest of a path of more than MAX_LEVELS segments as name.
        label: text to show instead of the name (a reasoning's first words), or "".
        lines: root and depth of each node.
        any_slash: true once an id has a slash, so that a path may begin with that id.
        any_placed: true once a node with an id of its own is no root, so that a path may begin below the roots.
        version: grows when a node appears, moves, merges or vanishes. moves: the same without appearing.
        events: nodes in the order of their changes: each appears when it is created, moves, merges or vanishes. Callers
            that copy the tree read on from the last event they know.
        settled: nodes with a place that callers may have cached. Placing a later node right after its creation
            invalidates no cache.
    """

    def __init__(self) -> None:
        self.parent = array("i")
        self.name = TextColumn()
        self.space = array("i")
        self.children = Siblings()
        self.implicit = array("b")
        self.own = array("i")
        self.cut: set[int] = set()
        self.label = TextColumn()
        self.roots = Siblings(self.children)
        self._sums = SubtreeSums(self.parent, self.own, lambda: self.aliases)
        self._ancestor = array("i")  # an ancestor of each node, as high as known; MAIN of roots
        self.version = 0
        self.moves = 0
        self.settled = 0
        self.events = array("i")
        self._alias = array("i")
        self._has_id = array("b")  # true if known by its id, not only as a segment of a path
        self._by_id = NodeIndex(self.space, self.name)
        self._by_place = NodeIndex(self.parent, self.name)  # without roots
        self.any_slash = self.any_placed = False
        self._slashed: set[tuple[int, str]] = set()
        self._slashes: set[int] = set()  # numbers of slashes in these ids
        self.lines = NodeAncestry(self)
        self.merged: list[tuple[int, int]] = []  # (from, into) since the last read
        self.records_new_nodes = False
        self.made: list[int] = []  # nodes created since the last read, while watched

    def __len__(self) -> int:
        return len(self.parent)

    def resolve(self, node: int) -> int:
        """Returns the present node of a number after merges."""
        alias, living = self._alias, node
        while living >= 0 and alias[living] != living:
            living = alias[living]
        while node >= 0 and alias[node] != living:  # path compression for the next lookup
            alias[node], node = living, alias[node]
        return living

    def alive(self) -> list[int]:
        """Returns all nodes except merged and dropped ones."""
        return [node for node, target in enumerate(self.aliases) if target == node]

    @property
    def aliases(self) -> array[int]:
        """By number, the node it was merged into (may be merged itself), MAIN if dropped, else itself."""
        self.fit()
        return self._alias

    # Finding and creating nodes

    def node_of_key(self, space: int, key: str) -> int:
        """Returns the node of an observed context key, or MAIN for an empty one. Creates missing nodes."""
        if key.startswith(OBJECT_KEY):
            identifier = key[len(OBJECT_KEY) :]
            return self._mark_used(self.node_of_id(space, identifier)) if identifier else MAIN
        path = normalise(key)
        if not path:
            return MAIN
        known = self._with_id(space, key)  # an id may have a form that no path has
        if known is None and path != key:
            known = self._with_id(space, path)
        if known is not None:
            return self._mark_used(known)
        if "/" not in path:
            return self._add_node(space, MAIN, path, implicit=False)
        node, rest = self._known_prefix(space, path)
        for segment in rest:
            node = self._child(space, node, segment)
        if len(rest) > 1 and "/" in rest[-1]:
            self.cut.add(node)
        return self._mark_used(node)

    def child_of(self, above: int, segment: str) -> int:
        """Returns the child of a node with a segment. Creates it if missing.

        That equals `node_of_key` of the joined path, unless ids have slashes (`any_slash`).
        """
        node = self._by_place.find(above, segment)
        return (
            self._mark_used(node) if node != MAIN else self._add_node(self.space[above], above, segment, implicit=False)
        )

    def has_child(self, above: int, segment: str) -> bool:
        """Tells if a node has a direct child of that name."""
        return self._by_place.find(above, segment) != MAIN

    def is_named(self, node: int) -> bool:
        """Tells if a node is known by its id, not only as a segment of a path."""
        return bool(self._has_id[node])

    def node_of_id(self, space: int, identifier: str) -> int:
        """Returns the node with this opaque id; creates an implicit root if there is none."""
        known = self._with_id(space, identifier)
        if known is None:
            self.any_slash |= "/" in identifier
            provisional = self._find_path(space, identifier) if "/" in identifier else None
            known = self._add_node(space, MAIN, identifier)
            if 0 < identifier.count("/") < MAX_LEVELS:
                self._slashed.add((space, identifier))
                self._slashes.add(identifier.count("/"))
            if provisional is not None and not self._has_id[provisional]:  # a named node has an id of its own
                self._merge(provisional, known)
        self._has_id[known] = True
        return known

    def _with_id(self, space: int, identifier: str) -> int | None:
        """Returns the living node with this id."""
        # No id has a slash so far, so this saves a lookup for every path.
        if not self.any_slash and "/" in identifier:
            return None
        found = self.resolve(self._by_id.find(space, identifier))
        return found if found != MAIN else None

    def may_have_ids(self, pairs: Sequence[tuple[int, str]]) -> NDArray[np.bool_]:
        """Returns (n,) False for pairs of space and id that no node has; compares hashes only."""
        return self._by_id.may_have(pairs)

    def declare_context(self, space: int, identifier: str, above: int | None, label: str | None) -> int:
        """Returns the node for a reasoning start with a context as id, placed below the start's own context.

        Args:
            above: the node of the start; None if unknown, MAIN in the main context.
        """
        above = MAIN if above is None else self.resolve(above)
        if above != MAIN and self._is_new(space, identifier, above):
            node = self._add_node(space, above, identifier, label or "", implicit=False)
            self.any_placed = True
            self._by_id.add(node, identifier)
            self._has_id[node] = True
            return node
        node = self.node_of_id(space, identifier)
        if label and not self.label[node]:
            self.label[node] = label
        return self.place(self._mark_used(node), above)

    def _is_new(self, space: int, identifier: str, above: int) -> bool:
        """Tells if an id is unknown, also as a segment below a node. It then becomes a node there."""
        if "/" in identifier or self._with_id(space, identifier) is not None:
            return False
        return self._by_place.find(above, identifier) == MAIN

    def _known_prefix(self, space: int, path: str) -> tuple[int, list[str]]:
        """Returns the node of the longest id with a slash that the path begins with, and the segments left."""
        segments = path.split("/", MAX_LEVELS - 1)
        if self._slashed:
            for slashes in sorted((few for few in self._slashes if few < len(segments) - 1), reverse=True):
                head = "/".join(segments[: slashes + 1])
                if (space, head) in self._slashed:
                    return self.node_of_id(space, head), segments[slashes + 1 :]
        return MAIN, segments

    def _child(self, space: int, above: int, segment: str) -> int:
        found = self.resolve(self._by_id.find(space, segment)) if above == MAIN else self._by_place.find(above, segment)
        return found if found != MAIN else self._add_node(space, above, segment)

    def _find_path(self, space: int, path: str) -> int | None:
        head, *rest = path.split("/", MAX_LEVELS - 1)
        node = self._with_id(space, head)
        for segment in rest:
            if node is None:
                return None
            found = self._by_place.find(node, segment)
            node = found if found != MAIN else None
        return node

    def _add_node(self, space: int, above: int, name: str, label: str = "", *, implicit: bool = True) -> int:
        node = len(self.parent)
        # In steps of 256: five arrays would otherwise grow with each node.
        if node == len(self._alias):
            self._make_room()
        self.parent.append(above)
        self._ancestor.append(above)
        self.space.append(space)
        self.name.append(name)
        self.label.append(label)
        self.events.append(node)
        if above == MAIN:
            self.roots.add(space, node)
            self._by_id.add(node, name)
        else:
            self.children.add(above, node)
            self._by_place.add(node, name)
        if not implicit:
            self.implicit[node] = False
        if self.records_new_nodes:
            self.made.append(node)
        self.version += 1
        return node

    def _make_room(self) -> None:
        """Extends the arrays with equal initial values by some entries at once."""
        known = len(self._alias)
        self._alias.extend(range(known, known + _GROWTH))
        self.implicit.extend(array("b", [True]) * _GROWTH)
        for empty in (self.own, self._sums.carried, self._has_id):
            empty.frombytes(bytes(empty.itemsize * _GROWTH))

    def fit(self) -> None:
        """Cuts all arrays to the number of nodes."""
        for values in (self._alias, self.implicit, self.own, self._sums.carried, self._has_id):
            # Callers read the arrays as numpy views, which must have one entry for each node.
            del values[len(self.parent) :]

    def _mark_used(self, node: int) -> int:
        self.implicit[node] = False
        return node

    def _attach(self, node: int) -> None:
        """Appends a node to its parent's children."""
        self.events.append(node)
        above = self.parent[node]
        if above == MAIN:
            self.roots.add(self.space[node], node)
        else:
            self.children.add(above, node)

    def _detach(self, node: int) -> None:
        above = self.parent[node]
        if above == MAIN:
            self.roots.remove(self.space[node], node)
        else:
            self.children.remove(above, node)

    # Moving

    def place(self, node: int, above: int) -> int:
        """Moves a root below another node; returns the resulting node. The first parent wins, cycles are refused."""
        node, above = self.resolve(node), self.resolve(above)
        if self.parent[node] != MAIN or above in (node, MAIN):
            return node
        # Placing a root below its own descendant would make a cycle.
        if self._root(above) == node:
            return node
        self.any_placed = True
        name = self.name[node]
        twin = self._by_place.find(above, name)
        if twin != MAIN:
            # The id must keep finding the node after the merge.
            self._by_id.map_node(twin, name)
            self._merge(node, twin)
            return twin
        self._detach(node)
        self.parent[node] = self._ancestor[node] = above
        self._attach(node)
        self._by_place.map_node(node, name)
        self._sums.add(above, self._sums.carried[node])
        # Caches do not cover this node yet, so its move need not invalidate them.
        if self.settled <= node == len(self) - 1:
            self.version += 1
        else:
            self._note_move()
        return node

    def _root(self, node: int) -> int:
        """Returns the root of a node. O(log nodes) on average, for any depth."""
        higher = self._ancestor
        while (above := higher[node]) != MAIN:
            further = higher[above]
            if further == MAIN:
                return above
            higher[node] = further  # path compression for the next lookup
            node = further
        return node

    def refusal(self, node: int, above: int) -> NamingOddity | None:
        """Returns the reason for `place` to leave a node in place; None if it moves or is there already."""
        node, above = self.resolve(node), self.resolve(above)
        if self.parent[node] != MAIN:
            return NamingOddity.PARENT_CONFLICT if self.parent[node] != above else None
        return NamingOddity.PARENT_CYCLE if above != MAIN and self._root(above) == node else None

    def find(self, space: int, identifier: str) -> int:
        """Returns the living node with this id, else at this path, or MAIN. Creates no node."""
        known = self._with_id(space, identifier)
        if known is None and "/" in identifier:  # otherwise its path equals the id
            path = normalise(identifier)
            known = self._find_path(space, path) if path else None
        return MAIN if known is None else known

    def find_displayed(self, space: int, path: str) -> int:
        """Returns the first node with this displayed path (`path`), or MAIN. Cut paths may be equal.

        O(nodes) for a path that is cut or quoted.
        """
        if "…" not in path and "%" not in path:
            return self.find(space, path)
        wanted = DisplayedPath(path)
        depths, spaces = self.lines.depths[:-1], as_numpy(self.space)
        for node in np.flatnonzero((depths == wanted.depth) & (spaces == space)).tolist():
            here = self._alias[node] == node and wanted.may_have_id_at(wanted.depth - 1, self.segments(node, 1)[-1])
            if here and self.path(node) == path:
                return node
        return MAIN

    def ids_of(self, node: int) -> list[str]:
        """Returns the names of a node in messages: paths from each ancestor with an id, nearest first."""
        names: list[str] = []
        path, step = "", node
        for _ in range(MAX_LEVELS):
            path = f"{self.name[step]}/{path}" if path else self.name[step]
            above = self.parent[step]
            if above == MAIN or self._with_id(self.space[step], self.name[step]) == step:
                names.append(path)
            if above == MAIN or len(names) == _MAX_NAMES:
                break
            step = above
        return names

    def _note_move(self) -> None:
        self.version += 1
        self.moves += 1

    def _merge(self, node: int, into: int) -> None:
        """Merges `node` into `into` with messages, children and label; children of the same name are merged too."""
        above = self.parent[node]
        self._detach(node)
        if above != MAIN:
            self._sums.add(above, -self._sums.carried[node])
            self._by_place.remove(node)
        pairs = [(node, into)]  # a pair's children of the same name are pairs again; a list, since names run deep
        while pairs:
            gone, stays = pairs.pop()
            self._take_over(gone, stays)
            for child in self.children.each(gone):
                twin = self._by_place.find(stays, self.name[child])
                self._by_place.remove(child)
                if twin == MAIN:
                    self._adopt(child, stays)
                else:
                    pairs.append((child, twin))
            self.children.clear(gone)
        if above != MAIN:
            self._ancestor = self.parent[:]  # cached ancestors may be wrong now
        self._note_move()
        self._drop_if_empty(above)

    def _take_over(self, gone: int, stays: int) -> None:
        self._alias[gone] = self._ancestor[gone] = stays
        self.events.append(gone)
        if not self.label[stays]:
            self.label[stays] = self.label[gone]
        self.implicit[stays] = self.implicit[stays] and self.implicit[gone]
        self._has_id[stays] |= self._has_id[gone]
        self.own[stays] += self.own[gone]
        self._sums.take_buffered(gone)
        self._sums.add(stays, self.own[gone])
        self.merged.append((gone, stays))

    def _adopt(self, child: int, into: int) -> None:
        """Moves a node from a dropped parent to another one."""
        self.parent[child] = into
        self._attach(child)
        self._by_place.map_node(child, self.name[child])
        self._sums.add(into, self._sums.carried[child])

    def _drop_if_empty(self, node: int) -> None:
        """Drops ancestors that only a mistaken path implied."""
        while node != MAIN and self.implicit[node] and not self._has_id[node] and not self.children.any(node):
            above = self.parent[node]
            self._detach(node)
            self._sums.add(above, self._sums.take_buffered(node))
            self._alias[node] = MAIN
            self.events.append(node)
            (self._by_place if above != MAIN else self._by_id).remove(node)
            node = above

    # Counting and lookup

    def count(self, node: int, messages: int) -> None:
        """Adds messages to a node and all its ancestors."""
        self.own[node] += messages
        self._sums.add(node, messages)

    def count_all(self, nodes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Adds one message to each node and all its ancestors; returns int64 nodes without duplicates."""
        found, numbers = np.unique(nodes, return_counts=True)
        own = as_numpy(self.own)
        own[found] += numbers
        held = found.astype(np.int64)
        self._sums.add_to_nodes(held, numbers)
        return held

    @property
    def subtree(self) -> Sequence[int]:
        """Messages in each node and its descendants."""
        self.fit()
        return self._sums.read()

    @property
    def recent_subtree(self) -> Sequence[int]:
        """The same for views; a very deep tree may lag a moment (`subtree_is_behind`)."""
        self.fit()
        return self._sums.recent()

    @property
    def subtree_is_behind(self) -> bool:
        """True if `recent_subtree` lacks recent messages."""
        return self._sums.is_behind

    def path(self, node: int) -> str:
        """Returns the displayed path: the ends only if it has many levels; a "/" inside an opaque id is written %2F."""
        names = [name for step in self.ancestry(node, MAX_SHOWN_LEVELS + 1) for name in self.segments(step, LAST_SHOWN)]
        whole = len(names) <= MAX_SHOWN_LEVELS
        shown = [display_segment(name) for name in (names if whole else names[-LAST_SHOWN:])]
        if whole:
            return "/".join(shown)
        return shorten_path(display_segment(self.name[self.lines.roots[node]]), self.depth(node), shown)

    def segments(self, node: int, last: int = -1) -> list[str]:
        """Returns the levels of a node: its name, or the rest of a cut path.

        Args:
            node: the node.
            last: number of levels from the end; the levels before them are one text. -1 for all.
        """
        return self.name[node].rsplit("/", last) if node in self.cut else [self.name[node]]

    def levels(self, node: int) -> int:
        """Returns the number of levels of a node."""
        return self.name[node].count("/") + 1 if node in self.cut else 1

    def ancestry(self, node: int, most: int | None = None) -> list[int]:
        """Returns the nodes from the root to this one, at most the `most` nearest; empty for MAIN."""
        line: list[int] = []
        while node != MAIN and len(line) != most:
            line.append(node)
            node = self.parent[node]
        return line[::-1]

    def depth(self, node: int) -> int:
        """Returns 1 for a root, 0 for MAIN."""
        return int(self.lines.depths[node])

    def walk(self, space: int) -> list[int]:
        """Returns nodes of a space in tree order: parents before children, siblings in the order first seen."""
        order: list[int] = []
        stack = self.roots[space][::-1]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(reversed([*self.children.each(node)]))
        return order
