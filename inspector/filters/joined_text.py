"""Searches text that continues from one stream frame to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.streams.stream_pass import SEARCH_FRAMES
from inspector.protocol.payloads.stream_chunks import TextFlow
from inspector.store.messages.batch_decoding import read_in_batches

Rows = NDArray[np.integer[Any]]
Begins = Callable[[str, int], bool]
"""Returns True if a match begins in a text before an offset."""

# A match over more frames would be found at the cost of joining whole streams for each frame.
MAX_LOOKAHEAD = 1_000
"""Characters searched after a frame's own text, in at most SEARCH_FRAMES frames."""
_BATCH_FRAMES = 1_024


def begins_in_frame(analysis: Analysis, rows: Rows, begins: Begins) -> NDArray[np.bool_]:
    """Returns a mask of frames in which a match begins that may continue in later frames.

    Args:
        analysis: knows the order of frames.
        rows: (k,) messages, in any order.
        begins: tests a frame's text joined with that of later frames.
    """
    found = np.zeros(len(rows), np.bool_)
    runs = analysis.streams.columns["run"][rows]
    for run in np.unique(runs[runs != 0]).tolist():
        places = np.flatnonzero(runs == run)
        places = places[np.argsort(rows[places], kind="stable")]
        for first in range(0, len(places), _BATCH_FRAMES):
            some = places[first : first + _BATCH_FRAMES]
            wanted = dict(zip(rows[some].tolist(), some.tolist(), strict=True))
            for row, text, own in _texts(analysis, run, rows[some]):
                if row in wanted and begins(text, own):
                    found[wanted[row]] = True
    return found


def _texts(analysis: Analysis, run: int, rows: Rows) -> Iterator[tuple[int, str, int]]:
    """Yields frames of a run with their joined text, and the length of their own part."""
    streams, capture = analysis.streams, analysis.capture
    first, last = int(rows[0]), int(rows[-1])
    frames = streams.frames(run, first - 1, most=SEARCH_FRAMES + 1)
    if len(frames) > SEARCH_FRAMES and int(frames.searchsorted(last)) > 0:  # more frames may follow the last one
        frames = streams.frames(run, first - 1)
        frames = frames[: int(frames.searchsorted(last)) + SEARCH_FRAMES + 1]
    flow = TextFlow()
    with capture.records.unmasked():
        pieces = [flow.add_frame(data) for data in read_in_batches(capture, frames, capture.records.frame_data)]
    text, starts = "".join(pieces), [*accumulate(map(len, pieces), initial=0)]
    for place, frame in enumerate(frames[: int(frames.searchsorted(last, "right"))].tolist()):
        start, stop = starts[place : place + 2]
        if start < stop:
            behind = starts[min(place + 1 + SEARCH_FRAMES, len(pieces))]
            yield frame, text[start : min(behind, stop + MAX_LOOKAHEAD)], stop - start
