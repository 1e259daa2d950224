"""SQL tables `contexts` (a row per context of the tree) and `participants` (a row per participant of a space)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.field_columns import Column, Interned, Numbers
from inspector.analysis.passes.contexts.context_pass import STATES
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.document.document import CaptureDocument
from inspector.protocol.timestamps import NO_TIME
from inspector.tables.columns import (
    Content,
    Rows,
    SqlType,
    Table,
    TableColumn,
    boolean_column,
    message_number_column,
    text_column,
    text_list_column,
)

_T = SqlType
_NEVER = -1


def _contexts(document: CaptureDocument, names: Collection[str]) -> Content:
    contexts = document.analysis.contexts
    nodes = np.array([node for space in contexts.spaces for node in contexts.tree.walk(space)], np.int64)
    return Content(len(nodes), {name: _OF_CONTEXTS[name](document, nodes) for name in names})


def _parents(document: CaptureDocument, nodes: Rows) -> Column:
    tree = document.analysis.contexts.tree
    above = np.array(tree.parent, np.int64)[nodes] if len(nodes) else nodes
    return text_column([tree.path(node) if node != MAIN else None for node in above.tolist()])


def _of_nodes(value: Callable[[CaptureDocument, int], str | None]) -> Callable[[CaptureDocument, Rows], Column]:
    return lambda document, nodes: text_column([value(document, node) for node in nodes.tolist()])


def _messages(name: str) -> Callable[[CaptureDocument, Rows], Column]:
    """Returns a column of one recorded message per context, by its number."""

    def column(document: CaptureDocument, nodes: Rows) -> Column:
        return message_number_column(as_numpy(getattr(document.analysis.contexts.facts, name)).copy()[nodes], _NEVER)

    return column


def _counts(values: Callable[[CaptureDocument], Any]) -> Callable[[CaptureDocument, Rows], Column]:
    return lambda document, nodes: Numbers(np.array(values(document), np.int64)[nodes])


def _states(document: CaptureDocument, nodes: Rows) -> Column:
    return Interned(document.analysis.contexts.states(document.analysis.now_ns)[nodes], STATES)


def _last_times(document: CaptureDocument, nodes: Rows) -> Column:
    return Numbers(as_numpy(document.analysis.contexts.facts.last_ns).copy()[nodes], NO_TIME)


def _speakers(document: CaptureDocument, node: int) -> Sequence[str]:
    strings = document.capture.strings
    return [strings[sender] for sender in document.analysis.contexts.senders_in(node)]


_OF_CONTEXTS: dict[str, Callable[[CaptureDocument, Rows], Column]] = {
    "path": _of_nodes(lambda d, n: d.analysis.contexts.tree.path(n)),
    "parent": _parents,
    "label": _of_nodes(lambda d, n: d.analysis.contexts.label(n)),
    "space": _of_nodes(lambda d, n: d.capture.strings[d.analysis.contexts.tree.space[n]] or None),
    "type": _of_nodes(lambda d, n: d.analysis.contexts.type(n)),
    "state": _states,
    "depth": lambda d, n: Numbers(d.analysis.contexts.tree.lines.depths.take(n).astype(np.int64)),
    "messages": _counts(lambda d: d.analysis.contexts.tree.own),
    "subtree_messages": _counts(lambda d: d.analysis.contexts.tree.subtree),
    "first": _messages("first_row"),
    "last": _messages("last_row"),
    "last_time": _last_times,
    "started_by": _messages("started_by"),
    "ended_by": _messages("concluded_by"),
    "implicit": lambda d, n: boolean_column([d.analysis.contexts.tree.implicit[node] for node in n.tolist()]),
    "labels": lambda d, n: text_list_column([d.analysis.contexts.facts.labels_of(node) for node in n.tolist()]),
    "participants": lambda d, n: text_list_column([_speakers(d, node) for node in n.tolist()]),
}

CONTEXTS = Table("contexts", "A row for each context below main, in the order of the tree.", (
    TableColumn("path", _T.TEXT, "Its path, as `context` of its messages."),
    TableColumn("parent", _T.TEXT, "Path of its parent; NULL for roots."),
    TableColumn("label", _T.TEXT, "Its label in the tree."),
    TableColumn("space", _T.TEXT, "The space it belongs to."),
    TableColumn("type", _T.TEXT, "Declared type, or reasoning."),
    TableColumn("state", _T.TEXT, "active, idle, concluded or cancelled."),
    TableColumn("depth", _T.INTEGER, "Segments of its path."),
    TableColumn("messages", _T.INTEGER, "Messages in it."),
    TableColumn("subtree_messages", _T.INTEGER, "Messages in it and in all below."),
    TableColumn("first", _T.INTEGER, "No. of its first message."),
    TableColumn("last", _T.INTEGER, "No. of its last message."),
    TableColumn("last_time", _T.TIME, "When that was."),
    TableColumn("started_by", _T.INTEGER, "No. of the message with its id."),
    TableColumn("ended_by", _T.INTEGER, "No. of the message that concluded or cancelled it."),
    TableColumn("implicit", _T.BOOLEAN, "It has no message of its own and was never declared."),
    TableColumn("labels", _T.TEXTS, "Labels that its messages give it."),
    TableColumn("participants", _T.TEXTS, "Participants that wrote in it, in order of their first message."),
), _contexts)  # fmt: skip


def _participants(document: CaptureDocument, names: Collection[str]) -> Content:
    found = list(document.analysis.participants.all.values())
    return Content(len(found), {name: _OF_PARTICIPANTS[name](document, found) for name in names})


def _times(name: str) -> Callable[[CaptureDocument, Sequence[Participant]], Column]:
    return lambda _, found: Numbers(np.array([getattr(one, name) for one in found], np.int64), NO_TIME)


def _reported(name: str) -> Callable[[CaptureDocument, Sequence[Participant]], Column]:
    def column(_document: CaptureDocument, found: Sequence[Participant]) -> Column:
        values = [getattr(one, name) for one in found]
        # Columns hold 64 bits; a wire may report larger numbers.
        return Numbers(np.array([_NEVER if value is None else min(value, 2**62) for value in values], np.int64), _NEVER)

    return column


_PRESENCE = {True: "here", False: "left", None: None}
_OF_PARTICIPANTS: dict[str, Callable[[CaptureDocument, Sequence[Participant]], Column]] = {
    "name": lambda _, found: text_column([one.name for one in found]),
    "space": lambda d, found: text_column([d.capture.strings[one.space] or None for one in found]),
    "presence": lambda _, found: text_column([_PRESENCE[one.here] for one in found]),
    "invited": lambda _, found: boolean_column([one.is_invited for one in found]),
    "messages": lambda _, found: Numbers(np.array([one.messages for one in found], np.int64)),
    "first_time": _times("first_ns"),
    "last_time": _times("last_ns"),
    "context_tokens": _reported("tokens"),
    "max_tokens": _reported("max_tokens"),
    "capabilities": lambda _, found: text_list_column([one.capabilities or () for one in found]),
}

PARTICIPANTS = Table("participants", "A row for each participant of a space, in the order first seen.", (
    TableColumn("name", _T.TEXT, "Its name, as in `from` of its messages."),
    TableColumn("space", _T.TEXT, "The space."),
    TableColumn("presence", _T.TEXT, "here or left, as announced; NULL without an announcement."),
    TableColumn("invited", _T.BOOLEAN, "A gateway announced that it was invited."),
    TableColumn("messages", _T.INTEGER, "Messages it sent."),
    TableColumn("first_time", _T.TIME, "When it was first seen."),
    TableColumn("last_time", _T.TIME, "When its last message was."),
    TableColumn("context_tokens", _T.INTEGER, "Tokens it last reported in its context."),
    TableColumn("max_tokens", _T.INTEGER, "Tokens it last reported its context may have."),
    TableColumn("capabilities", _T.TEXTS, "Its capabilities, as last announced."),
), _participants)  # fmt: skip
