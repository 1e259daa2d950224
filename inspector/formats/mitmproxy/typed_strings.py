"""Reads tagged netstrings: values with their length before and their type after them, as mitmproxy saves flows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from inspector.formats.file_conversion import NotConvertedError

_LENGTH = re.compile(rb"(\d{1,12}):")
_HEAD_BYTES = 13
_MAX_BYTES = 1 << 28
"""Limit of one flow."""
_DEEPEST = 40


def values_in(file: BinaryIO) -> Iterator[Any]:
    """Yields the values of a file, with one at a time in memory. Raises OSError and NotConvertedError."""
    number = 0
    while head := file.read(_HEAD_BYTES):
        number += 1
        found = _LENGTH.match(head)
        size = int(found[1]) if found is not None else 0
        if found is None:
            raise NotConvertedError(f"its flow {number} is damaged")
        if size > _MAX_BYTES:
            raise NotConvertedError(f"its flow {number} has {size / 1e6:,.0f} MB")
        file.seek(found.end() - len(head), 1)
        data = file.read(size + 1)
        if len(data) <= size:
            raise NotConvertedError(f"it ends in the middle of its flow {number}")
        try:
            yield _value(data[:size], data[size:], 0)
        except ValueError as error:
            raise NotConvertedError(f"its flow {number} is damaged: {error}") from None


def _value(data: bytes, kind: bytes, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("its values are nested too deeply")
    if kind == b"]":
        return list(_elements(data, depth))
    if kind == b"}":
        found = list(_elements(data, depth))
        keys = (one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in found[::2])
        return dict(zip(keys, found[1::2], strict=False))
    if kind not in _SCALARS:
        raise ValueError(f"no value has the type {kind!r}")
    return _SCALARS[kind](data)


_SCALARS: dict[bytes, Callable[[bytes], Any]] = {
    b",": bytes,
    b";": lambda data: data.decode("utf-8", "replace"),
    b"#": lambda data: int(data[:_HEAD_BYTES]),
    b"^": float,
    b"!": lambda data: data == b"true",
    b"~": lambda _: None,
}


def _elements(data: bytes, depth: int) -> Iterator[Any]:
    at = 0
    while at < len(data):
        found = _LENGTH.match(data, at)
        stop = found.end() + int(found[1]) if found is not None else 0
        if found is None or stop >= len(data):
            raise ValueError("a length is wrong")
        yield _value(data[found.end() : stop], data[stop : stop + 1], depth + 1)
        at = stop + 1
