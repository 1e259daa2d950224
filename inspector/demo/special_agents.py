"""Special participants of the demo: reasoning agents, tool servers, and the human who decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import override

from inspector.demo.agents import Agent, Pace
from inspector.demo.envelopes import Envelope


class ReasoningAgent(Agent):
    """An agent that sends its reasoning and asks all participants for their tools."""

    asks_for_tools = True

    async def send_thought(self, text: str, *, context: str) -> str:
        """Sends one thought and returns its id."""
        return await self.send("reasoning/thought", {"message": text}, context=context)


ToolFunction = Callable[[Mapping[str, Any]], Mapping[str, object]]
"""Maps arguments to an MCP tool result."""


class ToolServer(Agent):
    """Answers tool calls by running a function, after a short wait."""

    def __init__(
        self,
        name: str,
        *,
        pace: Pace,
        token: str = "",
        functions: Mapping[str, ToolFunction],
        described: Mapping[str, str],
    ) -> None:
        """Creates a server of ``functions`` by tool name; ``described`` has one sentence for each."""
        super().__init__(name, pace=pace, token=token)
        self._functions = dict(functions)
        self.tools: list[dict[str, object]] = [
            {"name": tool, "description": described[tool], "inputSchema": {"type": "object"}} for tool in functions
        ]

    @override
    async def on_message(self, envelope: Envelope) -> None:
        payload = envelope.get("payload") or {}
        if envelope.get("kind") != "mcp/request" or self.name not in envelope.get("to", ()):
            return
        if payload.get("method") != "tools/call":
            return
        # A pause, so that a viewer can follow.
        await self.pace.wait_seconds(0.35)
        params = payload.get("params") or {}
        function = self._functions.get(str(params.get("name")))
        if function is None:
            text = f"There is no tool {params.get('name')!r} here."
            await self.answer(envelope, {"content": [{"type": "text", "text": text}], "isError": True})
        else:
            await self.answer(envelope, function(params.get("arguments") or {}))


class Human(Agent):
    """Decides on proposals: maps tool name to ``fulfil``, ``unsafe`` (reject) or ``ignore``."""

    def __init__(self, name: str, *, pace: Pace, token: str = "", decisions: Mapping[str, str]) -> None:
        """Creates a human; proposals of tools missing in ``decisions`` are ignored."""
        super().__init__(name, pace=pace, token=token)
        self._decisions = dict(decisions)

    @override
    async def on_message(self, envelope: Envelope) -> None:
        if envelope.get("kind") != "mcp/proposal":
            return
        payload = envelope["payload"]
        # An unknown proposal is ignored, and its sender withdraws it.
        decision = self._decisions.get(payload["params"]["name"], "ignore")
        await self.pace.wait_seconds(1.4)
        if decision == "fulfil":
            server = envelope["to"][0]
            await self.request(server, payload["method"], payload["params"], about=envelope["id"])
        elif decision != "ignore":
            await self.send("mcp/reject", {"reason": decision}, to=envelope["from"], about=envelope["id"])
