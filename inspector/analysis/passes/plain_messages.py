"""Messages as plain data, for code that knows nothing of columns, such as plug-ins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.base.time_bounds import call_shielded
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. Secrets in it are not masked: they are masked where texts are shown.

    Attributes:
        number: from 1, in the order of arrival.
        time_ns: nanoseconds since the epoch; None if unknown.
        kind: as `chat` or `mcp/request`.
        sender: its sender.
        to: its recipients; () for everyone.
        method: MCP method; of a response, its request's.
        target: tool, resource or prompt; of a response, its request's.
        context: its context as written; None in the main context.
        format: name of the transcript's format, or the protocol of an envelope.
        source: name of its file or connection.
        failed: it reports a failure.
        size: bytes.
    """

    number: int
    time_ns: int | None
    kind: str
    sender: str | None
    to: tuple[str, ...]
    method: str | None
    target: str | None
    context: str | None
    format: str | None
    source: str
    failed: bool
    size: int
    read_payload: Callable[[], dict[str, Any]] = field(repr=False, compare=False)

    @property
    def payload(self) -> dict[str, Any]:
        """Its decoded payload, read on each access; {} if there is none, its beginning for a message above 1 MB."""
        return self.read_payload()

    @property
    def text(self) -> str:
        """The text of its payload; "" without one."""
        text = self.payload.get("text")
        return text if isinstance(text, str) else ""


def plain_message(capture: Capture, correlation: CorrelationPass, row: int) -> Message:
    """Returns message `row`, from 0."""
    columns = capture.columns
    time_ns = int(columns["time_ns"][row])
    links = correlation.columns

    def linked(name: str) -> str | None:
        code = int(links[name][row])
        return capture.strings[code] if code else None

    return Message(
        number=row + 1, time_ns=time_ns if time_ns != NO_TIME else None, kind=capture.string("kind", row) or "",
        sender=capture.string("sender", row), to=tuple(capture.recipients(row)), method=linked("method"),
        target=linked("target"), context=capture.string("context", row), format=capture.string("protocol", row),
        source=capture.sources[int(columns["source"][row])].name, failed=bool(columns["flags"][row] & Flag.ERROR.value),
        size=int(columns["size"][row]), read_payload=lambda: call_shielded(lambda: capture.records.payload(row)),
    )  # fmt: skip
