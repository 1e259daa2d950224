"""Extracts payload values, tool lists and digests at decoding, so that passes read no record again.

The fast and the slow decoder both end here. Extracts that passes use at once last until the checks are done
(`ExtractedColumns.clear_unchecked`). Values compared with later messages stay as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.protocol import calls, context_places, kinds, mcp_messages, msp
from inspector.protocol.context_labels import START, labels_of_starts
from inspector.protocol.derived_messages import ApiCall, Chain, History, Spawn, ThreadMark
from inspector.protocol.header import ABSENT, json_or_none
from inspector.protocol.json_values import REFUSALS
from inspector.protocol.mcp_notes import McpNote
from inspector.protocol.record import HttpExchange
from inspector.protocol.result_records import RecordCounts, count_records, may_hold_json
from inspector.protocol.truncated_json import complete_json
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_bytes, hash_text
from inspector.store.columns.intern_table import InternTable
from inspector.store.columns.irregular_forms import IrregularForm
from inspector.store.columns.large_headers import HEAD_BYTES, MAX_WHOLE_BYTES

SELF_PAYLOAD_FLAGS = (Flag.RPC | Flag.LOG_ONLY | Flag.JOIN | Flag.GAP).value
"""Flags of records whose whole object is the payload."""
# A hostile message may name a million ids, and each would be looked up.
MAX_NAMED_IDS = 256
"""Limit of ids examined in one message."""

_CORRELATED, _LOG_ONLY, _SENT = (f.value for f in (Flag.CORRELATED, Flag.LOG_ONLY, Flag.SENT))
_DERIVED = Flag.DERIVED.value
_INSPECTED_KINDS = (
    START, "reasoning/conclusion", "reasoning/cancel", "participant/status",
    context_places.START_KIND, context_places.END_KIND, *msp.STRUCTURE, msp.SNAPSHOT,
    "system/welcome", "system/presence", "system/error", kinds.JOIN, "system/register", "space/invite-ack",
    "capability/grant", "capability/revoke", "stream/request", "stream/open", "stream/ownership-transferred",
)  # fmt: skip
"""Kinds whose payloads passes and checks examine."""
_CANCELLED = "notifications/cancelled"
_DRAFT_PREFIX = "meup/"


class DecodedRecord(NamedTuple):
    """A message's data that passes read beside its columns."""

    identifier: str | None
    """The envelope's id, if any."""
    payload: dict[str, Any]
    """Only the `_meta` of a result that has one; else the payload as it is."""
    correlation: Any = None
    """`correlation_id` as written, if the record was decoded whole."""
    label: str | None = None
    """Label of the context that a reasoning start begins; None for other messages."""


class ToolList(NamedTuple):
    """A server's answer to `tools/list`."""

    names: tuple[str, ...]
    is_last: bool
    """No page follows."""


@dataclass(slots=True)
class Extracts:
    """Data extracted from some of a block's records, by place of the record.

    Attributes:
        records: records whose payload passes examine.
        contexts: object-form contexts with their embedded parents (`object_contexts.context_and_parents`).
        tools: tool lists in results.
        digests: payload hashes of results with `_meta`, of tool lists, which may repeat, and of sent messages.
        odd: irregular form of the first record of each sender and kind with one.
        named: distinct hashes of the ids in records that name several messages, at most MAX_NAMED_IDS.
        arguments: argument hashes of proposed calls, and of possible ones.
        listed: numbers of records that results list.
        api_calls: the model call behind a message of a transcript, or with it.
        filled: tokens in a full context, and its window.
        spawns: facts about sub-agents.
        chains: positions of records that do not name their sub-agent.
        echoes: hashes of texts that a sub-agent and its call's result may share.
        took: reported working time of tools in ns.
        histories: messages of rewritable histories, and records that rewrite them.
        costs: stated costs in billionths of a dollar, and True for totals of the session so far.
        exchanges: the HTTP exchanges of records.
        versions: MCP revisions that requests name or answers accept.
        states: hashes of the `requestState` shared by a request for input and its retry.
        tasks: facts about MCP tasks.
        notes: facts for MCP checks; dropped after the checks, as `exchanges` and `noise`.
        noise: beginnings of lines without a message that have a direction.
        threads: facts about the thread of the records' file.
        new: hash of the producer of new messages, which copy no earlier one; NO_HASH.
    """

    records: dict[int, DecodedRecord] = field(default_factory=dict)
    contexts: dict[int, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    tools: dict[int, ToolList] = field(default_factory=dict)
    digests: dict[int, int] = field(default_factory=dict)
    odd: dict[int, IrregularForm] = field(default_factory=dict)
    named: dict[int, list[int]] = field(default_factory=dict)
    arguments: dict[int, int] = field(default_factory=dict)
    listed: dict[int, RecordCounts] = field(default_factory=dict)
    api_calls: dict[int, ApiCall] = field(default_factory=dict)
    filled: dict[int, tuple[int, int]] = field(default_factory=dict)
    spawns: dict[int, Spawn] = field(default_factory=dict)
    chains: dict[int, Chain] = field(default_factory=dict)
    echoes: dict[int, int] = field(default_factory=dict)
    took: dict[int, int] = field(default_factory=dict)
    costs: dict[int, tuple[int, int]] = field(default_factory=dict)
    histories: dict[int, History] = field(default_factory=dict)
    threads: dict[int, ThreadMark] = field(default_factory=dict)
    exchanges: dict[int, HttpExchange] = field(default_factory=dict)
    versions: dict[int, str] = field(default_factory=dict)
    states: dict[int, int] = field(default_factory=dict)
    tasks: dict[int, mcp_messages.Task] = field(default_factory=dict)
    notes: dict[int, McpNote] = field(default_factory=dict)
    noise: dict[int, str] = field(default_factory=dict)
    new: dict[int, int] = field(default_factory=dict)

    def add_extracts(self, others: Extracts, places: Sequence[int]) -> None:
        """Adds the extracts of other records; `places` maps their numbers to places here, below 0 to skip."""
        for name in _PARTS:
            found = getattr(others, name)
            if found:
                getattr(self, name).update({places[n]: value for n, value in found.items() if places[n] >= 0})

    def clear(self) -> None:
        for name in _PARTS:
            setattr(self, name, {})

    def add_repeated(self, others: Extracts, which: NDArray[np.int64]) -> None:
        """Adds extracts of records that occur in several places: `which` is the record number of each place."""
        order = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which)).tolist()  # end of each number's places in it
        # Plain lists: indexing an array element by element costs several times as much.
        order = order.tolist()
        for name in _PARTS:
            own = getattr(self, name)
            for number, value in getattr(others, name).items():
                own.update(dict.fromkeys(order[ends[number - 1] if number else 0 : ends[number]], value))


