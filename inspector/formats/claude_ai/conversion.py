"""Converts conversations of claude.ai's export: a message a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.claude_ai.reader import LABEL
from inspector.formats.file_records import first_record
from inspector.formats.message_trees import REWIND, ordered_messages
from inspector.formats.run_files import (
    Run,
    RunFacts,
    decoded_document,
    document_at,
    placed_documents,
    run_converter,
)
from inspector.formats.value_conversions import mappings_in, text_or_none
from inspector.protocol.timestamps import parse_time

_SENDERS = ("human", "assistant")


def begins_export(head: bytes) -> bool:
    """Returns True for the first bytes of an export, or of one conversation."""
    return b'"chat_messages"' in head and is_conversation(first_record(head))


def is_conversation(value: Mapping[str, Any]) -> bool:
    messages = value.get("chat_messages")
    if not isinstance(messages, list) or not {"uuid", "name"} <= value.keys():
        return False
    return all("sender" not in one or one["sender"] in _SENDERS for one in mappings_in(messages)[:1])


def runs_in(path: Path) -> Iterator[Run]:
    for number, (start, document) in enumerate(placed_documents(path), 1):
        value = decoded_document(document)
        if is_conversation(value):
            yield Run(_facts(value, number), partial(_lines, path, start, len(document)))


def _facts(value: Mapping[str, Any], number: int) -> RunFacts:
    return RunFacts(
        name=text_or_none(value.get("uuid")) or str(number), title=text_or_none(value.get("name")),
        began_ns=parse_time(value.get("created_at")), model=text_or_none(value.get("model")),
    )  # fmt: skip


def _lines(path: Path, start: int, size: int) -> Iterator[dict[str, Any]]:
    value = document_at(path, start, size)
    model = text_or_none(value.get("model"))
    yield {"record": {key: one for key, one in value.items() if key != "chat_messages"}}
    found = mappings_in(value.get("chat_messages"))
    messages = {text_or_none(one.get("uuid")) or str(place): one for place, one in enumerate(found)}
    names = list(messages)
    # Older exports do not name the message before.
    parents = {
        name: text_or_none(one.get("parent_message_uuid")) if "parent_message_uuid" in one else before
        for before, (name, one) in zip([None, *names], messages.items(), strict=False)
    }
    shown = text_or_none(value.get("current_leaf_message_uuid")) or (names[-1] if names else None)
    for name, has_ended in ordered_messages(parents, shown):
        if has_ended:
            yield {REWIND: name, "record": {}}
        else:
            yield {"record": messages[name], **({"model": model} if model else {})}


CONVERSION = run_converter(LABEL, runs_in, begins_export)
