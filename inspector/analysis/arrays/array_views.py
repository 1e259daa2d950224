"""Numpy views of Python arrays, and fast appends to them."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_numpy(values: array[int]) -> NDArray[Any]:
    """Returns the memory of an array as a numpy view. Do not keep it: the array cannot grow while it exists."""
    return np.frombuffer(values, values.typecode)


def extend_with(values: array[int], added: NDArray[Any]) -> None:
    """Appends a numpy array of integers that fit."""
    values.frombytes(added.astype(values.typecode).tobytes())
