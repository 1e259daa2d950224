"""Frames are said by whom their stream belongs to, in the context that it is about, whatever comes first."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters.compile import compile_filter
from tests.builders import GrowingLog, clean_up, document_of, envelope
from tests.operations import Operations, counted
from tests.pictures import picture
from tests.streamed import HEAD, Line, asked, came, chunk, closed, frame, opened, speech

WORDS = "First I will look at the directory."


def ends(document: CaptureDocument) -> list[tuple[str | None, tuple[str, ...], str | None]]:
    """Who says each frame to whom, and in which context."""
    capture, contexts = document.capture, document.analysis.contexts
    rows = [row for row in range(len(capture)) if capture.string("kind", row) == "stream/frame"]
    paths = (contexts.node_of(row) for row in rows)
    return [
        (capture.string("sender", row), capture.recipients(row), contexts.tree.path(node) if node >= 0 else None)
        for row, node in zip(rows, paths, strict=True)
    ]


def found(document: CaptureDocument, text: str) -> list[int]:
    mask = compile_filter(text).mask(document.analysis, np.arange(len(document.capture)))
    return [row + 1 for row, holds in enumerate(mask.tolist()) if holds]


def test_frames_are_their_owners() -> None:
    document = document_of(HEAD, asked("r1"), opened("s"), *speech("s", WORDS), closed("s"))
    assert {*ends(document)} == {("mew", (), "r1")}
    assert len(found(document, 'from == "mew" && kind == "stream/frame" && context == "r1"')) == 9
    assert document.analysis.contexts.tree.own.tolist() == [9]


def test_a_chunk_names_its_context_itself() -> None:
    document = document_of(HEAD, asked("r1"), opened("s"), chunk("s", "a"), chunk("s", "b", context="r2"))
    assert [path for _, _, path in ends(document)] == ["r1", "r2"]
    assert found(document, 'context.raw == "r2"') == [4]
    assert found(document, 'context.told == "stream"') == [3, 4]


def test_targets_are_the_readers() -> None:
    document = document_of(HEAD, asked(target=["human", "lead"]), opened("s"), frame("s", b"x"))
    assert ends(document) == [("mew", ("human", "lead"), None)]


def test_an_open_without_an_owner_is_for_whom_it_is_sent_to() -> None:
    assert ends(document_of(HEAD, opened("s", None, owner=None), frame("s", b"x"))) == [("mew", (), None)]


def test_ids_are_given_anew() -> None:
    lines = [HEAD, opened("s", None), frame("s", b"1"), opened("s", None, owner="lead"), frame("s", b"2")]
    document = document_of(*lines)
    assert [who for who, _, _ in ends(document)] == ["mew", "lead"]
    assert document.analysis.streams.columns["run"].tolist() == [0, 1, 0, 2]


def test_another_owner_says_what_comes_after() -> None:
    given_on = came(
        envelope("stream/ownership-transferred", {"stream_id": "s", "new_owner": "lead"}, sender="gateway", to=["lead"])
    )
    forged = came(envelope("stream/ownership-transferred", {"stream_id": "s", "new_owner": "eve"}, sender="eve"))
    lines = [HEAD, opened("s"), frame("s", b"1"), given_on, frame("s", b"2"), forged, frame("s", b"3")]
    assert [who for who, _, _ in ends(document_of(*lines))] == ["mew", "lead", "lead"]


def test_who_joins_late_is_told_by_the_welcome() -> None:
    active = [{"stream_id": "s", "owner": "mew", "description": "reasoning:r1"}]
    welcome = came(envelope("system/welcome", {"you": {"id": "me"}, "participants": [], "active_streams": active},
                            sender="system:gateway", to=["me"]))  # fmt: skip
    assert ends(document_of(HEAD, welcome, frame("s", b"1"))) == [("mew", (), "r1")]


def test_only_a_gateway_gives_a_stream_away() -> None:
    forged = opened("s", None, sender="eve", owner="eve", to="eve")
    assert ends(document_of(HEAD, forged, frame("s", b"1"))) == [(None, (), None)]
    assert [who for who, _, _ in ends(document_of(HEAD, opened("s"), forged, frame("s", b"1")))] == ["mew"]
    # A request of somebody else's cannot lead another's stream elsewhere.
    other = asked("r9", id="other", sender="eve")
    assert ends(document_of(HEAD, other, opened("s", "other"), frame("s", b"1"))) == [("mew", (), None)]


def test_frames_may_overtake_what_opens_their_stream() -> None:
    log = GrowingLog()
    log.write(HEAD, frame("s", b"1"), frame("s", b"2"))
    assert ends(log.document) == [(None, (), None)] * 2
    changed = {row for told in log.write(opened("s"), asked("r1")) for row in told.changed.tolist()}
    assert {0, 1} <= changed
    log.write(frame("s", b"3"))
    assert ends(log.document) == [("mew", (), "r1")] * 3
    assert log.document.analysis.contexts.tree.own.tolist() == [3]
    assert sum(log.document.analysis.contexts.main_counts.values()) == 2
    assert next(one for (_, name), one in log.document.analysis.participants.all.items() if name == "mew").messages == 4


@st.composite
def streams(draw: st.DrawFn) -> list[Line]:
    """Two streams whose messages come in any order, and are opened once or again."""
    lines: list[Any] = []
    for stream, owner in (("s", "mew"), ("t", "lead")):
        about = draw(st.sampled_from(("r1", "r2", None)))
        context = draw(st.sampled_from(({}, {}, {"context": "r1"})))
        targets = draw(st.sampled_from(({}, {"target": ["human"]})))
        opener = draw(st.sampled_from(("gateway", "gateway", "eve")))
        lines += [asked(about, id=f"ask-{stream}", sender=owner, **targets),
                  opened(stream, f"ask-{stream}", owner=owner, to=owner, sender=opener),
                  *(chunk(stream, str(n), **context) for n in range(draw(st.integers(0, 4)))),
                  closed(stream)]  # fmt: skip
        if draw(st.booleans()):
            lines += [opened(stream, None, owner="human"), chunk(stream, "again")]
    start = came(envelope("reasoning/start", {"input": "why"}, id="r1", sender="mew"))
    return [HEAD, *draw(st.permutations([*lines, start]))]


@given(streams(), st.integers(1, 5))
def test_any_order_in_any_batches_gives_the_same(lines: list[Line], size: int) -> None:
    log = GrowingLog()
    for place in range(0, len(lines), size):
        log.write(*lines[place : place + size])
    once = document_of(*lines)
    assert ends(log.document) == ends(once)
    assert log.document.analysis.streams.columns["run"].tolist() == once.analysis.streams.columns["run"].tolist()
    assert told(log.end()) == told(once)
    clean_up()


def told(document: CaptureDocument) -> dict[str, Any]:
    """All that is found out; what only frames name that overtook their open is met when that is read."""
    everything = picture(document)
    for listed in (everything["participants"], everything["capabilities"]):
        listed.sort(key=lambda one: one["name"])
    everything["totals"]["participants"].sort()
    everything["contexts"].sort(key=lambda one: one["path"])
    everything["facts"].sort()
    return everything


@given(st.permutations([asked("r1"), opened("s")]), st.lists(st.sampled_from(["a", "b"]), max_size=3))
def test_whichever_of_request_and_open_comes_first(told: list[Line], values: list[str]) -> None:
    document = document_of(HEAD, *told, *(chunk("s", value) for value in values))
    assert ends(document) == [("mew", (), "r1")] * len(values)
    clean_up()


def test_a_stream_that_is_given_on_without_end_costs_the_same_each_time() -> None:
    given = [envelope("stream/ownership-transferred", {"stream_id": "s", "new_owner": f"a{n}"}, sender="gateway")
             for n in range(2_000)]  # fmt: skip
    with counted(few := Operations()):
        document_of(HEAD, opened("s"), *(came(one) for one in given[:200]), frame("s", b"x"))
    with counted(many := Operations()):
        document = document_of(HEAD, opened("s"), *(came(one) for one in given), frame("s", b"x"))
    assert ends(document) == [("a1999", (), None)]
    assert many.calls < 12 * few.calls
