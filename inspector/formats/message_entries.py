"""Entries of one message of a model API: text, thought, calls and results of its content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    NOT_READABLE,
    THOUGHT,
    Entry,
    api_call_id,
    bytes_of,
    call_entry,
    encrypted_replacement,
    has_text,
    media_words,
    response_of,
    result_entry,
    text_entry,
    text_of,
)  # fmt: skip
from inspector.formats.model_vocabulary import AGENT, SYSTEM, USER, cache_mark, is_cache_point
from inspector.formats.program_texts import is_program_text
from inspector.formats.value_conversions import mapping_or_empty

SENDERS = {"system": SYSTEM, "developer": SYSTEM, "user": USER, "assistant": AGENT, "model": AGENT}
_BY_THE_SERVER = (
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
)  # fmt: skip
"""Calls executed on the model's side: the same item contains the result."""
ADDITIONAL_TOOLS = "additional_tools"
"""An item that defines tools within the messages."""
_GIVEN = ("arguments", "input", "action", "operation", "code", "queries")
"""Names of a call's arguments."""
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "tool_plan")
"""Members of a message with the model's thoughts; each provider has its own."""
_CARRIES = frozenset(("tool_calls", "function_call", "refusal", *_THOUGHTS))
_OF_USERS = ("agent_message", "mcp_approval_response")
_SEALED = ("signature", "encrypted_content", "data", "thoughtSignature")


def entries_of_message(message: Any) -> Iterator[Entry]:
    """Yields an entry for each block of a message; one for an item of the Responses API, or for an unknown value."""
    if not isinstance(message, Mapping):
        yield _block(message, USER)
        return
    role, sort = message.get("role"), message.get("type")
    if sort == ADDITIONAL_TOOLS:  # definitions of tools are part of the request
        return
    # Items of the Responses API have a type, and no role or content.
    if not isinstance(role, str) or (isinstance(sort, str) and sort != "message" and "content" not in message):
        yield _marked(_item(message), message)
        if message.get("type") in _BY_THE_SERVER:
            yield _server_result(message)
        return
    # The result of a function call has a role of its own in older APIs.
    if role in ("tool", "function") and "parts" not in message:
        content = message.get("content")
        results = [one for one in list_or_empty(content) if mapping_or_empty(one).get("type") == "tool-result"]
        if results:  # of Vercel's AI SDK, several in a message
            for one in results:
                yield _marked(_sdk_result(one), one, message)
            return
        name = message.get("name") or message.get("tool_name")
        result = result_entry(message.get("tool_call_id") or name, _documents(content), AGENT, name=name)
        yield _marked(result, message, content)
        return
    sender = SENDERS.get(role, role)
    thought = next((one for key in _THOUGHTS if (one := message.get(key))), None)
    if isinstance(thought, str) and thought:
        yield speaker_entry(THOUGHT, sender, thought)
    content = message.get("parts", message.get("content"))
    blocks = content if isinstance(content, list) else [content] if content else []
    if not blocks and sender != AGENT and _CARRIES.isdisjoint(message):
        blocks = [""]  # an empty message counts as one
    for block, following in pairwise((*blocks, None)):
        if not is_cache_point(block):
            yield _marked(_block(block, sender), block, message, following if is_cache_point(following) else None)
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        yield speaker_entry(CHAT, sender, refusal)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping):
            # Each API nests the call in another way.
            made = call.get("function") or call.get("custom") or call
            made = made if isinstance(made, Mapping) else {}
            name, given = made.get("name"), made.get("arguments", made.get("input"))
            yield call_entry(call.get("id") or name, name, given, sender)
    if isinstance(call := message.get("function_call"), Mapping):
        yield call_entry(call.get("name"), call.get("name"), call.get("arguments"), sender)


def _marked(entry: Entry, *holders: object) -> Entry:
    """Sets an entry's cache mark from its block, an inner block, or its message."""
    for holder in holders:
        inside = holder.get("content") if isinstance(holder, Mapping) and "tool_use_id" in holder else holder
        for one in (holder, *(inside if isinstance(inside, list) else ())):
            entry.cache = entry.cache or cache_mark(one)
    return entry


