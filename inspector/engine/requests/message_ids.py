"""Messages by number, id or part of an id."""

from __future__ import annotations

import time

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Part, PartsRequest, Query, Request, Steps
from inspector.filters.compile import compile_filter
from inspector.filters.search import Search
from inspector.filters.strings import quote

_STEP_S = 0.02
"""Work on a search before another request may be answered."""


class IdMatch(msgspec.Struct, frozen=True):
    """A message that matches.

    Attributes:
        message: its index.
        id: its id; "" without one.
        sender, kind: "" if unknown.
        is_hidden: the view hides it.
    """

    message: int
    id: str
    sender: str
    kind: str
    is_hidden: bool


class FindMessages(Request[list[IdMatch]], frozen=True):
    """The message of a number, and messages with an id.

    Attributes:
        view: number of the view.
        number: a message number from 1, if the text is one.
        text: the id.
        most: maximum number of messages with the id.
    """

    view: int
    number: int | None
    text: str
    most: int


class IdProgress(msgspec.Struct, frozen=True):
    """Progress of a search.

    Attributes:
        fraction: share of the messages searched, 0 to 1; 1 while ids are compared.
        found: number of matches so far.
    """

    fraction: float
    found: int = 0


class SearchIds(PartsRequest[IdProgress, list[IdMatch]], frozen=True):
    """Messages whose ids contain a text in any case, in capture order.

    Attributes:
        view: number of the view.
        text: the text.
        known: messages to leave out.
        most: maximum number of matches; one more is answered if there are more.
    """

    view: int
    text: str
    known: tuple[int, ...] = ()
    most: int = 100


def _find(held: OpenDocument, asked: FindMessages) -> list[IdMatch]:
    records, total = held.document.capture.records, len(held.document.capture)
    found = [asked.number - 1] if asked.number is not None and 1 <= asked.number <= total else []
    found += [message for message in records.find_id(asked.text)[: asked.most] if message not in found]
    return [_match(held, message, asked.view) for message in found]


def _match(held: OpenDocument, message: int, view: int) -> IdMatch:
    capture = held.document.capture
    sender, kind = (capture.string(name, message) or "" for name in ("sender", "kind"))
    hidden = held.view(view).rows.row_of(message) is None
    return IdMatch(message, capture.records.envelope_id(message) or "", sender, kind, hidden)


def _search(held: OpenDocument, asked: SearchIds) -> Steps[list[IdMatch]]:
    # Ids are decoded only for messages that contain the text anywhere, which saves most of the work.
    search = Search(held.view(asked.view).rows, compile_filter(quote(asked.text)), None)
    while not search.step():
        yield Part(IdProgress(search.fraction))
    records, wanted, known = held.document.capture.records, asked.text.casefold(), set(asked.known)
    found: list[IdMatch] = []
    until = time.perf_counter() + _STEP_S
    for message in search.result().tolist():
        if len(found) > asked.most:
            break
        identifier = records.envelope_id(message)
        if message not in known and identifier is not None and wanted in identifier.casefold():
            found.append(_match(held, message, asked.view))
        if time.perf_counter() > until:
            yield Part(IdProgress(1.0, len(found)))
            until = time.perf_counter() + _STEP_S
    return found


QUERIES = (
    Query(FindMessages, list[IdMatch], _find),
    Query(SearchIds, list[IdMatch], _search, IdProgress),
)
