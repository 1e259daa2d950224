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


def agent_host(lines: Lines) -> dict[str, Any]:
    actions = [line["params"]["action"] for line in lines if line.get("method") == "action"]
    ended = [one["result"] for one in actions if one["type"] == "chat/toolCallComplete"]
    denied = sum(one.get("approved") is False for one in actions)
    usage = list({one["turnId"]: one["usage"] for one in actions if one["type"] == "chat/usage"}.values())
    read = sum(one.get("cacheReadTokens", 0) for one in usage)
    return {
        "tools": sum(one["type"] == "chat/toolCallStart" for one in actions), "answered": len(ended) + denied,
        "failed": sum(not one["success"] for one in ended), "rejected": denied,
        "input": sum(one["inputTokens"] for one in usage) - read, "output": sum(one["outputTokens"] for one in usage),
        "cache_read": read, "cache_write": 0,
    }  # fmt: skip


def amp(lines: Lines) -> dict[str, Any]:
    [thread] = lines
    blocks = [block for one in thread["messages"] for block in one["content"]]
    usage = [one["usage"] for one in thread["messages"] if "usage" in one]
    runs = [one["run"] for one in blocks if one["type"] == "tool_result"]
    return {
        "tools": sum(one["type"] == "tool_use" for one in blocks), "answered": len(runs),
        "failed": sum(one["status"] == "error" or '"exitCode": 2' in json.dumps(one) for one in runs), "rejected": 1,
        "input": sum(one["inputTokens"] for one in usage), "output": sum(one["outputTokens"] for one in usage),
        "cache_read": sum(one["cacheReadInputTokens"] for one in usage),
        "cache_write": sum(one["cacheCreationInputTokens"] for one in usage),
    }  # fmt: skip


def cursor_output(lines: Lines) -> dict[str, Any]:
    ended = [line for line in lines if line.get("subtype") == "completed" and "call_id" in line]
    ends = [next(iter(line["tool_call"].values())) for line in ended]
    [usage] = [line["usage"] for line in lines if "usage" in line]
    return {
        "tools": sum(line.get("subtype") == "started" for line in lines), "answered": len(ends),
        "failed": sum("failure" in one["result"] for one in ends), "input": usage["inputTokens"],
        "output": usage["outputTokens"], "cache_read": usage["cacheReadTokens"],
        "cache_write": usage["cacheWriteTokens"],
    }  # fmt: skip


def cline_history(lines: Lines) -> dict[str, Any]:
    messages: Any = lines[0]
    texts = [block.get("text", "") for one in messages for block in one["content"]]
    tokens = [one["metrics"]["tokens"] for one in messages if "metrics" in one]
    cached = sum(one["cached"] for one in tokens)
    return {
        "tools": json.dumps(messages).count('"tool_use"') + sum("<read_file>" in text for text in texts),
        "answered": sum("] Result:" in text for text in texts), "rejected": 1,
        "failed": sum("Command failed" in text for text in texts),
        "input": sum(one["prompt"] for one in tokens) - cached, "output": sum(one["completion"] for one in tokens),
        "cache_read": cached, "cache_write": 0,
    }  # fmt: skip


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


def codex_app_server(lines: Lines) -> dict[str, Any]:
    items = [line["params"]["item"] for line in lines if line.get("method") == "item/completed"]
    ends = [item for item in items if "status" in item]
    usage = [line["params"]["tokenUsage"]["last"] for line in lines if "tokenUsage" in str(line.get("method"))]
    read = sum(one["cachedInputTokens"] for one in usage)
    written = sum(one.get("cacheWriteInputTokens", 0) for one in usage)
    return {
        "tools": len(ends), "answered": len(ends), "failed": sum(one["status"] == "failed" for one in ends),
        "rejected": sum(one["status"] == "declined" for one in ends),
        "input": sum(one["inputTokens"] for one in usage) - read - written,
        "output": sum(one["outputTokens"] for one in usage), "cache_read": read, "cache_write": written,
    }  # fmt: skip


def copilot_cli(lines: Lines) -> dict[str, Any]:
    data = [line["data"] for line in lines]
    return {
        "tools": sum(len(one.get("toolRequests", ())) for one in data),
        "failed": sum(one.get("success") is False for one in data),
        "input": 0, "output": sum(one.get("outputTokens", 0) for one in data), "cache_read": 0, "cache_write": 0,
    }  # fmt: skip


