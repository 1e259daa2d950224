"""Fast reader of the logs of a gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.formats.gateway_log import reader as gateway_log
from inspector.protocol import line_structs
from inspector.protocol.json_values import has_shape
from inspector.protocol.time_columns import parse_times
from inspector.reading.decoder.fast_path import (
    BlockTables,
    DecodedRows,
    FastReader,
    RegularEnvelopes,
    add_line_values,
    decode_envelopes,
    extracts_of,
    fold_hash,
    lengths,
    values_at,
)
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Extracts
from inspector.store.columns.hashes import NO_HASH, hash_each
from inspector.store.columns.intern_table import InternTable

_NO_NUMBER = -1


def _read_gateway_log(lines: Sequence[bytes], tables: BlockTables) -> DecodedRows:
    """Decodes an envelope once for all its copies: it is logged as received and then once per recipient."""
    rows = line_structs.decode_all(line_structs.decode_log_line, lines)
    logged = [row for row in rows if row is not None]
    places = np.arange(len(rows)) if len(logged) == len(rows) else np.flatnonzero([row is not None for row in rows])
    written = [row.envelope for row in logged]
    # A gateway writes one envelope per recipient, so equal bytes are decoded once.
    contents = hash_each(written)
    first, which = _number_keys(contents)
    raws = values_at(written, first)
    envelopes, odd = decode_envelopes(raws)
    found = RegularEnvelopes(envelopes, odd, raws.__getitem__, tables)
    raws = values_at(raws, found.places)
    # Irregular envelopes are left to the exact reader, with all their copies.
    if len(found.kept) < len(envelopes):
        number = np.full(len(envelopes), _NO_NUMBER)
        number[found.places] = np.arange(len(found.places))
        which = number[which]
        good = np.flatnonzero(which != _NO_NUMBER)
        which, contents, places, logged = which[good], contents[good], places[good], values_at(logged, good)
    found.columns["size"] = lengths(raws)
    columns = {name: column[which] for name, column in found.columns.items()}
    columns["length"] = lengths(values_at(lines, places))
    _add_log_columns(columns, logged, tables)
    columns["fold"] = _fold_hashes(found, which, columns["space"], tables)
    # Only a message with copies needs its content hash.
    columns["content_hash"] = np.where(columns["fold"] == NO_HASH, np.uint64(NO_HASH), contents)
    at_first = np.empty(len(found.kept), np.int64)
    at_first[which[::-1]] = np.arange(len(which) - 1, -1, -1)  # of several values for one place, numpy keeps the last
    each = extracts_of(found.kept, found.odd, raws.__getitem__, at_first, columns, tables)
    extracts = Extracts()
    extracts.add_repeated(each, which)
    return DecodedRows(gateway_log.LABEL, places, columns, extracts)


def _number_keys(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the first place of each distinct key, in order of appearance, and the number of each key."""
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(first))
    return first[order], number[which]


_LOG_FIELDS = ("event", "participant", "space", "direction")


def _add_log_columns(columns: dict[str, Array], logged: Sequence[line_structs.LogLine], tables: BlockTables) -> None:
    """Adds the columns of the log lines around the envelopes."""
    strings = tables.strings
    around: InternTable[Any] = InternTable(None)  # a log has few distinct combinations, so each is looked up once
    which = around.intern_all([(e.event, e.participant, e.space_id, e.direction) for e in logged], len(logged))
    for name, values in zip(_LOG_FIELDS, zip((None,) * len(_LOG_FIELDS), *around[1:], strict=True), strict=True):
        columns[name] = strings.intern_all(values, len(around))[which]
    columns["time_ns"] = parse_times([line.timestamp for line in logged])
    add_line_values(columns, strings)


def _fold_hashes(
    found: RegularEnvelopes, which: NDArray[np.int64], spaces: Array, tables: BlockTables
) -> NDArray[np.uint64]:
    """Returns the fold hash of each record, by number of its envelope and its logged space."""
    different, inverse = np.unique(which << 32 | spaces, return_inverse=True)
    folds: list[int] = []
    for number, space in zip((different >> 32).tolist(), (different & 0xFFFF_FFFF).tolist(), strict=True):
        e, _ = found.odd.written.get(number, (found.kept[number], None))
        folds.append(fold_hash(tables.strings[space] if space else None, e.id, e.sender, e.ts, e.kind))
    return np.array(folds, np.uint64)[inverse]


READER = FastReader(lambda line: has_shape(line_structs.decode_log_line, line), _read_gateway_log)
