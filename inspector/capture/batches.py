"""JSON-RPC batches in a log of lines: a line that is an array of messages holds one record for each.

RULE: every element is a JSON-RPC message; any other array is one line that cannot be read.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.capture.elements import ElementScanner, trimmed


class _Message(msgspec.Struct, gc=False):
    jsonrpc: str


_decode = msgspec.json.Decoder(list[_Message]).decode


def messages_of(line: bytes) -> list[tuple[int, bytes]]:
    """The messages of a batch, each with its place in the line; none where the line is no batch."""
    if line[:1] != b"[":
        return []
    try:
        count = len(_decode(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    spans = [trimmed(line, span) for span in ElementScanner().scan(line)]
    found = [(span[0], line[span[0] : span[1]]) for span in spans if span is not None]
    return found if len(found) == count else []


def opened(lines: list[bytes], offsets: NDArray[np.int64]) -> tuple[list[bytes], NDArray[np.int64]]:
    """Lines and where they begin, with the messages of each batch in its place."""
    batches = {n: found for n, line in enumerate(lines) if (found := messages_of(line))}
    if not batches:
        return lines, offsets
    texts: list[bytes] = []
    places: list[int] = []
    for number, (line, offset) in enumerate(zip(lines, offsets.tolist(), strict=True)):
        for place, text in batches.get(number, ((0, line),)):
            texts.append(text)
            places.append(offset + place)
    return texts, np.array(places, np.int64)
