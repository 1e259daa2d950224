"""Runs a writer thread that requests document reads from the main thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

# Short, since other requests wait meanwhile.
_WAIT_S = 0.002


class ReadRequests:
    """Lets threads request work on another thread between two steps."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_closed = False

    def __call__(self, work: Callable[[], Any]) -> Any:
        """Returns the result of a function called by the stepping thread; None after its end."""
        # The writer blocks on this, so an answer must come in any case.
        answer: Future[Any] = Future()
        with self._lock:
            if self._is_closed:
                return None
            self._asked.put((work, answer))
        return answer.result()

    def run_thread(self, write: Callable[[], object], interrupt: Callable[[], object]) -> Generator[None]:
        """Runs a function on a thread to its end, and serves its requests here, one per step.

        Args:
            write: the function; its exception is raised here.
            interrupt: stops it if the generator is closed early.
        """
        errors: list[Exception] = []

        def work() -> None:
            try:
                write()
            except Exception as error:  # noqa: BLE001 - raised again in the waiting thread
                errors.append(error)

        # The writer thread must not touch the capture, so it asks this thread for values.
        thread = threading.Thread(target=work, name="write a table", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                self.serve()
                yield
        finally:
            # The generator was closed, as when the window closes: the thread ends before the data
            # does.
            self.close()
            while thread.is_alive():
                interrupt()
                thread.join(_WAIT_S)
        if errors:
            raise errors[0]

    def serve(self) -> bool:
        """Serves one request and waits briefly for it; returns False if there was none."""
        try:
            work, answer = self._asked.get(timeout=_WAIT_S)
        except queue.Empty:
            return False
        found = None
        try:
            found = work()
        finally:
            # Also after an error, since the writer waits.
            answer.set_result(found)
        return True

    def close(self) -> None:
        """Answers all requests with None from now on."""
        with self._lock:
            self._is_closed = True
        while not self._asked.empty():
            self._asked.get()[1].set_result(None)
