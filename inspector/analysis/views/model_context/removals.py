"""Removals from a context, and the payloads read for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Left:
    """Removals from a context.

    Attributes:
        by: (k,) int64, the message that removed each entry; NO_ROW.
        whys: (k,) uint8, its `Why`.
    """

    by: NDArray[np.int64]
    whys: NDArray[np.uint8]


Payloads = dict[int, dict[str, Any]]
"""Cache of decoded payloads by message."""
