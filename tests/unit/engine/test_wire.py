"""Frames between window and engine: any cutting, arrays, malformed input."""

from __future__ import annotations

import contextlib

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from inspector.engine import wire
from inspector.engine.requests.table import QUERIES, request_decoder


@given(st.lists(st.binary(max_size=200)), st.integers(1, 50))
def test_frames_survive_any_cutting(bodies: list[bytes], size: int) -> None:
    data = b"".join(len(body).to_bytes(4, "little") + body for body in bodies)
    splitter = wire.FrameSplitter()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert [body for piece in pieces for body in splitter.feed(piece)] == bodies


def test_a_frame_above_the_limit_is_refused() -> None:
    with pytest.raises(wire.WireError, match="exceeds the limit"):
        list(wire.FrameSplitter().feed(b"\xff\xff\xff\xff"))


@pytest.mark.parametrize(
    "array", [np.arange(5, dtype=np.uint32), np.zeros((2, 3)), np.empty(0, np.int64), np.array([True, False])]
)
def test_arrays_keep_dtype_and_shape(array: NDArray[np.generic]) -> None:
    again = wire.decoder_of(NDArray[np.generic]).decode(wire.encode(array))
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert np.array_equal(again, array)


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_a_wire_error(data: bytes) -> None:
    for decode in (wire.decoded_by_engine, wire.decoded_by_window):
        with contextlib.suppress(wire.WireError):
            decode(data)


def test_requests_are_told_apart_by_their_names() -> None:
    names = [one.request.__struct_config__.tag for one in QUERIES]
    assert len(set(names)) == len(names)
    for one in QUERIES:
        if not any(field.required for field in msgspec.structs.fields(one.request)):
            assert request_decoder().decode(wire.encode(one.request())) == one.request()
