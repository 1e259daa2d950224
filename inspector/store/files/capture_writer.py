"""Writes a ``.ctxcap`` capture on a thread: append-only JSON Lines, stalls and move to another file.

Owns the file's bytes only: the time of writing, errors of the operating system, and the move to another file. It does
not read captures or interpret frames.

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
import errno
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import msgspec

# Lossless encoding of one frame in a capture (docs/design.md 4). No I/O.

# Checks the grammar without building objects: 0.25 µs for a 400-byte envelope, a fifth of a full decode.
_check_grammar = msgspec.json.Decoder(msgspec.Raw).decode


def frame_member(data: str | bytes) -> tuple[str, str]:
    """Returns the end of a frame's line as two parts to be joined; the second may be long.

    Returns:
        ``"frame":`` and the frame as it is, else ``"text":`` and a JSON string, else ``"b64":`` and one; a binary frame
        starts with ``"bin":true``. Every part can be encoded as UTF-8.
    """
    marker = ""
    if not isinstance(data, str):
        marker = '"bin":true,'
        try:
            data = data.decode()
        except UnicodeDecodeError:
            return f'{marker}"b64":', f'"{base64.b64encode(data).decode("ascii")}"'
    if is_json_line(data):
        return f'{marker}"frame":', data
    try:
        data.encode()
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8 bytes, but a JSON escape
        return f'{marker}"text":', json.dumps(data)
    return f'{marker}"text":', json.dumps(data, ensure_ascii=False)


def is_json_line(text: str) -> bool:
    """Returns True if the text is exactly one JSON object or array, without a newline or surrounding blanks."""
    if not text.endswith("}" if text.startswith("{") else "]") or not text.startswith(("{", "[")):
        return False
    if "\n" in text or "\r" in text:
        return False
    try:
        # msgspec would encode non-ASCII text itself, more slowly, and keep the result.
        _check_grammar(text if text.isascii() else text.encode())
    except UnicodeEncodeError:
        return False
    except msgspec.DecodeError:
        return r"\ud" in text.lower() and _is_json_with_surrogates(text)
    except RecursionError:  # nested so deeply that readers would fail on the line
        return False
    return True


def _is_json_with_surrogates(text: str) -> bool:
    # docs/protocols.md 16: a lone \ud800 survives the gateway's re-serialising. It is valid JSON, but msgspec refuses
    # it.
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


CTXCAP_VERSION = 1
"""Format version in the header line."""

Direction: TypeAlias = Literal["in", "out", "client->server", "server->client"]
"""Direction of a frame: relative to this program, or between two other parties."""

WRITE_THROUGH_CHARS = 1 << 20
"""Pending characters above which a frame is written immediately."""

WRITE_THROUGH_S = 0.01
"""Seconds between two writes in the background. ``kill -9`` loses newer frames; docs/design.md 7 allows 0.1 s."""

PAUSE_CHARS = 1 << 25
"""Pending characters above which a socket's reader should pause."""

MAX_PENDING_CHARS = 1 << 28
"""Pending characters above which the capture ends: more than twice the largest frame, one pending and one arriving."""

STALLED_S = 10.0
"""Seconds without progress after which the disk counts as stalled."""

# Progress is noted per piece, so that a slow write of much data does not count as stalled.
_PIECE_BYTES = 1 << 22

_NO_ANSWER = "The disk does not answer"
# Time and direction of a line; its data, which may contain the same words, come later.
_HEAD_CHARS = 48
_RECEIVED = '"dir":"in"'
_JOINED_CHARS = 1 << 16
_APPENDING = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
_THREAD_ENDS_S = 5.0


