"""Ctrl+C while a library computes: Python runs no handler before it returns, which may be never."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator

_AGAIN_S, _PATIENCE_S = 0.05, 1.0
_CODE = 130


@contextlib.contextmanager
def interrupted_by_ctrl_c(
    interrupt: Callable[[], object], discard: Callable[[], object] = lambda: None
) -> Generator[None]:
    """Have Ctrl+C end what is computed within; where it does not end in a second, the program does.

    Args:
        interrupt: asks what is computed to end, from another thread.
        discard: takes away what is half written, where the program ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed, ended = threading.Event(), threading.Event()
    heard, told = socket.socketpair()  # a pipe that Windows takes as well
    told.setblocking(False)

    def watch() -> None:
        while not ended.is_set() and (number := heard.recv(1)):
            if number[0] != signal.SIGINT:
                continue
            pressed.set()
            for _ in range(round(_PATIENCE_S / _AGAIN_S)):
                interrupt()
                if ended.wait(_AGAIN_S):
                    return
            discard()
            atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] - temporary folders go; nobody else sees to it
            os._exit(_CODE)

    before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=watch, name="ctrl-c", daemon=True)
    watcher.start()
    try:
        yield
    except RuntimeError as error:  # DuckDB's, where it is told of the signal before Python's handler runs
        if pressed.wait(_AGAIN_S):
            raise KeyboardInterrupt from error
        raise
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        told.close()
        watcher.join()
        heard.close()
