"""Random access to records: reads lines again, masks split secrets, decodes envelopes, payloads and ids.

Views and searches read messages again on demand; the last few stay in a cache.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, Protocol

from inspector.formats import table
from inspector.formats.guards import reading_again
from inspector.formats.line_reading import payload_of as payload_of_part
from inspector.formats.line_reading import read_line
from inspector.protocol.context_places import find_context
from inspector.protocol.correlation_ids import correlation_ids_of
from inspector.protocol.derived_messages import envelope_bytes
from inspector.protocol.header import ABSENT, json_or_none, read_header
from inspector.protocol.message_text import compact_json
from inspector.protocol.object_contexts import context_and_parents
from inspector.protocol.record import Record, Shape, unreadable_record
from inspector.protocol.secrets.streamed_pieces import may_hold_pieces
from inspector.protocol.timestamps import NO_TIME, format_time
from inspector.protocol.truncated_json import complete_json
from inspector.store.columns.block import NO_MESSAGE
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.extracts import SELF_PAYLOAD_FLAGS, DecodedRecord, Extracts, payload_of
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_text
from inspector.store.columns.intern_table import InternTable
from inspector.store.columns.large_headers import HEAD_BYTES, MAX_WHOLE_BYTES, ExpectedHeader, read_head
from inspector.store.columns.message_ids import MessageIds
from inspector.store.columns.name_sets import NameSets
from inspector.store.files import long_lines
from inspector.store.files.prefetch import DecodedFields, PrefetchReader
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.transcripts import Transcripts

_CACHED_RECORDS = 512
_CACHED_BYTES = 1 << 25


class LineMasks(Protocol):
    """Finds replacements of lines with a part of a secret that other lines continue."""

    def find_line(self, message: int) -> bytes | None:
        """Returns the line to show in place of a message's own, if that holds a piece of a secret."""
        ...

    def invalidate(self, message: int) -> None:
        """Invalidates the cache of a message with a rewritten line."""
        ...


_MANY_MESSAGES = 8
"""A line with more messages is kept for the next of them; most lines of transcripts have one to three."""


