"""Finds the senders of a coding agent from the format of its rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.formats.format import Participants
from inspector.formats.registry import format_named
from inspector.store.columns.block import Block


def participants_of(block: Block, rows: NDArray[np.int64] | Sequence[int]) -> Participants | None:
    """Returns the senders of the coding agent with records at some rows of a block; None for other formats."""
    for code in np.unique(block.columns["protocol"][rows]).tolist():
        found = format_named(block.strings[code])
        if found is not None and found.participants is not None:
            return found.participants
    return None
