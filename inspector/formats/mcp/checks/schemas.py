"""Validates arguments and results against listed schemas, in slices."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, NamedTuple

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import WARNING, Check
from inspector.base.slices import SlicedWork
from inspector.formats.mcp.checks.conversations import McpMessage, McpRequest, add_finding
from inspector.formats.mcp.checks.tools import ToolLists
from inspector.protocol import schema_validation
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.mcp_definitions import Definition
from inspector.protocol.schema_validation import MAX_VALUE_BYTES, Mismatch, Schema
from inspector.protocol.secrets.masking import is_secret_key
from inspector.store.columns.hashes import NO_ROW

ARGUMENTS = Check(
    "mcp-arguments-invalid", WARNING, "Arguments violate the tool's schema",
    "{detail}.",
    "The server refuses them or guesses their meaning.",
    "Make the client check arguments against inputSchema and report errors to the model.",
    "MCP 2025-11-25, Tools: servers must check inputs; SEP-1303",
    example="`weigh` was called with `kg` = \"two\"; its schema asks for a number",
)  # fmt: skip
STRUCTURED = Check(
    "mcp-structured-invalid", WARNING, "Structured result violates the tool's schema",
    "{detail}.",
    "Clients that check it refuse the result; other clients continue with unexpected data.",
    "Correct the tool's result or its outputSchema.",
    "MCP 2025-06-18, Tools, output schema: servers must conform to it",
    example="`weigh` answered `kg` = \"two\"; it promised a number",
)  # fmt: skip
CHECKS = (ARGUMENTS, STRUCTURED)

_OUTPUTS_SINCE = "2025-06-18"
_BATCH_BUDGET_S = 0.01
"""Seconds of validation per batch, so that a live finding comes with its message."""
_MAX_QUEUED_BYTES = 1 << 25
"""Bytes of queued values, at most."""
_CHECKED = {"arguments": ARGUMENTS, "result": STRUCTURED}


class _QueuedValue(NamedTuple):
    row: int
    what: str
    tool: Definition
    raw: bytes
    listed: int


class SchemaValidation:
    """Validates values; compiles each schema once.

    Args:
        tools: listed tools.
    """

    def __init__(self, tools: ToolLists) -> None:
        self._tools = tools
        self._compiled: dict[tuple[int, str], tuple[Definition, Schema]] = {}  # by id of the definition
        self._queue: deque[_QueuedValue] = deque()
        self._bytes = 0

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Accepts tool calls and their results."""
        return method == "tools/call" or (answer and method == "tasks/result")

    def on_message(self, heard: McpMessage) -> None:
        """Queues arguments and results."""
        note = heard.note
        if note is None:
            return
        if note.method == "tools/call" and note.params is not None and not heard.by_server:
            tool = self._definition(heard, note.params.name)
            raw = bytes(note.params.arguments) or b"{}"
            if tool is not None and tool.input_schema is not None:
                self._enqueue(_QueuedValue(heard.row, "arguments", tool, raw, self._list_row(heard)))
        elif note.result is not None and heard.asked is not None:
            self._answered(heard)

    def _answered(self, heard: McpMessage) -> None:
        result = heard.note.result if heard.note is not None else None
        call = _tool_call(heard)
        if result is None or call is None or result.is_error is True:
            return
        if result.type not in (None, "complete") or result.task is not None or result.task_id is not None:
            return
        tool = self._definition(heard, call.name)
        if tool is None or tool.output_schema is None or _version(heard) < _OUTPUTS_SINCE:
            return
        raw = bytes(result.structured)
        if raw and raw != b"null":
            self._enqueue(_QueuedValue(heard.row, "result", tool, raw, self._list_row(heard)))
        elif self._schema(tool, "result").can_validate:
            words = f"`{tool.name[:48]}` answered without structuredContent, but it has an outputSchema"
            heard.report(STRUCTURED, words, other=self._list_row(heard))

    def _definition(self, heard: McpMessage, name: Any) -> Definition | None:
        tool_list = self._tools.lists.get((heard.conversation.key, heard.modern))
        return tool_list.definition(name) if tool_list is not None and isinstance(name, str) else None

    def _list_row(self, heard: McpMessage) -> int:
        tool_list = self._tools.lists.get((heard.conversation.key, heard.modern))
        return tool_list.row if tool_list is not None else NO_ROW

    def _enqueue(self, one: _QueuedValue) -> None:
        if len(one.raw) <= MAX_VALUE_BYTES:
            self._queue.append(one)
            self._bytes += len(one.raw)

    def feed(self, batch: Batch) -> None:
        """Validates a little, or more if the queue is large. The very first validation is left to `deferred_checks`."""
        # Importing and building the validators takes longer than a slice of the event loop.
        if not schema_validation.are_validators_loaded() and self._bytes <= _MAX_QUEUED_BYTES:
            return
        until = time.perf_counter() + _BATCH_BUDGET_S
        while self._queue and (time.perf_counter() < until or self._bytes > _MAX_QUEUED_BYTES):
            self._validate(batch, self._queue.popleft())

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Validates queued values."""
        if self._queue and not schema_validation.are_validators_loaded():
            schema_validation.load_validators()
            yield
        while self._queue:
            self._validate(batch, self._queue.popleft())
            yield

    def _validate(self, batch: Batch, one: _QueuedValue) -> None:
        self._bytes -= len(one.raw)
        try:
            # Wrapped, as the decoder takes only objects.
            value = decode_json(b'{"v":' + one.raw + b"}")
        except NotAnObjectError:
            return
        found = self._schema(one.tool, one.what).find_mismatch(value.get("v") if isinstance(value, dict) else None)
        if found is not None:
            add_finding(batch, _CHECKED[one.what], one.row, _describe_mismatch(one, found), other=one.listed)

    def _schema(self, tool: Definition, what: str) -> Schema:
        known = self._compiled.get((id(tool), what))
        # The kept tool keeps its id from being given to another one.
        if known is None:
            definition = tool.input_schema if what == "arguments" else tool.output_schema
            known = self._compiled[id(tool), what] = tool, Schema(definition)
            if len(self._compiled) > _MAX_COMPILED:
                del self._compiled[next(iter(self._compiled))]
        return known[1]


# A server may list changed definitions without end.
_MAX_COMPILED = 2_000


def _describe_mismatch(one: _QueuedValue, found: Mismatch) -> str:
    name = one.tool.name[:48]
    member = found.where.rpartition(".")[2] or found.where
    value = found.value if found.value == "nothing" or not is_secret_key(member) else "a secret"
    if one.what == "arguments":
        given = f"`{found.where}` = {value}" if found.where else value
        asks = (
            "its schema has no such member" if found.wants == "no such member" else f"its schema asks for {found.wants}"
        )
        return (
            f"`{name}` was called {'without' if value == 'nothing' else 'with'} {_describe_value(found, given)}; {asks}"
        )
    given = f"`{found.where}` = {value}" if found.where else value
    promised = "it promised no such member" if found.wants == "no such member" else f"it promised {found.wants}"
    without = "without " if value == "nothing" else ""
    return f"`{name}` answered {without}{_describe_value(found, given)}; {promised}".replace("  ", " ")


def _describe_value(found: Mismatch, given: str) -> str:
    return f"`{found.where}`" if found.value == "nothing" else given


def _tool_call(heard: McpMessage) -> McpRequest | None:
    """Returns the tool call of a result, also through a task; None otherwise."""
    asked = heard.asked
    if asked is None:
        return None
    if asked.method == "tools/call":
        return asked
    first = heard.batch.passes.correlation.rounds.begun.get(heard.row)
    found = heard.conversation.settled.get(first) if first is not None else None
    return found if found is not None and asked.method == "tasks/result" and found.method == "tools/call" else None


def _version(heard: McpMessage) -> str:
    return "2026-07-28" if heard.modern else heard.conversation.version
