"""Computes a participant's model context at any message: entries, roles, reasons and token sums."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.model_context.admission import sort_in
from inspector.analysis.views.model_context.context_owners import Options, Reader
from inspector.analysis.views.model_context.context_rules import rules_by_format
from inspector.analysis.views.model_context.eviction import find_left
from inspector.analysis.views.model_context.reasons import COLLAPSED, REASONS, Reason, Role, Why
from inspector.analysis.views.model_context.recorded_requests import Request, follow_requests
from inspector.analysis.views.model_context.removals import Payloads
from inspector.analysis.views.model_context.reported import Reported, called_with, calls_of, reported_at
from inspector.base.slices import SlicedWork, run_to_end
from inspector.formats.model_vocabulary import cache_mark
from inspector.protocol.message_text import compact_json
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]

_AT_ONCE = 64
"""Summaries counted between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message, inside or outside of the context.

    Attributes:
        message: its index.
        role: its role.
        included: True if the model receives it.
        reason: reason, as a sentence.
        assumed: True if the reason is not reported.
        collapsed: True if its summary replaces it.
        because: the message that collapsed or removed it, or None.
        tokens: estimated tokens in the context; 0 if outside, None if uncounted.
        whole_tokens: tokens of the whole message; None if uncounted.
        cache: requested cache lifetime of the prefix up to here, such as "5m"; None without one.
    """

    message: int
    role: Role
    included: bool
    reason: str
    assumed: bool
    collapsed: bool
    because: int | None
    tokens: int | None
    whole_tokens: int | None
    cache: str | None = None


class ModelContext:
    """State of every message of a space for one reader, up to the present end of the capture.

    Attributes:
        analysis, reader, options: its inputs.
        rows: (k,) int64, messages of the reader's space, ascending.
        roles, whys: (k,) uint8, see `admission`.
        left_by, left_whys: (k,), see `eviction`.
        collapsed_by: (k,) int64, the message that collapsed each result; NO_ROW.
        sent: content of model requests; with requests, the context needs no assumptions.
    """

    def __init__(
        self, analysis: Analysis, reader: Reader, options: Options | None = None, before: ModelContext | None = None
    ) -> None:
        """Computes a context. O(messages of the capture) in numpy; it does not follow later messages.

        Args:
            analysis: passes of the capture.
            reader: owner of the context.
            options: assumptions about the client.
            before: an earlier result, whose caches are reused.
        """
        run_to_end(self._work_out(analysis, reader, options, before))

    @classmethod
    def in_steps(
        cls, analysis: Analysis, reader: Reader, options: Options | None = None, before: ModelContext | None = None
    ) -> SlicedWork[ModelContext]:
        """Computes it in steps."""
        made = cls.__new__(cls)
        yield from made._work_out(analysis, reader, options, before)
        return made

    def _work_out(
        self, analysis: Analysis, reader: Reader, options: Options | None, before: ModelContext | None
    ) -> SlicedWork[None]:
        self.analysis, self.reader = analysis, reader
        self.options = options or Options()
        found = yield from sort_in(analysis, reader, self.options)
        self.rows, self.roles, self.whys = found.rows, found.roles, found.whys
        same = before is not None and before.analysis is analysis
        self._read: Payloads = before._read if same and before is not None else {}
        left = yield from find_left(analysis, reader, found, self._read)
        self.sent = yield from follow_requests(analysis, found, left, self._read)
        for rules in rules_by_format().values():
            yield from rules.follow_requests(analysis, reader, found, left, self.sent)
        self.left_by, self.left_whys = left.by, left.whys
        yield
        collapsed = analysis.transients.signals.links("collapsed_by", self.rows)
        keeps = (self.roles != Role.TOOL) | (not self.options.collapsing)
        self.collapsed_by = np.where(keeps, NO_ROW, collapsed)
        self._summaries = np.full(len(self.rows), NOT_COUNTED, np.int64)
        if same and before is not None:
            self._take_over(before)
        yield
        # The process that counts a message also counts its summary, so uncounted messages are left to it.
        known = (self.collapsed_by != NO_ROW) & (self._summaries < 0) & (self.whole_tokens != NOT_COUNTED)
        known |= self._inherited & (self.whole_tokens == NOT_COUNTED) & (self.analysis.tokens.total > 0)
        self._left: list[int] = np.flatnonzero(known).tolist()

    def _take_over(self, before: ModelContext) -> None:
        if np.array_equal(before.rows, self.rows[: len(before.rows)]):
            self._summaries[: len(before.rows)] = before._summaries

    @cached_property
    def whole_tokens(self) -> Array:
        """(k,) int64, tokens of each message; NOT_COUNTED."""
        found = self.analysis.tokens.columns["tokens"][self.rows].astype(np.int64)
        for place, first in self.sent.copies.items():
            found[place] = self.analysis.tokens.columns["tokens"][first]
        for place, tools in self.sent.tools.items():  # of the request itself, only the tools count
            if found[place] != NOT_COUNTED:
                found[place] = self.analysis.tokens.count_once(compact_json(tools))
        for place, text in self.sent.texts.items():
            if found[place] != NOT_COUNTED:
                found[place] = self.analysis.tokens.count_once(text)
        for place in np.flatnonzero(self._inherited).tolist():  # they are counted nowhere else
            found[place] = self.analysis.tokens.inherited_tokens.get(int(self.rows[place]), NOT_COUNTED)
        return found

    @cached_property
    def _inherited(self) -> NDArray[np.bool_]:
        """(k,) bool, True for entries copied from another thread."""
        return (self.whys == Why.INHERITED) & (self.roles != Role.NONE)

    @cached_property
    def arrived(self) -> Array:
        """(k,) int64, the message with which each entry arrived: itself, or the model request that sent it."""
        found = self.rows.copy()
        for request in self.sent.requests:
            first, stop = np.searchsorted(self.rows, [request.message, request.last + 1])
            found[first:stop] = request.message
        return found

    @cached_property
    def summary_tokens(self) -> Array:
        """(k,) int64, tokens of counted summaries of collapsed results; NOT_COUNTED otherwise."""
        run_to_end(self.count_summaries())
        return self._summaries

    def count_summaries(self) -> SlicedWork[None]:
        """Counts summaries and copies, a few in a step; `summary_tokens` has the ones counted so far."""
        made, summary_of = self._summaries, self.analysis.tokens.summary_tokens
        # Views show the partial result until all is counted.
        self.__dict__["summary_tokens"] = made
        while self._left:
            for place in self._left[-_AT_ONCE:]:
                if self._inherited[place]:
                    self.whole_tokens[place] = self.analysis.tokens.count_inherited(int(self.rows[place]))
                    continue
                found = summary_of(int(self.rows[place]))
                made[place] = NOT_COUNTED if found is None else found
            del self._left[-_AT_ONCE:]
            yield

    @property
    def counting(self) -> bool:
        """True if summaries or copies are uncounted."""
        return bool(self._left)

    def answer_to(self, request: Request) -> int | None:
        """Returns the message that reports the input tokens of a request."""
        analysis, requests = self.analysis, self.sent.requests
        answer = int(analysis.correlation.columns["answer"][request.message])
        if answer != NO_ROW:
            return answer
        calls = calls_of(analysis, self.reader)
        place = int(np.searchsorted(calls, request.message))
        later = next((one.message for one in requests if one.message > request.message), len(analysis))
        return int(calls[place]) if place < len(calls) and calls[place] < later else None

    def moment_at(self, message: int) -> Moment:
        """Returns the context after a message."""
        return Moment(self, message)


class Moment:
    """A context after one message.

    Attributes:
        context: the context.
        message: the last message included; for a model request, all that it sends.
        places: (m,) slice of the context's arrays up to there.
        included, collapsed: (m,) bool.
    """

    def __init__(self, context: ModelContext, message: int) -> None:
        self.context, self.message = context, message
        if self.request is not None:
            message = max(message, self.request.last)
        stop = int(np.searchsorted(context.rows, message, side="right"))
        self.places = slice(0, stop)
        left, collapsed = context.left_by[:stop], context.collapsed_by[:stop]
        self.gone = (left != NO_ROW) & (left <= message)
        self.included = (context.roles[:stop] != Role.NONE) & ~self.gone
        self.collapsed = self.included & (collapsed != NO_ROW) & (collapsed <= message)

    @cached_property
    def tokens(self) -> Array:
        """(m,) int64, tokens of each entry in the context; 0 if outside, NOT_COUNTED if unknown."""
        context = self.context
        standing = context.whole_tokens[self.places]
        if self.collapsed.any():
            standing = np.where(self.collapsed, context.summary_tokens[self.places], standing)
        return np.where(self.included, standing, 0)

    @property
    def total(self) -> int:
        """Estimated tokens of all counted entries."""
        return int(np.maximum(self.tokens, 0).sum())

    @property
    def uncollapsed_total(self) -> int:
        """Estimated tokens without collapsing."""
        return int(np.where(self.included, np.maximum(self.context.whole_tokens[self.places], 0), 0).sum())

    @property
    def uncounted(self) -> int:
        """Number of uncounted entries."""
        return int(np.count_nonzero(self.tokens == NOT_COUNTED))

    @cached_property
    def request(self) -> Request | None:
        """The last request to the model."""
        requests = self.context.sent.requests
        place = bisect_right(requests, self.message, key=lambda one: one.message) - 1
        return None if place < 0 else requests[place]

    def reported(self) -> Reported | None:
        """Returns the participant's last report, or that of the request's API; never an estimate."""
        if self.request is None:
            return reported_at(self.context.analysis, self.context.reader, self.message)
        answer = self.context.answer_to(self.request)
        return None if answer is None else called_with(self.context.analysis, answer)

    def outside(self) -> int | None:
        """Returns reported tokens outside of the traffic: the last report minus the estimate at that time.

        The value is approximate, as two tokenizers are involved. None if unknown, or if all requests were recorded.
        """
        report = self.reported()
        if report is None or report.tokens is None or self.context.sent.is_known:
            return None
        # Compared at the time of the report, as the context has changed since.
        then = self.context.moment_at(report.message)
        more = report.tokens - then.total + (then.answer_tokens if report.is_call else 0)
        return None if self.context.counting or then.uncounted or more <= 0 else more

    @property
    def answer_tokens(self) -> int:
        """Tokens of the model output at the end, which is not part of its input."""
        included = np.flatnonzero(self.included)
        others = np.flatnonzero(self.context.roles[included] != Role.ASSISTANT)
        return int(np.maximum(self.tokens[included[others[-1] + 1 if len(others) else 0 :]], 0).sum())

    @property
    def collapsed_later(self) -> int:
        """Number of entries that collapse after this moment."""
        later = self.context.collapsed_by[self.places] > self.message
        return int(np.count_nonzero(later & self.included))

    def by_role(self) -> dict[Role, tuple[int, int]]:
        """Returns number of entries and tokens by role."""
        roles, tokens = self.context.roles[self.places], np.maximum(self.tokens, 0)
        counts = np.bincount(roles[self.included], minlength=len(Role))
        sums = np.bincount(roles, weights=tokens, minlength=len(Role))
        return {role: (int(counts[role]), int(sums[role])) for role in Role if role and counts[role]}

    def entry(self, place: int) -> Entry:
        """Returns the entry at an index of the context's arrays."""
        context = self.context
        included, collapsed = bool(self.included[place]), bool(self.collapsed[place])
        reason, because = self._reason(place)
        whole, tokens = int(context.whole_tokens[place]), int(self.tokens[place])
        return Entry(
            message=int(context.rows[place]),
            role=Role(int(context.roles[place])),
            included=included,
            reason=reason.sentence.format(no=f"{because + 1:,}" if because is not None else ""),
            assumed=reason.assumed,
            collapsed=collapsed,
            because=because,
            tokens=None if tokens == NOT_COUNTED else tokens,
            whole_tokens=None if whole == NOT_COUNTED else whole,
            cache=self._cache_mark(place) if included else None,
        )

    def _cache_mark(self, place: int) -> str | None:
        if self.request is None:
            return None
        if place not in self.context.sent.tools:
            return self.request.marks.get(place)
        return next((mark for tool in self.request.tools if (mark := cache_mark(tool)) is not None), None)

    def _reason(self, place: int) -> tuple[Reason, int | None]:
        context = self.context
        if self.gone[place]:
            return REASONS[Why(int(context.left_whys[place]))], int(context.left_by[place])
        if self.collapsed[place]:
            return COLLAPSED, int(context.collapsed_by[place])
        return REASONS[Why(int(context.whys[place]))], None

    def in_order(self, places: Array) -> Array:
        """Sorts indexes of entries: by the last request, tools first; without one, by arrival.

        Entries kept by a compaction come after its summary.
        """
        request = self.request
        if not len(places):
            return places
        if request is None:
            whys, roles = self.context.whys[self.places], self.context.roles[self.places]
            summaries = places[(whys[places] == Why.SUMMARY) & self.included[places]]
            if not len(summaries):
                return places
            first = np.isin(roles[places], (Role.SYSTEM, Role.TOOLS)) & (places < summaries[-1])
            ranks = np.where(places == summaries[-1], 1, np.where(first, 0, 2))
            return places[np.argsort(ranks, kind="stable")]
        ranks = len(request.stands) + 1 + np.arange(len(self.included), dtype=np.int64)
        stands = request.stands[request.stands < len(ranks)]
        ranks[stands] = 1 + np.arange(len(stands))
        ranks[self.context.roles[self.places] == Role.TOOLS] = 0
        return places[np.argsort(ranks[places], kind="stable")]

    def entries(self, *, out: bool = False) -> Iterator[Entry]:
        """Yields the entries of the context in order; with `out`, also those outside."""
        places = np.arange(len(self.included)) if out else np.flatnonzero(self.included)
        return map(self.entry, self.in_order(places).tolist())
