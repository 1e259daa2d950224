"""An engine or its recorder is killed while messages arrive: the next has all, or all but a tenth of a second."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.engine import wire
from inspector.engine.client import EngineClient
from inspector.engine.document_state import DocumentState
from inspector.engine.process import start_engine
from inspector.engine.targets import Gateway, OpenOptions, Target
from inspector.engine.update import Update
from inspector.sources.recorder_client import RecorderClient
from inspector.sources.recorder_places import recorders_folder
from inspector.sources.state import SourceState
from tests.conftest import MS
from tests.e2e.test_kill import LOST_S, SLACK_S, records
from tests.numbered import NumberedGateway

pytestmark = [
    pytest.mark.real, pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9"),
]  # fmt: skip
RATE, SIZE = 1_000, 400
KILLS = int(os.environ.get("TESTS_KILLS", "3"))


class Shown:
    """State of a document in a window, and its failures."""

    def __init__(self) -> None:
        self.state = DocumentState()
        self.failures: list[Exception] = []

    def on_reading(self, progress: wire.Reading) -> None:
        pass

    def on_changed(self, update: Update) -> None:
        pass

    def on_state(self, state: DocumentState) -> None:
        self.state = state

    def on_failed(self, error: Exception) -> None:
        self.failures.append(error)


async def until(condition: Callable[[], object], what: str) -> None:
    try:
        async with asyncio.timeout(120_000 * MS):
            while not condition():  # noqa: ASYNC110  other processes set no event
                await asyncio.sleep(0.01)
    except TimeoutError:
        pytest.fail(f"waited for {what}")


@asynccontextmanager
async def talking() -> AsyncGenerator[NumberedGateway]:
    """A gateway that says numbered messages to whoever has joined."""
    tasks: set[asyncio.Task[None]] = set()
    async with NumberedGateway() as gateway:
        start_task(gateway.say_at(RATE, SIZE), name="say", owner=tasks)
        yield gateway
        await cancel_and_wait(tasks)


async def watched(gateway: NumberedGateway) -> tuple[EngineClient, Shown, int, Path]:
    """An engine that has joined and received messages."""
    client, shown = EngineClient(start_engine()), Shown()
    number = client.connect(Gateway(gateway.url, "demo"), OpenOptions(), shown)
    await until(lambda: shown.state.messages > 10, "the first messages")
    assert shown.state.unsaved is not None
    return client, shown, number, shown.state.unsaved


def kill(client: EngineClient) -> None:
    os.kill(client.pid, signal.SIGKILL)
    client.close()


async def test_a_capture_has_every_message_however_often_its_engine_is_killed(user_folders: Path) -> None:
    async with talking() as gateway:
        client, shown, number, path = await watched(gateway)
        for _ in range(KILLS):
            await asyncio.sleep(random.uniform(0.05, 0.5))
            kill(client)
            client, shown = EngineClient(start_engine()), Shown()
            number = client.open((Target(path, name="demo"),), OpenOptions(follow=True), shown, recovers=True)
            said = gateway.said
            await until(lambda: shown.state.is_live and shown.state.messages >= said + 2, "all")  # noqa: B023  this turn's
            assert shown.failures == []
            assert shown.state.unsaved == path
            assert shown.state.connection is not None
            assert shown.state.connection.state == SourceState.CONNECTED.value
        leaving = client.leave_gateway(number)
        await until(leaving.done, "the end of the connection")
        assert shown.state.connection is not None
        assert shown.state.connection.complete
        (numbers, torn), count = records(path), shown.state.messages
        print(f"{KILLS} kills, {gateway.said:,} sent, {len(numbers):,} on disk, {count:,} in the document")
        assert [one["n"] for one in numbers] == list(range(1, len(numbers) + 1))
        assert count == len(numbers) + 2
        assert shown.state.unreadable == 0
        assert torn == b""
        client.close()
    await until(lambda: list(recorders_folder().iterdir()) == [], "the end of the recorder")


async def test_a_killed_recorder_loses_a_tenth_of_a_second_and_its_document_says_so(user_folders: Path) -> None:
    async with talking() as gateway:
        for _ in range(KILLS):
            client, shown, _number, path = await watched(gateway)
            await asyncio.sleep(random.uniform(0.05, 0.5))
            (recorder,) = (int(file.name) for file in recorders_folder().iterdir())
            killed_ns = time.time_ns()
            os.kill(recorder, signal.SIGKILL)
            await until(lambda: not shown.state.is_live, "the end of the capture")  # noqa: B023  this turn's
            connection = shown.state.connection
            assert connection is not None
            assert connection.state == SourceState.FAILED.value
            assert connection.sentence.startswith("The recorder of the capture has ended unexpectedly.")
            numbers, torn = records(path)
            found = [one["n"] for one in numbers]
            assert found == list(range(found[0], found[0] + len(found)))
            lost_s = (killed_ns - numbers[-1]["sent_ns"]) / 1e9
            print(f"{len(found):,} messages, the last {lost_s * 1000:.0f} ms old, {len(torn)} bytes torn")
            assert lost_s < LOST_S + SLACK_S
            assert shown.state.messages == len(found) + 2
            client.close()
            assert RecorderClient.attach(path) is None
            assert list(recorders_folder().iterdir()) == []


@pytest.mark.parametrize("number", ["SIGHUP", "SIGTERM"])
async def test_no_recorder_outlives_a_window_that_ends_with_its_engine(user_folders: Path, number: str) -> None:
    """A closed terminal sends SIGHUP to both, `timeout` SIGTERM."""
    async with talking() as gateway:
        client, _shown, _number, path = await watched(gateway)
        os.kill(client.pid, getattr(signal, number))
        client.close()
        await until(lambda: list(recorders_folder().iterdir()) == [], "the end of the recorder")
        assert b'"mark":"closed"' in path.read_bytes().splitlines()[-1]
