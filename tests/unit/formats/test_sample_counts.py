"""Figures of samples counted a second time, by plain JSON and the rules of each log, without the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.samples import FORMAT_SAMPLES
from tests.unit.formats import conformance

Lines = list[dict[str, Any]]


def claude_code(lines: Lines) -> dict[str, Any]:
    blocks = [
        block
        for uuid, line in {line.get("uuid", place): line for place, line in enumerate(lines)}.items()
        for block in (line.get("message") or {}).get("content", [])
        if isinstance(block, dict) and uuid is not None
    ]
    calls: dict[str, dict[str, int]] = {}
    for line in lines:
        message = line.get("message") or {}
        if line.get("type") == "assistant" and message["model"] != "<synthetic>":
            calls.setdefault(message["id"], message["usage"])
            if message["usage"]["output_tokens"] >= calls[message["id"]]["output_tokens"]:
                calls[message["id"]] = message["usage"]
    return {
        "tools": len({block["id"] for block in blocks if block["type"] == "tool_use"}),
        "failed": sum(bool(block.get("is_error")) for block in blocks if block["type"] == "tool_result"),
        "input": sum(one["input_tokens"] for one in calls.values()),
        "output": sum(one["output_tokens"] for one in calls.values()),
        "cache_read": sum(one["cache_read_input_tokens"] for one in calls.values()),
        "cache_write": sum(one["cache_creation_input_tokens"] for one in calls.values()),
    }


def codex(lines: Lines) -> dict[str, Any]:
    items = [line["payload"] for line in lines if line["type"] == "response_item"]
    ends = [line["payload"]["info"] for line in lines if line["payload"].get("type") == "token_count"]
    total = [one["total_token_usage"] for one in ends if one][-1]
    return {
        "tools": sum(item["type"].endswith("_call") for item in items),
        "failed": sum(str(item.get("output")).startswith("Exit code: 1") for item in items),
        "input": total["input_tokens"] - total["cached_input_tokens"],
        "output": total["output_tokens"], "cache_read": total["cached_input_tokens"], "cache_write": 0,
    }  # fmt: skip


def codex_exec(lines: Lines) -> dict[str, Any]:
    items = {line["item"]["id"]: line["item"] for line in lines if "item" in line}.values()
    calls = [one for one in items if one["type"] in ("command_execution", "file_change", "mcp_tool_call", "web_search")]
    (usage,) = (line["usage"] for line in lines if "usage" in line)
    return {
        "tools": len(calls), "failed": sum(one.get("status") == "failed" for one in calls),
        "input": usage["input_tokens"] - usage["cached_input_tokens"], "output": usage["output_tokens"],
        "cache_read": usage["cached_input_tokens"], "cache_write": 0,
    }  # fmt: skip


def copilot_cli(lines: Lines) -> dict[str, Any]:
    data = [line["data"] for line in lines]
    return {
        "tools": sum(len(one.get("toolRequests", ())) for one in data),
        "failed": sum(one.get("success") is False for one in data),
        "input": 0, "output": sum(one.get("outputTokens", 0) for one in data), "cache_read": 0, "cache_write": 0,
    }  # fmt: skip


def gemini_cli(lines: Lines) -> dict[str, Any]:
    last = {line["id"]: line for line in lines if "id" in line}.values()
    calls = [call for line in last for call in line.get("toolCalls", ())]
    tokens = [line["tokens"] for line in last if "tokens" in line]
    cached = sum(one["cached"] for one in tokens)
    return {
        "tools": len(calls), "failed": sum(call["status"] == "error" for call in calls),
        "input": sum(one["input"] for one in tokens) - cached,
        "output": sum(one["output"] + one["thoughts"] for one in tokens), "cache_read": cached, "cache_write": 0,
    }  # fmt: skip


def opencode(lines: Lines) -> dict[str, Any]:
    messages = [line for line in lines if "parts" in line]
    calls = [part for line in messages for part in line["parts"] if part["type"] == "tool"]
    steps = [
        line["info"].get("tokens") or next((one["tokens"] for one in line["parts"] if "tokens" in one), None)
        for line in messages
    ]
    tokens = [one for one in steps if one]
    failed = [
        call["tool"] == "invalid" or call["state"]["status"] == "error"
        or bool(call["state"].get("metadata", {}).get("exit"))
        for call in calls
    ]  # fmt: skip
    return {
        "tools": len(calls), "failed": sum(failed), "input": sum(one["input"] for one in tokens),
        "output": sum(one["output"] + one["reasoning"] for one in tokens),
        "cache_read": sum(one["cache"]["read"] for one in tokens),
        "cache_write": sum(one["cache"]["write"] for one in tokens),
    }  # fmt: skip


def otlp(lines: Lines) -> dict[str, Any]:
    spans = [
        (span, {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]})
        for line in lines for group in line["resourceSpans"] for scope in group["scopeSpans"] for span in scope["spans"]
    ]  # fmt: skip
    calls = [one for one in spans if one[1].get("gen_ai.operation.name") == "execute_tool"]
    models = [one for _, one in spans if one.get("gen_ai.operation.name") == "chat"]
    usage = {
        key: sum(int(one.get(f"gen_ai.usage.{key}", 0)) for one in models)
        for key in ("input_tokens", "output_tokens", "cache_read.input_tokens", "cache_creation.input_tokens")
    }
    read, written = usage["cache_read.input_tokens"], usage["cache_creation.input_tokens"]
    return {
        "tools": len(calls), "failed": sum(span["status"].get("code") == 2 for span, _ in calls),
        "input": usage["input_tokens"] - read - written, "output": usage["output_tokens"],
        "cache_read": read, "cache_write": written,
    }  # fmt: skip


def messages(lines: Lines) -> dict[str, Any]:
    names: list[str] = []

    def visit(value: Any) -> None:
        if isinstance(value, dict):
            named = value.get("function", value.get("functionCall")) or (
                value if value.get("type") == "tool_use" else {}
            )
            if isinstance(named, dict) and "name" in named:
                names.append(value.get("id") or f"{named['name']} without an id")
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            visit(one)

    visit(lines)
    openai = [line["usage"] for line in lines if "prompt_tokens" in line.get("usage", {})]
    claude = [line["usage"] for line in lines if "input_tokens" in line.get("usage", {})]
    gemini = [line["usageMetadata"] for line in lines if "usageMetadata" in line]
    cached = sum(one["prompt_tokens_details"]["cached_tokens"] for one in openai)
    cached += sum(one["cachedContentTokenCount"] for one in gemini)
    return {
        "tools": len(set(names)), "failed": json.dumps(lines).count('"is_error": true'),
        "input": sum(one["prompt_tokens"] for one in openai) + sum(one["input_tokens"] for one in claude)
        + sum(one["promptTokenCount"] for one in gemini) - cached,
        "output": sum(one["completion_tokens"] for one in openai) + sum(one["output_tokens"] for one in claude)
        + sum(one["candidatesTokenCount"] + one["thoughtsTokenCount"] for one in gemini),
        "cache_read": cached + sum(one["cache_read_input_tokens"] for one in claude),
        "cache_write": sum(one["cache_creation_input_tokens"] for one in claude),
    }  # fmt: skip


def rpc(lines: Lines) -> dict[str, Any]:
    calls = [line["id"] for line in lines if line.get("method") == "tools/call"]
    answers = [line for line in lines if "method" not in line and line.get("id") in calls]
    failed = ["error" in line or bool(line["result"].get("isError")) for line in answers]
    return {"tools": len(calls), "answered": len(answers), "failed": sum(failed)}


def acp(lines: Lines) -> dict[str, Any]:
    updates = [line["params"]["update"] for line in lines if line.get("method") == "session/update"]
    ended = [one for one in updates if one["sessionUpdate"] == "tool_call_update" and one.get("status") == "completed"]
    started = [one for one in updates if one["sessionUpdate"] == "tool_call"]
    return {"tools": len(started), "answered": len(ended), "unanswered": len(started) - len(ended)}


COUNTED: dict[str, Callable[[Lines], dict[str, Any]]] = {
    "claude-code.jsonl": claude_code, "codex.jsonl": codex, "codex-exec.jsonl": codex_exec,
    "copilot-cli.jsonl": copilot_cli, "gemini-cli.jsonl": gemini_cli, "opencode.jsonl": opencode, "otlp.jsonl": otlp,
    "messages.jsonl": messages, "json-rpc.jsonl": rpc, "acp.jsonl": acp,
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_figures_counted_twice_are_equal(name: str) -> None:
    sample = FORMAT_SAMPLES[name]
    counted = COUNTED[name]([json.loads(line) for line in sample.read_bytes().splitlines()])
    expected = conformance.expected(sample)
    found = {**expected["calls"], **(expected["usage"] or {})}
    assert {key: found.get(key, 0) for key in counted} == counted
