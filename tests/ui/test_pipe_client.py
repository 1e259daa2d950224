"""A window's client of an engine process: answers, events, waiting, failures, its end."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from inspector.engine.client import EngineDiedError, OpenFailedError
from inspector.engine.process import start_engine
from inspector.engine.request import RequestError
from inspector.engine.requests.latency import Latencies
from inspector.engine.requests.rows import MessageRows
from inspector.engine.requests.stories import ListMessages
from inspector.engine.requests.summaries import SummarizeLog
from inspector.engine.requests.views import FilterRows
from inspector.engine.targets import OpenOptions, Target
from inspector.ui import pipe_client
from inspector.ui.app.engines import Engines
from inspector.ui.engine_process import EngineProcess
from inspector.ui.pipe_client import PipeClient
from tests.builders import envelope, tool_call, tool_result

pytestmark = pytest.mark.real
_WAIT_MS = 90_000


@pytest.fixture
def log(tmp_path: Path) -> Path:
    ask = tool_call("grep", to="files")
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (ask, tool_result(ask), envelope())))
    return path


@pytest.fixture
def long_log(tmp_path: Path) -> Path:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(envelope()) + b"\n" for _ in range(40_000)))
    return path


@pytest.fixture
def owner() -> Iterator[QObject]:
    made = QObject()
    yield made
    made.deleteLater()


@pytest.fixture(scope="module")
def engine(qapp: object) -> Iterator[EngineProcess]:
    """An engine for the tests that leave it alive."""
    made = EngineProcess(start_engine())
    made.add_user()
    yield made
    made.remove_user()
    made.client.close()


@pytest.fixture
def own_engine(qapp: object) -> Iterator[EngineProcess]:
    made = EngineProcess(start_engine())
    yield made
    made.client.close()


@pytest.fixture
def open_client(owner: QObject, qtbot: QtBot) -> Iterator[Callable[..., PipeClient]]:
    """Opens a log and waits for its end."""
    made: list[PipeClient] = []

    def opened(engine: EngineProcess, *paths: Path) -> PipeClient:
        client = PipeClient(engine, owner)
        made.append(client)
        with qtbot.waitSignal(client.progressed, timeout=_WAIT_MS, check_params_cb=lambda progress: progress.ended):
            client.open([Target(path) for path in paths], OpenOptions())
        return client

    yield opened
    for client in made:
        client.close()


def test_a_log_is_opened_and_answers_arrive_later(
    engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    client = open_client(engine, log)
    assert (client.state.messages, client.state.name, client.version > 0) == (3, "log.jsonl", True)
    found: list[object] = []
    client.send_request(FilterRows(1, "tool"), lambda answer: found.append(answer.visible.tolist()))
    assert found == []
    qtbot.waitUntil(lambda: bool(found), timeout=_WAIT_MS)
    assert found == [[0, 1]]


def test_the_state_is_known_before_the_first_messages_are_reported(
    engine: EngineProcess, owner: QObject, log: Path, qtbot: QtBot
) -> None:
    client = PipeClient(engine, owner)
    seen: list[tuple[int, str]] = []
    client.progressed.connect(
        lambda one: seen.append((client.state.messages, client.state.name)) if one.messages else None
    )
    with qtbot.waitSignal(client.progressed, timeout=_WAIT_MS, check_params_cb=lambda progress: progress.ended):
        client.open([Target(log)], OpenOptions())
    assert set(seen) == {(3, "log.jsonl")}
    client.close()


def test_an_act_of_the_user_waits_for_its_answer_alone(
    engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    client = open_client(engine, log)
    order: list[str] = []
    client.send_request(Latencies(), lambda _answer: order.append("first"))
    client.send_request(Latencies("participant"), lambda _answer: order.append("second"))
    assert client.answer_now(MessageRows((0,)))
    # Other answers arrive in the event loop, in their order.
    assert order == []
    qtbot.waitUntil(lambda: len(order) == 2, timeout=_WAIT_MS)
    assert order == ["first", "second"]


def test_a_question_that_cannot_be_answered_fails_with_a_sentence(
    engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    client = open_client(engine, log)
    with pytest.raises(RequestError, match="A value is expected"):
        client.answer_now(FilterRows(1, "nonsense == ("))
    failures: list[object] = []
    client.send_request(FilterRows(1, "nonsense == ("), failures.append, failures.append)
    qtbot.waitUntil(lambda: bool(failures), timeout=_WAIT_MS)
    assert isinstance(failures[0], str)


def test_waiting_for_an_answer_is_bounded(
    own_engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = open_client(own_engine, log)
    monkeypatch.setattr(pipe_client, "ANSWER_S", 0.1)
    os.kill(own_engine.client.pid, signal.SIGSTOP)
    try:
        with pytest.raises(RequestError, match="does not answer in time"):
            client.answer_now(MessageRows((0,)))
    finally:
        os.kill(own_engine.client.pid, signal.SIGCONT)
    monkeypatch.setattr(pipe_client, "ANSWER_S", 60)
    assert client.answer_now(MessageRows((0,)))


def test_a_cancelled_request_calls_nothing(
    engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    client = open_client(engine, log)
    called: list[object] = []
    tickets = [
        client.send_request(Latencies(), called.append, called.append),
        client.request_parts(ListMessages(("no",)), called.append, called.append, called.append),
    ]
    for ticket in tickets:
        ticket.cancel()
    last: list[object] = []
    client.send_request(SummarizeLog(), last.append)
    qtbot.waitUntil(lambda: bool(last), timeout=_WAIT_MS)
    assert called == []


def test_an_answer_in_parts_arrives_after_its_parts(
    engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    client = open_client(engine, log)
    found: list[object] = []
    client.request_parts(ListMessages(("no",)), lambda rows: found.extend(rows), lambda _answer: found.append("end"))
    qtbot.waitUntil(lambda: "end" in found, timeout=_WAIT_MS)
    assert len(found) == 4


def test_a_failed_callback_holds_up_no_other(
    engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    client = open_client(engine, log)
    found: list[object] = []

    def show(_answer: object) -> None:
        raise ZeroDivisionError

    with qtbot.captureExceptions() as raised:
        client.send_request(Latencies(), show)
        client.send_request(Latencies(), found.append)
        qtbot.waitUntil(lambda: bool(found), timeout=_WAIT_MS)
    assert [kind for kind, *_ in raised] == [ZeroDivisionError]


def test_an_unreadable_log_fails_with_its_kind(
    engine: EngineProcess, owner: QObject, tmp_path: Path, qtbot: QtBot
) -> None:
    client = PipeClient(engine, owner)
    with qtbot.waitSignal(client.failed, timeout=_WAIT_MS) as failure:
        client.open([Target(tmp_path / "missing.jsonl")], OpenOptions())
    assert failure.args is not None
    error = failure.args[0]
    assert isinstance(error, OpenFailedError)
    assert error.kind == "unreadable"
    client.close()


def test_a_document_beside_has_the_same_engine_which_ends_with_the_last(
    own_engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    first = open_client(own_engine, log)
    second = first.beside()
    with qtbot.waitSignal(second.progressed, timeout=_WAIT_MS, check_params_cb=lambda progress: progress.ended):
        second.open([Target(log)], OpenOptions(name="both"))
    first.close()
    assert second.answer_now(MessageRows((0,)))
    with pytest.raises(RequestError, match="is closed"):
        first.answer_now(MessageRows((0,)))
    second.close()
    qtbot.waitUntil(lambda: not own_engine.client.is_running, timeout=_WAIT_MS)


def test_a_killed_engine_fails_all_requests_and_says_so_once(
    own_engine: EngineProcess, open_client: Callable[..., PipeClient], log: Path, qtbot: QtBot
) -> None:
    client = open_client(own_engine, log)
    failures: list[object] = []
    errors: list[Exception] = []
    client.failed.connect(errors.append)
    os.kill(own_engine.client.pid, signal.SIGSTOP)
    for _ in range(3):
        client.send_request(Latencies(), failures.append, failures.append)
    os.kill(own_engine.client.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: bool(errors) and len(failures) == 3, timeout=_WAIT_MS)
    assert [type(error) for error in errors] == [EngineDiedError]
    assert client.state.messages == 3
    with pytest.raises(RequestError):
        client.answer_now(MessageRows((0,)))
    later: list[object] = []
    client.send_request(Latencies(), later.append, later.append)
    qtbot.waitUntil(lambda: bool(later), timeout=_WAIT_MS)
    client.continue_reading()
    client.stop_reading()
    asyncio.run(client.leave_gateway())


def test_an_engine_killed_while_it_opens_a_log_ends_the_reading(
    own_engine: EngineProcess, owner: QObject, long_log: Path, qtbot: QtBot
) -> None:
    client = PipeClient(own_engine, owner)
    with qtbot.waitSignal(client.progressed, timeout=_WAIT_MS):
        client.open([Target(long_log)], OpenOptions())
    with qtbot.waitSignal(client.failed, timeout=_WAIT_MS) as failure:
        os.kill(own_engine.client.pid, signal.SIGKILL)
    assert failure.args is not None
    assert isinstance(failure.args[0], EngineDiedError)
    client.close()


def test_a_spare_engine_is_taken_and_followed_by_the_next(qapp: object, qtbot: QtBot) -> None:
    engines = Engines()
    engines.warm()
    spare = engines.spare
    engines.warm()
    assert spare is not None
    assert engines.spare is spare
    taken = engines.take_engine()
    assert (taken.client.pid, engines.spare) == (spare.pid, None)
    qtbot.waitUntil(lambda: engines.spare is not None, timeout=_WAIT_MS)
    pids = engines.pids
    assert len(pids) == 2
    asyncio.run(engines.end())
    assert engines.pids == []
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_spare_engine_that_has_died_is_replaced(qapp: object) -> None:
    engines = Engines()
    engines.warm()
    assert engines.spare is not None
    dead = engines.spare.pid
    os.kill(dead, signal.SIGKILL)
    engines.spare.wait()
    taken = engines.take_engine()
    assert taken.client.pid != dead
    assert taken.client.greeted.wait(30)
    begun = time.monotonic()
    asyncio.run(engines.end())
    assert time.monotonic() - begun < 30
