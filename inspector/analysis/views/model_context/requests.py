"""What a model was sent, word for word: where its own API was recorded, nothing about its context is assumed.

A request to a model holds everything the model is given (docs/protocols.md 17): its system prompt, the definitions of
tools, and every message, most of them sent before. So with each request the context becomes what the request sends:
what it leaves out has left, what comes again after it had left stands there again, as the copy in that request. What
the model then says is its own until the next request sends it or does not. A request that goes on from an earlier
answer by its id sends what is new, and the rest stays but for the instructions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.views.model_context.admission import SortedIn
from inspector.analysis.views.model_context.eviction import Left, Payloads
from inspector.analysis.views.model_context.reader import model_requests
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.base.slices import Steps
from inspector.protocol import kinds
from inspector.protocol.derived_messages import CALL
from inspector.store.columns.hashes import NO_ROW

Rows = NDArray[np.int64]

CACHED_WITH = ("tool_choice", "thinking", "cache_control")
"""Parameters of a request that a prompt cache depends on (docs/protocols.md 17, Prompt caches), or that ask for one."""


_ROLES = {kinds.REQUEST: Role.ASSISTANT, kinds.RESPONSE: Role.TOOL}


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model.

    Attributes:
        message: the request itself.
        last: the last message that it sends.
        stands: (n,) int64, places in the context of what stands for each entry that the model is given, in their
            order; behind an earlier answer that it goes on from, what stood before comes first.
        marks: how long a prompt cache is asked to hold all up to an entry, by its place.
        tools: definitions of tools.
        settings: those of its parameters that a cache depends on, and `cache_control` of all of it.
    """

    message: int
    last: int
    stands: Rows
    marks: dict[int, str]
    tools: list[Any]
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """What requests to a model sent that stands nowhere else.

    Attributes:
        tools: definitions of tools, by the place of the request.
        copies: by the place of a copy that stands for a message that had left, that message.
        requests: in the order they were made.
        texts: by place, what a message says that counts nowhere else.
    """

    tools: dict[int, list[Any]] = field(default_factory=dict)
    copies: dict[int, int] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether there are such requests: nothing of the context is assumed."""
        return bool(self.requests)


def follow_requests(analysis: Analysis, sorted_in: SortedIn, left: Left, read: Payloads) -> Steps[Sent]:
    """Let a context be what each request to its model sends; of other traffic nothing changes.

    Args:
        analysis: of the capture.
        sorted_in: what came into it; changed in place, as is `left`.
        left: what went out of it.
        read: payloads that were read already; those of requests are added.

    Returns:
        What requests sent beside messages.
    """
    requests = model_requests(analysis, sorted_in.rows)
    following = _Following(analysis, sorted_in, left, read)
    yield
    for place in requests.tolist():
        following.take(place)
        yield
    return following.sent


class _Following:
    """Walks the requests of one context in the order they were made."""

    def __init__(self, analysis: Analysis, sorted_in: SortedIn, left: Left, read: Payloads) -> None:
        self._capture = analysis.capture
        self._rows, self._roles, self._whys = sorted_in.rows, sorted_in.roles, sorted_in.whys
        self._left = left
        self._read = read
        self._inside: dict[int, int] = {}  # by the message that was first, the place of what stands for it
        self._instructions: set[int] = set()  # of what stands inside, what the next request does not inherit
        self._fed = 0
        self._tools_at: int | None = None
        self.sent = Sent()

    def take(self, place: int) -> None:
        """Take in what was said before a request, then what the request sends."""
        self._admit(place)
        row, stop = int(self._rows[place]), self._end_of_record(place)
        firsts = self._firsts(place + 1, stop)
        sent = {first: self._standing(first, at) for first, at in zip(firsts, range(place + 1, stop), strict=True)}
        told = self._payload(row).get(CALL)
        told = told if isinstance(told, dict) else {}
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
        """What stands there since the last request: what the model said."""
        for place in range(self._fed, stop):
            if self._roles[place] != Role.NONE and self._left.by[place] == NO_ROW:
                self._inside[int(self._rows[place])] = place
        self._fed = stop

    def _standing(self, first: int, place: int) -> int | None:
        """The place of what stands for a message that a request sends; None for what is nobody's message."""
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
        """As whose words a request sends a call or a result whose other half is told elsewhere."""
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
        """For each place the message that was first to say what stands there."""
        rows = self._rows[start:stop]
        of, copied = self._capture.copies_within(rows)
        return np.where(copied & (of != NO_ROW), of, rows).tolist()

    def _end_of_record(self, place: int) -> int:
        """The place behind the last message of a record."""
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
            # Of a request, which holds its whole conversation again, only what is asked of it is stored.
            found = self._read[row] = {CALL: payload.get(CALL)}
        return found


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
