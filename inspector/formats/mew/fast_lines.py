"""Fast reader of envelopes, one a line."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.formats.mew import reader as bare
from inspector.protocol.json_values import has_shape
from inspector.protocol.line_structs import decode_open_envelope
from inspector.reading.decoder.fast_path import (
    BlockTables,
    DecodedRows,
    FastReader,
    RegularEnvelopes,
    content_hashes,
    decode_envelopes,
    lengths,
    values_at,
)


def _read_envelopes(lines: Sequence[bytes], tables: BlockTables) -> DecodedRows:
    found = RegularEnvelopes(*decode_envelopes(lines), lines.__getitem__, tables)
    columns, raws = found.columns, values_at(lines, found.places)
    columns["time_ns"] = columns["ts_ns"]
    columns["size"] = columns["length"] = lengths(raws)
    columns["content_hash"] = content_hashes(raws, columns)
    return DecodedRows(bare.LABEL, found.places, columns, found.extracts(raws.__getitem__))


READER = FastReader(lambda line: has_shape(decode_open_envelope, line), _read_envelopes)
