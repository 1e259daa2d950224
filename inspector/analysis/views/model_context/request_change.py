"""How a request to a model differs from the one before it, and so what of it a prompt cache could hold.

Prompt caches hold beginnings: of what a request sends, definitions of tools first, then system prompt and messages,
all up to the first thing that differs from an earlier request can be read from a cache, and nothing behind it
(docs/protocols.md 17, Prompt caches). What was read and written is reported; why is told from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.tokens.reported_usage import NOT_REPORTED, USAGE, Usage
from inspector.analysis.views.model_context.reasons import Role
from inspector.analysis.views.model_context.requests import CACHED_WITH, Request
from inspector.analysis.views.model_context.story import ModelContext, Moment
from inspector.protocol.formats.api_messages import cache_mark, tool_name
from inspector.protocol.model_api.operations import ANTHROPIC
from inspector.protocol.timestamps import NO_TIME

Places = NDArray[np.int64]

_NONE: Places = np.empty(0, np.int64)
_ASKS = "cache_control"


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first thing in which a request differs from the one before; of what stands behind it nothing was cached.

    Attributes:
        tool, setting: the name of the tool, or parameter, that differs; "" for an entry.
        now: the place of the entry that stands there.
        before: the place of the one that stood there.
        is_inserted: what stood there before comes later; something was put in front of it.
    """

    tool: str = ""
    setting: str = ""
    now: int | None = None
    before: int | None = None
    is_inserted: bool = False


@dataclass(frozen=True, slots=True)
class RequestChange:
    """A request, and the last one of the same model before it. Places are of the context's arrays.

    Attributes:
        context: of whose model.
        request: what was sent last.
        before: the one before; None for the first.
        shared: so many entries stand at the beginning of both.
        first_difference: None where one of the two begins with all that the other sent.
        added, dropped: what it sends that the one before did not; what it does not send any more.
        compacted: of what was dropped, that in whose place something else is sent.
        answer: the message that reports what was read from a cache; None where none does.
        usage: what it reports.
        waited_ns: since the one before; None where that is not known.
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
        """Whether nothing in the request asks for a cache, where the API reads and writes none unasked."""
        analysis, request = self.context.analysis, self.request
        method = analysis.capture.strings[int(analysis.correlation.columns["method"][request.message])]
        asks = bool(request.marks) or _ASKS in request.settings
        asks = asks or any(cache_mark(tool) is not None for tool in request.tools)
        return method == ANTHROPIC.name and not asks

    @property
    def not_cached_from(self) -> int | None:
        """The place of the entry that differs first; None where none does, or another parameter."""
        found = self.first_difference
        return None if found is None else self._tools_at if found.tool else found.now

    @property
    def _tools_at(self) -> int | None:
        context = self.context
        listed = [place for place in context.sent.tools if context.rows[place] <= self.request.message]
        return listed[-1] if listed and self.request.tools else None

    @property
    def could_be_read(self) -> int:
        """Tokens that its beginning has in common with the one before, an estimate; 0 for none or not counted."""
        found = self.first_difference
        if self.before is None or (found is not None and found.tool):
            return 0
        tools = [] if self._tools_at is None else [self._tools_at]
        places = [*tools, *self.request.stands[: self.shared].tolist()]
        return int(np.maximum(self.context.whole_tokens[places], 0).sum())


def request_at(moment: Moment) -> RequestChange | None:
    """What was sent last at a moment, and what was changed for it; None where no request to a model was recorded."""
    request, context, analysis = moment.request, moment.context, moment.context.analysis
    if request is None:
        return None
    before = _before(context, request)
    answer = context.answer_to(request)
    told = None
    if answer is not None:
        row = np.array([answer], np.int64)
        told = Usage(*(int(analysis.usage.at(name, row)[0]) for name in USAGE))
    usage = None if told is None or told.input == NOT_REPORTED else told
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
    """The request that one goes on from: the last of the same model; attempts of the same call do not count.

    A side question, whose last words the later request does not send, is none where an earlier request has all its
    history in the later one.
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
    """What a request sends but for system prompts, which clients change from request to request."""
    return request.stands[context.roles[request.stands] != Role.SYSTEM]


def _shared(before: Places, now: Places) -> int:
    """How many places two sequences begin with alike."""
    length = min(len(before), len(now))
    differ = np.flatnonzero(before[:length] != now[:length])
    return int(differ[0]) if len(differ) else length


def _compacted(before: Places, gone: NDArray[np.bool_], now: Places) -> Places:
    """Of what is gone, the runs in whose place something stands that was not sent before."""
    at = {place: number for number, place in enumerate(now.tolist())}
    is_new = ~np.isin(now, before)
    compacted = np.zeros(len(before), np.bool_)
    follows = 0  # where in the request what stands behind the last entry that both have
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
    # What messages are cached with stands behind the system prompt.
    setting = next(
        (key for key in CACHED_WITH if key != _ASKS and before.settings.get(key) != request.settings.get(key)), ""
    )
    return FirstDifference(setting=setting) if setting else entry


def _differing_tool(before: Sequence[Any], now: Sequence[Any]) -> str:
    """The first definition of a tool that differs, marks of caches aside; "" where all are the same."""
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
