"""Groups model requests on one wire into conversations by their shared history (docs/protocols.md 17).

Clients begin several conversations with the same text: main agent, sub-agents and resumed sessions. So a request
continues the conversation with the matching history. Thread ids in a client's headers take precedence: a request never
continues a conversation of another thread.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterable

import numpy as np

from inspector.base.limited_dicts import MAX_REMEMBERED, set_limited
from inspector.protocol.record import ModelCall, Speaker

_MAX_CONVERSATIONS = 1_000
_MAX_COMPARED = 64
"""Limit of compared conversations with the same beginning, latest first."""
_MAX_REQUESTS = 6
"""Requests per conversation that a later one may continue."""


class _SentRequest:
    """One request: hashes of its history with the speaker of each, and hashes of the model's answer."""

    __slots__ = ("answers", "history", "speakers")

    def __init__(self, call: ModelCall) -> None:
        self.history, self.speakers = call.history, call.speakers
        self.answers: set[int] = set()


class _Conversation:
    """One conversation.

    Attributes:
        name: of its space.
        first: history of its first request.
        sent: its last requests; the next request ignores a side question.
        offers, instructs: equal for equal tools, and for system prompts with the same beginning.
    """

    __slots__ = ("first", "instructs", "name", "offers", "sent")

    def __init__(self, name: str, call: ModelCall) -> None:
        self.name, self.first = name, call.history
        self.sent: deque[_SentRequest] = deque(maxlen=_MAX_REQUESTS)
        self.offers, self.instructs = call.tools_hash, call.system_prompt_hash

    def append_request(self, call: ModelCall) -> None:
        self.sent.append(_SentRequest(call))
        self.offers, self.instructs = call.tools_hash, call.system_prompt_hash

    def is_for_other_model(self, call: ModelCall) -> bool:
        """Returns True if a request sends the same text to another model, as for a title or a router's decision."""
        return bool(self.offers) != bool(call.tools_hash) and self.instructs != call.system_prompt_hash

    def rank(self, call: ModelCall) -> tuple[int, int]:
        """Returns a comparable rank of a request as continuation; 0 first if it is none."""
        if self.is_for_other_model(call):
            return 0, 0
        return max((self._rank(one, call) for one in self.sent), default=(0, 0))

    def _rank(self, one: _SentRequest, call: ModelCall) -> tuple[int, int]:
        shared = _common_prefix_length(one.history, call.history)
        left, rest = one.history[shared:], call.history[shared:]
        if not shared:
            return 0, 0
        if not rest:  # repeated, or the user went back; a repeat of the first text starts anew
            is_anew = self.first == call.history and len(self.sent[-1].history) > len(self.first)
            return (0 if is_anew else 3 if left else 5), shared
        # The model's own answer comes back: the best evidence there is.
        if not one.answers.isdisjoint(rest):
            return (2 if left else 5), shared
        if not left:
            return (4 if not one.answers else 3 if call.speakers[shared] != Speaker.USER else 1), shared
        if not set(left).isdisjoint(rest):  # a message in between was changed
            return 2, shared
        was, now = one.speakers[shared], call.speakers[shared]
        is_alike = self.offers == call.tools_hash and self.instructs == call.system_prompt_hash
        # The program has replaced the history by a summary, which looks like a user's message.
        is_compacted = was != Speaker.USER and now == Speaker.USER and is_alike
        has_called = Speaker.CALL in call.speakers[:shared]
        is_changed = has_called and (was == Speaker.RESULT or not one.answers)
        return int(is_compacted or is_changed), shared


