"""Messages as model APIs take and give them: requests, answers, lists of either (docs/transcripts.md, Message arrays).

OpenAI's chat completions and responses, Anthropic's messages and Gemini's contents, as documents or one a line. A
document is one record that means the messages in it. Nothing says when; they are from `system`, `user`, `assistant`,
and `tools` or `mcp:<server>`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inspector.protocol import kinds
from inspector.protocol.formats.claude.meanings import tools_of
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.meaning import MOST_MEANINGS, ApiCall, Meaning, Payload, ThreadMark
from inspector.protocol.record import Record, Shape

LABEL = "messages"
LABELS: dict[Shape, str] = {}
WORDS = {LABEL: "messages of a model API"}
READS = "message arrays of OpenAI, Anthropic and Gemini"
OWN = False
"""Whether a record of a type that came later is known for one of this format by itself."""

USER, AGENT = "user", "assistant"
_CHAT, _THOUGHT = "chat", "reasoning/thought"
_SENDERS = {"system": "system", "developer": "system", "user": USER, "assistant": AGENT, "model": AGENT}
_ROLES = frozenset({*_SENDERS, "tool", "function"})
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "mcp_call", "computer_call", "web_search_call")
_ITEMS = frozenset({"message", "reasoning", "item_reference", *_CALLS, *(f"{one}_output" for one in _CALLS)})
_FOREIGN = ("kind", "from", "protocol", "jsonrpc", "envelope", "uuid", "sessionId", "parts_of")
_MARKS = (b'"role"', b'"parts"', b'"call_id"')
_MOST = 1 << 40


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Read a document, or one message; None when it is neither. Never raises.

    Args:
        line: without its end.
        unknown: also single items of the Responses API, which Codex writes too.
    """
    if not any(mark in line for mark in _MARKS):
        return None
    value = _decoded(line)
    if not isinstance(value, dict) or any(key in value for key in _FOREIGN):
        return None
    entries = _entries(value, items=unknown)
    if not entries:
        return None
    means = tuple(entry.meaning for entry in entries[:MOST_MEANINGS])
    call = _api_call(value)
    if call is not None:
        means[-1].call = call
    return Record(Shape.MEANING, line, space=_conversation(value, entries), means=means, meant_by=LABEL)


def payload(line: bytes, number: int) -> Payload:
    """What message `number` of a record says, from 0. Never raises."""
    value = _decoded(line)
    entries = _entries(value, items=True) if isinstance(value, dict) else []
    return entries[number].payload if number < len(entries) else {}


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:
            return decode_json(line)
        except NotAnObjectError:
            return None


class Entry(msgspec.Struct, gc=False):
    """One message: what columns tell of it, and what it says."""

    meaning: Meaning
    payload: Payload


def _entries(value: Mapping[str, Any], *, items: bool) -> list[Entry]:
    """The messages of a document or of a single message, with ids; none where it is something else."""
    messages = list(_messages(value, items=items))
    if not messages:
        return []
    spoken = [entry for message in messages for entry in _spoken(message)]
    _identify(spoken)
    return spoken


# What holds messages


def _messages(value: Mapping[str, Any], *, items: bool) -> Iterator[Mapping[str, Any]]:
    """The messages in their order, a system prompt beside them as the first."""
    for key in ("messages", "contents", "input"):
        given = value.get(key)
        if _is_history(given) or (key == "input" and isinstance(given, str) and "model" in value):
            yield from _instructions(value)
            yield from given if isinstance(given, list) else ({"role": "user", "content": given},)
            yield from _answers(value)
            return
    answers = list(_answers(value))
    if answers:
        yield from answers
    elif _is_message(value) or (items and _is_item(value)):
        yield value


def _is_history(given: object) -> bool:
    """Whether it is a list of messages and nothing else, as far as its first ones tell."""
    if not isinstance(given, list) or not given:
        return False
    return all(isinstance(one, dict) and (_is_message(one) or _is_item(one)) for one in given[:_LOOKED_AT])


_LOOKED_AT = 8


def _is_message(value: Mapping[str, Any]) -> bool:
    role, sort = value.get("role"), value.get("type")
    said = any(key in value for key in ("content", "tool_calls", "function_call", "parts", "refusal"))
    return isinstance(role, str) and role in _ROLES and said and sort in (None, "message")


def _is_item(value: Mapping[str, Any]) -> bool:
    """An item of the Responses API that is no message."""
    sort = value.get("type")
    if not isinstance(sort, str) or sort not in _ITEMS or sort == "message":
        return False
    return "call_id" in value or "id" in value or "summary" in value


