"""The context that a model sees at a message: its figures, its entries in a list, and its difference from another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.model_context import Entry as Entry
from inspector.analysis.views.model_context import ModelContext, Moment, reader_of, readers
from inspector.analysis.views.model_context import Options as Options
from inspector.analysis.views.model_context import Reader as Reader
from inspector.analysis.views.model_context import Role as Role
from inspector.analysis.views.model_context.chat_messages import content_of
from inspector.analysis.views.model_context.context_owners import ReaderChoice as ReaderChoice
from inspector.analysis.views.model_context.context_owners import displayed_reader, reader_in
from inspector.analysis.views.model_context.difference import Difference, difference
from inspector.analysis.views.model_context.growth import changing
from inspector.analysis.views.model_context.json_export import conversation_parts, write_conversation
from inspector.analysis.views.model_context.listed_entries import ListedEntries
from inspector.analysis.views.model_context.request_change import request_at
from inspector.base.slices import run_until
from inspector.engine.open_document import LONG_KEPT_S, OpenDocument
from inspector.engine.request import Part, PartsRequest, Query, Request, RequestError, Steps, check_row_count
from inspector.engine.requests.turns import steps_of
from inspector.export.files import write_error_words
from inspector.present.entry_words import entry_words
from inspector.present.seen_figures import Figures, figures_of
from inspector.protocol.secrets.masking import mask_text
from inspector.tokens.counter import TOKENIZER as TOKENIZER

_MAX_READERS = 200
_FIRST_S, _STEP_S = 0.02, 0.005
"""Counting of summaries before the first figures, and in one step."""
_PART_S = 0.02
_NONE: NDArray[np.uint32] = np.zeros(0, np.uint32)


class MomentTotal(msgspec.Struct, frozen=True):
    """Estimated tokens of a context after a message."""

    message: int
    total: int


class ContextChange(msgspec.Struct, frozen=True):
    """Difference of two moments.

    Attributes:
        earlier, later: the two moments.
        came, went, collapsed: numbers of entries.
        tokens: estimated growth; negative if the context shrank.
    """

    earlier: MomentTotal
    later: MomentTotal
    came: int
    went: int
    collapsed: int
    tokens: int


class SeenContext(msgspec.Struct, frozen=True):
    """The context of a reader after a message.

    Attributes:
        readers: the first participants that may have a model, the most active first.
        reader: the reader; None without any.
        last: the last message of the document; -1 for an empty one.
        message: the last message of the context.
        list_number: identifies the list for `DescribeEntries`.
        figures: its figures; None without a reader.
        change: difference from the compared moment; None without one.
        messages: listed entries, in order, (n,) uint32.
        most: tokens of the largest listed entry; during a comparison, of the largest change.
        request_before: the last message of the previous model request, if any.
        unfinished: tokens of summaries are left to count; the same request answers all.
    """

    readers: list[Reader]
    reader: Reader | None
    last: int
    message: int
    list_number: int = 0
    figures: Figures | None = None
    change: ContextChange | None = None
    messages: NDArray[np.uint32] = _NONE
    most: int = 0
    request_before: int | None = None
    unfinished: bool = False


class ShowSeenContext(Request[SeenContext], frozen=True):
    """The context of the reader to display.

    Attributes:
        choice: determines the reader.
        options: assumptions about its client.
        message: the last message; None for the end of the document.
        compared: last message of the compared moment; None without a comparison.
        with_out: also lists entries outside of the context.
        changes_only: lists only changes during a comparison.
        by_size: lists the largest entries first, else in the order of the context.
    """

    choice: ReaderChoice = ReaderChoice()
    options: Options = Options()
    message: int | None = None
    compared: int | None = None
    with_out: bool = False
    changes_only: bool = True
    by_size: bool = False


class ListedEntry(msgspec.Struct, frozen=True):
    """An entry of the list.

    Attributes:
        entry: the entry.
        text: its first words, safe to show; a collapsed result shows its summary.
        mark: came, went or collapsed, during a comparison.
        change: difference of tokens; None without a comparison.
        is_first_uncached: it is the first entry of the last request outside of the prompt cache.
    """

    entry: Entry
    text: str
    mark: str
    change: int | None
    is_first_uncached: bool


class DescribeEntries(Request[list[ListedEntry]], frozen=True):
    """Entries of the list that was answered last, at most 1,000; none of an earlier list.

    Attributes:
        list_number: that of the list.
        messages: messages of the entries.
    """

    is_urgent: ClassVar[bool] = True
    list_number: int
    messages: tuple[int, ...]


class EntryText(Request[str], frozen=True):
    """The whole text of a listed entry as given to the model, masked; "" for one above 1 MB.

    Attributes:
        list_number: that of the list.
        message: message of the entry.
    """

    is_urgent: ClassVar[bool] = True
    list_number: int
    message: int


class NextChange(Request[int | None], frozen=True):
    """The next message that changes the context that was answered last.

    Attributes:
        message: the present one.
        step: 1 for the next, -1 for the previous.
    """

    is_urgent: ClassVar[bool] = True
    message: int
    step: int


class ReaderAt(Request[Reader | None], frozen=True):
    """The most likely reader of a message, or the sole owner of a transcript's context.

    Attributes:
        message: a message.
        context: a context as (string id of the space, node), which has priority.
    """

    is_urgent: ClassVar[bool] = True
    message: int
    context: tuple[int, int] | None = None


class ContextAt(msgspec.Struct, frozen=True):
    """A context after a message."""

    reader: Reader
    message: int
    options: Options = Options()


class CopyContext(Request[str], frozen=True):
    """A context as chat messages and tools in JSON, masked."""

    context: ContextAt


class WriteContext(PartsRequest[int, int], frozen=True):
    """Writes a context as chat messages and tools in JSON; parts and answer are the bytes written so far.

    Attributes:
        context: the context.
        target: the file.
        secrets: writes secrets unmasked.
    """

    context: ContextAt
    target: Path
    secrets: bool = False


class _Seen:
    """The last context and the last list."""

    def __init__(self) -> None:
        self.context: ModelContext | None = None
        self.listed: ListedEntries | None = None
        self.list_number = 0
        self._made_of: tuple[object, ...] | None = None
        self._changing: tuple[ModelContext, NDArray[np.int64]] | None = None

    def note_changed(self, _changed: Rows) -> None:
        pass

    def update(self, held: OpenDocument, reader: Reader, options: Options) -> Steps[ModelContext]:
        """Returns the context of a reader; the first answer about a state does not wait for tokens of summaries."""
        made_of, before = (held.version, len(held.document.analysis), reader, options), self.context
        if before is not None and self._made_of == made_of:
            yield from before.count_summaries()
            return before
        same = before is not None and before.reader == reader
        context = yield from ModelContext.in_steps(held.document.analysis, reader, options, before if same else None)
        self.context, self._made_of = context, made_of
        run_until(context.count_summaries(), time.perf_counter() + _FIRST_S)
        return context

    def changing_messages(self) -> NDArray[np.int64]:
        """Returns the messages that change the context, computed once per context."""
        if self.context is None:
            return np.zeros(0, np.int64)
        if self._changing is None or self._changing[0] is not self.context:
            self._changing = self.context, changing(self.context)
        return self._changing[1]


def _kept(held: OpenDocument) -> _Seen:
    return held.kept(_Seen, _Seen, LONG_KEPT_S)


def _show(held: OpenDocument, asked: ShowSeenContext) -> Steps[SeenContext]:
    analysis, seen = held.document.analysis, _kept(held)
    last, known = len(analysis) - 1, readers(analysis)
    message = last if asked.message is None else min(asked.message, last)
    yield
    reader = displayed_reader(analysis, known, asked.choice)
    if reader is None:
        seen.context = seen.listed = None
        return SeenContext([], None, last, message)
    context = yield from seen.update(held, reader, asked.options)
    moment, change = context.moment_at(message), None
    if not moment.included.any() and asked.compared is None and _is_sub_agent(held, reader):
        # The call that starts a sub-agent comes before its context.
        message, moment = last, context.moment_at(last)
    if asked.compared is not None and asked.compared != message:
        compared = context.moment_at(min(asked.compared, last))
        change = difference(*sorted((moment, compared), key=lambda one: one.message))
    yield
    shown = moment if change is None else change.later
    listed = ListedEntries(shown, _listed_places(shown, change, asked), change, by_size=asked.by_size)
    seen.listed, seen.list_number = listed, seen.list_number + 1
    request = request_at(moment)
    counting = context.counting or (not analysis.tokens.done and moment.uncounted > 0)
    return SeenContext(
        known[:_MAX_READERS], reader, last, message, seen.list_number, figures_of(moment, counting=counting),
        None if change is None else _totals(change), listed.messages.astype(np.uint32), listed.most,
        None if request is None or request.before is None else request.before.last, context.counting,
    )  # fmt: skip


def _is_sub_agent(held: OpenDocument, reader: Reader) -> bool:
    return any(agent.name == reader.name for agent in held.document.capture.transcripts.agents.values())


def _listed_places(moment: Moment, change: Difference | None, asked: ShowSeenContext) -> NDArray[np.int64]:
    if change is None:
        return np.arange(len(moment.included)) if asked.with_out else np.flatnonzero(moment.included)
    listed = np.zeros(len(moment.included), np.bool_) if asked.changes_only else moment.included.copy()
    for places in (change.came, change.went, change.collapsed):
        listed[places] = True
    return np.flatnonzero(listed)


def _totals(change: Difference) -> ContextChange:
    earlier, later = (MomentTotal(one.message, one.total) for one in (change.earlier, change.later))
    return ContextChange(
        earlier, later, len(change.came), len(change.went), len(change.collapsed), change.tokens,
    )  # fmt: skip


def _listed(held: OpenDocument, list_number: int) -> ListedEntries | None:
    seen = _kept(held)
    return seen.listed if seen.list_number == list_number else None


def _describe(held: OpenDocument, asked: DescribeEntries) -> Steps[list[ListedEntry]]:
    check_row_count(len(asked.messages))
    listed = _listed(held, asked.list_number)
    if listed is None:
        return []
    entries: list[ListedEntry] = []
    for place in map(listed.place_of, asked.messages):
        if place is not None:
            entries.append(_entry(held, listed, place))
            yield
    return entries


def _entry(held: OpenDocument, listed: ListedEntries, place: int) -> ListedEntry:
    change = None if listed.change is None else int(listed.change.by_entry[place])
    entry, text = listed.moment.entry(place), entry_words(held.document, listed.moment, place, lambda: steps_of(held))
    return ListedEntry(entry, text, listed.mark(place), change, entry.included and place == listed.not_cached_from)


def _text(held: OpenDocument, asked: EntryText) -> str:
    listed = _listed(held, asked.list_number)
    place = None if listed is None else listed.place_of(asked.message)
    if listed is None or place is None or held.document.capture.records.is_big(asked.message):
        return ""
    return mask_text(content_of(listed.moment, place))


def _next_change(held: OpenDocument, asked: NextChange) -> int | None:
    messages = _kept(held).changing_messages()
    place = int(np.searchsorted(messages, asked.message, side="right" if asked.step > 0 else "left"))
    # Left of the insertion point is the previous message.
    place -= asked.step < 0
    return int(messages[place]) if 0 <= place < len(messages) else None


def _reader_at(held: OpenDocument, asked: ReaderAt) -> Reader | None:
    analysis = held.document.analysis
    found = reader_in(analysis, *asked.context) if asked.context is not None else None
    return found or reader_of(analysis, asked.message)


def _moment_of(held: OpenDocument, asked: ContextAt) -> Steps[Moment]:
    """Returns the moment of the shown context, or of one computed for it."""
    context = _kept(held).context
    if context is None or (context.reader, context.options) != (asked.reader, asked.options):
        context = yield from ModelContext.in_steps(held.document.analysis, asked.reader, asked.options)
    return context.moment_at(asked.message)


def _copy(held: OpenDocument, asked: CopyContext) -> Steps[str]:
    moment, parts = (yield from _moment_of(held, asked.context)), list[str]()
    for part in conversation_parts(moment):
        parts.append(part)
        yield
    return "".join(parts)


def _write(held: OpenDocument, asked: WriteContext) -> Steps[int]:
    moment = yield from _moment_of(held, asked.context)
    size, part_s = 0, time.perf_counter()
    try:
        for size in write_conversation(moment, asked.target, secrets=asked.secrets):
            now_s = time.perf_counter()
            yield Part(size) if now_s >= part_s else None
            part_s = now_s + _PART_S if now_s >= part_s else part_s
    except OSError as error:
        raise RequestError(write_error_words(error)) from None
    return size


QUERIES = (
    Query(ShowSeenContext, SeenContext, _show),
    Query(DescribeEntries, list[ListedEntry], _describe),
    Query(EntryText, str, _text),
    Query(NextChange, int | None, _next_change),
    Query(ReaderAt, Reader | None, _reader_at),
    Query(CopyContext, str, _copy),
    Query(WriteContext, int, _write, int),
)
