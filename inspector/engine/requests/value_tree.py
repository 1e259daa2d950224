"""Tree of the JSON of a message: its rows, whole values and their display filters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, TypeVar

import msgspec

from inspector.analysis.passes.changed_rows import Rows
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.stories import require_message
from inspector.engine.threads import in_thread_if_large
from inspector.present import formats
from inspector.present.json_spans import OPEN_JSON as OPEN_JSON
from inspector.present.json_spans import path_of as path_of
from inspector.present.value_tree import ValueNode as ValueNode
from inspector.present.value_tree import ValueTree
from inspector.protocol.truncated_json import TRUNCATION_MARK
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import HEAD_BYTES
from inspector.store.messages.capture import Capture

ResultT = TypeVar("ResultT")


class MessageTree(msgspec.Struct, frozen=True):
    """The tree of a message.

    Attributes:
        note: a sentence about the part that is not decoded, or "".
        sentence: explains why there is no tree; "" if there is one.
        rows: values of the first level; further levels while the tree is small.
    """

    note: str
    sentence: str
    rows: list[ValueNode]


class ShowTree(Request[MessageTree], frozen=True):
    """The tree of a message."""

    is_urgent: ClassVar[bool] = True
    message: int


class RowsBelow(Request[list[ValueNode]], frozen=True):
    """The rows below a value, asked for when the user expands it.

    Attributes:
        message: the message.
        steps: keys and indexes from the root; OPEN_JSON opens a text that is JSON.
    """

    is_urgent: ClassVar[bool] = True
    message: int
    steps: tuple[str | int, ...]


class WholeValue(Request[str], frozen=True):
    """A whole value as text, objects and lists as JSON; attributes as of `RowsBelow`."""

    is_urgent: ClassVar[bool] = True
    message: int
    steps: tuple[str | int, ...]


class FilterOfValue(Request[str], frozen=True):
    """The display filter of a value; "" without one. Attributes as of `RowsBelow`."""

    is_urgent: ClassVar[bool] = True
    message: int
    steps: tuple[str | int, ...]


class _LastTree:
    """The tree of the message asked for last, so that it is decoded and masked once."""

    def __init__(self) -> None:
        self._message, self._tree = -1, ValueTree(None, is_envelope=False)

    def note_changed(self, changed: Rows, /) -> None:
        """Ignores changes: the record of a message never changes."""

    def tree(self, capture: Capture, message: int) -> Steps[ValueTree | None]:
        """Returns the tree of a message; None if its record is not JSON."""
        if message == self._message:
            return self._tree
        value = capture.records.envelope(message)
        if not isinstance(value, dict | list):
            return None
        is_envelope = isinstance(value, dict) and "payload" in value and not capture.flags_of(message) & Flag.RPC
        make = partial(ValueTree, value, is_envelope=is_envelope)
        tree = yield from in_thread_if_large(make, int(capture.columns["size"][message]))
        self._message, self._tree = message, tree
        return tree


def _tree(held: OpenDocument, message: int) -> Steps[ValueTree | None]:
    require_message(held, message)
    return (yield from held.kept(_LastTree, _LastTree).tree(held.document.capture, message))


def _show(held: OpenDocument, asked: ShowTree) -> Steps[MessageTree]:
    tree, capture = (yield from _tree(held, asked.message)), held.document.capture
    flags, note, size = capture.flags_of(asked.message), "", int(capture.columns["size"][asked.message])
    if capture.records.is_big(asked.message) and not flags & (Flag.UNREADABLE | Flag.FRAME):
        known, whole = formats.size(HEAD_BYTES), formats.size(size)
        note = f"Only the first {known} of {whole} are decoded. Cut values end with {TRUNCATION_MARK}"
    if tree is None:
        kind = "A stream frame is not JSON" if flags & Flag.FRAME else "Not JSON"
        return MessageTree(note, f"{kind}. Raw shows its bytes.", [])
    return MessageTree(note, "", (yield from in_thread_if_large(lambda: tree.rows_below(()), size)))


def _in_tree(
    held: OpenDocument, asked: RowsBelow | WholeValue | FilterOfValue, work: Callable[[ValueTree], ResultT]
) -> Steps[ResultT]:
    """Asks the tree of a message about a value. Raises RequestError if there is no such value."""
    tree = yield from _tree(held, asked.message)
    if tree is None:
        raise RequestError(f"Message {asked.message + 1} is not JSON.")
    try:
        size = int(held.document.capture.columns["size"][asked.message])
        return (yield from in_thread_if_large(lambda: work(tree), size))
    except LookupError:
        raise RequestError(f"Message {asked.message + 1} has no value {path_of(asked.steps)}.") from None


def _rows_below(held: OpenDocument, asked: RowsBelow) -> Steps[list[ValueNode]]:
    return _in_tree(held, asked, lambda tree: tree.rows_below(asked.steps))


def _whole(held: OpenDocument, asked: WholeValue) -> Steps[str]:
    return _in_tree(held, asked, lambda tree: tree.whole_text(asked.steps))


def _filter(held: OpenDocument, asked: FilterOfValue) -> Steps[str]:
    return _in_tree(held, asked, lambda tree: tree.filter_of(asked.steps))


QUERIES = (
    Query(ShowTree, MessageTree, _show),
    Query(RowsBelow, list[ValueNode], _rows_below),
    Query(WholeValue, str, _whole),
    Query(FilterOfValue, str, _filter),
)
