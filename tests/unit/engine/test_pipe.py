"""The engine as a process: the same answers as in process, failures, cancellation, its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from inspector.demo.gateway import DemoGateway
from inspector.engine import wire
from inspector.engine.client import EngineClient, EngineDiedError, OpenFailedError
from inspector.engine.document_state import DocumentState
from inspector.engine.engine import Engine
from inspector.engine.frames import framed
from inspector.engine.opening import OpenOptions, Target
from inspector.engine.process import COMMAND
from inspector.engine.request import Request, RequestError
from inspector.engine.requests.latency import Latencies
from inspector.engine.requests.rows import MessageRows
from inspector.engine.requests.stories import ListMessages
from inspector.engine.requests.summaries import SummarizeLog
from inspector.engine.requests.views import CountMatches, FilterRows
from inspector.engine.targets import Gateway
from inspector.engine.update import Update
from inspector.settings import Settings, save_settings
from inspector.store.files.capture_folder import captures_folder
from tests.bench.engine import children_of, kill_repeatedly
from tests.bench.generate import write_envelopes
from tests.builders import envelope, lines_of, tool_call, tool_result
from tests.plugins import plugin_file

pytestmark = pytest.mark.real
_WAIT_S = 60
_HELLO = framed(msgspec.msgpack.encode(wire.Hello(wire.SCHEMA, "test")))


class Events:
    """Notes the events of a document."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.error: Exception | None = None
        self.updates: list[Update] = []
        self.states: list[DocumentState] = []

    def on_reading(self, progress: wire.Reading) -> None:
        if progress.ended:
            self.ended.set()

    def on_changed(self, update: Update) -> None:
        self.updates.append(update)

    def on_state(self, state: DocumentState) -> None:
        self.states.append(state)

    def connection_state(self) -> str | None:
        connection = self.states[-1].connection if self.states else None
        return connection.state if connection is not None else None

    def is_complete(self) -> bool:
        connection = self.states[-1].connection
        return connection is not None and connection.complete

    def wait_for(self, condition: Callable[[], bool]) -> bool:
        """Waits until a condition on the events is true; False after a minute."""
        until = time.monotonic() + _WAIT_S
        while time.monotonic() < until:
            if self.states and condition():
                return True
            time.sleep(0.01)
        return False

    def on_failed(self, error: Exception) -> None:
        self.error = error
        self.ended.set()


@pytest.fixture(scope="module")
def client() -> Generator[EngineClient]:
    client = EngineClient()
    yield client
    client.close()


@pytest.fixture
def own_client() -> Generator[EngineClient]:
    client = EngineClient()
    yield client
    client.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    ask = tool_call("grep", to="files")
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (ask, tool_result(ask), envelope())))
    return path


def opened(client: EngineClient, path: Path) -> tuple[int, Events]:
    events = Events()
    number = client.open([Target(path)], OpenOptions(), events)
    assert events.ended.wait(_WAIT_S)
    return number, events


def test_answers_are_those_of_an_engine_in_process(client: EngineClient, log: Path) -> None:
    number, events = opened(client, log)
    assert events.error is None
    assert events.updates[-1].stop == 3
    own = Engine()
    here, steps = own.open([Target(log)])
    own.read(steps)
    requests: list[Request[Any]] = [CountMatches(1, "tool"), MessageRows((0, 2)), Latencies("participant")]
    for request in requests:
        there = client.send_request(number, request).result(_WAIT_S).answer
        mine = own.answer_request(here, request)
        assert np.array_equal(there, mine) if isinstance(mine, np.ndarray) else there == mine
    own.close()


def test_failures_are_sentences(client: EngineClient, log: Path, tmp_path: Path) -> None:
    number, _ = opened(client, log)
    with pytest.raises(RequestError, match="missing"):
        client.send_request(number, FilterRows(1, "kind ==")).result(_WAIT_S)
    with pytest.raises(RequestError, match="no open document"):
        client.send_request(number + 100, Latencies()).result(_WAIT_S)
    _, missing = opened(client, tmp_path / "none.jsonl")
    assert isinstance(missing.error, OpenFailedError)
    assert missing.error.kind == "unreadable"


def test_parts_come_before_the_answer(client: EngineClient, log: Path) -> None:
    number, _ = opened(client, log)
    rows: list[dict[str, Any]] = []
    client.request_parts(number, ListMessages(("no", "from")), rows.extend).result(_WAIT_S)
    assert [row["no"] for row in rows] == [1, 2, 3]


