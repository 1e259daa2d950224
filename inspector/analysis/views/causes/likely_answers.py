"""Finds the likely question of a chat without a correlation, and the likely answer to a chat."""

from __future__ import annotations

import re

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.views.causes.likely_neighbours import (
    MAX_DISTANCE,
    is_correlated,
    may_be_linked,
    messages_after,
    messages_before,
    naming_messages,
    only_other_participant,
    same_processes,
)
from inspector.protocol import kinds
from inspector.protocol.message_text import text_shown
from inspector.protocol.timestamps import NO_TIME

MAX_REPLY_NS = 2 * 60 * 1_000_000_000
"""Nanoseconds; a later chat may have any subject."""
LOOP_CHATS = 30
"""Chats in ten seconds that count as a loop, in which any chat may answer any."""
_LOOP_NS = 10 * 1_000_000_000

_MAX_TEXT_CHARS = 4_000  # characters compared
_LONG_TEXT_CHARS = 20  # length of a text that does not repeat by chance
# Shorter texts, such as “yes”, repeat by chance.
_MIN_TEXT_CHARS = 5
_MIN_REPEATED_SHARE = 0.4  # of an answer, minimum share of a repeated shorter text
# Also the full-width and the Arabic question mark.
_QUESTION = re.compile("[?\uff1f\u061f](?=[\\s\"'\u00bb\u201d\u2019)\\]*_]|$)")
_WORKING_STATES = ("processing", "working", "accepted")
_CHAT = ("chat",)
_START, _ENDS = "reasoning/start", ("reasoning/conclusion", "reasoning/cancel")
_STEPS = ("reasoning/thought", kinds.REQUEST, kinds.PROPOSAL)


def question_of(analysis: Analysis, message: int) -> tuple[int, bool] | None:
    """Returns the likely question of a chat, and True if its words show it, False if its turn; None without one.

    Each question has one answer, the first.
    """
    found = _question(analysis, message)
    if found is None or any(_answers(analysis, row, found[0]) for row in _chats_between(analysis, found[0], message)):
        return None
    return found


def answer_to(analysis: Analysis, message: int) -> tuple[int, bool] | None:
    """Returns the likely answer of a chat, and True if its words show it."""
    if analysis.capture.string("kind", message) != "chat":
        return None
    for row in messages_after(analysis, message, _CHAT, within_ns=MAX_REPLY_NS):
        found = _question(analysis, row) if _may_answer(analysis, row, message) else None
        if found is not None and found[0] == message:
            return row, found[1]
    return None


def _may_answer(analysis: Analysis, row: int, question: int) -> bool:
    """Returns True if sender and recipients allow an answer; reads no text."""
    to = analysis.capture.recipients(row)
    return _was_addressed(analysis, question, row) and (not to or to == (_sender(analysis, question),))


def _answers(analysis: Analysis, row: int, question: int) -> bool:
    found = _question(analysis, row) if _may_answer(analysis, row, question) else None
    return found is not None and found[0] == question


def _chats_between(analysis: Analysis, start: int, stop: int) -> list[int]:
    return [row for row in messages_after(analysis, start, _CHAT, within_ns=MAX_REPLY_NS) if row < stop]


def _question(analysis: Analysis, message: int) -> tuple[int, bool] | None:
    capture = analysis.capture
    if capture.string("kind", message) != "chat" or is_correlated(analysis, message):
        return None
    # A chat to several participants answers no single one.
    if not may_be_linked(analysis, message) or len(capture.recipients(message)) > 1 or _is_in_loop(analysis, message):
        return None
    if _continues_reasoning(analysis, message):
        return None
    chats = [
        row
        for row in messages_before(analysis, message, _CHAT, within_ns=MAX_REPLY_NS)
        if analysis.contexts.node_of(row) == analysis.contexts.node_of(message)
    ]
    if not chats:
        return None
    other = next(iter(capture.recipients(message)), None) or only_other_participant(analysis, message)
    heard = [row for row in chats if _was_addressed(analysis, row, message) and other in (None, _sender(analysis, row))]
    # Words are stronger evidence than turns, so they are tried first.
    found = _question_by_words(analysis, message, heard)
    if found is not None:
        return found, True
    found = _question_by_turn(analysis, message, chats, heard, other)
    return None if found is None else (found, False)


def _sender(analysis: Analysis, message: int) -> str | None:
    return analysis.capture.string("sender", message)


def _was_addressed(analysis: Analysis, row: int, message: int) -> bool:
    """Returns True if another sender's chat also addressed the sender of a message."""
    own, to = _sender(analysis, message), analysis.capture.recipients(row)
    return _sender(analysis, row) != own and (not to or own in to)


