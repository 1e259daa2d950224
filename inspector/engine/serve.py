"""Serves an engine over standard input and output, until the input ends or a frame is malformed.

The greeting is answered before anything heavy is imported. One thread computes; two more only move bytes. Whatever
other code prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING

import msgspec

from inspector import version
from inspector.engine.frames import (
    MAX_REQUEST_BYTES,
    SCHEMA,
    Failure,
    FrameSplitter,
    Hello,
    WireError,
    framed,
)
from inspector.plugins.exit_bound import bound_exit

if TYPE_CHECKING:
    from inspector.engine.server import EngineServer

_READ_BYTES = 1 << 16
_END_S = 60.0
"""Seconds after the end of the input until the process ends in any case, also within native code."""


def start_quickly(words: list[str]) -> None:
    """Serves and ends the process; returns only if the full command line parser is needed."""
    match words:
        case ["--stdio"]:
            serve_stdio()
        case ["--stdio", "--input", number] if number.isdecimal():
            serve_stdio(int(number))
        case _:
            return
    bound_exit(None)
    sys.exit()


def serve_stdio(inherited: int | None = None) -> None:
    """Serves until standard input ends, or a frame is malformed.

    Args:
        inherited: an open descriptor, on Windows a handle, that documents read as standard input.
    """
    # Private copies: whatever reads or prints, also child processes, must not disturb the connection.
    source, sink = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    read = os.open(os.devnull, os.O_RDONLY) if inherited is None else _opened(inherited)
    os.dup2(read, sys.stdin.fileno())
    os.close(read)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # Ctrl+C in the terminal of a window, or the end of that terminal, is the window's affair.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    asyncio.run(_serve(source, sink))


def _opened(inherited: int) -> int:
    if sys.platform != "win32":
        return inherited
    import msvcrt

    return msvcrt.open_osfhandle(inherited, os.O_RDONLY | os.O_BINARY)


class _Outbox:
    """Frames on their way to the window; a thread writes them."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._frames: SimpleQueue[bytes | None] = SimpleQueue()
        self._put = self._written = 0
        self._thread = threading.Thread(target=self._write, name="write answers", daemon=True)
        self._thread.start()

    def send(self, frame: bytes) -> None:
        self._put += len(frame)
        self._frames.put(frame)

    def unsent_bytes(self) -> int:
        return self._put - self._written

    def _write(self) -> None:
        with contextlib.suppress(OSError):  # the window has gone; the input ends as well
            while (frame := self._frames.get()) is not None:
                view = memoryview(frame)
                while view:
                    view = view[os.write(self._sink, view) :]
                self._written += len(frame)

    def close(self) -> None:
        """Writes the rest, unless the window takes no more."""
        self._frames.put(None)
        self._thread.join(1.0)


class _Conversation:
    """Messages of the window: the greeting, and all others for the server, which is made for the first of them."""

    def __init__(self, outbox: _Outbox, end: Callable[[], None]) -> None:
        self._outbox, self._end = outbox, end
        self._greeted = self._ended = False
        self.server: EngineServer | None = None

    def receive(self, body: bytes) -> None:
        """Handles one frame; a malformed one ends the conversation."""
        if self._ended:
            return
        try:
            if not self._greeted:
                self._greet(body)
                return
            if self.server is None:
                self.server = prepared_server(self._outbox.send, self._outbox.unsent_bytes)
            from inspector.engine.wire import decoded_by_engine

            self.server.receive(decoded_by_engine(body))
        except WireError as error:
            from inspector.protocol.secrets.masking import mask_text

            self._fail(mask_text(str(error)))

    def _greet(self, body: bytes) -> None:
        try:
            hello = msgspec.msgpack.decode(body, type=Hello)
        except (msgspec.MsgspecError, ValueError):
            raise WireError("The first message must be a greeting.") from None
        self._greeted = True
        mine = Hello(SCHEMA, f"context-inspector {version()}")
        self._outbox.send(framed(msgspec.msgpack.encode(mine)))
        if hello.schema != SCHEMA:
            self._fail(f"The window has schema {hello.schema}, the engine {SCHEMA}: both must be of the same version.")

    def _fail(self, sentence: str) -> None:
        self._ended = True
        self._outbox.send(framed(msgspec.msgpack.encode(Failure(0, "request", sentence))))
        self._end()


def prepared_server(send: Callable[[bytes], object], unsent_bytes: Callable[[], int]) -> EngineServer:
    """Loads declared formats and plug-ins, starts the log file, and returns a server."""
    from inspector.base import gc_control
    from inspector.diagnostics import program_log
    from inspector.engine.extensions import load_extensions
    from inspector.protocol.secrets.masking import mask_text

    with gc_control.no_collection():  # permanent classes created by the imports
        program_log.start_logging(mask_text)
        load_extensions()
        # Modules see the fields of plug-ins when they are imported.
        from inspector.engine.server import EngineServer
        from inspector.sources.recorder_client import remove_killed

    threading.Thread(target=remove_killed, name="remove places of recorders", daemon=True).start()
    gc_control.freeze_and_trim()
    return EngineServer(send, unsent_bytes)


async def _serve(source: int, sink: int) -> None:
    loop, ended, outbox = asyncio.get_running_loop(), asyncio.Event(), _Outbox(sink)
    conversation, done = _Conversation(outbox, ended.set), threading.Event()

    def read() -> None:
        frames = FrameSplitter(MAX_REQUEST_BYTES)
        try:
            while data := os.read(source, _READ_BYTES):
                for body in frames.feed(data):
                    loop.call_soon_threadsafe(conversation.receive, body)
        except WireError as error:
            failure = Failure(0, "request", str(error))
            outbox.send(framed(msgspec.msgpack.encode(failure)))
        except OSError:
            pass
        loop.call_soon_threadsafe(ended.set)
        # The window has gone: nobody could end native code, such as a query.
        if not done.wait(_END_S):
            os._exit(1)

    threading.Thread(target=read, name="read requests", daemon=True).start()
    with contextlib.suppress(NotImplementedError):  # Windows
        loop.add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    if conversation.server is not None:
        await conversation.server.close()
    outbox.close()
    done.set()
