"""Marks of messages in traces: equal for every recording of the same message.

A span of a model call records the whole history. The mark separates repeated messages from new ones. It consists of the
text, its place among equal texts in the same history, the agent and the trace. Tool calls and their results have ids of
their own, which other agents' spans repeat.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from inspector.formats.entry_builders import Entry, bytes_of
from inspector.formats.message_entries import entries_of_message
from inspector.formats.model_vocabulary import AGENT as ASSISTANT
from inspector.formats.model_vocabulary import USER
from inspector.protocol import kinds


def given_entries(message: dict[str, Any]) -> Iterator[Entry]:
    """Yields the entries of an input message."""
    return entries_of_message(_with_role(message, USER))


def answer_entries(message: dict[str, Any]) -> Iterator[Entry]:
    """Yields the entries of an output message."""
    return entries_of_message(_with_role(message, ASSISTANT))


def _with_role(message: dict[str, Any], role: str) -> dict[str, Any]:
    if isinstance(message.get("type"), str) and "role" not in message:  # an item of the Responses API
        return message
    given = message.get("role")
    return {**message, "role": given if isinstance(given, str) and given not in ("", "unknown") else role}


def set_mark(entry: Entry, time_ns: int, speaker: str, trace: str, seen: Counter[str]) -> Entry:
    """Sets an entry's mark, its time and the agent as sender or recipient.

    Args:
        entry: changed in place, and returned.
        time_ns: nanoseconds since the epoch.
        speaker: the agent that calls the model.
        trace: id of the trace.
        seen: counts equal entries of the same history; updated.
    """
    name_speaker(entry, speaker)
    meaning = entry.meaning
    said = bytes_of(entry.payload)
    meaning.size = len(said)
    own = id_mark(entry, trace)
    if not own:
        digest = content_digest(entry, said, speaker, trace)
        seen[digest] += 1  # the same text twice in one history is two messages
        own = content_mark(digest, seen[digest])
    meaning.identity = own
    return at_time(entry, time_ns, meaning.failed)


def name_speaker(entry: Entry, speaker: str) -> None:
    """Sets the calling agent as sender or recipient of an entry."""
    meaning = entry.meaning
    if meaning.sender == ASSISTANT:
        meaning.sender = speaker
    if meaning.to == (ASSISTANT,) or (meaning.to == (USER,) and meaning.kind == kinds.RESPONSE):
        meaning.to = (speaker,)


def id_mark(entry: Entry, trace: str) -> bytes:
    """Returns the mark of a tool call or its result by the call's id; empty for other entries."""
    meaning = entry.meaning
    if meaning.kind == kinds.REQUEST and meaning.identifier:
        return call_mark(trace, meaning.identifier)
    if meaning.kind == kinds.RESPONSE and meaning.correlation:
        return result_mark(trace, meaning.correlation)
    return b""


def call_mark(trace: str, call: str) -> bytes:
    """Returns the mark of a tool call."""
    return f"call {trace} {call}".encode("utf-8", "replace")


def result_mark(trace: str, call: str) -> bytes:
    """Returns the mark of a tool call's result."""
    return f"result {trace} {call}".encode("utf-8", "replace")


def content_digest(entry: Entry, said: bytes, speaker: str, trace: str) -> str:
    """Returns a hash of an entry's text, its sender and the agent of its history."""
    meaning = entry.meaning
    digest = hashlib.blake2b(
        f"{trace}\0{speaker}\0{meaning.kind}\0{meaning.sender}\0".encode("utf-8", "replace"), digest_size=16
    )
    digest.update(said)
    return digest.hexdigest()


def content_mark(digest: str, place: int) -> bytes:
    """Returns the mark of an entry without an id: its digest and its 1-based place among equal ones."""
    return f"{digest} {place}".encode()


def at_time(entry: Entry, time_ns: int, failed: bool) -> Entry:
    """Sets the time of an entry, and its failure."""
    entry.meaning.time_ns, entry.meaning.failed = time_ns, failed
    return entry