def _is_in_loop(analysis: Analysis, message: int) -> bool:
    columns, low = analysis.capture.columns, max(0, message - MAX_DISTANCE)
    time = int(columns["time_ns"][message])
    if time == NO_TIME:
        return False
    near = columns["kind"][low:message] == columns["kind"][message]
    near &= columns["space"][low:message] == columns["space"][message]
    near &= columns["time_ns"][low:message] >= time - _LOOP_NS
    return int(np.count_nonzero(near)) >= LOOP_CHATS


def _continues_reasoning(analysis: Analysis, message: int) -> bool:
    """Returns True if the sender was reasoning and continued, so that its chat is no answer yet."""
    capture, sender = analysis.capture, analysis.capture.columns["sender"][message]
    ends = (*_ENDS, _START)
    said = (row for row in messages_before(analysis, message, ends) if capture.columns["sender"][row] == sender)
    if capture.string("kind", next(said, message)) != _START:
        return False
    later = (
        row
        for row in messages_after(analysis, message, (*_ENDS, *_STEPS))
        if capture.columns["sender"][row] == sender or capture.string("kind", row) == "reasoning/cancel"
    )
    return capture.string("kind", next(later, message)) in _STEPS


def is_open(analysis: Analysis, question: int, message: int) -> bool:
    """Returns True if no answer names the chat and it was not cancelled before a message."""
    for row in naming_messages(analysis, question):
        kind = analysis.capture.string("kind", row)
        if kind == "chat" or (kind == "chat/cancel" and row < message):
            return False
    return same_processes(analysis, question, message)


# By turn: the next chat of the addressed participant


def _question_by_turn(
    analysis: Analysis, message: int, chats: list[int], heard: list[int], other: str | None
) -> int | None:
    turns = (row for row in chats if _same_turn(analysis, row, message) and not _continues_reasoning(analysis, row))
    own_last = next(turns, -1)
    since = [row for row in heard if row > own_last and is_open(analysis, row, message)]
    asking = [row for row in since if _is_question(analysis, row, message)]
    if len(asking) != 1:
        return None
    question = asking[0]
    if other is None and len(since) != 1:  # a broadcast may refer to another participant's chat
        return None
    to_all = not analysis.capture.recipients(question)
    if to_all and only_other_participant(analysis, question) is None and not _is_accepted(analysis, question, message):
        return None
    return question


def _same_turn(analysis: Analysis, row: int, message: int) -> bool:
    """Returns True if an earlier chat of the sender may already be the answer."""
    if _sender(analysis, row) != _sender(analysis, message):
        return False
    to, earlier = analysis.capture.recipients(message), analysis.capture.recipients(row)
    return not to or not earlier or not set(to).isdisjoint(earlier)


def _is_question(analysis: Analysis, question: int, message: int) -> bool:
    return bool(_QUESTION.search(_chat_text(analysis, question))) or _is_accepted(analysis, question, message)


def _is_accepted(analysis: Analysis, question: int, message: int) -> bool:
    """Returns True if the sender announced work on a chat, by a status or a reasoning start."""
    capture, own = analysis.capture, _sender(analysis, message)
    for row in naming_messages(analysis, question):
        if row >= message or _sender(analysis, row) != own:
            continue
        kind = capture.string("kind", row)
        status = capture.records.payload(row).get("status") if kind == "chat/acknowledge" else None
        if kind == "reasoning/start" or (isinstance(status, str) and status.lower() in _WORKING_STATES):
            return True
    return False


# By words: the answer repeats the question


def _question_by_words(analysis: Analysis, message: int, heard: list[int]) -> int | None:
    own = _chat_text(analysis, message)
    if len(own) <= _MIN_TEXT_CHARS:
        return None
    found: list[int] = []
    best = 0
    for row in heard:
        words = _chat_text(analysis, row)
        if len(words) < max(best, _MIN_TEXT_CHARS) or not _repeats(own, words):
            continue
        found = [*found, row] if len(words) == best else [row]
        best = len(words)
    return found[0] if len(found) == 1 and is_open(analysis, found[0], message) else None


def _repeats(own: str, words: str) -> bool:
    """Returns True if a text contains another: a long one anywhere, a short one at its end as its larger part."""
    if len(words) >= len(own):
        return False
    # A short text repeats by chance, so it must be most of the answer.
    if len(words) < _LONG_TEXT_CHARS:
        return (
            own.endswith(words) and not own[-len(words) - 1].isalnum() and len(words) >= _MIN_REPEATED_SHARE * len(own)
        )
    place = own.find(words)
    if place < 0:
        return False
    around = own[max(0, place - 1) : place] + own[place + len(words) : place + len(words) + 1]
    return not any(letter.isalnum() for letter in around)


def _chat_text(analysis: Analysis, message: int) -> str:
    capture = analysis.capture
    if capture.records.is_big(message):
        return ""
    text = text_shown("chat", capture.records.payload(message)) or ""
    return " ".join(text[:_MAX_TEXT_CHARS].split()).casefold()
