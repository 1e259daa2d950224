"""Detects server texts that give orders to the model: descriptions, and results followed by an ordered call.

Wording alone proves nothing. A result is reported only if the model then calls a tool of another server by the name, or
with the text, from the result. Results are read again in idle time, only with several servers.
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.base.slices import SlicedWork
from inspector.formats.mcp.checks.conversations import McpMessage, add_finding
from inspector.protocol.timestamps import NO_TIME

ORDERS = Check(
    "mcp-description-orders", NOTE, "Tool description gives orders to the model",
    "{detail}.",
    "It may trick the model into passing unrelated data to the tool. Wording alone is no proof.",
    "Read the whole description. Do not allow the tool if the order has no good reason.",
    "Snyk agent-scan, E001; OWASP MCP Top 10 (2025), MCP03",
    example="The description of `add` tells the model to keep quiet, and to pass data on",
)  # fmt: skip
MORE_ORDERS = ORDERS.with_severity(WARNING, "it contains several such orders")
FOLLOWED = Check(
    "mcp-result-orders", NOTE, "Call requested by a result of another server",
    "{detail}.",
    "The author of data that a tool reads can make the model act on another server with its permissions.",
    "Read the result. Require confirmation for calls based on outside data.",
    "OWASP MCP Top 10 (2025), MCP06 prompt injection by context",
    example="After this result the model called `delete_branch` of another server, as the result requested",
)  # fmt: skip
CHECKS = (ORDERS, MORE_ORDERS, FOLLOWED)

_COMMANDS = {
    "keep quiet": re.compile(
        r"\b(?:do not|don't|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|reveal(?:ing)?|"
        r"notify(?:ing)?|show(?:ing)?)\b[^.\n]{0,60}\b(?:user|human|anyone|anybody|them)\b",
        re.IGNORECASE,
    ),
    "read private files": re.compile(
        r"(?:~/\.\w|\bid_rsa\b|\.ssh\b|\.env\b|\bmcp\.json\b|\bcredentials?\s+file|\bprivate\s+key)", re.IGNORECASE
    ),
    "ignore earlier instructions": re.compile(
        r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+)*(?:previous|prior|earlier|above|other)\b",
        re.IGNORECASE,
    ),
    "call it before any other tool": re.compile(
        r"\bbefore\s+(?:using|calling|invoking|running)\s+(?:any|every|all)\s+(?:other\s+)?tools?\b", re.IGNORECASE
    ),
}  # fmt: skip
_PASS_ON_PATTERN = re.compile(
    r"\b(?:pass|send|put|include|forward|append|attach|copy|provide|submit)\s+(?:(?:along|all|of|the|full|whole|its|their)\s+)*"
    r"(?:it|this|that|them|these|those|contents?|results?|outputs?|text|files?|data|keys?|secrets?|history|"
    r"conversation|messages?|prompts?)\b[^.\n]{0,80}\b(?:as|in|into|to|with|via)\b",
    re.IGNORECASE,
)
"""Objects that a tool obtains, as opposed to its parameters."""
# The expressions run over a text in one piece, which no deadline interrupts.
_MAX_TEXT_CHARS = 20_000


def orders_in(text: str) -> list[str]:
    """Returns the orders in a description besides passing data on; [] without both."""
    text = text[:_MAX_TEXT_CHARS]
    return [words for words, rule in _COMMANDS.items() if rule.search(text)] if _PASS_ON_PATTERN.search(text) else []


_CALL_ORDER_PATTERN = re.compile(
    r"\b(?:you\s+(?:must|should|need\s+to|have\s+to|are\s+to)|please|now|then|first|next|immediately|always)\s+(?:\w+\s+){0,2}?"
    r"(?:call|use|run|invoke|execute)\b[^.\n]{0,60}",
    re.IGNORECASE,
)
_RESULT_COMMANDS = ("keep quiet", "ignore earlier instructions")
"""Orders that data hardly contains by chance, unlike file names."""
_WORD = re.compile(r"[A-Za-z0-9_-]+")
# Ordinary words occur by chance; names of tools mostly have a hyphen or an underscore.
_DISTINCTIVE_WORD = re.compile(r"(?=.*[_-]).{5,}", re.DOTALL)
_MIN_TEXT_CHARS = 12
_MAX_RECORD_BYTES = 1 << 18
# Each later call of another server is compared with every suspect.
_MAX_SUSPECTS = 64
_CALLS_AFTER = 32
_LONG_AFTER_NS = 600_000_000_000
_READ = ("tools/call", "resources/read")


class _Suspect(NamedTuple):
    """A result that contains orders.

    Attributes:
        named: words in its requests for calls.
        rules: True if it contains an order that data has no reason to contain.
        until: number of the last call that is compared.
    """

    row: int
    server: int
    text: str
    named: frozenset[str]
    rules: bool
    until: int


class PromptInjection:
    """Tracks results and calls of servers with known names."""

    def __init__(self) -> None:
        self._rows, self._servers = array("q"), array("l")
        self._names: dict[str, int] = {}
        self._read_count = 0
        self._calls = 0
        self._suspects: deque[_Suspect] = deque(maxlen=_MAX_SUSPECTS)

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Accepts tool calls, and answers to calls and resource reads."""
        return method == "tools/call" or (answer and method in _READ)

    def on_message(self, heard: McpMessage) -> None:
        """Queues results and calls."""
        note = heard.note
        if note is None or not heard.conversation.server:
            return
        is_call = note.method == "tools/call" and not heard.by_server
        is_read = note.result is not None and heard.asked is not None and heard.asked.method in _READ
        if is_call or is_read:
            # The complement marks a call, so that one array keeps the order of both.
            self._rows.append(heard.row if is_read else ~heard.row)
            self._servers.append(self._names.setdefault(heard.conversation.server, len(self._names)))

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Reads queued records."""
        # With one server a followed order cannot reach another one.
        if len(self._names) < 2:
            return
        while self._read_count < len(self._rows):
            row, server = self._rows[self._read_count], self._servers[self._read_count]
            self._read_count += 1
            if row >= 0:
                self._read_result(batch, row, server)
            else:
                self._read_call(batch, ~row, server)
            yield
        self._rows, self._servers, self._read_count = array("q"), array("l"), 0  # frees the records read

    def _read_result(self, batch: Batch, row: int, server: int) -> None:
        if int(batch.capture.columns["length"][row]) > _MAX_RECORD_BYTES:
            return
        text = "\n".join(_texts(batch.capture.records.payload(row).get("result")))[:_MAX_TEXT_CHARS]
        named = frozenset(word for asks in _CALL_ORDER_PATTERN.finditer(text) for word in _WORD.findall(asks[0]))
        named = frozenset(word for word in named if _DISTINCTIVE_WORD.fullmatch(word))
        rules = any(_COMMANDS[what].search(text) for what in _RESULT_COMMANDS)
        if named or rules:
            self._suspects.append(_Suspect(row, server, text, named, rules, self._calls + _CALLS_AFTER))

    def _read_call(self, batch: Batch, row: int, server: int) -> None:
        self._calls += 1
        before = [one for one in self._suspects if one.server != server and self._calls <= one.until]
        if not before or int(batch.capture.columns["length"][row]) > _MAX_RECORD_BYTES:
            return
        params = batch.capture.records.payload(row).get("params")
        name, arguments = (params.get("name"), params.get("arguments")) if isinstance(params, dict) else (None, None)
        for one in before:
            asked_for = isinstance(name, str) and name in one.named
            carries = one.rules and any(
                len(text) >= _MIN_TEXT_CHARS and text in one.text for text in _strings(arguments)
            )
            if (asked_for or carries) and _is_soon(batch, one.row, row):
                how = "as the result requested" if asked_for else "with text of the result"
                words = f"After this result the model called `{str(name)[:48]}` of another server, {how}"
                add_finding(batch, FOLLOWED, one.row, words, other=row)
                self._suspects.remove(one)


def _is_soon(batch: Batch, before: int, after: int) -> bool:
    first, then = (int(batch.capture.columns["time_ns"][row]) for row in (before, after))
    return NO_TIME in (first, then) or 0 <= then - first <= _LONG_AFTER_NS


def _texts(result: Any) -> Iterator[str]:
    """Yields the texts of a tool result or resource."""
    found = result if isinstance(result, dict) else {}
    for member in ("content", "contents"):
        items = found.get(member)
        for item in items if isinstance(items, list) else ():
            inner = item.get("resource", item) if isinstance(item, dict) else None
            text = inner.get("text") if isinstance(inner, dict) else None
            if isinstance(text, str):
                yield text


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < _MAX_DEPTH:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner, depth + 1)


_MAX_DEPTH = 32
