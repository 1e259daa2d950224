"""Creates the payloads of a Claude Code record's messages, on demand.

Contents are named as in MCP and the envelopes of MEW, so that one reader fits all. Images and other base64 keep only
their type and size: they are unreadable, and no tokenizer knows their cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.claude_code.records import REQUEST_TYPES
from inspector.formats.entry_builders import response_of
from inspector.formats.tagged_texts import extract_text
from inspector.formats.value_conversions import describe_record, error_words, innermost_message
from inspector.protocol.derived_messages import MODEL_CALL_KEY, Payload
from inspector.protocol.header import decode_object
from inspector.protocol.truncated_json import TRUNCATION_MARK

NOT_READABLE = "thinking, not readable"
"""Text of thoughts that have only a signature."""
_ENVELOPE = frozenset(
    {
        "parentUuid", "uuid", "sessionId", "session_id", "timestamp", "cwd", "version", "gitBranch", "userType",
        "entrypoint", "isSidechain", "slug", "agentId", "type", "isMeta", "requestId",
    }
)  # fmt: skip
"""Members of a record about its place, not its content."""


def payload_of(line: bytes, number: int) -> Payload:
    """Returns the payload of message `number` of a record, from 0; the record may be truncated and closed.

    Never raises.
    """
    record = decode_object(line)
    message = record.get("message")
    sort = record.get("type") or (message.get("role") if isinstance(message, dict) else None)
    if sort in REQUEST_TYPES:
        return _requested(record, number)
    if sort not in ("user", "assistant") or not isinstance(message, dict):
        return _by_type(record)
    content = message.get("content")
    if isinstance(content, str):
        return _text(record, content)
    if isinstance(content, list) and number < len(content):
        block = content[number]
        return _block(record, block) if isinstance(block, dict) else {"block": block}
    return {key: value for key, value in message.items() if key != "content"}


REQUEST = "api_request"
"""Key for facts about a request to the model."""


def _requested(record: Mapping[str, Any], number: int) -> Payload:
    """Returns a part of a request to the model; `CALL` prevents counting its tokens twice."""
    sort = record.get("type")
    held = record.get("shape" if sort == "api-request-shape" else "message")
    held = held if isinstance(held, Mapping) else {}
    if number:
        blocks = held.get("system" if sort == "api-request-shape" else "content")
        blocks = blocks if isinstance(blocks, list) else [blocks]
        # The line may have changed since its messages were counted.
        block = blocks[number - 1] if number <= len(blocks) else None
        block = {"type": "text", "text": block} if isinstance(block, str) else block
        found = _block({}, block) if isinstance(block, dict) else {}
        return {**found, MODEL_CALL_KEY: {"role": "system" if sort == "api-request-shape" else held.get("role")}}
    if sort == "api-request":
        told = {key: value for key, value in record.items() if key not in _ENVELOPE}
    elif sort == "api-request-shape":
        told = {"shapeHash": record.get("shapeHash"), "tools": held.get("tools")}
    else:
        told = {"hash": record.get("hash"), "role": held.get("role")}
    return {"text": name_of(record), MODEL_CALL_KEY: {REQUEST: told}}


def _text(record: Mapping[str, Any], text: object) -> Payload:
    found: Payload = extract_text(text) if isinstance(text, str) and record.get("type") == "user" else {"text": text}
    if record.get("isApiErrorMessage"):
        found["error"] = record.get("error") or text
    if record.get("isCompactSummary"):
        found["summary"] = text
    return found


def _block(record: Mapping[str, Any], block: dict[str, Any]) -> Payload:
    sort = block.get("type")
    if sort == "text":
        return _text(record, block.get("text"))
    if sort == "thinking":
        return {"text": block.get("thinking") or NOT_READABLE}
    if sort == "redacted_thinking":
        return {"text": NOT_READABLE}
    if sort in ("tool_use", "server_tool_use", "mcp_tool_use"):
        params = {"name": block.get("name"), "arguments": block.get("input")}
        # Tool calls have the form of MCP, so that views need one form only.
        return {"method": "tools/call", "params": params}
    if sort == "tool_result" or (isinstance(sort, str) and sort.endswith("_tool_result")):
        return {"result": _result(block)}
    if sort in ("image", "document"):
        return {"text": picture_words(block), **_without_base64(block)}
    if sort == "fallback":
        return {"text": _fallback_words(block), **block}
    return _without_base64(block)


def _fallback_words(block: Mapping[str, Any]) -> str:
    """Returns the change of the model in words."""
    ends = (block.get(key) for key in ("from", "to"))
    before, after = (str(one.get("model")) if isinstance(one, Mapping) else "another model" for one in ends)
    return f"fallback from {before} to {after}"


def _result(block: Mapping[str, Any]) -> Payload:
    """Returns a tool's result in MCP form."""
    content = block.get("content")
    content = extract_text(content)["text"] if isinstance(content, str) else _response_in(content)
    blocks = content if isinstance(content, list) else [] if content is None else [{"type": "text", "text": content}]
    found: Payload = {"content": [_without_base64(one) if isinstance(one, dict) else one for one in blocks]}
    if block.get("is_error") is True:
        found["isError"] = True
    return found


