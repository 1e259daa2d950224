"""Reads the output of `codex exec --json`: an event a line, without times (docs/transcripts.md, Codex).

An item is printed when it starts, changes and completes, each time whole and with the same id. The call is its start,
the result its completion, and repetitions are copies. The shapes are from `codex-rs/exec/src/exec_events.rs` of the
public repository openai/codex.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    THOUGHT,
    Entry,
    bytes_of,
    control_entry,
    decoded_object,
    payload_at,
    text_entry,
    token_count,
)
from inspector.formats.value_conversions import describe_record, error_words, mapping_or_empty
from inspector.protocol import kinds
from inspector.protocol.derived_messages import ApiCall, DerivedMessage, Payload, Spawn, ThreadMark
from inspector.protocol.payloads.file_edits import PATCH

USER, AGENT, TOOLS, PROGRAM = "user", "codex", "tools", "codex-cli"
NAMESPACE = "codex/"
_BEGINS = re.compile(
    rb'\{\s?"type":\s?"(?:thread\.(?:started|resumed)|turn\.(?:started|completed|failed)'
    rb'|item\.(?:started|updated|completed|plan\.delta)|request_user_input)"'
)
_ERROR = re.compile(rb'\{\s?"type":\s?"error",\s?"message":')
_WORDS = {"agent_message": CHAT, "assistant_message": CHAT, "reasoning": THOUGHT, "plan": THOUGHT}
_CALLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"})
_OTHER_ITEMS = ("todo_list", "error")
_TURN_KEYS = frozenset(("type", "usage", "error"))
_COUNTS = ("input_tokens", "cached_input_tokens", "output_tokens")
"""Members of a turn's usage, which no other program has together."""
_FAILED, _DECLINED = "failed", "declined"


def is_event(line: bytes, *, unknown: bool = False) -> bool:
    """Returns True if a line is an event.

    Other programs print events of the same types, so that members of Codex alone are needed too.

    Args:
        line: without its end.
        unknown: accept events that other programs may write alike, as errors.
    """
    if _BEGINS.match(line) is None:
        return unknown and _ERROR.match(line) is not None
    event = decoded_object(line)
    return event is not None and _is_own(event, unknown)


def _is_own(event: Mapping[str, Any], unknown: bool) -> bool:
    sort, item, usage = str(event.get("type")), event.get("item"), event.get("usage")
    if sort.startswith("turn."):
        if not event.keys() <= _TURN_KEYS:
            return False
        is_counted = isinstance(usage, Mapping) and all(key in usage for key in _COUNTS)
        return unknown or is_counted or "message" in mapping_or_empty(event.get("error"))
    if unknown or sort.startswith("thread."):
        return unknown or isinstance(event.get("thread_id"), str)
    named = str(mapping_or_empty(item).get("type") or mapping_or_empty(item).get("item_type"))
    is_known = named in _WORDS or named in _CALLS or named in _OTHER_ITEMS
    return is_known and isinstance(mapping_or_empty(item).get("id"), str)


def meanings_of(line: bytes) -> tuple[DerivedMessage, ...]:
    """Returns the messages of an event; empty for other lines."""
    value = decoded_object(line)
    return tuple(entry.meaning for entry in _entries(value)) if value is not None else ()


def payload_of(line: bytes, place: int) -> Payload:
    """Returns the payload of message `place` of an event, from 0. Never raises."""
    return payload_at(line, place, _entries)


def _entries(event: Mapping[str, Any]) -> list[Entry]:
    sort, item = str(event.get("type")), event.get("item")
    if sort.startswith("item.") and isinstance(item, Mapping):
        return item_entries(sort, item)
    if sort in ("turn.failed", "error"):
        error = event.get("error")
        return [error_entry(error.get("message") if isinstance(error, Mapping) else event.get("message"))]
    rest = {key: value for key, value in event.items() if key != "type"}
    found = control_entry(NAMESPACE + sort, PROGRAM, _event_words(sort, event), rest)
    thread = event.get("thread_id")
    if sort.startswith("thread.") and isinstance(thread, str):
        found.meaning.thread = ThreadMark(identifier=thread)
    elif sort == "turn.started":
        found.meaning.thread = ThreadMark(turn="")
    elif sort == "turn.completed":
        found.meaning.thread = ThreadMark(ends_turn=True)
        found.meaning.call = _call(event.get("usage"))
    return [found]


