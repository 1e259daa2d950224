"""Random traffic of agents: samples of every format, varied; traces of several conventions; sessions and their wire."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from itertools import dropwhile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.samples import FORMAT_SAMPLES

Line = dict[str, Any]
_DATA = Path(__file__).parent / "data"
SAMPLES = (
    *(FORMAT_SAMPLES[f"{name}.jsonl"] for name in (
        "a2a", "acp", "claude-code", "codex", "codex-exec", "copilot-cli", "gateway-log", "gemini-cli", "http-lines",
        "json-rpc", "messages", "mew-v0.3", "mew-v0.4", "model-calls", "otlp", "wrapped",
    )),
    _DATA / "captures" / "loop-mcp.jsonl", _DATA / "captures" / "model-wire.jsonl",
_DATA / "otlp" / "openai-agents-openinference-2.6.0.jsonl",
)  # fmt: skip
_LONGEST_LINE = 20_000
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    7.5,
    1 << 70,
    "",
    "x",
    "a/b",
    "\ud800",
    [],
    [[]],
    ["x", None],
    {},
    {"id": {"id": 1}},
)
"""Values of every sort, to stand where another is expected."""


@cache
def sample_lines(path: Path) -> list[Line]:
    """The lines of a sample that are objects of an ordinary size."""
    found: list[Line] = []
    for line in path.read_bytes().splitlines():
        with suppress(ValueError):
            value = json.loads(line) if len(line) < _LONGEST_LINE else None
            found += [value] if isinstance(value, dict) else []
    return found


@st.composite
def varied_samples(draw: st.DrawFn) -> list[Line]:
    """The first line of a sample, which may name its session, and some behind it.

    Of these some are left out, told twice, moved, or have another value somewhere.
    """
    begins, *lines = dropwhile(_names_no_session, sample_lines(draw(st.sampled_from(SAMPLES))))
    first = draw(st.integers(0, len(lines) - 1))
    made = lines[first : first + draw(st.integers(1, 14))]
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(made) - 1))
        how = draw(st.sampled_from(("drop", "twice", "move", "value", "value", "value")))
        if how == "twice":
            made = [*made, made[place]]
        elif how == "move":
            moved = made[place]
            made = [*made[:place], *made[place + 1 :]]
            made.insert(draw(st.integers(0, len(made))), moved)
        elif how == "drop" and len(made) > 1:
            made = [*made[:place], *made[place + 1 :]]
        elif how == "value":
            changed = json.loads(json.dumps(made[place]))
            _change_value(draw, changed)
            made = [*made[:place], changed, *made[place + 1 :]]
    return [begins, *made]


def _names_no_session(line: Line) -> bool:
    """Tells whether a line is a title of Claude Code, whose session is known once a later line names it."""
    return line.get("type") == "summary"


def _change_value(draw: st.DrawFn, line: Line) -> None:
    """Puts another value into one place of a line, or takes the place away."""
    holder: Any = line
    while holder:
        key = draw(st.sampled_from([*holder] if isinstance(holder, dict) else range(len(holder))))
        inner = holder[key]
        if isinstance(inner, dict | list) and inner and draw(st.integers(0, 5)):
            holder = inner
        elif isinstance(holder, dict) and not draw(st.integers(0, 3)):
            del holder[key]
            return
        else:
            holder[key] = draw(st.sampled_from(ODD))
            return


# Traces


_CONVENTIONS = ("semconv", "openinference", "traceloop", "vercel", "langfuse")


@st.composite
def traces(draw: st.DrawFn) -> list[Line]:
    """Spans of agents, models and tools, each of any convention, in lines of any order, some exported twice."""
    count = draw(st.integers(1, 7))
    spans: list[Line] = []
    for number in range(count):
        parent = draw(st.integers(0, number)) if number else 0
        role = draw(st.sampled_from(("model", "model", "tool", "agent", "other")))
        spans.append(_span(draw, role, draw(st.sampled_from(_CONVENTIONS)), number + 1, parent))
    if draw(st.booleans()):
        spans = draw(st.permutations(spans))
    if draw(st.integers(0, 3)) == 0:
        spans = [*spans, draw(st.sampled_from(spans))]
    lines: list[Line] = []
    while spans:
        size = draw(st.integers(1, len(spans)))
        scope = {"scope": {"name": "s"}, "spans": spans[:size]}
        resource = {"attributes": [_pair("service.name", draw(st.sampled_from(("desk", "dock"))))]}
        lines.append({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]})
        spans = spans[size:]
    return lines


def _pair(key: str, value: Any) -> Line:
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}


def _span(draw: st.DrawFn, role: str, convention: str, number: int, parent: int) -> Line:
    start = 1_700_000_000_000_000_000 + number * 1_000_000
    facts = _facts(draw, role, convention, number)
    span: Line = {
        "traceId": "ab" * 16, "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"{role} {number}", "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 900_000),
        "attributes": [_pair(key, value) for key, value in facts.items()],
    }  # fmt: skip
    if draw(st.integers(0, 4)) == 0:
        span["status"] = {"code": 2, "message": "went wrong"}
    return span


def _facts(draw: st.DrawFn, role: str, convention: str, number: int) -> dict[str, Any]:
    """The attributes by which a convention tells a role."""
    text = draw(st.sampled_from(("go on", "yes", "look here")))
    tool, call = draw(st.sampled_from(("Read", "Bash"))), f"call_{draw(st.integers(1, 3))}"
    given, output = 10 + number, number
    if role == "other":
        return {"http.method": "GET"}
    if role == "agent":
        return {
            "semconv": {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner"},
            "openinference": {"openinference.span.kind": "AGENT", "agent.name": "planner"},
            "traceloop": {"traceloop.span.kind": "workflow", "traceloop.entity.name": "planner"},
            "vercel": {"gen_ai.agent.name": "planner"},
            "langfuse": {"langfuse.observation.type": "agent"},
        }[convention]
    if role == "tool":
        return {
            "semconv": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.id": call},
            "openinference": {"openinference.span.kind": "TOOL", "tool.name": tool, "tool_call.id": call,
                              "input.value": {"a": 1}, "output.value": text},
            "traceloop": {"traceloop.span.kind": "tool", "traceloop.entity.name": tool},
            "vercel": {"ai.operationId": "ai.toolCall", "ai.toolCall.name": tool, "ai.toolCall.id": call,
                       "ai.toolCall.args": {"a": 1}, "ai.toolCall.result": text},
            "langfuse": {"langfuse.observation.type": "tool", "langfuse.observation.input": {"a": 1},
                         "langfuse.observation.output": text},
        }[convention]  # fmt: skip
    asked = [{"role": "user", "parts": [{"type": "text", "content": text}]}]
    said = [{"role": "assistant", "parts": [{"type": "tool_call", "id": call, "name": tool, "arguments": {}}]}]
    return {
        "semconv": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": asked,
                    "gen_ai.output.messages": said, "gen_ai.usage.input_tokens": given,
                    "gen_ai.usage.output_tokens": output},
        "openinference": {"openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.prompt": given,
                          "llm.token_count.completion": output, "llm.input_messages.0.message.role": "user",
                          "llm.input_messages.0.message.content": text},
        "traceloop": {"llm.request.type": "chat", "gen_ai.request.model": "m", "gen_ai.usage.prompt_tokens": given,
                      "gen_ai.usage.completion_tokens": output, "gen_ai.prompt.0.role": "user",
                      "gen_ai.prompt.0.content": text},
        "vercel": {"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m", "ai.usage.inputTokens": given,
                   "ai.usage.outputTokens": output, "ai.response.text": text},
        "langfuse": {"langfuse.observation.type": "generation", "langfuse.observation.model.name": "m",
                     "langfuse.observation.usage_details": {"input": given, "output": output},
                     "langfuse.observation.input": [{"role": "user", "content": text}]},
    }[convention]  # fmt: skip


# Sessions with compactions


_COMPACTED = "b1a2c3d4-0000-4000-8000-00000000000b"


@st.composite
def compacted_sessions(draw: st.DrawFn) -> list[Line]:
    """A session of Claude Code that is compacted now and then, with what each compaction kept."""
    made: list[Line] = []
    last: str | None = None
    for number in range(draw(st.integers(2, 14))):
        sort = draw(st.sampled_from(("user", "text", "call", "result", "compact", "clear", "again")))
        identifier = f"r{number}"
        record: Line = {
            "parentUuid": last, "isSidechain": False, "sessionId": _COMPACTED, "uuid": identifier, "type": "user",
            "version": "2.1.30", "cwd": "/w", "timestamp": f"2026-03-04T09:00:{number:02d}.000Z",
        }  # fmt: skip
        known = [one["uuid"] for one in made if "uuid" in one] or ["r0"]
        call = f"t{draw(st.integers(1, 3))}"
        usage = {"input_tokens": 5, "output_tokens": number + 1}
        if sort == "user":
            record["message"] = {"role": "user", "content": f"Do {number}"}
        elif sort in ("text", "call"):
            block: Line = {"type": "text", "text": f"Words {number}"}
            if sort == "call":
                block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"ls {number}"}}
            message = {"role": "assistant", "id": f"msg_{number}", "model": "m", "content": [block], "usage": usage}
            record |= {"type": "assistant", "message": message}
        elif sort == "result":
            told = {"type": "tool_result", "tool_use_id": call, "content": f"done {number}"}
            record["message"] = {"role": "user", "content": [told]}
        elif sort == "clear":
            about: Line = {"trigger": "auto", "preTokens": 99, "compactedToolIds": [call]}
            record |= {"type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": about}
        elif sort == "compact":
            about = {"trigger": draw(st.sampled_from(("auto", "manual"))), "preTokens": 1_000}
            kept = draw(st.sampled_from(("none", "segment", "messages", "odd")))
            if kept == "segment":
                about["preservedSegment"] = {
                    "headUuid": draw(st.sampled_from(known)), "tailUuid": draw(st.sampled_from(known)),
                    "anchorUuid": identifier,
                }  # fmt: skip
            elif kept == "messages":
                about["preservedMessages"] = {"allUuids": draw(st.lists(st.sampled_from(known), max_size=3))}
            elif kept == "odd":
                about["preservedSegment"] = draw(st.sampled_from(ODD))
            record |= {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": last,
                       "compactMetadata": about}  # fmt: skip
            if draw(st.booleans()):
                made.append(record)
                last = identifier
                record = {**record, "type": "user", "uuid": f"{identifier}s", "parentUuid": last,
                          "isCompactSummary": True, "isVisibleInTranscriptOnly": True,
                          "message": {"role": "user", "content": f"Summary {number}"}}  # fmt: skip
                for name in ("subtype", "compactMetadata", "logicalParentUuid"):
                    del record[name]
        elif made:
            made.append(draw(st.sampled_from(made)))
            continue
        else:
            continue
        last = record["uuid"]
        made.append(record)
    return made or [{"type": "summary", "summary": "Nothing", "leafUuid": "x"}]


# Secrets in samples


@st.composite
def planted_samples(draw: st.DrawFn, secrets: tuple[tuple[str, str], ...]) -> tuple[str, list[Line]]:
    """A secret, and lines of a sample of which one says it among its words.

    Args:
        secrets: each with a text that has a place `{}` for it.
    """
    hidden, text = draw(st.sampled_from(secrets))
    lines: list[Line] = json.loads(json.dumps(draw(varied_samples())))
    places = [place for line in lines for place in _prose(line)]
    if places:
        holder, key = draw(st.sampled_from(places))
        holder[key] = f"{holder[key]} {text.replace('{}', hidden)}"
    return hidden, lines


def _prose(value: Any) -> list[tuple[Any, Any]]:
    """Holders and keys of strings with several words."""
    if not isinstance(value, dict | list):
        return []
    found: list[tuple[Any, Any]] = []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, str):
            found += [(value, key)] if " " in inner and inner[:1] not in "[{<" else []
        else:
            found += _prose(inner)
    return found
