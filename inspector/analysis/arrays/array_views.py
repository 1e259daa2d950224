"""Converts Python arrays to numpy views without a copy."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_numpy(values: array[int]) -> NDArray[Any]:
    """Returns the memory of an array as a numpy view. Do not keep it: the array cannot grow while it exists."""
    return np.frombuffer(values, values.typecode)
