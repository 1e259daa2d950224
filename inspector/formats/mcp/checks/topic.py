"""Runs the checks of MCP as one topic; each message of a conversation passes them once, in order."""

from __future__ import annotations

from typing import Protocol

from inspector.analysis.findings import mcp_rows
from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.topic import DeclaredTopic
from inspector.base.slices import SlicedWork
from inspector.formats.mcp.checks import calls, http, prompt_injection, revisions, rounds, schemas, tools
from inspector.formats.mcp.checks.calls import CallTracker, merge_noise_findings, report_lost_servers
from inspector.formats.mcp.checks.conversations import Conversations, McpMessage
from inspector.formats.mcp.checks.enveloped import EnvelopedMcp
from inspector.formats.mcp.checks.http import HttpExchanges
from inspector.formats.mcp.checks.prompt_injection import PromptInjection
from inspector.formats.mcp.checks.revisions import Revisions
from inspector.formats.mcp.checks.rounds import InputRounds, Tasks
from inspector.formats.mcp.checks.schemas import SchemaValidation
from inspector.formats.mcp.checks.tools import ToolLists

_DECLARING = (mcp_rows, tools, prompt_injection, schemas, calls, http, rounds, revisions)
CHECKS = tuple(check for module in _DECLARING for check in module.CHECKS)


class CheckGroup(Protocol):
    """Group of checks with their state per conversation."""

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Returns True if the group needs a request or notification, or the answer to a request."""
        ...

    def on_message(self, heard: McpMessage) -> None:
        """Takes in a message."""
        ...


class McpChecks:
    """Passes each message to the groups that need it.

    Attributes:
        conversations: all conversations and their state.
        tools: listed tools.
    """

    def __init__(self) -> None:
        self.conversations = Conversations()
        self.tools = ToolLists()
        self._schemas = SchemaValidation(self.tools)
        self._rounds, self._tasks, self._orders = InputRounds(), Tasks(), PromptInjection()
        self._enveloped = EnvelopedMcp()
        self._calls, self._exchanges = CallTracker(), HttpExchanges(self.tools)
        self._parts: tuple[CheckGroup, ...] = (
            Revisions(), self.tools, self._schemas, self._rounds, self._tasks, self._orders,
        )  # fmt: skip
        self._groups_by_method: dict[tuple[str, bool], tuple[CheckGroup, ...]] = {}  # by method, and True for answers

    def feed(self, batch: Batch) -> None:
        hearing = self._groups_by_method
        for heard in self.conversations.read_messages(batch):
            self._calls.on_message(heard)
            if heard.exchange is not None:
                self._exchanges.on_message(heard)
            note = heard.note
            if note is None:
                continue
            method = note.method
            key = (
                (method, False) if method is not None else (heard.asked.method if heard.asked is not None else "", True)
            )
            for part in hearing.get(key) or self._groups_for(*key):
                part.on_message(heard)
        for conversation in self.conversations.noisy_conversations.values():
            if conversation.is_mcp:
                merge_noise_findings(batch, conversation)
        report_lost_servers(batch)
        self._rounds.check_overdue(batch)
        self._tasks.check_overdue(batch)
        self._schemas.feed(batch)
        self._enveloped.feed(batch)

    def _groups_for(self, method: str, answer: bool) -> tuple[CheckGroup, ...]:
        found = tuple(part for part in self._parts if part.accepts(method, answer=answer))
        if len(self._groups_by_method) < _MAX_METHODS:
            self._groups_by_method[method, answer] = found
        return found

    def deferred_checks(self, batch: Batch) -> SlicedWork[None]:
        """Validates queued values and reads results again."""
        for part in (self._schemas, self._orders, self._enveloped):
            yield from part.deferred_checks(batch)


# The general checks of requests read `batch.mcp`, which this topic fills.
TOPIC = DeclaredTopic("mcp", CHECKS, McpChecks, before="requests")

# Method names come from the wire, so a cache by name needs a bound.
_MAX_METHODS = 1_000
