"""Merged context of a sub-session: its figures for the indicator, its entries for the dialog, and its export."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec

from inspector.analysis.views.model_context.json_export import parts_of, write_parts
from inspector.base.paths import is_same_file
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Part, PartsRequest, Query, Request, RequestError, Steps, check_row_count
from inspector.engine.sessions import MessageRef as MessageRef
from inspector.engine.sessions import ref_of, sessions_of, subsession_of
from inspector.export.files import write_error_words
from inspector.msp.merged import MergedContext
from inspector.msp.merged_layers import Entry
from inspector.msp.objects import Message
from inspector.msp.references import references_of
from inspector.msp.rules import RULE_WORDS as RULE_WORDS
from inspector.msp.rules import Rules as Rules
from inspector.present.merged_words import Note as Note
from inspector.present.merged_words import layer_words, notes_of, order_words, share_words
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text, masked_beginning

MOST_IN_ORDER = 60
"""Maximum of entries in the list of the indicator; the dialog has all."""
MOST_COPIED = 2_000
"""Maximum of copied entries; more need a file."""
SHOWN_CHARACTERS = 200_000
"""Maximum of displayed characters of an entry."""
_MAX_NAMED = 5


class WantedContext(msgspec.Struct, frozen=True):
    """Names a merged context.

    Attributes:
        key: of the sub-session.
        rules: reading of the protocol.
        counted: uncounted texts are queued for counting.
        revision: the context of these edits alone, for a dialog; None for the present one.
    """

    key: str
    rules: Rules = Rules()
    counted: bool = True
    revision: int | None = None


class MergedLayer(msgspec.Struct, frozen=True):
    """A layer of a merged context.

    Attributes:
        included: the policy includes it.
        tokens: of its entries.
        entries: number of entries.
        share: of all sent tokens, as text.
        words: its description; safe to show.
        why: the reason for its inclusion or exclusion.
    """

    title: str
    included: bool
    tokens: int
    entries: int
    share: str
    words: str
    why: str


class EntryRow(msgspec.Struct, frozen=True):
    """An entry as texts; safe to show.

    Attributes:
        layer: its number, from 1.
        title: of the layer.
        text: its beginning.
        source: its message; None for other sources.
    """

    layer: int
    title: str
    text: str
    role: str
    reason: str
    tokens: int
    source: MessageRef | None


class PolicyValues(msgspec.Struct, frozen=True):
    """Context policy of a sub-session; None for unset members."""

    include_sub_context: bool | None = None
    include_snapshots: bool | None = None
    recent_parent_messages: int | None = None


class MergedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a merged context.

    Attributes:
        revision: of the sessions.
        key, label: of the sub-session.
        is_open: it is open, so that its policy can be changed.
        tokens: of all layers.
        layers: always four, in sending order.
        notes: notes with switches.
        order: the first `MOST_IN_ORDER` entries.
        entries: number of all entries.
        policy: as in the file.
        summaries: labels of referenced summaries; safe to show.
        is_counting: counts are missing and will arrive.
        trouble: the reason why counting stopped, or "".
        tokenizer: name of the tokenizer.
    """

    revision: int
    key: str
    label: str
    is_open: bool
    tokens: int
    layers: list[MergedLayer]
    notes: list[Note]
    order: list[EntryRow]
    entries: int
    policy: PolicyValues
    summaries: str
    is_counting: bool
    trouble: str
    tokenizer: str


class MergeContext(Request[MergedFigures], frozen=True):
    """Figures of a merged context."""

    context: WantedContext


class DescribeMerged(Request[list[EntryRow]], frozen=True):
    """Entries `start` to `stop`, at most 1,000."""

    is_urgent: ClassVar[bool] = True

    context: WantedContext
    start: int
    stop: int


class EntryText(msgspec.Struct, frozen=True):
    """Text of an entry, secrets masked: the first 200,000 characters, and the number of all others."""

    text: str
    more: int


class ReadMergedEntry(Request[EntryText], frozen=True):
    """Text of an entry, to be read."""

    context: WantedContext
    place: int


class CopyMerged(Request[str], frozen=True):
    """Text of one entry, or all entries as messages JSON; secrets masked."""

    context: WantedContext
    place: int | None = None


class ExportMergedContext(PartsRequest[int, int], frozen=True):
    """Writes all entries as messages JSON; the parts and the answer are bytes written.

    Attributes:
        target: the file; never one of the sessions' own.
        masked: masks secrets.
    """

    context: WantedContext
    target: Path
    masked: bool = True


# Answers


def _merged(held: OpenDocument, wanted: WantedContext) -> Steps[MergedContext]:
    document, sub = sessions_of(held), subsession_of(held, wanted.key)
    merged = yield from document.figures.merge_steps(sub, wanted.rules, counted=wanted.counted)
    if wanted.revision is not None and wanted.revision != document.revision:
        raise RequestError("The sessions were edited meanwhile. Open the merged context again.")
    return merged


