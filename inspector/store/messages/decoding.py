"""Envelopes and frames of many messages decoded together, before what they say is asked for one by one.

A strict twin of what `Capture` reads of a record, at a fifth of the cost: lines of the shapes nearly all have are read
by the megabyte and decoded in one step each; whatever does not fit (a line around the envelope that is unusual, a
message above 1 MB, a record of a transcript) is read when it is asked for, as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.protocol.correlation_ids import named_ids
from inspector.protocol.text import compact
from inspector.protocol.usual import Decode, StreamLine, decode_all, decode_stream_line
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import MAX_WHOLE
from inspector.store.files.prefetch import Whole
from inspector.store.messages.adjacent_reads import stretches
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import decode_inside

_Value = TypeVar("_Value")

_MOST = 256
"""Messages decoded together at most."""
_MOST_HELD = 2 * _MOST
"""And those that stay when others are decoded: a call and its answer may be read in turns."""
_MOST_BYTES = 1 << 20
_APART = (Flag.UNREADABLE | Flag.DERIVED | Flag.LOG_ONLY | Flag.JOIN | Flag.GAP).value


class _Envelope(msgspec.Struct, gc=False):
    kind: str
    id: Any = None
    correlation_id: Any = msgspec.UNSET
    context: Any = None
    payload: Any = None


_decode_envelope: Decode[Any] = msgspec.json.Decoder(_Envelope).decode
_decode_object: Decode[Any] = msgspec.json.Decoder(dict[str, Any]).decode


def decoded_in_blocks(
    capture: Capture, rows: NDArray[np.integer[Any]], value: Callable[[int], _Value]
) -> Iterator[_Value]:
    """What is read of some messages, of which as many as fit into a block are decoded together.

    They stay for a while: where several things are read of the same messages, in turns, they are decoded once.

    Args:
        capture: where they are.
        rows: (k,) message indices.
        value: reads it of one of them.
    """
    if len(rows) < 2:
        yield from map(value, rows.tolist())
        return
    ends = capture.columns["length"][rows].cumsum(dtype=np.int64)
    at = 0
    while at < len(rows):
        before = int(ends[at - 1]) if at else 0
        until = min(at + _MOST, max(at + 1, int(ends.searchsorted(before + _MOST_BYTES))))
        some = rows[at:until]
        _decode(capture, some.tolist())
        yield from map(value, some.tolist())
        at = until


def _decode(capture: Capture, messages: list[int]) -> None:
    """Decode those messages that are not decoded yet, and forget the oldest ones."""
    held = capture.records.decoded_ahead
    missing = sorted(set(messages) - held.keys())
    if missing:
        for message in list(islice(held, max(0, len(held) - _MOST_HELD))):
            del held[message]
        held |= _decoded(capture, np.array(missing))


def _decoded(capture: Capture, rows: NDArray[np.integer[Any]]) -> dict[int, Whole | None]:
    """Messages, which are ascending; None where a line is not usual."""
    columns = capture.columns
    flags, lengths = columns["flags"][rows], columns["length"][rows]
    lines = [
        stretch.data[start:end]
        for stretch in stretches(capture, rows)
        for start, end in zip(stretch.starts.tolist(), stretch.ends.tolist(), strict=True)
    ]
    usual, own = (flags & _APART == 0) & (lengths <= MAX_WHOLE), flags & Flag.RPC.value != 0
    frames, nameless = flags & Flag.FRAME.value != 0, flags & Flag.NO_ID.value != 0
    inside = columns["size"][rows] < lengths
    reads: list[tuple[Decode[Any], Callable[[Any], Whole | None], NDArray[np.bool_]]] = [
        (decode_stream_line, _of_frame, frames)
    ]
    for decode, make, fits in (
        (_decode_envelope, _of_envelope, ~own & ~nameless),
        (_decode_envelope, _of_nameless, ~own & nameless),
        (_decode_object, _of_object, own),
    ):
        reads += [(decode, make, fits & ~frames & ~inside)]
        reads += [(partial(decode_inside, decode), make, fits & ~frames & inside)]
    found: dict[int, Whole | None] = dict.fromkeys(rows.tolist())
    for read, make, which in reads:
        places = np.flatnonzero(usual & which)
        values = decode_all(read, [lines[place] for place in places.tolist()])
        for message, value in zip(rows[places].tolist(), values, strict=True):
            found[message] = make(value) if value is not None else None
    return found


def _of_envelope(one: _Envelope) -> Whole | None:
    whole = _of_nameless(one)
    if isinstance(one.id, str):
        return whole._replace(identifier=one.id)
    return None if one.id is None else whole._replace(identifier=compact(one.id))


def _of_nameless(one: _Envelope) -> Whole:
    named = None if one.correlation_id is msgspec.UNSET else named_ids(one.correlation_id)
    return Whole(None, named, one.context, one.payload if isinstance(one.payload, dict) else {})


def _of_frame(one: StreamLine) -> Whole:
    return Whole(None, None, None, {}, one.text.encode()[1:].partition(b"#")[2])


def _of_object(one: dict[str, Any]) -> Whole:
    return Whole(None, None, one.get("context"), one)
