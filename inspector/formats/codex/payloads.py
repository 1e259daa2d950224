"""Creates the payloads of a Codex record's messages, on demand.

Contents are named as in MCP and the envelopes of MEW, so that one reader fits all. Images keep only their type and
size, encrypted parts only their length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.codex.tool_outputs import read_output
from inspector.formats.tagged_texts import extract_text
from inspector.formats.value_conversions import describe_record
from inspector.protocol.derived_messages import Payload
from inspector.protocol.header import NotAnObjectError, decode_json, decode_object

NOT_READABLE = "thinking, not readable"
"""Text of thoughts that are only present encrypted."""
_MOST_WORDS = 200


def payload_of(line: bytes, number: int) -> Payload:
    """Returns the payload of message `number` of a record, from 0; the record may be truncated and closed.

    Never raises.
    """
    record = decode_object(line)
    sort, inner = record.get("type"), record.get("payload")
    if not isinstance(inner, dict):
        # Older files have no envelope around their records.
        bare = isinstance(sort, str)
        sort, inner = ("response_item", record) if bare else ("session_meta", record)
    if sort == "response_item":
        return _item(inner, number)
    if sort == "event_msg":
        return _event(inner)
    if sort == "session_meta" and number:
        return {"text": _instructions(inner)}
    found = _plain(inner)
    return {"text": _record_words(str(sort), found), **found}


def _item(inner: Mapping[str, Any], number: int) -> Payload:
    sort = inner.get("type")
    if sort == "message":
        found = _block(inner.get("content"), number)
        text = found.get("text")
        return (
            extract_text(text) if isinstance(text, str) and inner.get("role") == "user" and len(found) == 1 else found
        )
    if sort == "reasoning":
        return {"text": _part(inner, number) or NOT_READABLE}
    if isinstance(sort, str) and sort.endswith("_output"):
        return {"result": _result(inner)}
    # The second message of such an item is its result.
    if sort in ("web_search_call", "image_generation_call") and number:
        return {"result": {"content": [{"type": "text", "text": _by_itself_words(inner)}]}}
    if isinstance(sort, str) and sort.endswith("_call"):
        name = inner.get("name") or sort.removesuffix("_call")
        return {"method": "tools/call", "params": {"name": name, "arguments": _arguments(inner)}}
    if sort == "agent_message":
        return {"text": _texts(inner.get("content")) or NOT_READABLE}
    return {"text": describe_record(str(sort), inner), **_plain(inner)}


def _block(content: object, number: int) -> Payload:
    if isinstance(content, str):
        return {"text": content}
    blocks = content if isinstance(content, list) else []
    block = blocks[number] if number < len(blocks) else None
    if not isinstance(block, dict):
        return {"text": f"{len(blocks):,} blocks"} if block is None else {"block": block}
    if isinstance(text := block.get("text"), str):
        return {"text": text}
    if isinstance(url := block.get("image_url"), str):
        return {"text": picture_words(url)}
    return {"text": str(block.get("type")), **_plain(block)}


def _part(inner: Mapping[str, Any], number: int) -> str | None:
    for key in ("summary", "content"):
        parts = inner.get(key)
        if isinstance(parts, list) and number < len(parts) and isinstance(parts[number], dict):
            text = parts[number].get("text")
            return text if isinstance(text, str) else None
    return None


def picture_words(url: str) -> str:
    """Returns type and size of an image in a `data:` URL; other URLs unchanged."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:"):
        return f"image, {url}"
    return f"image, {head.removeprefix('data:').partition(';')[0]}, {len(data) * 3 // 4:,} B"


def _arguments(inner: Mapping[str, Any]) -> Any:
    """Returns the arguments of a call: JSON in a string is decoded, free text unchanged."""
    given = next((inner[key] for key in ("arguments", "input", "action") if key in inner), None)
    if not isinstance(given, str):
        return _plain(given)
    if not given.lstrip().startswith("{"):
        return {"input": given} if given else {}
    try:
        return decode_json(given.encode("utf-8", "replace"))
    except NotAnObjectError:
        return {"input": given}


def _result(inner: Mapping[str, Any]) -> Payload:
    """Returns a tool's output as an MCP result: the printed text, after a non-zero exit code."""
    output = inner.get("output", inner.get("tools"))
    found = read_output(output)
    if isinstance(output, Mapping) and "content" in output:
        output = output["content"]
    code = f"Exit code: {found.code}\n" if found.code else ""
    said = [{"type": "text", "text": code + found.text}] if code or found.text or isinstance(output, str) else []
    blocks = output if isinstance(output, list) else [] if output is None or isinstance(output, str) else [output]
    others = [one for one in blocks if not (isinstance(one, Mapping) and isinstance(one.get("text"), str))]
    return {"content": [*said, *(_content(one) for one in others if not isinstance(one, str))]}


def _content(block: object) -> Any:
    if isinstance(block, Mapping):
        if isinstance(text := block.get("text"), str):
            return {"type": "text", "text": text}
        if isinstance(url := block.get("image_url"), str):
            return {"type": "text", "text": picture_words(url)}
    return _plain(block)


def _texts(content: object) -> str | None:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(b["text"] for b in blocks if isinstance(b, dict) and isinstance(b.get("text"), str)) or None


def _by_itself_words(inner: Mapping[str, Any]) -> str:
    status = inner.get("status")
    return f"{status or 'done'} by the model's provider: the result is not recorded"


