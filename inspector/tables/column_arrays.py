"""Converts columns to numpy arrays for DuckDB: texts by reference, secrets masked, absent values as NULL."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Column, Flags, Interned, InternedSets, LazyArray, Numbers
from inspector.protocol.secrets.masking import mask_text
from inspector.tables.columns import SqlType, all_values

_BLOCK = 1 << 14
"""Rows of texts per step."""
_NUMBER_BLOCK = 1 << 16
"""Rows of computed numbers per step."""


def array_in_steps(
    column: Column, length: int, type_: SqlType, *, masked: bool = True
) -> Generator[None, None, NDArray[Any]]:
    """Returns (length,) values of a column.

    Texts are objects, None if absent. Times are datetime64[ns], NaT if absent. Numbers are masked if absent, booleans
    if not true. The result is a copy, since the capture may change while SQL runs.
    """
    if isinstance(column, Interned):
        return (yield from _texts(column, length, masked=masked))
    if isinstance(column, Numbers):
        return _numbers(column, (yield from _values(column.values, length)), type_)
    if isinstance(column, Flags):
        # A set bit means true; a masked value is NULL.
        held = (column.bits[:length] & column.bits.dtype.type(column.mask)) != 0
        return np.ma.masked_array(held, mask=~held)
    raise TypeError(type(column).__name__)


def lists_of(column: InternedSets, length: int, *, masked: bool = True) -> tuple[NDArray[Any], list[list[str]]]:
    """Returns (length,) 1-based indices into a list of lists, 0 for no list, and that list."""
    ids = all_values(column.ids, length)
    used = _distinct_ids(ids)
    # The index of a set is renumbered, so that the lists hold used sets only.
    places = np.zeros(int(used[-1]) + 1 if len(used) else 1, np.uint32)
    places[used] = np.arange(1, len(used) + 1)
    shown = mask_text if masked else str
    return places[ids], [[encodable(shown(text)) for text in column.table[entry]] for entry in used.tolist()]


def _texts(column: Interned, length: int, *, masked: bool) -> Generator[None, None, NDArray[Any]]:
    table: Any = column.table
    entries, known = np.empty(1, object), np.zeros(1, np.bool_)
    found = np.empty(length, object)
    single = True
    for start in range(0, length, _BLOCK):
        stop = min(length, start + _BLOCK)
        ids = np.asarray(column.ids[slice(start, stop)])
        most = int(ids.max(initial=0))
        # Grows at least twofold, so that the entries are rarely copied.
        if most >= len(entries):
            room = max(most + 1, 2 * len(entries))
            entries, known = (
                np.append(entries, np.empty(room - len(entries), object)),
                np.append(known, np.zeros(room - len(known), np.bool_)),
            )
        used = _distinct_ids(ids)
        new = used[~known[used]]
        if len(new):
            # Each distinct text is decoded and masked once.
            texts = [table[entry] for entry in new.tolist()]
            entries[new] = list(map(encodable, masked_texts(texts) if masked else texts))
            known[new] = True
        found[start:stop] = entries[ids]
        single = single and len(used) <= 1 and (len(used) == 0 or bool((ids == used[0]).all()))
        single = single and found[start] == found[0]
        yield
    # One repeated text needs no array of its own length.
    return _repeated(found[0], length) if length and single else found


def encodable(text: str) -> str:
    """Returns a text encodable in UTF-8; a lone surrogate, allowed in JSON, becomes the replacement character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def masked_texts(texts: list[str]) -> list[str]:
    """Masks secrets in texts: joined first, and one by one only if some contain any."""
    for start in range(0, len(texts), _MASK_BATCH):
        some = texts[start : start + _MASK_BATCH]
        together = "\n".join(some)
        # Masking one joined text is much faster than many short ones, and most contain no secret.
        if mask_text(together) != together:
            texts[start : start + _MASK_BATCH] = map(mask_text, some)
    return texts


# A batch with one secret is masked text by text, so it must not be too large.
_MASK_BATCH = 1_000


def _repeated(value: object, length: int) -> NDArray[Any]:
    """Returns (length,) one value repeated without memory."""
    one = np.empty(1, object)
    one[0] = value
    return np.broadcast_to(one, (length,))


def _distinct_ids(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the distinct ids, ascending, without 0."""
    if not len(ids) or not ids.any():
        return np.zeros(0, np.int64)
    # A count per id is faster than sorting, as the ids are small numbers.
    counts = np.bincount(ids, minlength=1)
    counts[0] = 0
    return np.flatnonzero(counts)


def _values(values: NDArray[Any] | LazyArray, length: int) -> Generator[None, None, NDArray[Any]]:
    """Returns all values of an array, computed in blocks if it is lazy."""
    if not isinstance(values, LazyArray):
        return values[:length]
    parts: list[NDArray[Any]] = []
    # In blocks, so that the window stays responsive.
    for start in range(0, max(1, length), _NUMBER_BLOCK):
        parts.append(np.asarray(values[slice(start, min(length, start + _NUMBER_BLOCK))]))
        yield
    return np.concatenate(parts)


def _numbers(column: Numbers, values: NDArray[Any], type_: SqlType) -> NDArray[Any]:
    length = len(values)
    if type_ is SqlType.TIME:
        return np.array(values, np.int64).view("datetime64[ns]")  # NO_TIME equals numpy's NaT
    present = column.holding(values)
    # No value at all: one repeated NULL needs no memory.
    if length and not present.any():
        return _repeated(None, length)
    wide = np.array(values, np.float64 if type_ is SqlType.NUMBER else None)
    return wide if present.all() else np.ma.masked_array(wide, mask=~present)
