"""Starts engine processes. Imports little, so that a start page can start one beside its first paint."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from inspector import version
from inspector.base.priority import lower_priority
from inspector.engine.frames import SCHEMA, Hello, framed

COMMAND = (sys.executable, "-m", "inspector", "engine", "--stdio")
_NICENESS = 2
"""Niceness above the window. Live at 20,000 messages/s on two busy cores, the window's 10 ms timer was late by 55 ms
(99th percentile) without it, by 31 and 35 ms with 2, and by 30 to 33 ms with 5, which slows an engine beside a busy
window."""
_NO_REQUEST = {"type": "cancel", "id": 0, "document": 0}
"""The first message after the greeting makes the engine import what reads logs. This one asks for nothing."""


def descriptor_of(path: Path) -> int | None:
    """Returns the file descriptor of this process that a path names, such as of a shell's `<(...)`, or None."""
    found = re.fullmatch(r"(-|/dev/stdin)|/(?:dev|proc/self)/fd/([0-9]{1,9})", str(path))
    return None if found is None else int(found[2] or 0)


def start_engine(command: Sequence[str] = COMMAND, *, inherited: int | None = None) -> subprocess.Popen[bytes]:
    """Starts an engine that gets ready at once.

    Args:
        command: starts it.
        inherited: file descriptor of this process that it reads from; 0 becomes its standard input.

    Raises:
        OSError: it cannot be started.
    """
    with contextlib.ExitStack() as ends:
        options: dict[str, Any] = {}
        if inherited == 0:
            # Descriptor 0 of the engine brings the requests.
            passed = os.dup(0)
            ends.callback(os.close, passed)
            number, options = _inheriting(passed)
            command = (*command, "--input", str(number))
        elif inherited is not None:
            options = {"pass_fds": (inherited,)}
        process: subprocess.Popen[Any] = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **options
        )
    lower_priority(process.pid, _NICENESS)
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # it has ended; its client reports that
        greeting = msgspec.msgpack.encode(Hello(SCHEMA, f"context-inspector {version()}"))
        process.stdin.write(framed(greeting) + framed(msgspec.msgpack.encode(_NO_REQUEST)))
    return process


def _inheriting(descriptor: int) -> tuple[int, dict[str, Any]]:
    """Returns a descriptor's number in a child process, on Windows its handle, and options of `Popen` that pass it."""
    if sys.platform != "win32":
        return descriptor, {"pass_fds": (descriptor,)}
    import msvcrt

    handle = msvcrt.get_osfhandle(descriptor)
    os.set_handle_inheritable(handle, True)
    return handle, {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})}


def end_unused(process: subprocess.Popen[bytes]) -> None:
    """Ends an engine that no client has taken."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
