"""Finds outputs of models in sessions of coding agents, each with the message before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.formats import registry
from inspector.protocol import kinds
from inspector.store.messages.capture import Capture

Rows = NDArray[np.int64]
ASKERS = ("user", "client")
"""Usual names of the people who prompt models."""


class ModelOutputs(NamedTuple):
    """Outputs of models, by conversation.

    Attributes:
        before: (n,) int64, last input of each output: a prompt or a result.
        firsts, lasts: (n,) int64, its first and last message.
    """

    before: Rows
    firsts: Rows
    lasts: Rows


def model_outputs(capture: Capture, shown: NDArray[np.bool_]) -> ModelOutputs:
    """Returns the outputs among the first messages. O(messages) in numpy.

    Only sessions of coding agents show the start of a model: the prompt or result before its next message.

    Args:
        capture: the messages.
        shown: (n,) True for messages that count, among the first n.
    """
    columns, stop = capture.columns, len(shown)

    def codes(*names: str) -> list[int]:
        return [code for name in names if (code := capture.strings.find(name))]

    spoken = np.isin(columns["kind"][:stop], codes("chat", kinds.REQUEST, kinds.RESPONSE, "reasoning/thought"))
    rows = np.flatnonzero(np.isin(columns["protocol"][:stop], codes(*registry.groups().agents)) & spoken & shown)
    if not len(rows):
        return ModelOutputs(rows, rows, rows)
    people = codes(*ASKERS, *registry.groups().programs)
    taken = np.isin(columns["kind"][rows], codes(kinds.RESPONSE)) | np.isin(columns["sender"][rows], people)
    conversation = columns["space"][rows].astype(np.int64) << 32 | columns["context"][rows].astype(np.int64)
    order = np.lexsort((rows, conversation))
    rows, taken, conversation = rows[order].astype(np.int64), taken[order], conversation[order]
    another = np.flatnonzero(np.diff(conversation, prepend=-1))
    taken[another] = True  # the first message to a sub-agent comes from its parent agent
    changes = np.diff(taken.astype(np.int8), prepend=1) != 0
    changes[another] = True
    firsts = np.flatnonzero(changes)
    lasts = np.append(firsts[1:], len(rows)) - 1
    mine = np.flatnonzero(~taken[firsts])  # the first of a conversation is input, so each output has one before it
    return ModelOutputs(rows[firsts[mine] - 1], rows[firsts[mine]], rows[lasts[mine]])
