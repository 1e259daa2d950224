"""Derives the messages of a Codex record (docs/transcripts.md).

Senders are `user`; the model's agent, `codex`; `tools`, or `mcp:<server>` for tools of a namespace; and `codex-cli` for
additions of the program itself. The file's first record names its thread, and so its agent;
`inspector.store.messages.thread_files` resolves it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from inspector.formats.codex import tools
from inspector.formats.codex.records import (
    EVENT,
    HEADER,
    ITEM,
    Counts,
    Inner,
    Line,
    decode_raw,
    head_of,
)
from inspector.formats.codex.tool_outputs import ToolOutput, read_output
from inspector.formats.declined_results import is_declined
from inspector.protocol import kinds
from inspector.protocol.derived_messages import (
    MAX_DERIVED_MESSAGES,
    MODEL_CHANNEL,
    MODEL_PREFIX,
    USER_PREFIX,
    ApiCall,
    DerivedMessage,
    Spawn,
    ThreadMark,
)
from inspector.protocol.json_values import decode_text

USER, AGENT, TOOLS, PROGRAM = "user", "codex", "tools", "codex-cli"
NAMESPACE = "codex/"
"""Prefix of kinds without a participant's text: bookkeeping, copies of calls, and unknown records."""
CHAT, THOUGHT, ERROR = "chat", "reasoning/thought", "system/error"
COMPACTED, FORGET, CANCEL = "participant/compact-done", "participant/forget", "reasoning/cancel"
COLLABORATION = "collaboration"
"""Namespace of tools that work on other agents."""

MACHINE = tools.TOOLS.program_texts
"""Beginnings of user texts that were not typed."""
_MACHINE_BYTES = tuple(b'"' + text.encode() for text in MACHINE)
_LONGEST_MARK = max(map(len, _MACHINE_BYTES))
_BY_ITSELF = ("web_search_call", "image_generation_call")
"""Calls executed on the model's side: their answers are not recorded."""
_COLLABORATION_ERRORS = ("collab spawn failed", "collab tool failed", "collab manager unavailable")
"""Beginnings of outputs of tools that could not reach or start another agent."""
_MOST = 1 << 40
_LONGEST_LABEL = 80


def derive_messages(line: Line) -> tuple[DerivedMessage, ...]:
    """Returns the messages of a record, at least one."""
    inner = line.payload or Inner()
    if line.type == ITEM:
        found = _item(inner, line)
    elif line.type == EVENT:
        found = _event(inner, line)
    elif line.type == HEADER:
        found = _header(inner)
    else:
        found = _other_records(line, inner)
    # Only the first message has the size of the record.
    for one in found[1:]:
        one.size = one.size or 1
    if line.ordinal is not None and found[0].thread is None:
        found[0].thread = ThreadMark(ordinal=line.ordinal)
    elif found[0].thread is not None:
        found[0].thread.ordinal = line.ordinal
    return tuple(found)


def tools_of(inner: Inner) -> str:
    """Returns the participant that executes a call."""
    space = inner.namespace or ""
    return f"mcp:{space.removeprefix('mcp__')}" if space and space != COLLABORATION else TOOLS


# Items: the model's input and output


def _item(inner: Inner, line: Line) -> list[DerivedMessage]:
    sort = inner.type or "item"
    if sort == "message":
        return _message(inner)
    if sort == "reasoning":
        return _reasoning(inner)
    if sort.endswith("_output"):
        return [_result(inner)]
    # The model's side runs these tools, so no result follows in another record.
    if sort in _BY_ITSELF:
        return _model_side_call(inner, line)
    if sort.endswith("_call"):
        return [_call(inner)]
    if sort == "agent_message":
        return [DerivedMessage(CHAT, inner.author or AGENT, (inner.recipient or AGENT,), identifier=inner.id)]
    return [_control(sort)]


def _message(inner: Inner) -> list[DerivedMessage]:
    """Returns a message's rows, one per block of its content."""
    content = inner.content
    if isinstance(content, str):
        return [_words(inner, msgspec.Raw(msgspec.json.encode(content)))]
    if not content or len(content) > MAX_DERIVED_MESSAGES:
        return [_control(f"message of {len(content or ()):,} blocks")]
    found = [_words(inner, block.text) for block in content]
    found[-1].identifier = inner.id
    return found


