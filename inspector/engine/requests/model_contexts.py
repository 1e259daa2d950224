"""A model's context at a message: its entries as JSON or lines, its chat messages, and changes between two messages."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from inspector.analysis.views.model_context import ModelContext, Moment, Options, find_reader, readers
from inspector.analysis.views.model_context import Reader as Reader
from inspector.analysis.views.model_context.context_owners import ReaderChoice as ReaderChoice
from inspector.analysis.views.model_context.difference import difference
from inspector.analysis.views.model_context.json_export import conversation_parts
from inspector.analysis.views.model_context.request_change import request_at
from inspector.engine.counting import counted_tokens
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Part, PartsRequest, Query, Request, RequestError, Steps, row_parts, rows_from
from inspector.engine.requests.stories import require_message
from inspector.engine.requests.turns import steps_of
from inspector.present.answers import entry_answer, model_context_answer
from inspector.present.context_figures import estimate_words, headline_words, outside_words
from inspector.present.entry_words import entry_words
from inspector.present.request_words import cache_words, change_words
from inspector.protocol.secrets.masking import mask_secrets, mask_text

_MAX_TITLES = 20


class ContextView(msgspec.Struct, frozen=True):
    """Selects a model's context.

    Attributes:
        participant: its participant, or words of its conversation; None for that of `at`, or the busiest.
        at: index of the last message; None for the end.
        collapsing: leaves out collapsed results.
        others_reasoning: includes the reasoning of others.
    """

    participant: str | None = None
    at: int | None = None
    collapsing: bool = True
    others_reasoning: bool = False


class ModelContextHead(msgspec.Struct, frozen=True):
    """Facts about a model's context.

    Attributes:
        title: its participant and conversation, masked.
        message: its last message.
        headline: its size in words.
        notes: sentences about the estimate, the tokens outside of the traffic, and the last request.
        roles: word, entries and tokens of each role.
        figures: the same as JSON, masked.
    """

    title: str
    message: int
    headline: str
    notes: list[str]
    roles: list[tuple[str, int, int]]
    figures: dict[str, Any]


class EntryLine(msgspec.Struct, frozen=True):
    """One entry in words.

    Attributes:
        message: its message.
        included, assumed: it is in the context; its reason rests on an assumption.
        role, words, reason: for the user, masked.
        tokens: estimate.
        cache: its cache mark, if any.
    """

    message: int
    included: bool
    assumed: bool
    role: str
    tokens: int | None
    words: str
    reason: str
    cache: str | None


class ContextChange(msgspec.Struct, frozen=True):
    """Difference between two moments of a context.

    Attributes:
        totals: tokens at the earlier and the later message.
        figures: entries that came, went and collapsed, as JSON, masked.
    """

    totals: tuple[int, int]
    figures: dict[str, Any]


class ModelTitles(msgspec.Struct, frozen=True):
    """Contexts of a log.

    Attributes:
        is_found: the view selects one.
        titles: titles of the first contexts, masked.
    """

    is_found: bool
    titles: list[str]


class FindModel(Request[ModelTitles], frozen=True):
    """Looks for the context of a view."""

    view: ContextView = ContextView()


class ShowModelContext(PartsRequest[ModelContextHead | list[EntryLine], None], frozen=True):
    """A model's context in lines; the head is the first part. Counts tokens first.

    Attributes:
        out: also entries outside of the context.
    """

    view: ContextView = ContextView()
    out: bool = False


class ListModelContext(PartsRequest[ModelContextHead | list[dict[str, Any]], None], frozen=True):
    """A model's context as JSON, masked; the head is the first part. Counts tokens first.

    Attributes:
        out: also entries outside of the context.
        offset, limit: entries to skip, and to list at most.
    """

    view: ContextView = ContextView()
    out: bool = False
    offset: int = 0
    limit: int | None = None


class WriteModelContext(PartsRequest[str, None], frozen=True):
    """A model's context as chat messages and tools: one JSON object in pieces, masked."""

    view: ContextView = ContextView()


class CompareModelContext(Request[ContextChange], frozen=True):
    """Changes of a model's context since an earlier message. Counts tokens first."""

    since: int
    view: ContextView = ContextView()


