"""Packs a Debian package tighter than nfpm does: the best xz has, with the filter for x86 programs."""

from __future__ import annotations

import lzma
import platform
from pathlib import Path
from typing import NamedTuple

_MAGIC = b"!<arch>\n"
_DICTIONARY = 64 << 20
"""So much of what came before is looked through for repetitions; unpacking takes as much memory."""


class Member(NamedTuple):
    """A file in an ar archive."""

    name: str
    head: bytes
    data: bytes


def members(data: bytes) -> list[Member]:
    """The files of an ar archive.

    Raises:
        ValueError: it is none.
    """
    if not data.startswith(_MAGIC):
        raise ValueError("this is no ar archive")
    found: list[Member] = []
    place = len(_MAGIC)
    while place < len(data):
        head = data[place : place + 60]
        size = int(head[48:58])
        place += 60
        found.append(Member(head[:16].decode("ascii").rstrip(" /"), head, data[place : place + size]))
        place += size + size % 2
    return found


def pack(data: bytes) -> bytes:
    """An .xz of the data."""
    filters: list[dict[str, int]] = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": _DICTIONARY}]
    if platform.machine() in ("x86_64", "AMD64"):
        filters.insert(0, {"id": lzma.FILTER_X86})
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)


def tighten(file: Path) -> None:
    """Pack the data of a package that came unpacked."""
    whole = bytearray(_MAGIC)
    for name, head, content in members(file.read_bytes()):
        if name == "data.tar":
            name, content = "data.tar.xz", pack(content)
        whole += f"{name:<16}".encode() + head[16:48] + f"{len(content):<10}".encode() + head[58:60]
        whole += content + b"\n" * (len(content) % 2)
    file.write_bytes(whole)