class CaptureWriter:
    """Appends frames and marks to one capture file.

    Refused bytes are kept and retried, or go to another file with ``switch_to_file``. A partial write is truncated, so
    that the file holds whole lines. Call it from one thread. With ``background`` its own thread writes, so that a busy
    loop does not delay the file and a slow disk does not delay the loop.

    Attributes:
        path: The file written to.
        error: Error of the last write, or None. In the background it remains until ``close`` or ``switch_to_file``: the
            capture has stopped.
        on_pending: Called when the first pending item is added, on the adding thread.
        dropped_count: Number of frames and marks dropped because more than ``MAX_PENDING_CHARS`` were pending.
    """

    def __init__(
        self, path: Path, *, origin: dict[str, object], resume: bool = False, background: bool = False
    ) -> None:
        """Opens the file and writes the header line.

        Args:
            path: Created with mode 0600; its folder must exist.
            origin: Origin of the frames, for the header. Must not hold secrets.
            resume: Continue an existing capture. A torn last line is terminated first, so that it remains one
                unreadable
                record and does not damage the next.
            background: Write in a thread, at most fifty times a second, until ``close``.

        Raises:
            FileExistsError: If the file has contents and ``resume`` is false; it is left unchanged.
            OSError: If the file cannot be created or written.
        """
        self.path: Path = path
        self.error: OSError | None = None
        self.dropped_count: int = 0
        self._pending_lines: deque[str | tuple[str, str]] = deque()
        self._added_chars: int = 0
        self._taken_chars: int = 0
        self._crowded_at: int = WRITE_THROUGH_CHARS
        self._unwritten: bytes = b""
        # The background thread and `flush` both write, but never at once.
        self._writing = threading.Lock()
        self._write_started: float | None = None  # start of the write in progress
        self.on_pending: Callable[[], None] | None = None
        self._wake: threading.Event | None = None
        self._write_requested = threading.Event()
        self._ending = False
        self._fd: int = os.open(path, _APPENDING | os.O_CREAT, 0o600)
        try:
            self._size: int = os.fstat(self._fd).st_size
            if self._size and not resume:
                raise FileExistsError(
                    f"{path} already holds {self._size:,} bytes. Choose another name, or move it away."
                )
            if hasattr(os, "fchmod"):
                # A file that existed before may be readable by others; the mode of `open` applies
                # to new ones only.
                os.fchmod(self._fd, 0o600)
            if not self._size:
                self._append(_header_line(origin))
            # A crash left half a line; the next one must not join it.
            elif self._is_torn():
                self._append("\n")
            self.flush()
        # Also for an interrupt: no other code knows this descriptor.
        except BaseException:
            os.close(self._fd)
            self._fd = -1
            raise
        if background:
            self._wake = threading.Event()
            self._thread = threading.Thread(target=self._keep_writing, name=f"write {path.name}", daemon=True)
            self._thread.start()

    @property
    def closed(self) -> bool:
        """True after ``close``."""
        return self._fd < 0

    @property
    def is_deleted(self) -> bool:
        """True if the file has no name any more. Windows deletes no open file."""
        return self._fd >= 0 and os.fstat(self._fd).st_nlink == 0

    @property
    def size_bytes(self) -> int:
        """Written size of the file in bytes."""
        return self._size

    @property
    def pending_chars(self) -> int:
        """Pending characters."""
        return self._added_chars - self._taken_chars + len(self._unwritten)

    @property
    def should_pause(self) -> bool:
        """True if so much is pending that readers should pause."""
        return self.error is None and self.pending_chars > PAUSE_CHARS

    def check_stall(self) -> None:
        """Sets ``error`` if too much is pending and the disk makes no progress. Called now and then."""
        if self.should_pause and self._is_stalled():
            self.error = self._write_error(errno.EIO, _NO_ANSWER)

    def _is_stalled(self) -> bool:
        since = self._write_started
        return since is not None and time.monotonic() - since > STALLED_S

    def count_pending_messages(self) -> int:
        """Counts pending received frames; O(pending), for use at the end."""
        lines = [line if isinstance(line, str) else line[0] for line in list(self._pending_lines)]
        rest = [line[:_HEAD_CHARS].decode(errors="replace") for line in self._unwritten.splitlines()]
        return sum(_RECEIVED in line[:_HEAD_CHARS] for line in [*rest, *lines])

    def add_frame(self, data: str | bytes, *, direction: Direction, time_ns: int, src: int = 0) -> None:
        """Adds one frame as received or sent. About 1 µs for 400 B.

        Args:
            data: ``str`` for a text message, ``bytes`` for a binary one; the reader returns an equal value of the same
                type.
            direction: ``in`` for received, ``out`` for sent by this program; else between two parties.
            time_ns: Arrival or sending time, nanoseconds since the Unix epoch.
            src: Number of the source within this capture.

        Raises:
            ValueError: If the writer is closed.
        """
        if isinstance(data, str) and len(data) <= _JOINED_CHARS and is_json_line(data):
            self._append(f'{{"t":{time_ns},"dir":"{direction}","src":{src},"frame":{data}}}\n')
            return
        member, value = frame_member(data)
        self.add_line(f'{{"t":{time_ns},"dir":"{direction}","src":{src},{member}', value)

    def add_line(self, head: str, value: str) -> None:
        """Adds a line of another format.

        Args:
            head: beginning of a JSON object, up to its last value.
            value: that value as JSON without a line end; the closing brace is added.

        Raises:
            ValueError: If the writer is closed.
        """
        # Not joined here: a copy of 50 MB would block the loop.
        self._append((head, value))
        if len(value) > WRITE_THROUGH_CHARS:
            self._write_soon()

    def add_mark(self, name: str, *, time_ns: int, src: int = 0, **facts: object) -> None:
        """Adds a marker.

        Args:
            name: ``opened``, ``closed`` or ``gap``.
            time_ns: Nanoseconds since the Unix epoch.
            src: Number of the source within this capture.
            facts: Further members, JSON values without secrets; other types are written as their ``str``.

        Raises:
            ValueError: If the writer is closed.
        """
        self._append(_json_line({"t": time_ns, "src": src, "mark": name} | facts))

    def flush(self) -> None:
        """Writes pending lines: at once, or shortly in the background.

        Raises:
            OSError: If the file could not be written; its text names the reason and the path. Pending lines are kept.
        """
        if self._fd < 0:
            return
        if self._wake is None:
            self._drain_queue()
        else:
            self._wake_thread()
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """Writes pending lines and closes the file; a second call has no effect.

        Raises:
            OSError: If the last bytes could not be written. The file is closed all the same.
        """
        if self._fd < 0:
            return
        self._end_thread()
        try:
            self.flush()
        finally:
            fd, self._fd, self._crowded_at = self._fd, -1, -1
            os.close(fd)

    def write_all_now(self) -> None:
        """Writes all pending lines on this thread; retries after an error.

        Raises:
            OSError: As ``flush``.
        """
        if self._fd >= 0:
            self._drain_queue()
            if self.error is not None:
                raise self.error

    def move_to(self, path: Path) -> None:
        """Notes that the file has another name."""
        self.path = path

    def switch_to_file(self, path: Path, *, copied: int, named: Path | None = None) -> None:
        """Continues in another file, with the pending lines; this file is left unchanged.

        Args:
            path: Contains the first ``copied`` bytes of this file; the rest is copied.
            copied: Bytes.
            named: Final path, replaced once the other file is complete.

        Raises:
            OSError: If the other file could not be written; this writer is unchanged.
            ValueError: If the writer is closed.
        """
        if self._fd < 0:
            raise ValueError(f"the capture {self.path} is closed")
        if self.error is None:
            self._drain_queue()  # else only the other file would contain it
        with self._writing:
            other = os.open(path, _APPENDING)
            try:
                size = self._copy_missing(other, copied)
            finally:
                os.close(other)
            if named is not None:
                path = path.replace(named)  # while it is closed: Windows refuses to replace an open file
            other = os.open(path, _APPENDING)
            os.close(self._fd)
            self._fd, self._size, self._unwritten = other, size, b""
            self.path, self.error = path, None

    def _copy_missing(self, other: int, copied: int) -> int:
        """Writes the missing and the pending bytes to another file; returns the resulting size."""
        from inspector.store.files.source_files import read_at  # imports numpy, which a tap does not need

        if copied > self._size:  # from a write that was truncated later
            os.ftruncate(other, self._size)
        while copied < self._size and (data := read_at(self._fd, copied, min(1 << 20, self._size - copied))):
            _write_all(other, data)
            copied += len(data)
        while self._pending_lines:
            self._unwritten += self._take_pending()
        _write_all(other, self._unwritten)
        return min(copied, self._size) + len(self._unwritten)

    # Adding

    def _append(self, line: str | tuple[str, str]) -> None:
        # One comparison for nearly all lines; `_accept_pending` decides about the rest.
        if self._added_chars > self._crowded_at and not self._accept_pending():
            return
        self._pending_lines.append(line)
        self._added_chars += len(line) if isinstance(line, str) else len(line[1])
        if len(self._pending_lines) == 1:  # checked after the append: the thread may have drained the queue meanwhile
            if self._wake is not None:
                self._wake.set()
            if self.on_pending is not None:
                self.on_pending()

    def _accept_pending(self) -> bool:
        """Decides about a line when much is pending; raises ValueError if the writer is closed."""
        if self._fd < 0:
            raise ValueError(f"the capture {self.path} is closed")
        # Much pending data ends the pause of the writing thread.
        self._write_soon()
        stopped = self.dropped_count > 0 and self.error is not None  # no line may follow a dropped one
        if not stopped and self._added_chars - self._taken_chars <= MAX_PENDING_CHARS:
            return True
        if self.error is None:
            why = _NO_ANSWER if self._is_stalled() else "More arrives than the disk takes"
            self.error = self._write_error(errno.EIO, why)
        self.dropped_count += 1
        return False

    def _write_soon(self) -> None:
        if self._wake is not None:
            self._wake_thread()
        elif self.error is None:
            self._drain_queue()

    def _wake_thread(self) -> None:
        """Wakes the thread for an immediate write."""
        assert self._wake is not None
        self._write_requested.set()
        self._wake.set()

    # Writing

    def _keep_writing(self) -> None:
        """Thread body: writes pending lines at a limited rate until the end."""
        wake = self._wake
        assert wake is not None
        while not self._ending:
            # Sleeps without a timeout, so that an idle capture costs no wake-ups.
            wake.wait()
            wake.clear()
            if self.error is None and (self._pending_lines or self._unwritten):
                self._drain_queue(again=False)
            # Unless urged, pauses after each write, so that many lines share one system call.
            self._write_requested.wait(WRITE_THROUGH_S)
            self._write_requested.clear()

    def _end_thread(self) -> None:
        if self._wake is not None:
            self._ending = True
            self._wake_thread()
            self._thread.join(_THREAD_ENDS_S)
            self._wake = None

    def _drain_queue(self, *, again: bool = True) -> None:
        """Writes until the queue is empty; a failure goes to ``error``.

        Args:
            again: A retry: success clears an earlier error.
        """
        # A write to a dead network drive may never return, so this wait has a limit.
        while not self._writing.acquire(timeout=_THREAD_ENDS_S):
            if self._is_stalled():  # else another thread writes a lot
                self.error = self._write_error(errno.EIO, _NO_ANSWER)
                return
        try:
            while self._unwritten or self._pending_lines:
                if not self._unwritten:
                    self._unwritten = self._take_pending()
                self._write_rest()
            if again or not self.dropped_count:  # no line may follow a dropped one
                self.error = None
        except OSError as error:
            self.error = self._write_error(error.errno, error.strerror or str(error))
        finally:
            self._write_started = None
            self._writing.release()

    def _write_error(self, number: int | None, why: str) -> OSError:
        said = OSError(f"The capture {self.path} could not be written: {why}.")
        said.errno = number
        return said

    def _take_pending(self) -> bytes:
        """Returns the encoded pending lines for one write."""
        lines: list[str] = []
        chars = 0
        while self._pending_lines and chars < WRITE_THROUGH_CHARS:
            line = self._pending_lines.popleft()
            if isinstance(line, tuple):
                lines += [*line, "}\n"]
                chars += len(line[1])
            else:
                lines.append(line)
                chars += len(line)
        # Encoding once for many lines is faster than encoding each.
        data = "".join(lines).encode()
        self._taken_chars += chars
        # Moved with the taken bytes, so that `_append` compares one number.
        self._crowded_at = self._taken_chars + WRITE_THROUGH_CHARS
        return data

    def _write_rest(self) -> None:
        rest = memoryview(self._unwritten)
        written = 0
        try:
            while written < len(rest):
                self._write_started = time.monotonic()
                written += os.write(self._fd, rest[written : written + _PIECE_BYTES])
        except OSError:
            # Truncate to whole lines, so that readers see the same records as the window and no torn line.
            whole = self._unwritten.rfind(b"\n", 0, written) + 1
            try:
                os.ftruncate(self._fd, self._size + whole)
            except OSError:
                whole = written
            self._size += whole
            self._unwritten = self._unwritten[whole:]
            raise
        self._size += written
        self._unwritten = b""

    def _is_torn(self) -> bool:
        os.lseek(self._fd, self._size - 1, os.SEEK_SET)
        return os.read(self._fd, 1) != b"\n"


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _header_line(origin: dict[str, object]) -> str:
    created = datetime.fromtimestamp(time.time_ns() / 1e9, UTC).isoformat(timespec="milliseconds")
    return _json_line({"ctxcap": CTXCAP_VERSION, "created": created.replace("+00:00", "Z"), "origin": origin})


def _json_line(value: dict[str, Any]) -> str:
    # ASCII escapes, so that a lone surrogate in a fact cannot fail.
    return json.dumps(value, separators=(",", ":"), default=str) + "\n"
