"""Finds the format that converts a file or a store to lines."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path

from inspector.formats.entry_builders import decoded_object
from inspector.formats.file_conversion import FileConverter, SessionStore
from inspector.formats.format import load
from inspector.formats.table import FORMATS

_CONVERTERS: tuple[FileConverter, ...] = tuple(load(one.conversion) for one in FORMATS if one.conversion)
_STORES: tuple[Callable[[Path], SessionStore | None], ...] = tuple(load(one.store) for one in FORMATS if one.store)

HEAD_BYTES = max(one.head_bytes for one in _CONVERTERS)
"""Number of first bytes needed for detection."""


def converter_for(head: bytes) -> FileConverter | None:
    """Returns the converter for the first bytes of a file; None if its records are lines."""
    return next((one for one in _CONVERTERS if one.begins_file(head)), None)


def may_be_converted(head: bytes) -> bool:
    """Returns True if too little of a stream has arrived for detection: no line is an object on its own yet."""
    begins = head.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")[:1]
    expected = begins in (b"", b"{", b"[") or any(one.may_begin_file(head) for one in _CONVERTERS)
    if len(head) >= HEAD_BYTES or not expected:
        return codecs.BOM_UTF8.startswith(head)
    return not any(decoded_object(line) for line in head.split(b"\n")[:-1])


def store_at(path: Path) -> SessionStore | None:
    """Returns the store of sessions that a path names, or lies in; None for other paths. Never raises OSError."""
    return next((store for find in _STORES if (store := find(path)) is not None), None)