class Records:
    """Reads the records of a capture's messages.

    Parts of secrets that other lines continue are masked, except in `read_line_of` and within `unmasked`.

    Attributes:
        decoded_fields: messages decoded in batches by `inspector.store.messages.batch_decoding`.
        masks: finds lines without parts of secrets. Without it, every line is read unchanged.

    Args:
        columns: of the messages.
        sources: their files.
        strings, to_sets: values of ids in the columns.
        ids: index of message ids.
        transcripts: sub-agents, which records of transcripts do not name.
        unchecked: extracts of new messages, used in place of another read.
    """

    def __init__(
        self, columns: GrowingColumns, sources: Sequence[SourceFile], strings: InternTable[str], to_sets: NameSets,
        *, ids: MessageIds, transcripts: Transcripts, unchecked: Extracts,
    ) -> None:  # fmt: skip
        self._columns, self._sources, self._strings, self._to_sets = columns, sources, strings, to_sets
        self._ids, self._transcripts, self._unchecked = ids, transcripts, unchecked
        self._cache: OrderedDict[int, Record] = OrderedDict()
        self._cached_bytes = 0
        self._prefetch_reader: PrefetchReader | None = None
        self.decoded_fields: dict[int, DecodedFields | None] = {}
        self.masks: LineMasks | None = None
        self._unmasked = 0
        self._last_line: tuple[str | None, bytes] = (None, b"")
        self._last_record = unreadable_record(b"", NO_MESSAGE)
        self._shown: OrderedDict[int, tuple[bytes, Record]] = OrderedDict()
        self._with_pieces: set[int] = set()

    def _string(self, column: str, message: int) -> str | None:
        found = int(self._columns[column][message])
        return self._strings[found] if found else None

    def read_line_of(self, message: int) -> bytes:
        """Returns the exact line of the message; of an overlong one its head."""
        columns = self._columns
        source = self._sources[int(columns["source"][message])]
        offset, length = int(columns["offset"][message]), int(columns["length"][message])
        if length > long_lines.MAX_LINE_BYTES:
            return source.read(offset, long_lines.SHOWN_HEAD_BYTES)
        return (
            source.read(offset, length)
            if self._prefetch_reader is None
            else self._prefetch_reader.read(source, offset, length)
        )

    @contextmanager
    def prefetch(self, start: int, stop: int) -> Generator[None]:
        """Prefetches the lines of messages `start` to `stop` for sparse reads within the context."""
        if start < stop:
            first, last = (int(self._columns["offset"][message]) for message in (start, stop - 1))
            source = self._sources[int(self._columns["source"][stop - 1])]
            self._prefetch_reader = PrefetchReader(source, first, last + int(self._columns["length"][stop - 1]))
        try:
            yield
        finally:
            self._prefetch_reader = None

    def is_big(self, message: int) -> bool:
        """Returns True for a line above 1 MB, which is read by its head (`store.columns.large_headers`)."""
        return int(self._columns["length"][message]) > MAX_WHOLE_BYTES

    def is_overlong(self, message: int) -> bool:
        """Returns True for a line that is never read whole (`reading.decoder.overlong_lines`)."""
        return int(self._columns["length"][message]) > long_lines.MAX_LINE_BYTES

    def read_record(self, message: int) -> Record:
        """Returns the message's record, from the cache or its file; `raw` of a big one ends early."""
        found = self._cache.get(message)
        if found is not None:
            self._cache.move_to_end(message)
            return self._without_pieces(message, found)
        if self.is_big(message):
            found = self._read_head(message)
        else:
            line = self.read_line_of(message)
            found = self._read_logged(message, line)
            if may_hold_pieces(line) or self._has_flags(message, Flag.FRAME.value):
                self._with_pieces.add(message)
        self._cache[message] = found
        self._cached_bytes += len(found.raw)
        # By bytes as well as count: some records have megabytes.
        while len(self._cache) > _CACHED_RECORDS or (self._cached_bytes > _CACHED_BYTES and len(self._cache) > 1):
            oldest, record = self._cache.popitem(last=False)
            self._cached_bytes -= len(record.raw)
            self._with_pieces.discard(oldest)
        return self._without_pieces(message, found)

    def _without_pieces(self, message: int, record: Record) -> Record:
        """Returns the record of the line to show in place of a message's own."""
        if self.masks is None or self._unmasked or message not in self._with_pieces:
            return record
        line = self.masks.find_line(message)
        if line is None:
            return record
        kept = self._shown.get(message)
        if kept is None or kept[0] != line:
            kept = self._shown[message] = line, self._read_record(message, line)
            if len(self._shown) > _CACHED_RECORDS:
                self._shown.popitem(last=False)
        return kept[1]

    @contextmanager
    def unmasked(self, *, if_: bool = True) -> Generator[None]:
        """Turns off masking within a block whose results are not shown. No other code may run meanwhile.

        Args:
            if_: False leaves masking as it is.
        """
        self._unmasked += if_
        try:
            yield
        finally:
            self._unmasked -= if_

    def _chosen_format(self, message: int) -> str | None:
        """Returns the chosen format of the message's source."""
        return self._sources[int(self._columns["source"][message])].chosen_format

    def _known_facts(self, message: int) -> Mapping[str, Any] | None:
        """Returns facts about the message's line from earlier lines."""
        columns = self._columns
        source = self._sources[int(columns["source"][message])]
        return source.known_facts(int(columns["offset"][message]), int(columns["length"][message]))

    def _read_logged(self, message: int, line: bytes) -> Record:
        if len(line) < int(self._columns["length"][message]):
            return unreadable_record(line, "its file has become shorter since it was opened")
        return self._read_record(message, line)

    def _read_record(self, message: int, line: bytes) -> Record:
        if self._has_flags(message, Flag.DERIVED.value):
            with reading_again():
                return self._derived_envelope(message, self._derived_record(message, line))
        record = read_line(line, self._chosen_format(message), self._known_facts(message))
        if record.shape is Shape.NO_MESSAGE:  # such a line has a message only within a batch
            return unreadable_record(line, NO_MESSAGE)
        if record.time_ns == NO_TIME and self._columns["time_ns"][message] != self._columns["ts_ns"][message]:
            # In a batch, its line has time and direction, and is not read again.
            record.time_ns = int(self._columns["time_ns"][message])
            record.direction = self._string("direction", message)
        return record

    def _derived_record(self, message: int, line: bytes) -> Record:
        """Returns the transcript's record of a line, of the last line with many messages without reading it again."""
        chosen, known = self._chosen_format(message), self._known_facts(message)
        if known is None and self._last_line == (chosen, line):
            return self._last_record
        record = read_line(line, chosen, known)
        # Messages are mostly asked for in sequence, and each would read the whole line.
        if known is None and len(record.derived_messages) > _MANY_MESSAGES:
            self._last_line, self._last_record = (chosen, line), record
        return record

    def _derived_envelope(self, message: int, record: Record, head: bytes | None = None) -> Record:
        """Returns the envelope derived from a transcript's record, with the values of the columns.

        Args:
            message: its index.
            record: the transcript's.
            head: the decoded part of a big record.
        """
        part = int(self._columns["part"][message])
        if part > len(record.derived_messages):
            label = self._string("protocol", message)
            if label not in table.FORMAT_TITLES:
                return unreadable_record(record.raw, f"no longer read by the added format {label}")
            # The file was rewritten in place.
            return unreadable_record(record.raw, "its line was written anew since it was opened")
        meaning = copy(record.derived_messages[part - 1])  # the record may be asked for another message
        meaning.kind = self._string("kind_raw", message) or meaning.kind
        meaning.sender = self._string("sender", message)
        meaning.to = self._to_sets[int(self._columns["to_set"][message])]
        meaning.context = self._string("context", message)
        named = int(self._ids.text_hashes("correlation_hash", [message])[0])
        # The call of a sub-agent's prompt is found in other records, so only the column has it.
        if named != NO_HASH and (meaning.correlation is None or hash_text(meaning.correlation) != named):
            agent = self._transcripts.agents.get(meaning.context or "")
            meaning.correlation = agent.call if agent is not None else meaning.correlation
        time_ns = int(self._columns["ts_ns"][message])
        ts = format_time(time_ns) if time_ns != NO_TIME else None
        if head is not None:
            record.raw = head
        raw = envelope_bytes(meaning, payload_of_part(record, part - 1), ts=ts)
        space = self._string("space", message)
        return Record(Shape.ENVELOPE, raw, read_header(raw), time_ns=time_ns, space=space, derived_by=record.derived_by)

    def invalidate(self, message: int) -> None:
        """Invalidates the cache of a message with a rewritten line."""
        self.decoded_fields.pop(message, None)
        self._with_pieces.discard(message)
        if self.masks is not None:
            self.masks.invalidate(message)
        found = self._cache.pop(message, None)
        self._cached_bytes -= len(found.raw) if found is not None else 0

    def _read_head(self, message: int) -> Record:
        columns = self._columns
        if self._has_flags(message, Flag.DERIVED.value):
            return self._derived_head(message)
        hashes = (int(self._ids.text_hashes(name, [message])[0]) for name in ("id_hash", "correlation_hash"))
        noted = ExpectedHeader(int(columns["length"][message]), Flag(int(self._columns["flags"][message])), *hashes)
        return read_head(lambda start, length: self.line_part(message, start, length), noted)

    def _derived_head(self, message: int) -> Record:
        """Returns the envelope derived from a big transcript record, with its payload as far as the head goes."""
        head, known = complete_json(self.line_part(message, 0, HEAD_BYTES)) or b"{}", self._known_facts(message)
        with reading_again():
            record, part = read_line(head, self._chosen_format(message), known), int(self._columns["part"][message])
            if part > len(record.derived_messages):  # its distinguishing key follows a long value
                record = read_line(self.read_line_of(message), self._chosen_format(message), known)
            return self._derived_envelope(message, record, head)

    def line_part(self, message: int, start: int, length: int) -> bytes:
        """Returns bytes of the message's line, fewer at its end; reads no other part of it."""
        columns = self._columns
        source = self._sources[int(columns["source"][message])]
        length = min(length, int(columns["length"][message]) - start)
        return source.read(int(columns["offset"][message]) + start, length) if length > 0 else b""

    def envelope_bytes(self, message: int) -> bytes:
        """Returns the envelope, JSON-RPC message or frame as written, without the log line around it.

        A big message takes time, and its size in memory.
        """
        whole = self.is_big(message) and not self._has_flags(message, Flag.DERIVED.value)
        return (self._read_logged(message, self.read_line_of(message)) if whole else self.read_record(message)).raw

    def envelope(self, message: int) -> Any:
        """Returns the decoded envelope or JSON-RPC message, of a big one its head; None without JSON."""
        record = self.read_record(message)
        if record.shape in (Shape.UNREADABLE, Shape.STREAM):
            return None
        return json_or_none(record.raw)

    def payload(self, message: int) -> dict[str, Any]:
        """Returns the payload as a dict; JSON-RPC is its own payload; empty if there is none."""
        whole = self.decoded_fields.get(message)
        if whole is not None:
            return whole.payload
        return payload_of(self.envelope(message), own=self._has_flags(message, SELF_PAYLOAD_FLAGS))

    def derived_payload(self, message: int) -> dict[str, Any] | None:
        """Returns the payload of a transcript's message by its format alone; None if that needs more than its line.

        In a quarter of the time of `payload`, which derives all messages of the line and encodes the envelope.
        """
        columns = self._columns
        label = self._string("protocol", message)
        if not self._has_flags(message, Flag.DERIVED.value) or label is None or self.is_big(message):
            return None
        part = int(columns["part"][message])
        # A record with many messages is read once for all of them.
        if part > _MANY_MESSAGES or self._chosen_format(message) is not None or self._known_facts(message) is not None:
            return None
        line = self.read_line_of(message)
        if len(line) < int(columns["length"][message]) or may_hold_pieces(line):
            return None
        # Empty for a wrapped line.
        return payload_of_part(Record(Shape.DERIVED, line, derived_by=label), part - 1) or None

    def quick_payload(self, message: int) -> dict[str, Any]:
        """Returns the payload, of a transcript's message without its envelope; for callers that read many."""
        found = self.derived_payload(message)
        return self.payload(message) if found is None else found

    def frame_data(self, message: int) -> bytes:
        """Returns the data of a frame; empty for other messages."""
        whole = self.decoded_fields.get(message) if self._unmasked or self.masks is None else None
        return whole.data if whole is not None else self.read_record(message).data or b""

    def decoded_record(self, message: int) -> DecodedRecord:
        """Returns the data that passes read of a message: from the extracts if it is new, else by another read."""
        found = self._unchecked.records.get(message)
        if found is None:
            return DecodedRecord(self.envelope_id(message), self.payload(message))
        return found if found.identifier is not None else found._replace(identifier=self._replacement_id(message))

    def contexts_in(self, message: int) -> tuple[dict[str, Any], ...]:
        """Returns the context objects of a message, its own and the embedded parents; empty for other forms."""
        found = self._unchecked.contexts.get(message)
        if found is not None:
            return found
        header = self.read_record(message).header
        context = find_context(header)[0] if header is not None else None
        return context_and_parents(context) if isinstance(context, dict) else ()

    def reason(self, message: int) -> str | None:
        """Returns the reason why the message is unreadable, or the reason of its gap."""
        return self.read_record(message).reason

    def envelope_id(self, message: int) -> str | None:
        """Returns the envelope's id, `local-N` for a missing one, or None without an envelope."""
        if self._has_flags(message, Flag.NO_ID.value):
            return self._replacement_id(message)
        # Decoded in advance by a pass over many messages.
        whole = self.decoded_fields.get(message)
        if whole is not None:
            return whole.identifier
        record = self.read_record(message)
        if record.shape is not Shape.ENVELOPE or record.header is None or record.header.id is ABSENT:
            return None
        identifier = record.header.id
        return identifier if isinstance(identifier, str) else compact_json(identifier)

    def _replacement_id(self, message: int) -> str | None:
        return f"local-{message + 1}" if self._has_flags(message, Flag.NO_ID.value) else None

    def correlation_ids(self, message: int) -> list[str]:
        """Returns the ids in `correlation_id`, as written."""
        if not self._has_flags(message, Flag.CORRELATED.value):
            return []
        whole = self.decoded_fields.get(message)
        if whole is not None and whole.correlation is not None:
            return whole.correlation
        fresh = self._unchecked.records.get(message)
        written = fresh.correlation if fresh is not None else None
        only = written[0] if isinstance(written, list) and len(written) == 1 else written
        # The hash proves that the remembered id is the message's own.
        if isinstance(only, str) and int(self._ids.text_hashes("correlation_hash", [message])[0]) == hash_text(only):
            return [only]
        header = self.read_record(message).header
        return correlation_ids_of(header) if header is not None else []

    def find_id(self, identifier: str) -> list[int]:
        """Returns every message with this envelope id in any space, ascending; verified against the records."""
        rows = self._ids.rows_anywhere(identifier)
        return [row for row in rows if self.envelope_id(row) == identifier or self._is_record(row, identifier)]

    def _is_record(self, message: int, identifier: str) -> bool:
        """Returns True if the message ends a transcript's record of that id."""
        if not self._has_flags(message, Flag.DERIVED.value):
            return False
        if self.is_big(message):  # its hash is sufficient; reading 60 MB would not add certainty
            return True
        means = read_line(
            self.read_line_of(message), self._chosen_format(message), self._known_facts(message)
        ).derived_messages
        part = int(self._columns["part"][message])
        return part <= len(means) and means[part - 1].record_id == identifier

    def _has_flags(self, message: int, bits: int) -> bool:
        """Returns True if it has any of these flags; plain ints, since IntFlag computes in Python."""
        return bool(int(self._columns["flags"][message]) & bits)