def _instructions(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The system prompt that stands beside the messages."""
    for key in ("system", "instructions", "systemInstruction", "system_instruction"):
        given = value.get(key)
        if isinstance(given, Mapping) and isinstance(given.get("parts"), list):
            yield {"role": "system", "parts": given["parts"]}
        elif isinstance(given, str | list) and given:
            yield {"role": "system", "content": given}


def _answers(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a model answered, in the body of an answer."""
    choices, output, candidates = (value.get(key) for key in ("choices", "output", "candidates"))
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if isinstance(message, Mapping) and message.get("role", AGENT) == AGENT:
            yield {"role": AGENT, **message}
    if isinstance(output, list) and (value.get("object") == "response" or "usage" in value):
        yield from (one for one in output if isinstance(one, Mapping) and (_is_message(one) or _is_item(one)))
    for candidate in candidates if isinstance(candidates, list) else ():
        content = candidate.get("content") if isinstance(candidate, Mapping) else None
        if isinstance(content, Mapping) and isinstance(content.get("parts"), list):
            yield {"role": "model", **content}


def _conversation(value: Mapping[str, Any], entries: list[Entry]) -> str | None:
    """A name for the conversation: the same for a request and the next one, which goes on from it; None for a piece."""
    if not any(isinstance(value.get(key), str | list) for key in ("messages", "contents", "input")):
        return None
    first = next((place for place, one in enumerate(entries) if one.meaning.sender == USER), 0)
    return f"conversation-{entries[first].meaning.identifier}"


# What messages say


def _spoken(message: Mapping[str, Any]) -> Iterator[Entry]:
    """Each block of a message is one of ours."""
    role = message.get("role")
    if not isinstance(role, str):
        yield _item(message)
        return
    if role in ("tool", "function"):
        called = message.get("tool_call_id") or message.get("name")
        yield _result(called, message.get("content"), message, name=message.get("name"))
        return
    sender = _SENDERS.get(role, role)
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str) and thought:
        yield _said(_THOUGHT, sender, thought)
    content = message.get("parts", message.get("content"))
    for block in content if isinstance(content, list) else [content] if content else []:
        yield _block(block, sender)
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        yield _said(_CHAT, sender, refusal)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping):
            made = call.get("function") or call.get("custom") or call
            made = made if isinstance(made, Mapping) else {}
            yield _call(call.get("id"), made.get("name"), made.get("arguments", made.get("input")), sender)
    if isinstance(call := message.get("function_call"), Mapping):
        yield _call(call.get("name"), call.get("name"), call.get("arguments"), sender)


def _block(block: object, sender: str) -> Entry:
    if isinstance(block, str):
        return _said(_CHAT, sender, block)
    if not isinstance(block, Mapping):
        return _said(_CHAT, sender, str(block))
    sort = block.get("type")
    if sort in ("tool_use", "server_tool_use", "mcp_tool_use"):
        return _call(block.get("id"), block.get("name"), block.get("input"), sender)
    if isinstance(sort, str) and sort.endswith("tool_result"):
        return _result(block.get("tool_use_id"), block.get("content"), block, failed=block.get("is_error") is True)
    if sort in ("thinking", "redacted_thinking") or block.get("thought") is True:
        return _said(_THOUGHT, sender, block.get("thinking") or block.get("text") or "thinking, not readable")
    if isinstance(call := block.get("functionCall"), Mapping):
        return _call(call.get("id") or call.get("name"), call.get("name"), call.get("args"), sender)
    if isinstance(answer := block.get("functionResponse"), Mapping):
        name = answer.get("name")
        return _result(answer.get("id") or name, answer.get("response"), answer, name=name)
    if isinstance(text := block.get("text"), str):
        return _said(_CHAT, sender, text)
    return _said(_CHAT, sender, _media_words(block))


def _item(item: Mapping[str, Any]) -> Entry:
    """An item of the Responses API."""
    sort, called = str(item.get("type")), item.get("call_id") or item.get("id")
    if sort.endswith("_output"):
        return _result(called, item.get("output"), item)
    if sort in _CALLS:
        given = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
        return _call(called, item.get("name") or sort.removesuffix("_call"), given, AGENT)
    if sort == "reasoning":
        parts = item.get("summary") or item.get("content")
        texts = [one["text"] for one in parts if _has_text(one)] if isinstance(parts, list) else []
        return _said(_THOUGHT, AGENT, "\n".join(texts) or "thinking, not readable")
    return _said(_CHAT, AGENT, f"{sort.replace('_', ' ')} {item.get('id') or ''}".strip())


def _has_text(part: object) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _said(kind: str, sender: str, text: str) -> Entry:
    to = (USER,) if sender == AGENT else (AGENT,)
    return Entry(Meaning(kind, sender, to), {"text": text})


def _call(identifier: object, name: object, given: object, sender: str) -> Entry:
    tool = name if isinstance(name, str) else None
    meaning = Meaning(kinds.REQUEST, sender, (tools_of(tool),), method="tools/call", target=tool)
    meaning.identifier = identifier if isinstance(identifier, str) and identifier else None
    return Entry(meaning, {"method": "tools/call", "params": {"name": tool, "arguments": _arguments(given)}})


def _arguments(given: object) -> Any:
    """JSON in a string is decoded, free text stays one."""
    if not isinstance(given, str):
        return given if given is not None else {}
    try:
        return decode_json(given.encode("utf-8", "replace")) if given.lstrip().startswith("{") else {"input": given}
    except NotAnObjectError:
        return {"input": given}


