"""Converts conversations of ChatGPT's export, each a tree of messages: a message a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.chatgpt.reader import LABEL, called_tool
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
from inspector.formats.value_conversions import mapping_or_empty, text_or_none
from inspector.protocol.timestamps import parse_time


def begins_export(head: bytes) -> bool:
    """Returns True for the first bytes of an export, or of one conversation."""
    return b'"mapping"' in head and b'"create_time"' in head and is_conversation(first_record(head))


def is_conversation(value: Mapping[str, Any]) -> bool:
    nodes = value.get("mapping")
    if not isinstance(nodes, Mapping) or not {"title", "create_time"} <= value.keys():
        return False
    first = mapping_or_empty(next(iter(nodes.values()), None))
    return "id" in first or "current_node" in value


def runs_in(path: Path) -> Iterator[Run]:
    for number, (start, document) in enumerate(placed_documents(path), 1):
        value = decoded_document(document)
        if is_conversation(value):
            yield Run(_facts(value, number), partial(_lines, path, start, len(document)))


def _facts(value: Mapping[str, Any], number: int) -> RunFacts:
    name = text_or_none(value.get("conversation_id")) or text_or_none(value.get("id"))
    return RunFacts(
        name=name or str(number), title=text_or_none(value.get("title")), began_ns=parse_time(value.get("create_time")),
        model=text_or_none(value.get("default_model_slug")),
    )  # fmt: skip


def _lines(path: Path, start: int, size: int) -> Iterator[dict[str, Any]]:
    value = document_at(path, start, size)
    yield {"record": {key: one for key, one in value.items() if key != "mapping"}}
    nodes = mapping_or_empty(value.get("mapping"))
    parents = {name: text_or_none(mapping_or_empty(node).get("parent")) for name, node in nodes.items()}
    messages = {name: mapping_or_empty(mapping_or_empty(node).get("message")) for name, node in nodes.items()}
    calls: dict[str, tuple[str, str]] = {}  # the last call up to a node, with its tool
    answered: set[str] = set()
    for name, has_ended in ordered_messages(parents, text_or_none(value.get("current_node"))):
        message = messages[name]
        if not message:
            continue
        identifier = text_or_none(message.get("id")) or name
        if has_ended:
            yield {REWIND: identifier, "record": {}}
            continue
        before = calls.get(parents[name] or "")
        line: dict[str, Any] = {"record": message}
        if (tool := called_tool(message)) is not None:
            before = (identifier, tool)
        elif before is not None and before[0] not in answered and _is_result_of(message, before[1]):
            line["answers"] = before[0]
            answered.add(before[0])
        if before is not None:
            calls[name] = before
        yield line


def _is_result_of(message: Mapping[str, Any], tool: str) -> bool:
    author = mapping_or_empty(message.get("author"))
    return author.get("role") == "tool" and author.get("name") in (tool, tool.partition(".")[0])


CONVERSION = run_converter(LABEL, runs_in, begins_export)
