"""Reads one value inside the payloads of many messages; decodes only the path to it.

A strict twin of `Records.payload`, at a tenth of the cost for lines of the usual shapes. For other lines (an unusual
wrapper, a big message, another type on the path) it calls the caller's fallback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.protocol.line_structs import Decode, decode_all, decode_frame_line, decode_log_line
from inspector.store.columns.extracts import SELF_PAYLOAD_FLAGS
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from inspector.store.messages.adjacent_reads import LineRange, is_ascending, read_line_ranges
from inspector.store.messages.capture import Capture

_NO_PAYLOAD_FLAGS = (Flag.UNREADABLE | Flag.FRAME | Flag.DERIVED).value
_CAPTURE_LINE_START = b'{"t":'
"""First bytes of a capture's line."""

_IRREGULAR = msgspec.UNSET
"""Sentinel for an irregular line."""

_DECODE_ALL_SHARE = 0.75
"""Share of lines with the value above which all are decoded: a search beforehand would take longer."""

ReadValue = Callable[[int], object]


class ValueBatch(NamedTuple):
    """Values of some messages; the others have none."""

    message_count: int
    """Number of requested messages."""
    places: NDArray[np.intp]
    """(k,) indices of those that may have a value, ascending."""
    values: Iterable[object]
    """Their values, if any."""

    def value_per_message(self) -> list[object]:
        """Returns a value for each message."""
        found: list[object] = [None] * self.message_count
        for place, value in zip(self.places.tolist(), self.values, strict=True):
            found[place] = value
        return found


OPEN_JSON = "\0json"
"""A path step that decodes a text as JSON; other values stay unchanged."""


