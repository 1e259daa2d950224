"""Which chat a chat answers that names none (docs/protocols.md 5, Likely links)."""

from __future__ import annotations

import re

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.views.causes.likely_neighbours import (
    REACH,
    after,
    before,
    is_correlated,
    may_be_linked,
    named_by,
    only_other,
    same_processes,
)
from inspector.protocol import kinds
from inspector.protocol.message_text import text_shown
from inspector.protocol.timestamps import NO_TIME

WITHIN_NS = 2 * 60 * 1_000_000_000
"""A later chat may be about anything."""
STORM = 30
"""With so many chats in ten seconds agents answer each other without end, and each might answer any."""
_STORM_NS = 10 * 1_000_000_000

_LONGEST = 4_000  # characters that are compared
_LONG = 20  # characters of a text that nobody repeats by chance
_SHORTEST = 5
_SHARE = 0.4  # of an answer, that a shorter text must be
_QUESTION = re.compile("[?\uff1f\u061f](?=[\\s\"'\u00bb\u201d\u2019)\\]*_]|$)")
_SEES_TO_IT = ("processing", "working", "accepted")
_CHAT = ("chat",)
_START, _ENDS = "reasoning/start", ("reasoning/conclusion", "reasoning/cancel")
_STEPS = ("reasoning/thought", kinds.REQUEST, kinds.PROPOSAL)


def question_of(analysis: Analysis, message: int) -> tuple[int, bool] | None:
    """The chat that a chat answers, and whether it is told by its words, not by its turn; None where none is likely.

    Each question has one answer, the first.
    """
    found = _question(analysis, message)
    if found is None or any(_answers(analysis, row, found[0]) for row in _chats_between(analysis, found[0], message)):
        return None
    return found


def answer_to(analysis: Analysis, message: int) -> tuple[int, bool] | None:
    """The chat that answers a chat, and whether it is told by its words; None where none is likely."""
    if analysis.capture.string("kind", message) != "chat":
        return None
    for row in after(analysis, message, _CHAT, within_ns=WITHIN_NS):
        found = _question(analysis, row) if _may_answer(analysis, row, message) else None
        if found is not None and found[0] == message:
            return row, found[1]
    return None


def _may_answer(analysis: Analysis, row: int, question: int) -> bool:
    """Whether a chat can be an answer by whom it is from and to, before anything is read."""
    to = analysis.capture.to(row)
    return _reaches(analysis, question, row) and (not to or to == (_sender(analysis, question),))


def _answers(analysis: Analysis, row: int, question: int) -> bool:
    found = _question(analysis, row) if _may_answer(analysis, row, question) else None
    return found is not None and found[0] == question


def _chats_between(analysis: Analysis, start: int, stop: int) -> list[int]:
    return [row for row in after(analysis, start, _CHAT, within_ns=WITHIN_NS) if row < stop]


def _question(analysis: Analysis, message: int) -> tuple[int, bool] | None:
    capture = analysis.capture
    if capture.string("kind", message) != "chat" or is_correlated(analysis, message):
        return None
    if not may_be_linked(analysis, message) or len(capture.to(message)) > 1 or _in_storm(analysis, message):
        return None
    if _goes_on(analysis, message):
        return None
    chats = [
        row
        for row in before(analysis, message, _CHAT, within_ns=WITHIN_NS)
        if analysis.contexts.node_of(row) == analysis.contexts.node_of(message)
    ]
    if not chats:
        return None
    other = next(iter(capture.to(message)), None) or only_other(analysis, message)
    heard = [row for row in chats if _reaches(analysis, row, message) and other in (None, _sender(analysis, row))]
    found = _by_words(analysis, message, heard)
    if found is not None:
        return found, True
    found = _by_turn(analysis, message, chats, heard, other)
    return None if found is None else (found, False)


def _sender(analysis: Analysis, message: int) -> str | None:
    return analysis.capture.string("sender", message)


def _reaches(analysis: Analysis, row: int, message: int) -> bool:
    """Whether a chat of somebody else was meant for the sender of a message, too."""
    own, to = _sender(analysis, message), analysis.capture.to(row)
    return _sender(analysis, row) != own and (not to or own in to)


def _in_storm(analysis: Analysis, message: int) -> bool:
    columns, low = analysis.capture.columns, max(0, message - REACH)
    time = int(columns["time_ns"][message])
    if time == NO_TIME:
        return False
    near = columns["kind"][low:message] == columns["kind"][message]
    near &= columns["space"][low:message] == columns["space"][message]
    near &= columns["time_ns"][low:message] >= time - _STORM_NS
    return int(np.count_nonzero(near)) >= STORM


