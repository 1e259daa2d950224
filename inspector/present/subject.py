"""The message of the details with all its facts, read once and masked; names of senders and recipients.

Wire text is not escaped here; callers make control characters visible (`wire_text`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from inspector.analysis import Analysis
from inspector.analysis.findings.store import StoredFinding
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.results.transient_results import Lifecycle
from inspector.analysis.views.causes.chain import ChainStep
from inspector.analysis.views.causes.likely_links import LikelyChain
from inspector.analysis.views.causes.stream_links import stream_of
from inspector.document.document import CaptureDocument
from inspector.filters.payloads import message_text
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_secrets, masked_beginning
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

MAX_TEXT = 100_000
"""Limit of a message's text in characters; Raw has more."""
TEXT_KINDS = frozenset({"chat", "reasoning/thought", "reasoning/conclusion", "reasoning/start"})
"""Kinds named by their text instead of a relation word."""


class Subject:
    """One message with its facts.

    Args:
        document: its document.
        message: its index.
        hints: shows context hints (badges).
        before: an earlier reading of the same message, to reuse its decoded payload.
    """

    def __init__(
        self, document: CaptureDocument, message: int, *, hints: bool = False, before: Subject | None = None
    ) -> None:
        self.document = document
        self.message = message
        self.hints = hints
        # Live updates read the same message again and again; its payload never changes.
        if before is not None and before.message == message and "payload" in vars(before):
            self.payload = before.payload

    @property
    def capture(self) -> Capture:
        return self.document.capture

    @property
    def analysis(self) -> Analysis:
        """The passes."""
        return self.document.analysis

    # Own content

    @cached_property
    def kind(self) -> str:
        """Canonical kind, or ""."""
        return self.capture.string("kind", self.message) or ""

    @cached_property
    def flags(self) -> Flag:
        return self.capture.flags_of(self.message)

    @cached_property
    def size(self) -> int:
        """Bytes of the envelope, message or frame."""
        return int(self.capture.columns["size"][self.message])

    @cached_property
    def is_big(self) -> bool:
        """Too large to decode: only its head is known (`store.columns.large_headers`)."""
        return self.capture.records.is_big(self.message)

    @property
    def is_derived(self) -> bool:
        """Derived from a transcript's record, without an envelope of its own."""
        return bool(self.capture.columns["part"][self.message])

    @cached_property
    def sender(self) -> str | None:
        """Sender, if known."""
        return self.capture.string("sender", self.message)

    @property
    def shown_sender(self) -> str:
        """Name of the sender to show; ""."""
        return self.capture.shown_name(self.sender or "")

    @cached_property
    def to(self) -> tuple[str, ...]:
        """Named recipients; empty means everyone."""
        return self.capture.recipients(self.message)

    @cached_property
    def payload(self) -> Mapping[str, Any]:
        """The payload with secrets masked; of a big message its start."""
        # Masked here once, so that no section can show a secret by mistake.
        return mask_secrets(self.capture.records.payload(self.message))

    @cached_property
    def text(self) -> str:
        """Its text, masked, or ""."""
        return text_of(self.capture, self.message)

    @cached_property
    def time_ns(self) -> int:
        """Arrival or log time, or NO_TIME."""
        return int(self.capture.columns["time_ns"][self.message])

    @property
    def start_ns(self) -> int:
        """Time of the capture's first message."""
        return int(self.capture.columns["time_ns"][0])

    # Analysis results

    @cached_property
    def method(self) -> str | None:
        """MCP method; for a response, its request's."""
        return correlation_string(self.analysis, "method", self.message)

    @cached_property
    def target(self) -> str | None:
        """Tool, resource, prompt or completion reference."""
        return correlation_string(self.analysis, "target", self.message)

    @cached_property
    def tool(self) -> str | None:
        """Tool of a tools/call."""
        return self.target if self.method == "tools/call" else None

    @cached_property
    def chain(self) -> list[ChainStep]:
        """Its causal chain, including itself."""
        return self.document.chain(self.message)

    @cached_property
    def likely_chain(self) -> LikelyChain:
        """The chain with likely links."""
        return self.document.likely_chain(self.message)

    @cached_property
    def causes(self) -> list[int]:
        """Messages that it names."""
        return self.analysis.correlation.causes(self.message)

    @cached_property
    def effects(self) -> list[int]:
        """Messages that name it."""
        return self.analysis.correlation.effects(self.message)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """Its life under the transient-context protocol."""
        return self.analysis.transients.lifecycle(self.message)

    @cached_property
    def findings(self) -> list[StoredFinding]:
        """Its findings, most severe first."""
        return self.analysis.findings.found.findings_about(self.message)

    def has_finding(self, *codes: str) -> bool:
        """Returns True if it has a finding with one of the codes."""
        return any(found.check.code in codes for found in self.findings)

    @cached_property
    def node(self) -> int:
        """Its context, MAIN for the main context."""
        return self.analysis.contexts.node_of(self.message)

    @cached_property
    def started_node(self) -> int:
        """The context opened by a reasoning start, else MAIN."""
        return self.analysis.contexts.begun_by(self.message) if self.kind == "reasoning/start" else MAIN

    @property
    def reasoning_node(self) -> int:
        """The context it opened, else its own."""
        return self.started_node if self.started_node != MAIN else self.node

    @cached_property
    def answer(self) -> int | None:
        """The response to a request or to a copy of it, or the fulfilment of a proposal."""
        # Another source may have the answer only to its own copy.
        copies = self.capture.copies_of(self.message) if self.capture.has_copies else ()
        answers = self.analysis.correlation.columns["answer"][[self.message, *copies]]
        return next((answer for answer in answers.tolist() if answer >= 0), None)

    def delta_ns(self, other: int) -> int | None:
        """Returns nanoseconds from this message to another, if both times are known."""
        time = int(self.capture.columns["time_ns"][other])
        return None if NO_TIME in (time, self.time_ns) else time - self.time_ns

    def last_ns(self) -> int:
        """Returns the wall clock while live, else the time of the last record."""
        analysis = self.analysis
        return analysis.now_ns if self.document.live and analysis.now_ns is not None else analysis.contexts.clock_ns


