"""Growth of a model's context: estimated tokens after each message, reported ones, compactions."""

from __future__ import annotations

import time

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.model_context import ModelContext, Reader, Role, readers
from inspector.analysis.views.model_context.context_owners import ReaderChoice, displayed_reader
from inspector.analysis.views.model_context.growth import compactions, growing
from inspector.analysis.views.model_context.reported import Reported, reports_of
from inspector.base.slices import run_until
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.plots import message_places
from inspector.present import formats
from inspector.present.session_titles import ShownTitles
from inspector.present.wire_text import safe_line

_FIRST_S, _STEP_S = 0.02, 0.005
"""Counting of summaries before the first lines, and in one step."""
_NAME = 60
_NONE: NDArray[np.int64] = np.zeros(0, np.int64)
_NO_LINES: NDArray[np.int64] = np.zeros((2, 0), np.int64)


class ReaderName(msgspec.Struct, frozen=True):
    """A possible reader.

    Attributes:
        reader: the reader.
        name: its name; with its space if there are several.
        words: the name; for the displayed reader with the senders of its results.
    """

    reader: Reader
    name: str
    words: str


class Growth(msgspec.Struct, frozen=True):
    """Growth of one reader's context. Positions are times, or places by order.

    Attributes:
        readers: the possible readers, the most active first.
        reader: the reader of the context; None without any.
        messages, places: (s,) int64, the messages that changed the context and their positions, ascending.
        lines: (2, s) int64, tokens without collapsing and as the model sees it, after each of them.
        uncounted: number of its messages without a token count.
        report_places, report_tokens: (r,) int64, positions and tokens of the reader's reports.
        limit: the limit that it reported, if any.
        compactions, compaction_places: (c,) int64, messages that shortened its history, and their positions.
        counted_percent: progress of counting tokens while tokens of the context are missing; None otherwise.
        unfinished: tokens of summaries are left to count, so that the lines will change.
        total: number of messages of the document.
    """

    readers: list[ReaderName] = []
    reader: Reader | None = None
    messages: NDArray[np.int64] = _NONE
    places: NDArray[np.int64] = _NONE
    lines: NDArray[np.int64] = _NO_LINES
    uncounted: int = 0
    report_places: NDArray[np.int64] = _NONE
    report_tokens: NDArray[np.int64] = _NONE
    limit: int | None = None
    compactions: NDArray[np.int64] = _NONE
    compaction_places: NDArray[np.int64] = _NONE
    counted_percent: int | None = None
    unfinished: bool = False
    total: int = 0


class ContextGrowth(Request[Growth], frozen=True):
    """Growth of the context of the reader to display.

    Attributes:
        choice: determines the reader.
        by_order: messages are evenly spaced.
    """

    choice: ReaderChoice = ReaderChoice()
    by_order: bool = False


class _LastContext:
    """The last context, to which new messages are added.

    Attributes:
        context: the context; None without one.
        made_of: state of the document that it describes.
        reports: reports by message.
        titles: titles of sessions.
    """

    def __init__(self, held: OpenDocument) -> None:
        self.context: ModelContext | None = None
        self.made_of: tuple[object, ...] | None = None
        self.reports: dict[int, Reported | None] = {}
        self.titles = ShownTitles(held.document.capture)

    def note_changed(self, _changed: Rows) -> None:
        pass


def _growth(held: OpenDocument, asked: ContextGrowth) -> Steps[Growth]:
    analysis, last = held.document.analysis, held.kept(_LastContext, lambda: _LastContext(held))
    known = readers(analysis)
    reader = displayed_reader(analysis, known, asked.choice)
    yield
    if reader is None:
        last.context = last.made_of = None
        return Growth(total=len(analysis))
    context, left = yield from _context_of(held, last, reader)
    lines = yield from growing(context)
    yield
    # No pause from here on: messages that come meanwhile have no position.
    places = message_places(held, by_order=asked.by_order).values
    steps = places[lines.messages]
    tokens, total = analysis.tokens, len(analysis)
    counting = bool(lines.uncounted) and not tokens.done and tokens.counted > 0
    reports, shortened = reports_of(analysis, reader, last.reports), compactions(context)
    return Growth(
        _names(held, last.titles, known, context), reader, np.asarray(lines.messages, np.int64),
        # Clocks of senders differ; searches need ascending positions.
        np.maximum.accumulate(steps) if len(steps) else steps,
        np.stack((lines.uncollapsed, lines.seen)), lines.uncounted,
        places[reports.messages], np.asarray(reports.tokens, np.int64), reports.limit,
        shortened, places[shortened],
        tokens.counted * 100 // max(1, total) if counting else None, left, total,
    )  # fmt: skip


def _context_of(held: OpenDocument, last: _LastContext, reader: Reader) -> Steps[tuple[ModelContext, bool]]:
    """Returns the context of a reader, and True if tokens of summaries are left to count.

    The first answer about a state of the document does not wait for them.
    """
    analysis = held.document.analysis
    # New aliases make other results collapse.
    made_of = (
        reader, len(analysis), analysis.tokens.counted, analysis.contexts.tree.version, analysis.transients.aliases
    )  # fmt: skip
    context = last.context
    if context is not None and last.made_of == made_of:
        yield from context.count_summaries()
        return context, False
    before = context if context is not None and context.reader == reader else None
    context = yield from ModelContext.in_steps(analysis, reader, before=before)
    last.context, last.made_of = context, made_of
    return context, not run_until(context.count_summaries(), time.perf_counter() + _FIRST_S)


def _names(
    held: OpenDocument, titles: ShownTitles, known: list[Reader], context: ModelContext
) -> list[ReaderName]:  # fmt: skip
    strings, several = held.document.capture.strings, len({one.space for one in known}) > 1
    columns = held.document.capture.columns
    sent = np.bincount(columns["sender"][context.rows[context.roles == Role.TOOL]])
    company = [strings[int(code)] for code in np.argsort(-sent, kind="stable")[:3] if sent[code] and code]
    found: list[ReaderName] = []
    for reader in known:
        name = safe_line(reader.title, _NAME)
        if several and reader.space:
            space = titles.space_title(reader.space) or safe_line(strings[reader.space])
            name = f"{name} in {safe_line(space, _NAME)}"
        others = [safe_line(held.document.capture.shown_name(one), _NAME) for one in company if one != reader.name]
        words = name
        if reader == context.reader and others:
            more = f" and {formats.count_of(len(others) - 1, 'other')}" if len(others) > 1 else ""
            words = f"{name} with {others[0]}{more}"
        found.append(ReaderName(reader, name, words))
    return found


QUERIES = (Query(ContextGrowth, Growth, _growth),)
