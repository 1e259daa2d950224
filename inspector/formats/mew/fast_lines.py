"""Fast reader of envelopes, one a line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inspector.formats.mew import reader as bare
from inspector.protocol import line_structs
from inspector.reading.decoder.fast_path import (
    BlockTables,
    FastReader,
    RegularRows,
    content_hashes,
    decode_envelopes,
    envelope_columns,
    extracts_of,
    lengths,
    regular_envelopes,
    values_at,
)


def _read_envelopes(lines: Sequence[bytes], tables: BlockTables) -> RegularRows:
    envelopes, odd = decode_envelopes(lines)
    places, heads = regular_envelopes(envelopes, odd, tables)
    kept, raws = values_at(envelopes, places), values_at(lines, places)
    odd = odd.renumbered(places, len(lines))
    columns = envelope_columns(kept, odd, heads, tables)
    columns["time_ns"] = columns["ts_ns"]
    columns["size"] = columns["length"] = lengths(raws)
    columns["content_hash"] = content_hashes(raws, columns)
    extracts = extracts_of(kept, odd, raws.__getitem__, np.arange(len(kept)), columns, tables)
    return RegularRows(bare.LABEL, places, columns, extracts)


READER = FastReader(line_structs.decode_open_envelope, _read_envelopes)
