"""Starts asyncio tasks with a name, an owner and a report of failures, and ends programs by signal.

The loop holds tasks only weakly, and a failed task reports when it is collected, if ever. Hence this module instead of
`asyncio.create_task` (banned by the linter).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")

_unowned: set[asyncio.Task[Any]] = set()
"""Running tasks without an owner."""


def start_task(
    coro: Coroutine[Any, Any, T], *, name: str, owner: set[asyncio.Task[Any]] | None = None
) -> asyncio.Task[T]:
    """Starts a coroutine on the running loop and keeps it until it ends.

    Args:
        coro: the coroutine.
        name: shown in the Developer menu and in failure reports.
        owner: set that holds the task while it runs, so that its owner can cancel all of its tasks with
            `cancel_and_wait`; without one, this module keeps it.

    Returns:
        The task. An unawaited failure reaches the loop's exception handler at once; the task's result and exception can
        still be awaited. Cancellation is no failure.

    Raises:
        RuntimeError: if there is no running loop; the coroutine is closed.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        # A coroutine that is never awaited would print a warning.
        coro.close()
        raise
    holder = _unowned if owner is None else owner
    task = loop.create_task(coro, name=name)
    # The loop keeps only a weak reference to a task, so a task could vanish while it runs.
    holder.add(task)

    def ended(done: asyncio.Task[T]) -> None:
        holder.discard(done)
        if done.cancelled():
            return
        # Retrieved even if unused: asyncio would report it only when the task is collected.
        failure = done.exception()
        if failure is not None:
            loop.call_exception_handler(
                {"message": f"Task {done.get_name()!r} failed", "exception": failure, "task": done}
            )

    task.add_done_callback(ended)
    return task


async def cancel_and_wait(tasks: set[asyncio.Task[Any]]) -> None:
    """Cancels every task of an owner and waits until all have ended.

    Failures on the way go to the handler of `start_task` and are not raised here. The caller's own task is left alone.
    """
    own = asyncio.current_task()
    waiting = [task for task in tasks if task is not own]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


@contextlib.contextmanager
def signals_set(event: asyncio.Event) -> Generator[None]:
    """Makes SIGINT and SIGTERM set an event instead of ending the program."""
    loop = asyncio.get_running_loop()
    wanted = [signal.SIGINT, signal.SIGTERM]
    try:
        for number in wanted:
            loop.add_signal_handler(number, event.set)
    except NotImplementedError:  # Windows' loop
        former = {n: signal.signal(n, lambda *_: loop.call_soon_threadsafe(event.set)) for n in wanted}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
        return
    try:
        yield
    finally:
        for number in wanted:
            loop.remove_signal_handler(number)
