"""Derives the messages of a Claude Code record (docs/transcripts.md): one per content block.

Senders are `user`; the model's agent, `claude`, or its name in a team, or `agent#<id>` for a sub-agent; `tools`, or
`mcp:<server>` for tools of an MCP server; and `claude-code` for additions of the program itself.
"""

from __future__ import annotations

import re

import msgspec

from inspector.formats.claude_code import tools
from inspector.formats.claude_code.records import (
    REQUEST_TYPES,
    Block,
    Line,
    Message,
    ToolUseResult,
    first_text,
    result_of,
    spawning_of,
)
from inspector.formats.claude_code.tools import INTERRUPTED
from inspector.formats.declined_results import is_declined
from inspector.formats.entry_builders import tool_owner
from inspector.protocol import kinds
from inspector.protocol.derived_messages import (
    MAX_DERIVED_MESSAGES,
    MODEL_PREFIX,
    USER_PREFIX,
    ApiCall,
    Chain,
    DerivedMessage,
    Spawn,
)
from inspector.protocol.json_values import decode_text, json_text
from inspector.protocol.timestamps import parse_text_time

USER, AGENT, TOOLS, PROGRAM = "user", "claude", "tools", "claude-code"
NAMESPACE = "claude/"
"""Prefix of kinds without a participant's text: bookkeeping, ticks, and unknown records."""
SYNTHETIC = "<synthetic>"
"""Model name of the program's own texts."""

CHAT, THOUGHT, ERROR, STOPPED = "chat", "reasoning/thought", "system/error", "reasoning/cancel"
COMPACT, COMPACTED, FORGET = "participant/compact", "participant/compact-done", "participant/forget"

_STARTING = ("Task", "Agent")
PROGRAM_TEXT_STARTS = tools.TOOLS.program_texts
"""Beginnings of user texts that the program wrote."""
_MACHINE_BYTES = tuple(b'"' + text.encode() for text in PROGRAM_TEXT_STARTS)
_MATE_BYTES = b'"<teammate-message'
_INTERRUPTED_BYTES = b'"' + INTERRUPTED.encode()
_LONGEST_MARK = max(map(len, _MACHINE_BYTES))
_QUIET_ATTACHMENTS = ("hook_success", "hook_cancelled", "hook_non_blocking_error", "hook_system_message")
"""Attachments outside the context."""


def derive_messages(line: Line) -> tuple[DerivedMessage, ...]:
    """Returns the messages of a record, at least one."""
    if line.type in REQUEST_TYPES:
        return _requested(line)
    return _by_type(line) if line.message is None or line.type not in ("user", "assistant") else _spoken(line)


def agent_of(line: Line) -> str:
    """Returns the name of the record's agent."""
    if line.isSidechain:
        return "agent" if line.agentId is None else f"agent#{line.agentId}"
    return line.agentName or AGENT


def _context(line: Line) -> str | None:
    return line.agentId if line.isSidechain and line.agentId else None


def _assigning_participant(line: Line) -> str:
    """Returns the participant that assigns tasks to the record's agent, and receives its answers."""
    return AGENT if line.isSidechain else USER


def _spoken(line: Line) -> tuple[DerivedMessage, ...]:
    """Returns the messages of a user or an agent, one per block."""
    message = line.message
    assert message is not None
    content = message.content
    if isinstance(content, str):
        machine = content.startswith(PROGRAM_TEXT_STARTS) and _COMMAND.match(content, 0, _LONGEST_NOTICE) is None
        found = [_of_text(line, machine, stopped=content.startswith(INTERRUPTED))]
        _name_mate(found[0], content)
        found[0].content = content.encode("utf-8", "surrogatepass")
        _note_words(line, found[0], found[0].content and json_text(content))
        found[0].spawn = _notified(content) if line.type == "user" else None
    elif content and len(content) <= MAX_DERIVED_MESSAGES:
        found = [_of_block(line, block) for block in content]
    else:
        found = [_control(line, line.type if content is None else f"{line.type} of {len(content):,} blocks")]
    _chain(line, found)
    # A record is one model call, whatever its number of blocks.
    if line.type == "assistant":
        found[-1].call = _api_call(line, message)
        found[-1].cost = line.costUSD
        for one in found[:-1]:
            one.call = ApiCall(found[-1].call.identifier, found[-1].call.model)
    return tuple(found)