def _reader(held: OpenDocument, view: ContextView) -> Reader | None:
    return find_reader(held.document.analysis, view.participant, view.at)


def _titles(held: OpenDocument, asked: FindModel) -> ModelTitles:
    known = readers(held.document.analysis)
    titles = [mask_text(reader.title) for reader in known[:_MAX_TITLES]]
    return ModelTitles(_reader(held, asked.view) is not None, titles)


def _moment(held: OpenDocument, view: ContextView) -> Steps[Moment]:
    """Raises RequestError if there is no such context or message."""
    analysis = held.document.analysis
    message = len(analysis) - 1 if view.at is None else view.at
    require_message(held, message)
    yield from counted_tokens(held)
    reader = _reader(held, view)
    if reader is None:
        known = ", ".join(_titles(held, FindModel(view)).titles)
        raise RequestError(
            f"The capture has model contexts of: {known}." if known else "The capture has no model context."
        )
    options = Options(collapsing=view.collapsing, others_reasoning=view.others_reasoning)
    return ModelContext(analysis, reader, options).moment_at(message)


def _head(moment: Moment) -> ModelContextHead:
    notes = [f"{words}." for words in (estimate_words(moment), outside_words(moment)) if words]
    status = moment.reported()
    if status is not None and status.messages is not None:
        notes.append(f"It reported {status.words} with No. {status.message + 1:,}.")
    change = request_at(moment)
    if change is not None:
        read, why = cache_words(change)
        notes += [f"{change_words(change)}.", f"{read}. {why}"]
    roles = [(role.word, count, tokens) for role, (count, tokens) in moment.by_role().items()]
    return ModelContextHead(
        mask_text(moment.context.reader.title), moment.message, headline_words(moment), notes, roles,
        model_context_answer(moment),
    )  # fmt: skip


def _lines(held: OpenDocument, asked: ShowModelContext) -> Steps[None]:
    moment = yield from _moment(held, asked.view)
    yield Part(_head(moment))

    def place_of(message: int) -> int:
        return int(np.searchsorted(moment.context.rows, message))

    yield from row_parts(
        EntryLine(
            entry.message, entry.included, entry.assumed, entry.role.word, entry.tokens,
            mask_text(entry_words(held.document, moment, place_of(entry.message), lambda: steps_of(held))),
            entry.reason, entry.cache,
        )
        for entry in moment.entries(out=asked.out)
    )  # fmt: skip


def _list(held: OpenDocument, asked: ListModelContext) -> Steps[None]:
    moment = yield from _moment(held, asked.view)
    yield Part(_head(moment))
    entries = rows_from(moment.entries(out=asked.out), asked.offset, asked.limit)
    yield from row_parts(mask_secrets(entry_answer(moment, entry)) for entry in entries)


def _write(held: OpenDocument, asked: WriteModelContext) -> Steps[None]:
    moment = yield from _moment(held, asked.view)
    for piece in conversation_parts(moment):
        yield Part(piece)


def _compare(held: OpenDocument, asked: CompareModelContext) -> Steps[ContextChange]:
    require_message(held, asked.since)
    later = yield from _moment(held, asked.view)
    if asked.since > later.message:
        raise RequestError(f"The first message must come before the second: {asked.since + 1}, {later.message + 1}.")
    earlier = later.context.moment_at(asked.since)
    found = difference(earlier, later)
    figures: dict[str, Any] = {
        name: [entry_answer(later, later.entry(p)) | {"change": int(found.by_entry[p])} for p in places]
        for name, places in (("came", found.came), ("went", found.went), ("collapsed", found.collapsed))
    }
    figures |= {"tokens": found.tokens, "since": earlier.message + 1, "no": later.message + 1}
    return ContextChange((earlier.total, later.total), mask_secrets(figures))


QUERIES = (
    Query(FindModel, ModelTitles, _titles),
    Query(ShowModelContext, None, _lines, ModelContextHead | list[EntryLine]),
    Query(ListModelContext, None, _list, ModelContextHead | list[dict[str, Any]]),
    Query(WriteModelContext, None, _write, str),
    Query(CompareModelContext, ContextChange, _compare),
)