def _block(block: object, sender: str) -> Entry:
    if isinstance(block, str):
        return speaker_entry(CHAT, sender, block)
    if not isinstance(block, Mapping):
        return speaker_entry(CHAT, sender, str(block))
    # Types of blocks from several APIs; no name has two meanings.
    sort = block.get("type")
    if sort in ("tool_use", "server_tool_use", "mcp_tool_use"):
        return call_entry(block.get("id"), block.get("name"), block.get("input"), sender)
    if sort == "tool-call":  # of Vercel's AI SDK
        return call_entry(block.get("toolCallId"), block.get("toolName"), block.get("input", block.get("args")), sender)
    if sort == "tool-result":
        return _sdk_result(block)
    if sort == "reasoning" and isinstance(block.get("text"), str):
        return _thought(block, sender, block["text"])
    if isinstance(sort, str) and sort.endswith("tool_result"):
        content = block.get("content")
        failed = block.get("is_error") is True or _tells_failure(content)
        return result_entry(block.get("tool_use_id"), content, AGENT, failed=failed)
    if sort in ("thinking", "redacted_thinking") or block.get("thought") is True:
        return _thought(block, sender, text_of(block.get("thinking") or block.get("text")))
    if isinstance(call := block.get("functionCall"), Mapping):
        return call_entry(api_call_id(call) or call.get("name"), call.get("name"), call.get("args"), sender)
    if isinstance(answer := block.get("functionResponse"), Mapping):
        name = answer.get("name")
        return result_entry(api_call_id(answer) or name, response_of(answer), AGENT, name=name)
    return _bedrock_entry(block, sender) or speaker_entry(CHAT, sender, _words(block))


def _sdk_result(block: Mapping[str, Any]) -> Entry:
    """Returns the row of a result in a message of Vercel's AI SDK, whose output names its type."""
    output = block.get("output", block.get("result"))
    told = mapping_or_empty(output)
    sort = str(told.get("type"))
    content = told.get("value", output)
    failed = sort.startswith("error") or block.get("isError") is True
    return result_entry(block.get("toolCallId"), content, AGENT, name=block.get("toolName"), failed=failed)


def _bedrock_entry(block: Mapping[str, Any], sender: str) -> Entry | None:
    """Returns the row of a block of Bedrock's Converse API, which has a name in place of a type; None for a text."""
    if isinstance(call := block.get("toolUse"), Mapping):
        return call_entry(call.get("toolUseId"), call.get("name"), call.get("input"), sender)
    if isinstance(answer := block.get("toolResult"), Mapping):
        content = [_bedrock_content(one) for one in list_or_empty(answer.get("content"))]
        return result_entry(answer.get("toolUseId"), content, AGENT, failed=answer.get("status") == "error")
    if isinstance(thought := block.get("reasoningContent"), Mapping):
        told = mapping_or_empty(thought.get("reasoningText"))
        sealed = {"signature": told.get("signature"), "data": thought.get("redactedContent")}
        return _thought(sealed, sender, told.get("text"))
    media = _bedrock_content(block)
    return None if media is block else speaker_entry(CHAT, sender, text_of(media))


def _bedrock_content(content: Any) -> Any:
    """Returns JSON of a result, or an image, document or video, as other APIs have them; others unchanged."""
    held = mapping_or_empty(content)
    if isinstance(value := held.get("json"), Mapping | list):
        return bytes_of({"json": value})[len('{"json":') : -1].decode("utf-8", "replace")
    for key in ("image", "document", "video"):
        told = mapping_or_empty(held.get(key))
        source = mapping_or_empty(told.get("source"))
        if isinstance(data := source.get("bytes"), str):
            return {"type": key, "data": data, "media_type": told.get("format")}
    return content


def _documents(content: object) -> object:
    """Returns a result's content with documents of Cohere's API as texts; other content unchanged."""
    if not isinstance(content, list):
        return content
    held = [mapping_or_empty(mapping_or_empty(one).get("document")).get("data") for one in content]
    return [text if isinstance(text, str) else one for text, one in zip(held, content, strict=True)]


