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
from inspector.formats.table import NOISE_KINDS
from inspector.protocol import calls, kinds, line_structs, mcp_messages
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.mcp_notes import note_of
from inspector.protocol.payloads.stream_chunks import context_in
from inspector.protocol.record import Record, Shape, unreadable_record
from inspector.protocol.timestamps import NO_TIME
from inspector.reading.decoder import batches
from inspector.reading.decoder.fast_path import (
    BlockTables,
    DecodedRows,
    add_line_values,
    choose_reader,
    envelope_columns,
    extracts_of,
    merge_rows,
    outcome_flags,
)
from inspector.reading.decoder.line_splitter import SplitLines, runs_of, split_lines
from inspector.reading.decoder.normalize import IrregularEnvelopes, context_key, relevant_payload
from inspector.reading.decoder.record_values import (
    call_id_hash,
    capture_origin,
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
from inspector.store.columns.extracts import Decoded, Extracts, extract_records
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_bytes, hash_rpc_values, hash_text, hash_texts
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES

_HASH_COLUMNS = ("id_hash", "correlation_hash", "alias_hash")

_ENVELOPE, _RPC, _NOTHING = Shape.ENVELOPE, Shape.RPC, Shape.NO_MESSAGE
# Plain numbers, since IntFlag computes in Python.
_ERROR, _NO_ID, _CORRELATED, _SENT = (f.value for f in (Flag.ERROR, Flag.NO_ID, Flag.CORRELATED, Flag.SENT))
_DECLINED = Flag.DECLINED.value
_UNRECORDED = Flag.UNRECORDED.value
_OWN_SPAN = Flag.OWN_SPAN.value
_BY_PROGRAM = Flag.BY_PROGRAM.value
_DERIVED = Flag.DERIVED.value

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
    usual: DecodedRows | None
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
        self._extracts = Extracts()  # by row, as the following ones
        self._envelopes: dict[int, line_structs.Envelope] = {}
        self._odd = IrregularEnvelopes()  # by number of the envelope
        self._payloads: dict[int, calls.Payload] = {}  # of JSON-RPC
        self._exported: list[int] = []  # answers of self-contained exports
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
        parts: list[DecodedRows] = []
        unread: list[NDArray[np.int64]] = [np.empty(0, np.int64)]  # line numbers of the irregular lines' records
        for lines, offsets, part, others in runs:
            if part is not None:
                self._formats[part.label] += len(part.places)
                part.columns["offset"] = offsets[part.places]
                # Line numbers count within the block, not within the run.
                part.places += before
                parts.append(part)
            unread.append(self._read_irregular(lines, offsets, others.tolist(), before))
            before += len(lines)
        if self._records or not parts:
            parts.append(self._irregular_rows(np.concatenate(unread)))
        places, columns, extracts = merge_rows(parts)
        # Only transcripts have parts; other blocks save these columns.
        if not columns["part"].any():
            columns = {name: column for name, column in columns.items() if name not in TRANSCRIPT_COLUMNS}
        columns["source"] = np.full(len(columns["offset"]), self._source, BLOCK_COLUMNS["source"])
        opened = [
            OpenedConnection(int(np.searchsorted(places, place)), self._source, src) for place, src in self._opened
        ]
        return Block(
            columns, self._tables.strings, self._tables.to_sets, extracts, self._formats, self._origin, stop, opened,
            self._ended,
        )  # fmt: skip

    def _irregular_rows(self, places: NDArray[np.int64]) -> DecodedRows:
        """Returns the rows of lines that were read one by one, by the line number of each."""
        columns: dict[str, Array] = {}
        # The values lie row by row in one flat list, so a slice with a step is a column.
        for place, name in enumerate(_ROW_COLUMNS):
            values = self._values[place :: len(_ROW_COLUMNS)]
            if name in STRING_COLUMNS:
                columns[name] = self._tables.strings.intern_all(values, len(places))
            elif name == "to_set":
                columns[name] = self._tables.to_sets.intern_all(values)
            elif name in _HASH_COLUMNS:
                columns[name] = hash_texts(values)
            elif name == "rpc_hash":
                columns[name] = hash_rpc_values(values)
            else:
                columns[name] = np.fromiter(values, BLOCK_COLUMNS[name], len(places))
        rows = np.array([*self._envelopes], np.int64)
        if len(rows):
            self._add_envelopes(columns, rows)
        for row in self._exported:
            self._add_answered_call(columns, row)
        records, parts = self._records, columns["part"]
        others = np.delete(np.arange(len(places)), rows)
        decoded = Decoded(
            lambda n: written_message(records[others[n]], int(parts[others[n]])), lambda _: None, (), {},
            lambda n: self._payloads.get(int(others[n])),
        )  # fmt: skip
        found = extract_records(columns, others, self._tables.strings, decoded)
        self._extracts.add_extracts(found, others.tolist())
        return DecodedRows(None, places, columns, self._extracts)

    def _add_envelopes(self, columns: dict[str, Array], rows: NDArray[np.int64]) -> None:
        """Adds the columns and extracts of envelopes to the rows of their lines."""
        envelopes, strings = [*self._envelopes.values()], self._tables.strings
        found = envelope_columns(envelopes, self._odd, self._tables.heads.number_heads(envelopes), self._tables)
        found |= {name: columns[name][rows] for name in ("event", "participant", "time_ns")}
        for number in add_line_values(found, strings).tolist():
            payload = envelopes[number].payload
            if payload is not None and isinstance(payload.participantId, str):
                found["sender"][number] = strings.intern(payload.participantId)
        columns["flags"][rows] |= found.pop("flags")
        del found["space"]  # the line's is known
        for name, column in found.items():
            columns[name][rows] = column
        extracts = extracts_of(
            envelopes, self._odd, lambda n: self._records[rows[n]].raw, rows, columns, self._tables
        )  # fmt: skip
        self._extracts.add_extracts(extracts, rows.tolist())

    def _add_answered_call(self, columns: dict[str, Array], row: int) -> None:
        strings, names = self._tables.strings, ("kind", "method", "target")
        kind, method, target = (strings[code] if (code := columns[name][row]) else None for name in names)
        call = calls.Call(kind or "", method, target)
        columns["flags"][row] |= export_call_flags(self._records[row], call)
        for name in names:
            columns[name][row] = strings.intern(getattr(call, name))

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
        extracts, length, several = self._extracts, len(line), len(record.derived_messages) > 1
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
            if one.by_program:
                flags |= _BY_PROGRAM
            time_ns = one.time_ns if one.time_ns != NO_TIME else record.time_ns
            said = NO_HASH
            if identifier is not None:
                # Copies of a record in other files have the same hash; its number tells parts of
                # one record apart.
                said = hash_text(f"{identifier}\0{number}\0{time_ns}\0{one.kind}")
                said ^= hash_bytes(one.content) if one.content else 0
            if one.thread is not None:
                extracts.threads[row] = one.thread
                if one.thread.channel is not None:  # a message in several channels has no id of its own there
                    said = hash_bytes(one.content) ^ hash_text(f"{one.kind}\0{one.sender}")
                if one.thread.call is not None:
                    said = hash_text(f"call\0{one.thread.call}")
            if one.identity:
                # A mark identifies a record better than its content.
                said = hash_bytes(one.identity)
            if one.is_new:
                extracts.new[row] = hash_text(one.origin) if one.origin else NO_HASH
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
                extracts.api_calls[row] = one.call
            if one.took_ns >= 0:
                extracts.took[row] = one.took_ns
            if one.cost is not None and 0 <= one.cost < _MAX_DOLLARS:
                extracts.costs[row] = round(one.cost * 1e9), int(one.is_total)
            if one.history is not None:
                extracts.histories[row] = one.history
            if one.context_fill is not None:
                extracts.filled[row] = one.context_fill
            if one.spawn is not None:
                extracts.spawns[row] = one.spawn
            if one.chain is not None:
                extracts.chains[row] = one.chain
            if one.shared_text is not None:
                extracts.echoes[row] = hash_text(one.shared_text)
            # The exchange belongs to the line, so only its first message gets it.
            if record.exchange is not None and number == 0:
                extracts.exchanges[row] = record.exchange

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
            self._extracts.noise[len(self._records)] = noise_beginning(record, line)
        if record.shape is Shape.UNREADABLE and len(line) <= _MAX_TEXT_LINE and not _JSON_CHARACTERS.search(line):
            flags |= Flag.TEXT.value
        if record.exchange is not None:
            self._extracts.exchanges[len(self._records)] = record.exchange
        self._values += self._row(record, line, offset, flags)
        self._records.append(record)

    def _row(self, record: Record, line: bytes, offset: int, flags: int) -> _Row:
        header = record.header
        # Only a line that is the answer itself counts: traffic, a log or a capture has answers inside its own lines.
        if header is not None and header.response_context and len(record.raw) >= len(line.strip()):
            self._exported.append(len(self._records))
        if record.shape is _ENVELOPE and header is not None:
            return self._envelope(record, header, line, offset, flags)
        if record.shape is _RPC and header is not None:
            return self._rpc(record, header, line, offset, flags)
        if record.shape is Shape.CLIENT_HELLO and header is not None:
            announced = header.participantId if isinstance(header.participantId, str) else None
            return self._assemble(record, line, offset, flags, kinds.JOIN, sender=record.participant or announced)
        if record.shape is Shape.STREAM:
            context, _ = context_key(context_in(record.data or b""))
            return self._assemble(
                record, line, offset, flags, kinds.FRAME, context=context, stream=record.stream_id
            )  # fmt: skip
        if record.shape is Shape.UNREADABLE and header is not None:  # the envelope it copies is known
            sender = header.sender if isinstance(header.sender, str) else None
            fold = record_fold_hash(record, header) if isinstance(header.id, str) else NO_HASH
            return self._assemble(record, line, offset, flags, sender=sender, fold=fold)
        if record.name is not None:
            sender, to = sender_and_recipient(record)
            flags |= _ERROR if record.failed else 0
            return self._assemble(record, line, offset, flags, record.name, sender=sender, to=to)
        return self._assemble(record, line, offset, flags)

    def _envelope(self, record: Record, header: Header, line: bytes, offset: int, flags: int) -> _Row:
        """Returns the values of an envelope's line; `_add_envelopes` adds the rest."""
        envelope = self._odd.normalize(len(self._envelopes), header, relevant_payload(header))
        self._envelopes[len(self._records)] = envelope
        return self._assemble(
            record, line, offset, flags, None, fold=record_fold_hash(record, header),
            is_identified=envelope.id is not None,
        )  # fmt: skip

    def _rpc(self, record: Record, header: Header, line: bytes, offset: int, flags: int) -> _Row:
        payload = calls.payload_of_rpc(header)
        call = calls.read_call(kinds.REQUEST if payload.method is not None else kinds.RESPONSE, payload)
        self._payloads[len(self._records)] = payload
        sender, to = sender_and_recipient(record)
        self._note_mcp(header)
        fold = NO_HASH
        if record.event_id is not None:  # a resumed stream repeats lost events
            record.event, fold = REPLAYED, hash_text(record.event_id) ^ hash_bytes(record.raw)
        return self._assemble(
            record, line, offset, flags | outcome_flags(payload), call.kind, method=call.method, target=call.target,
            sender=sender, to=to, rpc_id=payload.id, fold=fold,
        )  # fmt: skip

    def _note_mcp(self, header: Header) -> None:
        """Records a message's MCP revision, request for input, and task."""
        # Decoding a note of a long message would take too long.
        if len(header.params) + len(header.result) <= MAX_WHOLE_BYTES and (note := note_of(header)) is not None:
            self._extracts.notes[len(self._records)] = note
        version = mcp_messages.version_in(header)
        if version is not None:
            self._extracts.versions[len(self._records)] = version
        state = mcp_messages.state_in(header)
        if state is not None:
            self._extracts.states[len(self._records)] = hash_text(state) or 1
        task = mcp_messages.task_in(header)
        if task is not None:
            self._extracts.tasks[len(self._records)] = task

    def _assemble(
        self, record: Record, line: bytes, offset: int, flags: int, kind: str | None = "", *,
        method: str | None = None, target: str | None = None, sender: str | None = None,
        to: tuple[str, ...] | None = None, context: str | None = None, stream: str | None = None,
        rpc_id: object = None, fold: int = NO_HASH, is_identified: bool = False,
    ) -> _Row:  # fmt: skip
        """Returns one row, in the order of _ROW_COLUMNS."""
        return (
            offset, len(line), record.time_ns, NO_TIME, kind, None, sender, to, context, method, target, record.space,
            None, record.direction, stream, None, None, rpc_id,
            hash_bytes(record.raw) if fold or is_identified else NO_HASH, len(record.raw), flags, fold,
            record.participant, record.event, record.src, 0, None, NO_HASH, NO_HASH, NO_HASH, NO_HASH,
        )  # fmt: skip


_MAX_DOLLARS = 1e9
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
