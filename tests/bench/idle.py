"""What a window takes while nothing happens: on a log at rest, and on a gateway that says nothing. Prints JSON.

Processor time of this process by the clock, a while after the last message: until then its rate is drawn anew each
second. Run as `python -m tests.bench.idle LOG SECONDS REST`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from inspector.ui.app.application import Application
from tests.bench.offscreen import Found, run, until
from tests.bench.sending import SendingGateway

_SAID = 1_980
"""Whole turns of the story: nobody waits for an answer."""


async def _share(seconds: float, rest_s: float) -> float:
    """Processor time by the clock, of so many seconds after a rest."""
    await asyncio.sleep(rest_s)
    used, begun = time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    return (time.process_time() - used) / (time.perf_counter() - begun)


async def measure(application: Application, path: Path, seconds: float, rest_s: float) -> Found:
    """A window on a log, and one on a gateway."""
    window = application.new_window()
    await window.opening.load(path)
    found = {"log_share": await _share(seconds, rest_s)}
    await window.closing.aclose()
    with SendingGateway(rate=1_000, count=_SAID) as gateway:
        window = application.new_window()
        if not window.gateway.watch(gateway.connection()):
            raise OSError("the capture file could not be made")
        await until(lambda: window.shown.state.messages >= 1, "the welcome", 10)
        gateway.go()
        await until(lambda: window.shown.state.messages >= _SAID, "the last message", 60)
        found["live_share"] = await _share(seconds, rest_s)
        await window.gateway.end_session()
    return found


if __name__ == "__main__":
    log, (seconds, rest_s) = Path(sys.argv[1]), map(float, sys.argv[2:4])
    print(json.dumps(run(lambda application: measure(application, log, seconds, rest_s))))
