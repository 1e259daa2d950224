"""Detects pauses in a stream: a thread reads it, so that its consumer is not blocked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue

_QUIET_S = 0.25
"""Seconds without data that are a pause."""
_LONGEST_S = 2.0
"""Seconds of continuous data after which a shorter pause is enough."""
_BREATH_S = 0.05
"""Seconds of a short pause; a stream faster than its consumer has none."""


def with_pauses(blocks: Iterator[bytes]) -> Iterator[bytes | None]:
    """Yields blocks as they arrive, and None for each pause after some.

    Args:
        blocks: blocking iterator; read in a daemon thread to its end.
    """
    arrived: SimpleQueue[bytes | None] = SimpleQueue()

    def take_in() -> None:
        try:
            for block in blocks:
                arrived.put(block)
        finally:
            arrived.put(None)

    threading.Thread(target=take_in, name="wait for a stream", daemon=True).start()
    since: float | None = None  # arrival time of the first block since the last pause
    while True:
        longest = since is not None and time.monotonic() - since > _LONGEST_S
        try:
            block = arrived.get(timeout=None if since is None else _BREATH_S if longest else _QUIET_S)
        except Empty:
            since = None
            yield None
            continue
        if block is None:
            return
        since = since or time.monotonic()
        yield block
