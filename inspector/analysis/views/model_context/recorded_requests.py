"""Builds a model context from recorded requests of the model's API, without assumptions.

A request contains the whole model input (docs/protocols.md 17): system prompt, tool definitions, and all messages,
mostly sent before. So each request defines the context: omitted entries have left, and entries that return after
leaving appear as their copy in that request. Model output stays until the next request. A request that continues an
earlier answer by id sends only new entries; the others stay, except for instructions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.views.model_context.admission import SortedIn
from inspector.analysis.views.model_context.context_owners import model_requests
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.analysis.views.model_context.removals import Left, Payloads
from inspector.base.slices import SlicedWork
from inspector.protocol import kinds
from inspector.protocol.derived_messages import MODEL_CALL_KEY
from inspector.store.columns.hashes import NO_ROW

Rows = NDArray[np.int64]

CACHED_WITH = ("tool_choice", "thinking", "cache_control")
"""Request parameters that a prompt cache depends on, or that request one (docs/protocols.md 17, Prompt caches)."""


_ROLES = {kinds.REQUEST: Role.ASSISTANT, kinds.RESPONSE: Role.TOOL}


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model.

    Attributes:
        message: the request itself.
        last: the last message that it sends.
        stands: (n,) int64, indexes into the context of its entries, in order; after an earlier answer that it
            continues,
            the former entries come first.
        marks: requested cache lifetime of the prefix up to an entry, by its index.
        tools: tool definitions.
        settings: parameters that a cache depends on, and `cache_control` of the whole request.
    """

    message: int
    last: int
    stands: Rows
    marks: dict[int, str]
    tools: list[Any]
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """Content of model requests that exists nowhere else.

    Attributes:
        tools: tool definitions, by index of the request.
        copies: by index of a copy, the removed message it replaces.
        requests: in order.
        texts: by index, text of a message that counts nowhere else.
    """

    tools: dict[int, list[Any]] = field(default_factory=dict)
    copies: dict[int, int] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """True if there are requests, so that the context needs no assumptions."""
        return bool(self.requests)


def follow_requests(analysis: Analysis, sorted_in: SortedIn, left: Left, read: Payloads) -> SlicedWork[Sent]:
    """Sets a context to the content of each model request; leaves other traffic unchanged.

    Args:
        analysis: passes of the capture.
        sorted_in: admitted messages; changed in place, like `left`.
        left: removals.
        read: payload cache; payloads of requests are added.

    Returns:
        Content of requests besides messages.
    """
    requests = model_requests(analysis, sorted_in.rows)
    following = _Following(analysis, sorted_in, left, read)
    yield
    for place in requests.tolist():
        following.apply_request(place)
        yield
    return following.sent


