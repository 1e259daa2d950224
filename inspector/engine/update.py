"""Changes of a document, as its subscribers and windows hear them."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray


class Update(msgspec.Struct, frozen=True):
    """A change of a document.

    Attributes:
        document: its number.
        version: its version after the change.
        start, stop: the range of new messages.
        changed: earlier messages that have changed, (n,) int64.
        tree_moved: contexts have moved in the tree.
    """

    document: int
    version: int
    start: int
    stop: int
    changed: NDArray[np.int64]
    tree_moved: bool = False
