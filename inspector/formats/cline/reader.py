"""Reads the lines that `conversion` makes of a task: messages of the model's API, and messages of the window."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.content_blocks import block_event, blocks_in
from inspector.formats.entry_builders import decoded_object, text_of, token_count
from inspector.formats.json_transcript import converted_transcript
from inspector.formats.value_conversions import mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "cline"
VOICE = Voice(agent="cline", program="cline-cli", namespace="cline/")
TASK_KEY = "clineTask"
"""Key of the task's id in a line."""
DENIED = "The user denied this operation"
COMPLETED = VOICE.namespace + "completed"
REQUESTED = VOICE.namespace + "api_req_started"
RECORDS = (
    "api_req_started", "deleted_api_reqs", "subagent_usage", "checkpoint_created", "task_progress", "api_req_retried",
    "error_retry", "resume_task", "resume_completed_task", "completion_result", "mcp_server_request_started",
    "load_mcp_documentation", "auto_approval_max_req_reached", "api_req_finished", "checkpoint_saved", "completed",
)  # fmt: skip
"""Records that the program writes for itself."""

_REQUESTS = ("api_req_started", "deleted_api_reqs", "subagent_usage")
_PROMPTS = ("task", "user_feedback", "user_feedback_diff")
_ERRORS = ("error", "diff_error", "api_req_failed", "rooignore_error", "mistake_limit_reached")
_BY_USER = re.compile(r"<(task|feedback|user_message|user_feedback|answer)>\s*(.*?)\s*</\1>", re.DOTALL)
_BY_PROGRAM = ("<environment_details>", "<file_content", "[ERROR]")
_FINISHING = "attempt_completion"
_NEEDS_APPROVAL = "REQ_APP"
"""End of a command that a person has to allow."""


def counts_tokens(window: Mapping[str, Any]) -> bool:
    """Returns True for a message of the window with the tokens of a request."""
    return window.get("say") in _REQUESTS


def typed_text(content: object) -> str:
    """Returns the first text that a person typed in a message; "" without one."""
    for block in blocks_in(content):
        text = text_or_none(block.get("text")) or ""
        typed = None if text.lstrip().startswith(_BY_PROGRAM) else _BY_USER.search(text)
        if typed is not None:
            return typed[2]
    return ""


def _events(value: Mapping[str, Any]) -> list[Event]:
    message, window = mapping_or_empty(value.get("message")), mapping_or_empty(value.get("window"))
    events = list(_message(message) if message or not window else _shown(window))
    time = message.get("ts") or window.get("ts")
    time_ns = parse_time(time) if isinstance(time, int | float) and not isinstance(time, bool) else NO_TIME
    return [place_event(event, time_ns=time_ns) for event in events]


def _message(message: Mapping[str, Any]) -> Iterator[Event]:
    by_model, blocks = message.get("role") == "assistant", blocks_in(message.get("content"))
    events: list[Event] = []
    if message.get("isSummary") is True:
        events.append(VOICE.compaction(text_of(message.get("content"))))
        blocks = []
    for block in blocks:
        text = text_or_none(block.get("text")) or ""
        if block.get("type") == "text" and not by_model:
            typed = None if text.lstrip().startswith(_BY_PROGRAM) else _BY_USER.search(text)
            events.append(VOICE.prompt(typed[2]) if typed is not None else VOICE.instructions(text))
            continue
        events.append(block_event(VOICE, block, by_model=by_model))
        if block.get("name") == _FINISHING and block.get("type") == "tool_use":
            events.append(VOICE.bookkeeping("completed", text_of(mapping_or_empty(block.get("input")).get("result"))))
    events = events or [VOICE.answer("") if by_model else VOICE.prompt("")]
    metrics = mapping_or_empty(message.get("metrics"))
    tokens = mapping_or_empty(metrics.get("tokens"))
    if by_model and tokens:
        cached, cost = token_count(tokens, "cached"), metrics.get("cost")
        VOICE.usage(
            events[0], model=_model(message), cost=cost if isinstance(cost, int | float) else None,
            input=max(token_count(tokens, "prompt") - cached, 0), output=token_count(tokens, "completion"),
            cache_read=cached,
        )  # fmt: skip
    yield from events


def _model(entry: Mapping[str, Any]) -> str | None:
    return text_or_none(mapping_or_empty(entry.get("modelInfo")).get("modelId"))


def _shown(window: Mapping[str, Any]) -> Iterator[Event]:
    kind, text = str(window.get("say") or window.get("ask")), text_or_none(window.get("text")) or ""
    call = text_or_none(window.get("call"))
    inner = _decoded(text)
    if kind in _REQUESTS:
        yield _request(kind, window, inner)
    elif call is not None:
        yield from _call(kind, call, text, inner)
    elif "output" in window or kind == "mcp_server_response":
        output = window.get("output")
        words = "".join(one for one in output if isinstance(one, str)) if isinstance(output, list) else text
        failed = kind == "mcp_server_response" and text.startswith("Error:")
        yield VOICE.result(text_or_none(window.get("answers")), words, failed=failed)
    elif kind in _PROMPTS or (kind == "text" and window.get("first") is True):
        yield VOICE.prompt(text)
    elif kind == "condense_context":
        condensed = mapping_or_empty(window.get("contextCondense"))
        yield VOICE.compaction(text_or_none(condensed.get("summary")) or text)
    elif kind == "reasoning":
        yield VOICE.thought(text)
    elif kind in ("text", "followup", "plan_mode_respond") or (kind == "completion_result" and text):
        yield VOICE.answer(text_or_none(inner.get("question") or inner.get("response")) or text)
    elif kind in _ERRORS:
        yield VOICE.error(text_or_none(inner.get("message")) or text)
    else:
        yield VOICE.bookkeeping(kind, text)


def _decoded(text: str) -> Mapping[str, Any]:
    return (decoded_object(text.encode("utf-8", "replace")) or {}) if text.startswith("{") else {}


def _request(kind: str, window: Mapping[str, Any], inner: Mapping[str, Any]) -> Event:
    event = VOICE.bookkeeping(kind, text_or_none(inner.get("request")) or kind)
    if "tokensIn" not in inner:
        return event
    read, written, cost = token_count(inner, "cacheReads"), token_count(inner, "cacheWrites"), inner.get("cost")
    # Roo Code says whose arithmetic it is: OpenAI's input has the cached tokens.
    cached = read + written if inner.get("apiProtocol") == "openai" else 0
    return VOICE.usage(
        event, model=_model(window), cost=cost if isinstance(cost, int | float) else None,
        input=max(token_count(inner, "tokensIn") - cached, 0), output=token_count(inner, "tokensOut"),
        cache_read=read, cache_write=written,
    )  # fmt: skip


def _call(kind: str, call: str, text: str, inner: Mapping[str, Any]) -> Iterator[Event]:
    if kind == "command":
        yield VOICE.call(call, "execute_command", {"command": text.removesuffix(_NEEDS_APPROVAL)})
    elif kind == "use_mcp_server":
        yield VOICE.call(call, text_or_none(inner.get("toolName")) or kind, inner.get("arguments") or inner)
    else:
        given = {key: one for key, one in inner.items() if key not in ("tool", "content")}
        tool = text_or_none(inner.get("tool"))
        yield VOICE.call(call, tool, given)
        yield VOICE.result(call, inner.get("content"), tool=tool)


READER = converted_transcript(NAME, TASK_KEY, ("message", "window"), _events)
