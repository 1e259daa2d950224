"""A recorder in a process of its own: it goes on without its engine, another one continues, and it ends by itself."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.document.live import LiveSession
from inspector.sources import recorder_client
from inspector.sources.connection import Connection
from inspector.sources.recorder_client import RecorderClient, remove_killed
from inspector.sources.recorder_places import find_places, recorders_folder
from inspector.sources.state import SourceState
from inspector.store.files.capture_writer import CaptureWriter
from tests.numbered import NumberedGateway
from tests.unit.sources.watching import LONG_S

pytestmark = [
    pytest.mark.real, pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="neither kill -9 nor the end of one side of a socket"),
]  # fmt: skip


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LONG_S):
        while not condition():  # noqa: ASYNC110  another process sets no event
            await asyncio.sleep(0.01)


async def recording(gateway: NumberedGateway, folder: Path) -> RecorderClient:
    """A recorder that has joined."""
    connection = Connection(url=gateway.url, space="demo")
    CaptureWriter(folder / "a.ctxcap", origin=connection.origin()).close()
    client = RecorderClient.for_gateway(connection, folder / "a.ctxcap")
    client.begin(lambda: None)
    await gateway.joined()
    await until(lambda: client.connection.state == SourceState.CONNECTED.value)
    return client


def pid_of(client: RecorderClient) -> int:
    (file,) = find_places(client.path)
    return int(file.name)


def drop(client: RecorderClient) -> None:
    """End the connection as the end of the engine does."""
    with socket.socket(fileno=os.dup(client._channel.fileno())) as one:
        one.shutdown(socket.SHUT_RDWR)


def numbers(path: Path) -> list[int]:
    lines = path.read_bytes().splitlines()[1:]
    frames = [json.loads(line)["frame"] for line in lines if b'"dir":"in"' in line[:60]]
    return [frame["payload"]["n"] for frame in frames if frame["kind"] == "chat"]


async def attached(path: Path) -> RecorderClient:
    """The recorder of a capture, once it has noticed the end of its engine."""
    async with asyncio.timeout(LONG_S):
        while (client := RecorderClient.attach(path)) is None:  # noqa: ASYNC110  another process sets no event
            await asyncio.sleep(0.01)
    return client


async def test_another_engine_continues_where_the_first_has_ended(user_folders: Path) -> None:
    async with NumberedGateway() as gateway:
        first = await recording(gateway, user_folders)
        await gateway.say(100)
        assert RecorderClient.attach(first.path) is None
        drop(first)
        await gateway.say(100)
        second = await attached(first.path)
        second.begin(lambda: None)
        assert second.connection.state == SourceState.CONNECTED.value
        assert (second.connection.space, second.connection.url) == ("demo", gateway.url)
        await gateway.say(100)
        second.leave()
        await until(lambda: second.closed)
    assert numbers(first.path) == list(range(1, 301))
    assert second.connection.complete
    await until(lambda: list(recorders_folder().iterdir()) == [])


async def test_a_document_that_another_engine_opens_is_live_and_has_all(user_folders: Path) -> None:
    async with NumberedGateway() as gateway:
        first = await recording(gateway, user_folders)
        await gateway.say(3_000, 300)
        drop(first)
        document = CaptureDocument()
        session = LiveSession(await attached(first.path), document, on_state=lambda: None)
        document.sources.waits = False
        for _ in document.open_live(first.path, name="demo", block_bytes=1 << 18):
            await asyncio.sleep(0)
        assert document.live
        session.start()
        await gateway.say(1_000, 300)
        await until(lambda: document.kind_counts().get("chat") == 4_000)
        await session.close()
        assert session.complete
        document.close()


async def test_without_an_engine_it_leaves_after_a_while(user_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_client, "_ALONE_S", 0.5)
    async with NumberedGateway() as gateway:
        client = await recording(gateway, user_folders)
        drop(client)
        await until(lambda: find_places(client.path) == {})
        assert b'"mark":"closed"' in client.path.read_bytes()


async def test_without_an_engine_it_ends_when_its_capture_is_deleted(user_folders: Path) -> None:
    async with NumberedGateway() as gateway:
        client = await recording(gateway, user_folders)
        drop(client)
        client.path.unlink()
        await until(lambda: list(recorders_folder().iterdir()) == [])


async def test_the_end_of_a_recorder_is_a_sentence_and_its_capture_stays(user_folders: Path) -> None:
    async with NumberedGateway() as gateway:
        client = await recording(gateway, user_folders)
        await gateway.say(100)
        await until(lambda: len(numbers(client.path)) == 100)
        os.kill(pid_of(client), signal.SIGKILL)
        await until(lambda: client.closed)
        assert client.connection.state == SourceState.FAILED.value
        assert client.connection.sentence.startswith("The recorder of the capture has ended unexpectedly.")
        with pytest.raises(OSError, match="ended unexpectedly"):
            client.write_all_now()
        assert RecorderClient.attach(client.path) is None
        assert list(recorders_folder().iterdir()) == []


async def test_what_a_killed_recorder_leaves_is_removed_and_others_stay(user_folders: Path) -> None:
    async with NumberedGateway() as gateway:
        client = await recording(gateway, user_folders)
        (user_folders / "b").mkdir()
        other = await recording(gateway, user_folders / "b")
        (place,) = find_places(client.path).values()
        os.kill(pid_of(client), signal.SIGKILL)
        await until(lambda: client.closed)
        remove_killed()
        assert not Path(place.address).parent.exists()
        assert [file.name for file in recorders_folder().iterdir()] == [str(pid_of(other))]
        other.write_all_now()
        other.leave()
        await until(lambda: other.closed)


@pytest.mark.skipif(sys.platform != "linux", reason="sets a limit of another process")
async def test_another_engine_continues_after_files_were_short(user_folders: Path) -> None:
    import resource  # not on Windows

    async with NumberedGateway() as gateway:
        first = await recording(gateway, user_folders)
        pid = pid_of(first)
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, before[1]))
        drop(first)
        # One engine may still attach: a waiting `accept` can have its descriptor from before the limit.
        while (one := RecorderClient.attach(first.path, limit_s=1.0)) is not None:
            drop(one)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        last = await attached(first.path)
        last.begin(lambda: None)
        last.leave()
        await until(lambda: last.closed)


async def test_a_recorder_continues_in_another_file(user_folders: Path) -> None:
    async with NumberedGateway() as gateway:
        client = await recording(gateway, user_folders)
        await gateway.say(10)
        client.write_all_now()
        part, named = user_folders / "part", user_folders / "b.ctxcap"
        part.write_bytes(b"")
        client.switch_to_file(part, copied=0, named=named)
        await gateway.say(10)
        drop(client)
        other = await attached(named)
        other.begin(lambda: None)
        other.leave()
        await until(lambda: other.closed)
    assert numbers(named) == list(range(1, 21))
    assert len(numbers(user_folders / "a.ctxcap")) == 10


async def test_it_continues_in_another_file_when_only_that_disk_has_room(user_folders: Path) -> None:
    async with NumberedGateway() as gateway:
        client = await recording(gateway, user_folders)
        await gateway.say(10)
        shutil.rmtree(recorders_folder())  # its place cannot be written anew
        part, named = user_folders / "part", user_folders / "b.ctxcap"
        part.write_bytes(b"")
        client.switch_to_file(part, copied=0, named=named)
        await gateway.say(10)
        client.leave()
        await until(lambda: client.closed)
    assert numbers(named) == list(range(1, 21))


async def test_it_listens_although_the_path_of_the_temporary_folder_has_many_bytes(
    user_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="\u00fc" * 45, dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        async with NumberedGateway() as gateway:
            client = await recording(gateway, user_folders)
            client.leave()
            await until(lambda: client.closed)
