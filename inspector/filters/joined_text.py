"""Texts that go on from one frame of a stream to the next: a word split over two is found where it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.streams.stream_pass import STRETCH
from inspector.protocol.payloads.chunks import Flow
from inspector.store.messages.decoding import decoded_in_blocks

Rows = NDArray[np.integer[Any]]
Begins = Callable[[str, int], bool]
"""Whether what is looked for is in a text and begins before a place."""

LONGEST = 1_000
"""Characters behind a frame's own that are looked at, in STRETCH frames at most."""
_AT_ONCE = 1_024


def begins_in_frame(analysis: Analysis, rows: Rows, begins: Begins) -> NDArray[np.bool_]:
    """In which messages something begins that goes on in the frames behind them; false for what is no frame.

    Args:
        analysis: knows which frames follow each other.
        rows: (k,) messages, in any order.
        begins: says so of a frame's words and those behind them.
    """
    found = np.zeros(len(rows), np.bool_)
    runs = analysis.streams.columns["run"][rows]
    for run in np.unique(runs[runs != 0]).tolist():
        places = np.flatnonzero(runs == run)
        places = places[np.argsort(rows[places], kind="stable")]
        for first in range(0, len(places), _AT_ONCE):
            some = places[first : first + _AT_ONCE]
            wanted = dict(zip(rows[some].tolist(), some.tolist(), strict=True))
            for row, text, own in _texts(analysis, run, rows[some]):
                if row in wanted and begins(text, own):
                    found[wanted[row]] = True
    return found


def _texts(analysis: Analysis, run: int, rows: Rows) -> Iterator[tuple[int, str, int]]:
    """Frames of a run, with what each says together with those behind it, and how much of that is its own."""
    streams, capture = analysis.streams, analysis.capture
    first, last = int(rows[0]), int(rows[-1])
    frames = streams.frames(run, first - 1, most=STRETCH + 1)
    if len(frames) > STRETCH and int(frames.searchsorted(last)) > 0:  # there may be more behind the last one
        frames = streams.frames(run, first - 1)
        frames = frames[: int(frames.searchsorted(last)) + STRETCH + 1]
    flow = Flow()
    pieces = [flow.add(data) for data in decoded_in_blocks(capture, frames, capture.records.data)]
    text, starts = "".join(pieces), [*accumulate(map(len, pieces), initial=0)]
    for place, frame in enumerate(frames[: int(frames.searchsorted(last, "right"))].tolist()):
        start, stop = starts[place : place + 2]
        if start < stop:
            behind = starts[min(place + 1 + STRETCH, len(pieces))]
            yield frame, text[start : min(behind, stop + LONGEST)], stop - start
