"""Answers requests in a worker process, and the messages of its pipe.

A request is its number and a pickled pair; a number alone cancels the requests up to it. An answer is `_HEAD` and its
value: bytes as they are, anything else pickled. A large value follows as a message of its own, so that it is not
copied.
"""

from __future__ import annotations

import gc
import os
import pickle
import threading
import traceback
from collections.abc import Callable, Iterator
from queue import Queue, SimpleQueue
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Setup = Callable[..., Callable[[Any], Any]]
"""Prepares a process, and returns its function: it maps a request to a value, or to an iterator of pieces."""
READY, PIECE, END, ERROR = range(4)
"""Kinds of answers. READY, and ERROR with the number 0, are about the process itself."""

_NUMBER = Struct("<Q")
_HEAD = Struct("<BBQ")
"""Kind, 1 for a value of raw bytes, number of the request."""
_TOGETHER_BYTES = 1 << 14
"""Largest value in one message with its head."""
_AHEAD = 2
"""Answers that a process prepares ahead of the receiver: a pipe buffers only a small piece of one."""


def ignore_state(_state: object) -> None:
    """Restores no state."""


class CarriedState(NamedTuple):
    """State of the program that each request brings to the worker.

    Attributes:
        current: returns the state, picklable.
        restore: makes it the worker's; a function of a module.
    """

    current: Callable[[], Any] = lambda: None
    restore: Callable[[Any], object] = ignore_state


def plain(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Setup of a process without state."""
    return function


def encode_request(number: int, state: Any, request: Any) -> bytes:
    return _NUMBER.pack(number) + pickle.dumps((state, request), protocol=5)


def encode_cancellation(number: int) -> bytes:
    """Returns the message that cancels requests up to a number."""
    return _NUMBER.pack(number)


def receive_message(receive: Callable[[], bytes]) -> tuple[int, int, Any]:
    """Receives an answer from a pipe's `recv_bytes`. Raises EOFError or OSError if the process has ended.

    Returns:
        Kind, number, value.
    """
    data = receive()
    kind, raw, number = _HEAD.unpack_from(data)
    value = data[_HEAD.size :] or receive()
    return kind, number, value if raw else pickle.loads(value)


def _encode(kind: int, number: int, value: Any) -> tuple[bytes, ...]:
    """Returns the messages of an answer."""
    raw = isinstance(value, bytes) and bool(value)
    data = value if raw else pickle.dumps(value, protocol=5)
    head = _HEAD.pack(kind, raw, number)
    return (head + data,) if len(data) <= _TOGETHER_BYTES else (head, data)


def serve_requests(
    connection: Connection, setup: Setup, args: tuple[Any, ...], restore: Callable[[Any], object], state: Any
) -> None:
    """Main function of a worker: answers requests in their order until the pipe ends.

    Args:
        connection: its end of the pipe.
        setup, args: prepare the process and return its function; `setup` may enable the garbage collector again.
        restore, state: restore the state of the program, here and for each request.
    """
    gc.disable()  # its work creates no cycles
    server = _Server(connection)
    try:
        restore(state)
        function = setup(*args)
    except Exception as error:  # noqa: BLE001 - reported to the parent, which then ends this process
        server.send_answer(ERROR, 0, _portable(error))
        threading.Event().wait()
    else:
        server.send_answer(READY, 0, None)
        server.run(function, restore)


class _Server:
    """Answers requests while one thread receives them and another one sends the answers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._requests: SimpleQueue[tuple[int, bytes]] = SimpleQueue()
        self._answers: Queue[tuple[bytes, ...]] = Queue(_AHEAD)
        self._cancelled_to = 0
        for target in (self._receive, self._send):
            threading.Thread(target=target, daemon=True).start()

    def send_answer(self, kind: int, number: int, value: Any) -> None:
        """Waits while the receiver is behind."""
        self._answers.put(_encode(kind, number, value))

    def run(self, function: Callable[[Any], Any], restore: Callable[[Any], object]) -> None:
        while True:
            number, data = self._requests.get()
            try:
                state, request = pickle.loads(memoryview(data)[_NUMBER.size :])
                restore(state)
                self.send_answer(
                    END, number, self._send_pieces(number, function(request) if self._wants(number) else None)
                )
            except Exception as error:  # noqa: BLE001 - reported to the parent
                self.send_answer(ERROR, number, _portable(error))

    def _wants(self, number: int) -> bool:
        return number > self._cancelled_to

    def _send_pieces(self, number: int, answer: Any) -> Any:
        """Returns the value of a request, None after pieces."""
        if not isinstance(answer, Iterator):
            return answer
        for piece in answer:
            if not self._wants(number):
                break
            self.send_answer(PIECE, number, piece)
        return None

    def _receive(self) -> None:
        """Receives at all times, so that the parent never waits for the function, and its end is noticed at once."""
        try:
            while True:
                data = self._connection.recv_bytes()
                (number,) = _NUMBER.unpack_from(data)
                if len(data) == _NUMBER.size:
                    self._cancelled_to = number
                else:
                    self._requests.put((number, data))
        except (EOFError, OSError):  # the parent has ended this worker, or has ended itself
            os._exit(0)

    def _send(self) -> None:
        try:
            while True:
                for message in self._answers.get():
                    self._connection.send_bytes(message)
        except OSError:
            os._exit(0)


def _portable(error: Exception) -> Exception:
    """Returns an error with its traceback as a note, or a RuntimeError in its place if it cannot be pickled."""
    error.add_note(f"In a worker process:\n{''.join(traceback.format_exception(error))}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - errors of other libraries may need arguments of their own
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