def _call(usage: object) -> ApiCall | None:
    """Returns the total of a turn's model calls; cached tokens are part of the input."""
    if not isinstance(usage, Mapping):
        return None
    read, given, made = (token_count(usage, f"{name}_tokens") for name in ("cached_input", "input", "output"))
    return ApiCall(
        f"turn {given} {read} {made}", None, has_usage=True, input=max(given - read, 0), output=made, cache_read=read
    )  # fmt: skip


def _event_words(sort: str, event: Mapping[str, Any]) -> str:
    usage = event.get("usage")
    if sort == "turn.completed" and isinstance(usage, Mapping):
        return f"{token_count(usage, 'input_tokens'):,} tokens in, {token_count(usage, 'output_tokens'):,} out"
    words = event.get("thread_id") or event.get("delta")
    return words if isinstance(words, str) else describe_record(sort, event)


def item_entries(event: str, item: Mapping[str, Any]) -> list[Entry]:
    """Returns the rows of an item in its present state, marked so that repetitions are copies.

    Args:
        event: `item.started`, `item.updated` or `item.completed`.
        item: its members.
    """
    return _marked(list(_item(event, item)), item)


def _item(event: str, item: Mapping[str, Any]) -> Iterator[Entry]:
    """Yields the rows of an item in its present state."""
    sort = str(item.get("type") or item.get("item_type"))
    text = item.get("text")
    if sort in _WORDS:
        found = text_entry(_WORDS[sort], AGENT, USER, text if isinstance(text, str) else "")
        # A message is addressed to the user, and a thought to nobody.
        found.meaning.to = (USER,) if sort.endswith("_message") else None
        yield found
    elif sort == "todo_list":
        yield Entry(DerivedMessage(THOUGHT, AGENT), {"text": _todos(item.get("items"))})
    elif sort == "error":
        yield error_entry(item.get("message"))
    elif sort in _CALLS and event == "item.updated":
        # An update repeats the item with its present state, so it becomes a tick of the call.
        found = control_entry(NAMESPACE + sort, PROGRAM, str(item.get("status") or "goes on"), _rest(item))
        found.meaning.correlation, found.meaning.is_progress = _text(item.get("id")), True
        yield found
    elif sort in _CALLS:
        yield _asked(sort, item)
        if event == "item.completed":
            yield _answered(sort, item)
    else:
        yield control_entry(NAMESPACE + sort, PROGRAM, describe_record(sort, _rest(item)), _rest(item))


def error_entry(words: object) -> Entry:
    """Returns an error's row; a failed turn and the error that ended it have the same text, and so are copies."""
    words = error_words(words) if isinstance(words, str) else words
    found = Entry(DerivedMessage("system/error", PROGRAM, (AGENT,), failed=True), {"text": words, "error": words})
    found.meaning.identity = b"error\0" + bytes_of(found.payload)
    return found


def _marked(entries: list[Entry], item: Mapping[str, Any]) -> list[Entry]:
    """Marks an item's rows by id and content, so that repetitions are copies."""
    identifier = _text(item.get("id"))
    for entry in entries:
        if identifier is not None and not entry.meaning.is_progress:
            mark = f"{identifier}\0{entry.meaning.kind}\0"
            entry.meaning.identity = mark.encode("utf-8", "surrogatepass") + bytes_of(entry.payload)
            entry.meaning.size = len(entry.meaning.identity)
    return entries


def _asked(sort: str, item: Mapping[str, Any]) -> Entry:
    server, tool = _text(item.get("server")), _text(item.get("tool"))
    given = {
        "command_execution": {"command": item.get("command")},
        "file_change": _changed(item.get("changes")),
        "mcp_tool_call": item.get("arguments"),
        "web_search": {"query": item.get("query")},
    }.get(sort, {"prompt": item.get("prompt"), "receiver_thread_ids": item.get("receiver_thread_ids")})
    name = tool or sort
    meaning = DerivedMessage(
        kinds.REQUEST, AGENT, (f"mcp:{server}" if server else TOOLS,), identifier=_text(item.get("id")),
        method="tools/call", target=name,
    )  # fmt: skip
    # Its prompt links a sub-agent to this call.
    if name == "spawn_agent":
        told = _text(item.get("prompt"))
        meaning.spawn = Spawn(
            meaning.identifier, None, None, told.partition("\n")[0][:80] if told else None, None, told
        )
    return Entry(meaning, {"method": "tools/call", "params": {"name": name, "arguments": given}})


