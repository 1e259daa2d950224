"""Finds the records at the start of a file of JSON: a document, a list, one a line, or one after another."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.truncated_json import complete_json

HEAD_BYTES = 1 << 16
"""Number of first bytes needed for detection."""


def first_record(head: bytes) -> Mapping[str, Any]:
    """Returns the first object of a file, or as much of it as its first bytes have: a line, a document, an element."""
    text = head[:HEAD_BYTES].removeprefix(codecs.BOM_UTF8).lstrip()
    whole = next(complete_records(text), None)
    begin = whole if whole is not None else complete_json(text)
    try:
        found = decode_json(begin) if begin is not None else None
    except NotAnObjectError:
        return {}
    while isinstance(found, list) and found:
        found = found[0]
    return found if isinstance(found, Mapping) else {}


def complete_records(text: bytes, *, rest: bool = False) -> Iterator[bytes]:
    """Yields the elements of a list, or objects one after another, and the bytes between them.

    Args:
        text: begins with a bracket or brace.
        rest: also yield an incomplete last one.
    """
    # numpy takes longer to load than all formats: commands that open no file, as `sessions`, do without.
    from inspector.protocol.array_elements import ElementScanner, element_indent

    if text[:1] == b"[":
        scanner = ElementScanner(element_indent(text[:HEAD_BYTES]))
    else:
        scanner = ElementScanner(b"", begin=0, bracketed=False)
    for start, stop in (*scanner.scan(text), *(scanner.finish() if rest else ())):
        yield text[start:stop].strip()