def factory_droid(lines: Lines) -> dict[str, Any]:
    [usage] = [line["usage"] for line in lines if "usage" in line]
    return {
        "tools": sum(line["type"] == "tool_call" for line in lines),
        "failed": sum(line.get("isError", False) for line in lines) + json.dumps(lines).count('"exitCode": 3'),
        "input": usage["input_tokens"], "output": usage["output_tokens"],
        "cache_read": usage["cache_read_input_tokens"], "cache_write": usage["cache_creation_input_tokens"],
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


def pi(lines: Lines) -> dict[str, Any]:
    entries = [line["message"] for line in lines if "message" in line]
    runs = [run for one in entries for run in one.get("details", {}).get("results", ())]
    entries += [message for run in runs for message in run["messages"]]
    usage = [one["usage"] for one in entries if "usage" in one]
    contents = [one["content"] for one in entries if one["role"] == "assistant"]
    return {
        "tools": sum(block["type"] == "toolCall" for content in contents for block in content),
        "failed": sum(one.get("isError", False) for one in entries),
        "input": sum(one["input"] for one in usage), "output": sum(one["output"] for one in usage),
        "cache_read": sum(one["cacheRead"] for one in usage), "cache_write": sum(one["cacheWrite"] for one in usage),
    }  # fmt: skip


def qwen_code(lines: Lines) -> dict[str, Any]:
    parts = [part for line in lines for part in line.get("message", {}).get("parts", ())]
    events = [line.get("systemPayload", {}).get("uiEvent", {}) for line in lines]
    inner = [one for one in events if "#" in one.get("prompt_id", "")]
    usage = [line["usageMetadata"] for line in lines if "usageMetadata" in line]
    models = [one for one in inner if one["event.name"].endswith("api_response")]
    status = [line["toolCallResult"]["status"] for line in lines if "toolCallResult" in line]
    cached = sum(one["cachedContentTokenCount"] for one in usage)
    cached += sum(one["cached_content_token_count"] for one in models)
    taken = sum(one["promptTokenCount"] for one in usage) + sum(one["input_token_count"] for one in models)
    total = sum(one["totalTokenCount"] for one in usage) + sum(one["total_token_count"] for one in models)
    return {
        "tools": sum("functionCall" in part for part in parts) + len(inner) - len(models),
        "failed": status.count("error") + json.dumps(parts).count("Exit Code: 1"),
        "rejected": status.count("cancelled"),
        "input": taken - cached, "output": total - taken, "cache_read": cached, "cache_write": 0,
    }  # fmt: skip


def goose(lines: Lines) -> dict[str, Any]:
    header, *messages = lines
    blocks = [block for one in messages for block in one["content"]]
    results = [one["toolResult"] for one in blocks if one["type"] == "toolResponse"]
    return {
        "tools": sum(one["type"] == "toolRequest" for one in blocks), "answered": len(results),
        "failed": sum(one["status"] == "error" or "isError" in one["value"] for one in results),
        "input": header["accumulated_input_tokens"], "output": header["accumulated_output_tokens"],
    }  # fmt: skip


def managed_agents(lines: Lines) -> dict[str, Any]:
    usage = [line["model_usage"] for line in lines if "model_usage" in line]
    usage += [line["usage"] for line in lines if line["type"] == "span.outcome_evaluation_end"]
    ends = [line for line in lines if line["type"].endswith("tool_result")]
    return {
        "tools": sum(line["type"].endswith("tool_use") for line in lines), "answered": len(ends),
        "failed": sum(line.get("is_error", False) for line in ends),
        "input": sum(one["input_tokens"] for one in usage), "output": sum(one["output_tokens"] for one in usage),
        "cache_read": sum(one["cache_read_input_tokens"] for one in usage),
        "cache_write": sum(one["cache_creation_input_tokens"] for one in usage),
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
            if value.get("type") == "tool-call":
                names.append(value["toolCallId"])
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            visit(one)

    visit(lines)
    openai = [line["usage"] for line in lines if "prompt_tokens" in line.get("usage", {})]
    claude = [line["usage"] for line in lines if "input_tokens" in line.get("usage", {})]
    gemini = [line["usageMetadata"] for line in lines if "usageMetadata" in line]
    cached = sum(one["prompt_tokens_details"]["cached_tokens"] for one in openai)
    cached += sum(one["cachedContentTokenCount"] for one in gemini)
    return {
        "tools": len(set(names)), "failed": sum(map(json.dumps(lines).count, ('"is_error": true', '"error-text"'))),
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
    "agent-host.jsonl": agent_host, "amp.json": amp, "cursor-output.jsonl": cursor_output,
    "claude-code.jsonl": claude_code, "cline-history.json": cline_history, "codex.jsonl": codex,
    "codex-app-server.jsonl": codex_app_server, "codex-exec.jsonl": codex_exec,
    "copilot-cli.jsonl": copilot_cli, "factory-droid-exec.jsonl": factory_droid, "gemini-cli.jsonl": gemini_cli,
    "opencode.jsonl": opencode, "otlp.jsonl": otlp,
    "goose.jsonl": goose, "kiln.jsonl": managed_agents, "pi.jsonl": pi, "qwen-code.jsonl": qwen_code,
    "messages.jsonl": messages, "json-rpc.jsonl": rpc, "acp.jsonl": acp,
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_figures_counted_twice_are_equal(name: str) -> None:
    sample = FORMAT_SAMPLES[name]
    counted = COUNTED[name]([json.loads(line) for line in sample.read_bytes().splitlines()])
    expected = conformance.expected(sample)
    found = {**expected["calls"], **(expected["usage"] or {})}
    assert {key: found.get(key, 0) for key in counted} == counted