def correlation_string(analysis: Analysis, column: str, message: int) -> str | None:
    """Returns a string column of the correlation pass, if set."""
    found = int(analysis.correlation.columns[column][message])
    return analysis.capture.strings[found] if found else None


def text_of(capture: Capture, message: int) -> str:
    """Returns a message's text, masked, or ""."""
    return masked_beginning(message_text(capture, message) or "", MAX_TEXT)


def name_of(analysis: Analysis, message: int) -> tuple[str, bool]:
    """Returns a message's name in a chain, and True for mono: its tool or method, else its first words."""
    capture = analysis.capture
    kind = capture.string("kind", message) or ""
    if kind.startswith("mcp/"):
        call = message
        if kind in (kinds.REJECT, kinds.WITHDRAW):
            # A rejection names no tool; its proposal does.
            call = next(iter(analysis.correlation.causes(message)), message)
        name = correlation_string(analysis, "target", call) or correlation_string(analysis, "method", call)
        if name:
            return name, True
        if kind == kinds.RESPONSE:
            return "unknown tool", False
    if kind.startswith("stream/"):
        stream = stream_of(analysis, message)
        return (capture.strings[stream], True) if stream else (kinds.short_kind(kind), False)
    if kind in TEXT_KINDS and (text := text_of(capture, message)):
        # Truncated before parsing: a name shows a few words of a text.
        return plain_words(text[:_NAMED_BY]), False
    return (kinds.short_kind(kind) or "unreadable"), False


def sender_of(capture: Capture, message: int) -> str:
    """Returns the sender's name, safe to show."""
    return safe_line(capture.shown_name(capture.string("sender", message) or "somebody"), 120)


_NAMED_BY = 4_000
"""Characters of a text that are looked at for a name."""
NAMES_SHOWN = 2


def recipients(capture: Capture, names: tuple[str, ...]) -> str:
    """Formats recipients: "everyone", "a", "a, b", "a, b +3"."""
    if not names:
        return "everyone"
    shown = ", ".join(safe_line(capture.shown_name(name), 80) for name in names[:NAMES_SHOWN])
    rest = len(names) - NAMES_SHOWN
    return f"{shown} +{rest}" if rest > 0 else shown
