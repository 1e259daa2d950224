"""Derives columns and extracts of envelopes, and decodes common line shapes straight into them.

Lines of other shapes are read one by one (`BlockReader`), at three times the cost (tests/bench/tried.md). Their
envelopes are normalized and end here as well, so that each value is derived in one place.
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
from inspector.formats.table import FORMATS, INBOUND_EVENTS
from inspector.protocol import calls, kinds, line_structs, msp
from inspector.protocol.header import ABSENT
from inspector.protocol.json_values import decode_one
from inspector.protocol.time_columns import parse_times
from inspector.protocol.timestamps import NO_TIME
from inspector.reading.decoder.normalize import IrregularEnvelopes
from inspector.store.columns.block import BLOCK_COLUMNS, OBJECT_KEY
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Decoded, Extracts, extract_records
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
_CALLS_DIFFER, _REFUSED = Flag.CALLS_DIFFER.value, Flag.REFUSED.value
_T = TypeVar("_T")


class EnvelopeHeads:
    """Distinct heads (kind, sender, protocol, recipients) of envelopes, each parsed once.

    Few heads make up most traffic.

    Attributes:
        columns: (n,) arrays by name of BLOCK_COLUMNS, by head number.
        are_special: (n,) True for kinds that need more of their payload than most.
        may_be_foreign: (n,) True without sender and protocol: other programs have kinds, too.
        have_call_payload: (n,) True for kinds with payloads about a call.
    """

    def __init__(self, strings: InternTable[str], to_sets: BlockNameSets) -> None:
        """Starts empty; number 0 is no head."""
        self._strings, self._to_sets = strings, to_sets
        self._heads: InternTable[Any] = InternTable(None)
        self.columns: dict[str, Array] = {name: np.zeros(1, np.uint32) for name in _OF_HEADS}
        self.are_special = self.may_be_foreign = self.have_call_payload = np.zeros(1, np.bool_)

    def number_heads(self, envelopes: Sequence[Any]) -> NDArray[np.uint32]:
        """Returns (n,) the head number of each envelope."""
        known = len(self._heads)
        found = self._heads.intern_all([(e.kind, e.sender, e.protocol, e.to) for e in envelopes], len(envelopes))
        if len(self._heads) > known:
            self._parse_heads(self._heads[known:])
        return found

    def _parse_heads(
        self, heads: Sequence[tuple[str | None, str | None, str | None, tuple[str, ...] | str | None]]
    ) -> None:  # fmt: skip
        kind, sender, protocol, to = zip(*heads, strict=True)
        # Done once per distinct head, not once per envelope.
        split = [kinds.split_kind(k or "") for k in kind]
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
        foreign = [s is None and p is None for s, p in zip(sender, protocol, strict=True)]
        self.are_special = np.concatenate((self.are_special, [_is_special(k or "") for k in kind]))
        self.may_be_foreign = np.concatenate((self.may_be_foreign, foreign))
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
class DecodedRows:
    """Columns of decoded lines among some lines.

    Attributes:
        label: their format; None for lines of several.
        places: (k,) int64, indices of the decoded lines, ascending; the others need the slow path.
        columns: (k,) arrays by name of BLOCK_COLUMNS; missing columns are zero.
        extracts: data for passes, by number among these.
    """

    label: str | None
    places: NDArray[np.int64]
    columns: dict[str, Array]
    extracts: Extracts


ReadRegular = Callable[[Sequence[bytes], BlockTables], DecodedRows]
"""Decodes the lines of one shape and skips others."""


class FastReader(NamedTuple):
    """Reader of one shape of lines, as `Format.fast_lines` names it. No line has two of these shapes.

    Attributes:
        is_own: tells whether a line has the shape.
        read: decodes such lines.
    """

    is_own: Callable[[bytes], bool]
    read: ReadRegular


@cache
def _fast_readers() -> tuple[FastReader, ...]:
    # Imported late, since these modules import this one.
    return tuple(load(one.fast_lines) for one in FORMATS if one.fast_lines)


def choose_reader(lines: Sequence[bytes]) -> ReadRegular | None:
    """Returns the reader of the shape that the first of these lines have."""
    for line in lines[:_PROBED_LINES]:
        for reader in _fast_readers():
            if reader.is_own(line):
                return reader.read
    return None


def merge_rows(parts: Sequence[DecodedRows]) -> tuple[NDArray[np.int64], dict[str, Array], Extracts]:
    """Merges rows in the order of their lines: (n,) int64 places, columns, and extracts by row."""
    places = np.concatenate([part.places for part in parts])
    # A stable sort keeps the order of messages from one line.
    order = np.argsort(places, kind="stable") if (places[1:] < places[:-1]).any() else None
    columns: dict[str, Array] = {}
    for name, dtype in BLOCK_COLUMNS.items():
        if name == "source":
            continue
        column = np.concatenate([
            part.columns[name].astype(dtype, copy=False) if name in part.columns else np.zeros(len(part.places), dtype)
            for part in parts
        ])  # fmt: skip
        columns[name] = column if order is None else column[order]
    # The inverse of `order`: the new place of each old row.
    put: Sequence[int] = range(len(places)) if order is None else np.argsort(order).tolist()
    extracts, before = Extracts(), 0
    for part in parts:
        extracts.add_extracts(part.extracts, put[before : before + len(part.places)])
        before += len(part.places)
    return places if order is None else places[order], columns, extracts


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
        envelopes[place] = decode_irregular(place, raws[place], odd)
    replace_contexts(envelopes, odd)
    return envelopes, odd


def decode_irregular(place: int, raw: bytes | msgspec.Raw, odd: IrregularEnvelopes) -> line_structs.Envelope | None:
    """Decodes an envelope with values of unusual types; None for another line."""
    e = decode_one(line_structs.decode_open_envelope, raw)
    if e is None:
        return None
    return odd.normalize(place, e, e.payload if isinstance(e.payload, calls.Payload) else None)


def replace_contexts(envelopes: Sequence[line_structs.Envelope | None], odd: IrregularEnvelopes) -> None:
    """Replaces contexts that are no path by their keys."""
    for place, e in enumerate(envelopes):
        if e is None or (c := e.context) is None:
            continue
        if (isinstance(c, dict) or c[:1] == OBJECT_KEY) and place not in odd.written:
            odd.replace_context(place, e)


class RegularEnvelopes:
    """The envelopes among some that need no more than their shape.

    Attributes:
        places: (k,) int64, their places; `kept` are they.
        odd: the irregular ones, by number among these.
        columns: (k,) arrays by name of BLOCK_COLUMNS.
    """

    def __init__(
        self, envelopes: Sequence[line_structs.Envelope | None], odd: IrregularEnvelopes,
        raw_of: Callable[[int], bytes | msgspec.Raw], tables: BlockTables,
    ) -> None:  # fmt: skip
        """Derives the columns of envelopes; None for lines of another shape.

        Args:
            envelopes: decoded envelopes.
            odd: the irregular ones, by place.
            raw_of: returns one as written, by place.
            tables: of the block.
        """
        places = np.arange(len(envelopes))
        found = [e for e in envelopes if e is not None]
        if len(found) < len(envelopes):
            places = np.flatnonzero([e is not None for e in envelopes])
        heads = tables.heads.number_heads(found)
        good = np.ones(len(found), np.bool_)
        for number in np.flatnonzero(tables.heads.are_special[heads]).tolist():
            place = int(places[number])
            special = found[number] if place in odd.written else decode_irregular(place, raw_of(place), odd)
            # The line around it may name the sender.
            if special is None or special.sender is None:
                good[number] = False
            else:
                found[number] = special
        for number in np.flatnonzero(tables.heads.may_be_foreign[heads]).tolist():
            good[number] &= found[number].payload is not None
        if not good.all():
            found, places, heads = values_at(found, np.flatnonzero(good)), places[good], heads[good]
        self.places, self.kept, self._tables = places, found, tables
        self.odd = odd.renumbered(places, len(envelopes))
        self.columns = envelope_columns(found, self.odd, heads, tables)

    def extracts(self, raw_of: Callable[[int], Any]) -> Extracts:
        """Returns their extracts; `raw_of` returns one as written."""
        return extracts_of(self.kept, self.odd, raw_of, np.arange(len(self.kept)), self.columns, self._tables)


def _is_special(kind: str) -> bool:
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


def add_line_values(columns: dict[str, Array], strings: InternTable[str]) -> NDArray[np.int64]:
    """Adds sender, time and refusal from the lines around envelopes.

    Args:
        columns: of the envelopes, with `event`, `participant` and `time_ns` of their lines.
        strings: of the block.

    Returns:
        (k,) places of envelopes from a participant that is not named.
    """
    # A gateway names the sender beside the envelope.
    unnamed = _has_any(columns["event"], strings, INBOUND_EVENTS) | _has_any(columns["kind"], strings, (kinds.JOIN,))
    unnamed &= columns["sender"] == 0
    named = unnamed & (columns["participant"] != 0) & ~_has_any(columns["participant"], strings, ("",))
    columns["sender"] = np.where(named, columns["participant"], columns["sender"])
    # Without a readable time of the line, the envelope's own has to do.
    columns["time_ns"] = np.where(columns["time_ns"] == NO_TIME, columns["ts_ns"], columns["time_ns"])
    columns["flags"][_has_any(columns["event"], strings, ("rejected",))] |= np.uint32(_REFUSED)
    return np.flatnonzero(unnamed & ~named)


def _has_any(column: Array, strings: InternTable[str], texts: Sequence[str]) -> NDArray[np.bool_]:
    return np.isin(column, [code for code in map(strings.find, texts) if code is not None])


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
    outcomes = [outcome_flags(p) if p.result or p.error else 0 for p in payloads]
    columns["flags"][put] |= np.array(outcomes, np.uint32)
    rare = tables.heads.are_special[heads[put]].tolist()
    callers = [
        (place, p, is_rare) for place, p, is_rare in zip(places, payloads, rare, strict=True)
        if p.method is not None or is_rare or (p.params is not None and ":" in envelopes[place].kind)
    ]  # fmt: skip
    # Few methods and tools repeat in many calls, so each is analysed once.
    said: InternTable[Any] = InternTable(None)
    keys = [
        place if is_rare or (p.params is not None and p.params.ref is not ABSENT)
        else (envelopes[place].kind, p.method, p.params and (p.params.name, p.params.uri))
        for place, p, is_rare in callers
    ]  # fmt: skip
    which = said.intern_all(keys, len(keys))
    first = np.unique(which, return_index=True)[1].tolist()
    made = [calls.read_call(envelopes[place].kind, p) for place, p, _ in map(callers.__getitem__, first)]
    at_calls = np.array([place for place, *_ in callers], np.int64)
    for name in ("kind", "method", "target"):
        texts = [None, *(getattr(call, name) for call in made)]
        columns[name][at_calls] = strings.intern_all(texts, len(texts))[which]
    conflicts = [0, *(_CALLS_DIFFER if call.has_conflicting_kind else 0 for call in made)]
    columns["flags"][at_calls] |= np.array(conflicts, np.uint32)[which]
    # An error of the gateway is an envelope of its own kind.
    refusals = columns["kind"][put] == (strings.find(_GATEWAY_ERROR) or -1)
    columns["flags"][put[refusals]] |= np.uint32(_ERROR)


def outcome_flags(payload: calls.Payload) -> int:
    """Returns the flags of an answer."""
    flags = _ERROR if payload.has_failed else 0
    return flags | _HAS_META if payload.result and payload.result.meta else flags


def extracts_of(
    envelopes: Sequence[Any], odd: IrregularEnvelopes, raw_of: Callable[[int], Any], rows: NDArray[np.int64],
    columns: dict[str, Array], tables: BlockTables,
) -> Extracts:  # fmt: skip
    """Extracts data for passes from envelopes, by number; `rows` (n,) int64 is the first row of each."""
    several = np.flatnonzero(columns["flags"][rows] & np.uint32(_MANY)).tolist()
    decoded = Decoded(
        raw_of, lambda n: odd.identifier(n, envelopes[n]), [(n, envelopes[n].correlation_id) for n in several],
        odd.contexts, lambda n: envelopes[n].payload,
    )  # fmt: skip
    found = extract_records(columns, rows, tables.strings, decoded)
    found.odd = irregular_forms(envelopes, odd.written, {name: columns[name][rows] for name in _FORM_COLUMNS})
    return found


_FORM_COLUMNS = ("sender", "kind_raw", "kind", "ts_ns", "flags")


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
