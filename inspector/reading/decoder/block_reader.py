"""Decodes bytes into blocks of columns. Pure: the messages do not depend on the cut into blocks.

A block has its own strings, numbered from 1 in order of appearance; the capture renumbers them. So blocks can be read
in any process.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.base.gc_control import no_collection
from inspector.formats.capture import reader as capture_file
from inspector.formats.line_reading import read_chosen, read_line_as
from inspector.formats.table import INBOUND_EVENTS, NOISE_KINDS
from inspector.protocol import calls, kinds, mcp_messages
from inspector.protocol.context_places import find_context
from inspector.protocol.correlation_ids import correlation_ids_of
from inspector.protocol.derived_messages import (
    ApiCall,
    Chain,
    History,
    Spawn,
    ThreadMark,
)
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.mcp_notes import McpNote, note_of
from inspector.protocol.object_contexts import context_and_parents
from inspector.protocol.payloads.stream_chunks import context_in
from inspector.protocol.record import HttpExchange, Record, Shape, unreadable_record
from inspector.protocol.timestamps import NO_TIME, parse_date
from inspector.reading.decoder import batches
from inspector.reading.decoder.fast_path import BlockTables, RegularRows, choose_reader, concatenate_rows
from inspector.reading.decoder.line_splitter import SplitLines, runs_of, split_lines
from inspector.reading.decoder.normalize import CONTEXT_PLACE_FLAGS, context_key, recipients
from inspector.reading.decoder.record_values import (
    call_id_hash,
    capture_origin,
    envelope_identifier,
    export_call_flags,
    noise_beginning,
    progress_hash,
    record_fold_hash,
    sender_and_recipient,
    written_message,
)
from inspector.reading.reassembly.derived_lines import OrderedLine
from inspector.reading.reassembly.reassembler import Reassembler
from inspector.store.columns.block import (
    BLOCK_COLUMNS,
    NO_MESSAGE,
    REPLAYED,
    RUNNING,
    STRING_COLUMNS,
    TICK,
    TRANSCRIPT_COLUMNS,
    Block,
    OpenedConnection,
    ServerEnd,
)
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Decoded, Extracts, extract_records, has_extracted_parts
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_bytes, hash_rpc_ids, hash_text, hash_texts
from inspector.store.columns.irregular_forms import IrregularForm, irregular_form
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES

_HASH_COLUMNS = ("id_hash", "correlation_hash", "alias_hash")

_ENVELOPE, _RPC, _NOTHING = Shape.ENVELOPE, Shape.RPC, Shape.NO_MESSAGE
# Plain numbers, since IntFlag computes in Python.
_ERROR, _HAS_META, _NO_ID = (f.value for f in (Flag.ERROR, Flag.HAS_META, Flag.NO_ID))
_CORRELATED, _MANY, _SENT = (f.value for f in (Flag.CORRELATED, Flag.MANY_CORRELATIONS, Flag.SENT))
_DECLINED = Flag.DECLINED.value
_UNRECORDED = Flag.UNRECORDED.value
_OWN_SPAN = Flag.OWN_SPAN.value
_CALLS_DIFFER, _REFUSED, _DERIVED = Flag.CALLS_DIFFER.value, Flag.REFUSED.value, Flag.DERIVED.value

_ROW_COLUMNS = tuple(name for name in BLOCK_COLUMNS if name != "source")
"""Order of values in a row: a column's value, or the text of its string id."""
_Row = tuple[Any, ...]


class _Run(NamedTuple):
    """A run of lines.

    Attributes:
        lines, offsets: as `split_lines` returns them.
        usual: the decoded regular lines, if any.
        others: (n,) int64 places of the other lines.
    """

    lines: list[bytes]
    offsets: NDArray[np.int64]
    usual: RegularRows | None
    others: NDArray[np.int64]


