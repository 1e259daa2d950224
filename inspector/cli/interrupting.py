"""Makes Ctrl+C interrupt native library code, during which Python runs no signal handler."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator

# One interrupt may come before the query has begun, so it is repeated, in seconds.
_RETRY_S, _PATIENCE_S = 0.05, 1.0
# The exit code of a shell for SIGINT: 128 plus its number.
_EXIT_CODE = 130


@contextlib.contextmanager
def interrupted_by_ctrl_c(
    interrupt: Callable[[], object], discard: Callable[[], object] = lambda: None
) -> Generator[None]:
    """Makes Ctrl+C interrupt the code in this block; ends the process if that takes longer than one second.

    Args:
        interrupt: called from another thread to interrupt the computation.
        discard: removes a half-written file before the process ends.
    """
    # Only the main thread may set a wakeup descriptor.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed, ended = threading.Event(), threading.Event()
    heard, told = socket.socketpair()  # a pipe; Windows accepts only a socket as wakeup descriptor
    # Python accepts only a non-blocking wakeup descriptor.
    told.setblocking(False)

    def watch() -> None:
        while not ended.is_set() and (number := heard.recv(1)):
            if number[0] != signal.SIGINT:
                continue
            pressed.set()
            for _ in range(round(_PATIENCE_S / _RETRY_S)):
                interrupt()
                if ended.wait(_RETRY_S):
                    return
            discard()
            atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] - removes temporary folders; os._exit skips exit functions
            # Without joining threads: the one inside the library may never return.
            os._exit(_EXIT_CODE)

    # Python writes the signal number to this descriptor at once, even while the main thread is in native code.
    # Further presses may fill the buffer; one byte is enough, so no warning is printed.
    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, name="ctrl-c", daemon=True)
    watcher.start()
    try:
        yield
    except RuntimeError as error:  # DuckDB raises it if it gets the signal before Python's handler runs
        if pressed.wait(_RETRY_S):
            raise KeyboardInterrupt from error
        raise
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        # Closing this end wakes the watcher, which waits in `recv`.
        told.close()
        watcher.join()
        heard.close()
