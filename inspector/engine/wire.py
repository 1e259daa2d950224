"""Messages between a window and its engine process: length-prefixed MessagePack (docs/engine.md).

Every frame is a length of four bytes, little-endian, and one encoded struct. Arrays travel as their bytes. The first
frame of each side is a `Hello` with the schema version.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from inspector.engine.document_state import DocumentState
from inspector.engine.frames import SCHEMA as SCHEMA
from inspector.engine.frames import Failure as Failure
from inspector.engine.frames import FrameSplitter as FrameSplitter
from inspector.engine.frames import Hello as Hello
from inspector.engine.frames import WireError as WireError
from inspector.engine.frames import framed
from inspector.engine.targets import Gateway, OpenOptions, Target
from inspector.engine.update import Update

_ARRAY, _INTEGER = 1, 2
"""Codes of MessagePack extensions: dtype, dimensions and bytes of an array; digits of an integer above 64 bits."""


# From the window


class Open(msgspec.Struct, frozen=True, tag="open"):
    """Opens logs as a document with a number that the window has chosen.

    Attributes:
        recovers: the target is an unsaved capture of this program, which the document owns from now on.
    """

    document: int
    targets: tuple[Target, ...]
    options: OpenOptions = OpenOptions()
    recovers: bool = False


class Project(msgspec.Struct, frozen=True, tag="project"):
    """Shows the edited sessions of document `other` in a new document, after an edit that it cannot show."""

    document: int
    other: int
    options: OpenOptions = OpenOptions()


class TakeSession(msgspec.Struct, frozen=True, tag="take_session"):
    """Continues the gateway session of document `other` in a document that has its capture among its sources."""

    document: int
    other: int


class Leave(msgspec.Struct, frozen=True, tag="leave"):
    """Leaves the gateway of a document; answered when all received data is in the document."""

    id: int
    document: int


class Close(msgspec.Struct, frozen=True, tag="close"):
    """Closes a document; `discard` deletes its unsaved capture file."""

    document: int
    discard: bool = False


class Save(msgspec.Struct, frozen=True, tag="save"):
    """Moves the capture of a gateway to a file, or copies a log there; answered with `Saved`."""

    id: int
    document: int
    target: Path


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Asks a question about a document; `body` is the encoded request.

    Attributes:
        awaited: the window waits for the answer, so it precedes all others.
    """

    id: int
    document: int
    body: msgspec.Raw
    awaited: bool = False


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """Cancels a question, or the reading of a document if `id` is 0."""

    id: int
    document: int = 0


class Connect(msgspec.Struct, frozen=True, tag="connect"):
    """Joins a gateway as a document with a number that the window has chosen."""

    document: int
    gateway: Gateway
    options: OpenOptions = OpenOptions()


class Continue(msgspec.Struct, frozen=True, tag="continue"):
    """Continues a document: reads on after the memory limit or a cancelled reading, or reconnects to its gateway."""

    document: int


# From the engine


class Saved(msgspec.Struct, frozen=True):
    """Answer to `Save`: the document has moved to the file, or the file is a copy."""

    path: Path
    is_moved: bool


class Part(msgspec.Struct, frozen=True, tag="part"):
    """A part of an answer, before the answer; `body` is encoded."""

    id: int
    body: msgspec.Raw


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """Answer to a question; `body` is encoded, `version` is that of the document it describes."""

    id: int
    version: int
    body: msgspec.Raw


class Reading(msgspec.Struct, frozen=True, tag="reading"):
    """Progress of reading in bytes and messages.

    Attributes:
        ended: all has been read, or reading has stopped.
        stopped: reading was cancelled or has reached the memory limit; `done` of `total` bytes are read.
    """

    document: int
    done: int
    total: int
    messages: int
    ended: bool = False
    stopped: bool = False


class Changed(msgspec.Struct, frozen=True, tag="changed"):
    """Change of a document."""

    update: Update


class State(msgspec.Struct, frozen=True, tag="state"):
    """State of a document that has changed."""

    document: int
    state: DocumentState


ToEngine = Hello | Open | Project | Connect | Continue | Leave | Save | TakeSession | Close | Ask | Cancel
ToWindow = Hello | Answer | Part | Failure | Reading | Changed | State


def _encode_extra(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # Bytes of objects would be addresses.
        if value.dtype.hasobject:
            return value.tolist()
        head = msgspec.msgpack.encode([value.dtype.str, *value.shape])
        return msgspec.msgpack.Ext(_ARRAY, bytes((len(head),)) + head + np.ascontiguousarray(value).tobytes())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return os.fsencode(value)  # a name need not be text
    if isinstance(value, Counter):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} is not plain data")


def _decode_extension(code: int, data: memoryview) -> Any:
    if code == _INTEGER:
        return int(bytes(data))
    if code != _ARRAY:
        raise WireError(f"There is no extension {code}.")
    begin = 1 + data[0]
    dtype, *shape = msgspec.msgpack.decode(data[1:begin])
    # A copy, so that the array is writable and does not keep the whole frame.
    return np.frombuffer(data[begin:], np.dtype(dtype)).reshape(shape).copy()


def _decode_extra(kind: type, value: Any) -> Any:
    origin = getattr(kind, "__origin__", kind)
    if origin is np.ndarray and isinstance(value, np.ndarray):
        return value
    if isinstance(origin, type) and issubclass(origin, Path):
        return Path(os.fsdecode(value))
    if origin is Counter:
        return Counter(value)
    raise NotImplementedError(f"{kind} is not plain data")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_encode_extra)


def encode(value: Any) -> bytes:
    """Encodes plain data. Lone surrogates, which only names of files have, are replaced by question marks."""
    try:
        return _ENCODER.encode(value)
    except (OverflowError, UnicodeEncodeError):
        # Rare, so that the walk is not made for each message.
        return _ENCODER.encode(_encodable(msgspec.to_builtins(value, builtin_types=_BUILTIN, enc_hook=_encode_extra)))


_BUILTIN = (bytes, np.ndarray, msgspec.msgpack.Ext)


def _encodable(value: Any) -> Any:
    """Replaces texts and integers that MessagePack cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return msgspec.msgpack.Ext(_INTEGER, str(value).encode())
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value


def decoder_of(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    """Returns a decoder for a type."""
    return msgspec.msgpack.Decoder(kind, dec_hook=_decode_extra, ext_hook=_decode_extension)


_TO_ENGINE, _TO_WINDOW = decoder_of(ToEngine), decoder_of(ToWindow)


def frame_of(message: ToEngine | ToWindow) -> bytes:
    """Returns a message with its length in front."""
    return framed(encode(message))


def decoded_by_engine(body: bytes) -> ToEngine:
    """Decodes a message from the window. Raises WireError if it is none."""
    return _decoded(_TO_ENGINE, body)


def decoded_by_window(body: bytes) -> ToWindow:
    """Decodes a message from the engine. Raises WireError if it is none."""
    return _decoded(_TO_WINDOW, body)


def _decoded(decoder: msgspec.msgpack.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, ValueError, TypeError, IndexError) as error:
        raise WireError(f"A message is malformed: {error}.") from None