def _chain(line: Line, found: list[DerivedMessage]) -> None:
    """Assigns ids to a record's messages, and links each to the one before."""
    time_ns = parse_text_time(line.timestamp)
    before = line.logicalParentUuid or line.parentUuid
    last = len(found) - 1
    for place, one in enumerate(found):
        one.time_ns = time_ns
        one.context = one.context or _context(line)
        # The last block has the record's own id, which the next record names.
        own = line.uuid if place == last or line.uuid is None else f"{line.uuid}#{place + 1}"
        if one.identifier is None:
            one.identifier = own
        elif place == last:
            # The block's own id comes first; the record's one leads to it.
            one.record_id = line.uuid
        if one.correlation is None:
            one.correlation = before
        before = one.identifier or before
        if place and not one.size:
            one.size = 1
    # Older versions write sub-agents into the session's file, without their name.
    if line.isSidechain and line.uuid is not None:
        first = found[0]
        begins = line.parentUuid is None and line.type == "user" and first.kind == CHAT
        if line.agentId is None or begins:
            chain = Chain(line.uuid, line.parentUuid, _prompt(line) if begins else None)
            for one in found:
                one.chain = chain


def _prompt(line: Line) -> str | None:
    content = line.message.content if line.message is not None else None
    if isinstance(content, str):
        return content
    return decode_text(content[0].text) if content else None


def _of_text(line: Line, machine: bool, *, stopped: bool = False) -> DerivedMessage:
    """Returns the message of a record with a single text."""
    agent = agent_of(line)
    if line.type == "assistant":
        return _of_agent(line, CHAT)
    if line.isCompactSummary:
        return DerivedMessage(COMPACTED, agent, (PROGRAM,))
    if stopped:
        return DerivedMessage(STOPPED, PROGRAM, (agent,))
    return DerivedMessage(CHAT, PROGRAM if machine or line.isMeta else _assigning_participant(line), (agent,))


_COMMAND = re.compile(
    r"<command-message>[^<]{0,200}</command-message>\s{0,40}<command-name>/[^<]{1,200}</command-name>\s{0,40}"
    r"<command-args>\s*[^\s<]"
)
"""A slash command with arguments for the model. Commands of the program itself begin with their name."""
_MATE = re.compile(r'<teammate-message [^<>]{0,200}?teammate_id="([^"<>]{1,120})"')
_MATE_START = "<teammate-message"
"""A message of another agent of the team."""
_NOTICE = "<task-notification>"
_TASK = re.compile(r"<task-id>([^<]{1,200})</task-id>")
_FAILED = re.compile(r"<status>(?:failed|killed|error|cancelled)</status>")


def _notified(text: str) -> Spawn | None:
    """Returns the end of a background sub-agent that the program reports."""
    task = _TASK.search(text, 0, _LONGEST_NOTICE) if text.startswith(_NOTICE) else None
    if task is None:
        return None
    return Spawn(agent=task[1], has_ended=True, has_failed=_FAILED.search(text, 0, _LONGEST_NOTICE) is not None)


_LONGEST_NOTICE = 4_000


def _name_mate(found: DerivedMessage, text: str) -> None:
    """Sets another agent of the team as the sender of its message, which the program writes."""
    mate = _MATE.match(text) if found.sender == PROGRAM and text.startswith(_MATE_START) else None
    found.sender = mate[1] if mate is not None else found.sender


def _of_agent(line: Line, kind: str) -> DerivedMessage:
    """Returns a text of the model, or of the program in its place."""
    if line.isApiErrorMessage:
        return DerivedMessage(ERROR, PROGRAM, (agent_of(line),), failed=True)
    if line.message is not None and line.message.model == SYNTHETIC:
        return DerivedMessage(CHAT, PROGRAM, (_assigning_participant(line),))
    return DerivedMessage(kind, agent_of(line), (_assigning_participant(line),))


def _of_block(line: Line, block: Block) -> DerivedMessage:
    made = _BLOCKS.get(block.type or "")
    if made is not None:
        found = made(line, block)
    elif block.type is not None and block.type.endswith("_tool_result"):
        found = _result(line, block)
    else:
        found = _control(line, block.type or "block")
    parts = (block.text, block.thinking, block.input, block.content, block.source)
    # The longest part is the content; others are names.
    written = max(parts, key=len)
    found.content = written
    _note_words(line, found, block.text or block.thinking)
    found.size = sum(map(len, parts)) or 1
    return found


def _note_words(line: Line, meaning: DerivedMessage, text: msgspec.Raw | bytes) -> None:
    """Records the text of a user or the model, as in the model's request or answer."""
    if text and meaning.kind in (CHAT, THOUGHT) and meaning.sender != PROGRAM:
        meaning.matched_text = (MODEL_PREFIX if line.type == "assistant" else USER_PREFIX) + bytes(text)


def _text(line: Line, block: Block) -> DerivedMessage:
    head = bytes(memoryview(block.text)[:_LONGEST_MARK])
    found = _of_text(line, head.startswith(_MACHINE_BYTES), stopped=head.startswith(_INTERRUPTED_BYTES))
    if line.type == "assistant" and line.isSidechain:
        found.shared_text = decode_text(block.text)
    if head.startswith(_MATE_BYTES):
        _name_mate(found, decode_text(block.text) or "")
    return found


