"""Messages between an engine and the recorder of its live capture, in MessagePack."""

from __future__ import annotations

from typing import Literal

import msgspec


class Start(msgspec.Struct, frozen=True):
    """First and only message on a recorder's standard input.

    Attributes:
        url, space, participant, token, answer_tools_list: as in `inspector.sources.connection.Connection`.
        capture: path of the capture file, which has its header.
        alone_s: seconds without an engine after which the recorder leaves the gateway.
    """

    url: str
    space: str
    participant: str
    token: str
    answer_tools_list: bool
    capture: bytes
    alone_s: float

    def __repr__(self) -> str:
        return f"Start(space={self.space!r})"  # addresses and tokens are secrets


class ConnectionState(msgspec.Struct, frozen=True):
    """State of the connection to a gateway.

    Attributes:
        state, sentence: a value of `SourceState`, and words for the user.
        url, space, participant: address without secrets, space, and our id there.
        outage, trouble: cause of the loss, and failure of the last attempt to reconnect; "" while connected.
        attempts, next_at_s: attempts to reconnect, and the time of the next one by `time.monotonic`; None during one.
        received, refused: numbers of received messages, and of ones without room.
        is_unwritable: the capture file cannot be written.
        complete: all received data is in the file and in the document, and no more follows.
        has_secrets: joining again needs a token, or secrets of the address, which are not part of this state.
    """

    state: str
    sentence: str
    url: str
    space: str
    participant: str
    outage: str = ""
    trouble: str = ""
    attempts: int = 0
    next_at_s: float | None = None
    received: int = 0
    refused: int = 0
    is_unwritable: bool = False
    complete: bool = False
    has_secrets: bool = False


class Report(msgspec.Struct, frozen=True, tag=True):
    """Present state, sent after each change.

    Attributes:
        connection: state of the connection; `complete` if the file has all received data and is closed.
        has_left: the gateway has been left, and all data that can be written is in the file.
    """

    connection: ConnectionState
    has_left: bool


class Command(msgspec.Struct, frozen=True):
    """Command of the engine.

    Attributes:
        id: names the reply; 0 for none.
        name: retry a lost connection at once, leave the gateway, write all pending lines, note that the file has
            another name, continue in another file, or close the file and end.
        path, copied, named: arguments as of `CaptureWriter.switch_to_file`.
    """

    id: int
    name: Literal["retry", "leave", "write", "move", "switch", "close"]
    path: bytes = b""
    copied: int = 0
    named: bytes = b""


class Reply(msgspec.Struct, frozen=True, tag=True):
    """Reply to a command; `error` is its sentence, or "" after success."""

    id: int
    number: int = 0
    error: str = ""