_PARTS = tuple(part.name for part in fields(Extracts))


class Decoded(NamedTuple):
    """Records as a reader has decoded them, by number."""

    raw: Callable[[int], bytes | memoryview]
    """The envelope, or JSON-RPC message, as written."""
    identifier: Callable[[int], str | None]
    named: Iterable[tuple[int, Sequence[str]]]
    """The ids named by records with several."""
    contexts: dict[int, tuple[dict[str, Any], ...]]
    """Object-form contexts, by number."""
    payload: Callable[[int], calls.Payload | None]
    """The payload of a message about a call, if any."""


def extract_records(
    columns: dict[str, NDArray[Any]], rows: Any, strings: InternTable[str], decoded: Decoded
) -> Extracts:
    """Extracts from records the data that passes read.

    Args:
        columns: of a block.
        rows: places of the records in them.
        strings: values of the string ids in them.
        decoded: the records.
    """
    found = Extracts(contexts=decoded.contexts)
    kind, method, flags = (columns[name][rows] for name in ("kind", "method", "flags"))
    protocol = columns["protocol"][rows]
    drafts = [code for code in set(protocol.tolist()) if code and strings[code].startswith(_DRAFT_PREFIX)]
    proposed = kind == _string_id(strings, kinds.PROPOSAL)
    # Messages of these kinds are decoded whole, since passes read fields that no column holds.
    whole = flags & np.uint32(_LOG_ONLY) != 0
    for code in {_string_id(strings, name) for name in _INSPECTED_KINDS} - {-1}:
        whole |= kind == code
    whole |= (method == _string_id(strings, _CANCELLED)) & (method != 0)
    whole |= (kind == _string_id(strings, "chat")) & (protocol == _string_id(strings, msp.PROTOCOL))
    asked = kind == _string_id(strings, kinds.REQUEST)
    if drafts:  # drafts wrap their subject, so no column shows it
        whole |= (proposed | asked) & np.isin(protocol, drafts)
    for number in np.flatnonzero(whole).tolist():
        envelope = _decode(decoded.raw(number))
        payload = payload_of(envelope, own=bool(int(flags[number]) & SELF_PAYLOAD_FLAGS))
        correlation = envelope.get("correlation_id") if isinstance(envelope, dict) else None
        found.records[number] = DecodedRecord(decoded.identifier(number), payload, correlation)
    begun = np.flatnonzero(kind == _string_id(strings, START)).tolist()
    # Here instead of in a pass, so that processes that decode share the work.
    for number, label in zip(begun, labels_of_starts([found.records[one].payload for one in begun]), strict=True):
        found.records[number] = found.records[number]._replace(label=label)
    # A payload decoded whole contains its result already.
    for number in np.flatnonzero((kind == _string_id(strings, kinds.RESPONSE)) & ~whole).tolist():
        answer = decoded.payload(number)
        if answer is not None and answer.result:
            _take_result(found, number, answer.result, decoded, own=bool(int(flags[number]) & SELF_PAYLOAD_FLAGS))
    for number in np.flatnonzero(flags & np.uint32(_SENT)).tolist():
        found.digests[number] = _digest(decoded.raw(number), own=bool(int(flags[number]) & SELF_PAYLOAD_FLAGS))
    for number, ids in decoded.named:
        found.named[number] = [hash_text(name) for name in islice(dict.fromkeys(ids), MAX_NAMED_IDS)]
    # Arguments matter for proposals, and for requests that name one; derived requests do not.
    calling = proposed | (asked & (flags & np.uint32(_CORRELATED | _DERIVED) == _CORRELATED))
    # A large payload would take longer to decode than the duplicate check is worth.
    calling &= columns["size"][rows] <= MAX_WHOLE_BYTES
    for number in np.flatnonzero(calling).tolist():
        hashed = _arguments(number, decoded)
        if hashed != NO_HASH:
            found.arguments[number] = hashed
    return found


