"""The next shown message with a problem or mark, of the same context, or by the same participant."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.filters.next_shown import next_alike, next_shown
from inspector.filters.visible import Messages
from inspector.present.findings import problem_messages

Likeness = Literal["problem", "mark", "context", "participant"]


class FoundMessage(msgspec.Struct, frozen=True):
    """The next message of a kind.

    Attributes:
        message: the message; None if the view shows no other.
        total: number of messages with a problem or mark, shown or not; 0 for the other kinds.
    """

    message: int | None
    total: int = 0


class FindNextMessage(Request[FoundMessage], frozen=True):
    """The next message that a view shows, wrapping around. A context is without its child contexts.

    Attributes:
        view: number of the view.
        kind: with a problem or mark, or in the context or by the sender of the current message.
        current: the present message, shown or not; None without one.
        step: 1 for the next, -1 for the previous.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    kind: Likeness
    current: int | None
    step: int


def _find(held: OpenDocument, asked: FindNextMessage) -> FoundMessage:
    rows, analysis = held.view(asked.view).rows, held.document.analysis
    if asked.kind in ("problem", "mark"):
        wanted = problem_messages(analysis.findings.found) if asked.kind == "problem" else analysis.marks.rows
        return FoundMessage(next_shown(wanted, rows, asked.current, asked.step), len(wanted))
    if asked.current is None:
        return FoundMessage(None)
    values = analysis.contexts.nodes_of if asked.kind == "context" else analysis.capture.columns["sender"].__getitem__
    spaces, current = analysis.capture.columns["space"], np.array([asked.current], np.uint32)

    def alike(messages: Messages) -> NDArray[np.bool_]:
        return (values(messages) == values(current)) & (spaces[messages] == spaces[current])

    return FoundMessage(next_alike(rows, asked.current, asked.step, alike))


QUERIES = (Query(FindNextMessage, FoundMessage, _find),)
