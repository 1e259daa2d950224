"""Runs a function on a thread, in steps between which the caller does other work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TypeVar

ResultT = TypeVar("ResultT")
StepT = TypeVar("StepT")

_WAIT_S = 0.002
"""Wait for the thread in one step: short, since other work waits meanwhile."""


def thread_steps(
    work: Callable[[], ResultT], step: StepT, *, delays_exit: bool = False
) -> Generator[StepT, None, ResultT]:
    """Yields `step` while a function runs on a thread, and returns its result; its exception is raised here.

    Closing the generator leaves the thread to its end.

    Args:
        work: the function.
        step: the value of each step.
        delays_exit: the process ends after it, since it saves something of the user.
    """
    result: Future[ResultT] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            result.set_exception(error)

    threading.Thread(target=run, name="work in steps", daemon=not delays_exit).start()
    while True:
        try:
            return result.result(_WAIT_S)
        except TimeoutError:
            # The function itself may have raised one.
            if result.done():
                raise
        yield step
