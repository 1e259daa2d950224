"""Files that name the places of running recorders.

A recorder listens at an address of the user's own, never on a port. A file in the data folder names the address and its
key, so that another engine can continue after the end of the first.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from inspector.base.atomic_files import replace_file
from inspector.base.paths import data_folder


class Place(msgspec.Struct, frozen=True):
    """Place of a running recorder.

    Attributes:
        device, inode: identity of its capture file, also after a rename.
        address, key: for `multiprocessing.connection.Client`.
    """

    device: int
    inode: int
    address: str
    key: bytes

    def __repr__(self) -> str:
        return f"Place({self.address!r})"


def recorders_folder() -> Path:
    """Returns the folder with a file for each running recorder; creates it."""
    folder = data_folder() / "recorders"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def place_file(pid: int) -> Path:
    """Returns the file that names the place of a recorder."""
    return recorders_folder() / str(pid)


def read_place(file: Path) -> Place | None:
    """Returns the place that a file names, or None without one."""
    try:
        return msgspec.msgpack.decode(file.read_bytes(), type=Place)
    except (OSError, msgspec.MsgspecError):
        return None


def all_places() -> dict[Path, Place]:
    """Returns the places of all recorders by their files; killed recorders leave theirs."""
    try:
        files = list(recorders_folder().iterdir())
    except OSError:
        return {}
    return {file: place for file in files if (place := read_place(file)) is not None}


def find_places(capture: Path) -> dict[Path, Place]:
    """Returns the places of recorders of a capture by their files."""
    try:
        found = capture.stat()
    except OSError:
        return {}
    wanted = (found.st_dev, found.st_ino)
    return {file: one for file, one in all_places().items() if (one.device, one.inode) == wanted}


def remove_place(file: Path, place: Place) -> None:
    """Removes the file of a recorder that has ended, and the folder of its socket."""
    with contextlib.suppress(OSError):
        file.unlink()
        if os.name != "nt":
            Path(place.address).unlink()
            Path(place.address).parent.rmdir()


def write_place(file: Path, place: Place) -> None:
    """Writes the file of a place, readable by the user alone. Raises OSError."""
    replace_file(file, msgspec.msgpack.encode(place), sync=False)
