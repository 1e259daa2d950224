"""`kill -9` while messages arrive: what is not on disk, by the sender's own log. Prints one JSON object.

Run as `python -m tests.bench.kill RATE KILLS [window|record]`. Each time a process captures from a sender, is killed
in the middle, and the capture file it leaves is compared with what the sender had sent by then.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from inspector.document.document import CaptureDocument
from tests.bench.received import frames_of
from tests.bench.sending import ROOT, SendingGateway

RUN_S = 1.5
_START_S = 20


def capturing(how: str, gateway: SendingGateway, home: Path) -> list[str]:
    """The command of the process that is killed."""
    connection = gateway.connection()
    if how == "record":
        out = str(home / "killed.ctxcap")
        return [sys.executable, "-m", "inspector", "record", gateway.url, "--space", connection.space, "-o", out]
    return [sys.executable, "-m", "tests.bench.kill", "child", gateway.url]


def kill_once(how: str, rate: float, after_s: float) -> dict[str, Any]:
    """Let one process capture, kill it after so many seconds, and look at its file."""
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        home, log = Path(folder), Path(folder) / "sent.jsonl"
        environment = {**os.environ, "CONTEXT_INSPECTOR_HOME": folder, "QT_QPA_PLATFORM": "offscreen"}
        with SendingGateway(rate=rate, count=round(rate * 60), log=log) as gateway:
            process = subprocess.Popen(
                capturing(how, gateway, home), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )  # fmt: skip
            try:
                gateway.go()
                wait_for_first(log, process)
                time.sleep(after_s)
                killed_ns = time.time_ns()
            finally:
                process.kill()
                _, said = process.communicate()
        captures = sorted(home.rglob("*.ctxcap"))
        if len(captures) != 1:
            raise FileNotFoundError(f"{len(captures)} captures are left; the process said {said.decode()[-300:]!r}")
        return looked_at(captures[0], log, killed_ns)


def wait_for_first(log: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until something was sent; raises TimeoutError, or OSError when the process has ended."""
    give_up = time.monotonic() + _START_S
    while not log.exists() or not log.stat().st_size:
        if process.poll() is not None:
            raise OSError(f"it ended by itself with {process.returncode}")
        if time.monotonic() > give_up:
            raise TimeoutError(f"nothing was sent within {_START_S} s")
        time.sleep(0.01)


def looked_at(capture: Path, log: Path, killed_ns: int) -> dict[str, Any]:
    """What is missing: messages sent before the kill, and how long before it the first missing one was sent."""
    numbers, _ = frames_of(capture)
    whole = numbers == list(range(len(numbers)))
    sent = [json.loads(line) for line in log.read_bytes().splitlines() if line.endswith(b"}")]
    before = [entry["sent"] for entry in sent if entry["t"] <= killed_ns]
    missing = [entry["t"] for entry in sent if entry["sent"] > len(numbers) and entry["t"] <= killed_ns]
    document = CaptureDocument()
    document.load(capture)
    read = len(document.capture)
    unreadable = document.unreadable
    document.close()
    return {
        "sent": max(before, default=0),
        "kept": len(numbers),
        "lost_s": max(0.0, (killed_ns - missing[0]) / 1e9) if missing else 0.0,
        "prefix": whole,
        "read_again": read,
        "torn_lines": unreadable,
    }


def measure(how: str, rate: float, kills: int) -> dict[str, Any]:
    """Kill so many times, each a little later within a flush's length than the one before."""
    found = [kill_once(how, rate, RUN_S + 0.017 * number) for number in range(kills)]
    return {
        "kills": kills,
        "lost_s": max(one["lost_s"] for one in found),
        "lost_messages": max(one["sent"] - one["kept"] for one in found),
        "kept": sum(one["kept"] for one in found),
        "prefix": all(one["prefix"] for one in found),
        "torn_lines": sum(one["torn_lines"] for one in found),
        "recovered": all(one["read_again"] >= one["kept"] for one in found),
    }


def child(url: str) -> None:
    """Watch a gateway in the window until somebody kills us."""
    from inspector.sources.connection import Connection
    from inspector.ui.app.application import Application
    from tests.bench.offscreen import Found, run

    async def watch(application: Application) -> Found:
        application.new_window().gateway.watch(Connection(url=url, space="bench"))
        await asyncio.sleep(60)  # never so long: our parent kills us, or is dead itself
        return {}

    run(watch)


if __name__ == "__main__":
    if sys.argv[1] == "child":
        child(sys.argv[2])
    else:
        print(json.dumps(measure(sys.argv[3] if len(sys.argv) > 3 else "window", float(sys.argv[1]), int(sys.argv[2]))))
