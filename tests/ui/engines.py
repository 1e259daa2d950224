"""Engines for tests of windows: in their own process, or one process for all tests (`pytest --engine=process`).

Behind the pipe each question waits for its answer, so that tests need not: what they see is encoded, sent, computed
elsewhere and decoded, but not late. `late_answers.py` delays answers, and `test_pipe_client.py` looks at their order.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import cloudpickle
import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QObject
from PySide6.QtTest import QTest
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.base.paths import HOME_VARIABLE
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.engine import wire
from inspector.engine.client import EngineDiedError, _Pending
from inspector.engine.process import start_engine
from inspector.engine.request import PartsRequest, Request, RequestError
from inspector.engine.requests.table import answer_decoder
from inspector.engine.targets import OpenOptions, Target, choice_of_target, target_of_choice
from inspector.plugins.loading import PluginState
from inspector.protocol.tool_aliases import ToolAliases
from inspector.settings.model import SwitchedPlugin
from inspector.ui.app.engines import Engines
from inspector.ui.document_client import DocumentClient
from inspector.ui.engine_process import EngineProcess
from inspector.ui.pipe_client import PipeClient, PipeTicket
from tests import plugins
from tests.conftest import MS
from tests.ui.engine_calls import Call
from tests.ui.local_client import LocalClient

AnswerT = TypeVar("AnswerT")
PartT = TypeVar("PartT")
_WAIT_S = 60_000 * MS
_FOLLOWING = (("inspector.engine.served_document", "FOLLOW_S"), ("inspector.sources.follow", "POLL_S"))


class WaitingClient(PipeClient):
    """Waits for each answer, and for the events of the changes that it made, before a request returns.

    Attributes:
        given: the document of this process whose log it has opened, if a test gave one.
        not_awaited: types of requests whose answers arrive in the event loop.
    """

    not_awaited: tuple[type[Request[Any]], ...] = ()

    def __init__(self, engine: EngineProcess, parent: QObject) -> None:
        super().__init__(engine, parent)
        self.given: CaptureDocument | None = None
        self._known: tuple[Any, ...] = ()

    @override
    def send_request(
        self, request: Request[AnswerT], answered: Callable[[AnswerT], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> PipeTicket:  # fmt: skip
        if isinstance(request, self.not_awaited):
            assert engines is not None
            engines.write_control()
            return super().send_request(request, answered, failed)
        ticket = PipeTicket(is_pending=False)
        if self._stopped:
            return ticket
        try:
            answer = self._wait_for(request)
        except RequestError as error:
            failed(str(error))
        else:
            answered(answer)
        return ticket

    @override
    def request_parts(
        self, request: PartsRequest[PartT, AnswerT], on_part: Callable[[PartT], object],
        answered: Callable[[AnswerT], object], failed: Callable[[str], object] = lambda _sentence: None,
    ) -> PipeTicket:  # fmt: skip
        ticket = super().request_parts(request, on_part, answered, failed)
        self.receive_until(lambda: not ticket.is_pending, 0.1)
        return ticket

    @override
    def close(self, *, discard: bool = False) -> None:
        super().close(discard=discard)
        if self.given is not None:
            self.given.close()

    @override
    def answer_now(self, request: Request[AnswerT]) -> AnswerT:
        return self._wait_for(request)

    def messages_changed(self, changes: AnalysisChanges | None = None) -> None:
        """Lets the engine read and count what the given document has read and counted."""
        document = self.given
        if document is None or self._closed:
            return
        facts = _facts(document)
        if facts != self._known:
            self._known = facts
            counted = np.flatnonzero(document.analysis.tokens.columns["tokens"] != NOT_COUNTED)
            in_engine(self, _read_on, facts, counted)
            self.receive_until(lambda: self.state.is_live == document.live)

    def _wait_for(self, request: Request[AnswerT]) -> AnswerT:
        assert engines is not None
        engines.write_control()
        if not isinstance(request, Call):
            self.messages_changed()
        pending = _Pending(Future(), answer_decoder(type(request)), is_awaited=True)
        try:
            found = self._client._ask(self._document, request, pending).result(_WAIT_S)
        except EngineDiedError as error:
            raise RequestError(str(error)) from None
        self.receive_until(lambda: self.version >= found.version)
        return found.answer

    def receive_until(self, condition: Callable[[], bool], seconds: float = _WAIT_S) -> None:
        """Receives answers and events until something is so, or the time is over."""
        until = time.monotonic() + seconds
        while not condition() and time.monotonic() < until and self._client.died is None:
            self._engine._run_batch()
            time.sleep(0.001)


class TestEngines(Engines):
    """One engine process for all tests of a run.

    Attributes:
        patches: other values of attributes of modules or classes (`module:name`) in the process, of the present test.
        plugins: plug-ins that the process loads.
    """

    __test__ = False

    def __init__(self, folder: Path) -> None:
        super().__init__(keeps_spare=False)
        self._control, self._written = folder / "control", b""
        self.plugins: Sequence[SwitchedPlugin] = ()
        self.patches: dict[tuple[str, str], Any] = dict.fromkeys(_FOLLOWING, 0.005)
        self._engine: EngineProcess | None = None

    @override
    def take_engine(self, stream: Path | None = None) -> EngineProcess:
        self.write_control()
        if self._engine is None or self._engine.client.died is not None:
            command = (sys.executable, "-m", "tests.ui.engine_child", str(self._control))
            self._engine = EngineProcess(start_engine(command))
            # It outlives the documents.
            self._engine.add_user()
        return self._engine

    def write_control(self) -> None:
        """Tells the process the home folder, the patches and the plug-ins of the present test."""
        data = cloudpickle.dumps((os.environ[HOME_VARIABLE], self.patches, self.plugins))
        if data != self._written:
            self._written = data
            new = self._control.with_suffix(".new")
            new.write_bytes(data)
            new.replace(self._control)

    @override
    async def end(self) -> None:
        """Leaves the engine to the next test."""

    def close(self) -> None:
        """Ends the process after all tests."""
        if self._engine is not None:
            self._engine.client.close()


class LocalEngines(Engines):
    """Engines in the process of the tests."""

    def __init__(self) -> None:
        super().__init__(keeps_spare=False)

    @override
    def new_client(self, parent: QObject, stream: Path | None = None) -> DocumentClient:
        return LocalClient(parent)


engines: TestEngines | None = None
"""The engine of this run; None if engines run in the process of the tests."""


def engines_of_run() -> Engines:
    """The engines of an application in this run."""
    return engines or LocalEngines()


def patch_engine(patch: pytest.MonkeyPatch, owner: ModuleType | type, name: str, value: Any) -> None:
    """Gives an attribute of a module or class another value here and in the engine; functions are those of modules."""
    patch.setattr(owner, name, value)
    if engines is not None:
        where = owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}:{owner.__qualname__}"
        patch.setitem(engines.patches, (where, name), value)
        engines.write_control()


def loaded(*switched: SwitchedPlugin) -> list[PluginState]:
    """Loads plug-ins, also in the engine of this run; returns the state of all."""
    if engines is not None:
        engines.plugins = switched
    return plugins.loaded(*switched)


def in_engine(client: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function with the document of a client and further arguments, where its engine is."""
    if engines is None:
        return function(client.document, *arguments)
    value, error = pickle.loads(client.answer_now(Call(cloudpickle.dumps((function, arguments)))))
    assert not error, error
    return value


