"""Decodes the outer level of one JSON object: every key with a meaning in any format, the rest undecoded.

One struct serves lines and the frames inside them, so that each is decoded once. Source of the keys: docs/protocols.md
2 (envelopes), 11 (gateway logs), 13 (JSON-RPC), docs/design.md 4 (captures, wrapped lines).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, get_args

import msgspec

from inspector.protocol.json_values import NO_RAW, Decode, decode_one

ABSENT = msgspec.UNSET
"""Value of a missing key; null is None."""

_Value = Any


class Header(msgspec.Struct, rename={"sender": "from", "journal_time": "__REALTIME_TIMESTAMP"}, gc=False):
    """One JSON object's known keys. `Raw` values contain the bytes as written (empty if the key is absent)."""

    protocol: _Value = ABSENT
    id: _Value = ABSENT
    ts: _Value = ABSENT
    sender: _Value = ABSENT
    to: _Value = ABSENT
    kind: _Value = ABSENT
    correlation_id: _Value = ABSENT
    correlationId: _Value = ABSENT  # the key of one draft
    context: _Value = ABSENT
    payload: msgspec.Raw = NO_RAW

    timestamp: _Value = ABSENT
    event: _Value = ABSENT
    envelope: msgspec.Raw = NO_RAW
    participant: _Value = ABSENT
    space_id: _Value = ABSENT
    direction: _Value = ABSENT
    envelope_id: _Value = ABSENT

    jsonrpc: _Value = ABSENT
    method: _Value = ABSENT
    params: msgspec.Raw = NO_RAW
    result: msgspec.Raw = NO_RAW
    error: msgspec.Raw = NO_RAW

    ctxcap: _Value = ABSENT
    t: _Value = ABSENT
    dir: _Value = ABSENT
    src: _Value = ABSENT
    frame: msgspec.Raw = NO_RAW
    text: msgspec.Raw = NO_RAW
    b64: _Value = ABSENT
    mark: _Value = ABSENT
    time: _Value = ABSENT
    message: msgspec.Raw = NO_RAW
    data: msgspec.Raw = NO_RAW
    log: msgspec.Raw = NO_RAW  # Docker's copy of a line
    msg: msgspec.Raw = NO_RAW
    MESSAGE: msgspec.Raw = NO_RAW  # journald's copy
    journal_time: _Value = ABSENT

    thread_id: _Value = ABSENT
    threadId: _Value = ABSENT
    response_context: msgspec.Raw = NO_RAW

    type: _Value = ABSENT
    participantId: _Value = ABSENT  # the key of the gateway's hello
    space: _Value = ABSENT


KEYS = frozenset(field.encode_name for field in msgspec.structs.fields(Header))
"""Every key with a meaning."""
decode_header: Decode[Header] = msgspec.json.Decoder(Header).decode


TOO_DEEP = "JSON nested too deeply to read"
"""Reason for such a line."""


class NotAnObjectError(ValueError):
    """The bytes are no JSON object; the text describes them, as a sentence's end."""


