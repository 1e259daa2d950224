"""Single instance per user and display: listening place, lock, and handover of a second start's request.

It uses a socket in the user's own runtime folder, never the network. The module is light and free of Qt: a second start
imports it, hands over and ends. The first instance holds the lock beside the socket; the system releases it when the
process dies. So the next start takes over after a crash. `ui/app/single_instance.py` is the first instance's side.

    first:  {"context-inspector": 1, "build": "187ac1b0f2d4a311-23f1c"}
    second: {"targets": ["/var/log/a.jsonl"], "folder": "/var/log", "new_window": false, "token": ""}
    first:  taken

The second start sends no data before it has received the greeting: without one, no file can be opened twice. With a
greeting of another build, as after an upgrade, the second start runs separately.
"""

from __future__ import annotations

import contextlib
import enum
import json
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from inspector.base.file_lock import FileLock
from inspector.base.targets import SESSION_PREFIX, folder_view, target_path


def _build() -> str:
    """Returns an identity of the code on disk, to detect an upgrade since the start."""
    try:
        found = Path(__file__).stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns:x}-{found.st_ino:x}"


GREETING = json.dumps({"context-inspector": 1, "build": _build()}).encode() + b"\n"
ACCEPTED = b"taken\n"
MAX_REQUEST_BYTES = 256 << 10
"""Limit of a request in bytes."""
MAX_TARGETS = 100
_LONGEST_TARGET = 8_192
_LONGEST_TOKEN = 512
_LONGEST_PATH = 100
"""Bytes that fit into the address of a Unix socket on every system."""
# Wayland's token, and X11's. Without one, a desktop refuses to raise a window of another process.
_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")
_SCHEMES = ("ws://", "wss://")
_RETRY_S = 0.05
HANDOVER_TIMEOUT_S = 4.0
"""Seconds a second start waits for the first instance, which may be starting itself, or be busy."""
_QUICK_LIMIT_S = 2.0
"""Seconds of that wait before any other check."""


class HandoverOutcome(enum.Enum):
    """Result of a handover."""

    ACCEPTED = "taken"
    NOT_ACCEPTED = "no running window accepted it; no window was opened"
    NOT_ACKNOWLEDGED = "it was handed over, but not acknowledged"


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Request of a second start."""

    targets: tuple[str, ...] = ()
    """Absolute paths and addresses of gateways."""
    folder: str = ""
    """Working folder of the second start."""
    new_window: bool = False
    """Open a new window even if one is free."""
    token: str = ""
    """Desktop token that allows the first instance to raise its window; "" without one."""

    def encoded(self) -> bytes:
        """Returns one line of JSON. Paths that are not UTF-8 survive."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__}).encode() + b"\n"


def request_for(targets: Sequence[str], *, new_window: bool = False) -> OpenRequest:
    """Returns the request for command-line arguments, with the desktop's token of this process."""
    folder = _current_folder()
    token = next(filter(None, (os.environ.get(name, "") for name in _TOKENS)), "")
    return OpenRequest(tuple(_absolute(target, folder) for target in targets), folder, new_window, _plain_token(token))


def decode_request(line: bytes) -> OpenRequest | None:
    """Returns a request received over the socket, or None if it is invalid."""
    try:
        raw = json.loads(line)
        if not isinstance(raw, dict):
            return None
        targets, folder, token = raw.get("targets"), raw.get("folder"), raw.get("token")
    except (ValueError, RecursionError):
        return None
    # The limits refuse a request before any target is opened.
    if not isinstance(targets, list) or len(targets) > MAX_TARGETS or not all(map(_is_target, targets)):
        return None
    if not isinstance(folder, str) or len(folder) > _LONGEST_TARGET or not isinstance(token, str):
        return None
    return OpenRequest(tuple(map(str, targets)), folder, raw.get("new_window") is True, _plain_token(token))


def quick_request(words: Sequence[str]) -> OpenRequest | None:
    """Returns the request of a plain command line; None if the full parser is needed.

    Args:
        words: arguments without the program name.
    """
    words = list(words)
    if words[:1] == ["window"]:
        words = words[1:]
    elif words and words[0] != "--new-window" and not any(sign in words[0] for sign in "/.:\\"):
        return None  # it may be a command
    targets = [word for word in words if word != "--new-window"]
    if any(word.startswith("-") or not (word.startswith(_SCHEMES) or _is_file(word)) for word in targets):
        return None
    return request_for(targets, new_window="--new-window" in words)


def try_handover(request: OpenRequest) -> bool:
    """Returns True if a running instance has accepted the request, so that this process can end."""
    place = listening_place()
    return place is not None and hand_over(place, request, limit_s=_QUICK_LIMIT_S) is HandoverOutcome.ACCEPTED


def become_first_or_exit(request: OpenRequest) -> tuple[ListeningPlace, FileLock] | None:
    """Becomes the first instance, or hands over to the present one and ends this process.

    Args:
        request: of this process.

    Returns:
        The place to listen at; None if neither is possible, so that this process runs separately.

    Raises:
        SystemExit: after a handover, also an unacknowledged one.
    """
    place = listening_place()
    if place is None:
        return None
    lock = place.acquire_lock()
    if lock is not None:
        return place, lock
    outcome = hand_over(place, request, waits=True)
    if outcome is HandoverOutcome.ACCEPTED:
        raise SystemExit(0)
    if outcome is HandoverOutcome.NOT_ACKNOWLEDGED:
        raise SystemExit("Context Inspector is running but does not answer; --standalone starts another one.")
    return None


# Place


