"""The timeline: lanes with marks, bars and spans in a time window, texts of its items, and steps between messages."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings import Severity as Severity
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.causes.chain import steps_of_turn
from inspector.analysis.views.timeline.lane_geometry import BAR_PX as BAR_PX
from inspector.analysis.views.timeline.lane_keys import LaneBy as LaneBy
from inspector.analysis.views.timeline.lanes import FAMILIES
from inspector.analysis.views.timeline.lanes_picture import COMPACTION_REACH as COMPACTION_REACH
from inspector.analysis.views.timeline.lanes_picture import Picture as Picture
from inspector.analysis.views.timeline.lanes_picture import SeenBar as SeenBar
from inspector.analysis.views.timeline.lanes_picture import SeenCompaction as SeenCompaction
from inspector.analysis.views.timeline.lanes_picture import SeenLane as SeenLane
from inspector.analysis.views.timeline.lanes_picture import SeenMark as SeenMark
from inspector.analysis.views.timeline.lanes_picture import SeenSpan as SeenSpan
from inspector.analysis.views.timeline.lanes_picture import TrackPicture as TrackPicture
from inspector.analysis.views.timeline.message_positions import MessagePlaces
from inspector.analysis.views.timeline.scale import Break, TimeScale
from inspector.analysis.views.timeline.spans import SpanKind as SpanKind
from inspector.analysis.views.timeline.track_marks import DENSE_PX as DENSE_PX
from inspector.analysis.views.timeline.track_marks import Mark as Mark
from inspector.analysis.views.timeline.track_marks import Window
from inspector.analysis.views.timeline.track_marks import half_width as half_width
from inspector.analysis.views.timeline.track_marks import short_count as short_count
from inspector.engine.open_document import LONG_KEPT_S, OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.plots import AxisRange, axis_range, message_places, message_times
from inspector.engine.timeline_lanes import LanesLook as LanesLook
from inspector.engine.timeline_lanes import TimelineLanes
from inspector.present import formats
from inspector.present.context_labels import node_label
from inspector.present.message_row import row_content
from inspector.present.time_ranges import since_words
from inspector.present.wire_text import safe_line
from inspector.store.columns.hashes import NO_ROW

SeenItem = SeenMark | SeenBar | SeenSpan | SeenCompaction
"""An item of a picture that has texts."""

_LONGEST = 140
_SAMPLE = 200_000
"""Messages counted for the overview, which has bars of a few pixels."""


class TimelineFacts(msgspec.Struct, frozen=True):
    """Facts about the whole timeline.

    Attributes:
        range: range of the axis, and the silences that it leaves out.
        layout: rises with each change of lanes or tracks.
        lanes, given: number of lanes, and of messages in them.
        families: names of the kind families with messages.
        has_answered, has_open, has_models: there are answered calls, open ones, and model calls.
        has_contexts, has_problems, has_compactions, has_gaps: there are such items.
        overview: messages in equal parts of the axis, (bins,) int64; of a sample in a large log.
        is_behind: some work was deferred; the same request answers more later.
    """

    range: AxisRange
    layout: int
    lanes: int
    given: int
    families: list[str]
    has_answered: bool
    has_open: bool
    has_models: bool
    has_contexts: bool
    has_problems: bool
    has_compactions: bool
    has_gaps: bool
    overview: NDArray[np.int64]
    is_behind: bool


class UpdateTimeline(Request[TimelineFacts], frozen=True):
    """Brings the lanes up to date. It may take long in a large log; `TimelineProgress` tells how far it is.

    Attributes:
        look: determines the lanes.
        broken: the axis leaves out long silences.
        bins: number of parts of the overview.
    """

    look: LanesLook
    broken: bool = True
    bins: int = 100


class TimelineProgress(Request[float], frozen=True):
    """Progress of the lanes, 0 to 1.

    Attributes:
        view: number of the view.
    """

    is_urgent: ClassVar[bool] = True
    view: int


class PaintLanes(Request[Picture | None], frozen=True):
    """Everything visible in a time window; None while the lanes are not complete.

    Attributes:
        look: determines the lanes.
        left_ns, right_ns, width: the window, and its width in pixels.
        breaks: silences that the axis leaves out.
        top, height: visible part of the lanes, in pixels.
        zoom: scale of everything besides the axis.
    """

    is_urgent: ClassVar[bool] = True
    look: LanesLook
    left_ns: int
    right_ns: int
    width: int
    breaks: tuple[Break, ...] = ()
    top: int = 0
    height: int = 1_000
    zoom: float = 1.0


class ItemTexts(msgspec.Struct, frozen=True):
    """Texts of an item, on one line each: title, text and foot."""

    title: str
    text: str
    foot: str


class DescribeItem(Request[ItemTexts], frozen=True):
    """Texts of an item under the pointer.

    Attributes:
        look: determines the lanes.
        item: an item of a picture.
    """

    is_urgent: ClassVar[bool] = True
    look: LanesLook
    item: SeenItem


class ChainPoint(msgspec.Struct, frozen=True):
    """A message of a chain in the lanes.

    Attributes:
        message, after: the message and its cause in the chain.
        ns, y: its position; y from the top of all lanes.
    """

    message: int
    after: int | None
    ns: int
    y: int


class TimelinePlace(msgspec.Struct, frozen=True):
    """Place of a message.

    Attributes:
        ns: its position on the axis.
        y: middle of its track, from the top of all lanes; None if it is in no lane.
        chain: the messages that explain it, in order of arrival.
        words: its lane and texts, for screen readers.
    """

    ns: int
    y: int | None
    chain: list[ChainPoint]
    words: str


class FindInTimeline(Request[TimelinePlace | None], frozen=True):
    """Place of a message and its chain; None if it has no position yet.

    Attributes:
        look: determines the lanes.
        message: the message.
        zoom: scale of the lanes.
    """

    is_urgent: ClassVar[bool] = True
    look: LanesLook
    message: int
    zoom: float = 1.0


class NextInTimeline(msgspec.Struct, frozen=True):
    """A message and its position on the axis."""

    message: int
    ns: int


class StepInTimeline(Request[NextInTimeline | None], frozen=True):
    """The shown message that a step leads to, if any; without a message the first of all.

    Attributes:
        look: determines the lanes.
        message: the present message.
        way: along its track, across to the next track, or to an end of its track.
        step: 1 or -1.
    """

    is_urgent: ClassVar[bool] = True
    look: LanesLook
    message: int | None
    way: Literal["along", "across", "outermost"]
    step: int


def _kept(held: OpenDocument, view: int) -> TimelineLanes:
    return held.kept((TimelineLanes, view), lambda: TimelineLanes(held, view), LONG_KEPT_S)


def _update(held: OpenDocument, asked: UpdateTimeline) -> Steps[TimelineFacts]:
    kept = _kept(held, asked.look.view)
    yield from kept.update(asked.look)
    content, lanes = kept.content, kept.lanes
    axis = axis_range(lanes.times, broken=asked.broken)
    answered, is_open, of_models = content.spans.kinds
    return TimelineFacts(
        axis, kept.layout, len(lanes.lanes), lanes.given,
        [family.name.lower() for family, on in zip(FAMILIES, lanes.families, strict=True) if on],
        answered, is_open, of_models, any(lane.rows for lane in lanes.lanes), bool(len(content.problems)),
        bool(len(content.compactions)), bool(lanes.gaps), _overview(lanes.times, axis, asked.bins), kept.is_behind,
    )  # fmt: skip


def _overview(places: MessagePlaces, axis: AxisRange, bins: int) -> NDArray[np.int64]:
    """Counts messages in equal parts of an axis."""
    values, scale, bins = places.values, TimeScale(axis.breaks), max(1, bins)
    some = np.clip(values[:: max(1, len(values) // _SAMPLE)], axis.first_ns, axis.last_ns)
    first, last = scale.place(axis.first_ns), scale.place(axis.last_ns)
    since = scale.places(some).astype(np.float64) - first
    parts = np.minimum((since * (bins / max(1, last - first))).astype(np.int64), bins - 1)
    return np.bincount(parts, minlength=bins).astype(np.int64)


def _progress(held: OpenDocument, asked: TimelineProgress) -> float:
    return _kept(held, asked.view).share


def _paint(held: OpenDocument, asked: PaintLanes) -> Steps[Picture | None]:
    window = Window(asked.left_ns, asked.right_ns, asked.width, TimeScale(asked.breaks))
    return (yield from _kept(held, asked.look.view).picture(asked.look, window, asked.top, asked.height, asked.zoom))


def _find(held: OpenDocument, asked: FindInTimeline) -> TimelinePlace | None:
    kept, message = _kept(held, asked.look.view), asked.message
    values = message_places(held, by_order=asked.look.by_order).values
    if not 0 <= message < len(values):
        return None
    steps = steps_of_turn(held.document.analysis, held.document.chain(message), message)
    ys = _heights(kept, asked.zoom, [message, *(step.message for step in steps)])
    chain = [
        ChainPoint(step.message, step.after, int(values[step.message]), y)
        for step, y in zip(steps, ys[1:], strict=True)
        if y is not None
    ]
    lane = kept.lane_of(message)
    texts = _message_texts(held, kept, message)
    name = held.document.capture.shown_name(lane.name) if lane else "none"
    words = f"Lane {safe_line(name, _LONGEST)}. {texts.foot}. {texts.title}. {texts.text}"
    return TimelinePlace(int(values[message]), ys[0], chain, words)


def _heights(kept: TimelineLanes, zoom: float, messages: list[int]) -> list[int | None]:
    """Returns the middle of each message's track; None if it is in no lane."""
    geometry = kept.geometry(zoom)
    tracks = kept.lanes.tracks_of(np.array(messages)).tolist()
    return [None if track < 0 else geometry.y_of(track) for track in tracks]


