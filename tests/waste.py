"""A capture of somebody who wastes its context in every way there is, once each."""

from __future__ import annotations

import json
from typing import Any

from tests.builders import envelope, tool_call, tool_result

HINT = {"contextHints": [{"step": 1, "tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
TRANSIENT = {"context": {"lifecycle": "transient", "summary": "40 visits"}}


def records(first: int, count: int = 40) -> str:
    """Visits as a tool gives them: each with an id, a name and a note."""
    made = [
        {"id": number, "customer": f"Customer-{number}", "note": f"Visit {number * 7} took {number % 90} minutes"}
        for number in range(first, first + count)
    ]
    return json.dumps({"records": made}, indent=2)


def asked(tool: str, text: str, arguments: Any = None, **fields: Any) -> list[dict[str, Any]]:
    """A call and its answer."""
    meta = fields.pop("meta", None)
    call = tool_call(tool, arguments=arguments, **fields)
    return [call, tool_result(call, text, meta=meta)]


def listed(*names: str, words: int = 40) -> list[dict[str, Any]]:
    """`lead` asks `files` for its tools."""
    ask = envelope("mcp/request", {"method": "tools/list"}, to=["files"])
    tools = [
        {"name": name, "description": f"{name} does this. " + "It is described at length. " * words} for name in names
    ]
    answer = envelope(
        "mcp/response", {"result": {"tools": tools}}, sender="files", to=["lead"], correlation_id=[ask["id"]]
    )
    return [ask, answer]


def wasteful() -> list[dict[str, Any]]:
    """Twenty-one messages; the comments say which ones are what."""
    return [
        *listed("read_file", "format_disk"),  # 1, 2: format_disk is never called
        *asked("read_file", records(1_000), {"path": "/a"}),  # 3, 4: referred to by 5
        envelope("chat", {"text": "Customer-1007 is remarkable."}),  # 5
        *asked("read_file", records(1_000), {"path": "/a"}),  # 6, 7: fetched twice
        *asked("get_step", "Follow it.", meta=HINT),  # 8, 9
        *asked("search", records(5_000), {"page": 1}, meta=TRANSIENT),  # 10, 11: never consumed
        *asked("read_file", records(3_000), {"path": "/b"}),  # 12, 13: never referred to
        *asked("read_file", records(7_000), {"path": "/c"}),  # 14, 15: copied by 16
        *asked("write_file", "Written.", {"path": "/d", "content": records(7_000)}),  # 16, 17
        *listed("read_file", "format_disk"),  # 18, 19: unchanged
        envelope("chat", {"text": "That was all."}),  # 20
        envelope("chat", {"text": "Fine."}, sender="human"),  # 21
    ]
