"""A gateway killed again and again: how soon the connection is back, and what is missing. Prints one JSON object.

The gateway runs in a process of its own, where two participants talk without pause; it is killed (`kill -9`), stays
away for up to two seconds, and comes back on the same port. Nothing is waited for in between but what the connection
itself reports. Run as `python -m tests.bench.reconnect KILLS`.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import connect

from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.demo.gateway import DemoGateway
from inspector.document.document import CaptureDocument
from inspector.document.live import LiveSession
from inspector.document.summary import context_nodes
from inspector.sources.connection import Connection
from inspector.sources.state import SourceState
from inspector.store.columns.flags import Flag

ROOT = Path(__file__).parents[2]
SPACE = "reconnect"
TALKERS = ("lead", "fs")
AWAY_S = (0.0, 0.3, 1.0, 2.0)
"""How long the gateway stays away, in turn."""

MESSAGES_A_SECOND = 200
_UP_S = 1.0
_HOPELESS_S = 30.0


def context_of(number: int) -> str:
    """The context a numbered message is in."""
    return f"work-{number % 5}/step-{number % 3}"


class Killable:
    """A gateway in a process of its own, that talks as soon as it is up."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._lives = 0
        self._process: subprocess.Popen[str] | None = None

    async def start(self) -> float:
        """Start it; return when it began to listen, as `time.monotonic` counts (the same clock for all processes)."""
        self._lives += 1
        self._process = process = subprocess.Popen(  # noqa: ASYNC220  quick, and killed by its id
            [sys.executable, "-m", "tests.bench.reconnect", "gateway", str(self.port), str(self._lives * 1_000_000)],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        out = process.stdout
        assert out is not None
        return float(await asyncio.get_running_loop().run_in_executor(None, out.readline))

    def kill(self) -> None:
        """As `kill -9`."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


async def measure(kills: int) -> dict[str, Any]:
    """Kill the gateway so many times; return figures, times in seconds."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        gateway = Killable(probe.getsockname()[1])
    reached: list[tuple[SourceState, float]] = []
    changed = asyncio.Event()

    def noted() -> None:
        state = SourceState(session.recorder.connection.state)
        if not reached or reached[-1][0] is not state:
            reached.append((state, time.monotonic()))
            changed.set()

    async def until(wanted: SourceState) -> float:
        async with asyncio.timeout(_HOPELESS_S):
            while not reached or reached[-1][0] is not wanted:
                changed.clear()
                await changed.wait()
        return reached[-1][1]

    document = CaptureDocument()
    await gateway.start()
    url = f"ws://127.0.0.1:{gateway.port}"
    session, own = LiveSession.join(Connection(url=url, space=SPACE), document, on_state=noted)
    returns: list[float] = []
    try:
        session.start()
        await until(SourceState.CONNECTED)
        for turn in range(kills):
            await asyncio.sleep(_UP_S * random.uniform(0.3, 1.0))
            gateway.kill()
            await until(SourceState.RECONNECTING)
            await asyncio.sleep(AWAY_S[turn % len(AWAY_S)])
            listening = await gateway.start()
            returns.append(max(0.0, await until(SourceState.CONNECTED) - listening))
        await asyncio.sleep(0.3)
        await session.close()
    finally:
        session.recorder.close()
        gateway.kill()
        own.release()
    return {"kills": kills, "longest_return_s": max(returns), "mean_return_s": sum(returns) / kills} | found_in(
        document
    )


def found_in(document: CaptureDocument) -> dict[str, Any]:
    """What the document holds: gaps, messages twice or out of order, contexts with another count than messages."""
    capture = document.capture
    numbers: dict[str, list[int]] = {name: [] for name in TALKERS}
    for message in range(len(capture)):
        sender, payload = capture.string("sender", message), capture.records.payload(message)
        if sender in numbers and "n" in payload:
            numbers[sender].append(payload["n"])
    # Within one life nothing may be missing between the first and the last message received.
    missing = 0
    for said in numbers.values():
        for life in {n // 1_000_000 for n in said}:
            heard = [n for n in said if n // 1_000_000 == life]
            missing += heard[-1] - heard[0] + 1 - len(set(heard))
    expected = Counter(context_of(n) for said in numbers.values() for n in said)
    nodes = {node["path"]: node["messages"] for node in context_nodes(document) if node["messages"]}
    figures = {
        "received": sum(map(len, numbers.values())),
        "gaps": int(np.count_nonzero(capture.columns["flags"] & Flag.GAP)),
        "duplicates": sum(len(said) - len(set(said)) for said in numbers.values()),
        "missing_while_connected": missing,
        "out_of_order": sum(said != sorted(said) for said in numbers.values()),
        "unreadable": document.unreadable,
        "contexts_wrong": len(set((expected - Counter(nodes)) + (Counter(nodes) - expected))),
    }
    document.close()
    return figures


async def be_gateway(port: int, first: int) -> None:
    """The other process: a gateway and its talkers, until it is killed."""
    everything = {name: [{"kind": "*"}] for name in TALKERS}
    async with DemoGateway(SPACE, port=port, capabilities=everything) as gateway:
        print(time.monotonic(), flush=True)
        tasks: set[asyncio.Task[Any]] = set()
        talking = [start_task(_talk(gateway.url, name, first), name=name, owner=tasks) for name in TALKERS]
        try:
            await asyncio.gather(*talking)
        finally:
            await cancel_and_wait(tasks)


async def _talk(url: str, name: str, number: int) -> None:
    async with connect(url, compression=None, proxy=None) as client:
        await client.send(json.dumps({"type": "join", "participantId": name, "space": SPACE}))
        while True:
            said = {"kind": "chat", "context": context_of(number), "payload": {"n": number, "text": "x" * 200}}
            await client.send(json.dumps(said))
            number += 1
            await asyncio.sleep(len(TALKERS) / MESSAGES_A_SECOND)


if __name__ == "__main__":
    if sys.argv[1] == "gateway":
        asyncio.run(be_gateway(int(sys.argv[2]), int(sys.argv[3])))
    else:
        print(json.dumps(asyncio.run(measure(int(sys.argv[1])))))
