"""Time from sending a frame to its painted row, in the real window with its engine. Prints one JSON object.

The table follows the newest message, without a filter, and the sender's process is paced. A row counts as painted
when the table has been painted with the contents of the row on screen; a placeholder does not count.
Run as `python -m tests.bench.painted RATE SECONDS`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QObject, QTimer
from typing_extensions import override

from inspector.ui.app.application import Application
from inspector.ui.docview.center import MESSAGES
from inspector.ui.panels.messages.view import MessageView
from tests.bench.offscreen import Found, Heartbeat, run, until
from tests.bench.sending import SendingGateway


class PaintedRows(QObject):
    """Notes the last message on screen after each painting of the table.

    Attributes:
        moments: times in nanoseconds, and the number of messages up to the last painted row.
    """

    def __init__(self, view: MessageView) -> None:
        super().__init__(view)
        self._view = view
        self.moments: list[tuple[int, int]] = []
        view.viewport().installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self, self._note)
        return False

    def _note(self) -> None:
        model, view = self._view.messages, self._view
        last = view.indexAt(view.viewport().rect().bottomLeft()).row()
        if last < 0:
            last = len(model.rows) - 1
        while last >= 0 and not model.knows(model.message_at_row(last)[0]):
            last -= 1
        if last >= 0:
            self.moments.append((time.time_ns(), model.message_at_row(last)[0] + 1))


async def measure(application: Application, rate: float, seconds: float) -> Found:
    """Sends for so many seconds and notes when the rows are painted."""
    count = round(rate * seconds)
    with (
        tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder,
        SendingGateway(rate=rate, count=count, log=(log := Path(folder) / "sent.jsonl")) as gateway,
    ):
        window = application.new_window()
        await asyncio.sleep(0.5)
        if not window.gateway.watch(gateway.connection()):
            raise OSError("the capture file could not be made")
        await until(lambda: window.shown.state.messages >= 1, "the welcome", 40)
        await asyncio.sleep(0.5)
        assert window.panes is not None
        window.center.show_view(MESSAGES)
        own = window.shown.state.messages
        painted = PaintedRows(window.panes.messages.view)
        with Heartbeat(application) as heart:
            gateway.go()
            sent = await gateway.done(3 * seconds + 20)
            await until(lambda: window.shown.state.messages >= own + sent["sent"], "the last message", 20)
            await asyncio.sleep(1)
        entries = [json.loads(line) for line in log.read_bytes().splitlines()]
        await window.gateway.end_session()
    taken = np.array([[entry["sent"], entry["t"]] for entry in entries], np.int64)
    # The first sight of each message.
    times, ends = np.array(painted.moments, np.int64).T
    ends = np.maximum.accumulate(ends) - own
    messages = np.arange(1, sent["sent"] + 1)
    seen = np.searchsorted(ends, messages)
    unseen = int(np.count_nonzero(seen == len(ends)))
    messages, seen = messages[seen < len(ends)], seen[seen < len(ends)]
    delay = (times[seen] - taken[np.searchsorted(taken[:, 0], messages), 1]) / 1e9
    p50, p99 = (float(one) for one in np.percentile(delay, (50, 99)))
    found: Found = {"painted_p50_s": p50, "painted_p99_s": p99, "painted_max_s": float(delay.max()), "unseen": unseen}
    return found | {"sent": sent["sent"], "paintings": len(times)} | heart.found()


if __name__ == "__main__":
    print(json.dumps(run(lambda application: measure(application, float(sys.argv[1]), float(sys.argv[2])))))