def _step(held: OpenDocument, asked: StepInTimeline) -> NextInTimeline | None:
    kept = _kept(held, asked.look.view)
    found = kept.next_message(asked.message, asked.way, asked.step)
    return None if found is None else NextInTimeline(found, int(kept.lanes.times.values[found]))


# Texts, with secrets masked


def _describe(held: OpenDocument, asked: DescribeItem) -> ItemTexts:
    kept = _kept(held, asked.look.view)
    match asked.item:
        case SeenMark():
            return _mark_texts(held, kept, asked.item.mark)
        case SeenSpan():
            return _span_texts(held, kept, asked.item)
        case SeenBar():
            return _bar_texts(held, kept, asked.item)
        case SeenCompaction():
            return _compaction_texts(held, kept, asked.item.row)


def _time_label(held: OpenDocument, kept: TimelineLanes, position: int) -> str:
    """Returns the time of a position as labelled on the axis."""
    clock = message_times(held)
    return since_words(kept.since_ns(position), of_ns=clock.last_ns - clock.first_ns)


def _message_texts(held: OpenDocument, kept: TimelineLanes, message: int) -> ItemTexts:
    """Returns sender, receivers and kind; text; No., time and latency."""
    content = row_content(held.document, message)
    ends = " to ".join(filter(None, (content.sender, content.receivers)))
    kind = content.kind_text or content.word
    title = f"{ends}: {kind}" if ends else kind
    since = _time_label(held, kept, int(message_places(held, by_order=kept.look.by_order).values[message]))
    took = content.latency and f"took {content.latency}"
    foot = ", ".join(filter(None, (formats.message_number(message), since, took)))
    return ItemTexts(title, safe_line(content.text, _LONGEST), foot)


