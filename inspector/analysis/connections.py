"""Connections to MCP servers that were opened anew: each begins another session of the same server."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.capture.capture import Capture
from inspector.capture.flags import Flag


def connection_keys(capture: Capture, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number of the connection of each message: its source and its connection there."""
    columns = capture.columns
    return columns["source"][rows].astype(np.int64) << 32 | columns["connection"][rows]


def opened_anew(capture: Capture, rows: NDArray[np.int64]) -> dict[int, int]:
    """The connections that others took the place of, by number, with the first message of the one that did.

    Several connections side by side are several servers of one client; one takes the place of another where the same
    pipe of a source was opened again.

    Args:
        capture: whose.
        rows: messages that are looked at, ascending.
    """
    piped = rows[capture.columns["flags"][rows] & Flag.RPC.value != 0]
    keys = connection_keys(capture, piped)
    changed = np.flatnonzero(np.diff(keys, prepend=-1)) if len(keys) else np.zeros(0, np.int64)
    found, first = np.unique(keys[changed], return_index=True)
    ended: dict[int, int] = {}
    open_now: dict[tuple[int, int], int] = {}  # (source, which of its pipes) -> connection
    for place in np.sort(changed[first]).tolist() if len(found) > 1 else []:
        row, key = int(piped[place]), int(keys[place])
        pipe = int(capture.columns["source"][row]), capture.records.read(row).src
        before, open_now[pipe] = open_now.get(pipe), key
        if before is not None:
            ended[before] = row
    return ended
