"""Lanes against a slow plain version: who has one, where each message stands, and bars that do not overlap."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.timeline import context_bars
from inspector.analysis.views.timeline import lanes as making
from inspector.analysis.views.timeline.context_bars import MAX_ROWS
from inspector.analysis.views.timeline.lanes import Lanes
from inspector.analysis.views.timeline.message_positions import MessageTimes
from inspector.document.document import CaptureDocument
from inspector.protocol.timestamps import NO_TIME
from tests.builders import GrowingLog, clean_up, document_of, envelope
from tests.work import steps_of

_PATHS = (None, "a", "a/b", "a/c", "d", "a/b/e", "/".join("abcdefghijkl"))


def at(milliseconds: int) -> str:
    return f"2026-01-05T09:00:{milliseconds // 1_000:02d}.{milliseconds % 1_000:03d}Z"


said = st.lists(
    st.tuples(st.sampled_from(["lead", "files", "system:gateway"]), st.sampled_from(_PATHS), st.integers(0, 59_999)),
    max_size=30,
)


def lines(messages: list[tuple[str, str | None, int]]) -> list[dict[str, Any]]:
    return [envelope(sender=who, context=path, ts=at(ms)) for who, path, ms in messages]


def lanes_of(document: CaptureDocument, by: str = "participant", batches: int = 1) -> Lanes:
    times = MessageTimes(document.capture)
    times.update(len(document.analysis))
    made = Lanes(document.analysis, times, "context" if by == "context" else "participant")
    for rows in np.array_split(np.arange(len(document.analysis)), batches):
        made.feed(rows, settled=True)
    return made


def standing(lanes: Lanes) -> dict[int, int]:
    """By message, its track as the segments have it."""
    found: dict[int, int] = {}
    for segment in lanes.segments:
        for track in range(lanes.tracks):
            low, high = segment.part(track)
            assert (np.diff(segment.times[low:high]) >= 0).all()
            found.update((int(row), track) for row in segment.rows[low:high])
    return found


@given(said, st.integers(1, 5), st.sampled_from(["participant", "context"]))
def test_every_message_stands_in_the_lane_that_is_its_own(
    messages: list[tuple[str, str | None, int]], batches: int, by: str
) -> None:
    document = document_of(*lines(messages))
    try:
        lanes = lanes_of(document, by, batches)
        found = standing(lanes)
        assert sorted(found) == list(range(len(messages)))
        rows = np.arange(len(messages))
        assert lanes.tracks_of(rows).tolist() == [found[int(row)] for row in rows]
        tree = document.analysis.contexts.tree
        for row, track in found.items():
            lane = next(one for one in lanes.lanes if one.track <= track < one.track + one.tracks)
            node = document.analysis.contexts.node_of(row)
            if by == "participant":
                assert lane.name == messages[row][0]
            else:
                assert lane.name == ("main" if node == MAIN else tree.name[tree.ancestry(node)[0]])
            assert (node == MAIN) == (lane.based and track == lane.track)
        assert sum(lane.count for lane in lanes.lanes) == len(messages)
        if by == "participant" and any(lane.name == "system:gateway" for lane in lanes.lanes):
            assert lanes.lanes[-1].name == "system:gateway"
    finally:
        clean_up()


@given(said, st.integers(1, 7), st.sampled_from(["participant", "context"]))
def test_a_little_at_a_time_makes_no_difference(
    messages: list[tuple[str, str | None, int]], at_once: int, by: str
) -> None:
    document = document_of(*lines(messages))
    try:
        whole = lanes_of(document, by)
        with (
            patch.object(making, "_MESSAGES_PER_STEP", at_once),
            patch.object(context_bars, "_CONTEXTS_PER_STEP", at_once),
        ):
            parts = lanes_of(document, by)
        assert parts.lanes == whole.lanes
        assert standing(parts) == standing(whole)
        bounds = np.iinfo(np.int64)
        for track in range(whole.tracks):
            seen = [made.bars(track, int(bounds.min), int(bounds.max)) for made in (whole, parts)]
            assert seen[0] == seen[1]
    finally:
        clean_up()


def test_until_all_is_done_what_was_there_stands_where_it_stood() -> None:
    log = GrowingLog()
    try:
        log.write(*lines([("lead", None, 1), ("files", "a", 2)]))
        lanes = lanes_of(log.document)
        log.write(*lines([("human", "b", 3), ("lead", "a/b", 4), ("system:gateway", None, 5)]))
        lanes.times.update(5)
        with patch.object(making, "_MESSAGES_PER_STEP", 1):
            for _ in lanes.feed_in_steps(np.arange(2, 5)):
                found = lanes.tracks_of(np.arange(5))
                assert found[2:].tolist() == [-1, -1, -1]
                assert standing(lanes) == dict(enumerate(found[:2].tolist()))
                assert len(lanes.bars(int(found[1]), 0, np.iinfo(np.int64).max)) == 1
        assert len(standing(lanes)) == 5
    finally:
        clean_up()


def test_in_a_chain_too_deep_for_rows_the_last_row_has_the_rest() -> None:
    path = "/".join(f"n{depth}" for depth in range(60))
    lanes = lanes_of(document_of(*lines([("lead", path, 1), ("lead", "n0/n1", 2)])))
    tracks = lanes.tracks_of(np.arange(2)).tolist()
    assert tracks == [lanes.lanes[0].track + MAX_ROWS, lanes.lanes[0].track + 2]


@given(said)
def test_bars_reach_from_first_to_last_and_lie_over_no_other(messages: list[tuple[str, str | None, int]]) -> None:
    document = document_of(*lines(messages))
    try:
        lanes = lanes_of(document)
        contexts, times = document.analysis.contexts, lanes.times.values
        for lane in lanes.lanes:
            rows = [row for row, one in enumerate(messages) if one[0] == lane.name]
            for track in range(lane.track + 1, lane.track + lane.tracks):
                bars = lanes.bars(track, int(times.min()), int(times.max()))
                for bar in bars:
                    below = [row for row in rows if bar.node in contexts.tree.ancestry(contexts.node_of(row))]
                    assert (bar.start_ns, bar.end_ns) == (int(times[below].min()), int(times[below].max()))
                if lane.rows < MAX_ROWS:
                    assert all(one.end_ns < other.start_ns for one, other in pairwise(bars))
    finally:
        clean_up()


def test_a_context_lies_below_the_one_it_is_nested_in() -> None:
    document = document_of(*lines([("lead", "a", 0), ("lead", "a/b", 1), ("lead", "a/c", 2), ("lead", "a", 9)]))
    lanes = lanes_of(document)
    tracks = lanes.tracks_of(np.arange(4)).tolist()
    assert tracks[0] == tracks[3] == lanes.lanes[0].track + 1
    assert tracks[1] == tracks[2] == tracks[0] + 1  # one ends before the other begins, so they share a row


def test_a_reasoning_is_a_bar_only_in_the_lanes_of_those_who_began_it() -> None:
    def inside(sender: str, ms: int, kind: str = "reasoning/thought", **more: Any) -> dict[str, Any]:
        return envelope(kind, sender=sender, context="why", ts=at(ms), **more)

    start = envelope("reasoning/start", {"message": "Why"}, id="why", sender="lead", ts=at(1))
    again = envelope("reasoning/start", {"message": "Why"}, id="why", sender="files", ts=at(4))
    document = document_of(
        start,
        inside("lead", 2),
        inside("human", 3, "reasoning/cancel"),
        again,
        inside("files", 5),
        inside("human", 6),
        envelope(sender="human", context="why/fetch", ts=at(7)),
    )
    lanes = lanes_of(document)
    node = document.analysis.contexts.node_of(1)
    assert node != MAIN
    bounds = np.iinfo(np.int64)
    bars = {
        lane.name: [
            bar.node
            for track in range(lane.track, lane.track + lane.tracks)
            for bar in lanes.bars(track, int(bounds.min), int(bounds.max))
        ]
        for lane in lanes.lanes
    }
    assert bars == {"lead": [node], "files": [node], "human": []}
    human = next(lane for lane in lanes.lanes if lane.name == "human")
    assert (human.count, human.rows) == (3, 0)
    assert lanes.tracks_of(np.array([2, 5, 6])).tolist() == [human.track] * 3
    assert lanes_of(document, batches=7).lanes == lanes.lanes


def test_without_a_time_a_message_stands_where_the_one_before_stands() -> None:
    document = document_of(*lines([("lead", None, 5)]), envelope(ts="never"), *lines([("lead", None, 7)]))
    times = MessageTimes(document.capture)
    times.update(3)
    assert int(document.capture.columns["time_ns"][1]) == NO_TIME
    assert times.values[1] == times.values[0] == times.first_ns
    assert (times.guessed_count, times.last_ns - times.first_ns) == (1, 2_000_000)


def test_what_comes_before_the_first_time_stands_at_it() -> None:
    document = document_of(envelope(ts="never"), envelope(ts="never"), *lines([("lead", None, 5)]))
    times = MessageTimes(document.capture)
    for stop in (1, 2, 3):
        times.update(stop)
    assert len(set(times.values.tolist())) == 1
    assert times.first_ns == int(document.capture.columns["time_ns"][2])


def test_growing_lanes_keep_their_messages_when_others_come_before_them() -> None:
    log = GrowingLog()
    try:
        times = MessageTimes(log.document.capture)
        lanes = Lanes(log.document.analysis, times)
        known = 0
        batches: list[list[tuple[str, str | None, int]]] = [
            [("lead", None, 1), ("system:gateway", None, 2)],
            [("files", "a", 3)],
            [("lead", "b", 4)],
        ]
        for batch in batches:
            log.write(*lines(batch))
            stop = len(log.document.analysis)
            times.update(stop)
            lanes.feed(np.arange(known, stop))
            known = stop
            assert sorted(standing(lanes)) == list(range(stop))
            found = standing(lanes)
            assert lanes.tracks_of(np.arange(stop)).tolist() == [found[row] for row in range(stop)]
        assert [lane.name for lane in lanes.lanes] == ["lead", "files", "system:gateway"]
    finally:
        clean_up()


def test_a_context_that_grew_over_another_is_put_right() -> None:
    log = GrowingLog()
    try:
        times = MessageTimes(log.document.capture)
        lanes = Lanes(log.document.analysis, times)
        log.write(*lines([("lead", "a", 0), ("lead", "b", 40_000)]))
        times.update(2)
        lanes.feed(np.arange(2), settled=True)
        assert len(set(lanes.tracks_of(np.arange(2)).tolist())) == 1
        log.write(*lines([("lead", "a", 50_000)]))
        times.update(3)
        lanes.feed(np.arange(2, 3))
        assert lanes.is_outdated
        lanes = lanes_of(log.document)
        tracks = lanes.tracks_of(np.arange(3)).tolist()
        assert tracks[0] == tracks[2] != tracks[1]
        assert not lanes.is_outdated
    finally:
        clean_up()


def test_neighbours_go_by_time_along_a_track() -> None:
    document = document_of(*lines([("lead", None, 5), ("lead", None, 1), ("files", None, 2), ("lead", None, 9)]))
    for batches in (1, 4):
        lanes = lanes_of(document, batches=batches)
        assert [lanes.neighbour(1, 1), lanes.neighbour(0, 1), lanes.neighbour(3, 1)] == [0, 3, None]
        assert [lanes.neighbour(3, -1), lanes.neighbour(0, -1), lanes.neighbour(1, -1)] == [0, 1, None]
        assert lanes.nearest(lanes.lanes[0].track, int(lanes.times.values[2])) == 1


def test_many_lanes_in_a_deep_context_do_not_go_up_the_tree_one_by_one() -> None:
    chain = [envelope(sender="lead", context={"id": f"n{n + 1}", "parent": f"n{n}"}, ts=at(n)) for n in range(400)]
    crowd = [envelope(sender=f"p{n}", context={"id": "n400"}, ts=at(1_000 + n)) for n in range(60)]
    document = document_of(*chain, *crowd)
    assert steps_of(lambda: lanes_of(document), "timeline/pairs") < 60 * (len(chain) + len(crowd))
    document.close()
