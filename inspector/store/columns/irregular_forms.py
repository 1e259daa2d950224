"""Irregular envelope forms and fields: spellings of another protocol version, which no column shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import line_structs, msp
from inspector.protocol.context_places import PayloadContextFields, other_context_field
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.intern_table import InternTable

_LIST_PROTOCOLS, _TEXT_PROTOCOLS = ("mew/", "meup/"), ("mcp-x/v0", "mcpx/v0.1")
"""Prefixes of protocols with a list in correlation_id; protocols with one text there."""
_MAX_TIME_LENGTH = 40  # characters of a value in the place of a time


class IrregularForm(NamedTuple):
    """Deviations of an envelope from its version, in words, else ""."""

    correlation: str
    ts: str
    context: str
    """The field beside `context` that names one."""


def irregular_form(
    header: Header | line_structs.OpenEnvelope, ts_ns: int, payload: PayloadContextFields | None = None
) -> IrregularForm | None:
    """Returns the deviations of an envelope; None for most.

    Args:
        header: of an envelope that has a kind.
        ts_ns: its parsed `ts`.
        payload: the decoded payload; None if the header has it as written.
    """
    protocol = header.protocol if isinstance(header.protocol, str) else ""
    found = IrregularForm(
        "correlationId, the name one draft had"
        if header.correlationId is not ABSENT
        else _correlation(header.correlation_id, protocol),
        _time(header.ts, protocol) if ts_ns == NO_TIME else "",
        other_context_field(header, payload),
    )
    return found if any(found) else None


def _correlation(written: object, protocol: str) -> str:
    if isinstance(written, str):
        return f"a text; {protocol} has a list" if protocol.startswith(_LIST_PROTOCOLS) else ""
    if isinstance(written, list):
        return f"a list; {protocol} has one text" if protocol in _TEXT_PROTOCOLS else ""
    return "" if written is ABSENT or written is None else "something that is neither a list nor a text"


def _time(written: object, protocol: str) -> str:
    """Returns a short description of a value in the place of a time."""
    if written is ABSENT or written is None or protocol == msp.PROTOCOL:
        return ""
    if isinstance(written, dict | list):
        return "an object" if isinstance(written, dict) else "a list"
    text = json.dumps(written, ensure_ascii=False)
    return text if len(text) <= _MAX_TIME_LENGTH else f"{text[:_MAX_TIME_LENGTH]}…"


def irregular_forms(
    envelopes: Sequence[line_structs.Envelope | Any], columns: dict[str, NDArray[Any]], strings: InternTable[str]
) -> dict[int, IrregularForm]:
    """Returns the deviations of many regular envelopes, by their places in the columns.

    Only the first of each sender and kind, with and without correlation, since checks use no other.
    """
    # Types are compared per draft: some write a list of ids, others a single text.
    codes = set(columns["protocol"].tolist())
    protocols = {code: strings[code] if code else "" for code in codes}
    lists = [code for code, name in protocols.items() if name.startswith(_LIST_PROTOCOLS)]
    texts = [code for code, name in protocols.items() if name in _TEXT_PROTOCOLS]
    wrong = columns["ts_ns"] == NO_TIME
    correlated = columns["flags"] & np.uint32(Flag.CORRELATED.value) != 0
    types = {type(e.correlation_id) for e in envelopes}
    for written, those in ((str, lists), (tuple, texts)):
        for code in those if written in types else ():
            places = np.flatnonzero(correlated & (columns["protocol"] == code))
            such = [type(envelopes[place].correlation_id) is written for place in places.tolist()]
            wrong[places] |= np.array(such, np.bool_)
    places = np.flatnonzero(wrong & (columns["sender"] != 0))
    # Packs sender, kind and correlation into one integer, so that `unique` finds the first of each.
    keys = columns["sender"][places].astype(np.int64) << 32 | columns["kind"][places]
    keys = keys << 1 | (columns["flags"][places] & Flag.CORRELATED.value != 0)
    found: dict[int, IrregularForm] = {}
    for place in places[np.unique(keys, return_index=True)[1]].tolist():
        e, protocol = envelopes[place], protocols[int(columns["protocol"][place])]
        named = list(e.correlation_id) if type(e.correlation_id) is tuple else e.correlation_id
        ts = _time(e.ts, protocol) if int(columns["ts_ns"][place]) == NO_TIME else ""
        odd = IrregularForm(_correlation(named, protocol), ts, "")
        if any(odd):
            found[place] = odd
    return found
