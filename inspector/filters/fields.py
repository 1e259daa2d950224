"""The table of all fields: name, type, column, label and help (docs/design.md 6).

Filter, completion, table columns, command line and help read this table. To add a field, add one `Field` to FIELDS. Its
`column` is an array of the capture or a pass, or `_decoded`, which reads the record on demand. A pass is needed only
for facts from other messages and for frequent filters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, LazyArray, Numbers
from inspector.analysis.findings import Severity
from inspector.analysis.findings.check_table import CHECK_BY_CODE
from inspector.analysis.passes.calls.correlation_pass import RULE_NAMES
from inspector.analysis.passes.calls.open_waits import are_waiting
from inspector.analysis.passes.calls.proposal_states import PROPOSAL_STATE_NAMES
from inspector.analysis.passes.contexts.context_pass import STATES
from inspector.analysis.passes.plain_messages import Message, plain_message
from inspector.analysis.passes.results.signal_table import Link
from inspector.analysis.passes.results.transient_results import BADGE_SETS, Badge
from inspector.analysis.passes.tokens.reported_usage import NOT_REPORTED
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.states.state_pass import STATE_NAMES as STATES_OF_MESSAGES
from inspector.analysis.views.account.mcp_totals import mcp_revisions
from inspector.analysis.views.latency.latency import latency_ms
from inspector.filters.field import Depends, Field, FieldType
from inspector.filters.payloads import message_text
from inspector.filters.run_fields import RUN_FIELDS
from inspector.filters.sentences import info
from inspector.formats.guards import VALUE_S, GarbageError, Guard
from inspector.formats.wrapped.reader import LABEL as SLICES
from inspector.formats.wrapped.reader import slice_origin
from inspector.protocol import kinds, mcp_messages, msp
from inspector.protocol.context_places import PLACE_NAMES, ContextSource, find_context
from inspector.protocol.payloads.stream_chunks import context_in
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, hash_text
from inspector.store.messages.batch_decoding import read_in_batches
from inspector.tokens.counter import TOKENIZER

RowSelector: TypeAlias = "slice | NDArray[np.integer[Any]]"
"""Selects messages of a column: a slice or an index array."""


def _strings(name: str) -> Callable[[Analysis], Column]:
    return lambda a: Interned(a.capture.columns[name], a.capture.strings)


def _correlation_strings(name: str) -> Callable[[Analysis], Column]:
    return lambda a: Interned(a.correlation.columns[name], a.capture.strings)


def _kind(analysis: Analysis) -> Column:
    capture = analysis.capture
    if capture.foreign_rpc.is_empty:
        return Interned(capture.columns["kind"], capture.strings)
    # Resolved per request, since only some logs have kinds of other protocols.
    return Interned(_lazy_column(analysis, capture.foreign_rpc.kind_codes), capture.strings)


def _call_text(analysis: Analysis) -> Column:
    correlation = analysis.correlation
    if analysis.capture.foreign_rpc.is_empty:
        return Interned(correlation.columns["call"], correlation.calls)
    return Interned(_lazy_column(analysis, correlation.shown_calls), correlation.calls)


def _numbers(name: str, absent: int | None = None) -> Callable[[Analysis], Column]:
    return lambda a: Numbers(a.capture.columns[name], absent)


Texts: TypeAlias = "tuple[str, ...] | None"
PresenceIndex: TypeAlias = Callable[[Analysis, RowSelector, Texts], "NDArray[np.bool_]"]


def _decoded(
    value: Callable[[Analysis, int], object], may_hold: PresenceIndex | None = None, *, masked: bool = False
) -> Callable[[Analysis], Column]:
    def column(analysis: Analysis) -> Column:
        known = None if may_hold is None else partial(may_hold, analysis)
        of = partial(value, analysis)

        def many(rows: NDArray[np.integer[Any]]) -> Iterator[object]:
            # Spares the reading ahead of blocks in which no message has the value.
            if known is not None and not known(rows, None).any():
                return map(of, rows.tolist())  # no message can have a value
            return read_in_batches(analysis.capture, rows, of)

        return Decoded(of, len(analysis), known, many, masked)

    return column


def _may_have_id(analysis: Analysis, rows: RowSelector, texts: Texts) -> NDArray[np.bool_]:
    """Finds text ids by hash. Other ids are rare."""
    hashes = analysis.capture.ids.text_hashes("id_hash", rows)
    # Ids that are no text have no hash, so they must be decoded.
    return np.ones(len(hashes), np.bool_) if texts is None else _hashed(hashes, texts) | (hashes == NO_HASH)


def _may_name(analysis: Analysis, rows: RowSelector, texts: Texts) -> NDArray[np.bool_]:
    """Finds correlated messages by the hash of their first id."""
    columns = analysis.capture.columns
    flags = columns["flags"][rows]
    named = (flags & Flag.CORRELATED.value) != 0
    if texts is None:
        return named
    # The column has one hash only; messages with several ids are decoded.
    first = _hashed(analysis.capture.ids.text_hashes("correlation_hash", rows), texts)
    return named & (first | ((flags & Flag.MANY_CORRELATIONS.value) != 0))


def _may_be_delivered(analysis: Analysis, rows: RowSelector, _texts: Texts) -> NDArray[np.bool_]:
    return np.full(len(_rows_taken(analysis, rows)), len(analysis.capture.deliveries) > 0)


def _may_be_cut(analysis: Analysis, rows: RowSelector, _texts: Texts) -> NDArray[np.bool_]:
    sliced = np.array([SLICES in source.formats for source in analysis.capture.sources], np.bool_)
    return sliced[analysis.capture.columns["source"][rows]]


def _may_have_summary(analysis: Analysis, rows: RowSelector, _texts: Texts) -> NDArray[np.bool_]:
    return (analysis.transients.columns["badges"][rows] & Badge.TRANSIENT.value) != 0


def _hashed(hashes: NDArray[np.uint64], texts: tuple[str, ...]) -> NDArray[np.bool_]:
    """Returns a mask of the hashes that belong to any of some texts."""
    found = np.zeros(len(hashes), np.bool_)
    for text in texts:
        found |= hashes == np.uint64(hash_text(text))
    return found


def _lazy_column(analysis: Analysis, at: Callable[[RowSelector], NDArray[Any]]) -> LazyArray:
    return LazyArray(len(analysis), at)


def _rows_taken(analysis: Analysis, rows: RowSelector) -> NDArray[np.int64]:
    return np.arange(*rows.indices(len(analysis))) if isinstance(rows, slice) else rows.astype(np.int64)


def _lazy_by_rows(analysis: Analysis, at: Callable[[NDArray[np.int64]], NDArray[Any]]) -> LazyArray:
    """As `_lazy_column`, for functions that need index arrays."""
    return _lazy_column(analysis, lambda rows: at(_rows_taken(analysis, rows)))


def _to_numbers(messages: NDArray[Any]) -> NDArray[np.int64]:
    """Converts message indices to the numbers users see, from 1."""
    return messages.astype(np.int64) + 1


def _own_number(analysis: Analysis) -> Column:
    return Numbers(_lazy_by_rows(analysis, _to_numbers))


def _consumption(name: Link) -> Callable[[Analysis], Column]:
    """Links a transient result and the message that consumed it."""

    def of(analysis: Analysis) -> Column:
        links = analysis.transients.signals.links
        return Numbers(_lazy_by_rows(analysis, lambda rows: _to_numbers(links(name, rows))), NO_ROW + 1)

    return of


def _tool_column(analysis: Analysis) -> Column:
    columns = analysis.correlation.columns
    call = analysis.capture.strings.find("tools/call") or -1

    def at(rows: RowSelector) -> NDArray[Any]:
        # The target of other methods is a resource or a prompt, not a tool.
        return np.where(columns["method"][rows] == call, columns["target"][rows], 0)

    return Interned(_lazy_column(analysis, at), analysis.capture.strings)


def _of_call(name: str) -> Callable[[Analysis], Column]:
    """Column of strings about the model call that a message came from."""

    def column(analysis: Analysis) -> Column:
        return Interned(_lazy_by_rows(analysis, partial(analysis.usage.words, name)), analysis.capture.strings)

    return column


def _first_token(analysis: Analysis) -> Column:
    """(n,) float64 milliseconds, NaN if absent."""

    def at(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        found = analysis.usage.first_tokens(rows)
        return np.where(found >= 0, found / 1e6, np.nan)

    return Numbers(_lazy_by_rows(analysis, at))


def _usage(name: str) -> Callable[[Analysis], Column]:
    """Tokens that model calls report."""
    return lambda a: Numbers(_lazy_by_rows(a, partial(a.usage.numbers_at, name)), NOT_REPORTED)


def _cost_column(analysis: Analysis) -> Column:
    """(n,) float64 dollars, NaN if absent."""
    # Ten places: sums of prices per million tokens leave binary fractions that no filter would equal.
    return Numbers(_lazy_by_rows(analysis, lambda rows: np.round(analysis.costs.dollars_at(rows), 10)))


def _stated_cost(analysis: Analysis) -> Column:
    """(n,) float64 dollars, NaN if the session states no cost."""
    return Numbers(_lazy_by_rows(analysis, lambda rows: np.round(analysis.costs.stated_dollars_at(rows), 9)))


def _repeats_column(analysis: Analysis) -> Column:
    def repeated(rows: NDArray[np.int64]) -> NDArray[Any]:
        of = analysis.capture.repeated_messages(rows)[0]
        return _to_numbers(np.where(of == NO_ROW, analysis.correlation.rounds.continued_calls(rows), of))

    return Numbers(_lazy_by_rows(analysis, repeated), NO_ROW + 1)


def _exchanges(analysis: Analysis, name: str, convert: Callable[[NDArray[Any]], NDArray[Any]]) -> LazyArray:
    """Facts about the HTTP exchanges that carried messages."""
    return _lazy_by_rows(analysis, lambda rows: convert(analysis.capture.extracted.exchanges(name, rows)))


def _exchange(name: str) -> Callable[[Analysis], Column]:
    return lambda a: Numbers(_lazy_by_rows(a, partial(a.capture.extracted.exchanges, name)), 0)


def _exchange_text(name: str) -> Callable[[Analysis], Column]:
    return lambda a: Interned(_exchanges(a, name, lambda ids: ids.astype(np.uint32)), a.capture.strings)


def _exchange_ms(name: str) -> Callable[[Analysis], Column]:
    return lambda a: Numbers(_exchanges(a, name, lambda us: np.where(us > 0, us / 1_000, np.nan)))


def _mcp_version(analysis: Analysis) -> Column:
    return Interned(_lazy_by_rows(analysis, partial(mcp_revisions, analysis)), analysis.capture.strings)


_ERAS = ("", *mcp_messages.ERAS)


def _mcp_era(analysis: Analysis) -> Column:
    def at(rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        # Parsed once per version: a log has few versions and many messages.
        codes, places = np.unique(mcp_revisions(analysis, rows), return_inverse=True)
        strings = analysis.capture.strings
        eras = [_ERAS.index(mcp_messages.era_of(strings[code])) if code else 0 for code in codes.tolist()]
        return np.array(eras, np.uint8)[places]

    return Interned(_lazy_by_rows(analysis, at), _ERAS)


def _latency(analysis: Analysis) -> Column:
    """(n,) float64 milliseconds, NaN if absent."""
    return Numbers(_lazy_column(analysis, lambda rows: latency_ms(analysis, rows)))


def _answered_column(analysis: Analysis) -> Column:
    request = analysis.capture.strings.find(kinds.REQUEST) or -1

    def at(rows: RowSelector) -> NDArray[np.int64]:
        answer = _to_numbers(analysis.correlation.columns["answer"][rows])
        return np.where(analysis.capture.columns["kind"][rows] == request, answer, 0)

    return Numbers(_lazy_column(analysis, at), 0)


def _waiting_column(analysis: Analysis) -> Column:
    proposal = analysis.capture.strings.find(kinds.PROPOSAL) or -1

    def at(rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        waits = are_waiting(analysis.capture, analysis.correlation.columns, rows)
        decision = analysis.capture.columns["kind"][rows] == proposal
        return (waits * np.where(decision, 2, 1)).astype(np.uint8)

    return Interned(_lazy_by_rows(analysis, at), ("", "answer", "decision"))


def _answers_column(analysis: Analysis) -> Column:
    request, response = (analysis.capture.strings.find(k) or -1 for k in (kinds.REQUEST, kinds.RESPONSE))

    def at(rows: RowSelector) -> NDArray[np.int64]:
        kind, cause = analysis.capture.columns["kind"], analysis.correlation.columns["cause"][rows]
        linked = (kind[rows] == response) & (cause != NO_ROW)
        # `NO_ROW` is no index, so row 0 is read instead and masked out.
        linked &= kind[np.where(linked, cause, 0)] == request
        return np.where(linked, _to_numbers(cause), 0)

    return Numbers(_lazy_column(analysis, at), 0)


def _paths(name: str) -> Callable[[Analysis], Column]:
    def column(analysis: Analysis) -> Column:
        contexts = analysis.contexts
        ids = _lazy_column(analysis, lambda rows: contexts.nodes_of(rows) + 1)
        # A move of the tree changes the paths behind the numbers.
        return Interned(ids, getattr(contexts, name), contexts.tree.moves)

    return column


def _parent_paths(analysis: Analysis) -> Column:
    contexts = analysis.contexts
    ids = _lazy_column(analysis, lambda rows: contexts.parents(rows) + 1)
    return Interned(ids, contexts.paths, contexts.tree.moves)


def _context_state(analysis: Analysis) -> Column:
    contexts = analysis.contexts
    entries = contexts.states(analysis.now_ns)
    return Interned(_lazy_column(analysis, lambda rows: entries.take(contexts.nodes_of(rows))), STATES)


def _labels(analysis: Analysis) -> Column:
    contexts = analysis.contexts
    values, sets = contexts.labels()
    generation = contexts.tree.moves + contexts.declarations
    return InternedSets(_lazy_column(analysis, lambda rows: values.take(contexts.nodes_of(rows))), sets, generation)


def _cut_from(name: str) -> Callable[[Analysis], Column]:
    """Place of a message in the file that a slice was cut from."""

    def value(analysis: Analysis, message: int) -> object:
        capture = analysis.capture
        sliced = SLICES in capture.sources[int(capture.columns["source"][message])].formats
        return getattr(slice_origin(capture.records.read_line_of(message)), name, None) if sliced else None

    return _decoded(value, _may_be_cut)


def _context_raw(analysis: Analysis, message: int) -> object:
    if analysis.capture.flags_of(message) & Flag.FRAME:
        with analysis.capture.records.unmasked():
            return context_in(analysis.capture.records.frame_data(message))
    whole = analysis.capture.records.decoded_fields.get(message)
    if whole is not None and (whole.context is not None or not analysis.capture.columns["context"][message]):
        return whole.context if isinstance(whole.context, str | None) else _json(whole.context)
    header = analysis.capture.records.read_record(message).header
    context = find_context(header)[0] if header is not None and analysis.capture.columns["context"][message] else None
    if context is None:
        envelope = analysis.capture.records.envelope(message)
        context = envelope.get("context") if isinstance(envelope, dict) else None
    return context if isinstance(context, str | None) else _json(context)


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _sources(analysis: Analysis) -> Column:
    names = ("", *(source.name for source in analysis.capture.sources))
    sources = analysis.capture.columns["source"]
    return Interned(_lazy_column(analysis, lambda rows: sources[rows].astype(np.uint32) + 1), names)


def _seen_by(analysis: Analysis) -> Column:
    capture = analysis.capture
    names, found = [source.name for source in capture.sources], capture.seen_by
    if found is None:  # a log opened alone has no second source
        sources = capture.columns["source"]
        own = [(), *((name,) for name in names)]
        return InternedSets(_lazy_column(analysis, lambda rows: sources[rows].astype(np.uint32) + 1), own)
    table = [tuple(names[source] for source in one) for one in found.table]
    return InternedSets(_lazy_column(analysis, lambda rows: found.set_ids[rows]), table)


def _severity(analysis: Analysis) -> Column:
    found = analysis.findings.found
    return Interned(_lazy_column(analysis, lambda rows: found.severities[found.columns["set"][rows]]), _SEVERITIES)


_SEVERITIES = ("", *(severity.word for severity in Severity))
_NAMED_TARGETS = ("", "message", "later message", "context", "stream", "nothing seen")
"""Values of `correlation.names` by `NamedThing`; filters of users name them."""
_CONTEXT_SOURCES = ("", *(PLACE_NAMES[told] for told in ContextSource if told))
_T, _D = FieldType, Depends


class _CheckCodes(Sequence[str]):
    """Codes of all checks; plug-ins add some."""

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    @override
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return tuple(CHECK_BY_CODE)[place]

    @override
    def __len__(self) -> int:
        return len(CHECK_BY_CODE)


_CHECK_CODES = _CheckCodes()

FIELDS: tuple[Field, ...] = (
    Field("no", _T.INTEGER, "No.", "Number of the message, counted from 1 in the order of arrival.",
          _own_number),
    Field("time", _T.TIME, "Time", "When it was logged or arrived, else sent.", _numbers("time_ns", NO_TIME)),
    Field("ts", _T.TIME, "Sender's time", "The time its sender wrote, by its clock.", _numbers("ts_ns", NO_TIME)),
    Field("id", _T.STRING, "Id", "Id of the envelope; local-N if it has none.",
          _decoded(lambda a, m: a.capture.records.envelope_id(m), _may_have_id)),
    Field("protocol", _T.STRING, "Protocol", "The protocol string, a label only.", _strings("protocol")),
    Field("space", _T.STRING, "Space", "The space it was sent in.", _strings("space")),
    Field("from", _T.STRING, "From", "Its sender; of a frame, the owner of its stream.", _strings("sender"), _D.PASS),
    Field("to", _T.STRING, "To", "Its recipients; absent means everyone.",
          lambda a: InternedSets(a.capture.columns["to_set"], a.capture.to_sets), _D.PASS, many=True),
    Field("kind", _T.KIND, "Kind", "Canonical kind, without a suffix; `like` also sees method and target.",
          _kind, _D.PASS, like_column=_call_text),
    Field("kind.raw", _T.STRING, "Kind as written", "The kind as it was sent.", _strings("kind_raw")),
    Field("method", _T.STRING, "Method", "MCP method; of a response, its request's.",
          _correlation_strings("method"), _D.PASS),
    Field("target", _T.STRING, "Target", "Tool, resource, prompt or completion reference.",
          _correlation_strings("target"), _D.PASS),
    Field("tool", _T.STRING, "Tool", "Tool of a tools/call request, proposal or response.", _tool_column, _D.PASS),
    Field("tool.rule", _T.STRING, "Tool found by", "Found by kind, payload, correlation, rpc id, or unknown.",
          lambda a: Interned(a.correlation.columns["rule"], RULE_NAMES), _D.PASS, only=RULE_NAMES[1:]),
    Field("correlation", _T.STRING, "Correlation", "Ids of the messages it names.",
          _decoded(lambda a, m: a.capture.records.correlation_ids(m), _may_name), many=True),
    Field("correlation.names", _T.STRING, "Names",
          "Target of its correlation: message, later message (arrived after it), context, stream, or nothing seen.",
          lambda a: Interned(_lazy_column(a, a.named.named), _NAMED_TARGETS), _D.PASS, only=_NAMED_TARGETS[1:]),
    Field("context", _T.CONTEXT, "Context", "Path of its context in the tree; absent in the main context.",
          _paths("paths"), _D.TREE),
    Field("context.parent", _T.CONTEXT, "Parent context", "Path of the parent of its context; absent for roots.",
          _parent_paths, _D.TREE),
    Field("context.root", _T.STRING, "Root context", "First segment of its context's path.", _paths("roots"), _D.TREE),
    Field("context.leaf", _T.STRING, "Leaf context", "Last segment of its context's path.", _paths("leaves"), _D.TREE),
    Field("context.depth", _T.INTEGER, "Context depth", "Segments in its context's path.",
          lambda a: Numbers(_lazy_column(a, a.contexts.depths), 0), _D.TREE),
    Field("context.id", _T.STRING, "Context id", "Id of its context as messages write it: of a path its last segment.",
          _paths("ids"), _D.TREE),
    Field("context.raw", _T.STRING, "Context as written", "The context as it was sent.", _decoded(_context_raw)),
    Field("context.told", _T.STRING, "Context source",
          "Where it names its context: envelope; stream, of a frame; in drafts: kind, payload.context,"
          " context/start, thread_id.",
          lambda a: Interned(_lazy_column(a, a.contexts.context_places), _CONTEXT_SOURCES), _D.TREE,
          only=_CONTEXT_SOURCES[1:]),
    Field("labels", _T.STRING, "Labels", "Labels of its context, if it is an object with labels.", _labels,
          _D.TREE, many=True),
    Field("context.type", _T.STRING, "Context type", "Declared type of its context, or reasoning.",
          lambda a: Interned(_lazy_column(a, a.contexts.types), a.contexts.type_names), _D.TREE),
    Field("context.state", _T.STRING, "Context state", "active, idle, concluded, cancelled.", _context_state, _D.CLOCK,
          only=STATES[1:]),
    Field("size", _T.INTEGER, "Size", "Bytes of the envelope, message or frame.", _numbers("size")),
    Field("text", _T.STRING, "Text", "The text in its row; of a frame, its token or the words of its chunk.",
          _decoded(lambda a, m: message_text(a.capture, m)), _D.PASS),
    Field("info", _T.STRING, "Info", "Its row's sentence: the text and its subject, such as the tool of a result.",
          _decoded(info, masked=True), _D.PASS),
    Field("tokens", _T.INTEGER, "Tokens", f"Its content, counted with {TOKENIZER}: an estimate; absent until counted.",
          lambda a: Numbers(a.tokens.columns["tokens"], NOT_COUNTED), _D.PASS),
    Field("model", _T.STRING, "Model", "Model of the call it belongs to, in a transcript or a recording of its API.",
          _of_call("model")),
    Field("stop_reason", _T.STRING, "Stop reason", "Reason of the model's stop, in the API's word.", _of_call("stop")),
    Field("first_token", _T.NUMBER, "First token",
          "Milliseconds from a request to a model to the first piece of its streamed answer.", _first_token),
    *(Field(f"usage.{name}", _T.INTEGER, label, help_, _usage(name), _D.PASS)
      for name, label, help_ in (
          ("input", "Input", "Tokens its model call reports as read anew, neither from a cache nor written to one."),
          ("output", "Output", "Tokens its model call reports as written, reasoning included."),
          ("cache_read", "Cache read", "Tokens its model call reports as read from a cache."),
          ("cache_write", "Cache write", "Tokens its model call reports as written to a cache."))),
    Field("cost", _T.NUMBER, "Cost", "Dollars of its model call: the tokens it reports, by the prices in Settings > "
          "Prices or of --prices; absent where a price is not known.", _cost_column, _D.PASS),
    Field("cost.stated", _T.NUMBER, "Stated cost", "Dollars that the record of a session states: of its model call, or "
          "of all of the session so far.", _stated_cost, _D.PASS),
    Field("repeats", _T.INTEGER, "Repeats", "No. of the message that it repeats, as in a resumed session's file, or of "
          "the request that it continues, as a retry.", _repeats_column, _D.PASS),
    Field("http.exchange", _T.INTEGER, "Exchange", "Number of its HTTP exchange in the recording.",
          _exchange("number")),
    Field("http.status", _T.INTEGER, "Status", "Status of the answer in that exchange, as far as it had come.",
          _exchange("status")),
    Field("http.method", _T.STRING, "HTTP method", "Method of its HTTP exchange.", _exchange_text("method")),
    Field("http.path", _T.STRING, "Path", "Path requested by its HTTP exchange.", _exchange_text("path")),
    Field("http.first_ms", _T.NUMBER, "First byte",
          "Milliseconds from the request of the exchange to the first byte of its answer.", _exchange_ms("first_us")),
    Field("http.whole_ms", _T.NUMBER, "Whole exchange",
          "Milliseconds from the request of the exchange to its end, at the row where it ends.",
          _exchange_ms("whole_us")),
    Field("mcp.version", _T.STRING, "MCP revision", "Revision of MCP it speaks: named by its request, or agreed on.",
          _mcp_version, _D.PASS),
    Field("mcp.era", _T.STRING, "MCP era", "modern: each request names its revision (since 2026-07-28); legacy.",
          _mcp_era, _D.PASS, values=_ERAS[1:], only=_ERAS[1:]),
    Field("dir", _T.STRING, "Direction", "Direction as its log wrote it.", _strings("direction")),
    Field("error", _T.BOOLEAN, "Error", "JSON-RPC errors, failed tools and system errors.",
          lambda a: Flags(a.capture.columns["flags"], int(Flag.ERROR))),
    Field("badge", _T.STRING, "Badge", f"Life of a tool result: {', '.join(BADGE_SETS[-1])}.",
          lambda a: InternedSets(a.transients.columns["badges"], BADGE_SETS), _D.PASS, many=True,
          only=BADGE_SETS[-1]),
    Field("collapsed.by", _T.INTEGER, "Collapsed by", "No. of the message that consumed it.",
          _consumption("collapsed_by"), _D.PASS),
    Field("consumes", _T.INTEGER, "Consumes", "No. of the result it collapsed.", _consumption("consumes"), _D.PASS),
    Field("summary", _T.STRING, "Summary", "Text that replaces a transient result once it is collapsed.",
          _decoded(lambda a, m: a.transients.summary(m), _may_have_summary), _D.PASS),
    Field("latency", _T.NUMBER, "Latency", "Milliseconds from a request to this response.", _latency, _D.PASS),
    Field("answered", _T.INTEGER, "Answered by", "No. of the response to this request.", _answered_column, _D.PASS),
    Field("answers", _T.INTEGER, "Answers", "No. of the request this response answers.", _answers_column, _D.PASS),
    Field("waiting", _T.STRING, "Waiting", "answer: a request without one; decision: a proposal without one.",
          _waiting_column, _D.PASS, only=("answer", "decision")),
    Field("state", _T.STRING, "State", "Outcome of a request, a proposal, a start of reasoning or a stream.",
          lambda a: Interned(_lazy_column(a, a.states.states_at), STATES_OF_MESSAGES), _D.PASS,
          values=STATES_OF_MESSAGES[1:], only=STATES_OF_MESSAGES[1:]),
    Field("proposal.state", _T.STRING, "Proposal", "open, rejected, withdrawn, fulfilled or answered.",
          lambda a: Interned(a.correlation.columns["proposal_state"], PROPOSAL_STATE_NAMES), _D.PASS,
          only=PROPOSAL_STATE_NAMES[1:]),
    Field("visibility", _T.STRING, "Visibility", "Visibility of a message of a session.",
          lambda a: Interned(a.visibility.columns["visibility"], a.visibility.values), _D.PASS,
          values=msp.VISIBILITIES),
    Field("delivered", _T.STRING, "Delivered to", "Its recipients by the gateway's log.",
          _decoded(lambda a, m: a.capture.deliveries.recipients(m), _may_be_delivered), _D.PASS, many=True),
    Field("stream", _T.STRING, "Stream", "Id of the stream a frame or stream message belongs to.", _strings("stream")),
    Field("finding", _T.STRING, "Findings", "Codes of the findings about it, the most severe first.",
          lambda a: InternedSets(a.findings.columns["set"], a.findings.found.sets), _D.PASS, many=True,
          only=_CHECK_CODES),
    Field("finding.severity", _T.SEVERITY, "Severity", "Its worst finding: note, warning or error, in this order.",
          _severity, _D.PASS),
    Field("source", _T.STRING, "Source", "File or connection it came from; of several the first.", _sources),
    Field("seen_by", _T.STRING, "Seen by", "Every source that has it, where several are one document.", _seen_by,
          _D.PASS, many=True),
    Field("slice.source", _T.STRING, "Cut from", "File that a slice was cut from.", _cut_from("source")),
    Field("slice.line", _T.INTEGER, "Line there", "Number of its line there.", _cut_from("line")),
    Field("slice.offset", _T.INTEGER, "Offset there", "Its byte offset in that file.",
          _cut_from("offset")),
    Field("mark", _T.BOOLEAN, "Mark", "You marked it.", lambda a: a.marks.marked_column(len(a)), _D.PASS),
    Field("comment", _T.STRING, "Comment", "Your comment on it.", lambda a: a.marks.comment_column(len(a)),
          _D.PASS),
    *RUN_FIELDS,
)  # fmt: skip

FIELD_BY_NAME: dict[str, Field] = {field.name: field for field in FIELDS}
"""Every field, those of plug-ins included."""

_TYPE_OF_WORDS = {"text": _T.STRING, "whole number": _T.INTEGER, "number": _T.NUMBER, "yes or no": _T.BOOLEAN}
_MAX_VALUE_BYTES = 1 << 16


def all_fields() -> tuple[Field, ...]:
    """Returns the built-in fields, then those of plug-ins."""
    return tuple(FIELD_BY_NAME.values())


def add_field(name: str, type_: str, label: str, help_: str, value: Callable[[Message], object], guard: Guard) -> bool:
    """Adds a field of a plug-in; returns False if its name is taken.

    Args:
        name, label, help_: as in `Field`.
        type_: a key of `_TYPE_OF_WORDS`.
        value: returns the value of a message.
        guard: calls `value`.
    """
    if name in FIELD_BY_NAME:
        return False
    kind = _TYPE_OF_WORDS[type_]

    def of(analysis: Analysis, message: int) -> object:
        plain = plain_message(analysis.capture, analysis.correlation, message)
        return guard.call(VALUE_S, value, plain, checked=partial(_checked_value, kind))

    FIELD_BY_NAME[name] = Field(name, kind, label, help_, _decoded(of), _D.PASS)
    return True


def remove_field(name: str) -> None:
    """Removes an added field."""
    FIELD_BY_NAME.pop(name, None)


def _checked_value(kind: FieldType, value: object) -> object:
    if value is None:
        return None
    if kind is _T.STRING and isinstance(value, str):
        # Half of a surrogate pair could not be shown.
        return value[:_MAX_VALUE_BYTES].encode("utf-8", "replace").decode()
    if kind is _T.BOOLEAN and isinstance(value, bool):
        return value or None  # absence is false, as in the built-in fields
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53
    if is_number and kind in (_T.INTEGER, _T.NUMBER):
        return int(cast("int", value)) if kind is _T.INTEGER else float(cast("int", value))
    if kind is _T.NUMBER and isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise GarbageError(f"it returned {type(value).__name__[:60]} in place of a {kind.value}")