def _string_id(strings: InternTable[str], text: str) -> int:
    return strings.find(text) or -1


def payload_of(envelope: Any, *, own: bool) -> dict[str, Any]:
    """Returns the payload of a decoded message as a dict; empty if there is none.

    Args:
        envelope: as decoded.
        own: the message is its own payload, as JSON-RPC is.
    """
    if not isinstance(envelope, dict):
        return {}
    if own or "payload" not in envelope:
        return envelope if own or "kind" not in envelope else {}
    payload = envelope["payload"]
    return payload if isinstance(payload, dict) else {}


def _decode(raw: bytes | memoryview) -> Any:
    """Decodes JSON; of a big record only its head, as readers do (`store.columns.large_headers`)."""
    if len(raw) > MAX_WHOLE_BYTES:
        raw = complete_json(bytes(raw[:HEAD_BYTES])) or b""
    return json_or_none(bytes(raw))


def _take_result(found: Extracts, number: int, result: calls.Result, decoded: Decoded, *, own: bool) -> None:
    if result.meta:
        payload = {"result": {"_meta": _decode_part(result.meta)}}
        found.records[number] = DecodedRecord(decoded.identifier(number), payload)
    if result.meta or result.tools:
        found.digests[number] = _digest(decoded.raw(number), own=own)
    if result.tools and len(result.tools) <= MAX_WHOLE_BYTES and isinstance(tools := _decode_part(result.tools), list):
        names = (tool.get("name") for tool in tools if isinstance(tool, dict))
        is_last = result.cursor is ABSENT or not result.cursor
        found.tools[number] = ToolList(tuple(name for name in names if isinstance(name, str)), is_last)
    # A byte search is much cheaper than decoding a result without JSON in it.
    if not result.structured and not (result.content and may_hold_json(result.content)):
        return
    if len(result.structured) + len(result.content) > MAX_WHOLE_BYTES:
        return
    listed = count_records(
        {"content": _decode_part(result.content), "structuredContent": _decode_part(result.structured)}
    )
    if listed.of_anything:
        found.listed[number] = listed


def _decode_part(raw: msgspec.Raw) -> Any:
    return json_or_none(bytes(raw)) if raw else None


class _Envelope(msgspec.Struct, gc=False):
    payload: msgspec.Raw = msgspec.Raw(b"")


_decode_envelope = msgspec.json.Decoder(_Envelope).decode


def _digest(raw: bytes | memoryview, *, own: bool) -> int:
    """Returns a hash of a payload as JSON without blanks, equal for different spellings in two logs."""
    try:
        return hash_bytes(msgspec.json.format(raw if own else _decode_envelope(raw).payload, indent=-1))
    except REFUSALS:
        return hash_bytes(raw)


def _arguments(number: int, decoded: Decoded) -> int:
    """Returns a hash of a call's arguments, equal for equal ones; NO_HASH unless they are an object."""
    call = decoded.payload(number)
    if call is None or call.method is None:  # it may be in an envelope within the payload
        arguments: Any = calls.arguments_of(payload_of(_decode(decoded.raw(number)), own=False))
    else:
        arguments = _decode_part(call.params.arguments) if call.params is not None else None
    if not isinstance(arguments, dict):
        return NO_HASH
    try:
        written = msgspec.json.encode(arguments, order="sorted")
        # Clients write a count as 7 or as 7.0, and JSON makes no difference between them.
        if b".0" in written:
            written = msgspec.json.encode(_with_integers(arguments), order="sorted")
        return hash_bytes(written)
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        # Half of a surrogate pair, or a nesting that the encoder refuses; equal arguments still have equal texts.
        return hash_text(repr(arguments))


def _with_integers(value: Any) -> Any:
    """Returns decoded JSON with 7.0 as 7, since they are equal."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    return [_with_integers(item) for item in value] if isinstance(value, list) else value