def test_a_growing_log_is_followed_and_counted(client: EngineClient, log: Path) -> None:
    events = Events()
    number = client.open([Target(log)], OpenOptions(follow=True, count_tokens=True), events)
    assert events.ended.wait(_WAIT_S)
    with log.open("ab") as file:
        file.write(msgspec.json.encode(envelope()) + b"\n")
    assert events.wait_for(lambda: events.updates[-1].stop == 4)
    assert events.wait_for(lambda: events.states[-1].uncounted_bytes == 0 and not events.states[-1].is_checking)
    assert events.states[-1].followed is not None
    client.close_document(number)
    with pytest.raises(RequestError, match="no open document"):
        client.send_request(number, Latencies()).result(_WAIT_S)


def test_a_stopped_reading_goes_on(client: EngineClient, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(lines_of(*(envelope() for _ in range(30_000))))
    events = Events()
    number = client.open([Target(path)], OpenOptions(), events)
    client.stop_reading(number)
    assert events.ended.wait(_WAIT_S)
    before = len(client.send_request(number, FilterRows(1)).result(_WAIT_S).answer.visible)
    assert before < 30_000
    events.ended.clear()
    client.continue_document(number)
    assert events.ended.wait(_WAIT_S)
    assert len(client.send_request(number, FilterRows(1)).result(_WAIT_S).answer.visible) == 30_000
    client.close_document(number)


async def test_a_gateway_is_joined_left_and_saved(client: EngineClient, tmp_path: Path) -> None:
    events = Events()
    async with DemoGateway(space="demo") as gateway:
        number = client.connect(Gateway(gateway.url, "demo"), OpenOptions(), events)
        assert await asyncio.to_thread(events.wait_for, lambda: events.connection_state() == "connected")
        assert await asyncio.to_thread(events.wait_for, lambda: any(update.stop for update in events.updates))
        client.stop_reading(number)
        assert await asyncio.to_thread(events.wait_for, lambda: events.is_complete())
    target = tmp_path / "saved.ctxcap"
    assert client.save_document(number, target).result(_WAIT_S).answer == wire.Saved(target, is_moved=True)
    kinds = client.send_request(number, SummarizeLog()).result(_WAIT_S).answer.figures["kinds"]
    client.close_document(number, discard=True)
    again, _ = opened(client, target)
    assert client.send_request(again, SummarizeLog()).result(_WAIT_S).answer.figures["kinds"] == kinds


def test_a_missing_gateway_is_a_state(client: EngineClient) -> None:
    events = Events()
    number = client.connect(Gateway("ws://127.0.0.1:9", "demo"), OpenOptions(), events)
    assert events.wait_for(lambda: events.connection_state() == "failed")
    client.close_document(number, discard=True)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xff\xff\xff", "exceeds the limit"),
        (b"\x00\x00\x00\x40", "exceeds the limit"),
        (b"\x01\x00\x00\x00\xc1", "must be a greeting"),
        (framed(msgspec.msgpack.encode(wire.Close(1))), "must be a greeting"),
        (framed(msgspec.msgpack.encode(wire.Hello(0, "old"))), "same version"),
        (_HELLO + framed(b"\xc1"), "malformed"),
        (_HELLO + framed(msgspec.msgpack.encode({"type": "unheard of"})), "malformed"),
        (_HELLO + _HELLO, "greeting before"),
    ],
)  # fmt: skip
def test_a_malformed_frame_ends_the_engine_with_a_sentence(data: bytes, words: str) -> None:
    done = subprocess.run(COMMAND, input=data, capture_output=True, timeout=_WAIT_S, check=True)
    *_, last = wire.FrameSplitter().feed(done.stdout)
    failure = wire.decoded_by_window(last)
    assert isinstance(failure, wire.Failure)
    assert words in failure.sentence


def test_an_unknown_request_is_refused_and_the_engine_goes_on() -> None:
    unknown = wire.Ask(1, 1, msgspec.Raw(msgspec.msgpack.encode({"type": "Unheard"})))
    data = _HELLO + wire.frame_of(unknown) + wire.frame_of(wire.Save(2, 7, Path("x")))
    done = subprocess.run(COMMAND, input=data, capture_output=True, timeout=_WAIT_S, check=True)
    answers = [wire.decoded_by_window(body) for body in wire.FrameSplitter().feed(done.stdout)]
    assert [type(one) for one in answers] == [wire.Hello, wire.Failure, wire.Failure]


def test_a_killed_engine_fails_what_is_pending_and_says_so(own_client: EngineClient, log: Path) -> None:
    number, events = opened(own_client, log)
    events.ended.clear()
    os.kill(own_client.pid, signal.SIGKILL)
    assert events.ended.wait(_WAIT_S)
    assert isinstance(events.error, EngineDiedError)
    with pytest.raises(EngineDiedError):
        own_client.send_request(number, Latencies()).result(_WAIT_S)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGSTOP")