@dataclass(frozen=True, slots=True)
class ListeningPlace:
    """Listening place of the first instance of this user on this display."""

    socket: Path
    lock: Path

    def acquire_lock(self) -> FileLock | None:
        """Becomes the first instance; returns None if there is one, or if that is unknown."""
        try:
            return FileLock.acquire(self.lock)
        except OSError:
            return None


def listening_place() -> ListeningPlace | None:
    """Returns the listening place, if there is a folder that certainly belongs to the user alone.

    Instances with other settings, or on another display, have other places. Creates the folder.
    """
    parent = _runtime_folder()
    if parent is None:
        return None
    folder = parent / "context-inspector"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700)
    # Another user may have created the folder first and would receive the requests.
    if not _is_private_folder(folder):
        return None
    name = _instance_name()
    place = ListeningPlace(folder / f"{name}.socket", folder / f"{name}.lock")
    # Socket paths have a limit of about a hundred bytes.
    return place if len(os.fsencode(place.socket)) <= _LONGEST_PATH else None


def _runtime_folder() -> Path | None:
    if sys.platform == "win32":  # Windows pipes have no protecting folder, so every start is a separate process
        return None
    named = os.environ.get("TMPDIR" if sys.platform == "darwin" else "XDG_RUNTIME_DIR", "")
    folder = Path(named)
    return folder if named and folder.is_absolute() and _is_private_folder(folder) else None


def _is_private_folder(folder: Path) -> bool:
    """Returns True if it is this user's folder with access for no other."""
    if sys.platform == "win32":
        return False
    try:
        found = folder.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _instance_name() -> str:
    """Returns a hash of the user's folders and the display, since instances that differ in them must not connect."""
    # `:0` and `:0.0` are the same display.
    display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY", "").removesuffix(".0")
    folders = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    names = ("CONTEXT_INSPECTOR_HOME", *folders, "HOME", "QT_QPA_PLATFORM")
    parts = [display, *(os.environ.get(name, "") for name in names)]
    return blake2b(os.fsencode("\0".join(parts)), digest_size=8).hexdigest()


# Handover


def hand_over(
    place: ListeningPlace, request: OpenRequest, *, waits: bool = False, limit_s: float = HANDOVER_TIMEOUT_S
) -> HandoverOutcome:
    """Hands a request to the first instance.

    Args:
        place: its listening place.
        request: the request.
        waits: retry, since the first instance may not listen yet.
        limit_s: total timeout.
    """
    line, until = request.encoded(), time.monotonic() + limit_s
    # The first instance would refuse it; a process of its own can open everything.
    if len(line) > MAX_REQUEST_BYTES or len(request.targets) > MAX_TARGETS or sys.platform == "win32":
        return HandoverOutcome.NOT_ACCEPTED
    while True:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as first:
            first.settimeout(max(0.01, until - time.monotonic()))
            try:
                first.connect(str(place.socket))
            except OSError:
                if not waits or time.monotonic() > until:
                    return HandoverOutcome.NOT_ACCEPTED
            else:
                return _exchange(first, line, until)
        time.sleep(_RETRY_S)


def _exchange(first: socket.socket, line: bytes, until: float) -> HandoverOutcome:
    # The peer's user is checked, since a path alone does not prove it.
    if not is_own_user(first):
        return HandoverOutcome.NOT_ACCEPTED
    try:
        if _line_from(first, until) != GREETING:
            return HandoverOutcome.NOT_ACCEPTED
        first.sendall(line)
    except OSError:  # it ended, or is busy for long: it has not seen the request
        return HandoverOutcome.NOT_ACCEPTED
    try:
        # It has the request now, so a second start would open the targets twice.
        return (
            HandoverOutcome.ACCEPTED
            if _line_from(first, max(until, time.monotonic() + 1)) == ACCEPTED
            else HandoverOutcome.NOT_ACCEPTED
        )
    except TimeoutError:
        return HandoverOutcome.NOT_ACKNOWLEDGED
    except OSError:
        return HandoverOutcome.NOT_ACCEPTED


def _line_from(first: socket.socket, until: float) -> bytes:
    """Returns one short line; empty or partial if the connection closed.

    Raises:
        OSError: if it did not arrive; TimeoutError if it is only late.
    """
    line = b""
    while not line.endswith(b"\n") and len(line) < len(GREETING):
        first.settimeout(max(0.01, until - time.monotonic()))
        # One byte at a time: the bytes after the line end belong to the next message.
        part = first.recv(1)
        if not part:
            break
        line += part
    return line


def is_own_user(connected: socket.socket) -> bool:
    """Returns True if the peer process is this user's; without peer credentials the folder guarantees it."""
    if sys.platform == "win32" or not hasattr(socket, "SO_PEERCRED"):
        return True
    try:
        peer = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        return False
    return struct.unpack("3i", peer)[1] == os.geteuid()


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):  # too long, or with a character that no file name has
        return False


def _current_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # deleted meanwhile
        return ""


def _absolute(target: str, folder: str) -> str:
    if target.startswith((*_SCHEMES, SESSION_PREFIX)) or folder_view(target) is not None:
        return target
    return os.path.normpath(Path(folder) / target)


def _is_target(value: object) -> bool:
    if not isinstance(value, str) or not value or len(value) > _LONGEST_TARGET or "\0" in value:
        return False
    return value.startswith(_SCHEMES) or target_path(value).is_absolute()


def _plain_token(token: str) -> str:
    return token if len(token) <= _LONGEST_TOKEN and token.isascii() and token.isprintable() else ""
