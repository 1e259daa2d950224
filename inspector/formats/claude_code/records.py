"""Decodes one record of a Claude Code session, as far as columns need it.

Nearly every record fits the struct. Others (an unexpected type, half a surrogate) are decoded by Python member by
member. The shapes have no published schema; they come from files of 1.0 to 2.1 and grow with each version. So every
member may be missing and every type may be new.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

from inspector.protocol.header import MAX_LENIENT, decode_object
from inspector.protocol.json_values import NO_RAW, decode_one

_Struct = TypeVar("_Struct", bound=msgspec.Struct)

CHAINED_TYPES = frozenset({"user", "assistant", "system", "progress", "attachment"})
"""Types of records with an id and a predecessor."""
UNCHAINED_TYPES = frozenset(
    {
        "summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title", "last-prompt", "mode",
        "permission-mode", "agent-name", "agent-setting", "agent-color", "tag", "pr-link", "frame-link",
        "worktree-state", "relocated", "bridge-session", "atis-latch", "tools-used", "cost-state",
        "api-request-shape",
        "api-request-blob", "api-request",
    }
)  # fmt: skip
"""Types of records without them."""
REQUEST_TYPES = ("api-request-shape", "api-request-blob", "api-request")
"""Records about requests to the model: tools and system prompt, unrecorded messages, and the order of all."""


class CacheCreation(msgspec.Struct, gc=False):
    """Lifetimes of tokens written to a cache."""

    ephemeral_1h_input_tokens: int | None = None


class Usage(msgspec.Struct, gc=False):
    """Tokens of one model call, as the API reports them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None


class Block(msgspec.Struct, gc=False):
    """A content block. `Raw` values contain the bytes as written, empty if the key is absent."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    text: msgspec.Raw = NO_RAW
    thinking: msgspec.Raw = NO_RAW
    input: msgspec.Raw = NO_RAW
    content: msgspec.Raw = NO_RAW
    source: msgspec.Raw = NO_RAW


class Message(msgspec.Struct, gc=False):
    """A message to or from the model's API."""

    content: list[Block] | str | None = None
    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stop_reason: msgspec.Raw = NO_RAW
    parts: msgspec.Raw = NO_RAW
    """Replaces `content` in sessions of Qwen Code, whose records look alike."""


class Data(msgspec.Struct, gc=False):
    """Subject of a progress record, or of an attachment."""

    type: str | None = None
    agentId: str | None = None
    status: str | None = None
    prompt: msgspec.Raw = NO_RAW


class Compaction(msgspec.Struct, gc=False):
    """Reason and size of a compaction."""

    trigger: str | None = None
    preTokens: int | None = None


class ToolUseResult(msgspec.Struct, gc=False):
    """The program's own copy of a tool's result, as far as it concerns sub-agents."""

    agentId: str | None = None
    isAsync: bool | None = None
    status: str | None = None
    totalToolUseCount: int | None = None
    durationMs: int | None = None


class ApiShape(msgspec.Struct, gc=False):
    """Common part of requests to the model."""

    system: list[msgspec.Raw] | str | None = None


class Line(msgspec.Struct, gc=False):
    """One record."""

    type: str
    id: str | None = None
    """Of a request to the model."""
    shape: ApiShape | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    sessionId: str | None = None
    version: msgspec.Raw = NO_RAW
    session_id: str | None = None
    timestamp: str | None = None
    isSidechain: bool | None = None
    agentId: str | None = None
    agentName: str | None = None
    leafUuid: str | None = None
    message: Message | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    subtype: str | None = None
    content: msgspec.Raw = NO_RAW
    data: Data | None = None
    attachment: Data | None = None
    toolUseResult: msgspec.Raw = NO_RAW
    parentToolUseID: str | None = None
    toolUseID: str | None = None
    parent_tool_use_id: str | None = None
    """In the output of `claude -p --output-format stream-json`: the call that started the record's agent."""
    logicalParentUuid: str | None = None
    messageId: str | None = None
    compactMetadata: Compaction | None = None
    key: str | None = None
    costUSD: float | None = None
    totalCostUSD: float | None = None
    total_cost_usd: float | None = None
    systemPayload: msgspec.Raw = NO_RAW

    @property
    def is_of_iflow(self) -> bool:
        """True for a record of iFlow: it may repeat calls of the records before it."""
        return self.sessionId is not None and self.sessionId.startswith(_OF_IFLOW)

    @property
    def is_of_qwen(self) -> bool:
        """True for a record of Qwen Code."""
        return bool(self.systemPayload) or (self.message is not None and bool(self.message.parts))

    @property
    def is_printed(self) -> bool:
        """True for printed output, in contrast to a session's file: sub-agents are named by their calls then."""
        return self.sessionId is None and self.session_id is not None

    @property
    def session(self) -> str | None:
        """Session of the record."""
        return self.sessionId or self.session_id