class Conversations:
    """Conversations of one source, in request order."""

    def __init__(self) -> None:
        self._all: OrderedDict[str, _Conversation] = OrderedDict()  # by name, the latest last
        self._begun: OrderedDict[tuple[tuple[str, ...], str], list[str]] = OrderedDict()  # by thread and first text
        self._called: OrderedDict[tuple[tuple[str, ...], int], str] = OrderedDict()  # by tool call
        self._offering: OrderedDict[tuple[tuple[str, ...], bytes], str] = OrderedDict()
        self._with_agents: set[str] = set()  # sessions with named sub-agents

    def assign_name(self, call: ModelCall) -> str:
        """Returns the name of a request's conversation and appends the request to it."""
        if not call.opening_hash:  # named by the request itself
            return call.conversation
        key = call.thread, call.opening_hash
        begun = self._begun.get(key, [])
        session, agent = call.thread or ("", "")
        # Bounded, since a wire log may run for weeks.
        if session and agent and len(self._with_agents) < MAX_REMEMBERED:
            self._with_agents.add(session)
        # The most certain evidence first.
        found = (
            self._continued_conversation(call, begun)
            or (None if begun else self._conversation_by_calls(call))
            or self._conversation_by_tools(call)
        )
        if found is None:
            found = _Conversation(self._new_name(call, begun), call)
        found.append_request(call)
        set_limited(self._all, found.name, found, _MAX_CONVERSATIONS)
        set_limited(self._begun, key, [*(one for one in begun if one != found.name), found.name][-_MAX_COMPARED:])
        if call.tools_hash:
            set_limited(self._offering, (call.thread, call.tools_hash + call.system_prompt_hash), found.name)
        return found.name

    def note_answer(self, call: ModelCall, marks: Iterable[str], calls: Iterable[str]) -> None:
        """Records the model's answer to a request.

        Args:
            call: the request; `conversation` is the result of `assign_name`.
            marks: hashes of the answer's parts.
            calls: the hashes among them of tool calls with ids of their own.
        """
        found = self._all.get(call.conversation)
        sent = next((one for one in found.sent if one.history is call.history), None) if found else None
        if sent is not None:
            sent.answers |= {int(mark, 16) for mark in marks}
        for mark in calls:
            set_limited(self._called, (call.thread, int(mark, 16)), call.conversation)

    def _continued_conversation(self, call: ModelCall, begun: list[str]) -> _Conversation | None:
        """Returns the conversation with the same beginning that a request continues."""
        ranked = ((self._all[name].rank(call), self._all[name]) for name in reversed(begun) if name in self._all)
        best = max(ranked, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None and best[0][0] else None

    def _conversation_by_calls(self, call: ModelCall) -> _Conversation | None:
        """Returns the conversation with a tool call in this request; for requests that have lost their beginning."""
        for mark in call.history:
            name = self._called.get((call.thread, mark))
            found = self._all.get(name) if name is not None else None
            if found is not None and not found.is_for_other_model(call):
                return found
        return None

    def _conversation_by_tools(self, call: ModelCall) -> _Conversation | None:
        """Returns the conversation of the same thread with the same tools: its history was compacted as a whole."""
        session, agent = call.thread or ("", "")
        if not agent and session not in self._with_agents:  # agents of one session may be unnamed
            return None
        name = self._offering.get((call.thread, call.tools_hash + call.system_prompt_hash)) if call.tools_hash else None
        return self._all.get(name) if name is not None else None

    def _new_name(self, call: ModelCall, begun: list[str]) -> str:
        """Returns the name derived from the text; for a collision, from the point of divergence."""
        name = call.conversation
        if name not in self._all:
            return name
        known = [self._all[one] for one in begun if one in self._all]
        parts = max((_common_prefix_length(one.first, call.history) for one in known), default=0)
        digest = hashlib.blake2b(f"{name}\0".encode("utf-8", "surrogatepass"), digest_size=8)
        digest.update(call.history[: parts + 1].tobytes())
        while f"conversation-{digest.hexdigest()}" in self._all:
            digest.update(b"\0")
        return f"conversation-{digest.hexdigest()}"


def _common_prefix_length(one: array[int], other: array[int]) -> int:
    """Returns the length of the common prefix of two histories."""
    length = min(len(one), len(other))
    if not length:
        return 0
    differ = np.frombuffer(one, np.uint64, length) != np.frombuffer(other, np.uint64, length)
    first = int(differ.argmax())
    return first if differ[first] else length
