"""What reads a document while a thread writes what comes of it: the thread asks, and whoever waits for it reads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

_WAIT_S = 0.002


class Turns:
    """Lets threads ask for what another one does between two steps."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()

    def __call__(self, work: Callable[[], Any]) -> Any:
        """What a function gives, called by whoever takes the steps; None where nobody does any more."""
        answer: Future[Any] = Future()
        self._asked.put((work, answer))
        return answer.result()

    def run(self, write: Callable[[], object], interrupt: Callable[[], object]) -> Generator[None]:
        """Do something on a thread to its end, and what it asks for here, a step each.

        Args:
            write: what is done; what it raises is raised here.
            interrupt: ends it sooner, where the steps are closed before their end.
        """
        errors: list[Exception] = []

        def work() -> None:
            try:
                write()
            except Exception as error:  # noqa: BLE001  raised again, where it is waited for
                errors.append(error)

        thread = threading.Thread(target=work, name="write a table", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                self._serve()
                yield
        finally:
            while thread.is_alive():
                interrupt()
                self._refuse()
        if errors:
            raise errors[0]

    def _serve(self) -> None:
        """Do what is asked for; wait a moment for that."""
        try:
            work, answer = self._asked.get(timeout=_WAIT_S)
        except queue.Empty:
            return
        found = None
        try:
            found = work()
        finally:
            answer.set_result(found)

    def _refuse(self) -> None:
        try:
            self._asked.get(timeout=_WAIT_S)[1].set_result(None)
        except queue.Empty:
            return
