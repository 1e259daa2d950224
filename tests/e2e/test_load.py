"""Correctness under load: counts, order, no duplicates, no loss. How fast it goes is measured in tests/bench."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from inspector.engine.log import Log
from inspector.engine.requests.rows import MessageRows
from inspector.engine.requests.summaries import SummarizeLog
from inspector.engine.requests.views import FilterRows
from inspector.engine.targets import OpenOptions, Target
from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.bench.follow import FIRST_LINE, numbers_of, writing
from tests.bench.generate import write_envelopes, write_gateway_log
from tests.bench.received import compare
from tests.bench.sending import SendingGateway
from tests.ui.windows import panes_of, run_in_window, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

BURST_RATE = 200_000.0
"""Messages a second: far more than anybody takes in, so that they come as fast as they are taken."""
BURST = 30_000
FILTER = 'context.type == "reasoning"'


def messages_of(window: MainWindow) -> int:
    """Messages of the document, by the last state that its engine sent."""
    return window.shown.state.messages


async def watching(application: Application, gateway: SendingGateway) -> MainWindow:
    """A window that has joined, with a filter in force and the tree open."""
    window = application.new_window()
    assert window.gateway.watch(gateway.connection())
    await until(lambda: messages_of(window) == 2, "our join and the welcome")
    panes_of(window).filter_state.apply_filter(FILTER)
    await until(lambda: panes_of(window).rows.filter.text == FILTER, "the filter")
    panes_of(window).contexts.expand_all()
    return window


async def all_arrived(window: MainWindow, gateway: SendingGateway, count: int) -> None:
    """Everything was received, is shown as the filter says, and lies on disk exactly as it was sent, once, in order."""
    sent = await gateway.done(100)
    await until(lambda: messages_of(window) >= 2 + count, "the last message", 100)
    assert messages_of(window) == 2 + count
    panes = panes_of(window)
    matching = panes.client.answer_now(FilterRows(99, FILTER)).visible
    assert 0 < len(matching) < count
    await until(lambda: len(panes.rows) == len(matching), "the last row")
    assert np.array_equal(panes.rows.visible, matching)
    assert panes.messages.model.rowCount() == len(matching)
    path = panes.client.state.path
    assert path is not None
    await window.gateway.end_session()
    assert compare(path, sent=count, start_ms=sent["start_ms"], rate=BURST_RATE) == {
        "kept": count, "lost": 0, "duplicates": 0, "in_order": True, "bytes_equal": True,
    }  # fmt: skip


def test_a_burst_arrives_whole_and_in_order(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with SendingGateway(rate=BURST_RATE, count=BURST) as gateway:
            window = await watching(application, gateway)
            gateway.go()
            await all_arrived(window, gateway, BURST)

    run_in_window(qapp, steps)


def test_pausing_the_view_stops_nothing(qapp: QApplication) -> None:
    count = 18_000

    async def steps(application: Application) -> None:
        with SendingGateway(rate=BURST_RATE, count=count) as gateway:
            window = await watching(application, gateway)
            panes = panes_of(window)
            pause, flushed = window.actions_by_id["capture.pause"], [0]
            panes.bridge.flushed.connect(lambda update: flushed.append(update.stop))
            gateway.go()
            await until(lambda: len(panes.rows) > 0, "the first rows")
            pause.trigger()
            # What was on its way into the view when it was paused may still come.
            rows = panes.rows
            await until(lambda: rows.seen_count >= flushed[-1] and not rows.is_behind, "the rows on their way")
            held = len(panes.rows)
            await until(lambda: messages_of(window) > count - 3_000, "the capture going on")
            assert len(panes.rows) == held
            assert panes.bridge.waiting > 0
            pause.trigger()
            await until(lambda: len(panes.rows) > held, "the rows that waited")
            await all_arrived(window, gateway, count)

    run_in_window(qapp, steps)


@pytest.mark.parametrize(
    ("write", "messages"), [(write_envelopes, 50_000), (write_gateway_log, 8_000)], ids=["envelopes", "gateway-log"]
)
def test_a_log_opened_in_the_window_is_the_log_read_without_one(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: object, messages: int
) -> None:
    # Processes that read start as they do from the program, and not with all that pytest imports.
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", find_spec("inspector.__main__"))
    path = tmp_path / "envelope-history.jsonl"
    assert callable(write)
    write(path, messages)
    alone = Log.read([Target(path)], OpenOptions(checked=True))

    async def steps(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(path)
        client = panes_of(window).client
        await until(lambda: len(panes_of(window).rows) == messages, "the last row")
        assert messages_of(window) == messages
        assert client.answer_now(SummarizeLog()) == alone.answer_to(SummarizeLog())
        some = MessageRows(tuple(range(0, messages, messages // 500)))
        assert client.answer_now(some) == alone.answer_to(some)

    try:
        run_in_window(qapp, steps)
    finally:
        alone.close()


def test_a_log_that_grows_and_is_rotated_is_followed_whole(qapp: QApplication, tmp_path: Path) -> None:
    log, count = tmp_path / "growing.jsonl", 15_000
    log.write_bytes(FIRST_LINE)

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(log)
        await until(lambda: messages_of(window), "the line that was there before")
        with writing(log, 20_000, count):
            await until(lambda: messages_of(window) >= 1 + count + 1, "the last line and the rotation", 100)
        await until(lambda: len(panes_of(window).rows) == messages_of(window), "the last row")
        numbers, others = await numbers_of(panes_of(window).client)
        assert numbers == list(range(count))
        assert others == 2, "the line before, and one row for the rotation"

    run_in_window(qapp, steps)
