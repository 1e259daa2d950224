"""The participants of a document, in the order of the list, and their rows."""

from __future__ import annotations

import msgspec
import numpy as np

from inspector.analysis.passes.participants.participant_table import GONE, PRESENT
from inspector.analysis.views.summaries.participant_queries import shown_numbers
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps, check_row_count
from inspector.engine.tree_figures import figures_of
from inspector.filters.strings import quote
from inspector.present import participant_words as words
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME

SPEAKING_S = 2
"""A participant counts as speaking for this many seconds after a message."""
_STEP_ROWS = 5_000

Key = tuple[int, str]
"""(space as a string id, name)."""


class ParticipantList(msgspec.Struct, frozen=True):
    """All participants.

    Attributes:
        keys: present ones by first appearance, the observer, departed ones; unseen ones last in each group.
        count: number of different names, as everywhere: one may be in several spaces.
        here: number of different names of present ones.
        is_announced: presence of some was announced.
        now_ns: present time of live traffic, which presence and times depend on; None otherwise.
    """

    keys: list[Key]
    count: int
    here: int
    is_announced: bool
    now_ns: int | None


class OrderParticipants(Request[ParticipantList], frozen=True):
    """The participants of all spaces, without their rows."""


class ParticipantRow(msgspec.Struct, frozen=True):
    """A row of the list.

    Attributes:
        key: the participant.
        name: on one line, with visible control characters.
        is_us: it is this program.
        space: name of its space: a label or title of a session, else the name in the traffic, else the document's.
        presence: speaking, here, left or not announced.
        line, short_line: capabilities, departure or number of messages; for a narrow view.
        usage: reported tokens, in words.
        share: fill level of its context, 0 to 1, if reported.
        tip: all details.
        copied: its id, for the clipboard.
        sent, received: display filters for its messages.
    """

    key: Key
    name: str
    is_us: bool
    space: str
    presence: str
    line: str
    short_line: str
    usage: str
    share: float | None
    tip: str
    copied: str
    sent: str
    received: str


class DescribeParticipants(Request[list[ParticipantRow]], frozen=True):
    """Rows of some participants, at most 1,000."""

    keys: tuple[Key, ...]


def _list(held: OpenDocument, _asked: OrderParticipants) -> Steps[ParticipantList]:
    analysis = held.document.analysis
    everyone, numbers = analysis.participants.all, shown_numbers(analysis)
    columns = (everyone.here, everyone.is_us, everyone.first_ns)
    here, us, first_ns = (np.array(column)[numbers] for column in columns)
    groups = 4 * (here == GONE) + 2 * us + (first_ns == NO_TIME)
    # The lower half of a key is the name.
    count = len(np.unique(everyone.keys_of(numbers[here == PRESENT]).astype(np.uint32)))
    keys: list[Key] = []
    ordered = numbers[np.lexsort((first_ns, groups))].tolist()
    for place in range(0, len(ordered), _STEP_ROWS):
        keys += map(everyone.pair, ordered[place : place + _STEP_ROWS])
        yield
    return ParticipantList(keys, len({name for _, name in keys}), count, bool(here.any()), analysis.now_ns)


def _describe(held: OpenDocument, asked: DescribeParticipants) -> list[ParticipantRow]:
    check_row_count(len(asked.keys))
    known = held.document.analysis.participants.all
    return [_row(held, key) for key in asked.keys if key in known]


def _row(held: OpenDocument, key: Key) -> ParticipantRow:
    document, analysis = held.document, held.document.analysis
    one, space = analysis.participants.all[key], document.capture.strings[key[0]]
    name, shown = quote(key[1]), document.capture.shown_name(key[1])
    return ParticipantRow(
        key, safe_line(shown), one.is_us, figures_of(held).space_name(key[0]), _presence(held, key),
        words.state_line(one, analysis), words.state_line(one, analysis, short=True),
        words.usage_words(one), words.context_share(one), words.tooltip_text(one, space, analysis),
        mask_text(key[1]), f"from == {name}", f"to == {name}",
    )  # fmt: skip


def _presence(held: OpenDocument, key: Key) -> str:
    one, now = held.document.analysis.participants.all[key], held.document.analysis.now_ns
    if one.here is False:
        return "left"
    last_ns = one.last_ns if one.messages and held.document.live else NO_TIME
    if now is not None and last_ns != NO_TIME and now - last_ns <= SPEAKING_S * 1_000_000_000:
        return "speaking"
    return "not announced" if one.here is None else "here"


QUERIES = (
    Query(OrderParticipants, ParticipantList, _list),
    Query(DescribeParticipants, list[ParticipantRow], _describe),
)
