"""Follows transient results, consumptions and hints of many tools in one conversation; prints one JSON object.

Half of the results are transient, and all of them wait before the first is consumed. What is timed is the pass alone,
the reading of `_meta` included. Run as `python -m tests.bench.lifecycle RESULTS TOOLS`.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.analysis.passes.results.transient_results import TransientPass
from inspector.document.document import CaptureDocument
from inspector.protocol.tool_aliases import ToolAliases

_CONSUMERS = ("store", "other")


def calls(results: int, tools: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools, and the `_meta` of their results: hints about each tool, transient results, consumptions."""
    for number in range(tools):
        hint = {"step": 2, "tool": f"fetch{number}", "lifecycle": "transient"}
        yield "step", {"contextHints": [{**hint, "consumedBy": consumer} for consumer in _CONSUMERS]}
    for number in range(results // 2):
        summary = f"15 records (page {number}/{results})"
        yield f"fetch{number * 7919 % tools}", {"context": {"lifecycle": "transient", "summary": summary}}
    for number in range(results // 2):
        yield _CONSUMERS[number % 2], {"context": {"consumed": True}}


def write(path: Path, results: int, tools: int) -> None:
    """A log of MCP stdio."""
    with path.open("w") as file:
        for number, (tool, meta) in enumerate(calls(results, tools)):
            asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
            said = {"jsonrpc": "2.0", "id": number, "result": {"_meta": meta, "content": []}}
            for way, message in (("client->server", asked), ("server->client", said)):
                file.write(json.dumps({"t": number, "dir": way, "message": message}) + "\n")


class TimedPass(TransientPass):
    """The pass, and the seconds of processor time it took."""

    seconds = 0.0

    def feed(self, *arguments: Any, **more: Any) -> None:
        """As the pass does."""
        started = time.process_time()
        super().feed(*arguments, **more)
        self.seconds += time.process_time() - started


def measure(results: int, tools: int) -> dict[str, Any]:
    """Read such a log, then tell it again."""
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        path = Path(folder, "lifecycle.jsonl")
        write(path, results, tools)
        document = CaptureDocument()
        analysis = document.analysis
        analysis.transients.__class__ = TimedPass  # the passes that ask it keep the one they have
        started = time.process_time()
        document.load(path)
        took = time.process_time() - started
        passed = analysis.transients
        assert isinstance(passed, TimedPass)
        again = time.process_time()
        analysis.use_tool_aliases(ToolAliases.from_texts(["nobody = nothing"]))
        again = time.process_time() - again
        found = {
            "totals": passed.totals(), "per_s": (results + tools) / passed.seconds, "seconds": passed.seconds,
            "share": passed.seconds / took, "again_s": again,
        }  # fmt: skip
        document.close()
        return found


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:3]))))
