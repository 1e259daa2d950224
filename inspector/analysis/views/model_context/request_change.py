"""Compares a model request with the one before it, to explain prompt cache hits and misses.

Prompt caches store prefixes: tool definitions, then system prompt and messages. Everything up to the first difference
from an earlier request can be read from a cache, and nothing after it (docs/protocols.md 17, Prompt caches). Cache
reads and writes are reported; this module finds their reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.tokens.reported_usage import NOT_REPORTED, USAGE_KINDS, Usage
from inspector.analysis.views.model_context.reasons import Role
from inspector.analysis.views.model_context.reconstruction import ModelContext, Moment
from inspector.analysis.views.model_context.recorded_requests import CACHED_WITH, Request
from inspector.formats.model_vocabulary import cache_mark, tool_name
from inspector.formats.table import UNCACHED_OPERATIONS
from inspector.protocol.timestamps import NO_TIME

Places = NDArray[np.int64]

_NONE: Places = np.empty(0, np.int64)
_ASKS = "cache_control"


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """First difference between a request and the one before; nothing after it was cached.

    Attributes:
        tool, setting: name of the differing tool or parameter; "" for an entry.
        now: index of the entry at this position.
        before: index of the entry that was there before.
        is_inserted: True if the former entry follows later, after an insertion.
    """

    tool: str = ""
    setting: str = ""
    now: int | None = None
    before: int | None = None
    is_inserted: bool = False


@dataclass(frozen=True, slots=True)
class RequestChange:
    """A request and the previous one of the same model. Indexes are of the context's arrays.

    Attributes:
        context: the context.
        request: the last request.
        before: the previous one; None for the first.
        shared: length of the common prefix, in entries.
        first_difference: None if one request is a prefix of the other.
        added, dropped: entries only in this request; entries only in the previous one.
        compacted: dropped entries with a replacement.
        answer: the message that reports cache reads; None without one.
        usage: its values.
        waited_ns: time since the previous request; None if unknown.
    """

    context: ModelContext
    request: Request
    before: Request | None
    shared: int
    first_difference: FirstDifference | None
    added: Places
    dropped: Places
    compacted: Places
    answer: int | None
    usage: Usage | None
    waited_ns: int | None

    @property
    def is_unasked(self) -> bool:
        """True if the request does not ask for a cache and its API never caches by itself."""
        analysis, request = self.context.analysis, self.request
        method = analysis.capture.strings[int(analysis.correlation.columns["method"][request.message])]
        asks = bool(request.marks) or _ASKS in request.settings
        asks = asks or any(cache_mark(tool) is not None for tool in request.tools)
        return method in UNCACHED_OPERATIONS and not asks

    @property
    def not_cached_from(self) -> int | None:
        """Index of the first differing entry; None without one, or if a parameter differs."""
        found = self.first_difference
        return None if found is None else self._tools_at if found.tool else found.now

    @property
    def _tools_at(self) -> int | None:
        context = self.context
        listed = [place for place in context.sent.tools if context.rows[place] <= self.request.message]
        return listed[-1] if listed and self.request.tools else None

    @property
    def could_be_read(self) -> int:
        """Estimated tokens of the common prefix; 0 if there is none or it is uncounted."""
        found = self.first_difference
        if self.before is None or (found is not None and found.tool):
            return 0
        tools = [] if self._tools_at is None else [self._tools_at]
        places = [*tools, *self.request.stands[: self.shared].tolist()]
        return int(np.maximum(self.context.whole_tokens[places], 0).sum())


def request_at(moment: Moment) -> RequestChange | None:
    """Returns the last request at a moment and its changes; None if no model request was recorded."""
    request, context, analysis = moment.request, moment.context, moment.context.analysis
    if request is None:
        return None
    before = _before(context, request)
    answer = context.answer_to(request)
    reported = None
    if answer is not None:
        row = np.array([answer], np.int64)
        reported = Usage(*(int(analysis.usage.numbers_at(name, row)[0]) for name in USAGE_KINDS))
    usage = None if reported is None or reported.input == NOT_REPORTED else reported
    reporter = answer if usage is not None else None
    if before is None:
        return RequestChange(
            context, request, None, 0, None, request.stands, _NONE, _NONE, reporter, usage, None,
        )  # fmt: skip
    shared = _shared(before.stands, request.stands)
    added = request.stands[~np.isin(request.stands, before.stands)]
    gone = ~np.isin(before.stands, request.stands)
    return RequestChange(
        context, request, before, shared, _first_difference(context, before, request, shared), added,
        before.stands[gone], _compacted(before.stands, gone, request.stands), reporter, usage,
        _waited_ns(context, before, request),
    )  # fmt: skip


def _before(context: ModelContext, request: Request) -> Request | None:
    """Returns the request that one continues: the last of the same model, without attempts of the same call.

    A side question is skipped if its last messages are missing in the later request and an earlier request's history is
    completely contained in it.
    """
    target, capture = context.analysis.correlation.columns["target"], context.analysis.capture
    model, call = target[request.message], capture.records.envelope_id(request.message)
    before = [one for one in context.sent.requests if one.message < request.message and target[one.message] == model]
    last: Request | None = None
    now = _history(context, request)
    for one in reversed(before[-_MOST_LOOKED_AT:]):
        if capture.records.envelope_id(one.message) == call:
            continue
        history = _history(context, one)
        shared = _shared(history, now)
        # A request that the later one contains completely is its predecessor for certain.
        if shared == len(history):
            return one
        last = last or one
        left = history[shared:]
        is_side = not np.isin(left, now).any() and not (context.roles[left] == Role.ASSISTANT).any()
        if not is_side:
            return last
    return last


_MOST_LOOKED_AT = 8


def _history(context: ModelContext, request: Request) -> Places:
    """Returns the entries of a request without system prompts, which clients change often."""
    return request.stands[context.roles[request.stands] != Role.SYSTEM]


def _shared(before: Places, now: Places) -> int:
    """Returns the length of the common prefix of two sequences."""
    length = min(len(before), len(now))
    differ = np.flatnonzero(before[:length] != now[:length])
    return int(differ[0]) if len(differ) else length


def _compacted(before: Places, gone: NDArray[np.bool_], now: Places) -> Places:
    """Returns the removed runs with a new entry in their place."""
    at = {place: number for number, place in enumerate(now.tolist())}
    is_new = ~np.isin(now, before)
    compacted = np.zeros(len(before), np.bool_)
    follows = 0  # position in the request after the last common entry
    run = 0
    for number in range(len(before) + 1):
        if number < len(before) and gone[number]:
            continue
        if number > run and follows < len(now) and is_new[follows]:
            compacted[run:number] = True
        if number < len(before):
            follows, run = at[int(before[number])] + 1, number + 1
    return before[compacted & gone]


def _first_difference(context: ModelContext, before: Request, request: Request, shared: int) -> FirstDifference | None:
    tool = _differing_tool(before.tools, request.tools)
    if tool:
        return FirstDifference(tool=tool)
    now = int(request.stands[shared]) if shared < len(request.stands) else None
    stood = int(before.stands[shared]) if shared < len(before.stands) else None
    entry = None
    if now is not None and stood is not None:
        entry = FirstDifference(now=now, before=stood, is_inserted=stood in request.stands[shared:])
    if entry is not None and context.roles[entry.before] == Role.SYSTEM:
        return entry
    # Parameters that affect message caching come after the system prompt.
    setting = next(
        (key for key in CACHED_WITH if key != _ASKS and before.settings.get(key) != request.settings.get(key)), ""
    )
    return FirstDifference(setting=setting) if setting else entry


def _differing_tool(before: Sequence[Any], now: Sequence[Any]) -> str:
    """Returns the name of the first differing tool definition, ignoring cache marks; "" if all are equal."""
    for one, other in zip_longest(before, now):
        if _without_mark(one) != _without_mark(other):
            return tool_name(other if other is not None else one)
    return ""


def _without_mark(tool: Any) -> Any:
    return {key: value for key, value in tool.items() if key != _ASKS} if isinstance(tool, Mapping) else tool


def _waited_ns(context: ModelContext, before: Request, request: Request) -> int | None:
    times = context.analysis.capture.columns["time_ns"]
    began, ended = int(times[before.message]), int(times[request.message])
    return None if NO_TIME in (began, ended) or ended < began else ended - began
