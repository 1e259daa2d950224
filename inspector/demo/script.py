"""The whole demo: a local gateway, its participants, and rounds of the story until it is stopped."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence
from typing import Any

from websockets.exceptions import ConnectionClosed

from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.demo.agents import Pace
from inspector.demo.capabilities import Pattern
from inspector.demo.envelopes import new_id
from inspector.demo.gateway import DemoGateway
from inspector.demo.special_agents import Human, ReasoningAgent, ToolServer
from inspector.demo.story import StoryCast, StoryRound
from inspector.demo.tools import ActivityTools, FileTools
from inspector.demo.topics import TOPICS

_log = logging.getLogger(__name__)

_REASONING: tuple[Pattern, ...] = (
    {"kind": "chat"},
    {"kind": "chat/*"},
    {"kind": "reasoning/*"},
    {"kind": "participant/*"},
    {"kind": "mcp/request", "payload": {"method": "tools/list"}},
)
_SERVER: tuple[Pattern, ...] = (
    {"kind": "chat"},
    {"kind": "mcp/response"},
    {"kind": "mcp/notification"},
    {"kind": "participant/status"},
)


def _may_call(tool: str) -> Pattern:
    return {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": tool}}}


CAPABILITIES: dict[str, Sequence[Pattern]] = {
    "activities": _SERVER,
    "files": _SERVER,
    "analyst": (*_REASONING, _may_call("search_*"), _may_call("get_workflow_step"), _may_call("analysis_*")),
    "lead": (
        *_REASONING,
        {"kind": "stream/*"},
        {"kind": "mcp/proposal"},
        {"kind": "mcp/withdraw"},
        _may_call("read_*"),
        _may_call("list_*"),
    ),
    "human": ({"kind": "*"},),
}
"""Permissions of each participant. Only the human may write files."""

DECISIONS = {"write_file": "fulfil", "delete_file": "unsafe", "share_file": "ignore"}
"""The human's decision about proposals of each tool."""


class Demo:
    """An embedded gateway with scripted agents.

    Attributes:
        space: The space to join.
        token: Token to join with; empty, as any participant is welcome.
        rounds_played: Completed rounds of the story.
    """

    def __init__(self, space: str = "demo") -> None:
        """Creates a demo; ``start`` opens the port."""
        self.space: str = space
        self.token: str = ""
        self.rounds_played: int = 0
        # New tokens for each run, so that none stays valid.
        self._tokens = {name: new_id("token") for name in CAPABILITIES}
        self._gateway = DemoGateway(space, capabilities=CAPABILITIES, tokens=self._tokens)
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        """Address to join, ``ws://127.0.0.1:<port>``.

        Raises:
            RuntimeError: If the demo is not running.
        """
        return self._gateway.url

    @property
    def participants(self) -> list[str]:
        """Ids of the present participants."""
        return self._gateway.participants

    async def start(self, pace: float = 1.0) -> None:
        """Opens the gateway and starts the story; the first participant joins shortly afterwards.

        Args:
            pace: Factor on every wait: 1 is a human pace, tests use 0.01.

        Raises:
            OSError: If no port could be opened.
        """
        await self._gateway.start()
        start_task(self._play(Pace(pace)), name="demo story", owner=self._tasks)

    async def stop(self) -> None:
        """Ends the story, and closes every connection and the port."""
        await cancel_and_wait(self._tasks)
        await self._gateway.stop()

    async def _play(self, pace: Pace) -> None:
        rounds = itertools.count(1)
        while True:
            cast = self._cast(pace)
            try:
                await pace.wait_seconds(1.0)
                await self._join_all(cast)
                while True:
                    await self._play_round(cast, next(rounds))
            except* (OSError, TimeoutError, ConnectionClosed) as lost:
                # Another client took over a participant's id, or the machine slept: all join again.
                _log.info("the demo begins anew: %s", lost.exceptions[0])
            finally:
                await asyncio.gather(*(agent.leave() for agent in cast.everyone()))
            await asyncio.sleep(0.5)

    async def _join_all(self, cast: StoryCast) -> None:
        for agent in cast.everyone():
            await agent.join(self.url, self.space)
            await cast.human.pace.wait_seconds(0.5)

    async def _play_round(self, cast: StoryCast, number: int) -> None:
        """Plays one round; between rounds the human leaves for a while."""
        if number > 1:
            await cast.human.join(self.url, self.space)
        # Longer than any round: a disconnected actor would wait for ever.
        # Seconds: a fixed part for answers, whose timeout ignores the pace, and a part of the story.
        async with asyncio.timeout(30 + 300 * cast.human.pace.scale):
            await StoryRound(cast, TOPICS[(number - 1) % len(TOPICS)], number).play()
        self.rounds_played += 1
        await cast.human.pace.wait_seconds(2.5)
        await cast.human.leave()
        await cast.human.pace.wait_seconds(5.0)

    def _cast(self, pace: Pace) -> StoryCast:
        # Each server has tools of its own, and every participant its token.
        activities, files = ActivityTools(), FileTools()
        return StoryCast(
            activities=ToolServer(
                "activities",
                pace=pace,
                token=self._tokens["activities"],
                functions=activities.functions(),
                described=activities.described,
            ),
            files=ToolServer(
                "files", pace=pace, token=self._tokens["files"], functions=files.functions(), described=files.described
            ),
            analyst=ReasoningAgent("analyst", pace=pace, token=self._tokens["analyst"]),
            lead=ReasoningAgent("lead", pace=pace, token=self._tokens["lead"]),
            human=Human("human", pace=pace, token=self._tokens["human"], decisions=DECISIONS),
        )
