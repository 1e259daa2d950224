from __future__ import annotations

import lzma
import struct
from pathlib import Path

import deb_file  # pyright: ignore[reportMissingImports]
import icu_data  # pyright: ignore[reportMissingImports]
import pytest


def icu_library(items: dict[str, bytes]) -> bytes:
    """A library with ICU's data in it."""
    head = struct.pack("<H", 32) + b"\xda\x27" + struct.pack("<HH", 20, 0) + bytes(4) + b"CmnD" + bytes(16)
    names, data = b"", b""
    places: list[tuple[int, int]] = []
    before = 4 + 8 * len(items)
    length = sum(len(name) + 1 for name in items)
    for name, content in items.items():
        places.append((before + len(names), before + length + len(data)))
        names += name.encode() + b"\0"
        data += content
    table = struct.pack("<I", len(items)) + b"".join(struct.pack("<II", *one) for one in places)
    return b"\x7fELF" + bytes(60) + head + table + names + data + b"the rest"


def test_what_sorting_needs_stays_and_the_rest_becomes_zeros(tmp_path: Path) -> None:
    items = {
        "icudt73l/coll/de.res": b"sort", "icudt73l/de.res": b"Deutsch", "icudt73l/ibm-37.cnv": b"ebcdic",
        "icudt73l/nfkc.nrm": b"norm", "icudt73l/zone/de.res": b"MEZ", "icudt73l/zoneinfo64.res": b"last",
    }  # fmt: skip
    file = tmp_path / "libicudata.so.73"
    before = icu_library(items)
    file.write_bytes(before)
    assert icu_data.trim(file) == len(b"Deutschebcdic") + len(b"MEZ")
    after = file.read_bytes()
    assert len(after) == len(before)
    assert b"Deutsch" not in after
    assert after.endswith(b"lastthe rest")
    # Read again it has what was kept, where it says.
    assert icu_data.trim(file) == 0


def test_another_library_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "libicudata.so.99"
    file.write_bytes(b"\x7fELF")
    with pytest.raises(ValueError, match="no data of ICU"):
        icu_data.trim(file)


def test_a_package_is_packed_tighter(tmp_path: Path) -> None:
    def member(name: str, content: bytes) -> bytes:
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        return head + content + b"\n" * (len(content) % 2)

    content = b"the same again, " * 1000 + b"!"
    file = tmp_path / "a.deb"
    file.write_bytes(b"!<arch>\n" + member("debian-binary", b"2.0\n") + member("data.tar", content))
    deb_file.tighten(file)
    found = deb_file.members(file.read_bytes())
    assert [one.name for one in found] == ["debian-binary", "data.tar.xz"]
    assert lzma.decompress(found[1].data) == content
    assert file.stat().st_size < 1000
