"""What passes read of records beside columns, whichever way a line was read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from inspector.protocol.result_records import RecordCounts
from inspector.reading.decoder.block_reader import BlockReader
from inspector.store.columns.block import Block
from inspector.store.columns.extracts import MAX_NAMED_IDS, ToolList
from inspector.store.columns.hashes import hash_text
from tests.builders import delivered, document_of, envelope, lines_of, received


def read(*lines: Any) -> Block:
    return BlockReader(0).read_lines(lines_of(*lines), 0)


def both_ways(line: dict[str, Any]) -> list[Block]:
    """The usual way and, for a key that is not usual, the slow one."""
    return [read(line), read({**line, "thread_id": 7})]


def propose(arguments: Any, **more: Any) -> dict[str, Any]:
    params = {"name": "write", "arguments": arguments}
    return envelope("mcp/proposal", {"method": "tools/call", "params": params, **more})


def test_equal_arguments_have_one_hash_however_they_are_written() -> None:
    hashes = [
        block.extracts.arguments[0]
        for arguments in ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1.0})
        for block in both_ways(propose(arguments))
    ]
    assert len(set(hashes)) == 1
    assert read(propose({"a": 2})).extracts.arguments[0] not in hashes
    for nothing in (None, [], "x"):
        assert not read(propose(nothing)).extracts.arguments


def test_arguments_are_found_in_a_wrapped_envelope() -> None:
    inner = propose({"a": 1})
    wrapped = envelope("mcp/proposal", {"envelope": {"payload": inner["payload"]}})
    assert [b.extracts.arguments for b in both_ways(wrapped)] == [b.extracts.arguments for b in both_ways(inner)]


def test_results_tell_their_records_and_tools() -> None:
    listing = envelope("mcp/response", {"result": {"structuredContent": {"records": ["a"] * 7}}})
    tools = envelope("mcp/response", {"result": {"tools": [{"name": "read"}, {"name": 7}, 8], "nextCursor": "p2"}})
    for block in both_ways(listing):
        assert block.extracts.listed == {0: RecordCounts(0, 7)}
    for block in both_ways(tools):
        assert block.extracts.tools == {0: ToolList(("read",), False)}


@pytest.mark.parametrize("count", [2, MAX_NAMED_IDS + 5])
def test_the_ids_of_a_message_that_names_several(count: int) -> None:
    names = [f"m{number}" for number in range(count)]
    for block in both_ways(envelope("chat", correlation_id=[*names, "m0"])):
        assert block.extracts.named == {0: [hash_text(name) for name in names[:MAX_NAMED_IDS]]}


def test_every_copy_of_an_envelope_without_an_id_is_a_message() -> None:
    """The fast way decodes what a gateway logs several times once; each line may become a message."""
    proposal = propose({"a": 1})
    del proposal["id"]
    block = read(received(proposal), delivered(proposal, "a"), delivered(proposal, "b"))
    assert len(set(block.extracts.arguments.values())) == 1
    assert len(block.extracts.arguments) == 3


def test_nothing_is_left_once_the_checks_have_looked() -> None:
    capture = document_of(envelope("reasoning/start", {"message": "why"}), propose({"a": 1})).capture
    assert not capture.extracted.unchecked.records
    assert capture.extracted.argument_hashes(np.array([0, 1]))[1] != 0
    assert json.loads(capture.records.read_line_of(0))["payload"] == capture.records.decoded_record(0).payload