def catch_up(client: Any) -> None:
    """Lets the engine of a client know what has changed in the document that was given to it."""
    if engines is not None:
        client.messages_changed()


def client_class() -> type[Any]:
    """The class of the clients of windows in this run."""
    return LocalClient if engines is None else WaitingClient


def client_of(document: CaptureDocument, parent: QObject) -> DocumentClient:
    """A client of a document that was read: of the same in this process, or of its log in the engine of this run.

    The engine reads on when the document does.
    """
    if engines is None:
        return LocalClient.with_document(document, parent)
    assert document.path is not None
    client = WaitingClient(engines.take_engine(), parent)
    ended: list[wire.Reading | Exception] = []
    client.progressed.connect(lambda progress: ended.append(progress) if progress.ended else None)
    client.failed.connect(ended.append)
    targets = [target_of_choice(one) for one in document.choices] or [Target(document.path)]
    client.open(targets, OpenOptions(checked=True, name=document.name))
    client.receive_until(lambda: bool(ended))
    assert ended, "the engine does not read the log in time"
    assert isinstance(ended[0], wire.Reading), ended
    client.given = document
    client.messages_changed()
    document.observers.append(client)
    return client


def _facts(document: CaptureDocument) -> tuple[Any, ...]:
    analysis = document.analysis
    return (
        len(document.capture), analysis.tokens.counted, document.live, analysis.now_ns, analysis.findings.baseline,
        analysis.transients.aliases.rules, analysis.transients.newest_first, analysis.contexts.idle_after_s,
        analysis.participants.all.is_us[:],
    )  # fmt: skip


def _read_on(document: CaptureDocument, facts: tuple[Any, ...], counted: NDArray[np.int64]) -> None:
    analysis = document.analysis
    messages, tokens, live, analysis.now_ns, analysis.findings.baseline, rules, newest_first, idle_after_s, us = facts
    document.live = live
    document.set_idle_time(idle_after_s)
    if rules != analysis.transients.aliases.rules:
        document.set_tool_aliases(ToolAliases(rules))
    if newest_first != analysis.transients.newest_first:
        document.set_collapse_order(newest_first=newest_first)
    while len(document.capture) < messages and document.poll():
        pass
    run_to_end(document.postponed_checks())
    analysis.participants.all.is_us[:] = us
    if tokens > analysis.tokens.counted:
        analysis.tokens.count_now(counted)
        document.notify_counted()


def wait_for(condition: Callable[[], bool]) -> None:
    """Lets the loop turn until something is so."""
    until = time.monotonic() + _WAIT_S
    while not condition():
        assert time.monotonic() < until
        QTest.qWait(5)


class Mirror:
    """The documents of windows, read again here: for tests that look at messages."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[int, CaptureDocument]] = {}

    def document(self, client: Any) -> CaptureDocument:
        """A document with the messages that the client's has now."""
        if client.given is not None:
            return client.given
        version, found = self._read.get(id(client), (-1, None))
        if found is None or version != client.version:
            if found is not None:
                found.close()
            found = CaptureDocument()
            state = client.state
            if state.messages and state.choices:
                run_to_end(found.open_together([choice_of_target(one) for one in state.choices]))
            elif state.messages and state.path is not None:
                found.load(state.path)
            self._read[id(client)] = client.version, found
        return found

    def close(self) -> None:
        for _, document in self._read.values():
            document.close()
        self._read.clear()
