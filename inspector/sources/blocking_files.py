"""Accesses files that may block forever, such as on a lost network mount, with a timeout.

Each access runs in a daemon thread of its own. A thread that blocks is abandoned and ends with the program.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

LIMIT_S = 2.0
"""Seconds that a window may block for a file's place."""


async def wait_until_readable(path: Path) -> None:
    """Waits, without blocking the loop, until a file was opened and its first byte was read.

    If it cannot be opened, the later reader reports the error.

    Raises:
        OSError: it is no file on disk; each further read could block.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bool] = loop.create_future()

    def ask() -> None:
        on_disk = _lies_on_disk(path)
        with contextlib.suppress(RuntimeError):  # the loop is closed; the result is no longer needed
            loop.call_soon_threadsafe(lambda: answer.done() or answer.set_result(on_disk))

    threading.Thread(target=ask, name=f"ask for {path.name}", daemon=True).start()
    if not await answer:
        raise OSError(errno.EINVAL, "the system makes it while it is read; copy it to a file and open that", str(path))


def _lies_on_disk(path: Path) -> bool:
    try:
        with path.open("rb", buffering=0) as file:
            return not file.read(1) or path.stat().st_size > 0
    except (OSError, ValueError):
        return True


def call_with_timeout(questions: Sequence[Callable[[], T]], limit_s: float = LIMIT_S) -> list[T | None]:
    """Runs functions in parallel threads. Returns their results; None for each that timed out.

    Args:
        questions: functions that must not raise.
        limit_s: timeout for all together, in seconds.
    """
    answers: list[T | None] = [None] * len(questions)

    def ask(place: int, question: Callable[[], T]) -> None:
        answers[place] = question()

    until = time.monotonic() + limit_s
    threads = [
        threading.Thread(target=ask, args=(place, question), name="ask for a file", daemon=True)
        for place, question in enumerate(questions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return list(answers)
