"""Places of a view that another reading of the same sources has too: messages, contexts, a source, marks.

Messages have other numbers there. A message is found by its records, or by its place in editable sessions.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from inspector.analysis.passes.contexts.context_tree import MAIN as MAIN
from inspector.analysis.passes.user_marks import ContextTarget as ContextTarget
from inspector.analysis.passes.user_marks import Note as Note
from inspector.document.document import CaptureDocument
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.filters.scope import source_named
from inspector.msp.projection import Place
from inspector.store.messages.capture import Capture


class MessagePlace(msgspec.Struct, frozen=True):
    """Place of a message.

    Attributes:
        records: file, offset and part of its records, its own first; one for each source that has a copy.
        session: its place in editable sessions, if it has one.
    """

    records: list[tuple[Path, int, int]]
    session: Place | None = None


class ContextName(msgspec.Struct, frozen=True):
    """Names of a context's session and of the context; None for the main context."""

    space: str
    name: str | None


class PlacedMark(msgspec.Struct, frozen=True):
    """A note on a message or a context."""

    note: Note
    message: MessagePlace | None = None
    context: ContextName | None = None


class KeptPlaces(msgspec.Struct, frozen=True):
    """Places by names and records.

    Attributes:
        messages: the places of messages; None for one without a place.
        contexts: the contexts.
        source: name of a source.
        marks: all marks and comments.
    """

    messages: list[MessagePlace | None]
    contexts: list[ContextName]
    source: str | None
    marks: list[PlacedMark]


class FoundPlaces(msgspec.Struct, frozen=True):
    """The same places by numbers of this reading; None for one that does not exist here."""

    messages: list[int | None]
    contexts: list[ContextTarget | None]
    source: int | None


class KeepPlaces(Request[KeptPlaces], frozen=True):
    """Names places of a view, and all marks."""

    messages: tuple[int, ...] = ()
    contexts: tuple[ContextTarget, ...] = ()
    source: int | None = None


class RestorePlaces(Request[FoundPlaces], frozen=True):
    """Finds the places kept from another reading, and sets its marks here."""

    kept: KeptPlaces


def _keep(held: OpenDocument, asked: KeepPlaces) -> KeptPlaces:
    document = held.document
    marks = document.analysis.marks
    found = [
        PlacedMark(marks.note(target), context=_name_of(document, target))
        if isinstance(target, ContextTarget)
        else PlacedMark(marks.note(target), _place_of(document, target))
        for target in (list(marks.targets()) if len(marks) else ())
    ]
    return KeptPlaces(
        [_place_of(document, message) for message in asked.messages],
        [_name_of(document, context) for context in asked.contexts],
        None if asked.source is None else document.capture.sources[asked.source].name,
        found,
    )


def _restore(held: OpenDocument, asked: RestorePlaces) -> FoundPlaces:
    document, kept = held.document, asked.kept
    for mark in kept.marks:
        target = (
            _context_of(document, mark.context) if mark.context is not None else _message_at(document, mark.message)
        )
        if target is not None:
            document.analysis.marks.set_note(target, mark.note)
    return FoundPlaces(
        [_message_at(document, place) for place in kept.messages],
        [_context_of(document, context) for context in kept.contexts],
        None if kept.source is None else source_named(document.capture, kept.source),
    )


def _place_of(document: CaptureDocument, message: int) -> MessagePlace | None:
    if document.sessions is not None:
        place = document.sessions.shown.projection.place_at(message)
        return None if place is None else MessagePlace([], place)
    capture = document.capture
    columns = capture.columns
    found = [(int(columns["source"][message]), int(columns["offset"][message]), int(columns["part"][message]))]
    found += [(one.source, one.offset, 0) for one in capture.sightings_of(message)]
    return MessagePlace([(capture.sources[source].path, offset, part) for source, offset, part in found])


def _message_at(document: CaptureDocument, place: MessagePlace | None) -> int | None:
    """Returns the message at a place, or None. O(messages)."""
    if place is None:
        return None
    if place.session is not None:
        return None if document.sessions is None else document.sessions.shown.projection.row_at(place.session)
    capture = document.capture
    numbers = {source.path: number for number, source in enumerate(capture.sources)}
    for path, offset, part in place.records:
        found = _message_of(capture, numbers[path], offset, part) if path in numbers else None
        if found is not None:
            return found
    return None


def _message_of(capture: Capture, source: int, offset: int, part: int) -> int | None:
    columns, sightings = capture.columns, capture.sightings
    found = np.flatnonzero((columns["offset"] == offset) & (columns["source"] == source) & (columns["part"] == part))
    if not len(found):
        found = sightings["message"][(sightings["offset"] == offset) & (sightings["source"] == source)]
    return int(found[0]) if len(found) else None


def _name_of(document: CaptureDocument, context: ContextTarget) -> ContextName:
    tree = document.analysis.contexts.tree
    living = tree.resolve(context.node)
    return ContextName(document.capture.strings[context.space], None if living == MAIN else tree.name[living])


def _context_of(document: CaptureDocument, name: ContextName) -> ContextTarget | None:
    code = document.capture.strings.find(name.space) if name.space else 0
    if code is None:
        return None
    node = MAIN if name.name is None else document.analysis.contexts.tree.find(code, name.name)
    return None if name.name is not None and node == MAIN else ContextTarget(code, node)


QUERIES = (Query(KeepPlaces, KeptPlaces, _keep), Query(RestorePlaces, FoundPlaces, _restore))
