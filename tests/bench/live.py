"""A flood into the real window, offscreen: nothing lost, and never late. Prints one JSON object.

With capture to disk, all passes, an active filter and the tree open, from a sender's process on loopback; with
`pause` the view is paused for the middle third, with the name of one the traffic is that of `mixes`.
Run as `python -m tests.bench.live RATE SECONDS [pause | MIX]`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from inspector.engine.requests.context_tree import FollowContexts
from inspector.engine.requests.log_facts import DescribeLog, LogFacts
from inspector.engine.requests.views import FilterRows
from inspector.ui.app.application import Application
from inspector.ui.document_client import DocumentClient
from tests.bench import machine
from tests.bench.offscreen import Found, Heartbeat, run, until
from tests.bench.received import compare, compare_mix, stamp_errors
from tests.bench.sending import SendingGateway

FILTER = 'context.type == "reasoning"'


class Records:
    """Number of records of a document, asked again and again; the event loop never waits for an answer."""

    def __init__(self, client: DocumentClient) -> None:
        self._client, self._count, self._is_asking = client, 0, False
        self.latest()

    def latest(self) -> int:
        """Returns the last known number, and asks for the present one."""
        if not self._is_asking:
            self._is_asking = True
            self._client.send_request(DescribeLog(), self._note)
        return self._count

    def _note(self, facts: LogFacts) -> None:
        self._count, self._is_asking = facts.records, False


async def measure(
    application: Application, rate: float, seconds: float, *, pause: bool = False, mix: str | None = None
) -> Found:
    """Send for so many seconds and look what arrived."""
    count = round(rate * seconds)
    with (
        tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder,
        SendingGateway(rate=rate, count=count, log=(log := Path(folder) / "sent.jsonl"), mix=mix) as gateway,
    ):
        window = application.new_window()
        while "capture_saving" not in vars(window):  # noqa: ASYNC110  made a piece each turn of the loop, once painted
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)
        if not window.gateway.watch(gateway.connection()):
            raise OSError("the capture file could not be made")
        await until(lambda: window.shown.state.messages >= 1, "the welcome", 40)
        panes = window.panes
        assert panes is not None
        panes.filter_state.apply_filter(FILTER)
        panes.contexts.expand_all()

        records = Records(panes.client)

        def arrived() -> int:  # a mix says some messages twice
            return window.shown.state.messages if mix is None else records.latest()

        await asyncio.sleep(0.3)
        arrived()
        await asyncio.sleep(0.3)
        own = arrived()  # what is said at joining is there by now
        used, memory, begun = machine.cpu_s(), machine.private_dirty_mb(children=False), time.perf_counter()
        pausing = window.actions_by_id["capture.pause"]
        waiting = 0
        with Heartbeat(application) as heart:
            gateway.go()
            if pause:
                await asyncio.sleep(seconds / 3)
                pausing.trigger()
                await asyncio.sleep(seconds / 3)
                waiting = panes.bridge.waiting
                pausing.trigger()
            sent = await gateway.done(3 * seconds + 20)
            sending = time.perf_counter() - begun
            await until(lambda: arrived() >= own + sent["sent"], "the last message", 2 * seconds + 20)
            behind = time.perf_counter() - begun - sending
            await asyncio.sleep(0.2)
        should_show = len(panes.client.answer_now(FilterRows(99, FILTER)).visible)
        await until(lambda: len(panes.rows) == should_show, "the last row", 20)
        found: Found = {"sent": sent["sent"], "sent_s": sent["seconds"], "sender_late_s": sent["late_s"]}
        found |= heart.found() | {"behind_s": behind, "cpu_s": machine.cpu_s() - used}
        own_mb = machine.private_dirty_mb(children=False)
        found |= {"memory_mb": own_mb - memory, "workers_mb": machine.private_dirty_mb() - own_mb, "waiting": waiting}
        found |= {"received": arrived() - own, "shown": len(panes.rows.visible)}
        found["should_show"] = should_show
        found["contexts"] = len(panes.client.answer_now(FollowContexts()).nodes)
        path = window.shown.state.path
        assert path is not None
        await window.gateway.end_session()
        if mix is not None:
            return found | compare_mix(path, mix, sent["sent"])
        found |= stamp_errors(path, log)
    return found | compare(path, sent=sent["sent"], start_ms=sent["start_ms"], rate=rate)


if __name__ == "__main__":
    rate, seconds = float(sys.argv[1]), float(sys.argv[2])
    what = sys.argv[3] if len(sys.argv) > 3 else ""
    pause, mix = what == "pause", what if what not in ("", "pause") else None
    print(json.dumps(run(lambda application: measure(application, rate, seconds, pause=pause, mix=mix))))