def _words(inner: Inner, text: msgspec.Raw) -> DerivedMessage:
    if inner.role == "assistant":
        sender, to = AGENT, USER
    else:
        # The program writes instructions and facts in the user's role; a mark tells them apart.
        machine = inner.role != "user" or head_of(text, _LONGEST_MARK).startswith(_MACHINE_BYTES)
        sender, to = PROGRAM if machine else USER, AGENT
    found = DerivedMessage(CHAT, sender, (to,), content=text, size=len(text))
    # Words link an utterance to its copy on the wire.
    if text and sender != PROGRAM:
        found.matched_text = (MODEL_PREFIX if sender == AGENT else USER_PREFIX) + bytes(text)
    if text:
        found.thread = ThreadMark(channel=MODEL_CHANNEL, prompt=sender == USER)
    return found


def _reasoning(inner: Inner) -> list[DerivedMessage]:
    """Returns the visible thoughts of the model, one per part of the summary."""
    summary = inner.summary if isinstance(inner.summary, list) else []
    parts = summary or (inner.content if isinstance(inner.content, list) else [])
    if not parts or len(parts) > MAX_DERIVED_MESSAGES:
        return [DerivedMessage(THOUGHT, AGENT, identifier=inner.id)]
    found = [_thought(part.text, MODEL_CHANNEL) for part in parts]
    found[-1].identifier = inner.id
    return found


def _thought(text: msgspec.Raw, channel: str) -> DerivedMessage:
    mark = ThreadMark(channel=channel) if text else None
    found = DerivedMessage(THOUGHT, AGENT, content=text, size=len(text) or 1, thread=mark)
    found.matched_text = MODEL_PREFIX + bytes(text) if text and channel == MODEL_CHANNEL else b""
    return found


def _call(inner: Inner) -> DerivedMessage:
    call = inner.call_id or inner.id
    name = inner.name or (inner.type or "").removesuffix("_call")
    found = DerivedMessage(
        kinds.REQUEST, AGENT, (tools_of(inner),), identifier=call, record_id=inner.id if inner.id != call else None,
        method="tools/call", target=name, content=inner.arguments or inner.input or inner.action,
        thread=None if call is None else ThreadMark(channel=MODEL_CHANNEL, call=call),
    )  # fmt: skip
    # The arguments name the task of the new agent.
    if name == "spawn_agent":
        asked = decode_raw(msgspec.Raw((decode_text(inner.arguments) or "").encode("utf-8", "replace")))
        asked = asked if isinstance(asked, dict) else {}
        told, role = (_text(asked.get(key)) for key in ("message", "agent_type"))
        label = _text(asked.get("task_name")) or (told.partition("\n")[0][:_LONGEST_LABEL] if told else None)
        found.spawn = Spawn(call, None, None, label, role, told)
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _result(inner: Inner) -> DerivedMessage:
    told = read_output(decode_raw(inner.output)) if _may_tell(inner.output) else ToolOutput("")
    text = decode_text(inner.output) or "" if head_of(inner.output) == b'"' else told.text
    has_run = told.code is not None or told.took_s is not None  # the command's own output may look like a refusal
    declined = not has_run and is_declined(text)
    found = DerivedMessage(
        kinds.RESPONSE, TOOLS, (AGENT,), correlation=inner.call_id,
        failed=(told.failed or text.startswith(_COLLABORATION_ERRORS)) and not declined,
        content=inner.output, declined=declined, took_ns=-1 if told.took_s is None else round(told.took_s * 1e9),
        thread=None if inner.call_id is None else ThreadMark(answered_call=inner.call_id),
    )  # fmt: skip
    # Only the head is searched: most outputs are long, and few start an agent.
    if b"agent_id" in head_of(inner.output, 400):
        told = decode_raw(msgspec.Raw((decode_text(inner.output) or "").encode("utf-8", "replace")))
        agent = _text(told.get("agent_id")) if isinstance(told, dict) else None
        if agent is not None:
            found.spawn = Spawn(inner.call_id, agent)
    return found