def _thinking(line: Line, _block: Block) -> DerivedMessage:
    return DerivedMessage(THOUGHT, agent_of(line))


def _picture(line: Line, _block: Block) -> DerivedMessage:
    return _of_text(line, machine=False)


def _call(line: Line, block: Block) -> DerivedMessage:
    agent, spawn = agent_of(line), None
    if block.name in _STARTING:
        asked = spawning_of(block.input)
        spawn = Spawn(block.id or line.uuid, None, _context(line), asked.description, asked.subagent_type, asked.prompt)
    # A call of iFlow may occur in several records, each time with the calls before it.
    identity = f"{line.sessionId}\0{block.id}".encode("utf-8", "replace") if line.is_of_iflow and block.id else b""
    return DerivedMessage(
        kinds.REQUEST, agent, (tool_owner(block.name),), identifier=block.id, method="tools/call", target=block.name,
        spawn=spawn, identity=identity,
    )  # fmt: skip


def _result(line: Line, block: Block) -> DerivedMessage:
    spawn, echo = None, None
    told = result_of(line.toolUseResult)
    if told is not None and (told.agentId is not None or told.totalToolUseCount is not None):
        spawn = _spawned(line, block, told)
        echo = first_text(block.content)
    elif line.is_printed and block.tool_use_id is not None:
        # In a printed stream, the call's id names the sub-agent.
        spawn = Spawn(agent=block.tool_use_id, has_ended=True, has_failed=block.is_error is True)
    failed = block.is_error is True
    declined = failed and _is_declined(line, first_text(block.content) or "")
    if line.is_of_iflow and told is not None:
        failed, declined = failed or told.status == _IFLOW_ERROR, declined or told.status == _IFLOW_CANCELLED
    took = told.durationMs if told is not None and told.durationMs is not None else -1
    return DerivedMessage(
        kinds.RESPONSE, TOOLS, (agent_of(line),), correlation=block.tool_use_id, failed=failed and not declined,
        declined=declined, took_ns=took * 1_000_000 if 0 <= took < _MAX_NUMBER else -1, spawn=spawn, shared_text=echo,
    )  # fmt: skip


_IFLOW_ERROR, _IFLOW_CANCELLED = "error", "cancelled"
"""States of results in iFlow's sessions."""


def _is_declined(line: Line, text: str) -> bool:
    """Returns True if the user declined a call; tools may print the same words.

    The program's own value beside the result tells: an object is of a tool that ran, a text is the refusal.
    """
    if not line.toolUseResult:
        return is_declined(text, bare=True)
    told = decode_text(line.toolUseResult)
    return told is not None and is_declined(told)


def _spawned(line: Line, block: Block, told: ToolUseResult) -> Spawn:
    ended = not told.isAsync and told.status != "async_launched"
    return Spawn(block.tool_use_id, told.agentId, _context(line), has_ended=ended, has_failed=block.is_error is True)


_BLOCKS = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "image": _picture,
    "document": _picture,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
}