class _Following:
    """Processes the requests of one context in order."""

    def __init__(self, analysis: Analysis, sorted_in: SortedIn, left: Left, read: Payloads) -> None:
        self._capture = analysis.capture
        self._rows, self._roles, self._whys = sorted_in.rows, sorted_in.roles, sorted_in.whys
        self._left = left
        self._read = read
        self._inside: dict[int, int] = {}  # by first message: index of the entry that represents it
        self._instructions: set[int] = set()  # current entries that the next request does not inherit
        self._fed = 0
        self._tools_at: int | None = None
        self.sent = Sent()

    def apply_request(self, place: int) -> None:
        """Admits messages before a request, then applies the request."""
        self._admit(place)
        row, stop = int(self._rows[place]), self._end_of_record(place)
        firsts = self._firsts(place + 1, stop)
        sent = {first: self._standing(first, at) for first, at in zip(firsts, range(place + 1, stop), strict=True)}
        told = self._payload(row).get(MODEL_CALL_KEY)
        told = told if isinstance(told, dict) else {}
        # Without an earlier answer's id, the request is the whole context.
        stays = self._inside if "goes_on_from" in told else {}
        stays = {first: at for first, at in stays.items() if first not in self._instructions}
        for first in self._inside.keys() - sent.keys() - stays.keys():
            self._leave(self._inside[first], row, Why.NOT_SENT)
        self._instructions = set(firsts[: _count(told.get("instructions"))])
        begins = {first: at for first, at in sent.items() if first in self._instructions}
        self._inside = {first: at for first, at in (begins | stays | sent).items() if at is not None}
        self._offer(place, row, told.get("tools"))
        self._fed = stop
        self.sent.requests.append(self._request(place, stop, firsts, told))

    def _request(self, place: int, stop: int, firsts: list[int], told: dict[str, Any]) -> Request:
        marks, tools, settings = (told.get(key) for key in ("cache_marks", "tools", "parameters"))
        marks = marks if isinstance(marks, dict) else {}
        settings = settings if isinstance(settings, dict) else {}
        by_place = {
            self._inside[first]: marks[str(number)]
            for number, first in enumerate(firsts, 1) if str(number) in marks and first in self._inside
        }  # fmt: skip
        return Request(
            int(self._rows[place]), int(self._rows[stop - 1]), np.fromiter(self._inside.values(), np.int64), by_place,
            tools if isinstance(tools, list) else [], {key: settings[key] for key in CACHED_WITH if key in settings},
        )  # fmt: skip

    def _admit(self, stop: int) -> None:
        """Admits messages since the last request: the model's output."""
        for place in range(self._fed, stop):
            if self._roles[place] != Role.NONE and self._left.by[place] == NO_ROW:
                self._inside[int(self._rows[place])] = place
        self._fed = stop

    def _standing(self, first: int, place: int) -> int | None:
        """Returns the index of the entry that represents a sent message; None if it belongs to no role."""
        known = self._inside.get(first)
        if known is None:
            known = place
            if first != self._rows[place]:
                before = int(np.searchsorted(self._rows, first))
                self._roles[place] = self._roles[before]
                self.sent.copies[place] = first
            if self._roles[place] == Role.NONE:
                self._roles[place] = self._role_sent(int(self._rows[place]))
            if self._roles[place] == Role.NONE:
                return None
        if self._whys[known] != Why.PROMPTED:
            self._whys[known] = Why.SENT
        return known

    def _role_sent(self, row: int) -> Role:
        """Returns the role of a call or result whose counterpart is elsewhere."""
        return _ROLES.get(self._capture.string("kind", row) or "", Role.NONE)

    def _offer(self, place: int, row: int, tools: object) -> None:
        if self._tools_at is not None and tools == self.sent.tools[self._tools_at]:
            return
        if self._tools_at is not None:
            self._leave(self._tools_at, row, Why.REPLACED)
            self._tools_at = None
        if isinstance(tools, list) and tools:
            self._roles[place], self._whys[place] = Role.TOOLS, Why.SENT
            self.sent.tools[place] = tools
            self._tools_at = place

    def _leave(self, place: int, row: int, why: Why) -> None:
        self._left.by[place], self._left.whys[place] = row, why

    def _firsts(self, start: int, stop: int) -> list[int]:
        """Returns, by index, the first message with this content."""
        rows = self._rows[start:stop]
        of, copied = self._capture.repeated_within_representation(rows)
        return np.where(copied & (of != NO_ROW), of, rows).tolist()

    def _end_of_record(self, place: int) -> int:
        """Returns the index after the last message of a record."""
        columns, rows = self._capture.columns, self._rows
        row, stop = int(rows[place]), place + 1
        own = columns["source"][row], columns["offset"][row]
        while stop < len(rows) and (columns["source"][rows[stop]], columns["offset"][rows[stop]]) == own:
            stop += 1
        return stop

    def _payload(self, row: int) -> dict[str, Any]:
        found = self._read.get(row)
        if found is None:
            payload = self._capture.records.payload(row)
            # A request repeats its whole conversation, so only its `CALL` part is cached.
            found = self._read[row] = {MODEL_CALL_KEY: payload.get(MODEL_CALL_KEY)}
        return found


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