def _result(
    called: object, content: object, holder: Mapping[str, Any], *, name: object = None, failed: bool = False
) -> Entry:
    failed = failed or holder.get("status") in ("failed", "incomplete")
    meaning = Meaning(kinds.RESPONSE, tools_of(name if isinstance(name, str) else None), (AGENT,), failed=failed)
    meaning.correlation = called if isinstance(called, str) and called else None
    blocks = content if isinstance(content, list) else [content] if content is not None else []
    result: dict[str, Any] = {"content": [_content(one) for one in blocks]}
    return Entry(meaning, {"result": {**result, "isError": True} if failed else result})


def _content(block: object) -> Any:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if isinstance(block, Mapping):
        return {"type": "text", "text": block["text"] if _has_text(block) else _media_words(block)}
    return block


def _media_words(block: Mapping[str, Any]) -> str:
    """What a picture, a file or sound is: its sort, its type and its size; of another thing its values."""
    sort = str(block.get("type") or next(iter(block), "block"))
    for holder in (block, *(one for one in block.values() if isinstance(one, Mapping))):
        for key in ("data", "image_url", "url", "file_data"):
            data = holder.get(key)
            if isinstance(data, str) and (data.startswith("data:") or (key == "data" and len(data) > _SHORT)):
                head, _, base64 = data.rpartition(",")
                media = head.removeprefix("data:").partition(";")[0]
                media = media or holder.get("media_type") or holder.get("mimeType") or holder.get("format")
                return ", ".join([sort, *([str(media)] if media else []), f"{len(base64) * 3 // 4:,} B"])
            if isinstance(data, str) and key != "data":
                return f"{sort}, {data}"
    return msgspec.json.encode(block).decode("utf-8", "replace")


_SHORT = 200


# What ties them together


def _identify(entries: list[Entry]) -> None:
    """Give messages ids by all that was said up to them: a history that is sent again is the same messages.

    So is that of another conversation only where the user began it with the same words.

    Calls have their own ids. Where these are names, as in the first form of function calls and often with Gemini, a
    result is that of the last call of its name.
    """
    digest = hashlib.blake2b(digest_size=8)
    opening = next((entry for entry in entries if entry.meaning.sender == USER), None)
    if opening is not None:
        digest.update(_bytes_of(opening.payload))
    named: dict[str, str] = {}
    for place, entry in enumerate(entries):
        meaning = entry.meaning
        digest.update(f"\0{meaning.kind}\0{meaning.sender}\0".encode("utf-8", "replace"))
        said = _bytes_of(entry.payload)
        digest.update(said + (meaning.identifier or "").encode("utf-8", "replace"))
        mark = digest.hexdigest()
        meaning.size, meaning.said = len(said), mark.encode()
        if meaning.kind == kinds.REQUEST and meaning.identifier is not None and meaning.identifier != meaning.target:
            named[meaning.identifier] = meaning.identifier
            meaning.said = said + meaning.identifier.encode(
                "utf-8", "replace"
            )  # told by an answer first, and by each request after it
            meaning.thread = ThreadMark(channel=meaning.identifier)
            continue
        own = f"{mark}#{place + 1}" if meaning.kind == kinds.REQUEST else mark
        if meaning.identifier is not None:
            named[meaning.identifier] = own
        meaning.identifier = own
        if meaning.correlation is not None:
            meaning.correlation = named.get(meaning.correlation, meaning.correlation)


def _bytes_of(payload: Payload) -> bytes:
    try:
        return msgspec.json.encode(payload)
    except (msgspec.MsgspecError, UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return repr(payload).encode("utf-8", "replace")


def _api_call(value: Mapping[str, Any]) -> ApiCall | None:
    """The call of the model that the body of an answer reports; None for what was only asked."""
    usage = value.get("usage", value.get("usageMetadata"))
    model = value.get("model", value.get("modelVersion"))
    if not isinstance(usage, Mapping):
        return None
    read = _number(usage, "cache_read_input_tokens", "cachedContentTokenCount")
    written = _number(usage, "cache_creation_input_tokens")
    given = _number(usage, "input_tokens", "prompt_tokens", "promptTokenCount")
    made = _number(usage, "output_tokens", "completion_tokens", "candidatesTokenCount")
    made += _number(usage, "thoughtsTokenCount")
    for key in ("prompt_tokens_details", "input_tokens_details"):
        if isinstance(details := usage.get(key), Mapping):
            read = _number(details, "cached_tokens")
    if "cache_read_input_tokens" not in usage and "cache_creation_input_tokens" not in usage:
        given = max(given - read, 0)  # all but Anthropic's count what was cached as input
    identifier = value.get("id", value.get("responseId"))
    name = identifier if isinstance(identifier, str) else _bytes_of(dict(value)).hex()[:_MOST_NAME]
    return ApiCall(
        name, model if isinstance(model, str) else None, reported=True, input=given, output=made, cache_read=read,
        cache_write=written,
    )  # fmt: skip


_MOST_NAME = 64


def _number(usage: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return min(max(value, 0), _MOST)
    return 0
