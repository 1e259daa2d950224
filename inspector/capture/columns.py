"""Arrays that grow at the end: one value per message, or per delivery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class GrowingColumns:
    """Named arrays of equal length, grown together.

    `columns["kind"]` is a view of the first `len(columns)` values. A view stays valid, but does not grow:
    take it anew after an append.

    Args:
        dtypes: the dtype of each column by name.
    """

    def __init__(self, dtypes: Mapping[str, Any]) -> None:
        self._length = 0
        self._arrays: dict[str, Array] = {name: np.empty(0, dtype) for name, dtype in dtypes.items()}

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name][: self._length]

    def append(self, values: Mapping[str, Array]) -> None:
        """Append one array per column, all of one length."""
        count = len(next(iter(values.values())))
        start = self.extend(count)
        for name, array in self._arrays.items():
            array[start : start + count] = values[name]

    def extend(self, count: int, fill: Mapping[str, Any] | None = None) -> int:
        """Make room for `count` more values and return where they start; filled with `fill` where it names a column."""
        start, stop = self._length, self._length + count
        for name, array in self._arrays.items():
            if stop > len(array):
                # Memory past the length is never touched, so generous steps cost no resident pages.
                grown = np.empty(max(stop, len(array) * 3 // 2, 1024), array.dtype)
                grown[:start] = array[:start]
                self._arrays[name] = grown
            if fill and name in fill:
                self._arrays[name][start:stop] = fill[name]
        self._length = stop
        return start


MESSAGE_COLUMNS: dict[str, Any] = {
    "source": np.uint16,  # index into Capture.sources
    "offset": np.int64,  # bytes, of the record's line in its source
    "length": np.uint32,  # bytes, without the line end
    "time_ns": np.int64,  # arrival or log time, else the sender's; nanoseconds UTC, NO_TIME
    "ts_ns": np.int64,  # the sender's clock; NO_TIME
    "kind": np.uint32,  # string id of the canonical kind
    "kind_raw": np.uint32,  # string id, 0 absent
    "sender": np.uint32,
    "to_set": np.uint32,  # id into Capture.to_sets
    "context": np.uint32,  # string id of the observed context key; never rewritten
    "method": np.uint32,  # what the message itself says
    "target": np.uint32,
    "space": np.uint32,
    "protocol": np.uint32,
    "direction": np.uint32,
    "stream": np.uint32,
    "id_hash": np.uint64,  # NO_HASH when there is no id
    "correlation_hash": np.uint64,  # of the first id named; NO_HASH
    "rpc_hash": np.uint64,  # of the JSON-RPC id as JSON text; NO_HASH
    "content_hash": np.uint64,  # of the envelope's bytes, to tell copies apart
    "size": np.uint32,  # bytes of the envelope, message or frame
    "flags": np.uint32,
}

DELIVERY_COLUMNS: dict[str, Any] = {
    "message": np.uint32,
    "source": np.uint16,
    "offset": np.int64,
    "length": np.uint32,
    "participant": np.uint32,  # string id of the recipient
    "event": np.uint32,  # string id: delivered, rejected
}
