"""One message with all facts about it, its causal chain and its exact bytes; fields of many messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from inspector.engine.counting import counted_tokens
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import PartsRequest, Query, Request, RequestError, Steps, row_parts, rows_from
from inspector.engine.requests.rows import compiled_filter, matching_messages
from inspector.engine.threads import in_thread
from inspector.filters import FilterError
from inspector.filters.naming import field_named
from inspector.present.answers import message_answer, message_answers
from inspector.store.columns.flags import Flag
from inspector.store.messages.exact_bytes import ExactMessage

_CHAIN_FIELDS = ("no", "time", "from", "to", "kind", "context", "info", "state")


class Story(msgspec.Struct, frozen=True):
    """One message.

    Attributes:
        facts: fields, envelope, causes, effects, lifecycle and findings as JSON, masked.
        is_big: the envelope is left out and `raw` is its beginning.
        size_bytes: its size.
    """

    facts: dict[str, Any]
    is_big: bool
    size_bytes: int


class TellMessage(Request[Story], frozen=True):
    """All facts about a message."""

    message: int


class TellChain(Request[dict[str, Any]], frozen=True):
    """The causal chain of a message, causes before effects, with fields of each step."""

    message: int


class SaveMessage(Request[int], frozen=True):
    """Writes the exact bytes of a message to a file; the answer is their number."""

    message: int
    target: Path


class MessageFileName(Request[str], frozen=True):
    """Suggests a name for the file of a message."""

    message: int


class ListMessages(PartsRequest[list[dict[str, Any]], None], frozen=True):
    """Fields of messages that pass a filter, masked; times in RFC 3339, UTC.

    Attributes:
        fields: names of fields, also `payload.<path>`.
        filter: a display filter.
        offset: number of matches to skip.
        limit: number of messages at most.
        counted: counts tokens first, if a field or the filter needs them.
    """

    fields: tuple[str, ...]
    filter: str = ""
    offset: int = 0
    limit: int | None = None
    counted: bool = False


def require_message(held: OpenDocument, message: int) -> None:
    """Raises RequestError if there is no such message."""
    count = len(held.document.capture)
    if not 0 <= message < count:
        raise RequestError(f"There is no message {message + 1}; there are 1 to {count:,}.")


def _story(held: OpenDocument, asked: TellMessage) -> Story:
    require_message(held, asked.message)
    capture = held.document.capture
    facts = message_answer(held.document, asked.message)
    return Story(facts, capture.records.is_big(asked.message), int(capture.columns["size"][asked.message]))


def _chain(held: OpenDocument, asked: TellChain) -> dict[str, Any]:
    require_message(held, asked.message)
    story = message_answer(held.document, asked.message)
    fields = [(name, field_named(name)) for name in _CHAIN_FIELDS]
    rows = message_answers(held.document, fields, [step["no"] - 1 for step in story["chain"]])
    steps = [step | row for step, row in zip(story["chain"], rows, strict=True)]
    return {"chain": steps, "likely": story["likely"]}


def _save(held: OpenDocument, asked: SaveMessage) -> Steps[int]:
    require_message(held, asked.message)
    # Located here because a thread must not read columns or files that this one changes.
    exact = ExactMessage(held.document.capture, asked.message)
    return (yield from in_thread(lambda: exact.save(asked.target)))


def _file_name(held: OpenDocument, asked: MessageFileName) -> str:
    require_message(held, asked.message)
    flags = held.document.capture.flags_of(asked.message)
    return f"message {asked.message + 1}.{'bin' if flags & (Flag.UNREADABLE | Flag.FRAME) else 'json'}"


def _list(held: OpenDocument, asked: ListMessages) -> Steps[None]:
    document, filter_ = held.document, compiled_filter(asked.filter)
    try:
        fields = [(name, field_named(name)) for name in dict.fromkeys(asked.fields)]
    except FilterError as error:
        raise RequestError(f"{error} (at character {error.position + 1})") from None
    if asked.counted and "tokens" in (*filter_.fields, *asked.fields):
        yield from counted_tokens(held)

    def rows() -> Iterator[dict[str, Any] | None]:
        skipped, taken = 0, 0
        for block in matching_messages(document.analysis, filter_):
            yield None
            wanted = list(rows_from(block.tolist(), max(0, asked.offset - skipped), None))
            skipped += len(block) - len(wanted)
            if asked.limit is not None:
                wanted = wanted[: asked.limit - taken]
            taken += len(wanted)
            yield from message_answers(document, fields, wanted)
            if asked.limit is not None and taken >= asked.limit:
                return

    yield from row_parts(rows())


QUERIES = (
    Query(TellMessage, Story, _story),
    Query(TellChain, dict[str, Any], _chain),
    Query(SaveMessage, int, _save),
    Query(MessageFileName, str, _file_name),
    Query(ListMessages, None, _list, list[dict[str, Any]]),
)
