"""Bodies decoded for the record."""

from __future__ import annotations

import gzip
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.content_encoding import Decoder, TooLongError

_MOST = 1 << 20
DATA = b'{"text":"' + b"as it was said " * 40 + b'"}'
ENCODED = {
    "": DATA,
    "identity": DATA,
    "gzip": gzip.compress(DATA),
    "deflate": zlib.compress(DATA),
    "zstd": zstandard.ZstdCompressor().compress(DATA),
}


@pytest.mark.parametrize("encoding", ENCODED)
@given(size=st.integers(1, 60))
def test_a_body_is_decoded_piece_by_piece(encoding: str, size: int) -> None:
    decoder, body = Decoder(f" {encoding.upper()} ", _MOST), ENCODED[encoding]
    assert b"".join(decoder.feed(body[at : at + size]) for at in range(0, len(body), size)) == DATA
    assert decoder.is_readable


def test_deflate_without_its_header_is_decoded() -> None:
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    assert Decoder("deflate", _MOST).feed(raw.compress(DATA) + raw.flush()) == DATA


@pytest.mark.parametrize("encoding", ["br", "gzip, br", "something"])
def test_an_encoding_nobody_knows_is_left_alone(encoding: str) -> None:
    decoder = Decoder(encoding, _MOST)
    assert not decoder.is_readable
    assert decoder.feed(b"\x00\x01") == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_damage_is_no_error(encoding: str) -> None:
    decoder = Decoder(encoding, _MOST)
    decoder.feed(b"this is not what it says it is" * 3)
    assert not decoder.is_readable
    assert decoder.feed(b"more") == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", ""])
def test_what_grows_beyond_measure_is_given_up(encoding: str) -> None:
    whole = b"0" * 3_000_000
    bomb = {"gzip": gzip.compress(whole), "deflate": zlib.compress(whole), "": whole}.get(
        encoding, zstandard.ZstdCompressor().compress(whole)
    )
    with pytest.raises(TooLongError):
        Decoder(encoding, longest_bytes=1_000_000).feed(bomb)
