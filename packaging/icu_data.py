"""Trims the data of ICU, which Qt on Linux is linked to and uses to sort and compare texts.

Its library holds 32 MB: names of languages, currencies and time zones, calendars, transliterations, old encodings,
where words break in Thai. Qt brings its own of these, or never asks. Kept is what sorting needs, in every language.
What is dropped leaves the table of contents and becomes zeros, so that the library stays as it was linked, and its
zeros weigh nothing in a package.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

_FOUND = re.compile(rb"..\xda\x27.{4}.{4}CmnD", re.DOTALL)
"""The header of ICU's data: its length, a magic number, its own description, the name of the format."""
_LOCALE = re.compile(r"[a-z]{2,3}(_\w+)?\.res")
_FOLDERS = ("coll",)
"""Folders that are kept whole."""


def wanted(name: str) -> bool:
    """Whether an item is kept, by its name without the package's."""
    folder, _, file = name.rpartition("/")
    if folder:
        return folder in _FOLDERS
    return not file.endswith((".cnv", ".spp")) and (file == "en.res" or not _LOCALE.fullmatch(file))


def trim(library: Path) -> int:
    """Trim a `libicudata.so`; the number of bytes that became zeros.

    Raises:
        ValueError: the library is not what it is taken for.
    """
    data = bytearray(library.read_bytes())
    found = _FOUND.search(data)
    if found is None:
        raise ValueError(f"{library} holds no data of ICU")
    table = found.start() + struct.unpack_from("<H", data, found.start())[0]
    count = struct.unpack_from("<I", data, table)[0]
    entries = [struct.unpack_from("<II", data, table + 4 + 8 * place) for place in range(count)]
    names = [data[table + name : data.index(0, table + name)].decode("ascii") for name, _ in entries]
    kept: list[tuple[int, int]] = []
    zeros = 0
    for place, (entry, name) in enumerate(zip(entries, names, strict=True)):
        # Where the last item ends is not told; it stays.
        if place + 1 == count or wanted(name.partition("/")[2]):
            kept.append(entry)
            continue
        start, end = table + entry[1], table + entries[place + 1][1]
        data[start:end] = bytes(end - start)
        zeros += end - start
    struct.pack_into("<I", data, table, len(kept))
    for place, entry in enumerate(kept):
        struct.pack_into("<II", data, table + 4 + 8 * place, *entry)
    library.write_bytes(data)
    return zeros