def _figures(held: OpenDocument, asked: MergeContext) -> Steps[MergedFigures]:
    merged = yield from _merged(held, asked.context)
    document, sub, total = sessions_of(held), merged.subsession, merged.tokens
    counts, policy = document.figures.counts, sub.policy
    labels = ", ".join(safe_line(one.label, 40) for one in references_of(sub)[:_MAX_NAMED])
    return MergedFigures(
        revision=document.revision,
        key=sub.key,
        label=safe_line(sub.label, 60),
        is_open=sub.is_open,
        tokens=total,
        layers=[
            MergedLayer(one.title, one.included, one.tokens, len(one.entries), share_words(one.tokens, total),
                        layer_words(merged, one), one.why)
            for one in merged.layers
        ],
        notes=notes_of(merged),
        order=_rows(merged, 0, MOST_IN_ORDER),
        entries=len(merged.entries),
        policy=PolicyValues(policy.include_sub_context, policy.include_snapshots, policy.recent_parent_messages),
        summaries=safe_line(labels, 200),
        is_counting=asked.context.counted and counts.is_counting,
        trouble=counts.error,
        tokenizer=merged.tokenizer,
    )  # fmt: skip


def _rows(merged: MergedContext, start: int, stop: int) -> list[EntryRow]:
    """Returns entries as texts, by their index among all."""
    rows: list[EntryRow] = []
    first = 0
    for number, layer in enumerate(merged.layers, 1):
        inside = layer.entries[max(0, start - first) : max(0, stop - first)]
        for place, entry in enumerate(inside, max(0, start - first)):
            own_place = place if layer.name == "own" else None
            rows.append(EntryRow(
                number, layer.title, order_words(entry, merged.rules), safe_line(entry.role, 60) or "no role",
                safe_line(entry.reason, 300), entry.tokens, _source(entry, own_place),
            ))  # fmt: skip
        first += len(layer.entries)
    return rows


def _source(entry: Entry, number: int | None) -> MessageRef | None:
    """Returns the message of an entry; `number` is its index, if known."""
    source = entry.source
    if not isinstance(source, Message):
        return None
    items = source.owner.items
    if number is None or number >= len(items) or items[number] is not source.data:
        # From the end, since most are recent.
        number = next((place for place in range(len(items) - 1, -1, -1) if items[place] is source.data), None)
    return None if number is None else ref_of(source, number)


def _describe(held: OpenDocument, asked: DescribeMerged) -> Steps[list[EntryRow]]:
    start = max(0, asked.start)
    check_row_count(asked.stop - start)
    return _rows((yield from _merged(held, asked.context)), start, asked.stop)


def _entry(merged: MergedContext, place: int) -> Entry:
    entries = merged.entries
    if not 0 <= place < len(entries):
        raise RequestError("The entry does not exist any more.")
    return entries[place]


def _read(held: OpenDocument, asked: ReadMergedEntry) -> Steps[EntryText]:
    content = _entry((yield from _merged(held, asked.context)), asked.place).content
    return EntryText(masked_beginning(content, SHOWN_CHARACTERS), max(0, len(content) - SHOWN_CHARACTERS))


def _copy(held: OpenDocument, asked: CopyMerged) -> Steps[str]:
    merged = yield from _merged(held, asked.context)
    if asked.place is not None:
        return mask_text(_entry(merged, asked.place).content)
    if len(merged.entries) > MOST_COPIED:
        raise RequestError(f"{len(merged.entries):,} entries are too many to copy. Export them to a file instead.")
    return "".join(_json_parts(merged, masked=True))


def _export(held: OpenDocument, asked: ExportMergedContext) -> Steps[int]:
    merged = yield from _merged(held, asked.context)
    size, target = 0, Path(os.path.realpath(asked.target))
    try:
        if any(is_same_file(file.path, target) for file in sessions_of(held).files):
            raise OSError(errno.EEXIST, "that is the document itself", str(target))
        for size in write_parts(_json_parts(merged, masked=asked.masked), target):
            yield Part(size)
    except OSError as error:
        raise RequestError(f"{safe_line(asked.target.name)} could not be written: {write_error_words(error)}") from None
    return size


def _json_parts(merged: MergedContext, *, masked: bool) -> Iterator[str]:
    """Yields a JSON object with `messages` in the format of chat completion APIs."""
    messages = merged.as_messages()
    return parts_of({key: mask_text(value) for key, value in one.items()} if masked else one for one in messages)


QUERIES = (
    Query(MergeContext, MergedFigures, _figures),
    Query(DescribeMerged, list[EntryRow], _describe),
    Query(ReadMergedEntry, EntryText, _read),
    Query(CopyMerged, str, _copy),
    Query(ExportMergedContext, int, _export, int),
)
