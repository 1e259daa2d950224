"""Fast reader of captures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inspector.formats.capture import reader as capture_file
from inspector.protocol import line_structs
from inspector.protocol.json_values import decode_one, has_shape
from inspector.reading.decoder.fast_path import (
    BlockTables,
    DecodedRows,
    FastReader,
    RegularEnvelopes,
    content_hashes,
    decode_irregular,
    lengths,
    replace_contexts,
    values_at,
)
from inspector.reading.decoder.normalize import IrregularEnvelopes
from inspector.store.columns.flags import Flag

_FRAME = b'"frame":{'
_NANOSECONDS_FROM = 10**17
"""Smaller numbers are times in another unit (inspector.protocol.timestamps)."""
_SENT = Flag.SENT.value


def _read_capture(lines: Sequence[bytes], tables: BlockTables) -> DecodedRows:
    """Decodes frames along with their lines. The frame's position is known for lines written by `CaptureWriter`."""
    strict, odd = line_structs.decode_all(line_structs.decode_capture_line, lines), IrregularEnvelopes()
    frames = [row.frame if row is not None else None for row in strict]
    rows: list[line_structs.CaptureLine | line_structs.FrameLine | None] = [*strict]
    # Strict decoding fails for the whole line; the frames of the rest are decoded by themselves.
    for place in [place for place, row in enumerate(rows) if row is None]:
        row = rows[place] = decode_one(line_structs.decode_frame_line, lines[place])
        if row is not None:
            frames[place] = decode_irregular(place, row.frame, odd)
    replace_contexts(frames, odd)
    # These lines have one fixed order of keys, so a search finds the frame.
    begins = [line.find(_FRAME) for line in lines]
    for place, (row, begin, line) in enumerate(zip(rows, begins, lines, strict=True)):
        # Any other ending means that the frame is not the last key, so its end is unknown.
        if begin <= 0 or not line.endswith(b"}}") or row is None or not _has_usual_values(row):
            frames[place] = None

    def frame_in(place: int) -> bytes:
        return lines[place][begins[place] + len(_FRAME) - 1 : -1]

    found = RegularEnvelopes(frames, odd, frame_in, tables)
    columns, places = found.columns, found.places
    known = [row for row in values_at(rows, places) if row is not None]
    directions = [row.dir for row in known]
    columns["time_ns"] = np.array([row.t for row in known], np.int64)
    columns["direction"] = tables.strings.intern_all(directions, len(places))
    columns["connection"] = np.array([row.src for row in known], np.uint16)
    columns["flags"] |= np.array([_SENT if direction == "out" else 0 for direction in directions], np.uint32)
    raws = [*map(frame_in, places.tolist())]
    columns["length"], columns["size"] = lengths(values_at(lines, places)), lengths(raws)
    columns["content_hash"] = content_hashes(raws, columns)
    extracts = found.extracts(raws.__getitem__)
    return DecodedRows(capture_file.LABEL, places, columns, extracts)


def _has_usual_values(row: line_structs.CaptureLine | line_structs.FrameLine) -> bool:
    """Returns False for other values, which the exact reader describes."""
    return (
        row.dir in ("in", "out") and _NANOSECONDS_FROM <= row.t < 1 << 63 and 0 <= row.src < capture_file.MAX_SRC
    )  # fmt: skip


def _is_capture_line(line: bytes) -> bool:
    row = decode_one(line_structs.decode_frame_line, line)
    return row is not None and has_shape(line_structs.decode_open_envelope, row.frame)


READER = FastReader(_is_capture_line, _read_capture)
