"""Formats of plug-ins, with their readers inside guards and their answers checked."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from inspector.formats.format import Format, Origin, Participants, Stage
from inspector.formats.guards import LINE_S, GarbageError, Guard, check_size, error_words
from inspector.protocol.derived_messages import MAX_DERIVED_MESSAGES, ApiCall, DerivedMessage, Payload
from inspector.protocol.record import Record, Shape

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_NAMESPACE = re.compile(r"(?:[a-z][a-z0-9_-]{0,39}/)?")
_STAGES = (Stage.TRANSCRIPT, Stage.LATE)
_MAX_TEXT = 200
_INT64 = 1 << 63
_TOKENS = 1 << 40
_MEANINGS = msgspec.msgpack.Decoder(tuple[DerivedMessage, ...])


def format_problem(declared: object) -> str | None:
    """Returns the reason why a declared format cannot be used."""
    if not isinstance(declared, Format):
        return f"{type(declared).__name__[:60]} is no Format"
    if not isinstance(declared.name, str) or not _NAME.fullmatch(declared.name):
        return f"{str(declared.name)[:60]!r} is no name of a format: use a-z, 0-9, - and _"
    texts = declared.title, declared.reads
    if not all(isinstance(text, str) and 0 < len(text) <= _MAX_TEXT for text in texts):
        return f"title and reads of {declared.name} are no texts of 1 to {_MAX_TEXT} characters"
    if declared.stage not in _STAGES:
        return f"the stage of {declared.name} is neither TRANSCRIPT nor LATE"
    if not callable(declared.read) or not callable(declared.payload):
        return f"read and payload of {declared.name} are no functions"
    if not isinstance(declared.namespace, str) or not _NAMESPACE.fullmatch(declared.namespace):
        return f"the namespace of {declared.name} is no name with a slash at its end, as robot/"
    people = declared.participants
    if people is not None and not (
        isinstance(people, Participants) and isinstance(people.agent, str) and isinstance(people.program, str)
    ):
        return f"the participants of {declared.name} are no Participants of two texts"
    return None


def format_part(plugin: str, name: str) -> str:
    """Returns the name of a format's guard."""
    return f"plug-in {plugin}, format {name}"


def guarded_format(declared: Format, plugin: str) -> Format:
    """Returns a format of a plug-in that never raises, and whose records are checked.

    Args:
        declared: a format without a `format_problem`.
        plugin: name of the plug-in.
    """
    name = declared.name
    reading = Guard(format_part(plugin, name))
    showing = Guard(f"plug-in {plugin}, payloads of format {name}")
    declared_read, declared_payload = declared.read, declared.payload
    assert declared_payload is not None

    def read(line: bytes, *, unknown: bool = False) -> Record | None:
        found = reading.call(LINE_S, lambda: declared_read(line, unknown=unknown), checked=_checked_record)
        if found is None:
            return None
        space, time_ns, messages = found
        return Record(
            Shape.DERIVED, line, time_ns=time_ns, space=space, derived_messages=messages, derived_by=name
        )  # fmt: skip

    def payload(line: bytes, number: int) -> Payload:
        found = showing.call(LINE_S, declared_payload, line, number, checked=checked_object)
        return found if found is not None else {"text": line[:_SHOWN_BYTES].decode("utf-8", "replace")}

    return Format(
        origin=Origin.PLUG_IN,
        name=name, title=declared.title, reads=declared.reads, stage=declared.stage, read=read, payload=payload,
        identified_by_type=bool(declared.identified_by_type), participants=declared.participants,
        namespace=declared.namespace,
    )  # fmt: skip


_SHOWN_BYTES = 1 << 16
"""Bytes of a line that are shown in place of a payload that cannot be made."""


def _checked_record(answer: object) -> tuple[str | None, int, tuple[DerivedMessage, ...]] | None:
    """Returns session, time and messages of a record; only values of the right types and sizes are left of it."""
    if answer is None:
        return None
    if not isinstance(answer, Record):
        raise GarbageError(f"it returned {type(answer).__name__[:60]} in place of a Record")
    messages = answer.derived_messages
    if not isinstance(messages, tuple) or not messages:
        raise GarbageError("it returned a Record without messages")
    if len(messages) > MAX_DERIVED_MESSAGES or not all(isinstance(one, DerivedMessage) for one in messages):
        raise GarbageError("it returned a Record with messages of another type, or too many")
    check_size(messages)
    for one in messages:
        one.content = _as_bytes(one.content)
    copies = _encoded_again(_MEANINGS, messages)
    for one in copies:
        _check_numbers(one)
    if answer.space is not None and not _is_clean(answer.space):
        raise GarbageError("it returned a session that is no text")
    time_ns = answer.time_ns
    if type(time_ns) is not int or not -_INT64 <= time_ns < _INT64:
        raise GarbageError("it returned a time that is no 64-bit number")
    return answer.space, time_ns, copies


def _as_bytes(content: object) -> bytes:
    try:
        return bytes(content) if isinstance(content, bytes | msgspec.Raw) else b""
    except TypeError:
        return b""


def _encoded_again(decoder: msgspec.msgpack.Decoder[Any], answer: object) -> Any:
    try:
        return decoder.decode(msgspec.msgpack.encode(answer))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise GarbageError(f"it returned a value of a wrong type ({error_words(error)})") from None


def _check_numbers(one: DerivedMessage) -> None:
    if not -_INT64 <= one.time_ns < _INT64 or not -1 <= one.took_ns < _INT64 or not 0 <= one.size < 1 << 32:
        raise GarbageError("it returned a time or size out of range")
    if not one.kind:
        raise GarbageError("it returned a message without a kind")
    if one.context_fill is not None and not all(0 <= count < _TOKENS for count in one.context_fill):
        raise GarbageError("it returned a token count out of range")
    if one.call is not None and not all(0 <= count < _TOKENS for count in _counts(one.call)):
        raise GarbageError("it returned a token count out of range")
    if one.call is not None and not -1 <= one.call.first_token_ns < _INT64:
        raise GarbageError("it returned a time out of range")
    mark = one.thread
    if mark is not None and not all(
        number is None or 0 <= number < _INT64 for number in (mark.first_own, mark.ordinal)
    ):
        raise GarbageError("it returned an ordinal out of range")


def _counts(call: ApiCall) -> tuple[int, ...]:
    return call.input, call.output, call.cache_read, call.cache_write, call.cache_write_1h


def _is_clean(text: object) -> bool:
    if not isinstance(text, str):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_object(answer: object) -> dict[str, Any]:
    """Returns a JSON object as plain data; raises GarbageError for anything else."""
    if not isinstance(answer, dict):
        raise GarbageError(f"it returned {type(answer).__name__[:60]} in place of a dict")
    check_size(answer)
    try:
        found = msgspec.json.decode(msgspec.json.encode(answer))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise GarbageError(f"it returned a payload that is no JSON ({error_words(error)})") from None
    return found if isinstance(found, dict) else {}
