"""Views of Python arrays as numpy arrays, without a copy."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_numpy(values: array[int]) -> NDArray[Any]:
    """The memory of an array as numpy sees it; for the moment only, as the array cannot grow while this exists."""
    return np.frombuffer(values, values.typecode)
