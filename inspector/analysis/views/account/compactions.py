"""Finds the messages that report a compacted context."""

from __future__ import annotations

import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.store.messages.capture import Capture

_DONE = "participant/compact-done"


def compaction_rows(capture: Capture, stop: int) -> Rows:
    """Returns the messages before `stop` that report a compacted context, ascending, each once. O(messages)."""
    rows = np.flatnonzero(capture.columns["kind"][:stop] == (capture.strings.find(_DONE) or -1)).astype(np.int64)
    # Files of resumed sessions repeat the record of a compaction.
    return rows[~capture.repeated_messages(rows)[1]] if len(rows) else rows
