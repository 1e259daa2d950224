"""A server of the `mcp` package with the transient-context protocol (docs/protocols.md 13), for tests of the tap.

Run as `python -m tests.mcp_server`, over stdio, or with `--http` over HTTP: then it prints its port. Tools:
`get_workflow_step` hints, `search_records` is transient, `analysis_store` consumes (`fail`: says so and fails), `echo`
answers what it was asked, `slow` when another `slow` has been answered, `die` ends the process.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections import defaultdict
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOLS = ("get_workflow_step", "search_records", "analysis_store", "echo", "slow", "die")
HINT = {"step": 2, "tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}

_answered = defaultdict[str, anyio.Event](anyio.Event)


def result(text: str, meta: dict[str, Any] | None = None, *, failed: bool = False) -> types.CallToolResult:
    found: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": failed}
    return types.CallToolResult.model_validate(found | ({"_meta": meta} if meta else {}))


async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    asked = params.arguments or {}
    match params.name:
        case "get_workflow_step":
            return result("Search, then store.", {"contextHints": [HINT]})
        case "search_records":
            page = asked.get("page", 1)
            records = [{"id": 10 * page + n, "name": f"visit {n}"} for n in range(6)]
            summary = f"6 visit records (page {page})"
            return result(json.dumps(records), {"context": {"lifecycle": "transient", "summary": summary}})
        case "analysis_store":
            failed = bool(asked.get("fail"))
            return result("No room." if failed else "Stored.", {"context": {"consumed": True}}, failed=failed)
        case "slow":
            # Ordered by each other and not by time: a busy machine may hear the second much later than the first.
            if asked["after"]:
                await _answered[asked["after"]].wait()
                await anyio.sleep(0.05)  # that one is on its way
            _answered[asked["name"]].set()
            return result(asked["name"])
        case "die":
            print("I am about to die", file=sys.stderr, flush=True)
            if "signal" in asked:
                os.kill(os.getpid(), getattr(signal, asked["signal"]))
            os._exit(asked["code"])
        case _:
            return result(asked.get("text", "") * asked.get("times", 1))


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in TOOLS])


def made() -> Server[Any]:
    return Server("loop", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def main() -> None:
    server = made()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve_http() -> None:
    listener = socket.socket(proto=socket.IPPROTO_TCP)  # said, so that asyncio sends small pieces at once
    listener.bind(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(made().streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    serve_http() if "--http" in sys.argv else anyio.run(main)
