"""Where files of marks lie, how one is replaced as a whole, and what keeps two programs from writing at once.

A list among the user's data (`index.json`) says which marks are of which capture, so that a log that was moved or
renamed finds its marks again.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator, Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec

from inspector.base import whole_file
from inspector.base.held_file import Lock
from inspector.base.paths import data_folder
from inspector.store.files.capture_folder import MARKS_SUFFIX

_FOLDER = "marks"
_INDEX = "index.json"
_LOCK = "marks.lock"
_LOCK_S = 10.0
"""A write takes some milliseconds; whoever holds the lock for longer hangs."""
_OWN_PLACES = 4
_LONGEST_NAME = 120
_MOST_KNOWN = 1_000
_MOST_BYTES = 4 << 20
_MOST_BESIDE = 100
"""So many files of marks in a capture's folder are looked at for those of a renamed one."""


def beside_capture(capture: Path) -> Path:
    """Where the marks of a capture's file lie."""
    return capture.with_name(capture.name + MARKS_SUFFIX)


def capture_of(marks: Path) -> Path:
    """The capture that marks beside one are of."""
    return marks.with_name(marks.name.removesuffix(MARKS_SUFFIX))


def own_folder() -> Path:
    """Where marks lie that cannot lie beside their capture; it may not exist."""
    return data_folder() / _FOLDER


def places_of(home: Path | None, first: str) -> tuple[Path, ...]:
    """Where the marks of a capture may lie: beside it, else among the user's data.

    There are several of the latter, as one may hold what is of another capture. However many links lead to a file, it
    has its marks in one place.

    Args:
        home: the capture's file; None where there is none that stays.
        first: what its first message is known by.
    """
    return _places_of(Path(os.path.realpath(home)) if home is not None else None, first)


def read_places_of(home: Path | None, first: str) -> tuple[Path, ...]:
    """Where to look for marks: the places they belong to, and those beside a link to the capture."""
    return tuple(dict.fromkeys((*places_of(home, first), *_places_of(home, first))))


def _places_of(home: Path | None, first: str) -> tuple[Path, ...]:
    beside = [beside_capture(home)] if home is not None else []
    home_bytes = os.fsencode(os.path.realpath(home)) if home is not None else b""
    name = os.fsdecode(os.fsencode(home.name)[:_LONGEST_NAME]) if home is not None else "input"
    key = blake2b(home_bytes + f"\n{first}".encode(), digest_size=6).hexdigest()
    turns = ["", *(f"-{turn}" for turn in range(2, _OWN_PLACES + 1))]
    return (*beside, *(own_folder() / f"{name}-{key}{turn}{MARKS_SUFFIX}" for turn in turns))


def replace_whole(place: Path, data: bytes) -> None:
    """Write a file of marks; the folder of those kept apart is made where it is not there.

    Raises:
        OSError: it could not be written; an earlier one is untouched.
    """
    if place.parent == own_folder():
        place.parent.mkdir(mode=0o700, exist_ok=True)
    whole_file.replace_whole(place, data)


def remove(place: Path) -> None:
    """Remove a file of marks; a link to one stays. What is named otherwise was made by somebody else and stays, too.

    Raises:
        OSError: it could not be removed.
    """
    if place.name.endswith(MARKS_SUFFIX):
        Path(os.path.realpath(place)).unlink(missing_ok=True)


@contextlib.contextmanager
def writing_alone() -> Generator[None]:
    """While this is open no other window or process of this user writes marks.

    Raises:
        OSError: another one does not come to an end.
    """
    try:
        own_folder().mkdir(mode=0o700, exist_ok=True)
        lock = Lock.take(own_folder() / _LOCK, _LOCK_S)
    except OSError:  # no place for a lock: what can be written is written all the same
        yield
        return
    if lock is None:
        raise OSError(errno.EBUSY, "another window is writing marks")
    try:
        yield
    finally:
        lock.release()


# Which marks are of which capture


class _Known(msgspec.Struct):
    first: str
    """What the first message of the capture is known by."""
    marks: str
    capture: str = ""


class _Index(msgspec.Struct):
    ctxindex: int
    known: list[_Known] = []


def remember(first: str, marks: Path, capture: Path | None) -> None:
    """Note where the marks of a capture lie now; a failure costs no more than finding them after a move.

    Call it while nobody else writes (`writing_alone`).
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
    """Files that may hold the marks of a capture under an earlier name: each with the capture it was written for.

    Args:
        first: what its first message is known by.
        home: where the capture lies now.
        but: where its marks lie by rights.
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
    """Whether marks may lie where the list says, which anybody may have written: beside the capture, or in our folder.

    What lies elsewhere is no file of ours to be taken over and removed.
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
