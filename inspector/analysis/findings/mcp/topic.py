"""The checks of MCP as one topic: each message of a conversation goes through them once, in order."""

from __future__ import annotations

from inspector.analysis.findings import mcp_rows
from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.mcp import calls, http, orders, revisions, rounds, schemas, tools
from inspector.analysis.findings.mcp.calls import Calls, settle_noise
from inspector.analysis.findings.mcp.conversations import Conversations
from inspector.analysis.findings.mcp.http import HttpExchanges
from inspector.analysis.findings.mcp.orders import Orders
from inspector.analysis.findings.mcp.revisions import Revisions
from inspector.analysis.findings.mcp.rounds import InputRounds, Tasks
from inspector.analysis.findings.mcp.schemas import Schemas
from inspector.analysis.findings.mcp.tools import Tools

_DECLARING = (mcp_rows, tools, orders, schemas, calls, http, rounds, revisions)
CHECKS = tuple(check for module in _DECLARING for check in module.CHECKS)


class Mcp:
    """Lets each part take in each message.

    Attributes:
        conversations: which there are, and what is known of them.
        tools: what servers list.
    """

    def __init__(self) -> None:
        self.conversations = Conversations()
        self.tools = Tools()
        self._schemas = Schemas(self.tools)
        self._rounds, self._tasks, self._orders = InputRounds(), Tasks(), Orders()
        self._parts = (
            Calls(), HttpExchanges(self.tools), Revisions(), self.tools, self._schemas, self._rounds, self._tasks,
            self._orders,
        )  # fmt: skip

    def feed(self, batch: Batch) -> None:
        """Look at the messages of a batch."""
        for heard in self.conversations.hear(batch):
            for part in self._parts:
                part.hear(heard)
        for talk in self.conversations.noisy.values():
            if talk.is_mcp:
                settle_noise(batch, talk)
        self._rounds.settle(batch)
        self._tasks.settle(batch)
        self._schemas.feed(batch)

    def go_on(self, batch: Batch, until: float) -> bool:
        """Hold more values against their schemas, and read results again, until a time; whether nothing waits."""
        return self._schemas.go_on(batch, until) and self._orders.go_on(batch, until)
