"""Converts the files of a task, each one array: `api_conversation_history.json` and `ui_messages.json`.

Calls in XML within a text, and results as texts, become blocks with ids, as later versions write them. A history
without tokens takes them from the file of the window beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.cline.reader import DENIED, NAME, TASK_KEY, counts_tokens
from inspector.formats.content_blocks import blocks_in
from inspector.formats.document_conversion import DocumentConversion, read_document
from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.formats.value_conversions import mappings_in, text_or_none

_HEAD_BYTES = 1 << 18
_HISTORY = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{[^\x00]{0,200}?"text"\s*:\s*"<(?:task|user_message)>')
_NEAR = re.compile(rb'<environment_details>|"ts"\s*:\s*\d{13}')
_WINDOW = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"ts"\s*:\s*\d{13}\s*,\s*"type"\s*:\s*"(?:say|ask)"')
_WINDOW_NAME = "ui_messages.json"
_NAMES = ("api_conversation_history.json", _WINDOW_NAME)
_RESULT = re.compile(r"\[(\w+)(?: for .*?)?\] Result:\s*", re.DOTALL)
_CALL = re.compile(
    r"<(execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_and_replace|edit_file"
    r"|search_files|list_files|list_code_definition_names|codebase_search|browser_action|use_mcp_tool"
    r"|access_mcp_resource|ask_followup_question|plan_mode_respond|attempt_completion|new_task|switch_mode"
    r"|update_todo_list|fetch_instructions|web_fetch|condense|load_mcp_documentation)>(.*?)</\1>",
    re.DOTALL,
)
_PARAMETER = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_OUTPUT = "command_output"
_FAILURES = ("Error:", "Error ", "The tool execution failed", "Command failed with exit code", "<error>", DENIED)


def begins_task(head: bytes) -> bool:
    """Returns True for the first bytes of either file of a task."""
    return _WINDOW.match(head) is not None or (_HISTORY.match(head) is not None and _NEAR.search(head) is not None)


def _records(document: Any, path: Path) -> list[Mapping[str, Any]]:
    entries, task = mappings_in(document), path.parent.name if path.name in _NAMES else path.stem
    if entries and "role" not in entries[0]:
        return [{TASK_KEY: task, "window": one} for one in _window(entries)]
    found: list[Mapping[str, Any]] = [{TASK_KEY: task, "message": one} for one in _history(entries)]
    if not any("metrics" in one for one in entries):
        found += [{TASK_KEY: task, "window": one} for one in _requests(path)]
        found.sort(key=lambda one: _time(one.get("message") or one["window"]))
    return found


def _requests(path: Path) -> list[Mapping[str, Any]]:
    """Returns the records of requests to the model in the file beside a history."""
    try:
        window = mappings_in(read_document(path.with_name(_WINDOW_NAME)))
    except (OSError, NotConvertedError):
        return []
    return [one for one in window if counts_tokens(one)]


def _time(entry: Mapping[str, Any]) -> int:
    time = entry.get("ts")
    return time if isinstance(time, int) else 0


def _history(messages: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the messages with calls and results as blocks."""
    waiting: list[dict[str, Any]] = []
    found: list[Mapping[str, Any]] = []
    time = 0
    for number, message in enumerate(messages):
        blocks = blocks_in(message.get("content"))
        if message.get("role") == "assistant":
            if not any(block.get("type") == "tool_use" for block in blocks):
                blocks = [part for block in blocks for part in _calls(block, number)]
            waiting = [dict(block) for block in blocks if block.get("type") == "tool_use"]
        else:
            blocks = _results(blocks, waiting)
        time = _time(message) or time  # older versions write none
        found.append({**message, "content": blocks, **({"ts": time} if time else {})})
    return found


def _calls(block: Mapping[str, Any], number: int) -> list[Mapping[str, Any]]:
    text, parts = text_or_none(block.get("text")), list[Mapping[str, Any]]()
    if text is None:
        return [block]
    end = 0
    for match in _CALL.finditer(text):
        parts.append({"type": "text", "text": text[end : match.start()]})
        given = {name: value.strip() for name, value in _PARAMETER.findall(match[2])}
        parts.append({"type": "tool_use", "id": f"{number}-{len(parts)}", "name": match[1], "input": given})
        end = match.end()
    parts.append({"type": "text", "text": text[end:]})
    return [part for part in parts if part.get("type") != "text" or part["text"].strip()]


def _results(blocks: list[Mapping[str, Any]], waiting: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the blocks of the user's message, texts of results as results of the calls before."""
    found: list[Mapping[str, Any]] = []
    result: list[Mapping[str, Any]] | None = None
    for block in blocks:
        text = text_or_none(block.get("text"))
        match = _RESULT.match(text) if text is not None else None
        if match is not None and text is not None and waiting:
            named = next((one for one in waiting if str(one.get("name")).endswith(match[1])), waiting[0])
            waiting.remove(named)
            result = [{"type": "text", "text": text[match.end() :]}] if text[match.end() :] else []
            failed = text[match.end() :].lstrip().startswith(_FAILURES)
            answered = {"type": "tool_result", "tool_use_id": named.get("id"), "name": named.get("name")}
            found.append({**answered, "content": result, "is_error": failed})
        elif result is not None and (text is None or not result):
            result.append(block)
        else:
            found.append(block)
            result = None
    return found


def _window(entries: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the messages of the window: the first one marked, and pieces of a command's output joined to one."""
    found: list[dict[str, Any]] = []
    for entry in entries:
        is_output = _OUTPUT in (entry.get("say"), entry.get("ask"))
        if is_output and found and found[-1].get("output") is not None:
            found[-1]["output"].append(entry.get("text"))
        elif is_output:
            found.append({**entry, "output": [entry.get("text")]})
        else:
            found.append(dict(entry))
    call = None
    for number, entry in enumerate(found):
        if entry.get("say", entry.get("ask")) in ("command", "use_mcp_server", "tool"):
            call = f"{number}"
            entry["call"] = call
        elif "output" in entry or entry.get("say") == "mcp_server_response":
            entry["answers"], call = call, None
    if found:
        found[0]["first"] = True
    return list(found)


CONVERSION = FileConverter(
    head_bytes=_HEAD_BYTES, begins_file=begins_task, convert=partial(DocumentConversion, records_of=_records),
    container=NAME,
)  # fmt: skip
