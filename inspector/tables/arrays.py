"""Columns as numpy arrays that DuckDB reads: texts by reference, secrets masked, absent values as SQL's NULL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.columns import Column, Flags, Interned, InternedSets, Numbers
from inspector.protocol.secrets.masking import mask_text
from inspector.tables.columns import SqlType, whole


def array_of(column: Column, length: int, type_: SqlType) -> NDArray[Any]:
    """(length,) values of a column that is an array.

    Texts are objects, None where absent; times datetime64[ns], NaT where absent; numbers masked where absent; yes or no
    masked where it is not yes. What is read is copied: the capture may change while SQL runs.
    """
    if isinstance(column, Interned):
        return _texts(column, length)
    if isinstance(column, Numbers):
        return _numbers(column, length, type_)
    if isinstance(column, Flags):
        held = (column.bits[:length] & column.bits.dtype.type(column.mask)) != 0
        return np.ma.masked_array(held, mask=~held)
    raise TypeError(type(column).__name__)


def lists_of(column: InternedSets, length: int) -> tuple[NDArray[Any], list[list[str]]]:
    """(length,) places in a list of lists, counted from 1, and that list; 0 stands for no list."""
    ids = whole(column.ids, length).astype(np.int64)
    used = _used(ids)
    places = np.zeros(int(used[-1]) + 1 if len(used) else 1, np.uint32)
    places[used] = np.arange(1, len(used) + 1)
    return places[ids], [[mask_text(text) for text in column.table[entry]] for entry in used.tolist()]


def _texts(column: Interned, length: int) -> NDArray[Any]:
    ids = whole(column.ids, length).astype(np.int64)
    used = _used(ids)
    entries = np.empty(int(used[-1]) + 1 if len(used) else 1, object)
    table: Any = column.table
    for entry in used.tolist():
        entries[entry] = mask_text(table[entry])
    return entries[ids]


def _used(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids that occur, ascending, but for 0."""
    counts = np.bincount(ids, minlength=1)
    counts[0] = 0
    return np.flatnonzero(counts)


def _numbers(column: Numbers, length: int, type_: SqlType) -> NDArray[Any]:
    values = whole(column.values, length)
    if type_ is SqlType.TIME:
        return np.array(values, np.int64).view("datetime64[ns]")  # NO_TIME is what numpy takes for no time
    wide = np.array(values, np.float64 if type_ is SqlType.NUMBER else np.int64)
    present = column.holding(values)
    return wide if present.all() else np.ma.masked_array(wide, mask=~present)