def _may_tell(output: msgspec.Raw) -> bool:
    """Returns True if an output may contain an exit code or a time; its first letters exclude most others."""
    head = head_of(output, 40)
    return head.startswith((b"[", b"{", b'"{', b'"Script ', b'"Exit code', b'"Chunk ID', b'"Wall time', b'"Process'))


def _model_side_call(inner: Inner, line: Line) -> list[DerivedMessage]:
    """Returns call and answer of a call executed on the model's side. Most have no id."""
    name = (inner.type or "").removesuffix("_call")
    when = line.timestamp or head_of(inner.action, _LONGEST_LABEL).decode("utf-8", "replace")
    call = inner.call_id or inner.id or f"{name} at {when}"
    asked = DerivedMessage(kinds.REQUEST, AGENT, (TOOLS,), identifier=call, method="tools/call", target=name)
    return [asked, DerivedMessage(kinds.RESPONSE, TOOLS, (AGENT,), correlation=call)]


# Events: copies for the screen, tokens, and outcomes of turns and calls


def _event(inner: Inner, line: Line) -> list[DerivedMessage]:
    sort = inner.type or "event"
    if sort in ("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"):
        return [_event_copy(sort, inner)]
    if sort == "token_count":
        return [_tokens(inner, line)]
    if sort in ("task_started", "turn_started"):
        return [_control(sort, thread=ThreadMark(turn=inner.turn_id or ""))]
    if sort in ("task_complete", "turn_complete"):
        return [_control(sort, thread=ThreadMark(ends_turn=True))]
    if sort == "thread_rolled_back":
        return [DerivedMessage(FORGET, PROGRAM, (AGENT,))]
    if sort == "turn_aborted":
        return [DerivedMessage(CANCEL, PROGRAM)]
    if sort in ("error", "stream_error"):
        return [DerivedMessage(ERROR, PROGRAM, (AGENT,), failed=True)]
    if sort == "item_completed" and inner.item is not None:
        return [_completed(inner)]
    found = _control(sort)
    found.correlation = inner.call_id
    if inner.call_id is not None:
        found.thread = ThreadMark(channel=sort, call=inner.call_id)
    agent = inner.new_thread_id or inner.agent_thread_id
    if agent is not None and inner.call_id is not None:
        found.spawn = Spawn(inner.call_id, agent, type=inner.new_agent_role)
    return [found]


_TOLD = {"user_message": (CHAT, USER, AGENT), "agent_message": (CHAT, AGENT, USER)}


def _event_copy(sort: str, inner: Inner) -> DerivedMessage:
    """Returns a text that nearly all files contain as an item, too."""
    text = inner.message or inner.text
    if sort not in _TOLD:
        return _thought(text, EVENT)
    kind, sender, to = _TOLD[sort]
    machine = sender == USER and head_of(text, _LONGEST_MARK).startswith(_MACHINE_BYTES)
    mark = ThreadMark(channel=EVENT, prompt=sender == USER and not machine) if text else None
    return DerivedMessage(kind, PROGRAM if machine else sender, (to,), content=text, thread=mark)


_UNDONE = ("failed", "declined")
_COMPLETED = {
    "UserMessage": (CHAT, USER, AGENT),
    "AgentMessage": (CHAT, AGENT, USER),
    "Reasoning": (THOUGHT, AGENT, ""),
}


def _completed(inner: Inner) -> DerivedMessage:
    """Returns a paginated file's repetition of a completed item."""
    # Newer files repeat completed items; the channel tells that it is a repetition.
    item = inner.item
    assert item is not None
    if item.type not in _COMPLETED:
        found = _control(item.type or "item_completed")
        found.correlation = item.id
        if item.id is not None and (item.status in _UNDONE or (item.exit_code or 0) != 0):
            found.thread = ThreadMark(failed_call=item.id)
        if item.agent_thread_id is not None:
            found.spawn = Spawn(item.id, item.agent_thread_id)
        return found
    kind, sender, to = _COMPLETED[item.type]
    text = _only_text(item.content) or _only_text(item.summary_text) or item.text
    mark = ThreadMark(channel="completed", prompt=sender == USER) if text else None
    return DerivedMessage(kind, sender, (to,) if to else None, content=text, thread=mark)


