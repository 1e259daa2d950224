"""Decodes envelopes and frames of many messages in batches.

A strict twin of the single-record path of `Capture`, at a fifth of the cost. Lines of the usual shapes are read by the
megabyte and decoded in one step each. Other lines (an unusual wrapper, a message above 1 MB, a record of a transcript)
are read on request as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.protocol.correlation_ids import normalize_ids
from inspector.protocol.line_structs import Decode, StreamLine, decode_all, decode_stream_line
from inspector.protocol.message_text import compact_json
from inspector.protocol.secrets.streamed_pieces import may_hold_pieces
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from inspector.store.files.prefetch import DecodedFields
from inspector.store.messages.adjacent_reads import read_line_ranges
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import decode_inside

_Value = TypeVar("_Value")

_BATCH_SIZE = 256
"""Messages per batch."""
_MAX_CACHED = 2 * _BATCH_SIZE
"""Decoded messages kept across batches: callers may alternate between calls and their answers."""
# Records are of any length, and a batch is kept decoded.
_BATCH_BYTES = 1 << 20
_IRREGULAR_FLAGS = (Flag.UNREADABLE | Flag.DERIVED | Flag.LOG_ONLY | Flag.JOIN | Flag.GAP).value


class _Envelope(msgspec.Struct, gc=False):
    kind: str
    id: Any = None
    correlation_id: Any = msgspec.UNSET
    context: Any = None
    payload: Any = None


_decode_envelope: Decode[Any] = msgspec.json.Decoder(_Envelope).decode
_decode_object: Decode[Any] = msgspec.json.Decoder(dict[str, Any]).decode


def read_in_batches(
    capture: Capture, rows: NDArray[np.integer[Any]], value: Callable[[int], _Value]
) -> Iterator[_Value]:
    """Yields `value(message)` for each message, decoding in batches.

    Decoded messages stay in a cache, so that several alternating reads of the same messages decode once.

    Args:
        capture: has the messages.
        rows: (k,) message indices.
        value: returns the value for one message.
    """
    # A batch of one costs more than a plain read.
    if len(rows) < 2:
        yield from map(value, rows.tolist())
        return
    # Sums of the lengths let a binary search end each batch at a byte limit.
    ends = capture.columns["length"][rows].cumsum(dtype=np.int64)
    at = 0
    while at < len(rows):
        before = int(ends[at - 1]) if at else 0
        until = min(at + _BATCH_SIZE, max(at + 1, int(ends.searchsorted(before + _BATCH_BYTES))))
        some = rows[at:until]
        _decode(capture, some.tolist())
        yield from map(value, some.tolist())
        at = until


def _decode(capture: Capture, messages: list[int]) -> None:
    """Decodes the missing messages and evicts the oldest ones."""
    held = capture.records.decoded_fields
    missing = sorted(set(messages) - held.keys())
    if missing:
        for message in list(islice(held, max(0, len(held) - _MAX_CACHED))):
            del held[message]
        held |= _decoded(capture, np.array(missing))


def _decoded(capture: Capture, rows: NDArray[np.integer[Any]]) -> dict[int, DecodedFields | None]:
    """Returns decoded messages, given in ascending order; None for an irregular line."""
    columns = capture.columns
    # Irregular lines stay None; the caller reads them one by one.
    found: dict[int, DecodedFields | None] = dict.fromkeys(rows.tolist())
    usual = (columns["flags"][rows] & _IRREGULAR_FLAGS == 0) & (columns["length"][rows] <= MAX_WHOLE_BYTES)
    rows = rows[usual]
    flags, lengths = columns["flags"][rows], columns["length"][rows]
    lines = [
        stretch.data[start:end]
        for stretch in read_line_ranges(capture, rows)
        for start, end in zip(stretch.starts.tolist(), stretch.ends.tolist(), strict=True)
    ]
    usual, own = np.ones(len(rows), np.bool_), flags & Flag.RPC.value != 0
    if capture.records.masks is not None:
        usual &= ~np.array([may_hold_pieces(line) for line in lines], np.bool_) | (flags & Flag.FRAME.value != 0)
    frames, nameless = flags & Flag.FRAME.value != 0, flags & Flag.NO_ID.value != 0
    # A message smaller than its line lies inside of it, as in a capture.
    inside = columns["size"][rows] < lengths
    reads: list[tuple[Decode[Any], Callable[[Any], DecodedFields | None], NDArray[np.bool_]]] = [
        (decode_stream_line, _fields_of_frame, frames)
    ]
    for decode, make, fits in (
        (_decode_envelope, _fields_of_envelope, ~own & ~nameless),
        (_decode_envelope, _fields_without_id, ~own & nameless),
        (_decode_object, _fields_of_rpc, own),
    ):
        reads += [(decode, make, fits & ~frames & ~inside)]
        reads += [(partial(decode_inside, decode), make, fits & ~frames & inside)]
    for read, make, which in reads:
        places = np.flatnonzero(usual & which)
        values = decode_all(read, [lines[place] for place in places.tolist()])
        for message, value in zip(rows[places].tolist(), values, strict=True):
            found[message] = make(value) if value is not None else None
    return found


def _fields_of_envelope(one: _Envelope) -> DecodedFields | None:
    whole = _fields_without_id(one)
    if isinstance(one.id, str):
        return whole._replace(identifier=one.id)
    return None if one.id is None else whole._replace(identifier=compact_json(one.id))


def _fields_without_id(one: _Envelope) -> DecodedFields:
    named = None if one.correlation_id is msgspec.UNSET else normalize_ids(one.correlation_id)
    return DecodedFields(None, named, one.context, one.payload if isinstance(one.payload, dict) else {})


def _fields_of_frame(one: StreamLine) -> DecodedFields:
    return DecodedFields(None, None, None, {}, one.text.encode()[1:].partition(b"#")[2])


def _fields_of_rpc(one: dict[str, Any]) -> DecodedFields:
    return DecodedFields(None, None, one.get("context"), one)
