"""The sender's process, as a measurement or a test holds it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from inspector.sources.connection import Connection

ROOT = Path(__file__).parents[2]


class SendingGateway:
    """A sender in a process of its own; it is ended when the context is left, and ends by itself if we die.

    Attributes:
        url: where it listens.
    """

    def __init__(self, *, rate: float, count: int, log: Path | None = None, mix: str | None = None) -> None:
        """Start it and wait until it listens.

        Args:
            rate: messages a second.
            count: messages an order of `go` sends.
            log: file in which it notes what it sent when.
            mix: the traffic, of `mixes`, for which a log is needed; the story by default.
        """
        command = [sys.executable, "-m", "tests.bench.sender", str(rate), str(count), *([str(log)] if log else [])]
        command += [mix] if mix else []
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )  # fmt: skip
        self._said = b""
        assert self._process.stdout is not None
        self.url = f"ws://127.0.0.1:{json.loads(self._process.stdout.readline())['port']}"
        if hasattr(os, "set_blocking"):
            os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def connection(self) -> Connection:
        """How to join it."""
        return Connection(url=self.url, space="bench")

    def go(self) -> None:
        """Let it send to the client that has joined, or to the next one that does."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")

    async def done(self, seconds: float) -> dict[str, Any]:
        """What it said when everything was sent.

        Raises:
            TimeoutError: it was not done in time.
        """
        assert self._process.stdout is not None
        async with asyncio.timeout(seconds):
            while not self._said.endswith(b"\n"):
                part = self._process.stdout.read(1 << 16)
                if part:
                    self._said += part
                else:
                    await asyncio.sleep(0.02)
        found, self._said = json.loads(self._said), b""
        return found

    def __enter__(self) -> SendingGateway:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
