"""Lines of many messages read together are the lines each of them has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.store.messages import adjacent_reads as module
from inspector.store.messages.adjacent_reads import read_line_ranges
from tests.builders import document_of


def lines_of_all(document: CaptureDocument, rows: list[int]) -> list[bytes]:
    found: list[bytes] = []
    for data, starts, ends in read_line_ranges(document.capture, np.array(rows, np.int64)):
        found += [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return found


@given(st.lists(st.integers(0, 400), min_size=1, max_size=12), st.data())
def test_each_has_its_line(sizes: list[int], data: st.DataObject) -> None:
    document = document_of(*({"kind": "chat", "payload": {"text": "x" * size}} for size in sizes))
    rows = sorted(data.draw(st.sets(st.sampled_from(range(len(sizes))))))
    most, gap = module._MAX_READ, module._GAP
    module._MAX_READ, module._GAP = data.draw(st.sampled_from([1, 300, 4096])), data.draw(st.sampled_from([0, 300]))
    try:
        assert lines_of_all(document, rows) == [document.capture.records.read_line_of(row) for row in rows]
    finally:
        module._MAX_READ, module._GAP = most, gap


def test_messages_of_one_line_have_it_each(tmp_path: Path) -> None:
    log = tmp_path / "batch.jsonl"
    calls = [{"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in range(3)]
    log.write_text(json.dumps(calls) + "\n" + json.dumps(calls[0]) + "\n")
    document = CaptureDocument()
    document.load(log)
    rows = list(range(len(document.capture)))
    assert lines_of_all(document, rows) == [document.capture.records.read_line_of(row) for row in rows]
    document.close()


def test_what_a_shorter_file_lost_is_empty(tmp_path: Path) -> None:
    document = document_of(*({"kind": "chat", "id": name} for name in "abc"))
    path = document.capture.sources[0].path
    whole = lines_of_all(document, [0, 1, 2])
    path.write_bytes(path.read_bytes()[: len(whole[0]) + 4])
    assert lines_of_all(document, [0, 1, 2]) == [whole[0], whole[1][:3], b""]
    document.capture.sources[0].lost_to = len(whole[0]) + 1
    assert lines_of_all(document, [0, 1, 2]) == [b"", whole[1][:3], b""]
