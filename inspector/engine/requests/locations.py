"""Location of a message in the context tree, and the present node of a context."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from inspector.analysis.passes.contexts.context_tree import MAIN as MAIN
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError


class MessageContext(msgspec.Struct, frozen=True):
    """Context of a message.

    Attributes:
        space: string id of its space.
        node: its node; MAIN for the main context.
        path: displayed path of the node; None for the main context.
        begun: node of the context that the message begins; MAIN if it begins none.
    """

    space: int
    node: int
    path: str | None
    begun: int


class LocateMessage(Request[MessageContext], frozen=True):
    """Finds the context of a message."""

    is_urgent: ClassVar[bool] = True
    message: int


class ResolveContext(Request[int], frozen=True):
    """Finds the present node of a context, since contexts merge; MAIN for the main context."""

    is_urgent: ClassVar[bool] = True
    node: int


def _present_node(held: OpenDocument, node: int) -> int:
    tree = held.document.analysis.contexts.tree
    if not MAIN <= node < len(tree.name):
        raise RequestError(f"There is no context {node}.")
    return MAIN if node == MAIN else tree.resolve(node)


def _locate(held: OpenDocument, asked: LocateMessage) -> MessageContext:
    document = held.document
    contexts, message = document.analysis.contexts, asked.message
    if not 0 <= message < len(document.capture):
        raise RequestError(f"There is no message {message + 1}.")
    node = contexts.node_of(message)
    space = int(document.capture.columns["space"][message])
    return MessageContext(space, node, contexts.tree.path(node) if node >= 0 else None, contexts.begun_by(message))


def _resolve(held: OpenDocument, asked: ResolveContext) -> int:
    return _present_node(held, asked.node)


QUERIES = (Query(LocateMessage, MessageContext, _locate), Query(ResolveContext, int, _resolve))
