"""Irregular envelope forms and fields: spellings of another protocol version, which no column shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import msp
from inspector.protocol.calls import Payload
from inspector.protocol.context_places import NO_PAYLOAD, other_context_field
from inspector.protocol.header import ABSENT
from inspector.protocol.line_structs import Envelope, WrittenEnvelope
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

_LIST_PROTOCOLS, _TEXT_PROTOCOLS = ("mew/", "meup/"), ("mcp-x/v0", "mcpx/v0.1")
"""Prefixes of protocols with a list in correlation_id; protocols with one text there."""
_MAX_TIME_LENGTH = 40  # characters of a value in the place of a time


class IrregularForm(NamedTuple):
    """Deviations of an envelope from its version, in words, else ""."""

    correlation: str
    ts: str
    context: str
    """The field beside `context` that names one."""


def irregular_forms(
    envelopes: Sequence[Envelope], written: Mapping[int, tuple[WrittenEnvelope, Payload]],
    columns: dict[str, NDArray[Any]],
) -> dict[int, IrregularForm]:  # fmt: skip
    """Returns the deviations of envelopes by their places in the columns.

    Only the first of each sender and kind, with and without correlation, since checks use no other.

    Args:
        envelopes: in their regular shape.
        written: headers and payloads of irregular ones, by place.
        columns: sender, kind_raw, kind, ts_ns and flags of the envelopes.
    """
    correlated = columns["flags"] & np.uint32(Flag.CORRELATED.value) != 0
    # Others have nothing that may deviate.
    candidates = correlated | (columns["ts_ns"] == NO_TIME)
    candidates[[*written]] = True
    places = np.flatnonzero(candidates & (columns["sender"] != 0) & (columns["kind_raw"] != 0))
    # Packs sender, kind and correlation into one integer, so that `unique` finds the first of each.
    keys = columns["sender"][places].astype(np.int64) << 32 | columns["kind"][places]
    first = np.unique(keys << 1 | correlated[places], return_index=True)[1]
    found = {
        place: _form_of(*written.get(place, (envelopes[place], NO_PAYLOAD)), int(columns["ts_ns"][place]))
        for place in places[first].tolist()
    }
    return {place: form for place, form in found.items() if any(form)}


def _form_of(e: WrittenEnvelope | Envelope, payload: Payload, ts_ns: int) -> IrregularForm:
    protocol = e.protocol if isinstance(e.protocol, str) else ""
    return IrregularForm(
        "correlationId, the name one draft had"
        if e.correlationId is not ABSENT
        else _correlation(e.correlation_id, protocol),
        _time(e.ts, protocol) if ts_ns == NO_TIME else "",
        other_context_field(e, payload),
    )


def _correlation(written: object, protocol: str) -> str:
    if isinstance(written, str):
        return f"a text; {protocol} has a list" if protocol.startswith(_LIST_PROTOCOLS) else ""
    if isinstance(written, list | tuple):
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
