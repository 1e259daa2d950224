"""Avoidable tokens of the context windows: figures for a window, and lists as JSON."""

from __future__ import annotations

import time
from itertools import islice
from typing import Any

import msgspec

from inspector.analysis.views.waste import Waste as Waste
from inspector.analysis.views.waste import WasteFinder, WasteReport, WasteTotals
from inspector.analysis.views.waste import WasteKind as WasteKind
from inspector.engine.counting import counted_tokens
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, rows_from
from inspector.present.answers import waste_answer
from inspector.present.token_facts import reported_words
from inspector.present.waste_words import report_words
from inspector.protocol.escaped_text import printable
from inspector.protocol.secrets.masking import mask_text

_MOST_NAMES = 200


class WasteFigures(msgspec.Struct, frozen=True):
    """Result of a search for avoidable tokens.

    Attributes:
        wastes: the cases, largest first.
        totals: their sums; None if no tokens are counted, so that there was no search.
        words: the sums as sentences, and parts that were not examined.
        messages: number of messages of the document.
        ongoing: more messages may follow, so that cases may still change.
    """

    wastes: tuple[Waste, ...] = ()
    totals: WasteTotals | None = None
    words: str = ""
    messages: int = 0
    ongoing: bool = False


class AvoidableTokens(Request[WasteFigures], frozen=True):
    """Searches for avoidable tokens once all tokens are counted, or some while messages arrive."""


def _search(held: OpenDocument, _asked: AvoidableTokens) -> Steps[WasteFigures]:
    document, analysis = held.document, held.document.analysis
    messages, ongoing, tokens = len(analysis), document.may_grow, analysis.tokens
    if not (messages > 0 if tokens.done else document.is_arriving and tokens.counted > 0):
        return WasteFigures(messages=messages, ongoing=ongoing)
    # Without new messages the traffic gives no present time: use the clock.
    now_ns = time.time_ns() if ongoing and not document.is_arriving else None
    found = yield from WasteFinder(analysis, ongoing=ongoing, now_ns=now_ns).search()
    return WasteFigures(found.wastes, found.totals, report_words(found), messages, ongoing)


class WasteList(msgspec.Struct, frozen=True):
    """Avoidable tokens.

    Attributes:
        figures: sums over all entries, and the entries asked for, as JSON, masked.
        reported: reported usage in words.
    """

    figures: dict[str, Any]
    reported: str | None


class ListWaste(Request[WasteList], frozen=True):
    """Avoidable tokens, largest first; counts tokens first.

    Attributes:
        participant: entries of this participant alone.
        offset, limit: entries to skip, and to list at most.
    """

    participant: str | None = None
    offset: int = 0
    limit: int | None = None


def found_waste(held: OpenDocument) -> Steps[WasteReport]:
    """Counts tokens and searches for avoidable ones."""
    yield from counted_tokens(held)
    return (yield from WasteFinder(held.document.analysis).search())


def _waste(held: OpenDocument, asked: ListWaste) -> Steps[WasteList]:
    found = yield from found_waste(held)
    if asked.participant is not None:
        _check_participant(held, asked.participant, found)
        of_one = tuple(one for one in found.wastes if one.participant == asked.participant)
        found = WasteReport(of_one, found.notes, found.stop, found.reported)
    reported = None if found.reported is None else reported_words(found.reported)
    return WasteList(waste_answer(found, rows_from(found.wastes, asked.offset, asked.limit)), reported)


def _check_participant(held: OpenDocument, name: str, found: WasteReport) -> None:
    """Raises RequestError if there is no participant of that name."""
    known = dict.fromkeys(known for _, known in held.document.analysis.participants.all)
    if name not in known and not any(one.participant == name for one in found.wastes):
        names = ", ".join(printable(mask_text(known), 60) for known in islice(known, _MOST_NAMES))
        raise RequestError(f"{held.document.name} has no participant {printable(name, 60)}. It has: {names or 'none'}.")


QUERIES = (Query(AvoidableTokens, WasteFigures, _search), Query(ListWaste, WasteList, _waste))
