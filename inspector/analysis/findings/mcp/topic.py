"""Runs the checks of MCP as one topic; each message of a conversation passes them once, in order."""

from __future__ import annotations

from typing import Protocol

from inspector.analysis.findings import mcp_rows
from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.mcp import calls, http, prompt_injection, revisions, rounds, schemas, tools
from inspector.analysis.findings.mcp.calls import Calls, note_lost_servers, settle_noise
from inspector.analysis.findings.mcp.conversations import Conversations, Heard
from inspector.analysis.findings.mcp.enveloped import Enveloped
from inspector.analysis.findings.mcp.http import HttpExchanges
from inspector.analysis.findings.mcp.prompt_injection import Orders
from inspector.analysis.findings.mcp.revisions import Revisions
from inspector.analysis.findings.mcp.rounds import InputRounds, Tasks
from inspector.analysis.findings.mcp.schemas import Schemas
from inspector.analysis.findings.mcp.tools import Tools

_DECLARING = (mcp_rows, tools, prompt_injection, schemas, calls, http, rounds, revisions)
CHECKS = tuple(check for module in _DECLARING for check in module.CHECKS)


class Part(Protocol):
    """Group of checks with their state per conversation."""

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Returns True if the group needs a request or notification, or the answer to a request."""
        ...

    def on_message(self, heard: Heard) -> None:
        """Takes in a message."""
        ...


class Mcp:
    """Passes each message to the groups that need it.

    Attributes:
        conversations: all conversations and their state.
        tools: listed tools.
    """

    def __init__(self) -> None:
        self.conversations = Conversations()
        self.tools = Tools()
        self._schemas = Schemas(self.tools)
        self._rounds, self._tasks, self._orders = InputRounds(), Tasks(), Orders()
        self._enveloped = Enveloped()
        self._calls, self._exchanges = Calls(), HttpExchanges(self.tools)
        self._parts: tuple[Part, ...] = (
            Revisions(), self.tools, self._schemas, self._rounds, self._tasks, self._orders,
        )  # fmt: skip
        self._hearing: dict[tuple[str, bool], tuple[Part, ...]] = {}  # by method, and True for answers

    def feed(self, batch: Batch) -> None:
        hearing = self._hearing
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
            for part in hearing.get(key) or self._who_hears(*key):
                part.on_message(heard)
        for talk in self.conversations.noisy.values():
            if talk.is_mcp:
                settle_noise(batch, talk)
        note_lost_servers(batch)
        self._rounds.check_overdue(batch)
        self._tasks.check_overdue(batch)
        self._schemas.feed(batch)
        self._enveloped.feed(batch)

    def _who_hears(self, method: str, answer: bool) -> tuple[Part, ...]:
        found = tuple(part for part in self._parts if part.accepts(method, answer=answer))
        if len(self._hearing) < _MOST_METHODS:
            self._hearing[method, answer] = found
        return found

    def go_on(self, batch: Batch, until: float) -> bool:
        """Validates queued values and reads results again until a time. Returns True if all queues are empty."""
        return all(part.go_on(batch, until) for part in (self._schemas, self._orders, self._enveloped))


# Method names come from the wire, so a cache by name needs a bound.
_MOST_METHODS = 1_000
