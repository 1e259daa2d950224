"""Results that are transient, consumed and collapsed (docs/protocols.md 13)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from tests.second_reader.calls import Calls
from tests.second_reader.messages import Message


@dataclass
class Results:
    """What was found about each result, by its number."""

    badges: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    collapsed_by: dict[int, int] = field(default_factory=dict)
    consumes: dict[int, int] = field(default_factory=dict)
    summary: dict[int, str] = field(default_factory=dict)


@dataclass
class _Talk:
    """A client: which tools a tool consumes, and which results wait."""

    pairs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    waiting: list[tuple[int, str]] = field(default_factory=list)
    """Number and tool, or a name of its own where the tool is unknown."""


def results(messages: list[Message], calls: Calls, *, newest: bool = False) -> Results:
    """Results of tools/call, in the order they came; of several that wait the newest one collapses, or the oldest."""
    found, talks = Results(), defaultdict[Hashable, _Talk](_Talk)
    for message in messages:
        outcome = message.payload.get("result")
        if message.kind != "mcp/response" or calls.method[message.no] not in ("tools/call", None):
            continue  # where nothing says what was asked it counts as a tool's
        if message.refused or not isinstance(outcome, dict) or _is_copy(message, messages, calls):
            continue
        meta = outcome.get("_meta")
        if isinstance(meta, dict):
            talk = talks[_conversation(message, messages, calls)]
            failed = outcome.get("isError") is True or "error" in message.payload
            _take(message.no, calls.tool(message.no), meta, failed, talk, found, newest)
    for number in found.collapsed_by:
        found.badges[number].append("collapsed")
    return found


def _conversation(message: Message, messages: list[Message], calls: Calls) -> Hashable:
    asked = calls.answers.get(message.no)
    requester = messages[asked - 1].sender if asked else (message.to or [None])[0]
    if message.rpc:
        return "connections", requester or (message.dir,)
    return message.space, requester or (message.sender,)


def _is_copy(message: Message, messages: list[Message], calls: Calls) -> bool:
    """Whether the first answer to its request was this very message: delivered twice, it counts once."""
    first = calls.answered.get(calls.answers.get(message.no, 0), message.no)
    other = messages[first - 1]
    named = any(value is not None for value in (message.id, message.payload.get("id")))
    return first < message.no and named and (message.id, message.payload) == (other.id, other.payload)


def _take(
    number: int, tool: str | None, meta: dict[str, Any], failed: bool, talk: _Talk, found: Results, newest: bool
) -> None:  # fmt: skip
    hints = meta.get("contextHints")
    for hint in hints if isinstance(hints, list) else ():
        if isinstance(hint, dict) and hint.get("lifecycle") == "transient":
            names, consumer = hint.get("tool"), hint.get("consumedBy")
            if isinstance(names, str) and names and isinstance(consumer, str) and consumer:
                talk.pairs[consumer].add(names)
    context = meta.get("context")
    context = context if isinstance(context, dict) else {}
    if context.get("consumed") is True and not failed:
        found.badges[number].append("consumed")
        for waiting in reversed(talk.waiting) if newest else talk.waiting:
            if tool is not None and waiting[1] in talk.pairs[tool]:
                talk.waiting.remove(waiting)
                found.collapsed_by[waiting[0]], found.consumes[number] = number, waiting[0]
                break
    transient = context.get("lifecycle") == "transient"
    if transient and not failed:
        found.badges[number].append("transient")
        summary = context.get("summary")
        found.summary[number] = summary if isinstance(summary, str) and summary else f"{tool or 'tool'} result"
        fetcher, consumer = tool or f"of {number}", context.get("consumedBy")
        if isinstance(consumer, str) and consumer:
            talk.pairs[consumer].add(fetcher)
        talk.waiting.append((number, fetcher))
