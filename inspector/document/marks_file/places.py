"""Places of marks files, atomic replacement, and a lock between programs.

An index in the user's data folder (`index.json`) maps captures to marks, so that a moved or renamed log finds its marks
again.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator, Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec

from inspector.base import atomic_files
from inspector.base.file_lock import FileLock
from inspector.base.paths import data_folder
from inspector.store.files.capture_folder import MARKS_SUFFIX

_FOLDER = "marks"
_INDEX = "index.json"
_LOCK = "marks.lock"
_LOCK_S = 10.0
"""Timeout of the lock in seconds; a write takes some milliseconds."""
_OWN_PLACES = 4
_LONGEST_NAME = 120
_MOST_KNOWN = 1_000
_MOST_BYTES = 4 << 20
_MOST_BESIDE = 100
"""Limit of marks files examined in a capture's folder, for a renamed one."""


def beside_capture(capture: Path) -> Path:
    """Returns the path of marks beside a capture."""
    return capture.with_name(capture.name + MARKS_SUFFIX)


def capture_of(marks: Path) -> Path:
    """Returns the capture of marks beside it."""
    return marks.with_name(marks.name.removesuffix(MARKS_SUFFIX))


def own_folder() -> Path:
    """Returns the folder for marks that cannot be beside their capture, existing or not."""
    return data_folder() / _FOLDER


def places_of(home: Path | None, first: str) -> tuple[Path, ...]:
    """Returns possible places of a capture's marks: beside it, then in the user's data folder.

    There are several of the latter, since another capture may occupy one. A file has one place for marks, however many
    links lead to it.

    Args:
        home: the capture's file, if permanent.
        first: digest of its first message.
    """
    return _places_of(Path(os.path.realpath(home)) if home is not None else None, first)


def read_places_of(home: Path | None, first: str) -> tuple[Path, ...]:
    """Returns the places to read marks from, including places beside a link to the capture."""
    return tuple(dict.fromkeys((*places_of(home, first), *_places_of(home, first))))


def _places_of(home: Path | None, first: str) -> tuple[Path, ...]:
    beside = [beside_capture(home)] if home is not None else []
    home_bytes = os.fsencode(os.path.realpath(home)) if home is not None else b""
    # Truncated in bytes, as file systems limit names in bytes.
    name = os.fsdecode(os.fsencode(home.name)[:_LONGEST_NAME]) if home is not None else "input"
    # Path and first message together: equal names and rotated logs stay apart.
    key = blake2b(home_bytes + f"\n{first}".encode(), digest_size=6).hexdigest()
    turns = ["", *(f"-{turn}" for turn in range(2, _OWN_PLACES + 1))]
    return (*beside, *(own_folder() / f"{name}-{key}{turn}{MARKS_SUFFIX}" for turn in turns))


def replace_whole(place: Path, data: bytes) -> None:
    """Writes a marks file atomically; creates our folder if it is missing.

    Raises:
        OSError: it could not be written; the old file is unchanged.
    """
    if place.parent == own_folder():
        place.parent.mkdir(mode=0o700, exist_ok=True)
    atomic_files.replace_file(place, data)


def remove_marks(place: Path) -> None:
    """Removes a marks file and keeps links to it. A file with another extension is not ours and stays.

    Raises:
        OSError: it could not be removed.
    """
    if place.name.endswith(MARKS_SUFFIX):
        Path(os.path.realpath(place)).unlink(missing_ok=True)


@contextlib.contextmanager
def marks_lock() -> Generator[None]:
    """Holds the lock on marks against other windows and processes of this user.

    Raises:
        OSError: another process holds it too long.
    """
    try:
        own_folder().mkdir(mode=0o700, exist_ok=True)
        lock = FileLock.acquire(own_folder() / _LOCK, _LOCK_S)
    except OSError:  # without a place for the lock, write without it
        yield
        return
    if lock is None:
        raise OSError(errno.EBUSY, "another window is writing marks")
    try:
        yield
    finally:
        lock.release()


# Index of marks by capture


class _Known(msgspec.Struct):
    first: str
    """Digest of the capture's first message."""
    marks: str
    capture: str = ""


class _Index(msgspec.Struct):
    ctxindex: int
    known: list[_Known] = []


def record_place(first: str, marks: Path, capture: Path | None) -> None:
    """Records the place of a capture's marks; a failure only affects the search after a move.

    Call it while `marks_lock`.
    """
    home = os.path.realpath(capture) if capture is not None else ""
    one = _Known(first, os.fspath(marks.absolute()), home)
    index = _read_index()
    if index[:1] == [one]:
        return
    others = [known for known in index if known.marks != one.marks]
    with contextlib.suppress(OSError, UnicodeError):
        replace_whole(own_folder() / _INDEX, msgspec.json.encode(_Index(1, [one, *others][:_MOST_KNOWN])))


def known_elsewhere(first: str, home: Path | None, but: Iterable[Path]) -> list[tuple[Path, Path | None]]:
    """Returns possible marks files under earlier names, each with its original capture.

    Args:
        first: digest of the first message.
        home: present path of the capture.
        but: its expected places.
    """
    seen = {os.fspath(place.absolute()) for place in but}
    found: list[tuple[Path, Path | None]] = []
    for known in _read_index():
        if known.first == first and known.marks not in seen and _is_place(known):
            seen.add(known.marks)
            found.append((Path(known.marks), Path(known.capture) if known.capture else None))
    if home is not None:
        with contextlib.suppress(OSError):
            beside = sorted(home.absolute().parent.glob(f"*{MARKS_SUFFIX}"))[:_MOST_BESIDE]
            found += [(file, capture_of(file)) for file in beside if os.fspath(file) not in seen]
    return found


def _is_place(known: _Known) -> bool:
    """Returns True if an indexed place is plausible: beside the capture or in our folder.

    Anybody may have written the index. Files elsewhere must not be taken over and removed.
    """
    marks = Path(known.marks)
    if not marks.name.endswith(MARKS_SUFFIX):
        return False
    folder = os.path.realpath(marks.parent)
    beside = bool(known.capture) and folder == os.path.realpath(Path(known.capture).parent)
    return beside or folder == os.path.realpath(own_folder())


def _read_index() -> list[_Known]:
    try:
        with (own_folder() / _INDEX).open("rb") as stream:
            index = msgspec.json.decode(stream.read(_MOST_BYTES), type=_Index)
    except (OSError, ValueError, RecursionError):
        return []
    usable = [known for known in index.known if "\0" not in known.marks + known.capture]
    return usable if index.ctxindex == 1 else []