def _only_text(raw: msgspec.Raw) -> msgspec.Raw:
    """Returns the single text of a list of blocks or texts; empty for others."""
    if not raw:
        return raw
    value = decode_raw(raw)
    one = value[0] if isinstance(value, list) and len(value) == 1 else value
    text = one.get("text") if isinstance(one, dict) else one
    return msgspec.Raw(msgspec.json.encode(text)) if isinstance(text, str) else msgspec.Raw(b"")


def _tokens(inner: Inner, line: Line) -> DerivedMessage:
    """Returns a count of tokens; an equal total is the same call again."""
    found = _control("token_count")
    info = inner.info
    if info is not None and info.last_token_usage is not None:
        total = info.total_token_usage
        found.call = api_call(info.last_token_usage, total, line)
        held, window = _number(info.last_token_usage.total_tokens), _number(info.model_context_window)
        if window and held >= NEARLY_FULL * window:
            found.context_fill = held, window
    return found


NEARLY_FULL = 0.9
"""Share of a model's context from which it counts as full."""


def api_call(usage: Counts, total: Counts | None, line: Line) -> ApiCall:
    """Returns a model call; its model and thread are resolved later."""
    if total is None:
        identifier = f"at {line.timestamp} {line.ordinal}"
    else:
        identifier = f"after {total.input_tokens} {total.output_tokens} {total.total_tokens}"
    read, written = _number(usage.cached_input_tokens), _number(usage.cache_write_input_tokens)
    return ApiCall(
        identifier, None, has_usage=True, input=max(_number(usage.input_tokens) - read - written, 0),
        output=_number(usage.output_tokens), cache_read=read, cache_write=written,
    )  # fmt: skip


def _number(given: int | None) -> int:
    return min(max(given or 0, 0), _MOST)


# Other records


def _header(inner: Inner) -> list[DerivedMessage]:
    """Returns the thread's header row, and a message for its instructions."""
    # The header places the thread: its session, its parent, and the end of copied history.
    mark = ThreadMark(
        identifier=inner.id or "",
        space=inner.session_id,
        first_own=inner.subagent_history_start_ordinal,
        forked_from=inner.forked_from_id,
        **_origin(inner),
    )
    found = [_control("session_meta", thread=mark)]
    instructions = inner.base_instructions if head_of(inner.base_instructions) == b"{" else inner.instructions
    if head_of(instructions) in (b"{", b'"') and len(instructions) > len('""'):
        derived = DerivedMessage(CHAT, PROGRAM, (AGENT,), content=instructions, size=len(instructions))
        derived.thread = ThreadMark(channel=HEADER)
        found.append(derived)
    return found


def _origin(inner: Inner) -> dict[str, Any]:
    """Returns the origin of a thread, as far as recorded."""
    source = decode_raw(inner.source) if head_of(inner.source) == b"{" else None
    sub_agent = source.get("subagent") if isinstance(source, dict) else None
    if sub_agent is None and inner.parent_thread_id is None:
        return {}
    spawn = sub_agent.get("thread_spawn") if isinstance(sub_agent, dict) else None
    spawn = spawn if isinstance(spawn, dict) else {}
    role = sub_agent if isinstance(sub_agent, str) else spawn.get("agent_role") or spawn.get("agent_nickname")
    return {
        "parent": inner.parent_thread_id or _text(spawn.get("parent_thread_id")) or "",
        "agent_type": _text(role),
        "label": _text(spawn.get("agent_path")),
    }


def _other_records(line: Line, inner: Inner) -> list[DerivedMessage]:
    if line.type == "turn_context":
        return [_control("turn_context", thread=ThreadMark(turn=inner.turn_id, model=inner.model))]
    if line.type == "compacted":
        return [DerivedMessage(COMPACTED, AGENT, (PROGRAM,), content=inner.message)]
    found = _control(line.type or "record")
    if line.type == "token_usage_record" and inner.usage is not None:
        found.call = api_call(inner.usage, inner.thread_token_usage, line)
    return [found]


def _control(name: str, thread: ThreadMark | None = None) -> DerivedMessage:
    """Returns a row of its own for a record without a message: its name, its time, its place."""
    return DerivedMessage(NAMESPACE + name, PROGRAM, thread=thread)