def _mark_texts(held: OpenDocument, kept: TimelineLanes, mark: Mark) -> ItemTexts:
    """Returns the texts of a message, or the number of several and a hint for spreading them out."""
    texts = _message_texts(held, kept, mark.row)
    hidden = ", hidden in the table" if mark.hidden else ""
    if mark.count == 1:
        return ItemTexts(texts.title, texts.text, f"{texts.foot}{hidden}")
    first = ", ".join(filter(None, (texts.title, texts.text)))
    return ItemTexts(
        formats.count_of(mark.count, "message"), f"The first is {first}",
        f"{texts.foot}. Double-click to spread them out.{hidden}",
    )  # fmt: skip


def _compaction_texts(held: OpenDocument, kept: TimelineLanes, message: int) -> ItemTexts:
    """Returns the participant of a compacted context, its size before and after, No. and time."""
    texts = _message_texts(held, kept, message)
    who = texts.title.partition(":")[0].partition(" to ")[0]
    return ItemTexts(f"{who}: context compacted" if who else "Context compacted", texts.text, texts.foot)


def _span_texts(held: OpenDocument, kept: TimelineLanes, span: SeenSpan) -> ItemTexts:
    """Returns message and duration of a span; text; first and last No. and start."""
    spans, values = kept.content.spans, kept.lanes.times
    found = np.flatnonzero((spans.rows == span.row) & (spans.sorts == span.sort))
    if not len(found):
        raise RequestError("This span has changed.")
    start_ns, end_ns = int(spans.starts_ns[found[0]]), int(spans.ends_ns[found[0]])
    until = values.last_ns if span.end == NO_ROW else end_ns
    took = formats.duration(kept.since_ns(until) - kept.since_ns(start_ns))
    texts = _message_texts(held, kept, span.row)
    if span.sort is SpanKind.MODEL:
        title = f"{texts.title.partition(':')[0].partition(' to ')[0]}: model, {took}"
    else:
        title = f"{texts.title}, {took}{' so far' if span.end == NO_ROW else ''}"
    ends = [span.row] if span.end in (NO_ROW, span.row) else [span.row, span.end]
    numbers = " to ".join(map(formats.message_number, ends))
    return ItemTexts(title, texts.text, f"{numbers}, from {_time_label(held, kept, start_ns)}")


def _bar_texts(held: OpenDocument, kept: TimelineLanes, bar: SeenBar) -> ItemTexts:
    """Returns a context's label; its path if it differs; state, start and duration."""
    document, in_main = held.document, bar.node == MAIN
    label = "main" if in_main else node_label(document, bar.node)
    path = "" if in_main else safe_line(document.analysis.contexts.tree.path(bar.node), _LONGEST)
    took = formats.duration(kept.since_ns(bar.end_ns) - kept.since_ns(bar.start_ns))
    foot = f"{bar.state.capitalize()}, from {_time_label(held, kept, bar.start_ns)}, {took}"
    return ItemTexts(label, path if path != label else "", foot)


QUERIES = (
    Query(UpdateTimeline, TimelineFacts, _update),
    Query(TimelineProgress, float, _progress),
    Query(PaintLanes, Picture | None, _paint),
    Query(DescribeItem, ItemTexts, _describe),
    Query(FindInTimeline, TimelinePlace | None, _find),
    Query(StepInTimeline, NextInTimeline | None, _step),
)
