"""Positions of messages on the axis of a plot: by time, or evenly by order."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.timeline.message_positions import PER_MESSAGE as PER_MESSAGE
from inspector.analysis.views.timeline.message_positions import MessageOrder, MessagePlaces, MessageTimes
from inspector.analysis.views.timeline.range_condition import number_condition, time_condition
from inspector.analysis.views.timeline.scale import Break as Break
from inspector.analysis.views.timeline.scale import TimeScale as TimeScale
from inspector.analysis.views.timeline.steps import columns_of as columns_of
from inspector.analysis.views.timeline.steps import nice_ticks as nice_ticks
from inspector.analysis.views.timeline.steps import outline as outline
from inspector.analysis.views.timeline.track_marks import Window as Window
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError
from inspector.present.plot_words import message_words
from inspector.store.messages.capture import Capture


@dataclass(frozen=True, slots=True)
class AxisRange:
    """Range of an axis, and the silences it leaves out.

    Attributes:
        first_ns, last_ns: positions of the first and the last message.
        breaks: the silences, ascending.
    """

    first_ns: int = 0
    last_ns: int = 0
    breaks: tuple[Break, ...] = ()


class NearMessage(msgspec.Struct, frozen=True):
    """A message at a position.

    Attributes:
        message: its index, or None.
        words: names it.
    """

    message: int | None = None
    words: str = ""


class NameMessage(Request[str], frozen=True):
    """Names a message in a few words."""

    message: int


class MessageBefore(Request[NearMessage], frozen=True):
    """The last message up to a position.

    Attributes:
        position: nanoseconds, or positions by order.
        by_order: messages are evenly spaced.
    """

    position: int
    by_order: bool = False


class NextPosition(Request[int | None], frozen=True):
    """Position of the next message.

    Attributes:
        position: the present one; None for the first or last message.
        step: 1 for the next message, -1 for the previous one.
        by_order: messages are evenly spaced.
    """

    position: int | None
    step: int
    by_order: bool = False


class MessagePosition(Request[int | None], frozen=True):
    """Position of a message; None if it is not known yet."""

    message: int
    by_order: bool = False


class RangeCondition(Request[str | None], frozen=True):
    """A display filter for the messages between two positions, both included, or None."""

    first: int
    last: int
    by_order: bool = False


class _Positions:
    """Positions of the messages of one document; they never change."""

    def __init__(self, capture: Capture) -> None:
        self.times, self.order = MessageTimes(capture), MessageOrder()

    def note_changed(self, _changed: Rows) -> None:
        pass


def _kept(held: OpenDocument) -> _Positions:
    return held.kept(_Positions, lambda: _Positions(held.document.capture))


def message_places(held: OpenDocument, *, by_order: bool) -> MessagePlaces:
    """Returns the positions of all messages, kept between requests."""
    kept = _kept(held)
    places = kept.order if by_order else kept.times
    places.update(len(held.document.analysis))
    return places


def message_times(held: OpenDocument) -> MessageTimes:
    """Returns the times of all messages, kept between requests."""
    times = _kept(held).times
    times.update(len(held.document.analysis))
    return times


def axis_range(places: MessagePlaces, *, broken: bool) -> AxisRange:
    """Returns the range of an axis; with `broken` it leaves out long silences."""
    return AxisRange(places.first_ns, places.last_ns, places.breaks() if broken else ())


def _name(held: OpenDocument, asked: NameMessage) -> str:
    if not 0 <= asked.message < len(held.document.capture):
        raise RequestError(f"There is no message {asked.message + 1:,}.")
    return message_words(held.document, asked.message)


def _before(held: OpenDocument, asked: MessageBefore) -> NearMessage:
    rows = np.flatnonzero(message_places(held, by_order=asked.by_order).values <= asked.position)
    if not len(rows):
        return NearMessage()
    return NearMessage(int(rows[-1]), message_words(held.document, int(rows[-1])))


def _next(held: OpenDocument, asked: NextPosition) -> int | None:
    values, later = message_places(held, by_order=asked.by_order).values, asked.step > 0
    if asked.position is None:
        return int(values.min() if later else values.max()) if len(values) else None
    further = values[values > asked.position] if later else values[values < asked.position]
    return int(further.min() if later else further.max()) if len(further) else None


def _position(held: OpenDocument, asked: MessagePosition) -> int | None:
    values = message_places(held, by_order=asked.by_order).values
    return int(values[asked.message]) if 0 <= asked.message < len(values) else None


def _condition(held: OpenDocument, asked: RangeCondition) -> str | None:
    if asked.by_order:
        return number_condition(asked.first, asked.last)
    return time_condition(message_times(held), asked.first, asked.last)


QUERIES = (
    Query(NameMessage, str, _name),
    Query(MessageBefore, NearMessage, _before),
    Query(NextPosition, int | None, _next),
    Query(MessagePosition, int | None, _position),
    Query(RangeCondition, str | None, _condition),
)