def _goes_on(analysis: Analysis, message: int) -> bool:
    """Whether the sender of a chat was reasoning, and went on: then it is no answer yet, but a word in between."""
    capture, sender = analysis.capture, analysis.capture.columns["sender"][message]
    ends = (*_ENDS, _START)
    said = (row for row in before(analysis, message, ends) if capture.columns["sender"][row] == sender)
    if capture.string("kind", next(said, message)) != _START:
        return False
    later = (
        row
        for row in after(analysis, message, (*_ENDS, *_STEPS))
        if capture.columns["sender"][row] == sender or capture.string("kind", row) == "reasoning/cancel"
    )
    return capture.string("kind", next(later, message)) in _STEPS


def is_open(analysis: Analysis, question: int, message: int) -> bool:
    """Whether nobody answered a chat by its id, and it was not taken back before a message."""
    for row in named_by(analysis, question):
        kind = analysis.capture.string("kind", row)
        if kind == "chat" or (kind == "chat/cancel" and row < message):
            return False
    return same_processes(analysis, question, message)


# By turn: the next chat of the one who was asked


def _by_turn(analysis: Analysis, message: int, chats: list[int], heard: list[int], other: str | None) -> int | None:
    turns = (row for row in chats if _same_turn(analysis, row, message) and not _goes_on(analysis, row))
    own_last = next(turns, -1)
    since = [row for row in heard if row > own_last and is_open(analysis, row, message)]
    asking = [row for row in since if _asks(analysis, row, message)]
    if len(asking) != 1:
        return None
    question = asking[0]
    if other is None and len(since) != 1:  # said to all, it may be about what somebody else said
        return None
    to_all = not analysis.capture.to(question)
    if to_all and only_other(analysis, question) is None and not _is_seen_to(analysis, question, message):
        return None
    return question


def _same_turn(analysis: Analysis, row: int, message: int) -> bool:
    """Whether an earlier chat of the same sender may have been the answer already."""
    if _sender(analysis, row) != _sender(analysis, message):
        return False
    to, earlier = analysis.capture.to(message), analysis.capture.to(row)
    return not to or not earlier or not set(to).isdisjoint(earlier)


def _asks(analysis: Analysis, question: int, message: int) -> bool:
    return bool(_QUESTION.search(_words(analysis, question))) or _is_seen_to(analysis, question, message)


def _is_seen_to(analysis: Analysis, question: int, message: int) -> bool:
    """Whether the sender of a message said before that it works on a chat: by a status, or by starting to reason."""
    capture, own = analysis.capture, _sender(analysis, message)
    for row in named_by(analysis, question):
        if row >= message or _sender(analysis, row) != own:
            continue
        kind = capture.string("kind", row)
        status = capture.records.payload(row).get("status") if kind == "chat/acknowledge" else None
        if kind == "reasoning/start" or (isinstance(status, str) and status.lower() in _SEES_TO_IT):
            return True
    return False


# By words: it repeats what it answers


def _by_words(analysis: Analysis, message: int, heard: list[int]) -> int | None:
    own = _words(analysis, message)
    if len(own) <= _SHORTEST:
        return None
    found: list[int] = []
    best = 0
    for row in heard:
        words = _words(analysis, row)
        if len(words) < max(best, _SHORTEST) or not _repeats(own, words):
            continue
        found = [*found, row] if len(words) == best else [row]
        best = len(words)
    return found[0] if len(found) == 1 and is_open(analysis, found[0], message) else None


def _repeats(own: str, words: str) -> bool:
    """Whether a text holds another one whole: a long one anywhere, a short one at its end, as most of it."""
    if len(words) >= len(own):
        return False
    if len(words) < _LONG:
        return own.endswith(words) and not own[-len(words) - 1].isalnum() and len(words) >= _SHARE * len(own)
    place = own.find(words)
    if place < 0:
        return False
    around = own[max(0, place - 1) : place] + own[place + len(words) : place + len(words) + 1]
    return not any(letter.isalnum() for letter in around)


def _words(analysis: Analysis, message: int) -> str:
    capture = analysis.capture
    if capture.records.is_big(message):
        return ""
    text = text_shown("chat", capture.records.payload(message)) or ""
    return " ".join(text[:_LONGEST].split()).casefold()
