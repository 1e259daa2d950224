"""The account of what happened, and waits for answers."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.account.account import AccountTally
from inspector.analysis.views.account.unanswered import PENDING_FILTER as PENDING_FILTER
from inspector.analysis.views.steps.expired_caches import ExpiredCache, expired_caches
from inspector.analysis.views.summaries.token_shares import Sums, sum_in_steps
from inspector.analysis.views.waste import WasteTotals
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.turns import steps_of
from inspector.filters.strings import quote
from inspector.present.account import Account, account_of, waiting_now
from inspector.present.longest_waits import longest_waiting
from inspector.present.wait_words import Wait as Wait
from inspector.present.wait_words import describe_waits


class AccountFigures(msgspec.Struct, frozen=True):
    """The account of all messages.

    Attributes:
        account: its sentences.
        is_arriving: messages arrive, so that waiting times grow.
    """

    account: Account
    is_arriving: bool


class WhatHappened(Request[AccountFigures], frozen=True):
    """The account; `waste` are sums of avoidable tokens, if known."""

    waste: WasteTotals | None = None


class WaitList(msgspec.Struct, frozen=True):
    """Waits for answers and decisions.

    Attributes:
        waits: the longest first; discovery requests last.
        is_arriving: messages arrive, so that waiting times grow.
    """

    waits: list[Wait]
    is_arriving: bool


class Waits(Request[WaitList], frozen=True):
    """Waits, and requests to participants that have left.

    Attributes:
        most: limit of listed waits, and of listed discovery requests.
    """

    most: int = 200


class LiveWaits(msgspec.Struct, frozen=True):
    """Waits of live traffic.

    Attributes:
        count: number of waits, without discovery requests; 0 if all are under a second.
        longest: the longest one.
        messages: waiting messages, (n,) int64, ascending; the first of many.
    """

    count: int
    longest: Wait | None
    messages: NDArray[np.int64]


class WaitsNow(Request[LiveWaits], frozen=True):
    """Waits of live traffic, for the status bar."""


class WaitFilter(Request[str], frozen=True):
    """The display filter for the waits of a message's sender."""

    message: int


class _ToolTokens:
    """Token sums by tool, until a message is added or changes.

    Attributes:
        sums: the sums, if they are known.
    """

    def __init__(self) -> None:
        self.sums: Sums | None = None

    def note_changed(self, _changed: Rows) -> None:
        self.sums = None


def tallied(held: OpenDocument) -> Steps[AccountTally]:
    """Returns figures of all messages, kept between requests."""
    analysis = held.document.analysis
    tally = held.kept(AccountTally, lambda: AccountTally(analysis))
    while not tally.step():
        yield
    return tally


def _account(held: OpenDocument, asked: WhatHappened) -> Steps[AccountFigures]:
    document = held.document
    tokens = held.kept(_ToolTokens, _ToolTokens)
    if tokens.sums is None and document.analysis.tokens.done and not document.is_arriving:
        tokens.sums = yield from sum_in_steps(document.analysis, "tool")
    tally = yield from tallied(held)
    usage, expired = document.analysis.usage.total(), list[ExpiredCache]()
    if usage is not None and usage.cache_write and not document.is_arriving:
        expired = expired_caches(document.analysis, steps_of(held))
    return AccountFigures(account_of(document, tally, asked.waste, tokens.sums, expired), document.is_arriving)


def _waits(held: OpenDocument, asked: Waits) -> Steps[WaitList]:
    tally = yield from tallied(held)
    analysis, found = held.document.analysis, list[Wait]()
    for discovery in (False, True):
        rows = longest_waiting(analysis, tally, asked.most, discovery=discovery, in_vain=not discovery)
        found += describe_waits(analysis, rows, discovery=discovery)
    return WaitList(found, held.document.is_arriving)


def _waits_now(held: OpenDocument, _asked: WaitsNow) -> Steps[LiveWaits]:
    tally = yield from tallied(held)
    count, longest = waiting_now(held.document, tally) or (0, None)
    return LiveWaits(count, longest, np.asarray(tally.first("waiting"), np.int64))


def _wait_filter(held: OpenDocument, asked: WaitFilter) -> str:
    capture = held.document.capture
    if not 0 <= asked.message < len(capture):
        raise RequestError(f"There is no message {asked.message + 1:,}.")
    sender = capture.string("sender", asked.message)
    return f"waiting && from == {quote(sender)}" if sender else "waiting && !from"


QUERIES = (
    Query(WhatHappened, AccountFigures, _account),
    Query(Waits, WaitList, _waits),
    Query(WaitsNow, LiveWaits, _waits_now),
    Query(WaitFilter, str, _wait_filter),
)