def _plain(value: Any, depth: int = 0) -> Any:
    """Returns decoded JSON with descriptions in place of images and encrypted texts."""
    if isinstance(value, list):
        return [_plain(one, depth + 1) for one in value]
    if not isinstance(value, Mapping):
        # Images are described, since their data would fill the view.
        return picture_words(value) if isinstance(value, str) and value.startswith("data:") else value
    found = {}
    for key, one in value.items():
        if key == "encrypted_content" and isinstance(one, str):
            one = f"encrypted, {len(one):,} characters"
        elif key == "result" and depth == 0 and isinstance(one, str) and value.get("type") == "image_generation_call":
            one = f"image, {len(one) * 3 // 4:,} B"
        found[key] = _plain(one, depth + 1)
    return found


# Events


def _event(inner: Mapping[str, Any]) -> Payload:
    sort = inner.get("type")
    if sort in ("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"):
        text = inner.get("message", inner.get("text"))
        pictures = inner.get("images")
        shown = [picture_words(one) for one in pictures if isinstance(one, str)] if isinstance(pictures, list) else []
        return {"text": text, **({"images": shown} if shown else {})}
    if sort == "item_completed" and isinstance(item := inner.get("item"), Mapping):
        text = _texts(item.get("content")) or _first(item.get("summary_text")) or item.get("text")
        words = text if isinstance(text, str) else _item_words(item)
        return {"text": words, **_plain({key: one for key, one in item.items() if key not in ("content", "text")})}
    found = {key: _plain(one) for key, one in inner.items() if key != "type"}
    if sort in ("error", "stream_error", "warning"):
        return {"text": inner.get("message"), "error": inner.get("message"), **found}
    if sort == "thread_rolled_back":
        found["direction"], found["turns"] = "newest", inner.get("num_turns")
    return {**found, "text": _event_words(str(sort), inner)}


def _first(texts: object) -> str | None:
    return next((one for one in texts if isinstance(one, str)), None) if isinstance(texts, list) else None


def _item_words(item: Mapping[str, Any]) -> str:
    about = next((one for key in ("command", "query", "tool", "path") if (one := item.get(key))), "")
    about = " ".join(map(str, about)) if isinstance(about, list) else str(about)
    words = f"{item.get('type')} {about}".strip()
    return f"{words}, {status}" if isinstance(status := item.get("status"), str) else words


def _event_words(sort: str, inner: Mapping[str, Any]) -> str:
    """Returns a short text for an event."""
    if sort == "token_count":
        return _token_words(inner)
    if sort in ("task_complete", "turn_complete") and isinstance(spent := inner.get("duration_ms"), int | float):
        return f"the turn took {spent / 1000:,.1f} s"
    if sort == "turn_aborted":
        return f"turn ended early: {inner.get('reason') or 'no reason given'}"
    if sort == "thread_rolled_back":
        count = inner.get("num_turns")
        return f"the last {'turn' if count == 1 else f'{count} turns'} left the context"
    if sort == "exec_command_end":
        command = inner.get("command")
        words = " ".join(map(str, command)) if isinstance(command, list) else str(command or "")
        return f"{words[:_MOST_WORDS]}{': ' if words else ''}exit code {inner.get('exit_code')}"
    if sort == "mcp_tool_call_end" and isinstance(call := inner.get("invocation"), Mapping):
        result = inner.get("result")
        state = "failed" if isinstance(result, Mapping) and "Err" in result else "done"
        return f"{call.get('server')} {call.get('tool')}: {state}"
    for key in ("user_facing_hint", "message", "query", "path", "thread_name", "prompt"):
        if isinstance(text := inner.get(key), str) and text:
            return text
    return describe_record(sort, inner)


def _token_words(inner: Mapping[str, Any]) -> str:
    info = inner.get("info")
    last = info.get("last_token_usage") if isinstance(info, Mapping) else None
    given, made = (last.get(f"{way}_tokens") if isinstance(last, Mapping) else None for way in ("input", "output"))
    if isinstance(given, int) and isinstance(made, int):
        return f"{given:,} tokens in, {made:,} out"
    return describe_record("token_count", inner)


# Other records


def _instructions(inner: Mapping[str, Any]) -> str | None:
    """Returns the system prompt of a thread."""
    for key in ("base_instructions", "instructions"):
        told = inner.get(key)
        text = told.get("text") if isinstance(told, Mapping) else told
        if isinstance(text, str) and text:
            return text
    return None


def _record_words(sort: str, inner: Mapping[str, Any]) -> str:
    if sort == "session_meta":
        version = inner.get("cli_version")
        words = [f"Codex {version}" if isinstance(version, str) else "Codex"]
        return ", ".join([*words, inner["cwd"]] if isinstance(inner.get("cwd"), str) else words)
    if sort == "turn_context":
        words = [value for key in ("model", "effort") if isinstance(value := inner.get(key), str)]
        return ", ".join(words) or describe_record(sort, inner)
    if sort == "compacted":
        return inner.get("message") or _history_words(inner.get("replacement_history")) or "compacted"
    return describe_record(sort, inner)


def _history_words(history: object) -> str | None:
    """Returns the new contents of the context, entry by entry."""
    entries = [one for one in history if isinstance(one, Mapping)] if isinstance(history, list) else []
    told = ((str(one.get("role") or one.get("type")), _texts(one.get("content")) or NOT_READABLE) for one in entries)
    return "\n\n".join(f"{role}: {text}" for role, text in told) or None
