"""Sub-sessions in the engine: edits, undo, saving; and all answers survive the pipe."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.request import Request, RequestError
from inspector.engine.requests.msp_contexts import (
    CopyMerged,
    DescribeMerged,
    ExportMergedContext,
    MergeContext,
    ReadMergedEntry,
    Rules,
    WantedContext,
)
from inspector.engine.requests.msp_edits import (
    AS_WRITTEN,
    AddMessage,
    CloseSubsession,
    DeleteSnapshot,
    DiscardSubsession,
    ListParents,
    MergeSubsession,
    MessageRef,
    OfferSummaries,
    OpenSubsession,
    PreviewMerge,
    ReadAgreements,
    ReadSessionsState,
    RedoEdit,
    ReferSummary,
    SetPolicy,
    SetSubContext,
    SwitchGlobal,
    UndoEdit,
    WriteSnapshot,
)
from inspector.engine.requests.msp_files import CheckSessionFiles, ReloadSessions, SaveSessions, SaveSessionsAs
from inspector.engine.requests.msp_sessions import (
    ContextOfSubsession,
    CountSessions,
    DescribeSubsessions,
    ListSubsessions,
    Order,
    PlaceOfRow,
    RowOfMessage,
    ShowSubsession,
    SubsessionOfContext,
)
from inspector.engine.requests.table import QUERY_BY_TYPE, answer_decoder, request_decoder
from inspector.engine.targets import Target
from tests.msp_samples import desk, written
from tests.unit.engine.test_plain_answers import as_lists

_MESSAGE, _CONTEXT = MessageRef("s1", 0, "q1"), WantedContext("s1", Rules(older_globals=False), counted=False)
REQUESTS: list[Request[Any]] = [
    ListSubsessions(Order.TOKENS, open_only=True), DescribeSubsessions(("s1", "s2")), CountSessions(),
    ShowSubsession("s1"), ShowSubsession("gone"),
    RowOfMessage(_MESSAGE), SubsessionOfContext(0), PlaceOfRow(3), ContextOfSubsession("s1"),
    MergeContext(_CONTEXT), DescribeMerged(_CONTEXT, 0, 10), ReadMergedEntry(_CONTEXT, 0), CopyMerged(_CONTEXT, 0),
    CopyMerged(_CONTEXT), ReadSessionsState(), ListParents(), PreviewMerge("s1"), PreviewMerge("s2"),
    OfferSummaries("s1"), ReadAgreements("s1"), CheckSessionFiles(),
]  # fmt: skip
EDITS: list[Request[Any]] = [
    OpenSubsession("m1", "scales"), AddMessage("s1", "user", "more"), SwitchGlobal(_MESSAGE),
    SetPolicy("s1", {"include_snapshots": False, "recent_parent_messages": None}), SetSubContext("m1", facts=["a"]),
    WriteSnapshot("m1", -1, "new", (0, 1)), WriteSnapshot("m1", 0, None, AS_WRITTEN), DeleteSnapshot("m1", 0),
    MergeSubsession("s2"), CloseSubsession("s1", "Done.", append_to_parent=True), DiscardSubsession("s1"), UndoEdit(),
    RedoEdit(), ReferSummary("s1", "s2", included=False), SaveSessions(), ReloadSessions(),
]  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path) -> Generator[Engine]:
    engine = Engine()
    number, steps = engine.open([Target(written(tmp_path, desk()))])
    engine.read(steps)
    assert number == 1
    yield engine
    engine.close()


def crossed(engine: Engine, request: Request[Any]) -> Any:
    """Answers a request and passes both through the pipe."""
    assert request_decoder().decode(wire.encode(request)) == request
    answer = engine.answer_request(1, request)
    again = answer_decoder(type(request)).decode(wire.encode(answer))
    assert as_lists(again) == as_lists(answer)
    return again


@pytest.mark.parametrize("request_", REQUESTS, ids=repr)
def test_answers_are_equal_after_the_pipe(engine: Engine, request_: Request[Any]) -> None:
    crossed(engine, request_)


def test_edits_answer_with_plain_data_and_raise_the_version(engine: Engine) -> None:
    for request in EDITS:
        before = engine.version(1), crossed(engine, ReadSessionsState()).revision
        crossed(engine, request)
        if crossed(engine, ReadSessionsState()).revision != before[1]:
            assert engine.version(1) > before[0], request


def test_every_request_of_these_topics_is_here() -> None:
    asked = {type(one) for one in (*REQUESTS, *EDITS)} | {ExportMergedContext, SaveSessionsAs}
    assert asked == {one for one in QUERY_BY_TYPE if ".msp_" in one.__module__}


def test_a_refused_edit_says_why_and_changes_nothing(engine: Engine) -> None:
    outcome = crossed(engine, AddMessage("s2", "user", "late"))
    assert (outcome.refusal, outcome.words, outcome.state.is_dirty) == ("about s2 is closed.", "", False)
    with pytest.raises(RequestError, match="does not exist any more"):
        engine.answer_request(1, SwitchGlobal(MessageRef("s1", 0, "of another file")))


def test_what_takes_away_a_message_leaves_the_capture_behind(engine: Engine) -> None:
    outcome = crossed(engine, AddMessage("s1", "user", "more"))
    assert (outcome.words, outcome.state.is_dirty, outcome.state.is_behind) == ("Add message to about s1", True, False)
    outcome = crossed(engine, UndoEdit())
    assert (outcome.state.is_dirty, outcome.state.is_behind) == (False, True)


def test_a_merged_context_of_earlier_edits_is_refused(engine: Engine) -> None:
    merged = crossed(engine, MergeContext(WantedContext("s1")))
    wanted = WantedContext("s1", revision=merged.revision)
    assert [row.layer for row in crossed(engine, DescribeMerged(wanted, 0, 99))] == [1, 2, 3, 4]
    crossed(engine, AddMessage("s1", "user", "more"))
    with pytest.raises(RequestError, match="edited meanwhile"):
        engine.answer_request(1, DescribeMerged(wanted, 0, 9))


def test_a_save_over_changes_of_others_names_the_files(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "desk.json"
    crossed(engine, AddMessage("s1", "user", "mine"))
    path.write_text(json.dumps(desk(), indent=1))
    assert crossed(engine, CheckSessionFiles()).changed == [path]
    outcome = crossed(engine, SaveSessions())
    assert (outcome.changed, outcome.are_kept, outcome.is_done) == ([path], True, False)
    assert crossed(engine, SaveSessionsAs(path)).existing == [path]
    outcome = crossed(engine, SaveSessionsAs(tmp_path / "kept.json"))
    assert (outcome.is_done, outcome.state.is_dirty, outcome.state.first_file) == (True, False, tmp_path / "kept.json")
    path.write_text("{")
    assert crossed(engine, ReloadSessions()).is_done
    (tmp_path / "kept.json").write_text("{")
    assert crossed(engine, ReloadSessions()).failure


def test_an_export_masks_secrets_and_spares_the_document(engine: Engine, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    size = crossed(engine, ExportMergedContext(WantedContext("s1"), target))
    assert size == target.stat().st_size
    assert [one["role"] for one in json.loads(target.read_text())["messages"]] == [
        "system",
        "system",
        "assistant",
        "user",
    ]
    with pytest.raises(RequestError, match="that is the document itself"):
        engine.answer_request(1, ExportMergedContext(WantedContext("s1"), tmp_path / "desk.json"))
