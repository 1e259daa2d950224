"""Fast path: decodes common line shapes straight into columns.

The result equals that of `BlockReader` line by line, at a third of the cost (tests/bench/tried.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.formats.format import load
from inspector.formats.table import FORMATS
from inspector.protocol import calls, kinds, line_structs, msp
from inspector.protocol.context_places import NO_CONTEXT_PAYLOAD
from inspector.protocol.header import ABSENT
from inspector.protocol.time_columns import parse_times
from inspector.reading.decoder.normalize import IrregularEnvelopes
from inspector.store.columns.block import BLOCK_COLUMNS, OBJECT_KEY
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Decoded, Extracts, extract_records, has_extracted_parts
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_each, hash_rpc_values, hash_text, hash_texts
from inspector.store.columns.intern_table import InternTable
from inspector.store.columns.irregular_forms import irregular_forms
from inspector.store.columns.name_sets import BlockNameSets

_PROBED_LINES = 16
"""Number of lines used to guess the shape of the others; a wrong guess only costs time."""
_GATEWAY_ERROR = "system/error"

_ERROR, _HAS_META, _NO_ID = (f.value for f in (Flag.ERROR, Flag.HAS_META, Flag.NO_ID))
_CORRELATED, _MANY, _SENT = (f.value for f in (Flag.CORRELATED, Flag.MANY_CORRELATIONS, Flag.SENT))
_CALLS_DIFFER = Flag.CALLS_DIFFER.value
_T = TypeVar("_T")


class EnvelopeHeads:
    """Distinct heads (kind, sender, protocol, recipients) of envelopes, each parsed once.

    Few heads make up most traffic.

    Attributes:
        columns: (n,) arrays by name of BLOCK_COLUMNS, by head number.
        need_slow_path: (n,) True for kinds that need more of their payload than is decoded here.
        have_call_payload: (n,) True for kinds with payloads about a call.
    """

    def __init__(self, strings: InternTable[str], to_sets: BlockNameSets) -> None:
        """Starts empty; number 0 is no head."""
        self._strings, self._to_sets = strings, to_sets
        self._heads: InternTable[Any] = InternTable(None)
        self.columns: dict[str, Array] = {name: np.zeros(1, np.uint32) for name in _OF_HEADS}
        self.need_slow_path = self.have_call_payload = np.zeros(1, np.bool_)

    def number_heads(self, envelopes: Sequence[Any]) -> NDArray[np.uint32]:
        """Returns (n,) the head number of each envelope."""
        known = len(self._heads)
        found = self._heads.intern_all([(e.kind, e.sender, e.protocol, e.to) for e in envelopes], len(envelopes))
        if len(self._heads) > known:
            self._parse_heads(self._heads[known:])
        return found

    def _parse_heads(self, heads: Sequence[tuple[str, str | None, str | None, tuple[str, ...] | str | None]]) -> None:
        kind, sender, protocol, to = zip(*heads, strict=True)
        # Done once per distinct head, not once per envelope.
        split = [kinds.split_kind(k) for k in kind]
        sets = [None if not t and t != "" else t if type(t) is tuple else (t,) for t in to]
        texts: dict[str, Sequence[str | None]] = {
            "kind_raw": kind,
            "kind": [k.name for k in split],
            "method": [k.method for k in split],
            "target": [k.target for k in split],
            "sender": sender,
            "protocol": protocol,
        }
        new = {name: self._strings.intern_all(values, len(heads)) for name, values in texts.items()}
        new["to_set"] = self._to_sets.intern_all(sets)
        self.columns = {name: np.concatenate((column, new[name])) for name, column in self.columns.items()}
        self.need_slow_path = np.concatenate((self.need_slow_path, [_needs_slow_path(k) for k in kind]))
        self.have_call_payload = np.concatenate(
            (self.have_call_payload, [calls.payload_describes_call(k.name) for k in split])
        )


_OF_HEADS = ("kind_raw", "kind", "method", "target", "sender", "protocol", "to_set")


class BlockTables:
    """Intern tables of a block, and the heads of its envelopes."""

    def __init__(self) -> None:
        self.strings: InternTable[str] = InternTable("")
        self.to_sets = BlockNameSets(self.strings)
        self.heads = EnvelopeHeads(self.strings, self.to_sets)


@dataclass(slots=True)
class RegularRows:
    """Columns of the regular lines among some lines.

    Attributes:
        label: their format.
        places: (k,) int64, indices of the decoded lines, ascending; the others need the slow path.
        columns: (k,) arrays by name of BLOCK_COLUMNS; missing columns are zero.
        extracts: data for passes, by number among these.
    """

    label: str
    places: NDArray[np.int64]
    columns: dict[str, Array]
    extracts: Extracts


ReadRegular = Callable[[Sequence[bytes], BlockTables], RegularRows]
"""Decodes the lines of one shape and skips others."""


class FastReader(NamedTuple):
    """Reader of one shape of lines, as `Format.fast_lines` names it. No line has two of these shapes.

    Attributes:
        decode: tells whether a line has the shape.
        read: decodes such lines.
    """

    decode: line_structs.Decode[Any]
    read: ReadRegular


@cache
def _fast_readers() -> tuple[FastReader, ...]:
    # Imported late, since these modules import this one.
    return tuple(load(one.fast_lines) for one in FORMATS if one.fast_lines)


def choose_reader(lines: Sequence[bytes]) -> ReadRegular | None:
    """Returns the reader of the shape that the first of these lines have."""
    for line in lines[:_PROBED_LINES]:
        for reader in _fast_readers():
            if line_structs.has_shape(reader.decode, line):
                return reader.read
    return None


def concatenate_rows(parts: Sequence[RegularRows]) -> RegularRows:
    """Concatenates the results of consecutive runs of lines."""
    if len(parts) == 1:
        return parts[0]
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    extracts = Extracts()
    before = 0
    for part in parts:
        extracts.add_extracts(part.extracts, range(before, before + len(part.places)))
        before += len(part.places)
    return RegularRows(parts[0].label, np.concatenate([part.places for part in parts]), columns, extracts)


def values_at(values: Sequence[_T], places: NDArray[np.int64]) -> Sequence[_T]:
    """Returns the values at the given places, ascending."""
    return values if len(places) == len(values) else [values[place] for place in places.tolist()]


def fold_hash(space: object, identifier: object, sender: object, ts: object, kind: object) -> int:
    """Returns the hash shared by an envelope's copies in a gateway log; NO_HASH without an id."""
    if identifier is None or identifier is ABSENT:
        return NO_HASH
    parts = (space, identifier, sender, ts, kind)
    try:
        joined = "\0".join(parts)  # type: ignore[arg-type] - values other than text raise TypeError
    except TypeError:
        joined = ""
    # The slow form distinguishes numbers (7 is not "7"), absent values, and values with a NUL.
    if joined.count("\0") == len(parts) - 1:
        return hash_text(joined)
    return hash_text(repr(tuple(None if part is ABSENT else part for part in parts)))


