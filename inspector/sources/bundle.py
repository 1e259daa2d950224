"""Bundles: several sources in one capture file, as they were read (docs/several-sources.md).

A bundle is a tar archive: a list of sources as for separate files, then each source. A member's path treats the bundle
as a folder, `story.ctxcap/1/gateway.jsonl`, and it is read like an archive.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

LIST = "sources.ctxsources"
"""Name of the list, the first member of a bundle."""
_MAGIC_AT, _MAGIC = 257, b"ustar"
_HEADER_BYTES = 512
_MOST_MEMBERS = 10_000
LONGEST_LIST = 1 << 20
"""Limit of the list of sources in bytes."""
_STEP = 1 << 20


class Member(NamedTuple):
    """Place of a member in a bundle."""

    bundle: Path
    offset: int
    size: int


def is_bundle(path: Path) -> bool:
    """Returns True if a file is a bundle. Never raises."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except OSError:
        return False
    return head.startswith(LIST.encode() + b"\0") and head[_MAGIC_AT:].startswith(_MAGIC)


def member_at(path: Path) -> Member | None:
    """Returns the bundle member that a path names; None if there is no such bundle or member.

    Raises:
        OSError: it cannot be read.
    """
    for bundle in path.parents:
        if bundle.exists():
            return _members(bundle).get(path.relative_to(bundle).as_posix()) if is_bundle(bundle) else None
    return None


def read_list(path: Path) -> bytes:
    """Returns the list of sources in a bundle. Raises OSError."""
    member = _members(path).get(LIST)
    if member is None or member.size > LONGEST_LIST:
        raise OSError("its list of sources is damaged")
    with path.open("rb") as file:
        file.seek(member.offset)
        return file.read(member.size)


def _members(path: Path) -> dict[str, Member]:
    found: dict[str, Member] = {}
    try:
        with tarfile.open(path, "r:") as archive:
            for one in archive:
                if one.isreg() and one.size >= 0 and len(found) < _MOST_MEMBERS:
                    found.setdefault(one.name, Member(path, one.offset_data, one.size))
    except tarfile.TarError as error:
        raise OSError(f"it is damaged or not complete: {error}") from None
    return found


class Packed(NamedTuple):
    """A member to be written to a bundle."""

    name: str
    size: int
    read: Callable[[int, int], bytes]
    """Returns bytes at an offset."""


def write_bundle(file: BinaryIO, listed: bytes, packed: Iterable[Packed]) -> None:
    """Writes a bundle.

    Args:
        file: destination.
        listed: the list of its members.
        packed: the members.

    Raises:
        OSError: it cannot be written, or a member cannot be read.
    """
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(_header(LIST, len(listed)), io.BytesIO(listed))
        for one in packed:
            archive.addfile(_header(one.name, one.size), _OffsetReader(one))


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o600
    return header


class _OffsetReader:
    """File object over data that is read by offset."""

    def __init__(self, packed: Packed) -> None:
        self._packed, self._at = packed, 0

    def read(self, size: int = _STEP, /) -> bytes:
        """Returns the next bytes."""
        data = self._packed.read(self._at, min(size, self._packed.size - self._at))
        self._at += len(data)
        return data


def blocks_of(member: Member) -> Iterable[bytes]:
    """Yields the bytes of a member in blocks. Raises OSError."""
    left = member.size
    with member.bundle.open("rb", buffering=0) as file:
        file.seek(member.offset, os.SEEK_SET)
        while left and (data := file.read(min(left, _STEP))):
            left -= len(data)
            yield data