def _response_in(content: Any) -> Any:
    """Returns the text of a result of iFlow, in the form of Google's API; any other content as it is."""
    held = content.get("responseParts", content) if isinstance(content, Mapping) else None
    answer = held.get("functionResponse") if isinstance(held, Mapping) else None
    return response_of(answer) if isinstance(answer, Mapping) else content


def picture_words(block: Mapping[str, Any]) -> str:
    """Returns an image's or document's kind, type and size in words."""
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    data, title = source.get("data"), block.get("title")
    words = [str(block.get("type")), *([title] if isinstance(title, str) else [])]
    if isinstance(media := source.get("media_type"), str):
        words.append(media)
    if isinstance(url := source.get("url"), str):
        words.append(url)
    if isinstance(data, str):
        more = "more than " if data.endswith(TRUNCATION_MARK) else ""  # only the head of a big record is read
        words.append(f"{more}{_decoded_size(data):,} B")
    return ", ".join(words)


def _decoded_size(data: str) -> int:
    return len(data) * 3 // 4


def _without_base64(value: Any) -> Any:
    """Returns decoded JSON with base64 replaced by its size in bytes."""
    if isinstance(value, list):
        return [_without_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "base64" and isinstance(data := value.get("data"), str):
        rest = {key: one for key, one in value.items() if key != "data"}
        return {**rest, "bytes": _decoded_size(data)}
    return {key: _without_base64(one) for key, one in value.items()}


# Records without a participant's text


def _by_type(record: Mapping[str, Any]) -> Payload:
    made = _TYPES.get(str(record.get("type")))
    found = made(record) if made is not None else _rest(record)
    if not found.get("text"):
        found = {**found, **extract_text(_words(record) or name_of(record))}
    return found


def name_of(record: Mapping[str, Any]) -> str:
    """Returns a description of a record without a text."""
    about = next((inner for key in ("data", "attachment") if isinstance(inner := record.get(key), Mapping)), {})
    name = next((n for n in (record.get("subtype"), about.get("type"), record.get("type")) if isinstance(n, str)), "")
    return describe_record(name, about or _rest(record))


def _rest(record: Mapping[str, Any]) -> Payload:
    """Returns a record's content without its place."""
    return _without_base64({key: value for key, value in record.items() if key not in _ENVELOPE})


_SAYING = (
    "summary", "content", "customTitle", "aiTitle", "lastPrompt", "title", "message", "permissionMode", "mode",
    "operation",
)  # fmt: skip


def _words(record: Mapping[str, Any]) -> str | None:
    """Returns the first member that is a readable text."""
    return next((value for key in _SAYING if isinstance(value := record.get(key), str) and value), None)


def _system(record: Mapping[str, Any]) -> Payload:
    found = _rest(record)
    subtype = record.get("subtype")
    if subtype in ("api_error", "error"):
        return {"text": _error_words(record), **found}
    if subtype == "turn_duration" and isinstance(spent := record.get("durationMs"), int | float):
        return {"text": f"the turn took {spent / 1000:,.1f} s", **found}
    if subtype == "stop_hook_summary":
        return {"text": _hooks_words(record), **found}
    if subtype == "compact_boundary":
        return {"text": _compaction_words(record.get("compactMetadata")), **found}
    if subtype == "microcompact_boundary":
        data = record.get("microcompactMetadata")
        ids = data.get("compactedToolIds") if isinstance(data, Mapping) else None
        entries = [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
        return {"direction": "messages", "message_ids": entries, "text": _compaction_words(data), **found}
    return found


def _compaction_words(data: object) -> str | None:
    data = data if isinstance(data, Mapping) else {}
    trigger, before, saved = (data.get(key) for key in ("trigger", "preTokens", "tokensSaved"))
    words = [trigger] if isinstance(trigger, str) else []
    words += [f"{before:,} tokens before"] if isinstance(before, int) else []
    words += [f"{saved:,} saved"] if isinstance(saved, int) else []
    return ", ".join(words) or None


def _hooks_words(record: Mapping[str, Any]) -> str:
    errors = record.get("hookErrors")
    failed = len(errors) if isinstance(errors, list) else 0
    count = record.get("hookCount")
    hooks = f"{count} stop hook{'s' if count != 1 else ''}" if isinstance(count, int) else "stop hooks"
    return f"{hooks} ran, {failed} failed" if failed else f"{hooks} ran"


def _error_words(record: Mapping[str, Any]) -> str:
    """Returns the error and the number of the attempt in words."""
    error = record.get("error")
    words = error_words(innermost_message(error) or _words(record) or "API error")
    attempt, most = record.get("retryAttempt"), record.get("maxRetries")
    status = error.get("status") if isinstance(error, Mapping) else None
    is_told = not isinstance(status, int) or not status or words.startswith(str(status))
    head = words if is_told else f"{status} {words}"
    return f"{head}, try {attempt} of {most}" if isinstance(attempt, int) and isinstance(most, int) else head


def _progress(record: Mapping[str, Any]) -> Payload:
    data = record.get("data")
    if not isinstance(data, Mapping):
        return _rest(record)
    found = {key: _without_base64(value) for key, value in data.items() if key not in ("type", "normalizedMessages")}
    words = _progress_words(data)
    return {"text": words, **found}


def _progress_words(data: Mapping[str, Any]) -> str | None:
    sort = data.get("type")
    if sort == "agent_progress":
        return _inner_words(data.get("message"))
    if sort == "bash_progress":
        spent = data.get("elapsedTimeSeconds")
        return f"running for {spent} s" if isinstance(spent, int | float) else None
    if sort == "hook_progress":
        names = (data.get("hookName") or data.get("hookEvent"), data.get("command"))
        return ": ".join(name for name in names if isinstance(name, str)) or None
    if sort == "mcp_progress":
        names = (data.get("serverName"), data.get("toolName"), data.get("status"))
        return " ".join(name for name in names if isinstance(name, str)) or None
    return next((value for key in ("query", "message", "description") if isinstance(value := data.get(key), str)), None)


def _inner_words(message: object) -> str | None:
    """Returns a short text for a record within a record."""
    inner = message.get("message") if isinstance(message, Mapping) else None
    content = inner.get("content") if isinstance(inner, Mapping) else None
    if isinstance(content, str):
        return content
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, Mapping):
            continue
        if block.get("type") == "tool_use":
            return f"calls {block.get('name')}"
        if block.get("type") == "tool_result":
            return f"result: {_result_words(block.get('content'))}"
        words = block.get("text") or block.get("thinking")
        if isinstance(words, str):
            return words
    return None


def _result_words(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = [one.get("text") for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    return next((text for text in texts if isinstance(text, str)), "")


def _attachment(record: Mapping[str, Any]) -> Payload:
    about = record.get("attachment")
    if not isinstance(about, Mapping):
        return _rest(record)
    return {"text": _attached_words(about), "attachment": _without_base64(dict(about))}


def _attached_words(about: Mapping[str, Any]) -> str:
    """Returns the text that an attachment adds to the context, else its type."""
    for key in ("prompt", "text", "content", "stdout", "snippet", "message", "blockingError"):
        value = about.get(key)
        value = _inner_text(value) if isinstance(value, Mapping) else value
        if isinstance(value, list):
            texts = [_entry_words(one) if isinstance(one, Mapping) else one for one in value]
            value = "\n".join(text for text in texts if isinstance(text, str))
        if isinstance(value, str) and value.strip():
            return str(extract_text(value)["text"]) if key == "prompt" else value
    name = next((value for key in _NAMES if isinstance(value := about.get(key), str) and value), None)
    sort = str(about.get("type") or "attachment").replace("_", " ")
    return f"{sort}: {name}" if name else describe_record(sort, about)


def _entry_words(one: Mapping[str, Any]) -> str | None:
    """Returns the text of an attached list's entry: a block of text, or a to-do item with its status."""
    text, todo, status = (one.get(key) for key in ("text", "content", "status"))
    if isinstance(text, str) or not isinstance(todo, str):
        return text if isinstance(text, str) else None
    return f"{todo} ({status.replace('_', ' ')})" if isinstance(status, str) else todo


def _inner_text(value: Mapping[str, Any]) -> str | None:
    """Returns the text of a file, or of an error, that is attached as an object."""
    inner = value.get("file")
    inner = inner if isinstance(inner, Mapping) else value
    named = (inner.get(name) for name in ("content", "text", "blockingError"))
    return next((text for text in named if isinstance(text, str)), None)


_NAMES = ("displayPath", "filename", "path", "hookName", "agentName", "model", "newDate", "mode", "description")


_TYPES = {"system": _system, "progress": _progress, "attachment": _attachment}
