"""Writing a ``.ctxcap`` capture: append-only JSON Lines, one record a line (design.md 4).

Owns the file's bytes and nothing else: it decides how a frame is written down so that it can be read back exactly, and
when it reaches the operating system. It does not read captures, and it does not know what a frame means.

The lines::

    {"ctxcap":1,"created":"2026-01-05T09:00:00.000Z","origin":{...}}
    {"t":1767603600000000000,"dir":"in","src":0,"frame":{"kind":"chat",...}}
    {"t":1767603600100000000,"dir":"in","src":0,"bin":true,"text":"#stream-1#abc"}
    {"t":1767603600200000000,"dir":"in","src":0,"bin":true,"b64":"/wA="}
    {"t":1767603600300000000,"src":0,"mark":"closed","reason":"..."}

``t`` is nanoseconds since the Unix epoch. The frame is always the line's last member, so its exact bytes are a slice of
the line. ``bin`` is present, and true, when the frame arrived as bytes (a binary WebSocket message).
"""

from __future__ import annotations

import base64
import json
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

CTXCAP_VERSION = 1
"""The number in the header line."""

WRITE_THROUGH_BYTES = 1 << 20
"""Above this many buffered bytes a frame is handed to the operating system without waiting for ``flush``."""

# Checks the grammar without building objects: 0.3 µs for a 300-byte envelope, a fifth of a full decode.
_json_grammar = msgspec.json.Decoder(msgspec.Raw)


class CaptureWriter:
    """Appends frames and marks to one capture file.

    Nothing is ever dropped: bytes the operating system refused stay buffered, and the next ``flush`` tries them again.
    All calls belong on one thread.

    Attributes:
        path: The file written to.
    """

    def __init__(self, path: Path, *, origin: dict[str, object], resume: bool = False) -> None:
        """Open the file and write the header line at once.

        Args:
            path: Created with mode 0600; its folder must exist.
            origin: What the frames come from, for the header. Must not hold secrets.
            resume: Go on with an existing capture. A line that a crash left torn is ended first, so that it stays one
                unreadable record and does not spoil the next.

        Raises:
            FileExistsError: The file holds something already and ``resume`` is false; it is left as it is.
            OSError: The file cannot be created or written.
        """
        self.path: Path = path
        self._buffer: list[bytes] = []
        self._buffered_bytes: int = 0
        self._failing: bool = False
        self._fd: int = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        try:
            size = os.fstat(self._fd).st_size
            if size and not resume:
                raise FileExistsError(f"{path} already holds {size:,} bytes: choose another name or move it away.")
            if hasattr(os, "fchmod"):
                os.fchmod(self._fd, 0o600)
            if size:
                os.lseek(self._fd, size - 1, os.SEEK_SET)
                if os.read(self._fd, 1) != b"\n":
                    self._append(b"\n")
            else:
                self._append(_header_line(origin))
            self.flush()
        except BaseException:
            os.close(self._fd)
            self._fd = -1
            raise

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._fd < 0

    def frame(self, data: str | bytes, *, direction: Literal["in", "out"], time_ns: int, src: int = 0) -> None:
        """Add one frame as it was received or sent.

        Args:
            data: ``str`` for a text message, ``bytes`` for a binary one; read back equal, type included.
            direction: ``in`` for received, ``out`` for sent by us.
            time_ns: Arrival or sending time, nanoseconds since the Unix epoch.
            src: Number of the source within this capture.

        Raises:
            ValueError: The writer is closed.
        """
        member = _frame_member(data)
        marker = b',"bin":true' if isinstance(data, bytes) else b""
        self._append(b'{"t":%d,"dir":"%s","src":%d%s,%s}\n' % (time_ns, direction.encode(), src, marker, member))

    def mark(self, name: str, *, time_ns: int, src: int = 0, **facts: object) -> None:
        """Add a marker.

        Args:
            name: ``opened``, ``closed`` or ``gap``.
            time_ns: When, nanoseconds since the Unix epoch.
            src: Number of the source within this capture.
            facts: Further members, JSON values without secrets; anything else is written as its ``str``.

        Raises:
            ValueError: The writer is closed.
        """
        self._append(_json_line({"t": time_ns, "src": src, "mark": name} | facts))

    def flush(self) -> None:
        """Hand everything buffered to the operating system. Callers do this at least ten times a second.

        Raises:
            OSError: The file could not be written; its text says what, where, and what to do. Nothing is lost: the
                bytes stay buffered and the next call tries again.
        """
        if self._fd < 0 or not self._buffer:
            return
        pending = memoryview(b"".join(self._buffer))
        written = 0
        try:
            while written < len(pending):
                written += os.write(self._fd, pending[written:])
        except OSError as error:
            self._buffer = [bytes(pending[written:])]
            self._buffered_bytes = len(pending) - written
            self._failing = True
            self._raise_write_error(error)
        self._buffer = []
        self._buffered_bytes = 0
        self._failing = False

    def close(self) -> None:
        """Flush and close the file; a second call does nothing.

        Raises:
            OSError: The last bytes could not be written. The file is closed all the same.
        """
        if self._fd < 0:
            return
        try:
            self.flush()
        finally:
            os.close(self._fd)
            self._fd = -1

    def _append(self, line: bytes) -> None:
        if self._fd < 0:
            raise ValueError(f"the capture {self.path} is closed")
        self._buffer.append(line)
        self._buffered_bytes += len(line)
        if self._buffered_bytes > WRITE_THROUGH_BYTES and not self._failing:
            try:
                self.flush()
            except OSError:
                # Kept in the buffer; the caller's next flush() tries again and raises.
                self._failing = True

    def _raise_write_error(self, error: OSError) -> NoReturn:
        said = OSError(
            f"Could not write the capture {self.path}: {error.strerror or error}. "
            f"{self._buffered_bytes:,} bytes are kept in memory and not yet on disk; free some space or save elsewhere."
        )
        said.errno = error.errno
        raise said from error