def test_requests_to_a_hung_engine_do_not_block_and_are_answered_later(own_client: EngineClient, log: Path) -> None:
    number, _events = opened(own_client, log)
    os.kill(own_client.pid, signal.SIGSTOP)
    # More than its pipe holds, and one that is larger than the pipe.
    asked = [own_client.send_request(number, Latencies()) for _ in range(2_000)]
    large = own_client.send_request(number, FilterRows(1, "x" * 100_000))
    with pytest.raises(RequestError, match="does not answer in time"):
        own_client.answer_within(number, Latencies(), 0.2)
    began = time.monotonic()
    with pytest.raises(RequestError, match="does not answer in time"):
        own_client.answer_within(number, Latencies(), _WAIT_S)
    assert time.monotonic() - began < _WAIT_S / 2
    os.kill(own_client.pid, signal.SIGCONT)
    for one in asked:
        one.result(_WAIT_S)
    with pytest.raises(RequestError, match="100,002 characters"):
        large.result(_WAIT_S)
    own_client.answer_within(number, Latencies(), _WAIT_S)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGSTOP")
def test_a_hung_engine_that_takes_no_requests_can_be_ended(own_client: EngineClient, log: Path) -> None:
    number, _events = opened(own_client, log)
    os.kill(own_client.pid, signal.SIGSTOP)
    asked = [own_client.send_request(number, Latencies()) for _ in range(2_000)]
    own_client.close()
    with pytest.raises(EngineDiedError):
        asked[-1].result(_WAIT_S)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="there is no niceness")
def test_the_window_gets_the_processor_before_its_engine(own_client: EngineClient) -> None:
    assert os.getpriority(os.PRIO_PROCESS, own_client.pid) > os.getpriority(os.PRIO_PROCESS, 0)


def test_it_ends_with_its_input(own_client: EngineClient) -> None:
    own_client.close()
    assert own_client.died is not None
    with pytest.raises(ProcessLookupError):
        os.kill(own_client.pid, 0)


@pytest.mark.trouble
def test_engines_killed_at_any_moment_leave_nothing_behind(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    write_envelopes(log, 5_000)
    found = kill_repeatedly(log, 10)
    assert found == {"kills": 10, "unfailed": 0, "left": 0, "files": 0}


@pytest.mark.trouble
def test_a_killed_window_ends_its_engine(log: Path) -> None:
    window = subprocess.Popen(
        [sys.executable, "-c", _WINDOW, str(log)], stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    assert window.stdout is not None
    engine = int(window.stdout.readline())
    processes = [engine, *children_of(engine)]
    window.kill()
    window.wait()
    window.stdout.close()
    until = time.monotonic() + _WAIT_S
    while any(Path(f"/proc/{pid}").exists() for pid in processes) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in processes if Path(f"/proc/{pid}").exists()]


_WINDOW = """
import sys, time
from pathlib import Path
from inspector.engine.client import EngineClient
from inspector.engine.targets import OpenOptions, Target
from tests.bench.engine import Events
client, events = EngineClient(), Events()
client.open([Target(Path(sys.argv[1]))], OpenOptions(follow=True, count_tokens=True), events)
events.ended.wait()
print(client.pid, flush=True)
time.sleep(600)
"""
"""A program that dies with an engine at work."""


def test_plugins_switched_on_later_are_loaded_and_their_failures_told(own_client: EngineClient, log: Path) -> None:
    _, before = opened(own_client, log)
    assert before.states[-1].plugin_failures == []
    check = "Check(code='toy', severity='note', title='T', sentence='S', matters='M', fix='F', find=find)"
    find = "def find(messages, memory):\n    raise ValueError('no')"
    code = f"from inspector.plugin import Check\n{find}\nCHECKS = [{check}]"
    save_settings(Settings(plugins=[plugin_file("toy", code)]))
    _, events = opened(own_client, log)
    assert events.wait_for(lambda: bool(events.states[-1].plugin_failures))
    (sentence,) = events.states[-1].plugin_failures
    assert sentence.endswith("check toy is switched off for this log: it raised ValueError: no.")


def test_an_unsaved_capture_that_cannot_be_read_stays(user_folders: Path) -> None:
    path, events, client = captures_folder() / "demo.ctxcap", Events(), EngineClient()
    path.write_bytes(b"damaged")
    client.open((Target(path),), OpenOptions(), events, recovers=True)
    assert events.ended.wait(_WAIT_S)
    client.close()
    assert isinstance(events.error, OpenFailedError)
    assert path.exists()