def _answered(sort: str, item: Mapping[str, Any]) -> Entry:
    code, error, result = item.get("exit_code"), item.get("error"), item.get("result")
    declined = item.get("status") == _DECLINED
    # A refusal by the user is no failure.
    failed = not declined and (item.get("status") == _FAILED or (isinstance(code, int) and code != 0))
    if isinstance(error, Mapping):
        content: Any = [{"type": "text", "text": str(error.get("message"))}]
    elif isinstance(result, Mapping) and isinstance(result.get("content"), list):
        content = result["content"]
    else:
        content = [{"type": "text", "text": _result_words(sort, item)}]
    server = _text(item.get("server"))
    meaning = DerivedMessage(
        kinds.RESPONSE, f"mcp:{server}" if server else TOOLS, (AGENT,), correlation=_text(item.get("id")),
        failed=failed, declined=declined,
    )  # fmt: skip
    states = item.get("agents_states")
    agents = item.get("receiver_thread_ids")
    if item.get("tool") == "spawn_agent" and isinstance(agents, list) and agents and isinstance(agents[0], str):
        meaning.spawn = Spawn(_text(item.get("id")), agents[0])
    found: Payload = {"content": content, **({"isError": True} if failed else {})}
    if isinstance(states, Mapping) and states:
        found["structuredContent"] = {"agents_states": states}
    return Entry(meaning, {"result": found})


def _result_words(sort: str, item: Mapping[str, Any]) -> str:
    output, code = item.get("aggregated_output"), item.get("exit_code")
    if isinstance(output, str):
        return f"Exit code: {code}\n{output}" if code else output
    states = item.get("agents_states")
    if isinstance(states, Mapping):
        told = [one.get("message") or one.get("status") for one in states.values() if isinstance(one, Mapping)]
        if words := "\n\n".join(str(one) for one in told if one):
            return words
    if sort == "web_search":
        return "done by the model's provider: the result is not recorded"
    return str(item.get("status") or "done")


def _changed(changes: object) -> dict[str, str]:
    """Returns changed files as a patch, or their paths by type of change if their differences are not told."""
    if patch := _patch_of(changes):
        return {"patch": patch}
    paths: dict[str, list[str]] = {}
    for one in changes if isinstance(changes, list) else ():
        if isinstance(one, Mapping):
            kind = one.get("kind")
            name = kind.get("type") if isinstance(kind, Mapping) else kind
            paths.setdefault(str(name), []).append(str(one.get("path")))
    return {kind: ", ".join(named) for kind, named in paths.items()}


def _patch_of(changes: object) -> str:
    """Returns the differences of changed files in the form of `apply_patch`; "" if one of them is missing."""
    lines = [PATCH]
    for one in changes if isinstance(changes, list) else ():
        facts = mapping_or_empty(one)
        path, difference, kind = _text(facts.get("path")), facts.get("diff"), mapping_or_empty(facts.get("kind"))
        sort = _HEADS.get(str(kind.get("type")))
        if path is None or sort is None or not isinstance(difference, str):
            return ""
        lines.append(f"*** {sort} File: {path}")
        if moved := _text(kind.get("move_path")):
            lines.append(f"*** Move to: {moved}")
        sign = _SIGNS.get(sort, "")
        lines += [sign + line for line in difference.splitlines()]
    return "\n".join([*lines, "*** End Patch"]) if len(lines) > 1 else ""


_HEADS = {"add": "Add", "update": "Update", "delete": "Delete"}
_SIGNS = {"Add": "+", "Delete": "-"}
"""Signs of lines in differences that are the whole file."""


def _todos(items: object) -> str:
    entries = [one for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []
    return "\n".join(f"[{'x' if one.get('completed') else ' '}] {one.get('text')}" for one in entries)


def _rest(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in ("id", "type")}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
