"""The exact bytes of a message to a file: nothing masked, nothing left out, all of it in memory only where it must."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from inspector.capture.capture import Capture
from inspector.capture.heads import HEAD
from inspector.protocol.cut import completed
from inspector.protocol.formats import read_line

_PART = 1 << 20
_OUR_FRAME = re.compile(rb'\{"t":\d{1,20},"dir":"(?:in|out)","src":\d{1,9}(?:,"bin":true)?,"frame":')


def exact_parts(capture: Capture, message: int) -> Iterator[bytes]:
    """The bytes of the envelope, JSON-RPC message or frame as written, part by part.

    Of what could not be read it is the whole line.
    """
    span = _span(capture, message) if capture.is_big(message) else None
    if span is None:
        # Not through the capture's cache: this may run beside the thread that owns it.
        yield read_line(capture.record_bytes(message)).raw
        return
    start, stop = span
    while start < stop:
        part = capture.line_part(message, start, min(_PART, stop - start))
        if not part:
            raise OSError(f"{capture.sources[int(capture.columns['source'][message])].name} has become shorter")
        yield part
        start += len(part)


def _span(capture: Capture, message: int) -> tuple[int, int] | None:
    """Where the message lies in its line, if that is known without reading it: all of it, or a capture's frame."""
    length, size = (int(capture.columns[name][message]) for name in ("length", "size"))
    if length == size:
        return 0, length
    head = capture.line_part(message, 0, HEAD)
    frame = _OUR_FRAME.match(head)
    if frame is not None and frame.end() + size + 1 == length and completed(head) is not None:
        return frame.end(), length - 1
    return None


def save_message(capture: Capture, message: int, path: Path) -> int:
    """Write a message's exact bytes to a file, in place of what is there, and return how many there were.

    Raises:
        OSError: the file cannot be written or the log cannot be read; what was there before stays.
    """
    written = 0
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in exact_parts(capture, message):
                written += file.write(part)
        if path.exists():
            Path(name).chmod(path.stat().st_mode & 0o777)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return written