def read_header(raw: bytes) -> Header:
    """Decodes the outer level of a JSON object.

    Raises:
        NotAnObjectError: if the bytes are not one JSON object.
    """
    try:
        return decode_header(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _read_leniently(raw, Header) if len(raw) <= MAX_LENIENT else _read_big_leniently(raw, error)


_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def read_struct(raw: bytes | msgspec.Raw, struct: type[_Struct]) -> _Struct | None:
    """Decodes the known members of an object; None for other JSON. Members of another type stay absent."""
    found: _Struct | None = decode_one(_decoder(struct), raw)
    if found is None and len(raw) <= MAX_LENIENT:
        with suppress(NotAnObjectError):
            return _read_leniently(bytes(raw), struct)
    return found


@cache
def _decoder(struct: type[msgspec.Struct]) -> Decode[Any]:
    return msgspec.json.Decoder(struct).decode


def _read_leniently(raw: bytes, struct: type[_Struct]) -> _Struct:
    """Decodes an object that the fast decoder refuses, member by member.

    It has members of another type, or JSON that only Python reads: lone surrogates, NaN, huge numbers
    (docs/protocols.md 16).
    """
    value = decode_json(raw)
    if not isinstance(value, dict):
        raise NotAnObjectError(f"a JSON {_JSON_NAMES.get(type(value), 'value')}, where an object was expected")
    found, members = struct(), _members(struct)
    try:
        for key, item, written in iterate_members(raw):
            if key in members:
                name, kind, inner = members[key]
                if kind is msgspec.Raw:  # its own bytes, decoded only when needed
                    item = msgspec.Raw(written)
                elif inner is not None and item is not None:
                    item = read_struct(written, inner) or inner()
                elif kind is not Any and not isinstance(item, str):
                    item = None
                setattr(found, name, item)
    except RecursionError:
        raise NotAnObjectError(TOO_DEEP) from None
    return found


@cache
def _members(struct: type[msgspec.Struct]) -> dict[str, tuple[str, Any, type[msgspec.Struct] | None]]:
    """Returns name, type and struct of each member: undecoded, of any type, a text or an object of a struct."""
    return {
        field.encode_name: (field.name, field.type, next(filter(_is_struct, get_args(field.type)), None))
        for field in msgspec.structs.fields(struct)
    }


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


MAX_LENIENT = 1 << 20
"""Limit of bytes for Python's decoder: it takes ten times their size in memory, and seconds for 100 MB."""

_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def _read_big_leniently(raw: bytes, refusal: Exception) -> Header:
    """Decodes a long object after replacing values that the fast decoder refuses by equally long ones.

    Args:
        raw: the object.
        refusal: the fast decoder's error.
    """
    # Nesting too deep is not mended by replacing values.
    tamed = raw if isinstance(refusal, RecursionError) else _replace_refused(raw)
    if tamed is not raw:
        try:
            return decode_header(tamed)
        except (msgspec.DecodeError, RecursionError) as error:
            refusal = error
    raise NotAnObjectError(_refusal_reason(raw, refusal)) from None


def _replace_refused(raw: bytes) -> bytes:
    """Returns JSON without lone surrogates, NaN and invalid UTF-8; the same object if there are none."""
    # The fast check first: nearly all lines are valid.
    try:
        raw.decode()
    except UnicodeDecodeError:
        raw = raw.decode("utf-8", _NOT_UTF_8).encode("utf-8", "replace")
    if b"\\ud" in raw or b"\\uD" in raw:
        parts = raw.split(rb"\\")  # a sequence after an escaped backslash is no escape
        raw = rb"\\".join([_LONE_SURROGATE.sub(rb"\\ufffd", part) for part in parts])
    # Replacements have the same length, so that byte offsets stay valid.
    for word, number in ((b"NaN", b"0.0"), (b"Infinity", b"1.000000")):
        if word in raw:
            raw = raw.replace(b":" + word, b":" + number).replace(b": " + word, b": " + number)
            raw = raw.replace(b"," + word, b"," + number).replace(b", " + word, b", " + number)
            raw = raw.replace(b"[" + word, b"[" + number).replace(b"-" + word, b"-" + number)
    return raw


_AT_BYTE = re.compile(r"\(byte (\d+)\)")


CUT = "JSON that is cut"
"""Beginning of the reason for JSON without its end."""


def cut_words(raw: bytes) -> str:
    """Returns the reason why JSON without its end is invalid."""
    return f"{CUT} after {len(raw.rstrip())} B"


def _refusal_reason(raw: bytes, refusal: Exception) -> str:
    """Returns the reason why a long line is invalid, from the fast decoder's error."""
    # The fast decoder has no error codes, only sentences.
    sentence = str(refusal)
    if isinstance(refusal, RecursionError):
        return TOO_DEEP
    if isinstance(refusal, UnicodeDecodeError):
        return f"not UTF-8 at byte {_first_fault(raw)}"
    if raw[:64].lstrip()[:1] == b"[" and "Expected `object`" in sentence:
        return "a JSON array, where an object was expected"
    place = _AT_BYTE.search(sentence)
    if place is not None:
        return f"no JSON at byte {place[1]}"
    if "truncated" in sentence:
        return cut_words(raw)
    return f"JSON with a value that cannot be read: {sentence}"


_NOT_UTF_8 = "surrogateescape"


def decode_lossless(raw: bytes) -> tuple[str, str]:
    """Returns bytes as text, and the error handler that restores the bytes.

    A lone surrogate is valid text: a JSON string may contain one. Other invalid bytes become surrogates too, so that a
    message in a foreign encoding is still a message.
    """
    try:
        return raw.decode("utf-8", "surrogatepass"), "surrogatepass"
    except UnicodeDecodeError:
        return raw.decode("utf-8", _NOT_UTF_8), _NOT_UTF_8


def _first_fault(raw: bytes) -> int:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(raw)


_decode_value = json.JSONDecoder().raw_decode
_BLANK = re.compile(r"[ \t\n\r]*")


def iterate_members(raw: bytes) -> Iterator[tuple[str, Any, bytes]]:
    """Yields key, value and the value's own bytes of each member of an object valid for `decode_json`."""
    text, errors = decode_lossless(raw)
    place = _after_blank(text, 0)
    while text[place] != "}":
        place = _after_blank(text, place + 1)  # after "{" or ","
        # An empty object.
        if text[place] == "}":
            return
        key, place = _decode_value(text, place)
        start = _after_blank(text, _after_blank(text, place) + 1)  # after ":"
        value, stop = _decode_value(text, start)
        yield key, value, text[start:stop].encode("utf-8", errors)
        place = _after_blank(text, stop)


def _after_blank(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return found.end() if found else place


_JSON_NAMES = {
    list: "array", str: "string", int: "number", float: "number", bool: "boolean", type(None): "null",
}  # fmt: skip


def decode_object(raw: bytes) -> dict[str, Any]:
    """Decodes a JSON object as `decode_json`; returns an empty one for other input. Never raises."""
    try:
        found = decode_json(raw)
    except NotAnObjectError:
        return {}
    return found if isinstance(found, dict) else {}


def json_or_none(raw: bytes) -> Any:
    """Decodes JSON as `decode_json` does; returns None if it is no JSON."""
    try:
        return decode_json(raw)
    except NotAnObjectError:
        return None


def decode_json(raw: bytes) -> Any:
    """Decodes JSON as tolerantly as is safe.

    Raises:
        NotAnObjectError: if it is no JSON; says where reading stopped.
    """
    # msgspec is several times faster, but stricter than many writers.
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if len(raw) > MAX_LENIENT:
            raise NotAnObjectError(_refusal_reason(raw, error)) from None
    text, errors = decode_lossless(raw)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if errors == _NOT_UTF_8:
            raise NotAnObjectError(f"not UTF-8 at byte {_first_fault(raw)}") from None
        byte = len(error.doc[: error.pos].encode("utf-8", errors))
        if byte >= len(raw.rstrip()):
            raise NotAnObjectError(cut_words(raw)) from None
        # The place is told before, so "Unterminated string starting at" needs none.
        reason = error.msg.removesuffix(" at").removesuffix(" starting")
        raise NotAnObjectError(f"no JSON at byte {byte}: {reason}") from None
    except RecursionError:
        raise NotAnObjectError(TOO_DEEP) from None
    except ValueError as error:  # integers of more digits than Python converts
        raise NotAnObjectError(f"JSON with a value that cannot be read: {error}") from None
