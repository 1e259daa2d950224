"""Checks kinds and lines; also reports gaps, crashed servers and forged system messages."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.passes.calls.ended_servers import failed_servers
from inspector.analysis.passes.changed_rows import Rows
from inspector.formats.table import LOG_LINE_NAMES
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.secrets.masking import masked_value_text
from inspector.store.columns.flags import Flag

UNREADABLE = Check(
    "unreadable", WARNING, "Line or frame that cannot be read",
    "It cannot be read: {reason}.",
    "Its content is missing from all views.",
    "See the Raw view. An incomplete line usually means that the writer of the log stopped in the middle of it.",
    "Context Inspector: every line is shown, readable or not",
)  # fmt: skip
GAP = Check(
    "capture-gap", NOTE, "Messages may be missing here",
    "The capture has a gap: {reason}.",
    "Answers and endings in the gap appear to be missing.",
    "Consider the gap when you read later findings.",
    "Context Inspector, captures",
)  # fmt: skip
CRASHED = Check(
    "server-ended", WARNING, "Server behind the tap failed",
    "{ended}.",
    "Its last requests have no answer, and the client has lost its tools.",
    "Read the server's standard error output and the last requests before this.",
    "Context Inspector, tap; MCP 2025-06-18, lifecycle: shutdown over stdio",
)  # fmt: skip
NO_KIND = Check(
    "kind-missing", WARNING, "Envelope without a kind",
    "{who} sent an envelope whose kind is missing or not a text.",
    "Its purpose is unknown; gateways forward it anyway.",
    "Write kind as text, such as \"chat\".",
    "MEW v0.4, envelope: kind is required",
)  # fmt: skip
UNKNOWN = Check(
    "kind-unknown", NOTE, "Unknown kind",
    "No protocol version has the kind {detail}; {who} is the first to use it.",
    "Other participants will ignore it. It may be a typing error or an extension.",
    "Check the spelling. Put kinds of an extension into a separate namespace.",
    "MEW v0.0 to v0.4, message kinds",
    example="shop/order",
)  # fmt: skip
DISAGREES = Check(
    "kind-payload-disagree", ERROR, "Kind and payload name different calls",
    "The kind names {detail}, the payload {call}; the payload is executed.",
    "Capabilities are checked against the kind, so a call that is not allowed may run.",
    "Write the same method and tool in kind and payload.",
    "MCPx v0.1: receivers check that kind and payload agree",
    example="tools/call read_file",
)  # fmt: skip
DECLARED = Check(
    "context-kind", NOTE, "Context declared by a separate kind",
    "{who} declares contexts with {detail}, a kind that exists only in a draft.",
    "Readers of released versions do not see the start and end of these contexts.",
    "Name the context in the context field of its messages; it starts with the first one.",
    "p4m: contexts are path strings, begun by their first use",
    example="subcontext/start",
)  # fmt: skip
SPOOFED = Check(
    "system-from-participant", ERROR, "System message from a participant other than the gateway",
    "{detail} sent {kind}, which only the gateway may send.",
    "Context Inspector ignores its content. Other programs may accept false participants or capabilities from it.",
    "Remove system/* from the participant's capabilities, and find out why it sends them.",
    "MEW v0.4, system messages are reserved to the gateway; section 2 of Protocols, Spoofing",
    example="coder, in the name of system:gateway,",
)  # fmt: skip

CHECKS = (DISAGREES, SPOOFED, UNREADABLE, NO_KIND, CRASHED, UNKNOWN, DECLARED, GAP)

KNOWN_KINDS = frozenset(
    f"{space}/{name}"
    for space, names in {
        "mcp": "request response notification proposal withdraw reject",
        "chat": "acknowledge cancel",
        "reasoning": "start thought conclusion cancel",
        "capability": "grant revoke grant-ack",
        "space": "invite invite-ack kick",
        "system": "welcome presence error join register heartbeat ping pong",
        "participant": "pause resume request-status status forget compact compact-done clear restart shutdown",
        "stream": "request open close grant-write revoke-write transfer-ownership write-granted write-revoked"
        " ownership-transferred frame",
        "meup": "context",
        "msp": "session snapshot subsession closed",
    }.items()
    for name in names.split()
) | {"chat", "mcp", "system"}
"""Canonical kinds of all versions and drafts (docs/protocols.md 3 and 4), plus `mcp/notification` of released clients.
"""

_FROM_CLIENTS = frozenset({"system/join", "system/register", "system/heartbeat", "system/pong"})
_FROM_GATEWAYS = kinds.SENT_FOR_CONSUMED - {"stream/open"}
"""Reserved to gateways like system/*; `stream/open` is not, as released clients open streams themselves."""
_CONTEXT_KIND_PREFIXES = ("subcontext/", "context/", "sub-context/")

_ORDINARY_KIND, _RESERVED_KIND = 1, 2
_NO_ENVELOPE = (
    Flag.UNREADABLE | Flag.GAP | Flag.FRAME | Flag.JOIN | Flag.RPC | Flag.LOG_ONLY | Flag.ERROR
).value  # fmt: skip


class KindsAndLines:
    """Checks each kind once, and envelopes without one."""

    def __init__(self) -> None:
        self._kinds = StringNumbers()
        self._raw_kinds = StringNumbers()
        self._gateways = StringNumbers()
        self._calls: dict[tuple[int, int, int], str] = {}
        self._waiting: list[Rows] = []  # text lines that may turn out to be ordinary
        self._prefixed: list[int] = []  # sources in which they are ordinary

    def feed(self, batch: Batch) -> None:
        flags = batch.new("flags")
        found = batch.findings
        unreadable = batch.flagged_rows(Flag.UNREADABLE.value)
        # Noise of an MCP server has one finding for all its lines.
        if batch.mcp.noise and len(unreadable):
            unreadable = unreadable[~np.isin(unreadable, np.fromiter(batch.mcp.noise, np.int64, len(batch.mcp.noise)))]
        found.add(UNREADABLE, unreadable)
        self._check_text_lines(batch)
        if len(batch.flagged_rows(Flag.ERROR.value)):
            found.add(CRASHED, failed_servers(batch.capture, batch.start, batch.stop))
        marks = batch.flagged_rows(Flag.GAP.value)
        found.add(GAP, marks[batch.column_values("flags", marks) & Flag.ERROR.value == 0])
        missing = np.flatnonzero((batch.new("kind_raw") == 0) & (flags & _NO_ENVELOPE == 0))
        found.add(NO_KIND, missing + batch.start)
        self._check_new_kinds(batch)
        self._check_reserved_kinds(batch)
        self._check_kind_suffixes(batch)

    def _check_text_lines(self, batch: Batch) -> None:
        """Accepts text lines in logs that have messages after a time or name prefix: programs write both.

        The first such message may follow the text. Earlier text lines are then checked once more, and never again.
        """
        texts = batch.flagged_rows(Flag.TEXT.value)
        if len(texts):
            self._waiting.append(texts)
        sources = enumerate(batch.capture.sources)
        logs = [place for place, one in sources if any(one.formats[name] for name in LOG_LINE_NAMES)]
        rows = texts if logs == self._prefixed or not self._waiting else np.concatenate(self._waiting)
        self._prefixed = logs
        if not len(rows) or not logs:
            return
        usual = rows[np.isin(batch.column_values("source", rows), logs)]
        batch.findings.withdraw(UNREADABLE, usual[batch.findings.has(UNREADABLE, usual)])

    def _check_new_kinds(self, batch: Batch) -> None:
        codes = batch.new("kind")
        found: dict[Check, dict[int, str]] = {DECLARED: {}, UNKNOWN: {}}
        for code, place in self._kinds.unnumbered_ids(codes):
            kind, row = batch.capture.strings[code], batch.start + place
            reserved = (kind.startswith("system/") and kind not in _FROM_CLIENTS) or kind in _FROM_GATEWAYS
            self._kinds.set_number(code, _RESERVED_KIND if reserved else _ORDINARY_KIND)
            if code == 0 or not kind or kind in KNOWN_KINDS or int(batch.new("flags")[place]) & Flag.LOG_ONLY.value:
                continue
            found[DECLARED if kind.startswith(_CONTEXT_KIND_PREFIXES) else UNKNOWN][row] = kind
        for check, rows in found.items():
            batch.findings.add(check, list(rows), details=list(rows.values()))

    def _check_reserved_kinds(self, batch: Batch) -> None:
        places = np.flatnonzero(self._kinds.numbers_of(batch.new("kind")) == _RESERVED_KIND)
        if not len(places):
            return
        senders = batch.new("sender")[places]
        for sender, _ in self._gateways.unnumbered_ids(senders):
            trusted = sender == 0 or batch.capture.strings[sender] in GATEWAY_IDS
            self._gateways.set_number(sender, 1 if trusted else 2)
        rows = places[self._gateways.numbers_of(senders) == 2] + batch.start
        rows = rows[~_are_heartbeats(batch, rows)]
        batch.findings.add(SPOOFED, rows, details=[_describe_forger(batch, row) for row in rows.tolist()])
        trust = batch.passes.trust
        if trust.forged or trust.contradicted:
            welcomes = (places + batch.start).tolist()
            late = (row for welcome in welcomes for row in trust.contradicted.get(welcome, {}).values())
            rows = np.array(sorted({*late, *(row for row in welcomes if row in trust.forged)}), np.int64)
            batch.findings.add(SPOOFED, rows, details=[_describe_forger(batch, row) for row in rows.tolist()])

    def _check_kind_suffixes(self, batch: Batch) -> None:
        raw = batch.new("kind_raw")
        for code, place in self._raw_kinds.unnumbered_ids(raw):
            written = batch.capture.strings[code] if code else ""
            row = batch.start + place
            if written.startswith(_CONTEXT_KIND_PREFIXES) and batch.string("kind", row) in KNOWN_KINDS:
                batch.findings.add(DECLARED, [row], details=written[:_MAX_SENTENCE_CHARS])
            # Only kinds with a suffix can disagree with their payload.
            self._raw_kinds.set_number(code, 2 if ":" in written else 1)
        places = np.flatnonzero(self._raw_kinds.numbers_of(raw) == 2)
        if not len(places):
            return
        columns = zip(*(batch.new(name)[places].tolist() for name in ("kind_raw", "method", "target")), strict=True)
        rows: list[int] = []
        verdicts: list[str] = []
        for place, key in zip(places.tolist(), columns, strict=True):
            # Cached by call: a capture has few distinct ones, and each takes several lookups of strings.
            verdict = self._calls.get(key)
            if verdict is None:
                verdict = _disagreement(batch, *key)
                # Tool names come from the wire.
                if len(self._calls) < _MAX_CALLS:
                    self._calls[key] = verdict
            if verdict:
                rows.append(batch.start + place)
                verdicts.append(verdict)
        batch.findings.add(DISAGREES, rows, details=verdicts)


_MAX_CALLS = 100_000
_MAX_SENTENCE_CHARS, _MAX_NAME_CHARS = 120, 60


def _describe_forger(batch: Batch, row: int) -> str:
    """Names the sender of a gateway-only message, as far as it is known."""
    name = batch.string("sender", row)
    person = batch.passes.trust.forged.get(row)
    if person is None and name not in GATEWAY_IDS:
        return masked_value_text(name, _MAX_NAME_CHARS)
    true = masked_value_text(batch.capture.strings[person], _MAX_NAME_CHARS) if person else "Somebody"
    return f"{true}, in the name of {name},"


def _are_heartbeats(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True for the `presence` that v0.0 clients send every 30 s as a heartbeat."""
    found = batch.column_values("kind_raw", rows) == batch.code("presence")
    for place in np.flatnonzero(found).tolist():
        payload = batch.capture.records.decoded_record(int(rows[place])).payload
        about = payload.get("participant")
        name = about.get("id") if isinstance(about, Mapping) else None
        found[place] = payload.get("event") == "heartbeat" and name == batch.capture.string("sender", int(rows[place]))
    return found


def _disagreement(batch: Batch, raw: int, method: int, target: int) -> str:
    """Returns the call in the kind if the payload names another one, else "". A response has only its kind."""
    strings = batch.capture.strings
    kind = kinds.split_kind(strings[raw])
    if kind.name not in (kinds.REQUEST, kinds.PROPOSAL) or not method or kind.method is None:
        return ""
    if strings[method] != kind.method or (kind.target and target and strings[target] != kind.target):
        return " ".join(filter(None, (kind.method, kind.target)))
    return ""