class BlockReader:
    """Fills one block from lines."""

    def __init__(self, source: int = 0, reading: str | None = None, reassembler: Reassembler | None = None) -> None:
        """Creates a reader for one block.

        Args:
            source: number of the source in the capture.
            reading: format of the lines; None to detect it per line.
            reassembler: reassembles messages over several lines, if lines arrive in order.
        """
        self._chosen_format = reading
        self._reassembler = reassembler
        self._ordered_lines: list[OrderedLine] | None = None
        self._source = source
        self._tables = BlockTables()
        # One flat list: the garbage collector would visit thousands of tuples.
        self._values: list[Any] = []
        self._records: list[Record] = []  # of each row
        self._results: dict[int, calls.Result] = {}  # by row number, as the following ones
        self._named: dict[int, list[str]] = {}
        self._contexts: dict[int, tuple[dict[str, Any], ...]] = {}
        self._odd: dict[int, IrregularForm] = {}
        self._forms: set[tuple[str, str, bool]] = set()
        self._api_calls: dict[int, ApiCall] = {}
        self._filled: dict[int, tuple[int, int]] = {}
        self._spawns: dict[int, Spawn] = {}
        self._threads: dict[int, ThreadMark] = {}
        self._chains: dict[int, Chain] = {}
        self._echoes: dict[int, int] = {}
        self._took: dict[int, int] = {}
        self._costs: dict[int, tuple[int, int]] = {}
        self._histories: dict[int, History] = {}
        self._new: dict[int, int] = {}
        self._exchanges: dict[int, HttpExchange] = {}
        self._versions: dict[int, str] = {}
        self._states: dict[int, int] = {}
        self._tasks: dict[int, mcp_messages.Task] = {}
        self._notes: dict[int, McpNote] = {}
        self._noise: dict[int, str] = {}
        self._formats: Counter[str | None] = Counter()
        self._origin: dict[str, Any] | None = None
        self._opened: list[tuple[int, int]] = []  # place of the line, and its connection
        self._ended: ServerEnd | None = None

    def read_lines(self, data: bytes, offset: int) -> Block:
        """Reads whole lines; a last line without an end counts as one.

        Args:
            data: the bytes; may start with a byte order mark if offset is 0.
            offset: of the first byte of `data` in its source.
        """
        with no_collection():
            lines = split_lines(data, offset)
            return self._read_reassembled(data, lines, offset + len(data))

    def read_pieces(self, pieces: Iterable[tuple[bytes, int]], stop: int) -> Block:
        """Reads lines in pieces, so that each is still in the processor's cache when it is decoded.

        Args:
            pieces: whole lines each, and the offset of the first.
            stop: exclusive end of the last piece.
        """
        with no_collection():
            return self._build_block(self._parted(split_lines(data, offset) for data, offset in pieces), stop)

    def read_rest(self, stop: int) -> Block | None:
        """Reads the unfinished reassembled messages at the end of the source, if any.

        Args:
            stop: offset of the source's end in bytes.
        """
        left = self._reassembler.finish() if self._reassembler is not None else []
        return self._ordered_block(left, stop) if left else None

    def read_spans(self, data: bytes, spans: Sequence[tuple[int, int]], offset: int) -> Block:
        """Reads records at (start, stop) in `data`; they may be any spans."""
        texts = [data[start:stop] for start, stop in spans]
        with no_collection():
            offsets = np.array([start + offset for start, _ in spans], np.int64)
            return self._read_reassembled(data, (texts, offsets), offset + len(data))

    def _read_reassembled(self, data: bytes, lines: SplitLines, stop: int) -> Block:
        """Reads lines after reassembly.

        Regular lines hold no fragments: they are decoded first, and only the others are searched for fragments.
        """
        reassembler, runs = self._reassembler, self._parted(runs_of(lines))
        if reassembler is None:
            return self._build_block(runs, stop)
        if not reassembler.goes_on:
            runs = list(runs)
            unusual = [run.lines[place] for run in runs for place in run.others.tolist()]
            if len(unusual) < len(lines[0]) and not reassembler.is_relevant(b"\n".join(unusual)):
                return self._build_block(runs, stop)
        ordered = reassembler.process_lines(data, *lines)
        return self._build_block(runs, stop) if ordered is None else self._ordered_block(ordered, stop)

    def _ordered_block(self, ordered: list[OrderedLine], stop: int) -> Block:
        self._ordered_lines = ordered
        lines = [one.data for one in ordered], np.array([one.offset for one in ordered], np.int64)
        return self._build_block(self._parted(runs_of(lines)), stop)

    def _parted(self, runs: Iterable[SplitLines]) -> Iterator[_Run]:
        """Decodes regular lines of one shape column by column."""
        read_usual, before = None, 0
        for lines, offsets in runs:
            # The first run of a block decides on its usual shape.
            if not before and self._chosen_format is None:
                read_usual = choose_reader(lines)
            before += len(lines)
            part, others = None, np.arange(len(lines))
            if read_usual is not None:
                part = read_usual(lines, self._tables)
                others = np.delete(others, part.places)
            yield _Run(lines, offsets, part, others)

    def _build_block(self, runs: Iterable[_Run], stop: int) -> Block:
        """Decodes the other lines one by one and merges both in their order."""
        before = 0
        parts: list[RegularRows] = []
        unread: list[NDArray[np.int64]] = []  # line numbers of the irregular lines' records
        for lines, offsets, part, others in runs:
            if part is not None:
                self._formats[part.label] += len(part.places)
                part.columns["offset"] = offsets[part.places]
                # Line numbers count within the block, not within the run.
                part.places += before
                parts.append(part)
            unread.append(self._read_irregular(lines, offsets, others.tolist(), before))
            before += len(lines)
        places = np.concatenate(unread) if unread else np.empty(0, np.int64)
        columns = self._unusual_columns(len(places))
        extracts = self._extracts(columns)
        usual = concatenate_rows(parts) if parts else None
        if usual is not None:
            columns, extracts = _merge_rows(usual, columns, extracts, places)
        # Only transcripts have parts; other blocks save these columns.
        if not columns["part"].any():
            columns = {name: column for name, column in columns.items() if name not in TRANSCRIPT_COLUMNS}
        columns["source"] = np.full(len(columns["offset"]), self._source, BLOCK_COLUMNS["source"])
        opened: list[OpenedConnection] = []
        if self._opened:
            among = places if usual is None else np.sort(np.concatenate((usual.places, places)))
            opened = [
                OpenedConnection(int(np.searchsorted(among, place)), self._source, src) for place, src in self._opened
            ]
        return Block(
            columns, self._tables.strings, self._tables.to_sets, extracts, self._formats, self._origin, stop, opened,
            self._ended,
        )  # fmt: skip

    def _unusual_columns(self, count: int) -> dict[str, Array]:
        columns: dict[str, Array] = {}
        # The values lie row by row in one flat list, so a slice with a step is a column.
        for place, name in enumerate(_ROW_COLUMNS):
            values = self._values[place :: len(_ROW_COLUMNS)]
            if name in STRING_COLUMNS:
                columns[name] = self._tables.strings.intern_all(values, count)
            elif name == "to_set":
                columns[name] = self._tables.to_sets.intern_all(values)
            elif name in _HASH_COLUMNS:
                columns[name] = hash_texts(values)
            elif name == "rpc_hash":
                columns[name] = hash_rpc_ids(values)
            else:
                columns[name] = np.fromiter(values, BLOCK_COLUMNS[name], count)
        return columns

    def _extracts(self, columns: dict[str, Array]) -> Extracts:
        """Extracts data for passes from the irregular records."""
        records = self._records
        parts = columns["part"]
        decoded = Decoded(
            lambda n: written_message(records[n], int(parts[n])), lambda n: envelope_identifier(records[n]),
            self._named.items(), self._contexts, self._results.items(), lambda _: None,
        )  # fmt: skip
        found = extract_records(columns, slice(None), self._tables.strings, decoded)
        found.odd = self._odd
        found.api_calls, found.spawns, found.chains = self._api_calls, self._spawns, self._chains
        found.filled = self._filled
        found.echoes, found.threads, found.took = self._echoes, self._threads, self._took
        found.histories, found.costs = self._histories, self._costs
        found.new = self._new
        found.exchanges, found.versions = self._exchanges, self._versions
        found.states, found.tasks, found.notes, found.noise = self._states, self._tasks, self._notes, self._noise
        return found

    def _read_irregular(
        self, lines: Sequence[bytes], offsets: NDArray[np.int64], numbers: Iterable[int], before: int
    ) -> NDArray[np.int64]:  # fmt: skip
        """Reads lines one by one; returns the line number of each record, counted from `before`."""
        places: list[int] = []
        for place in numbers:
            line, offset, number = lines[place], int(offsets[place]), place + before
            record, known_as = self._decode_line(line, number)
            # A record of a transcript may derive several messages, each with the line's number.
            if record.derived_messages:
                self._formats[known_as] += 1
                self._add_derived(record, line, offset)
                places += [number] * len(record.derived_messages)
                continue
            # A JSON-RPC batch: one line with several messages.
            if record.batch and (spans := batches.element_spans(record, line)):
                places += [number] * self._add_batch(record, known_as, line, offset, spans)
                continue
            # A known format with nothing to show still counts for the label of the source.
            if record.shape is not _NOTHING or known_as is not None:
                self._formats[known_as] += 1
            if record.shape is _NOTHING:
                self._note_marker(record, line, number)
            else:
                if record.header is not None and record.header.ctxcap is not ABSENT:  # of a newer version
                    self._note_marker(record, line, number)
                self._add_record(record, known_as, line, offset)
                places.append(number)
        return np.array(places, np.int64)

    def _decode_line(self, line: bytes, number: int) -> tuple[Record, str | None]:
        """Reads one line; returns its record and format."""
        ordered = self._ordered_lines[number] if self._ordered_lines is not None else None
        if ordered is not None and ordered.decoded_record is not None:
            return ordered.decoded_record
        if self._chosen_format is not None:
            return read_chosen(line, self._chosen_format)
        return read_line_as(line, known=ordered.known_facts if ordered is not None else None)

    def _note_marker(self, record: Record, line: bytes, number: int) -> None:
        """Records the facts of a line without a message: header, opened or closed connection."""
        header = record.header
        if header is not None and header.ctxcap is not ABSENT:
            self._origin = capture_origin(line)
        elif header is not None and header.mark == capture_file.OPENED_MARK:
            self._opened.append((number, record.src))
            self._ended = RUNNING
        elif header is not None and header.mark == capture_file.CLOSED_MARK and record.reason:
            self._ended = ServerEnd(record.reason, has_crashed=False)

    def _add_batch(
        self, batch: Record, known_as: str | None, line: bytes, offset: int, spans: Sequence[tuple[int, int]]
    ) -> int:
        """Reads each element of a batch with its line's time and direction; returns the number of messages."""
        first = len(self._records)
        for start, stop in spans:
            element = line[start:stop]
            record, own = read_line_as(element)
            if record.shape is _NOTHING:
                record, own = unreadable_record(element, NO_MESSAGE), None
            # An unreadable element says nothing about the format.
            label = None if record.shape is Shape.UNREADABLE else known_as or own
            self._formats[label] += 1
            record.inherit_from(batch)
            if record.derived_messages:
                self._add_derived(record, element, offset + start)
            else:
                self._add_record(record, known_as, element, offset + start)
        return len(self._records) - first

    def _add_derived(self, record: Record, line: bytes, offset: int) -> None:
        """Adds the messages of a transcript's record."""
        length, several = len(line), len(record.derived_messages) > 1
        for number, one in enumerate(record.derived_messages):
            row = len(self._records)
            identifier, correlation = one.identifier, one.correlation
            flags = _DERIVED | (_NO_ID if identifier is None else 0) | (_ERROR if one.failed else 0)
            if one.declined:
                flags |= _DECLINED
            if correlation is not None:
                flags |= _CORRELATED
            if one.is_unrecorded:
                flags |= _UNRECORDED
            if one.own_span:
                flags |= _OWN_SPAN
            time_ns = one.time_ns if one.time_ns != NO_TIME else record.time_ns
            said = NO_HASH
            if identifier is not None:
                # Copies of a record in other files have the same hash; its number tells parts of
                # one record apart.
                said = hash_text(f"{identifier}\0{number}\0{time_ns}\0{one.kind}")
                said ^= hash_bytes(one.content) if one.content else 0
            if one.thread is not None:
                self._threads[row] = one.thread
                if one.thread.channel is not None:  # a message in several channels has no id of its own there
                    said = hash_bytes(one.content) ^ hash_text(f"{one.kind}\0{one.sender}")
                if one.thread.call is not None:
                    said = hash_text(f"call\0{one.thread.call}")
            if one.identity:
                # A mark identifies a record better than its content.
                said = hash_bytes(one.identity)
            if one.is_new:
                self._new[row] = hash_text(one.origin) if one.origin else NO_HASH
            self._values += (
                offset, length, time_ns, time_ns, one.kind, one.kind, one.sender, one.to, one.context, one.method,
                one.target, record.space, record.derived_by, record.direction, None, identifier, correlation, None,
                NO_HASH, one.size if several else length, flags, progress_hash(one), None,
                TICK if one.is_progress else None, record.src, number + 1, one.record_id, said, call_id_hash(one),
                hash_bytes(one.matched_text) if one.matched_text else NO_HASH,
                hash_bytes(one.given) if one.given else NO_HASH,
            )  # fmt: skip
            self._records.append(record)
            if one.call is not None:
                self._api_calls[row] = one.call
            if one.took_ns >= 0:
                self._took[row] = one.took_ns
            if one.cost is not None and 0 <= one.cost < _MAX_DOLLARS:
                self._costs[row] = round(one.cost * 1e9), int(one.is_total)
            if one.history is not None:
                self._histories[row] = one.history
            if one.context_fill is not None:
                self._filled[row] = one.context_fill
            if one.spawn is not None:
                self._spawns[row] = one.spawn
            if one.chain is not None:
                self._chains[row] = one.chain
            if one.shared_text is not None:
                self._echoes[row] = hash_text(one.shared_text)
            # The exchange belongs to the line, so only its first message gets it.
            if record.exchange is not None and number == 0:
                self._exchanges[row] = record.exchange

    def _add_record(self, record: Record, known_as: str | None, line: bytes, offset: int) -> None:
        flags = _SHAPE_FLAGS[record.shape]
        if known_as == capture_file.LABEL and record.direction == "out":
            flags |= _SENT
        # The capture ended with an error of the connection.
        if record.shape is Shape.GAP and record.header is not None and record.header.mark == capture_file.CLOSED_MARK:
            flags |= _ERROR
            self._ended = ServerEnd(record.reason or "", has_crashed=True)
        # Shown as text, so only the beginning is kept.
        if record.direction is not None and (record.shape is Shape.UNREADABLE or record.name in NOISE_KINDS):
            self._noise[len(self._records)] = noise_beginning(record, line)
        if record.shape is Shape.UNREADABLE and len(line) <= _MAX_TEXT_LINE and not _JSON_CHARACTERS.search(line):
            flags |= Flag.TEXT.value
        if record.exchange is not None:
            self._exchanges[len(self._records)] = record.exchange
        self._values += self._row(record, line, offset, flags)
        self._records.append(record)

    def _row(self, record: Record, line: bytes, offset: int, flags: int) -> _Row:
        header = record.header
        if record.shape is _ENVELOPE and header is not None:
            return self._envelope(record, header, line, offset, flags)
        if record.shape is _RPC and header is not None:
            return self._rpc(record, header, line, offset, flags)
        call, sender = calls.Call(""), None
        if record.shape is Shape.CLIENT_HELLO and header is not None:
            announced = header.participantId if isinstance(header.participantId, str) else None
            call, sender = calls.Call(kinds.JOIN), record.participant or announced
        elif record.shape is Shape.STREAM:
            call = calls.Call(kinds.FRAME, stream=record.stream_id)
            context, _ = context_key(context_in(record.data or b""))
            return self._assemble(record, line, offset, flags, call, context=context)
        elif record.shape is Shape.UNREADABLE and header is not None:  # the envelope it copies is known
            sender = header.sender if isinstance(header.sender, str) else None
            fold = record_fold_hash(record, header) if isinstance(header.id, str) else NO_HASH
            return self._assemble(record, line, offset, flags, call, sender=sender, fold=fold)
        elif record.name is not None:
            sender, to = sender_and_recipient(record)
            call = calls.Call(record.name, failed=record.failed)
            return self._assemble(record, line, offset, flags, call, sender=sender, to=to)
        return self._assemble(record, line, offset, flags, call, sender=sender)

    def _envelope(self, record: Record, header: Header, line: bytes, offset: int, flags: int) -> _Row:
        raw_kind = header.kind if isinstance(header.kind, str) else None
        call = calls.read_call(raw_kind, header) if raw_kind is not None else calls.Call("")
        sender = header.sender if isinstance(header.sender, str) else None
        # A gateway names the sender beside the envelope.
        if sender is None and (record.event in INBOUND_EVENTS or call.kind == kinds.JOIN):
            sender = record.participant or call.announced_participant
        if header.id is ABSENT or header.id is None:
            flags |= _NO_ID
        if record.event == "rejected":
            flags |= _REFUSED
        written, told = find_context(header)
        context, context_flags = context_key(written)
        if isinstance(written, dict):
            self._contexts[len(self._records)] = context_and_parents(written)
        context_flags |= CONTEXT_PLACE_FLAGS.get(told, 0)
        correlation = correlation_ids_of(header)
        # The column has room for one id; the rest goes to a side table.
        if len(correlation) > 1:
            flags |= _MANY
            self._named[len(self._records)] = correlation
        flags |= export_call_flags(header, call, record, line)
        ts_ns = parse_date(header.ts)
        if raw_kind is not None and sender is not None:
            self._note_form(header, ts_ns, sender, call.kind, correlated=bool(correlation))
        return self._assemble(
            record, line, offset, flags | context_flags, call,
            sender=sender, to=recipients(header.to) or None, raw_kind=raw_kind, context=context,
            protocol=header.protocol if isinstance(header.protocol, str) else None, ts_ns=ts_ns,
            identifier=header.id if isinstance(header.id, str) else None,
            correlation=correlation[0] if correlation else None, fold=record_fold_hash(record, header),
        )  # fmt: skip

    def _note_form(self, header: Header, ts_ns: int, sender: str, kind: str, *, correlated: bool) -> None:
        found = irregular_form(header, ts_ns)
        if found is not None and (sender, kind, correlated) not in self._forms:
            self._forms.add((sender, kind, correlated))
            self._odd[len(self._records)] = found

    def _rpc(self, record: Record, header: Header, line: bytes, offset: int, flags: int) -> _Row:
        name = kinds.REQUEST if isinstance(header.method, str) else kinds.RESPONSE
        call = calls.rpc_call(name, calls.payload_of_rpc(header))
        flags |= export_call_flags(header, call, record, line)
        sender, to = sender_and_recipient(record)
        self._note_mcp(header)
        fold = NO_HASH
        if record.event_id is not None:  # a resumed stream repeats lost events
            record.event, fold = REPLAYED, hash_text(record.event_id) ^ hash_bytes(record.raw)
        return self._assemble(record, line, offset, flags, call, sender=sender, to=to, fold=fold)

    def _note_mcp(self, header: Header) -> None:
        """Records a message's MCP revision, request for input, and task."""
        # Decoding a note of a long message would take too long.
        if len(header.params) + len(header.result) <= MAX_WHOLE_BYTES and (note := note_of(header)) is not None:
            self._notes[len(self._records)] = note
        version = mcp_messages.version_in(header)
        if version is not None:
            self._versions[len(self._records)] = version
        state = mcp_messages.state_in(header)
        if state is not None:
            self._states[len(self._records)] = hash_text(state) or 1
        task = mcp_messages.task_in(header)
        if task is not None:
            self._tasks[len(self._records)] = task

    def _assemble(
        self, record: Record, line: bytes, offset: int, flags: int, call: calls.Call, *,
        sender: str | None = None, to: tuple[str, ...] | None = None, raw_kind: str | None = None,
        context: str | None = None, protocol: str | None = None, ts_ns: int = NO_TIME, identifier: str | None = None,
        correlation: str | None = None, fold: int = NO_HASH,
    ) -> _Row:  # fmt: skip
        """Returns one row, in the order of _ROW_COLUMNS."""
        if call.failed:
            flags |= _ERROR
        if call.has_meta:
            flags |= _HAS_META
        if call.has_conflicting_kind:
            flags |= _CALLS_DIFFER
        if call.result is not None and has_extracted_parts(call.result):
            self._results[len(self._records)] = call.result
        if correlation is not None:
            flags |= _CORRELATED
        return (
            offset, len(line), record.time_ns if record.time_ns != NO_TIME else ts_ns, ts_ns,
            call.kind, raw_kind, sender, to, context, call.method, call.target, record.space, protocol,
            record.direction, call.stream, identifier, correlation, call.rpc_id,
            hash_bytes(record.raw) if fold or identifier is not None else NO_HASH, len(record.raw), flags,
            fold, record.participant, record.event, record.src, 0, None, NO_HASH, NO_HASH,
            NO_HASH, NO_HASH,
        )  # fmt: skip


