"""Normalizes envelopes with values of unusual types to the regular shape.

For example a recipient that is no list, a context written as an object, or a number as id. Column values follow the
regular rules; the few extra facts are kept here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import line_structs
from inspector.protocol.calls import Payload, payload_describes_call, read_payload
from inspector.protocol.context_places import NO_PAYLOAD, ContextSource, find_context, may_name_context
from inspector.protocol.correlation_ids import correlation_ids_of
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.kinds import split_kind
from inspector.protocol.message_text import compact_json
from inspector.protocol.object_contexts import context_and_parents, object_name
from inspector.protocol.timestamps import parse_date
from inspector.store.columns.block import OBJECT_KEY
from inspector.store.columns.columns import Array
from inspector.store.columns.flags import Flag

CONTEXT_PLACE_FLAGS = {
    ContextSource.KIND: Flag.CONTEXT_IN_KIND.value, ContextSource.PAYLOAD: Flag.CONTEXT_IN_PAYLOAD.value,
    ContextSource.THREAD: Flag.CONTEXT_IN_THREAD.value, ContextSource.REASONING_ID: Flag.CONTEXT_IN_REASONING.value,
}  # fmt: skip
"""Flags of messages with a context named elsewhere than in `context`."""
_OBJECT_CONTEXT, _BAD_CONTEXT = Flag.OBJECT_CONTEXT.value, Flag.BAD_CONTEXT.value
_NO_ID = Flag.NO_ID.value


def recipients(value: object) -> tuple[str, ...]:
    """Normalizes `to` (docs/protocols.md 2): a string becomes a list of one, other types become empty."""
    if isinstance(value, str):
        return (value,)
    return tuple([item for item in value if isinstance(item, str)]) if isinstance(value, list) else ()


def context_key(value: object) -> tuple[str | None, int]:
    """Returns the observed key of a context and its flags (docs/protocols.md 6, 7)."""
    if value is ABSENT or value is None:
        return None, 0
    if isinstance(value, str):
        # A path with the marker character of opaque ids shows a picture of it instead.
        return (f"\N{SYMBOL FOR NULL}{value[1:]}" if value.startswith(OBJECT_KEY) else value), 0
    if isinstance(value, dict):
        return OBJECT_KEY + object_name(value), _OBJECT_CONTEXT
    return None, _BAD_CONTEXT


def relevant_payload(header: Header) -> Payload | None:
    """Decodes an envelope's payload if it describes a call or may name a context; few do."""
    name = split_kind(header.kind).name if isinstance(header.kind, str) else ""
    is_read = bool(header.payload) and (payload_describes_call(name) or may_name_context(header.payload))
    return read_payload(header.payload) if is_read else None


class IrregularEnvelopes:
    """Irregular envelopes by place, with the values that do not fit into `line_structs.Envelope`.

    Attributes:
        written: envelopes and decoded payloads, without those that are regular except for the context.
        contexts: object contexts (`object_contexts.context_and_parents`).
    """

    def __init__(self) -> None:
        self.written: dict[int, tuple[line_structs.WrittenEnvelope, Payload]] = {}
        self.contexts: dict[int, tuple[dict[str, Any], ...]] = {}
        self._flags: dict[int, int] = {}
        self._times: dict[int, int] = {}

    def normalize(self, place: int, e: line_structs.WrittenEnvelope, payload: Payload | None) -> line_structs.Envelope:
        """Returns an envelope in the regular shape, and records the rest.

        Args:
            place: of the envelope.
            e: the envelope as written.
            payload: its decoded payload; None if it has neither a call nor a context.
        """
        told = payload or NO_PAYLOAD
        self.written[place] = e, told
        context, source = find_context(e, told)
        named, ts = correlation_ids_of(e, told), e.ts
        if not isinstance(ts, str):
            if ts is not ABSENT and ts is not None:
                self._times[place] = parse_date(ts)
            ts = None
        envelope = line_structs.Envelope(
            _text(e.kind), _text(e.protocol), _text(e.id), ts, _text(e.sender), recipients(e.to) or None,  # type: ignore[arg-type] - a kind may be missing
            tuple(named) or None, context, payload, e.space,  # type: ignore[arg-type] - a payload that the strict decoder refuses
        )  # fmt: skip
        self.replace_context(place, envelope, CONTEXT_PLACE_FLAGS.get(source, 0))
        return envelope

    def replace_context(self, place: int, e: line_structs.Envelope, flags: int = 0) -> None:
        """Replaces a context by its key.

        Args:
            place: of the envelope.
            e: the envelope, with its context as written.
            flags: of the context's place.
        """
        written: object = e.context
        if isinstance(written, dict):
            self.contexts[place] = context_and_parents(written)
        e.context, more = context_key(written)
        if flags or more:
            self._flags[place] = flags | more

    def renumbered(self, places: NDArray[np.int64], count: int) -> IrregularEnvelopes:
        """Returns the entries at the given places, renumbered.

        Args:
            places: (k,) int64, ascending.
            count: number of places before.
        """
        if len(places) == count or not (self.written or self.contexts):
            return self
        number = dict(zip(places.tolist(), range(len(places)), strict=True))
        found = IrregularEnvelopes()
        for part, own in vars(self).items():
            setattr(found, part, {number[place]: value for place, value in own.items() if place in number})
        return found

    def add_to_columns(self, columns: dict[str, Array]) -> None:
        """Adds flags and times to columns of the normalized envelopes."""
        for number, flags in self._flags.items():
            columns["flags"][number] |= flags
        for number, ts_ns in self._times.items():
            columns["ts_ns"][number] = ts_ns
        strange = [n for n, (e, _) in self.written.items() if type(e.id) is not str and e.id not in (ABSENT, None)]
        columns["flags"][strange] &= np.uint32(~_NO_ID & 0xFFFFFFFF)

    def identifier(self, number: int, e: line_structs.Envelope) -> str | None:
        """Returns the id of an envelope as a text."""
        found = self.written[number][0].id if number in self.written else e.id
        if found is ABSENT or found is None:
            return None
        return found if isinstance(found, str) else compact_json(found)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
