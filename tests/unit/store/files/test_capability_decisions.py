"""The gateway's verdicts beside a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector.store.files.capability_decisions import CapabilityDecisions, decision_hash
from inspector.store.files.source_files import SourceFile
from tests.builders import lines_of


def decision(envelope_id: Any, result: str = "allowed", **fields: Any) -> dict[str, Any]:
    return {
        "timestamp": "2026-01-05T09:00:00Z", "event": "capability_check", "envelope_id": envelope_id, "result": result,
        "participant": "lead", **fields,
    }  # fmt: skip


def decisions_of(tmp_path: Path, data: bytes) -> CapabilityDecisions:
    path = tmp_path / "capability-decisions.jsonl"
    path.write_bytes(data)
    found = CapabilityDecisions(SourceFile(path))
    found.read_all()
    return found


def test_decisions_about_an_envelope(tmp_path: Path) -> None:
    lines = [decision("a"), decision("b", "denied"), decision("a", metadata={"source": "capability/grant"}), {"x": 1}]
    decisions = decisions_of(tmp_path, lines_of(*lines))
    assert decisions.decisions_about("a") == [lines[0], lines[2]]
    assert decisions.decisions_about("b") == [lines[1]]
    assert decisions.decisions_about("c") == []
    assert len(decisions) == 4
    decisions.sources[0].close()


def test_odd_lines_are_passed_over(tmp_path: Path) -> None:
    data = b"\n\r\n{torn\n" + lines_of(decision(7), decision(None), decision("a")).replace(b"\n", b"\r\n") + b"[]"
    decisions = decisions_of(tmp_path, data)
    assert decisions.decisions_about("a") == [decision("a")]
    assert len(decisions) == 5
    decisions.sources[0].close()


def test_an_empty_file(tmp_path: Path) -> None:
    decisions = decisions_of(tmp_path, b"")
    assert (len(decisions), decisions.decisions_about("a")) == (0, [])
    decisions.sources[0].close()


def test_lines_that_say_the_same_are_told_by_their_hash() -> None:
    def said(envelope_id: str, **fields: Any) -> int:
        line = {
            "timestamp": f"2026-01-05T09:00:0{len(envelope_id)}Z", "event": "capability_check",
            "envelope_id": envelope_id, "participant": "lead", "result": "allowed",
            "granted_capabilities": [{"kind": "chat"}], "metadata": {"source": "websocket", "id": envelope_id},
        }  # fmt: skip
        return decision_hash(json.dumps({**line, **fields}, separators=(",", ":")).encode())

    assert said("a") == said("bb")
    others = ({"participant": "coder"}, {"result": "denied"}, {"granted_capabilities": [{"kind": "metadata"}]})
    assert len({said("a"), *(said("a", **fields) for fields in others)}) == 4
    assert said("a", metadata={"nested": {"x": 1}}) != said("a")


def test_of_lines_in_another_order_all_counts() -> None:
    assert decision_hash(b'{"envelope_id":"a","result":"denied"}') != decision_hash(
        b'{"envelope_id":"b","result":"denied"}'
    )