def _words(block: Mapping[str, Any]) -> str:
    """Returns the text of a block or item of any type; without text its JSON, with encrypted parts hashed."""
    for key in ("text", "content"):
        given = block.get(key)
        if isinstance(given, str) or (isinstance(given, list) and any(map(has_text, given))):
            return text_of(given)
    sealed = {key: encrypted_replacement(one) for key in _SEALED if isinstance(one := block.get(key), str) and one}
    if sealed and not isinstance(block.get("source"), Mapping):
        known = {key: one for key, one in block.items() if key != "internal_chat_message_metadata_passthrough"}
        return bytes_of({**known, **sealed}).decode("utf-8", "replace")
    return media_words(block)


def _item(item: Mapping[str, Any]) -> Entry:
    """Returns the row of a Responses API item."""
    sort, called = str(item.get("type")), item.get("call_id") or item.get("id")
    if sort.endswith("_output"):
        output = item.get("output", item.get("tools"))
        failed = item.get("status") in ("failed", "incomplete") or _tells_failure(output)
        return result_entry(called, output, AGENT, failed=failed)
    if sort in _BY_THE_SERVER or sort.endswith("_call"):
        given = next((item[key] for key in _GIVEN if key in item), None)
        return call_entry(called, item.get("name") or sort.removesuffix("_call"), given, AGENT)
    if sort == "reasoning":
        parts = item.get("summary") or item.get("content")
        texts = [one["text"] for one in parts if has_text(one)] if isinstance(parts, list) else []
        return _thought(item, AGENT, "\n".join(texts))
    if sort == "item_reference":
        return speaker_entry(CHAT, AGENT, f"item reference {item.get('id') or ''}".strip())
    if sort == "mcp_list_tools":
        names = ", ".join(str(one.get("name")) for one in list_or_empty(item.get("tools")) if isinstance(one, Mapping))
        return speaker_entry(CHAT, AGENT, f"tools of {item.get('server_label')}: {names or 'none'}")
    role = item.get("role")
    from_user = sort in _OF_USERS or (isinstance(role, str) and role != AGENT)
    entry = speaker_entry(CHAT, USER if from_user else AGENT, _words(item))
    entry.payload |= {key: one for key in ("author", "recipient") if isinstance(one := item.get(key), str)}
    return entry


def list_or_empty(given: object) -> list[Any]:
    return given if isinstance(given, list) else []


def _tells_failure(content: object) -> bool:
    """Returns True if a tool result of the model's side reports a failure: an error, or a command's exit code."""
    for block in content if isinstance(content, list) else [content]:
        if not isinstance(block, Mapping):
            continue
        sort, outcome = block.get("type"), block.get("outcome")
        if isinstance(sort, str) and sort.endswith("_error") and "error_code" in block:
            return True
        ended = outcome if isinstance(outcome, Mapping) else block
        if ended.get("type") == "timeout" or any(_is_failure(ended.get(key)) for key in ("exit_code", "return_code")):
            return True
    return False


def _is_failure(code: object) -> bool:
    return isinstance(code, int) and not isinstance(code, bool) and code != 0


def _server_result(item: Mapping[str, Any]) -> Entry:
    """Returns the result of a call executed on the model's side, as far as the item contains it."""
    given = next((item[key] for key in ("output", "results", "outputs", "tools") if item.get(key)), None)
    error, status = item.get("error"), item.get("status")
    picture = {"type": "image", "data": item["result"]} if isinstance(item.get("result"), str) else None
    content = error or given or picture or f"{status or 'done'} by the model's provider: the result is not recorded"
    failed = bool(error) or status in ("failed", "incomplete")
    return result_entry(item.get("call_id") or item.get("id"), content, AGENT, name=item.get("name"), failed=failed)


def _thought(block: Mapping[str, Any], sender: str, text: object) -> Entry:
    """Returns a thought; signatures and encrypted thoughts become length and hash."""
    entry = speaker_entry(THOUGHT, sender, text if isinstance(text, str) and text else NOT_READABLE)
    for key in _SEALED:
        if isinstance(sealed := block.get(key), str) and sealed:
            entry.payload[key] = encrypted_replacement(sealed)
    return entry


def speaker_entry(kind: str, sender: str, text: str) -> Entry:
    entry = text_entry(kind, sender, USER if sender == AGENT else AGENT, text)
    entry.meaning.by_program = sender == USER and kind == CHAT and is_program_text(text)
    return entry