def decode_envelopes(
    raws: Sequence[bytes | msgspec.Raw],
) -> tuple[list[line_structs.Envelope | None], IrregularEnvelopes]:
    """Decodes envelopes, and normalizes irregular values; None for other lines."""
    envelopes, odd = line_structs.decode_all(line_structs.decode_envelope, raws), IrregularEnvelopes()
    for place in [place for place, e in enumerate(envelopes) if e is None]:
        found = line_structs.decode_one(line_structs.decode_open_envelope, raws[place])
        if found is not None:
            envelopes[place] = odd.normalize_envelope(place, found)
    replace_object_contexts(envelopes, odd)
    return envelopes, odd


def replace_object_contexts(envelopes: Sequence[line_structs.Envelope | None], odd: IrregularEnvelopes) -> None:
    """Replaces object contexts by their keys."""
    for place in [place for place, e in enumerate(envelopes) if e is not None and type(e.context) is dict]:
        e = envelopes[place]
        if e is not None:
            e.context = odd.context_key_at(place, e, NO_CONTEXT_PAYLOAD, elsewhere=False)


def regular_envelopes(
    envelopes: Sequence[line_structs.Envelope | None], odd: IrregularEnvelopes, tables: BlockTables
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Returns the places of envelopes that need no more than their shape, and their head numbers."""
    places = np.arange(len(envelopes))
    found = [e for e in envelopes if e is not None]
    if len(found) < len(envelopes):
        places = np.flatnonzero([e is not None for e in envelopes])
    heads = tables.heads.number_heads(found)
    good = ~tables.heads.need_slow_path[heads]
    contexts = [e.context for e in found]
    # A key's first character sorts before all other texts.
    if min(filter(None, contexts), default="")[:1] == OBJECT_KEY:  # type: ignore[type-var] - objects were replaced above
        good &= [c[:1] != OBJECT_KEY or p in odd for c, p in zip(map(str, contexts), places.tolist(), strict=True)]
    return (places, heads) if good.all() else (places[good], heads[good])


def _needs_slow_path(kind: str) -> bool:
    """Returns True for kinds that need more of their payload than is decoded here."""
    name = kinds.split_kind(kind).name
    if name in ("mcp", "system", kinds.JOIN):
        return True
    return kinds.is_in_context(kind) or kinds.wraps_envelope(kind) or kinds.decides_by_payload(kind)


def envelope_columns(
    envelopes: Sequence[Any], odd: IrregularEnvelopes, heads: NDArray[np.uint32], tables: BlockTables
) -> dict[str, Array]:  # fmt: skip
    """Returns the columns of envelopes.

    Args:
        envelopes: line_structs.Envelope each.
        odd: the irregular ones, by number.
        heads: (n,) their head numbers.
        tables: of the block.
    """
    named = [e.correlation_id for e in envelopes]
    # `heads` has one entry per distinct combination of kind, sender, protocol and recipients.
    columns = {name: column[heads] for name, column in tables.heads.columns.items()}
    columns["context"] = tables.strings.intern_all([e.context for e in envelopes], len(envelopes))
    columns["space"] = _session_spaces(envelopes, columns["protocol"], tables)
    columns["ts_ns"] = parse_times([e.ts for e in envelopes])
    columns["id_hash"] = hash_texts([e.id for e in envelopes])
    columns["correlation_hash"] = hash_texts([n if type(n) is str else n[0] if n else None for n in named])
    flags = np.where(columns["id_hash"] == NO_HASH, np.uint32(_NO_ID), np.uint32(0))
    flags[columns["correlation_hash"] != NO_HASH] |= np.uint32(_CORRELATED)
    flags[[place for place, n in enumerate(named) if type(n) is tuple and len(n) > 1]] |= np.uint32(_MANY)
    columns["flags"] = flags
    odd.add_to_columns(columns)
    _add_call_columns(columns, envelopes, heads, tables)
    return columns


def _session_spaces(envelopes: Sequence[Any], protocols: Array, tables: BlockTables) -> Array:
    """Returns the spaces that envelopes of a session name; other envelopes take the space of their wrapper."""
    of_sessions = np.flatnonzero(protocols == (tables.strings.find(msp.PROTOCOL) or -1)).tolist()
    named = [place for place in of_sessions if isinstance(envelopes[place].space, str)]
    ids = tables.strings.intern_all([envelopes[place].space for place in named], len(named))
    return _scatter(ids, np.array(named, np.int64), len(envelopes))


def _add_call_columns(
    columns: dict[str, Array], envelopes: Sequence[Any], heads: NDArray[np.uint32], tables: BlockTables
) -> None:  # fmt: skip
    """Adds the columns of calls, for kinds with relevant payloads."""
    strings, count = tables.strings, len(envelopes)
    # Most kinds need nothing from their payload, so it is not even looked at.
    telling = np.flatnonzero(tables.heads.have_call_payload[heads]).tolist()
    places = [place for place in telling if envelopes[place].payload is not None]
    payloads = [envelopes[place].payload for place in places]
    put = np.array(places, np.int64)
    columns["stream"] = _scatter(strings.intern_all([p.stream_id for p in payloads], len(places)), put, count)
    columns["rpc_hash"] = _scatter(hash_rpc_values([p.id for p in payloads]), put, count)
    outcomes = [0 if p.result is None and not p.error else _response_flags(p) for p in payloads]
    columns["flags"][put] |= np.array(outcomes, np.uint32)
    # An error of the gateway is an envelope of its own kind.
    refusals = columns["kind"][put] == (strings.find(_GATEWAY_ERROR) or -1)
    columns["flags"][put[refusals]] |= np.uint32(_ERROR)
    callers = [
        (place, p) for place, p in zip(places, payloads, strict=True)
        if p.method is not None or (p.params is not None and ":" in envelopes[place].kind)
    ]  # fmt: skip
    # Few methods and tools repeat in many calls, so each is analysed once.
    said: InternTable[Any] = InternTable(None)
    which = said.intern_all(
        [(envelopes[place].kind, p.method, p.params and (p.params.name, p.params.uri)) for place, p in callers],
        len(callers),
    )
    made = [calls.regular_call(kind, method, *(named or (None, None))) for kind, method, named in said[1:]]
    put = np.array([place for place, _ in callers], np.int64)
    for name in ("method", "target"):
        columns[name][put] = strings.intern_all([None, *(getattr(call, name) for call in made)], len(made) + 1)[which]
    columns["flags"][put] |= np.array(
        [0, *(_CALLS_DIFFER if call.has_conflicting_kind else 0 for call in made)], np.uint32
    )[which]


def _response_flags(payload: line_structs.LinePayload) -> int:
    result, flags = payload.result, 0
    if payload.error and bytes(payload.error) != b"null":
        flags = _ERROR
    if result is not None:
        if result.is_error is True:
            flags |= _ERROR
        if result.meta:
            flags |= _HAS_META
    return flags


def extracts_of(
    envelopes: Sequence[Any], odd: IrregularEnvelopes, raw_of: Callable[[int], Any], rows: NDArray[np.int64],
    columns: dict[str, Array], tables: BlockTables,
) -> Extracts:  # fmt: skip
    """Extracts data for passes from envelopes, by number; `rows` (n,) int64 is the first row of each."""
    several = np.flatnonzero(columns["flags"][rows] & np.uint32(_MANY)).tolist()
    answers = np.flatnonzero(columns["kind"][rows] == (tables.strings.find(kinds.RESPONSE) or -1)).tolist()
    decoded = Decoded(
        raw_of,
        lambda n: odd.identifier(n) if n in odd.envelopes else envelopes[n].id,
        [(n, envelopes[n].correlation_id) for n in several],
        odd.contexts,
        [(n, p.result) for n in answers if (p := envelopes[n].payload) is not None and has_extracted_parts(p.result)],
        lambda n: _arguments_written(envelopes[n].payload),
    )
    found = extract_records(columns, rows, tables.strings, decoded)
    found.odd = irregular_forms(envelopes, {name: columns[name][rows] for name in _FORM_COLUMNS}, tables.strings)
    found.odd.update(odd.forms)
    return found


_FORM_COLUMNS = ("protocol", "sender", "kind", "ts_ns", "flags")


def _arguments_written(payload: line_structs.LinePayload | None) -> msgspec.Raw | None:
    """Returns a call's arguments; None if they may be in an envelope within the payload."""
    if payload is None or payload.method is None:
        return None
    return payload.params.arguments if payload.params is not None else msgspec.Raw(b"")


def content_hashes(raws: Sequence[bytes], columns: dict[str, Array]) -> Array:
    """Returns hashes of envelopes as written; NO_HASH without an id, since such envelopes have no copies."""
    return np.where(columns["id_hash"] == NO_HASH, np.uint64(NO_HASH), hash_each(raws))


def _scatter(values: Array, places: NDArray[np.int64], count: int) -> Array:
    column = np.zeros(count, values.dtype)
    column[places] = values
    return column


def lengths(texts: Sequence[Any]) -> Array:
    """Returns (n,) lengths of texts."""
    return np.fromiter(map(len, texts), BLOCK_COLUMNS["size"], len(texts))
