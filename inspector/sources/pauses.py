"""Where a stream pauses: what reads it waits in a thread of its own, so that the one that goes on with it need not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue

_QUIET_S = 0.25
"""Nothing for so long is a pause."""
_LONGEST_S = 2.0
"""Behind so much without a pause a shorter one will do: nobody waits longer for what comes steadily."""
_BREATH_S = 0.05
"""A stream that comes faster than it can be taken in has none of these."""


def with_pauses(blocks: Iterator[bytes]) -> Iterator[bytes | None]:
    """Blocks as they come, and None for each pause behind some.

    Args:
        blocks: waits for what comes; asked by a thread of its own, a daemon, until it ends.
    """
    arrived: SimpleQueue[bytes | None] = SimpleQueue()

    def take_in() -> None:
        try:
            for block in blocks:
                arrived.put(block)
        finally:
            arrived.put(None)

    threading.Thread(target=take_in, name="wait for a stream", daemon=True).start()
    since: float | None = None  # what came since the last pause
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
