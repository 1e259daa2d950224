"""Finds tapped servers that ended badly, from the records that only the recorder can write."""

from __future__ import annotations

import numpy as np

from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

_PROCESS_END = "recorder/end"


def failed_servers(capture: Capture, start: int, stop: int) -> Rows:
    """Returns messages from `start` to `stop` that report the bad end of a tapped server.

    They are marks in a capture that the tap wrote (`Flag.GAP` with `Flag.ERROR`), and the last lines of wire recordings
    (docs/protocols.md 13). `Records.reason` has the reason. Lines of the same shape in a server's own output are not
    trusted.
    """
    columns = capture.columns
    flags = columns["flags"][start:stop]
    failed = np.flatnonzero(flags & Flag.ERROR.value)
    if not len(failed):
        return NO_ROWS
    own = flags[failed] & Flag.GAP.value != 0
    own |= (flags[failed] & Flag.LOG_ONLY.value != 0) & (
        columns["kind"][failed + start] == (capture.strings.find(_PROCESS_END) or -1)
    )
    rows = failed[own] + start
    # A server could print lines of this shape itself; only sources written by a recorder are trusted.
    believed = [capture.sources[source].is_recording for source in columns["source"][rows].tolist()]
    return rows[np.array(believed, np.bool_)]
