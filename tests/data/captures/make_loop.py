"""Writes `loop-mcp.jsonl`: the reclassification loop over 9 pages and 132 records as MCP stdio traffic.

The answers are those of the demo's own tools; times are made up, a step every 400 ms. Run it from the repository's
folder to make the file anew: `python -m tests.data.captures.make_loop`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from inspector.demo.story import VisitTimes
from inspector.demo.tools import PAGE_SIZE, WORKFLOW, ActivityTools

FILE = Path(__file__).with_name("loop-mcp.jsonl")
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_STEP = timedelta(milliseconds=200)


class _Session:
    """A client and a server, and what passes between them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._tools = ActivityTools()
        self._calls = 0

    def say(self, direction: str, message: Mapping[str, Any]) -> None:
        """Write one line."""
        when = (_BEGIN + len(self.lines) * _STEP).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"t": when, "dir": direction, "message": {"jsonrpc": "2.0", **message}}
        self.lines.append(json.dumps(line, ensure_ascii=False))

    def ask(self, method: str, params: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """A request and its answer."""
        self._calls += 1
        self.say("client->server", {"id": self._calls, "method": method, "params": params})
        self.say("server->client", {"id": self._calls, "result": result})

    def begin(self) -> None:
        """Shake hands and list the tools."""
        version = {"protocolVersion": "2025-06-18"}
        client = {**version, "capabilities": {}, "clientInfo": {"name": "analyst", "version": "1.0"}}
        server = {**version, "capabilities": {"tools": {}}, "serverInfo": {"name": "activities", "version": "1.0"}}
        self.ask("initialize", client, server)
        self.say("client->server", {"method": "notifications/initialized"})
        described = self._tools.described.items()
        listed = [{"name": name, "description": text, "inputSchema": {"type": "object"}} for name, text in described]
        self.ask("tools/list", {}, {"tools": listed})

    def call(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        """Call a tool and return its result."""
        result = self._tools.functions()[tool](arguments)
        self.ask("tools/call", {"name": tool, "arguments": arguments}, result)
        return result


def lines() -> Iterator[str]:
    """The lines of the file."""
    session, tally = _Session(), VisitTimes()
    session.begin()
    session.call("get_workflow_step", workflow=WORKFLOW, step=1)
    session.call("get_workflow_step", workflow=WORKFLOW, step=2)
    page, pages = 1, 1
    while page <= pages:
        result: Any = session.call("search_records", model="activity", filters={}, page=page, per_page=PAGE_SIZE)
        body = json.loads(result["content"][0]["text"])
        pages = body["pagination"]["total_pages"]
        finding = {"finding": f"Page {page}: {tally.add(body['records'])}", "category": "pattern"}
        session.call("analysis_store", analysis_id="review-1", findings=[finding])
        page += 1
    session.call("get_workflow_step", workflow=WORKFLOW, step=4)
    yield from session.lines


def main() -> None:
    """Write the file."""
    FILE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
