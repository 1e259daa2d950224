"""Unpacking: any cut, several members, damage, and what came before it."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.sources.decoders import DamagedError, GzipDecoder, SniffingDecoder, ZstdDecoder, is_compressed

SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


Compress = Callable[[bytes], bytes]
CODECS: list[Compress] = [gzip.compress, zstd]
codecs = pytest.mark.parametrize("compress", CODECS, ids=["gzip", "zstd"])
_random = random.Random(7)
TEXT = b"".join(b'{"kind":"chat","id":"%d"}\n' % _random.getrandbits(60) for _ in range(9_000))


def unpacked(data: bytes, size: int = 1 << 16) -> tuple[bytes, str | None]:
    """What bytes that come in blocks of a size stand for, and what is wrong with them."""
    decoder, out = SniffingDecoder(), b""
    try:
        for at in range(0, len(data), size):
            for piece in decoder.feed(data[at : at + size]):
                out += piece
        decoder.finish()
    except DamagedError as error:
        return out, str(error)
    return out + decoder.rest, None


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.integers(1, 400), st.sampled_from(CODECS))
def test_members_follow_each_other_and_come_cut_anywhere(parts: list[bytes], size: int, compress: Compress) -> None:
    data = b"".join(compress(part) for part in parts)
    assert unpacked(data, size) == (b"".join(parts), None)


@given(st.binary(max_size=200), st.integers(1, 50))
def test_plain_bytes_stay_as_they_are(data: bytes, size: int) -> None:
    if not is_compressed(data):
        assert unpacked(data, size) == (data, None)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_what_powershell_wrote_is_read_as_utf_8(codec: str, size: int) -> None:
    text = '{"kind":"chat","payload":{"text":"Grüße, \U0001f600"}}\r\n'
    data = "\ufeff".encode(codec) + text.encode(codec)
    assert is_compressed(data[:4])
    assert unpacked(data, size) == (text.encode(), None)
    out, trouble = unpacked(data[:-1], size)
    assert (out, trouble) == (text.encode()[:-1], "it ends in the middle of a character")


@codecs
def test_a_cut_archive_gives_what_it_held(compress: Compress) -> None:
    data = compress(TEXT)
    out, trouble = unpacked(data[: len(data) // 2])
    assert TEXT.startswith(out)
    assert len(out) > len(TEXT) // 4
    assert trouble == "it ends in the middle"


@codecs
def test_a_flipped_checksum_costs_nothing_but_a_word(compress: Compress) -> None:
    data = bytearray(compress(TEXT))
    data[-5 if compress is gzip.compress else -1] ^= 0xFF
    out, trouble = unpacked(bytes(data))
    assert TEXT.startswith(out)
    assert len(TEXT) - len(out) <= 128 << 10  # a block of Zstandard comes out whole or not at all
    assert trouble


@given(st.integers(20, 20_000), st.sampled_from(CODECS))
def test_damage_in_the_middle_never_raises_anything_else(place: int, compress: Compress) -> None:
    data = bytearray(compress(TEXT))
    data[place % len(data)] ^= 0x55
    out, trouble = unpacked(bytes(data), 5_000)
    assert trouble or TEXT.startswith(out)


def test_what_stands_behind_the_members() -> None:
    packed = gzip.compress(b"hello")
    assert unpacked(packed + bytes(5_000), 7) == (b"hello", None)
    assert unpacked(packed + b"rubbish") == (b"hello", "the bytes after the last member are not gzip")
    assert unpacked(packed + b"\x1f") == (b"hello", "the bytes after the last member are not gzip")
    frame = zstandard.compress(b"hello")
    assert unpacked(SKIPPABLE + frame + SKIPPABLE + frame, 3) == (b"hellohello", None)
    assert unpacked(frame + b"rubbish") == (b"hello", "the bytes after the last frame are not Zstandard")
    assert unpacked(frame + frame[:3]) == (b"hello", "it ends in the middle")


@pytest.mark.sweep
def test_a_bomb_comes_in_small_pieces() -> None:
    zeros = bytes(64 << 20)
    assert max(map(len, GzipDecoder().feed(gzip.compress(zeros)))) <= 1 << 20
    bomb = zstandard.compress(zeros)
    assert max(map(len, ZstdDecoder().feed(bomb))) <= 8 << 20
