"""Causal chains of messages."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.causes.chain import may_change_chain, steps_of_turn
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request


class Chain(msgspec.Struct, frozen=True):
    """The causal chain of a message.

    Attributes:
        members: its messages in order of arrival, itself included.
        turn: those that explain the message, in a transcript those of its turn.
    """

    members: tuple[int, ...]
    turn: tuple[int, ...]


class ChainOfMessage(Request[Chain], frozen=True):
    """The causal chain of a message."""

    is_urgent: ClassVar[bool] = True
    message: int


class MayHaveChanged(Request[bool], frozen=True):
    """Returns False only if new traffic cannot have changed a chain. O(new and changed messages).

    Attributes:
        message, members: the chain as it was.
        start, stop: the range of new messages.
        changed: changed earlier messages, (n,) int64.
        tree_moved: contexts have moved.
    """

    is_urgent: ClassVar[bool] = True
    message: int
    members: tuple[int, ...]
    start: int
    stop: int
    changed: NDArray[np.int64]
    tree_moved: bool = False


class ChainStep(msgspec.Struct, frozen=True):
    """A step along a chain.

    Attributes:
        origin: the message whose chain has been stepped along.
        message: the next one; None at the end.
    """

    origin: int
    message: int | None


class StepInChain(Request[ChainStep], frozen=True):
    """The message after (1) or before (-1) one in a chain.

    Attributes:
        origins: messages of the chains to try, in this order.
        current: the present message.
        step: 1 or -1.
    """

    is_urgent: ClassVar[bool] = True
    origins: tuple[int, ...]
    current: int
    step: int


def _chain(held: OpenDocument, asked: ChainOfMessage) -> Chain:
    chain = held.document.chain(asked.message)
    turn = steps_of_turn(held.document.analysis, chain, asked.message)
    return Chain(tuple(step.message for step in chain), tuple(step.message for step in turn))


def _may_have_changed(held: OpenDocument, asked: MayHaveChanged) -> bool:
    changes = AnalysisChanges(asked.start, asked.stop, asked.changed, asked.tree_moved)
    return may_change_chain(held.document.analysis, asked.message, set(asked.members), changes)


def _step(held: OpenDocument, asked: StepInChain) -> ChainStep:
    origin = asked.current
    for origin in asked.origins:
        chain = [link.message for link in held.document.chain(origin)]
        place = chain.index(asked.current) + asked.step if asked.current in chain else -1
        if 0 <= place < len(chain):
            return ChainStep(origin, chain[place])
    return ChainStep(origin, None)


QUERIES = (
    Query(ChainOfMessage, Chain, _chain),
    Query(MayHaveChanged, bool, _may_have_changed),
    Query(StepInChain, ChainStep, _step),
)
