"""Asking for a file that may never answer: on a network mount that is gone, or one the system makes as it is read.

Whoever waits for such a file waits for ever, so it is asked for in a thread of its own. One that never comes back is
left behind: it is a daemon, and ends with the program.
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
"""So long a window that asks where something lies may stand still."""


async def first_answer(path: Path) -> None:
    """Wait, while the loop goes on, until a file has been opened and something of it was read.

    A file that cannot be opened is left to whoever reads it, who says so.

    Raises:
        OSError: it is none that lies on a disk: nobody knows how long each further byte takes.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bool] = loop.create_future()

    def ask() -> None:
        on_disk = _lies_on_disk(path)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
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


def in_time(questions: Sequence[Callable[[], T]], limit_s: float = LIMIT_S) -> list[T | None]:
    """Ask all at once; None for each that has not come back in time.

    Args:
        questions: none of them may raise.
        limit_s: for all together.
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
