"""The engine behind its pipe: its start, and answers while a log is opened and afterwards. Prints one JSON object.

Run as `python -m tests.bench.engine MESSAGES [KILLS]`. Times of answers are those of the asking process, and beside it
the time that the thread of the engine has run, which does not count other load on the machine. With KILLS, engines
are killed at random moments of opening instead, and what they leave behind is counted.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from inspector.engine import wire
from inspector.engine.client import EngineClient, EngineDiedError
from inspector.engine.document_state import DocumentState
from inspector.engine.request import Request
from inspector.engine.requests.rows import MessageRows
from inspector.engine.requests.views import FilterRows
from inspector.engine.targets import OpenOptions, Target
from inspector.engine.update import Update
from tests.bench.generate import write_envelopes

_ROWS = 60
_WAIT_S = 300.0
_HALF = 'from == "lead"'
_FIRST_S = 1.5
"""Longest time from opening a log to a kill."""


class Events:
    """Events of the document that is opened."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.messages = 0
        self.error: Exception | None = None

    def on_reading(self, progress: wire.Reading) -> None:
        if progress.ended:
            self.ended.set()

    def on_changed(self, update: Update) -> None:
        self.messages = update.stop

    def on_state(self, state: DocumentState) -> None:
        """States cost the engine time, and are not looked at."""

    def on_failed(self, error: Exception) -> None:
        self.error = error
        self.ended.set()


def ran_ms(pid: int) -> float:
    """Time that the main thread of a process has run, in milliseconds."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_bytes().split()[0]) / 1e6


def asked_ms(client: EngineClient, document: int, request: Request[Any]) -> tuple[float, float]:
    """Times of one answer: here, and of the engine's thread."""
    began, ran = time.perf_counter(), ran_ms(client.pid)
    client.send_request(document, request).result(_WAIT_S)
    return (time.perf_counter() - began) * 1000, ran_ms(client.pid) - ran


def percentiles(times: Iterable[tuple[float, float]]) -> dict[str, list[float]]:
    """50th and 99th percentile and maximum: here, and of the engine's thread."""
    found = np.percentile(np.array(list(times)), (50, 99, 100), axis=0).round(2)
    return dict(zip(("p50", "p99", "longest"), found.tolist(), strict=True))


def measure(path: Path) -> dict[str, Any]:
    """Opens a log and asks for rows meanwhile, then at rest."""
    began = time.perf_counter()
    client = EngineClient()
    client.greeted.wait(_WAIT_S)
    found: dict[str, Any] = {
        "hello_ms": [round((time.perf_counter() - began) * 1000), round(ran_ms(client.pid))],
        "idle_mb": round(resident_kb(client.pid) / 1024),
    }
    events = Events()
    document = client.open([Target(path)], OpenOptions(), events)
    opening, chance = list[tuple[float, float]](), random.Random(1)
    while not events.ended.is_set():
        if events.messages > _ROWS:
            first = chance.randrange(events.messages - _ROWS)
            opening.append(asked_ms(client, document, MessageRows(tuple(range(first, first + _ROWS)))))
        time.sleep(chance.random() * 0.05)
    if events.error is not None:
        raise events.error
    found |= {"messages": events.messages, "asked": len(opening), "opening_ran_ms": round(ran_ms(client.pid))}
    found["rows_while_opening_ms"] = percentiles(opening)
    firsts = [chance.randrange(events.messages - _ROWS) for _ in range(200)]
    rest = [MessageRows(tuple(range(first, first + _ROWS))) for first in firsts]
    found["rows_at_rest_ms"] = percentiles(asked_ms(client, document, one) for one in rest)
    hits = len(client.send_request(document, FilterRows(1, _HALF)).result(_WAIT_S).answer.visible)
    found["hits"] = hits
    found["filter_ms"] = percentiles(asked_ms(client, document, FilterRows(1, _HALF)) for _ in range(50))
    found["opened_mb"] = round(resident_kb(client.pid) / 1024)
    client.close()
    return found


def resident_kb(pid: int) -> int:
    """Resident memory of a process in kB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def children_of(pid: int) -> list[int]:
    """Processes that a process has started, and theirs."""
    try:
        own = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [one for child in own for one in (child, *children_of(child))]


def kill_repeatedly(path: Path, kills: int) -> dict[str, Any]:
    """Kills engines at random moments; counts requests without a failure, and processes that go on without them."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, TMPDIR=folder):
        found = _kill_each(path, kills)
        return found | {"files": len(list(Path(folder).iterdir()))}


def _kill_each(path: Path, kills: int) -> dict[str, Any]:
    chance, unfailed, left = random.Random(2), 0, 0
    for _ in range(kills):
        client, events = EngineClient(), Events()
        document = client.open([Target(path)], OpenOptions(follow=True, count_tokens=True), events)
        future = client.send_request(document, FilterRows(1, "text contains 'nowhere'"))
        time.sleep(chance.random() * _FIRST_S)
        workers = children_of(client.pid)
        os.kill(client.pid, signal.SIGKILL)
        try:
            future.result(_WAIT_S)
        except EngineDiedError:
            pass
        except ValueError:  # answered before: there was no such document
            pass
        unfailed += not events.ended.wait(_WAIT_S)
        client.close()
        until = time.monotonic() + 10
        while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < until:
            time.sleep(0.05)
        left += sum(Path(f"/proc/{pid}").exists() for pid in workers)
    return {"kills": kills, "unfailed": unfailed, "left": left}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="context-inspector-bench-") as folder:
        path = Path(folder) / "log.jsonl"
        write_envelopes(path, int(sys.argv[1]))
        found = kill_repeatedly(path, int(sys.argv[2])) if len(sys.argv) > 2 else measure(path)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