def _api_call(line: Line, message: Message) -> ApiCall:
    identifier = message.id or line.uuid or ""
    model = message.model if message.model != SYNTHETIC else None
    usage = message.usage
    # A synthetic message is written by the program, so it has no model and no tokens.
    if usage is None or message.model == SYNTHETIC:
        return ApiCall(identifier if message.model != SYNTHETIC else "", model)
    given = (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    hour = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation is not None else 0
    # Bounded, since the columns have a fixed width.
    tokens, made, read, written, hour = (min(max(number or 0, 0), _MAX_NUMBER) for number in (*given, hour))
    return ApiCall(
        identifier, model, has_usage=True, input=tokens, output=made, cache_read=read, cache_write=written,
        cache_write_1h=min(hour, written), is_incomplete=_is_placeholder(line, message, made),
    )  # fmt: skip


_MOST_AT_FIRST = 8
"""Largest output token count that the API reports at the beginning of an answer."""
_BYTES_OF_TOKEN = 8
"""Upper bound of bytes per token, on average."""


_COMPLETE_SINCE = (2, 1, 80)
"""First version with complete counts in all known sessions; those up to 2.1.33 lack them."""


def _is_placeholder(line: Line, message: Message, output: int) -> bool:
    """Returns True for a preliminary count: the answer has not stopped and has more content than the tokens allow.

    The version decides first: later ones record the count when the answer has ended. Any tool call takes more tokens
    than the API reports at the beginning.
    """
    if bytes(message.stop_reason) != b"null" or not isinstance(message.content, list):
        return False
    if _version(line) >= _COMPLETE_SINCE:
        return False
    if output <= _MOST_AT_FIRST and any(block.type == "tool_use" for block in message.content):
        return True
    sizes = (max(len(block.text), len(block.thinking), len(block.input)) - 2 for block in message.content)
    return sum(sizes) > _BYTES_OF_TOKEN * output


def _version(line: Line) -> tuple[int, ...]:
    """Returns the version of the program by its parts; empty if it is unknown."""
    found = _VERSION.match(line.version) if line.version else None
    return tuple(map(int, found.groups())) if found is not None else ()


_VERSION = re.compile(rb'"(\d{1,6})\.(\d{1,6})\.(\d{1,6})')


_MAX_NUMBER = 1 << 40


# Records without a participant's text


def _by_type(line: Line) -> tuple[DerivedMessage, ...]:
    made = _TYPES.get(line.type)
    found = made(line) if made is not None else _control(line, line.type)
    total = line.totalCostUSD if line.totalCostUSD is not None else line.total_cost_usd
    found.cost, found.is_total = total, total is not None
    _chain(line, [found])
    return (found,)


def _requested(line: Line) -> tuple[DerivedMessage, ...]:
    """Returns a row for a request to the model, and one for each block in it."""
    # The row of the request itself; its blocks follow.
    found = [_control(line, line.type)]
    if line.type == "api-request":
        found[0].identifier = line.id
    elif line.type == "api-request-shape":
        system = line.shape.system if line.shape is not None else None
        count = len(system) if isinstance(system, list) else int(system is not None)
        found += [_control(line, SENT_PROMPT) for _ in range(min(count, MAX_DERIVED_MESSAGES - 1))]
    else:
        content = line.message.content if line.message is not None else None
        count = len(content) if isinstance(content, list) else int(content is not None)
        found += [_control(line, SENT_BLOCK) for _ in range(min(count, MAX_DERIVED_MESSAGES - 1))]
    time_ns = parse_text_time(line.timestamp)
    for one in found:
        one.time_ns, one.context = time_ns, _context(line)
    for one in found[1:]:
        one.size = 1
    return tuple(found)


SENT_PROMPT, SENT_BLOCK = "sent-system-prompt", "sent-message"
"""Kinds of blocks that were sent to the model and are not in the session otherwise."""


def _control(line: Line, name: str) -> DerivedMessage:
    """Returns a row of its own for a record without a message: its name, its time, its place."""
    return DerivedMessage(NAMESPACE + name, PROGRAM, identifier=line.uuid)


def _system(line: Line) -> DerivedMessage:
    subtype = line.subtype or "system"
    agent = (agent_of(line),)
    if subtype == "compact_boundary":
        told = line.compactMetadata
        by_itself = told is not None and told.trigger == "auto"
        # Only an automatic compaction tells how full the context was.
        filled = (min(max(told.preTokens or 0, 0), _MAX_NUMBER), 0) if told is not None and by_itself else None
        return DerivedMessage(COMPACT, PROGRAM, agent, identifier=line.uuid, context_fill=filled)
    if subtype == "microcompact_boundary":
        return DerivedMessage(FORGET, PROGRAM, agent, identifier=line.uuid)
    if subtype in ("api_error", "error"):
        return DerivedMessage(ERROR, PROGRAM, agent, identifier=line.uuid, failed=True)
    return _control(line, subtype)


def _progress(line: Line) -> DerivedMessage:
    data = line.data
    name = data.type if data is not None and data.type else "progress"
    found = _control(line, name)
    found.correlation = line.parentToolUseID or line.toolUseID
    found.is_progress = name in _TICKS and found.correlation is not None
    if name == "agent_progress" and data is not None and data.agentId:
        found.context, found.sender = data.agentId, f"agent#{data.agentId}"
        found.spawn = Spawn(line.parentToolUseID, data.agentId, _context(line))
    return found


_TICKS = ("bash_progress", "mcp_progress", "query_update", "search_results_received", "waiting_for_task")
"""Repetitive progress."""


def _attachment(line: Line) -> DerivedMessage:
    about = line.attachment
    name = about.type if about is not None and about.type else "attachment"
    if name in _QUIET_ATTACHMENTS:
        return _control(line, name)
    if about is not None and name == "queued_command":
        machine = bytes(memoryview(about.prompt)[:_LONGEST_MARK]).startswith(_MACHINE_BYTES)
        found = DerivedMessage(
            CHAT, PROGRAM if machine else _assigning_participant(line), (agent_of(line),), identifier=line.uuid
        )
        prompt = decode_text(about.prompt) or "" if machine else ""
        found.spawn = _notified(prompt)
        _name_mate(found, prompt)
        return found
    return DerivedMessage(CHAT, PROGRAM, (agent_of(line),), identifier=line.uuid)


_TYPES = {"system": _system, "progress": _progress, "attachment": _attachment}