_MAX_DOLLARS = 1e9


def _merge_rows(
    usual: RegularRows, columns: dict[str, Array], extracts: Extracts, places: NDArray[np.int64]
) -> tuple[dict[str, Array], Extracts]:
    """Merges the regular and irregular rows in line order, and their extracts."""
    # A stable sort keeps the order of messages from one line.
    order = np.argsort(np.concatenate((usual.places, places)), kind="stable") if len(places) else None
    joined: dict[str, Array] = {}
    for name in _ROW_COLUMNS:
        column = usual.columns.get(name)
        # Regular rows lack the columns that only irregular ones fill.
        if column is None:
            column = np.zeros(len(usual.places), BLOCK_COLUMNS[name])
        column = column.astype(BLOCK_COLUMNS[name], copy=False)
        joined[name] = column if order is None else np.concatenate((column, columns[name]))[order]
    if order is None:
        return joined, usual.extracts
    # The inverse of `order`: the new place of each old row.
    put = np.argsort(order).tolist()
    both = Extracts()
    both.add_extracts(usual.extracts, put[: len(usual.places)])
    both.add_extracts(extracts, put[len(usual.places) :])
    return joined, both


_JSON_CHARACTERS = re.compile(rb'[{\[,]\s*"|"\s*[:}\]]|^\s*\{|^\s*\[\s*$|^#')
"""Characters that occur in any line with a message, or a part of one."""
_MAX_TEXT_LINE = 1 << 14
_FLAGS = {
    Shape.RPC: Flag.RPC,
    Shape.CLIENT_HELLO: Flag.JOIN,
    Shape.ERROR: Flag.ERROR,
    Shape.STREAM: Flag.FRAME,
    Shape.LOG_ONLY: Flag.LOG_ONLY,
    Shape.GAP: Flag.GAP,
    Shape.UNREADABLE: Flag.UNREADABLE,
}
_SHAPE_FLAGS = tuple(int(_FLAGS.get(shape, 0)) for shape in Shape)
"""Flags by shape, which is a number."""