_decode = msgspec.json.Decoder(Line).decode
_OF_IFLOW = "session-"
"""Beginning of the ids of iFlow's sessions, whose records have this program's form."""
_BRACE = ord("{")
_decode_result = msgspec.json.Decoder(ToolUseResult).decode
_MARKS = (b'"sessionId"', b'"agentId"', b'"leafUuid"', b'"parentUuid"', b'"isSnapshotUpdate"', b'"session_id"')
"""Every record has one of these keys."""


def is_claude(line: bytes) -> bool:
    """Returns True if a line is worth decoding; excludes most other lines."""
    return line[:1] == b"{" and b'"type"' in line and any(mark in line for mark in _MARKS)


def read_claude(line: bytes, *, unknown: bool = False) -> Line | None:
    """Decodes a record if it is one of a session. Never raises.

    Args:
        line: the record.
        unknown: accept an unknown type too.
    """
    found = decode_one(_decode, line) or _read_leniently(line)
    if found is not None and found.parent_tool_use_id and found.agentId is None:
        found.isSidechain, found.agentId = True, found.parent_tool_use_id
    if found is not None and found.type in REQUEST_TYPES and found.agentId is not None:
        found.isSidechain = True
    if found is not None and found.is_of_qwen:
        return None
    if found is None or _is_record(found):
        return found
    return found if unknown and is_of_unknown_type(line, found) else None


def _is_record(line: Line) -> bool:
    """Returns True for a record of Claude Code."""
    if line.type in CHAINED_TYPES and line.uuid is not None:
        return line.session is not None or line.isSidechain is not None
    if line.type == "summary":
        return line.leafUuid is not None
    if line.type == "file-history-snapshot":
        return line.messageId is not None
    if line.type in _JOURNAL:
        return line.agentId is not None and line.key is not None
    return line.session is not None and line.type in UNCHAINED_TYPES


def is_of_unknown_type(line: bytes, found: Line) -> bool:
    """Returns True if a line without another format is a record of a newer type."""
    if found.session is None or _TYPE.fullmatch(found.type) is None:
        return False
    return (found.uuid is not None and b'"parentUuid"' in line) or _SESSION.fullmatch(found.session) is not None


_JOURNAL = ("started", "result")
_TYPE = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,60}")
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _read_leniently(line: bytes) -> Line | None:
    """Decodes a record that the fast decoder refuses, member by member; a member of another type counts as absent."""
    # Slow, so longer records are given up.
    value = decode_object(line) if len(line) <= MAX_LENIENT else {}
    if not isinstance(value.get("type"), str):
        return None
    found = _filled(Line, value)
    if isinstance(message := value.get("message"), dict):
        found.message = _filled(Message, message)
        content = message.get("content")
        if isinstance(content, list):
            found.message.content = [_filled(Block, block if isinstance(block, dict) else {}) for block in content]
        elif isinstance(content, str):
            found.message.content = content
        if isinstance(usage := message.get("usage"), dict):
            found.message.usage = _filled(Usage, usage)
    for name, struct in (("data", Data), ("attachment", Data), ("compactMetadata", Compaction), ("shape", ApiShape)):
        if isinstance(inner := value.get(name), dict):
            setattr(found, name, _filled(struct, inner))
    return found


_PLAIN = {"str": str, "int": int, "bool": bool}


def _filled(struct: type[_Struct], given: dict[str, Any]) -> _Struct:
    """Returns a struct with the members of decoded JSON that have the right type."""
    found = struct(**({"type": given["type"]} if struct is Line else {}))
    for name, annotation in struct.__annotations__.items():
        value = given.get(name)
        wanted = _PLAIN.get(str(annotation).partition(" ")[0])
        if "Raw" in str(annotation):
            if name in given:
                setattr(found, name, msgspec.Raw(_written(value)))
        elif wanted is not None and isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool)):
            setattr(found, name, value)
    return found


def _written(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except RecursionError:
        return b"null"


_TOLD = (b'"agentId"', b'"totalToolUseCount"', b'"durationMs"', b'"toolName"')
"""Members with facts about a result; the last one is of iFlow."""


def result_of(raw: msgspec.Raw) -> ToolUseResult | None:
    """Returns the program's facts about a tool's result; None unless they are an object with the right types."""
    if not raw or memoryview(raw)[0] != _BRACE:
        return None
    written = bytes(raw)
    if not any(key in written for key in _TOLD):
        return None
    return decode_one(_decode_result, raw)


class _Spawning(msgspec.Struct, gc=False):
    prompt: str | None = None
    description: str | None = None
    subagent_type: str | None = None


_decode_spawning = msgspec.json.Decoder(_Spawning).decode


def spawning_of(raw: msgspec.Raw) -> _Spawning:
    """Returns the facts of a call that starts a sub-agent."""
    return decode_one(_decode_spawning, raw) or _Spawning()


class _TextBlock(msgspec.Struct, gc=False):
    text: str | None = None


_decode_texts = msgspec.json.Decoder(list[_TextBlock] | str).decode


def first_text(raw: msgspec.Raw) -> str | None:
    """Returns the first text of a result's content."""
    found = decode_one(_decode_texts, raw)
    return next((one.text for one in found if one.text is not None), None) if isinstance(found, list) else found
