"""Parses contexts in object form, and keeps the stacks of context operations (docs/protocols.md 7).

Objects `{id, type, parent, metadata}` describe a context in any message. Operations `{operation, topic,
correlation_id}` form a stack per space and sender. Markers of the kind `meup/context` push, pop and resume. On any
other kind they only name the context of their message. A message without `context` has no place on a stack.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.analysis.passes.contexts.naming_notes import ContextNotes, NamingOddity
from inspector.analysis.passes.contexts.node_facts import NodeFacts
from inspector.protocol.context_labels import MAX_LABEL_LENGTH
from inspector.protocol.kinds import CONTEXT_OPERATION
from inspector.protocol.object_contexts import WITHOUT_ID, object_key, operation_of
from inspector.store.messages.capture import Capture

_MAX_NESTED = 64  # limit of parents inside parents
_MAX_PUSHED = 64  # limit of contexts on one stack; the oldest are dropped
_PARENT_ONLY_KEYS = {"id", "parent"}


class ContextObjects:
    """Applies contexts in object form to the tree.

    Attributes:
        parents: hashes (`MessageIds.hash_in_space`) of the ids of named parents; the reader removes them.

    Args:
        settle: called after nodes may have merged, to merge their facts.
        typed: called with a node that got its first declared type.
    """

    def __init__(
        self, capture: Capture, tree: ContextTree, facts: NodeFacts, notes: ContextNotes, *,
        settle: Callable[[], None], typed: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._capture = capture
        self._tree = tree
        self._facts = facts
        self._notes = notes
        self._merge_facts = settle
        self._on_typed = typed
        self.parents = array("Q")
        self._stacks: dict[tuple[int, int], list[int]] = {}

    def observe(self, space: int, row: int, known: int) -> int | None:
        """Processes the context of a message, in the order of arrival.

        Args:
            space, row: of the message.
            known: the node of its key.

        Returns:
            The node of a message with an operation, MAIN included; None if its key decides.
        """
        levels = self._capture.records.contexts_in(row)[:_MAX_NESTED]
        if not levels:
            return None
        if len(levels) == 1 and self._repeats_parent(levels[0], known):
            self.parents.append(self._capture.ids.hash_in_space(space, levels[0]["parent"]))
            return None
        operation = operation_of(levels[0])
        if operation is not None:
            return self._process_operation(space, row, operation, levels[0])
        for place, described in enumerate(reversed(levels)):  # an outer parent is processed before its child
            self._apply_description(space, row, described, stamp_of(row, place))
        return None

    def _repeats_parent(self, described: Mapping[str, Any], node: int) -> bool:
        """Tells if an object repeats only the known parent of its context, as most messages do."""
        tree = self._tree
        above = tree.parent[node] if node != MAIN else MAIN
        if above == MAIN or set(described) != _PARENT_ONLY_KEYS or not tree.is_named(above):
            return False
        identifier = described["id"]
        return isinstance(identifier, str) and identifier != "" and described["parent"] == tree.name[above]

    def _apply_description(self, space: int, row: int, described: Mapping[str, Any], stamp: int) -> None:
        tree, facts = self._tree, self._facts
        key = object_key(described)
        node = tree.node_of_id(space, key or WITHOUT_ID)
        if key is None:
            self._notes.add(node, row, NamingOddity.WITHOUT_ID)
        else:
            self._notes.add_id(node, row, key)
        above = described.get("parent")
        # Objects without an id are different contexts in one node, so they cannot contradict each other.
        if isinstance(above, str) and above and (key is not None or tree.parent[node] == MAIN):
            node = self._place_below_named(space, row, node, above)
        self._merge_facts()
        conflicts = self._notes if key is not None else None
        note_description(facts, conflicts, self._on_typed, node, row, stamp, described)

    def _place_below_named(self, space: int, row: int, node: int, above: str) -> int:
        """Places a node below the parent that an object names; returns the resulting node."""
        tree = self._tree
        # A parent that comes too late is not created: it would stay empty, and no other message uses it.
        parent = tree.node_of_id(space, above) if tree.parent[node] == MAIN else tree.find(space, above)
        if parent == MAIN:
            self._notes.add(node, row, NamingOddity.PARENT_CONFLICT)
            return node
        self.parents.append(self._capture.ids.hash_in_space(space, above))
        refused = tree.refusal(node, parent)
        if refused is not None:
            self._notes.add(tree.resolve(node), row, refused)
        return self._place_node(node, parent, row)

    def _place_node(self, node: int, above: int, row: int) -> int:
        tree, version = self._tree, self._tree.version
        node = tree.place(node, above)
        if tree.version != version:
            self._notes.add_depth(tree, node, row)
        return node

    # Operations

    def _process_operation(self, space: int, row: int, operation: str, context: Mapping[str, Any]) -> int:
        tree = self._tree
        columns = self._capture.columns
        stack = self._stacks.setdefault((space, int(columns["sender"][row])), [])
        # Nodes on the stack may have been merged or dropped since the last operation.
        stack[:] = [living for node in stack if (living := tree.resolve(node)) != MAIN]
        marker = self._capture.string("kind", row) == CONTEXT_OPERATION
        top = stack[-1] if stack else MAIN
        name = object_key(context)
        if name is None:
            if operation != "pop":
                self._notes.add(top, row, NamingOddity.WITHOUT_ID)
            elif marker and stack:
                stack.pop()
            return top
        node = tree.node_of_id(space, name)
        # Only a push nests; a resume leaves its context in place.
        if operation == "push" and top != MAIN:
            node = self._place_node(node, top, row)
        self._merge_facts()
        topic = context.get("topic")
        if isinstance(topic, str) and not tree.label[node]:
            tree.label[node] = " ".join(topic.split())[:MAX_LABEL_LENGTH]
        if marker:
            _apply_operation(stack, operation, node)
        return node


def note_description(
    facts: NodeFacts, conflicts: ContextNotes | None, typed: Callable[[int], None], node: int, row: int, stamp: int,
    described: Mapping[str, Any],
) -> None:  # fmt: skip
    """Records the metadata, labels and type that a message declares for a context.

    Args:
        facts: changed in place.
        conflicts: gets a type that contradicts the declared one; None to ignore contradictions.
        typed: called if the type or the labels of the node changed.
        node, row, stamp: the context, the message, and its order among declarations.
        described: the object or payload.
    """
    metadata, labels, declared = (described.get(name) for name in ("metadata", "labels", "type"))
    if isinstance(metadata, dict) and metadata:
        facts.note_metadata(node, stamp, metadata)
    if isinstance(labels, list) and facts.note_labels(node, stamp, labels):
        typed(node)
    if not isinstance(declared, str) or not declared:
        return
    known = facts.declared.get(node)
    if known is None:
        facts.note_type(node, row, declared)
        typed(node)
    elif known[1] != declared and conflicts is not None:
        conflicts.add(node, row, NamingOddity.TYPE_CONFLICT)


def stamp_of(row: int, place: int = 0) -> int:
    """Returns the order of a description for `NodeFacts`: by message, and within it from inner to outer parents."""
    return row * _MAX_NESTED + place


def _apply_operation(stack: list[int], operation: str, node: int) -> None:
    """Applies an operation to a stack: push and resume put a node on top, pop removes it and all nodes above it."""
    if operation == "pop":
        if node in stack:
            del stack[stack.index(node) :]
        return
    if node in stack:
        stack.remove(node)
    stack.append(node)
    del stack[:-_MAX_PUSHED]
