"""Normalizes envelopes with values of unusual types to the regular shape.

For example a recipient that is no list, a context written as an object, or a number as id. Column values follow the
regular rules; the few extra facts are kept here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import line_structs
from inspector.protocol.context_places import (
    NO_CONTEXT_PAYLOAD,
    ContextSource,
    PayloadContextFields,
    find_context_outside_field,
)
from inspector.protocol.header import ABSENT
from inspector.protocol.message_text import compact_json
from inspector.protocol.object_contexts import context_and_parents, object_name
from inspector.protocol.timestamps import parse_date
from inspector.store.columns.block import OBJECT_KEY
from inspector.store.columns.columns import Array
from inspector.store.columns.flags import Flag
from inspector.store.columns.irregular_forms import IrregularForm, irregular_form

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


class IrregularEnvelopes:
    """Irregular envelopes by place, with the values that do not fit into `line_structs.Envelope`.

    Attributes:
        envelopes: as decoded, without those that are regular except for an object context.
        contexts: object contexts (`object_contexts.context_and_parents`).
        forms: irregular form of the first envelope of each sender and kind with one.
    """

    def __init__(self) -> None:
        self.envelopes: dict[int, line_structs.OpenEnvelope] = {}
        self.contexts: dict[int, tuple[dict[str, Any], ...]] = {}
        self.forms: dict[int, IrregularForm] = {}
        self._flags: dict[int, int] = {}
        self._times: dict[int, int] = {}
        self._seen: set[tuple[str, str, bool]] = set()

    def __contains__(self, place: int) -> bool:
        return place in self.envelopes or place in self.contexts

    def normalize_envelope(self, place: int, e: line_structs.OpenEnvelope) -> line_structs.Envelope:
        """Returns the envelope in the regular shape, and records the rest."""
        self.envelopes[place] = e
        payload = e.payload if type(e.payload) is line_structs.OpenPayload else None
        elsewhere = _has_other_context_field(e, payload)
        context, ts, named = e.context, e.ts, e.correlation_id
        if type(context) is not str or context[:1] == OBJECT_KEY:
            context = self.context_key_at(place, e, payload or NO_CONTEXT_PAYLOAD, elsewhere=elsewhere)
        odd = elsewhere or e.correlationId is not ABSENT
        if named is ABSENT:
            named = e.correlationId
        if type(named) is list:
            named = tuple([item for item in named if isinstance(item, str)]) or None
            odd = odd or named is None
        elif type(named) is not str:
            odd = odd or (named is not ABSENT and named is not None)
            named = None
        sender = e.sender if type(e.sender) is str else None
        if type(ts) is not str:
            if ts is not ABSENT and ts is not None:
                self._times[place] = parse_date(ts)
                odd = True
            ts = None
        # The checks use only the first of each sender and kind.
        if odd and sender is not None and (key := (sender, e.kind, named is not None)) not in self._seen:
            self._seen.add(key)
            form = irregular_form(e, parse_date(e.ts), payload or NO_CONTEXT_PAYLOAD)
            if form is not None:
                self.forms[place] = form
        return line_structs.Envelope(
            e.kind, e.protocol if type(e.protocol) is str else None, e.id if type(e.id) is str else None, ts, sender,
            recipients(e.to) or None, named, context, payload, e.space,  # type: ignore[arg-type] - a mapping read like a Payload
        )  # fmt: skip

    def context_key_at(
        self, place: int, e: line_structs.OpenEnvelope | line_structs.Envelope, payload: PayloadContextFields, *,
        elsewhere: bool
    ) -> str | None:  # fmt: skip
        """Returns the key of a context that is no path.

        Args:
            place: of the envelope.
            e: the envelope.
            payload: its context fields.
            elsewhere: another field may name the context.
        """
        written, flags = e.context, 0
        if elsewhere and (written is ABSENT or written is None):
            written, told = find_context_outside_field(e, payload)
            flags = CONTEXT_PLACE_FLAGS.get(told, 0)
        key, more = context_key(written)
        if flags or more:
            self._flags[place] = flags | more
        if isinstance(written, dict):
            self.contexts[place] = context_and_parents(written)
        return key

    def renumbered(self, places: NDArray[np.int64], count: int) -> IrregularEnvelopes:
        """Returns the entries at the given places, renumbered.

        Args:
            places: (k,) int64, ascending.
            count: number of places before.
        """
        if len(places) == count or not (self.envelopes or self.contexts):
            return self
        number = dict(zip(places.tolist(), range(len(places)), strict=True))
        found = IrregularEnvelopes()
        for part in ("envelopes", "contexts", "forms", "_flags", "_times"):
            own = getattr(self, part)
            setattr(found, part, {number[place]: value for place, value in own.items() if place in number})
        return found

    def add_to_columns(self, columns: dict[str, Array]) -> None:
        """Adds flags and times to columns of the normalized envelopes."""
        for number, flags in self._flags.items():
            columns["flags"][number] |= flags
        for number, ts_ns in self._times.items():
            columns["ts_ns"][number] = ts_ns
        strange = [n for n, e in self.envelopes.items() if type(e.id) is not str and e.id not in (ABSENT, None)]
        columns["flags"][strange] &= np.uint32(~_NO_ID & 0xFFFFFFFF)

    def identifier(self, number: int) -> str | None:
        """Returns the id of an irregular envelope as a text."""
        found = self.envelopes[number].id
        if found is ABSENT or found is None:
            return None
        return found if isinstance(found, str) else compact_json(found)


def _has_other_context_field(e: line_structs.OpenEnvelope, payload: line_structs.OpenPayload | None) -> bool:
    """Returns True if a field other than `context` may name a context; few envelopes have one."""
    if e.thread_id is not ABSENT or e.threadId is not ABSENT:
        return True
    return payload is not None and not (
        payload.context is ABSENT and payload.reasoning_id is ABSENT and payload.context_id is ABSENT
        and payload.thread_id is ABSENT and payload.threadId is ABSENT
    )  # fmt: skip