def _header_line(origin: dict[str, object]) -> bytes:
    created = datetime.fromtimestamp(time.time_ns() / 1e9, UTC).isoformat(timespec="milliseconds")
    return _json_line({"ctxcap": CTXCAP_VERSION, "created": created.replace("+00:00", "Z"), "origin": origin})


def _json_line(value: dict[str, Any]) -> bytes:
    # Escaped to ASCII, so that a lone surrogate in a fact cannot fail.
    return json.dumps(value, separators=(",", ":"), default=str).encode() + b"\n"


def _frame_member(data: str | bytes) -> bytes:
    """Return ``"frame":...``, ``"text":...`` or ``"b64":...``, the first of these that reads back exactly."""
    raw: bytes
    text: str
    if isinstance(data, str):
        text = data
        try:
            raw = data.encode()
        except UnicodeEncodeError:  # a lone surrogate: no bytes stand for it, JSON's escape does
            return b'"text":' + json.dumps(data).encode()
    else:
        raw = data
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return b'"b64":"' + base64.b64encode(data) + b'"'
    if _is_json_line(raw):
        return b'"frame":' + raw
    return b'"text":' + json.dumps(text, ensure_ascii=False).encode()


def _is_json_line(raw: bytes) -> bool:
    """Whether UTF-8 text is exactly one JSON object or array, without a newline or anything around it."""
    if raw[:1] + raw[-1:] not in (b"{}", b"[]") or b"\n" in raw or b"\r" in raw:
        return False
    try:
        _json_grammar.decode(raw)
    except msgspec.DecodeError:
        return rb"\ud" in raw.lower() and _is_json_with_surrogates(raw)
    except RecursionError:  # nested so deeply that readers would fail on the whole line
        return False
    return True


def _is_json_with_surrogates(raw: bytes) -> bool:
    # protocols.md 16: a lone \ud800 survives the gateway's re-serialising. It is good JSON which msgspec refuses.
    try:
        json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
