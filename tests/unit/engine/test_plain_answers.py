"""Answers of all requests survive the pipe: encoded and decoded they are equal."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.request import Request, RequestError
from inspector.engine.requests.account import WaitFilter, Waits, WaitsNow, WhatHappened
from inspector.engine.requests.agent_sessions import NewestSessions
from inspector.engine.requests.agents import ListAgents
from inspector.engine.requests.chains import ChainOfMessage, MayHaveChanged, StepInChain
from inspector.engine.requests.clock import SetTime
from inspector.engine.requests.columns import FiguresOfColumns
from inspector.engine.requests.comparison import CompareMessages
from inspector.engine.requests.conditions import CountHidden
from inspector.engine.requests.context_tree import (
    ActionsOfContext,
    DescribeContexts,
    FindContexts,
    FollowContexts,
    TipOfContext,
)
from inspector.engine.requests.conversation import (
    CardKind,
    CardRef,
    CopyCards,
    DescribeCards,
    FindInConversation,
    OutlineConversation,
    OutlineOptions,
)
from inspector.engine.requests.copies import CopyCellFilter, CopyMessages, CopyRows, DescribeRow, TotalsOfMessages
from inspector.engine.requests.document_settings import ApplySettings, CountFirst
from inspector.engine.requests.exports import CheckColumns, ContextFileName, CountExportable
from inspector.engine.requests.facets import CountFacets
from inspector.engine.requests.fields import NamesOfFields
from inspector.engine.requests.files import ListFiles
from inspector.engine.requests.filters import CheckFilter, CompleteFilter, FilterAsSql
from inspector.engine.requests.find import EndFind, FindHits, FindQuery
from inspector.engine.requests.finding_lists import GroupFindings
from inspector.engine.requests.finding_rows import DescribeFindings, Grouping, OrderFindings
from inspector.engine.requests.growth import ContextGrowth
from inspector.engine.requests.latency import Latencies
from inspector.engine.requests.locations import LocateMessage, ResolveContext
from inspector.engine.requests.log_facts import DescribeLog, ListSources, RecentLogFacts
from inspector.engine.requests.marks import (
    DescribeMarks,
    ListMarks,
    LookForMarks,
    NameTarget,
    NotedTargets,
    NotesOfTargets,
    OfferedNotes,
    RestoreMarks,
    SetNotes,
    TargetNote,
)
from inspector.engine.requests.message_ids import FindMessages, SearchIds
from inspector.engine.requests.minimap import MessagesToMark
from inspector.engine.requests.model_contexts import CompareModelContext, FindModel
from inspector.engine.requests.moments import FindMessageAt, TimeOfMessage
from inspector.engine.requests.next_messages import FindNextMessage
from inspector.engine.requests.overview import ShowOverview
from inspector.engine.requests.pages import DescribeContext, DescribeMessage, DescribeParticipant
from inspector.engine.requests.participants import DescribeParticipants, OrderParticipants
from inspector.engine.requests.pass_timings import MeasurePasses, SizeOfDocument, StopMeasuring
from inspector.engine.requests.places import (
    MAIN,
    ContextName,
    ContextTarget,
    KeepPlaces,
    KeptPlaces,
    MessagePlace,
    Note,
    PlacedMark,
    RestorePlaces,
)
from inspector.engine.requests.plots import MessageBefore, MessagePosition, NameMessage, NextPosition, RangeCondition
from inspector.engine.requests.problems import CountFailures, ProblemCounts
from inspector.engine.requests.queries import CompleteQuery
from inspector.engine.requests.rates import CountRates, DescribeBar
from inspector.engine.requests.raw_text import CopyRawText, ShowRawText
from inspector.engine.requests.repairs import FixedCalls
from inspector.engine.requests.rows import MessageLooks, MessageRows, NoteOnFilter, OriginalLines, RemarksOfRow
from inspector.engine.requests.run_tables import CountRun, TabulateRun
from inspector.engine.requests.saved_views import FindScope, HeadDigest, NamedScope, NameScope
from inspector.engine.requests.scopes import DescribeScope, TopicsOfLog
from inspector.engine.requests.seen_contexts import (
    ContextAt,
    CopyContext,
    DescribeEntries,
    EntryText,
    NextChange,
    Reader,
    ReaderAt,
    ShowSeenContext,
)
from inspector.engine.requests.source_rows import DescribeSources
from inspector.engine.requests.steps import DescribeRange, DescribeSteps, ListSteps, StepQuestion
from inspector.engine.requests.stories import MessageFileName, TellChain, TellMessage
from inspector.engine.requests.summaries import SummarizeLog, SumTokens
from inspector.engine.requests.table import QUERIES, answer_decoder, request_decoder
from inspector.engine.requests.timeline import (
    DescribeItem,
    FindInTimeline,
    LanesLook,
    Mark,
    PaintLanes,
    SeenBar,
    SeenMark,
    StepInTimeline,
    TimelineProgress,
    UpdateTimeline,
)
from inspector.engine.requests.tokens import CountTokens, TokenRowTarget, TokenUsage
from inspector.engine.requests.turn_comparisons import TurnOfMessage
from inspector.engine.requests.turns import DescribePrompts, ListTurns
from inspector.engine.requests.value_tree import FilterOfValue, RowsBelow, ShowTree, WholeValue
from inspector.engine.requests.views import (
    ArrangeRows,
    CountMatches,
    FilterRows,
    FollowRows,
    NextGap,
    PlacesOfMessages,
    ProgressOfView,
    SortRows,
)
from inspector.engine.requests.waste import AvoidableTokens, ListWaste
from inspector.filters.stacked_conditions import FilterStack
from inspector.filters.visible import Reach, Scope
from tests.builders import lines_of
from tests.samples import RECORDINGS
from tests.waste import wasteful

_PLACE = MessagePlace([(Path("x"), 0, 0)])
REQUESTS: list[Request[Any]] = [
    WhatHappened(), ShowOverview(), ListTurns(), DescribePrompts((0,)), ListFiles(), NewestSessions(count=1),
    Waits(), WaitsNow(), WaitFilter(0), ProblemCounts(), DescribeSources(),
    OrderFindings(1), OrderFindings(1, Grouping.NONE, everything=True),
    DescribeFindings(1, (("context-window-full", 96),)),
    ApplySettings(("rune__* = *",), ("m = 3 in, 15 out",), "today", True, 60, False), CountFirst(0),
    SizeOfDocument(), MeasurePasses(), StopMeasuring(), CountFailures(),
    OrderParticipants(), DescribeParticipants(((0, "lead"), (0, "coder"))),
    ContextGrowth(), NameMessage(0), CountRates(0, 0, 10**7, 10**6, by_order=True), DescribeBar(0, 2**62),
    KeepPlaces((0, 2), (ContextTarget(0, MAIN),), 0),
    RestorePlaces(KeptPlaces([_PLACE, None], [ContextName("", None)], "x", [PlacedMark(Note(True, "a"), _PLACE)])),
    CountTokens((0,)), CountTokens(), LocateMessage(0), ResolveContext(MAIN),
    SetTime(10**18), HeadDigest(2), NameScope(Scope(0, None)),
    FindScope(NamedScope("", "", "")),
    MessageRows((0, 2)),
    Latencies(), Latencies("participant"), AvoidableTokens(),
    TokenUsage("context", below=True, plotted=True), TokenUsage("kind", plotted=True, by_order=True),
    TokenRowTarget("participant", below=False, key=1), MessageBefore(2**62), NextPosition(None, 1), MessagePosition(0),
    RangeCondition(0, 10**6, by_order=True), ChainOfMessage(1), StepInChain((0,), 0, 1), MessagesToMark(1), NextGap(),
    ArrangeRows(1, hides_bookkeeping=True), CountMatches(1, "kind"),
    FilterRows(1, "kind", scope=Scope(0, None)), SortRows(1, "size", descending=True), ProgressOfView(1),
    FindNextMessage(1, "problem", None, 1), FindNextMessage(1, "context", 0, -1),
    TimeOfMessage(0), FindMessageAt(1, 0),
    ShowRawText(0), ShowRawText(1, "formatted", 1, with_secrets=True), CopyRawText(0, "line"),
    DescribeMessage(0), DescribeMessage(1, "Related", hints=True), DescribeContext(0, MAIN),
    DescribeParticipant(0, "lead"), DescribeParticipant(0, "nobody"),
    ShowTree(0), RowsBelow(0, ()), WholeValue(1, ()), FilterOfValue(0, ()),
    CompareMessages(0, 1), CompareMessages(0, 1, "text"),
    FindHits(1, FindQuery("a", match_case=True), 0, 1), EndFind(1),
    CheckFilter("kind == $context"), CheckFilter("Bash"), CheckFilter("age < 5s && payload.text"),
    CheckFilter("tool", "a"), CompleteFilter("kind == ", 8), FilterAsSql("tool"), FilterAsSql('"text"'),
    CopyMessages("json lines", np.arange(2, dtype=np.uint32)), CopyMessages("markdown", np.zeros(1, np.uint32)),
    CopyRows(1, np.arange(2, dtype=np.uint32), (1, 2, 6, "tool"), ("No.",), "previous"), CopyCellFilter(0, "tool"),
    DescribeRow(0, 3, second=True), TotalsOfMessages(1), TotalsOfMessages(1, np.zeros(1, np.uint32)),
    DescribeScope(Scope(0, None)), DescribeScope(Scope(0, -1)), DescribeScope(Scope(0, None, source=0)), TopicsOfLog(),
    NamesOfFields(),
    FollowContexts(), FollowContexts(1, 1), FindContexts("e"), TipOfContext(0, True), TipOfContext(-2),
    DescribeContexts((0, -1, -2), tokens=True, usage=True), ActionsOfContext(-1), ActionsOfContext(-2),
    SetNotes((TargetNote(0, Note(True, "a")), TargetNote(ContextTarget(0, -1), Note(False, "b")))), ListMarks(1),
    DescribeMarks(1, (0, ContextTarget(0, -1))), NotesOfTargets((0, ContextTarget(0, -1))), NotedTargets(),
    FindMessages(1, 2, "why-1", 100), SearchIds(1, "1"),
    NameTarget(0), NameTarget(ContextTarget(0, -1)), LookForMarks(None), RestoreMarks(), OfferedNotes(),
]  # fmt: skip
_LOOK = LanesLook(1)
REQUESTS.extend([
    UpdateTimeline(_LOOK), TimelineProgress(1), PaintLanes(_LOOK, 0, 2**61, 900),
    PaintLanes(_LOOK, -(2**62), 2**62, 900, zoom=1.5), FindInTimeline(_LOOK, 1), StepInTimeline(_LOOK, 1, "across", 1),
    DescribeItem(_LOOK, SeenMark(Mark(1.5, 2, 1, True, False, 1, 2), None)),
    DescribeItem(_LOOK, SeenBar(-1, 0, 10**9, "idle", False, 0, 9, "")),
])  # fmt: skip
REQUESTS.extend([
    OutlineConversation(), OutlineConversation(OutlineOptions(unfolds_all=True, reveals=(3,))),
    DescribeCards(tuple(CardRef(int(kind), message, 3) for kind in CardKind for message in (0, 2))),
])  # fmt: skip
_LEAD = ContextAt(Reader(0, "lead"), 2)
REQUESTS.extend([
    ShowSeenContext(by_size=True), ShowSeenContext(message=30, compared=2), DescribeEntries(2, (0, 2, 5)),
    EntryText(2, 2), NextChange(2, 1), ReaderAt(2), ReaderAt(2, (0, -1)), CopyContext(_LEAD),
])  # fmt: skip
_FEW = np.arange(2, dtype=np.uint32)
REQUESTS.extend([
    ListAgents(), FiguresOfColumns(), FindInConversation(FindQuery("a", match_case=True)),
    CopyCards((CardRef(int(CardKind.PROMPT), 0, 3),)), CheckColumns(("no",)), CheckColumns(("nonsense",)),
    ContextFileName(ContextTarget(0, MAIN)), CountExportable(1, _FEW), GroupFindings(), DescribeLog(),
    RecentLogFacts(), ListSources(), FindModel(), CompareModelContext(1), CompleteQuery("select ", 7),
    FixedCalls((0, 1)),
    NoteOnFilter("tool"), RemarksOfRow(0), OriginalLines(0), MessageLooks((0, 1), ()), TabulateRun("x"), CountRun(),
    ListSteps(), DescribeSteps(StepQuestion(), 1, [0]), DescribeRange(1, "kind"), TellMessage(0), TellChain(1),
    MessageFileName(0), SummarizeLog(), SumTokens(), TurnOfMessage(0), PlacesOfMessages(1, np.arange(2)), ListWaste(),
    MayHaveChanged(1, (0,), 0, 2, np.arange(1)), FollowRows(1, 0, 0, np.arange(0)),
])  # fmt: skip
_ASKED_ELSEWHERE = {
    "CompareContexts", "CompareRow", "CompareRowMessages", "CompareTurns", "CopyMarks", "CountFacets", "CountHidden",
    "DescribeComparedContexts", "DescribeComparedRows", "ExportSources", "FinalContent", "LatestRelease", "MoveMarks",
    "PictureBytes", "SaveMessage", "WriteComparison", "WriteMarks",
}  # fmt: skip
"""Requests that need a comparison, a picture, changed files, a feed, or a file to write."""
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
    engine.answer_request(number, LookForMarks(None))
    yield engine
    engine.close()


@pytest.mark.parametrize("request_", REQUESTS, ids=repr)
def test_answers_are_equal_after_the_pipe(engine: Engine, request_: Request[Any]) -> None:
    assert as_lists(request_decoder().decode(wire.encode(request_))) == as_lists(request_)
    answer = engine.answer_request(1, request_)
    assert as_lists(answer_decoder(type(request_)).decode(wire.encode(answer))) == as_lists(answer)


def test_every_request_without_parts_is_asked() -> None:
    """Those about files of sub-sessions have tests of their own."""
    names = {one.request.__name__ for one in QUERIES if one.part is None and "msp_" not in one.request.__module__}
    assert names - {type(one).__name__ for one in REQUESTS} == _ASKED_ELSEWHERE


def test_messages_in_a_request_survive_the_pipe() -> None:
    asked = CountExportable(1, np.array([0, 7], np.uint32))
    again = request_decoder().decode(wire.encode(asked))
    assert again.selected.dtype == np.uint32
    assert again.selected.tolist() == [0, 7]


def test_a_view_in_a_request_survives_the_pipe(engine: Engine) -> None:
    stack = FilterStack().with_condition('kind == "chat"').with_text("tool")
    scope = Scope(0, None, Reach.ONLY)
    requests: list[Request[Any]] = [
        CountFacets(1, stack, scope, None, opened=("kind",)), CountHidden(1, stack, scope, None),
    ]  # fmt: skip
    for asked in requests:
        assert request_decoder().decode(wire.encode(asked)) == asked
        answer = engine.answer_request(1, asked)
        assert answer_decoder(type(asked)).decode(wire.encode(answer)) == answer


def as_lists(value: Any) -> Any:
    """Returns a value with arrays as lists, so that it can be compared."""
    if isinstance(value, float) and value != value:  # NaN
        return "nan"
    if isinstance(value, np.ndarray):
        return str(value.dtype), as_lists(value.tolist())
    if isinstance(value, list | tuple):
        return [as_lists(one) for one in value]
    if isinstance(value, dict):
        return {key: as_lists(one) for key, one in value.items()}
    fields = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", None)
    return value if fields is None else {name: as_lists(getattr(value, name)) for name in fields}


def test_an_unknown_context_is_an_error_with_a_sentence(engine: Engine) -> None:
    for request in (ResolveContext(10**6), ResolveContext(-2)):
        with pytest.raises(RequestError, match="There is no context"):
            engine.answer_request(1, request)
