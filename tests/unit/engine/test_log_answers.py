"""Answers for commands, agents and surveys survive the pipe: encoded and decoded they are equal."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.request import PartsRequest, Request, RequestError
from inspector.engine.requests.context_lists import ListContexts, ListParticipants
from inspector.engine.requests.exports import (
    CheckColumns,
    ContextFileName,
    ContextTarget,
    CountExportable,
    ExportContext,
    ExportMessages,
    ExportSources,
    MessagesOfView,
    PreviewExport,
    SendTraces,
)
from inspector.engine.requests.finding_lists import GroupFindings, ListFindings
from inspector.engine.requests.log_facts import DescribeLog, ListSources, RecentLogFacts
from inspector.engine.requests.model_contexts import (
    CompareModelContext,
    FindModel,
    ListModelContext,
    ShowModelContext,
    WriteModelContext,
)
from inspector.engine.requests.queries import CompleteQuery, RunQuery
from inspector.engine.requests.rows import NoteOnFilter
from inspector.engine.requests.run_tables import CountRun, TabulateRun
from inspector.engine.requests.stories import ListMessages, MessageFileName, SaveMessage, TellChain, TellMessage
from inspector.engine.requests.summaries import SummarizeLog, SumTokens
from inspector.engine.requests.table import QUERY_BY_TYPE, answer_decoder, part_decoder, request_decoder
from inspector.engine.requests.waste import AvoidableTokens, ListWaste
from inspector.export.options import Format
from tests.builders import lines_of
from tests.samples import RECORDINGS
from tests.unit.engine.test_plain_answers import as_lists
from tests.waste import wasteful

REQUESTS: list[Request[Any]] = [
    NoteOnFilter("tool"), DescribeLog(), ListSources(), RecentLogFacts(), SummarizeLog(), SumTokens(),
    TellMessage(2), TellChain(2),
    ListMessages(("no", "time", "payload.method"), limit=20), GroupFindings(3), ListFindings(),
    ListContexts(tokens=True), ListParticipants(), ListWaste(limit=2), FindModel(), TabulateRun("log"), CountRun(),
    CompleteQuery("SELECT ki", 9), RunQuery("SELECT no, kind, time FROM messages"), RunQuery("SELECT nix"),
    CountExportable(1, np.array([1], np.uint32)), PreviewExport("no <= 2"), PreviewExport(among=MessagesOfView(1)),
    CheckColumns(("no", "txt")), ContextFileName(ContextTarget(0, MAIN)), MessageFileName(0),
    ExportMessages(None, filter="no <= 2"), ExportMessages(None, among=MessagesOfView(1)),
    ExportMessages(None, Format.OTLP),
]  # fmt: skip
_OF_MODELS: list[Request[Any]] = [
    ShowModelContext(out=True), ListModelContext(limit=3), WriteModelContext(), CompareModelContext(0),
]  # fmt: skip
"""Requests of logs with a model's context."""
_WRITING: set[type[Request[Any]]] = {SaveMessage, ExportSources, ExportContext, SendTraces}
"""Requests with effects outside of the engine."""
_MADE = "made.jsonl"
_SAMPLES = ("captures/demo-round.ctxcap", "captures/loop-mcp.jsonl", "captures/model-wire.jsonl", _MADE)


@pytest.fixture(scope="module", params=_SAMPLES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Engine]:
    path = RECORDINGS.parent / request.param
    if request.param == _MADE:
        path = tmp_path_factory.mktemp(_MADE) / _MADE
        path.write_bytes(lines_of(*wasteful()))
    engine = Engine()
    number, steps = engine.open([Target(path)])
    engine.read(steps)
    engine.opened(number).document.count_tokens()
    yield engine
    engine.close()


@pytest.mark.parametrize("request_", REQUESTS, ids=repr)
def test_answers_are_equal_after_the_pipe(engine: Engine, request_: Request[Any]) -> None:
    assert as_lists(request_decoder().decode(wire.encode(request_))) == as_lists(request_)
    if isinstance(request_, PartsRequest):
        decoder = part_decoder(type(request_))
        for part in engine.answer_parts(1, request_):
            assert as_lists(decoder.decode(wire.encode(part))) == as_lists(part)
    answer = engine.answer_request(1, request_)
    assert as_lists(answer_decoder(type(request_)).decode(wire.encode(answer))) == as_lists(answer)


@pytest.mark.parametrize("request_", _OF_MODELS, ids=repr)
def test_answers_about_models_are_equal_after_the_pipe(engine: Engine, request_: Request[Any]) -> None:
    if engine.answer_request(1, FindModel()).is_found:
        test_answers_are_equal_after_the_pipe(engine, request_)
    else:
        with pytest.raises(RequestError, match="no model context"):
            engine.answer_request(1, request_)


def test_every_request_of_these_topics_is_here() -> None:
    asked = {type(one) for one in (*REQUESTS, *_OF_MODELS)} | _WRITING
    topics = {one.__module__ for one in asked - {NoteOnFilter}}
    # Asked in the tests of the window's figures.
    of_window = {AvoidableTokens}
    assert asked - {NoteOnFilter} == {one for one in QUERY_BY_TYPE if one.__module__ in topics} - of_window


def test_writing_requests_answer_with_plain_data(engine: Engine, tmp_path: Path) -> None:
    for request in (SaveMessage(0, tmp_path / "message"), ExportSources(tmp_path / "all.ctxcap")):
        test_answers_are_equal_after_the_pipe(engine, request)
    missing = ExportContext("no such context", tmp_path / "context.json")
    assert request_decoder().decode(wire.encode(missing)) == missing
    with pytest.raises(RequestError, match="no context"):
        engine.answer_request(1, missing)
