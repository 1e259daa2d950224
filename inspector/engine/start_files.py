"""Files that a start page looks at: unsaved captures, and files on slow disks. Imports no numpy."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from inspector.sources.blocking_files import call_with_timeout as call_with_timeout
from inspector.store.files.capture_folder import UnsavedCapture as UnsavedCapture
from inspector.store.files.capture_folder import lock_capture as lock_capture
from inspector.store.files.capture_folder import unsaved_captures as unsaved_captures

_NOTICED_S = 5.0
"""Longest time for a recorder to notice the end of its engine, on a busy machine; else it takes milliseconds."""
_ATTACH_S = 2.0
"""Seconds that a closing window waits for a recorder."""
_POLL_S = 0.02


def end_recorder(capture: Path) -> None:
    """Ends the recorder of a capture whose engine has ended; the capture stays."""
    from inspector.sources.recorder_client import RecorderClient  # the first paint waits for no msgspec
    from inspector.sources.recorder_places import find_places

    until = time.monotonic() + _NOTICED_S
    attach = partial(RecorderClient.attach, capture, _ATTACH_S)
    while (recorder := attach()) is None and find_places(capture) and time.monotonic() < until:
        time.sleep(_POLL_S)
    if recorder is not None:
        recorder.close()