def value_at_path(value: object, path: Sequence[str]) -> object:
    """Returns the value at a path, if any. Digits index arrays, and name keys of objects."""
    for step in path:
        if step == OPEN_JSON:
            value = decode_embedded_json(value)
        elif isinstance(value, dict):
            value = value.get(step)
        # The length limit keeps `int` from huge texts, which Python refuses with ValueError.
        elif isinstance(value, list) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def decode_embedded_json(value: object) -> object:
    """Decodes a text if it is JSON; returns other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


class PayloadValues:
    """Reads the values at one path.

    Args:
        path: keys from the payload down to the value.
        likely: returns a mask of lines that may have the value; irregular lines are not decoded if it excludes them.
    """

    def __init__(self, path: tuple[str, ...], likely: Callable[[LineRange], NDArray[np.bool_]] | None = None) -> None:
        self._likely = likely
        # Adapts to the log: searching lines first pays only where few have the value.
        self._share = 0.0  # share of the last lines that had the value or might have it
        self._keys = tuple(takewhile(lambda step: not step.isdecimal() and step != OPEN_JSON, path))
        self._rest = path[len(self._keys) :]

    def read_batches(
        self, capture: Capture, rows: NDArray[np.integer[Any]], otherwise: ReadValue
    ) -> Iterator[ValueBatch]:
        """Yields the values of messages, one item per range read together.

        Args:
            capture: has the messages.
            rows: (k,) integer, message indices in any order; only ascending ones are read together.
            otherwise: returns the value of a message with an irregular line.
        """
        # Joint reads need messages in file order.
        if not is_ascending(rows):
            yield ValueBatch(len(rows), np.arange(len(rows)), map(otherwise, rows.tolist()))
            return
        at = 0
        for lines in read_line_ranges(capture, rows):
            some = rows[at : at + len(lines.starts)]
            at += len(some)
            places, hinted = self._lines_to_decode(capture, some, lines)
            asked = some[places]
            values = self._decode_regular(capture, asked, lines.records(places))
            # Irregular lines are read one by one.
            if _IRREGULAR in values:
                read = zip(values, asked.tolist(), strict=True)
                values = [otherwise(message) if value is _IRREGULAR else value for value, message in read]
            # If most lines have the value, the next range is decoded without a search.
            self._share = (len(places) if hinted else len(places) - values.count(None)) / len(some)
            yield ValueBatch(len(some), places, values)

    def _lines_to_decode(
        self, capture: Capture, rows: NDArray[np.integer[Any]], lines: LineRange
    ) -> tuple[NDArray[np.intp], bool]:
        """Returns the lines to decode, and True if the others cannot have the value."""
        if self._likely is None or self._share > _DECODE_ALL_SHARE:
            return np.arange(len(rows)), False
        # The payload of a message derived from a transcript has keys that its line lacks.
        derived = capture.columns["flags"][rows] & Flag.DERIVED.value != 0
        return np.flatnonzero(self._likely(lines) | derived), True

    def _decode_regular(self, capture: Capture, rows: NDArray[np.integer[Any]], lines: list[bytes]) -> list[object]:
        """Returns the values of messages with regular lines; _REFUSED for others."""
        columns = capture.columns
        flags, lengths = columns["flags"][rows], columns["length"][rows]
        usual = (flags & _NO_PAYLOAD_FLAGS == 0) & (lengths <= MAX_WHOLE_BYTES)
        inside, own = columns["size"][rows] < lengths, flags & SELF_PAYLOAD_FLAGS != 0
        found: list[object] = [_IRREGULAR] * len(lines)
        for below, fits in zip(self._structs, (~own, own), strict=True):
            if below is None:
                continue
            for decode, which in ((below.decode, ~inside), (partial(decode_inside, below.decode), inside)):
                places = np.flatnonzero(usual & fits & which)
                # Usually all lines have one form, so no list has to be built.
                if len(places) == len(lines):
                    return self._values(decode_all(decode, lines), below.depth)
                values = self._values(decode_all(decode, [lines[n] for n in places.tolist()]), below.depth)
                for n, value in zip(places.tolist(), values, strict=True):
                    found[n] = value
        return found

    def _values(self, decoded: list[Any], depth: int) -> list[object]:
        """Extracts the values from nested structs; None is a line that did not fit."""
        values: list[Any] = [_IRREGULAR if one is None else one.value for one in decoded]
        for _ in range(depth - 1):
            values = [one.value if one else one for one in values]
        rest = self._rest
        return [one if one is _IRREGULAR else value_at_path(one, rest) for one in values] if rest else values

    @cached_property
    def _structs(self) -> tuple[_ValueDecoder | None, _ValueDecoder | None]:
        """Decoders for envelopes and for self-payloads; None if no such struct is possible."""
        keys = self._keys
        try:
            payload = _path_type(keys) if keys else dict[str, Any] | None
            in_envelope = _ValueDecoder("payload", payload, ("kind", str), 1 + len(keys))
            if not keys or keys[0] == "kind":  # a message with a kind is not its own payload
                return in_envelope, None
            no_kind = ("kind", msgspec.UnsetType, msgspec.UNSET)
            return in_envelope, _ValueDecoder(keys[0], _path_type(keys[1:]), no_kind, len(keys))
        except ValueError:  # a key that no struct can have, such as one with a quotation mark
            return None, None


class _ValueDecoder:
    """Decoder of an object to a struct with the value of one key in `value`."""

    def __init__(self, key: str, below: Any, kind: Any, depth: int) -> None:
        self.decode: Decode[Any] = msgspec.json.Decoder(_value_struct(key, below, kind)).decode
        self.depth = depth
        """Nested structs above the value."""


def _path_type(keys: tuple[str, ...]) -> Any:
    """Returns the struct type for a path of keys."""
    return _value_struct(keys[0], _path_type(keys[1:])) | None if keys else Any


def _value_struct(key: str, below: Any, *others: Any) -> Any:
    return msgspec.defstruct("Below", [*others, ("value", below, None)], rename={"value": key}, gc=False)


def decode_inside(decode: Decode[Any], line: bytes) -> Any:
    """Decodes the envelope, JSON-RPC message or frame in a line of a gateway's log or of a capture."""
    if line.startswith(_CAPTURE_LINE_START):
        return decode(decode_frame_line(line).frame)
    return decode(decode_log_line(line).envelope)
