"""Fast reader of the logs of a gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.formats.gateway_log import reader as gateway_log
from inspector.protocol import line_structs
from inspector.protocol.time_columns import parse_times
from inspector.protocol.timestamps import NO_TIME
from inspector.reading.decoder.fast_path import (
    BlockTables,
    FastReader,
    RegularRows,
    decode_envelopes,
    envelope_columns,
    extracts_of,
    fold_hash,
    lengths,
    regular_envelopes,
    values_at,
)
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Extracts
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_each
from inspector.store.columns.intern_table import InternTable

_NO_NUMBER = -1


def _read_gateway_log(lines: Sequence[bytes], tables: BlockTables) -> RegularRows:
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
    plain, heads = regular_envelopes(envelopes, odd, tables)
    odd = odd.renumbered(plain, len(envelopes))
    kept, raws = values_at(envelopes, plain), values_at(raws, plain)
    # Irregular envelopes are left to the exact reader, with all their copies.
    if len(kept) < len(envelopes):
        number = np.full(len(envelopes), _NO_NUMBER)
        number[plain] = np.arange(len(plain))
        which = number[which]
        good = np.flatnonzero(which != _NO_NUMBER)
        which, contents, places, logged = which[good], contents[good], places[good], values_at(logged, good)
    shared = envelope_columns(kept, odd, heads, tables)
    shared["size"] = lengths(raws)
    columns = {name: column[which] for name, column in shared.items()}
    columns["length"] = lengths(values_at(lines, places))
    _add_log_columns(columns, logged, tables)
    columns["fold"] = _fold_hashes(
        [odd.envelopes.get(n, e) for n, e in enumerate(kept)], which, columns["space"], tables
    )
    # Only a message with copies needs its content hash.
    columns["content_hash"] = np.where(columns["fold"] == NO_HASH, np.uint64(NO_HASH), contents)
    at_first = np.empty(len(kept), np.int64)
    at_first[which[::-1]] = np.arange(len(which) - 1, -1, -1)  # of several values for one place, numpy keeps the last
    each = extracts_of(kept, odd, raws.__getitem__, at_first, columns, tables)
    extracts = Extracts()
    extracts.add_repeated(each, which)
    return RegularRows(gateway_log.LABEL, places, columns, extracts)


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
    times = parse_times([line.timestamp for line in logged])
    # Without a readable time of the log, the envelope's own has to do.
    columns["time_ns"] = np.where(times == NO_TIME, columns["ts_ns"], times)
    received, rejected = (columns["event"] == (strings.find(event) or -1) for event in gateway_log.INBOUND_EVENTS)
    columns["flags"][rejected] |= np.uint32(Flag.REFUSED.value)
    unsaid = (columns["sender"] == 0) & (received | rejected) & (columns["participant"] != (strings.find("") or -1))
    columns["sender"] = np.where(unsaid, columns["participant"], columns["sender"])


def _fold_hashes(
    envelopes: Sequence[line_structs.Envelope | line_structs.OpenEnvelope | None], which: NDArray[np.int64],
    spaces: Array, tables: BlockTables,
) -> NDArray[np.uint64]:  # fmt: skip
    """Returns the fold hash of each record, by number of its envelope and its logged space."""
    different, inverse = np.unique(which << 32 | spaces, return_inverse=True)
    folds: list[int] = []
    for number, space in zip((different >> 32).tolist(), (different & 0xFFFF_FFFF).tolist(), strict=True):
        e = envelopes[number]
        named = tables.strings[space] if space else None
        folds.append(NO_HASH if e is None else fold_hash(named, e.id, e.sender, e.ts, e.kind))
    return np.array(folds, np.uint64)[inverse]


READER = FastReader(line_structs.decode_log_line, _read_gateway_log)
