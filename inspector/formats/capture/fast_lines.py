"""Fast reader of captures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inspector.formats.capture import reader as capture_file
from inspector.protocol import line_structs
from inspector.reading.decoder.fast_path import (
    BlockTables,
    FastReader,
    RegularRows,
    content_hashes,
    envelope_columns,
    extracts_of,
    lengths,
    regular_envelopes,
    replace_object_contexts,
    values_at,
)
from inspector.reading.decoder.normalize import IrregularEnvelopes
from inspector.store.columns.block import BLOCK_COLUMNS
from inspector.store.columns.flags import Flag

_FRAME = b'"frame":{'
_NANOSECONDS_FROM = 10**17
"""Smaller numbers are times in another unit (inspector.protocol.timestamps)."""
_SENT = Flag.SENT.value


def _read_capture(lines: Sequence[bytes], tables: BlockTables) -> RegularRows:
    """Decodes frames along with their lines. The frame's position is known for lines written by `CaptureWriter`."""
    strict, odd = line_structs.decode_all(line_structs.decode_capture_line, lines), IrregularEnvelopes()
    frames = [row.frame if row is not None else None for row in strict]
    rows: list[line_structs.CaptureLine | line_structs.OpenCaptureLine | None] = [*strict]
    # Strict decoding fails for the whole line; a second, tolerant struct gets the rest.
    for place in [place for place, row in enumerate(rows) if row is None]:
        row = line_structs.decode_one(line_structs.decode_open_capture_line, lines[place])
        if row is not None:
            rows[place], frames[place] = row, odd.normalize_envelope(place, row.frame)
    replace_object_contexts(frames, odd)
    # These lines have one fixed order of keys, so a search finds the frame.
    begins = [line.find(_FRAME) for line in lines]
    in_place = [
        # Any other ending means that the frame is not the last key, so its end is unknown.
        frame if begin > 0 and line.endswith(b"}}") else None
        for frame, begin, line in zip(frames, begins, lines, strict=True)
    ]
    places, heads = regular_envelopes(in_place, odd, tables)
    good = [
        # Other values go to the exact reader, which describes them.
        row is not None and row.dir in ("in", "out") and _NANOSECONDS_FROM <= row.t < 1 << 63
        and 0 <= row.src < capture_file.MAX_SRC
        for row in values_at(rows, places)
    ]  # fmt: skip
    places, heads = places[good], heads[good]
    raws = [(lines[place], begins[place] + len(_FRAME) - 1) for place in places.tolist()]
    kept = values_at(in_place, places)
    odd = odd.renumbered(places, len(lines))
    columns = envelope_columns(kept, odd, heads, tables)
    known = [row for row in values_at(rows, places) if row is not None]
    directions = [row.dir for row in known]
    columns["time_ns"] = np.array([row.t for row in known], np.int64)
    columns["direction"] = tables.strings.intern_all(directions, len(places))
    columns["connection"] = np.array([row.src for row in known], np.uint16)
    columns["flags"] |= np.array([_SENT if direction == "out" else 0 for direction in directions], np.uint32)
    columns["length"] = lengths([line for line, _ in raws])
    columns["size"] = np.array([len(line) - begin - 1 for line, begin in raws], BLOCK_COLUMNS["size"])
    columns["content_hash"] = content_hashes([line[begin:-1] for line, begin in raws], columns)
    extracts = extracts_of(kept, odd, lambda n: raws[n][0][raws[n][1] : -1], np.arange(len(kept)), columns, tables)
    return RegularRows(capture_file.LABEL, places, columns, extracts)


READER = FastReader(line_structs.decode_open_capture_line, _read_capture)
