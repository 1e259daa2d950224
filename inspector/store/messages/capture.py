"""Capture: all messages of a document as columns; folds copies and merges sources.

Folding (docs/protocols.md 11, RULE): a `received` line starts a message. A `delivered` or `rejected` line joins the
latest message with the same (space, id, from, ts, kind), or starts one. An envelope without an id never folds. A
message is always read from its first record; later copies only add deliveries. Echoes of sent messages are copies as
well (`sent_echoes`). `records` reads the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.formats.line_reading import read_line
from inspector.formats.table import HISTORY_REPEATING, INBOUND_EVENTS, MODEL_WIRES
from inspector.protocol import kinds
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.block import JOINING_EVENTS, STRING_COLUMNS, Block
from inspector.store.columns.columns import (
    MESSAGE_COLUMNS,
    SIGHTING_COLUMNS,
    Array,
    GrowingColumns,
    message_columns,
)
from inspector.store.columns.connections import ConnectionNumbers
from inspector.store.columns.deliveries import Deliveries
from inspector.store.columns.extracted_columns import ExtractedColumns
from inspector.store.columns.extracts import MAX_NAMED_IDS
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_text
from inspector.store.columns.intern_table import InternTable
from inspector.store.columns.message_ids import MessageIds
from inspector.store.columns.name_sets import NameSets
from inspector.store.columns.sparse_columns import SparseColumns
from inspector.store.columns.stored_names import stored_name, stored_names
from inspector.store.files.source_files import SourceFile, space_of_origin
from inspector.store.messages.duplicates import ClassifiedRecords, DuplicateFinder, MessageSources
from inspector.store.messages.gateway_copies import GatewayCopies
from inspector.store.messages.http_conversations import HttpConversations
from inspector.store.messages.records import Records
from inspector.store.messages.rpc_classification import RpcClassifier
from inspector.store.messages.sent_echoes import SentEchoes
from inspector.store.messages.session_wire_copies import NewMessages, SessionWireCopies
from inspector.store.messages.transcripts import AgentNews, Transcripts

_MANY, _CORRELATED = Flag.MANY_CORRELATIONS.value, Flag.CORRELATED.value


_SAME_REPRESENTATION, _OTHER_SOURCE = 1, 2
"""Kinds of copies: within one source or wire, and from another source."""


@dataclass(frozen=True, slots=True)
class AppendResult:
    """Result of an append: messages `start` to `stop` are new; `touched` are earlier ones with a new delivery."""

    start: int
    stop: int
    touched: NDArray[np.int64]


def _narrow_content_hash(hashes: Array) -> NDArray[np.uint32]:
    """Returns hashes in the width of the column `content_hash`."""
    return hashes.astype(np.uint32)


# Odd, so that different messages get different numbers.
_HASH_MULTIPLIER = 0x9E3779B97F4A7C15


def _row_hash(message: Any) -> Any:
    """Returns a hash-like number for a message, or for each of several."""
    if isinstance(message, np.ndarray):
        return (message + np.uint64(1)) * np.uint64(_HASH_MULTIPLIER)
    return (message + 1) * _HASH_MULTIPLIER & 0xFFFF_FFFF_FFFF_FFFF


def _have_earlier_fold(folds: Array, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns (places,) True for records that share the fold of an earlier record outside `places`."""
    others = np.isin(folds, folds[places])
    others[places] = False
    known, first = np.unique(folds[others], return_index=True)
    if not len(known):
        return np.zeros(len(places), np.bool_)
    at = np.minimum(np.searchsorted(known, folds[places]), len(known) - 1)
    return (known[at] == folds[places]) & (np.flatnonzero(others)[first[at]] < places)


def _with_other_logged_sender(block: Block, records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the records with a logged sender other than the envelope's."""
    inbound = [code for code in map(block.strings.find, INBOUND_EVENTS) if code is not None]
    if not inbound:
        return np.empty(0, np.int64)
    logged, said = block.columns["participant"][records], block.columns["sender"][records]
    places = np.flatnonzero((logged != said) & (logged != 0) & (said != 0))
    return places[np.isin(block.columns["event"][records[places]], inbound)]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A record of a message that another source has as well."""

    source: int
    offset: int
    length: int
    time_ns: int
    """In the document's clock."""
    has_other_bytes: bool
    """Its bytes differ from the record that the message is read from."""


class Capture:
    """Messages as columns, in arrival order.

    Attributes:
        strings: values of the string ids in the columns; id 0 is absent.
        to_sets: tuples of recipients by id; id 0 is empty.
        columns: arrays of MESSAGE_COLUMNS, one value per message.
        ids: finds messages by their ids.
        deliveries: arrays of DELIVERY_COLUMNS, in log order.
        extracted: message data for passes and checks beside the columns.
        records: reads messages again from their files.
        transcripts: sub-agents and copies in transcripts.
        seen_by: sources of each message; None if sources share no messages.
        sightings: arrays of SIGHTING_COLUMNS: records of messages that another source has as well.
        sources: the files of the records.
        impersonations: `message` and `participant` (string id) of messages with a sender other than the logged one.
        unreadable_count: number of unreadable messages.
        failed_count: number of messages with a failure, as the field `error` counts them, without copies.
    """

    def __init__(self) -> None:
        self.strings: InternTable[str] = InternTable("")
        self.to_sets = NameSets(self.strings)
        self.columns = message_columns()
        self.deliveries = Deliveries(self.strings)
        self.sources: list[SourceFile] = []
        self.impersonations = GrowingColumns({"message": np.uint32, "participant": np.uint32})
        self.ids = MessageIds(self.columns, self.strings)
        self._connections = ConnectionNumbers()
        self._record_count = 0
        self._records_of: dict[int, int] = {}
        self.unreadable_count = self.failed_count = 0
        self._folds = HashIndex()
        self._duplicates: DuplicateFinder | None = None
        self.sightings = GrowingColumns(SIGHTING_COLUMNS)
        self._sighted_by = HashIndex()
        self.seen_by: MessageSources | None = None
        self._late_impostors = False
        self._sent_echoes = SentEchoes(self._payload_at)
        self._gateway_copies = GatewayCopies()
        self.transcripts = Transcripts()
        self.shown_name = self.transcripts.shown_name
        self._conversations = HttpConversations()
        self._repeats = SparseColumns(of=np.uint32, is_copy=np.uint8)
        self._session_wire_copies = SessionWireCopies()
        self._agent_news: list[AgentNews] = []
        self.extracted = ExtractedColumns(self.strings.intern)
        self.foreign_rpc = RpcClassifier(self.columns, self.strings, self.extracted.mcp_notes)
        self.records = Records(
            self.columns, self.sources, self.strings, self.to_sets,
            ids=self.ids, transcripts=self.transcripts, unchecked=self.extracted.unchecked,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def record_count(self) -> int:
        """Records read, with folded records and lines replaced by reassembly."""
        return self._record_count + sum(
            one.derived_lines.replaced_count for one in self.sources if one.derived_lines is not None
        )

    # Filling

    def add_source(self, source: SourceFile) -> int:
        """Adds a file and returns its number."""
        self.sources.append(source)
        self.transcripts.add_source(source.path)
        return len(self.sources) - 1

    def merge_across_sources(self) -> None:
        """Enables merging of copies across sources. Call before the first append."""
        self._duplicates, self.seen_by = DuplicateFinder(), MessageSources()

    def append(self, block: Block) -> AppendResult:
        """Appends a block's records. Runs on the loop's thread; O(records in the block)."""
        start = len(self)
        self._note_source(block)
        count = len(block)
        self._count_records(block)
        # Each step completes columns for the next: exchanges number connections, and transcripts
        # set workspaces.
        self._conversations.resolve_block(block)
        connections = self._connections.number_block(block)
        derived = bool(block.columns["part"].any())
        if derived:
            self.transcripts.resolve_block(block)
        # A block without records may still announce an ended source.
        if not count:
            return AppendResult(start, start, np.empty(0, np.int64))
        self._sent_echoes.fold_echoes(block)
        joining = self._is_copy_mask(block)
        # Interned once per block; the columns then change by one numpy lookup.
        ids = self.strings.intern_all(stored_names(block.strings[1:]), len(block.strings))
        self._fold_gateway_copies(block, joining, ids)
        seen = self._duplicates.fold_block(block, joining, self._folds) if self._duplicates is not None else None
        message_of, starts = self._fold(block.columns["fold"], joining if seen is None else seen.joining, start)
        columns = self._message_columns(block, starts, ids)
        columns["connection"] = connections[starts]
        folding = block.columns["fold"][starts]
        # Only a message that may have copies needs its content hash.
        columns["content_hash"] = _narrow_content_hash(np.where(folding != NO_HASH, columns["content_hash"], NO_HASH))
        messages = np.full(len(block), NO_ROW)
        messages[starts] = np.arange(start, start + len(starts))
        self.extracted.append_extracts(block.extracts, messages.tolist())
        if derived:  # ids of transcripts are copied between sessions
            self.ids.share_spaces(np.unique(columns["space"][columns["part"] != 0]).tolist())
        # Equal ids in different workspaces are different ids.
        self.ids.salt_columns(columns)
        self.columns.append(columns, len(starts))
        if self.seen_by is not None:
            self.seen_by.append(columns["source"].astype(np.int64))
        self._note_impostors(block, starts, start, ids)
        self.foreign_rpc.classify_messages(start, len(self))
        self.unreadable_count += int(np.count_nonzero(columns["flags"] & np.uint32(Flag.UNREADABLE)))
        rows = np.arange(start, len(self), dtype=np.uint32)
        failed = columns["flags"] & np.uint32(Flag.ERROR) != 0
        if derived:
            self._note_repeats(block, starts, start)
            # Repeated failures in copied history are not counted again.
            failed &= ~self.repeated_messages(rows.astype(np.int64))[1]
            ids_given = np.where(self.are_resent(rows.astype(np.int64)), NO_HASH, columns["id_hash"])
            self.ids.index_messages(ids_given, rows, block.columns["alias_hash"][starts])
        else:
            self.ids.add(columns["id_hash"], rows)
        self.failed_count += int(np.count_nonzero(failed))
        if folding.any():
            self._folds.add(folding, rows)
        touched = self._record_deliveries(block, np.flatnonzero(joining), message_of, ids)
        if seen is not None:
            touched = np.concatenate((touched, self._note_sightings(block, seen, message_of, starts, ids)))
        # The views redraw these earlier messages, since a delivery or copy has changed them.
        return AppendResult(start, len(self), np.unique(touched[touched < start]))

    def _count_records(self, block: Block) -> None:
        """Counts a block's records; one record may contain several messages."""
        sources = block.columns["source"][block.columns["part"] <= 1]
        self._record_count += len(sources)
        for source, count in enumerate(np.bincount(sources).tolist() if len(sources) else ()):
            if count:
                self._records_of[source] = self._records_of.get(source, 0) + count

    def _note_repeats(self, block: Block, starts: NDArray[np.int64], start: int) -> None:
        """Records repeated messages of transcripts, and their news of sub-agents."""
        rows = np.arange(start, start + len(starts))
        new = block.extracts.new
        origins = np.array([new.get(place, NO_HASH) for place in starts.tolist()] if new else [], np.uint64)
        copied = self.transcripts.find_originals(
            block.columns["said"][starts], rows, np.isin(starts, list(new)), origins
        )  # fmt: skip
        found = {int(row): (int(copied[row - start]), _SAME_REPRESENTATION) for row in rows[copied != NO_ROW].tolist()}
        several = len(self.sources) > 1
        # A single file without wire traffic has no second representation to compare.
        if several or self.are_on_wire(rows).any():
            told, words, given = (
                np.where(copied == NO_ROW, block.columns[name][starts], NO_HASH) for name in ("told", "words", "given")
            )
            # Equal words in one file are two utterances, never copies.
            words = words if several else np.full(len(words), NO_HASH, np.uint64)
            answering = self.strings.find(kinds.RESPONSE) or -1
            are_results = self.columns["kind"][start:] == answering
            found |= self._copies_of_other_sources(
                NewMessages(rows, told, are_results, words, np.isin(starts, list(new)), given)
            )
        messages = np.full(len(block), NO_ROW)
        messages[starts] = rows
        failed = self.columns["flags"][start:] & np.uint32(Flag.ERROR) != 0
        for place, echo in sorted(block.extracts.echoes.items()):
            row = int(messages[place])
            if row == NO_ROW or row in found:
                continue
            before = self.transcripts.previous_with_text(echo, row)
            if before != NO_ROW and not failed[row - start]:  # a failure has more information than the text it repeats
                found[row] = before, 0
        self._repeats.append(found)
        for news in self.transcripts.take_news(messages, self.columns["space"]):
            above = None if news.parent is None else stored_name(news.parent)
            self._agent_news.append(replace(news, context=stored_name(news.context), parent=above))

    def _copies_of_other_sources(self, new_messages: NewMessages) -> dict[int, tuple[int, int]]:
        """Returns the earlier message of another source, by message."""
        columns = {name: self.columns[name] for name in ("time_ns", "source", "space", "protocol", "target")}
        found = self._session_wire_copies.find_originals(new_messages, columns, self._wire_formats(), self.strings)
        return {
            int(row): (int(of), _OTHER_SOURCE) for row, of in zip(new_messages.rows, found, strict=True) if of != NO_ROW
        }

    def _wire_formats(self) -> list[int]:
        """Returns the string ids of wire recording formats."""
        return [code for label in MODEL_WIRES if (code := self.strings.find(label))]

    def are_on_wire(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns (n,) True for messages from a recording of a model's wire."""
        return np.isin(self.columns["protocol"][rows], self._wire_formats())

    def clear_errors(self, rows: NDArray[np.int64]) -> None:
        """Removes the error flag, so that these messages do not count as failures."""
        flags = self.columns["flags"][rows]
        self.failed_count -= int(np.count_nonzero(flags & np.uint32(Flag.ERROR) != 0))
        self.columns.replace("flags", rows, flags & np.uint32(~Flag.ERROR.value & 0xFFFFFFFF))

    def take_agent_news(self) -> list[AgentNews]:
        """Returns and clears the news of sub-agents since the last call, in message order."""
        found, self._agent_news = self._agent_news, []
        return found

    def repeated_messages(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Returns (n,) the repeated message, or NO_ROW; and (n,) True if it is a copy.

        A copy is the same message again, as in the file of a resumed session. Other repeats have the same text, as the
        result of a call that a sub-agent answered.
        """
        named = self._repeats.has_values(rows)
        of = self._repeats.values_of("of", rows).astype(np.int64)
        # the original may itself be a copy of another source's message
        elsewhere = self._repeats.values_of("is_copy", of) == _OTHER_SOURCE
        of = np.where(elsewhere, self._repeats.values_of("of", of).astype(np.int64), of)
        return np.where(named, of, NO_ROW), named & (self._repeats.values_of("is_copy", rows) != 0)

    def repeated_within_representation(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Returns the same as `repeats`, restricted to copies within one representation (session or wire)."""
        copies = self._repeats.values_of("is_copy", rows) == _SAME_REPRESENTATION
        return np.where(copies, self._repeats.values_of("of", rows).astype(np.int64), NO_ROW), copies

    def copies_of(self, message: int) -> NDArray[np.int64]:
        """Returns (n,) the later copies of a message, ascending. O(copies in the capture)."""
        of, is_copy = self._repeats["of"], self._repeats["is_copy"]
        elsewhere = self._repeats.messages[(of == message) & (is_copy == _OTHER_SOURCE)]
        copies = ((of == message) | np.isin(of, elsewhere)) & (is_copy != 0)
        return self._repeats.messages[copies].astype(np.int64)

    def are_resent(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns (n,) True for messages known from an earlier model request or another source.

        They have no effects.
        """
        columns = self.columns
        repeating = [code for label in HISTORY_REPEATING if (code := self.strings.find(label))]
        of_calls = np.isin(columns["protocol"][rows], repeating) & (columns["part"][rows] > 1)
        elsewhere = self._repeats.values_of("is_copy", rows) == _OTHER_SOURCE
        return elsewhere | (of_calls & self.repeated_messages(rows)[1]) if of_calls.any() else elsewhere

    def are_derived(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns (n,) True for messages derived from transcript records."""
        return self.columns["part"][rows] != 0

    def records_by_source(self) -> list[int]:
        """Returns the number of records per source, with folded ones."""
        return [
            self._records_of.get(number, 0)
            + (source.derived_lines.replaced_count if source.derived_lines is not None else 0)
            for number, source in enumerate(self.sources)
        ]

    @property
    def has_copies(self) -> bool:
        """True if any message is repeated."""
        return bool(len(self._repeats.messages))

    @property
    def ended_connections(self) -> list[tuple[int, int]]:
        """(source, `connection`) of reopened connections, in order; it grows."""
        return self._connections.ended

    def connection_generation(self, source: int, connection: int) -> int:
        """Returns the number of earlier openings of a connection's pipe."""
        return self._connections.generations.get((source, connection), 0)

    def _payload_at(self, source: int, offset: int, length: int) -> Any:
        """Returns the payload of the envelope in a line; a unique object if it is unreadable.

        The line need not be a message yet.
        """
        record = read_line(self.sources[source].read(offset, length))
        try:
            envelope = decode_json(record.raw)
        except NotAnObjectError:
            return object()
        return envelope.get("payload") if isinstance(envelope, dict) else None

    def _note_source(self, block: Block) -> None:
        self.sources[int(block.columns["source"][0]) if len(block) else -1].update_from_block(block)

    def _note_impostors(self, block: Block, starts: NDArray[np.int64], start: int, ids: NDArray[np.uint32]) -> None:
        """Records messages with a logged sender other than the envelope's (docs/protocols.md 2, Spoofing)."""
        places = _with_other_logged_sender(block, starts)
        found = {"message": places + start, "participant": ids[block.columns["participant"][starts[places]]]}
        self.impersonations.append(found, len(places))

    def _note_sightings(
        self, block: Block, seen: ClassifiedRecords, message_of: NDArray[np.int64], starts: NDArray[np.int64],
        ids: NDArray[np.uint32],
    ) -> NDArray[np.int64]:  # fmt: skip
        """Appends records of messages that another source had first; returns their messages, with repetitions."""
        logged = seen.folds != NO_HASH
        self._folds.add(seen.folds[logged], message_of[seen.leads[logged]].astype(np.uint32))
        # A lead that starts no message is a record of a message known from another source.
        also = seen.leads[~np.isin(seen.leads, starts)]
        columns = {name: block.columns[name][also] for name in SIGHTING_COLUMNS if name != "message"}
        start = self.sightings.append({**columns, "message": message_of[also]}, len(also))
        places = np.arange(start, start + len(also), dtype=np.uint32)
        # `HashIndex` finds by hash, and rows in sequence would not spread over its filter.
        self._sighted_by.add(_row_hash(message_of[also].astype(np.uint64)), places)
        if self.seen_by is not None:
            self.seen_by.add_records(message_of[also], block.columns["source"][also].astype(np.int64))
        # A differing copy shows an altered message, or a rewritten one.
        copy, first = block.columns["content_hash"][also], self.columns["content_hash"][message_of[also]]
        self._set_flag(message_of[also[_narrow_content_hash(copy) != first]], Flag.COPIES_DIFFER)
        places = also[_with_other_logged_sender(block, also)]
        if len(places):
            named = ids[block.columns["participant"][places]]
            self.impersonations.append({"message": message_of[places], "participant": named}, len(places))
            self._late_impostors = True
        return message_of[also]

    def _is_copy_mask(self, block: Block) -> Array:
        """Returns (records,) True for records that are a recipient's copy."""
        events = block.columns["event"]
        codes = [code for code in map(block.strings.find, JOINING_EVENTS) if code is not None]
        return np.isin(events, codes) if codes and events.any() else np.zeros(len(events), np.bool_)

    def _fold_gateway_copies(self, block: Block, joining: NDArray[np.bool_], ids: NDArray[np.uint32]) -> None:
        """Adjusts fold hashes so that copies of a gateway's own messages fold by message."""
        gateways = [code for code in map(block.strings.find, GATEWAY_IDS) if code is not None]
        columns = block.columns
        own = np.flatnonzero(joining & np.isin(columns["sender"], gateways)) if gateways else np.empty(0, np.int64)
        if len(own):  # except messages forged in the gateway's name, which are logged as received
            folds = columns["fold"][own]
            forged = _have_earlier_fold(columns["fold"], own)
            forged |= self._folds.latest_rows(folds, np.full(len(own), np.iinfo(np.int64).max)) != NO_ROW
            own = own[~forged]
            recipients = ids[columns["participant"][own]]
            contents = columns["content_hash"][own]
            columns["fold"][own] = self._gateway_copies.fold_hashes(columns["fold"][own], contents, recipients)

    def _message_columns(self, block: Block, starts: NDArray[np.int64], ids: NDArray[np.uint32]) -> dict[str, Array]:
        """Returns the message columns of records that start one, with the capture's string ids."""
        # Slicing all rows would copy each column in vain.
        whole = len(starts) == len(block)
        columns = {name: block.columns[name] if whole else block.columns[name][starts] for name in MESSAGE_COLUMNS}
        for name in STRING_COLUMNS:
            if name in columns:
                columns[name] = ids[columns[name]]
        columns["to_set"] = self.to_sets.intern_block(block.to_sets, ids)[columns["to_set"]]
        # A capture's header names a workspace for records that name none.
        for source in block.sources:
            space = self._origin_space(source)
            if space:
                unnamed = (columns["space"] == 0) & (columns["source"] == source)
                columns["space"] = np.where(unnamed, np.uint32(space), columns["space"])
        return columns

    def _origin_space(self, source: int) -> int:
        """Returns the joined space, as a live capture's frames lack it."""
        space = space_of_origin(self.sources[source].origin) or self.sources[source].space
        return self.strings.intern(space) if space else 0

    def _fold(self, folds: Array, joining: Array, start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the message of each record, and the records that start one."""
        count = len(folds)
        joins = joining & (folds != NO_HASH)
        if not joins.any():
            return np.arange(start, start + count), np.arange(count)
        # Groups equal hashes in reading order: a copy joins the last record before it that starts a message.
        order = np.argsort(folds, kind="stable")
        ordered, starting = folds[order], ~joins[order]
        first = np.ones(count, np.bool_)
        first[1:] = ordered[1:] != ordered[:-1]
        orphans = np.flatnonzero(first & ~starting)  # their original is not in this block
        known = self._folds.latest_rows(ordered[orphans], np.full(len(orphans), np.iinfo(np.int64).max))
        starting[orphans[known == NO_ROW]] = True
        starts = np.sort(order[starting])
        number = np.empty(count, np.int64)  # message number of records that start one
        number[starts] = np.arange(start, start + len(starts))
        leads = starting.copy()
        leads[orphans] = True
        led = np.where(starting, number[order], NO_ROW)
        led[orphans[known != NO_ROW]] = known[known != NO_ROW]
        message_of = np.empty(count, np.int64)
        message_of[order] = led[np.maximum.accumulate(np.where(leads, np.arange(count), 0))]
        return message_of, starts

    def _record_deliveries(
        self, block: Block, delivered: NDArray[np.int64], message_of: NDArray[np.int64], ids: NDArray[np.uint32]
    ) -> NDArray[np.int64]:
        """Records deliveries; returns the changed messages, new ones included."""
        if not len(delivered):
            return np.empty(0, np.int64)
        columns, messages = block.columns, message_of[delivered]
        values = {name: columns[name][delivered] for name in ("source", "offset", "length")}
        values |= {name: ids[columns[name][delivered]] for name in ("participant", "event")}
        self.deliveries.append({**values, "message": messages})
        copy, first = columns["content_hash"][delivered], self.columns["content_hash"][messages]
        self._set_flag(messages[(_narrow_content_hash(copy) != first) & (copy != NO_HASH)], Flag.COPIES_DIFFER)
        self._set_flag(messages[values["event"] == (self.strings.find("rejected") or -1)], Flag.REJECTED)
        return messages

    def _set_flag(self, messages: NDArray[np.int64], flag: Flag) -> None:
        if len(messages):
            self.columns.replace("flags", messages, self.columns["flags"][messages] | flag.value)

    def fill_frame_columns(self, rows: NDArray[np.int64], **known: int) -> dict[str, NDArray[np.int64]]:
        """Fills missing columns of frames, which name no participant; existing values stay.

        Args:
            rows: frames.
            known: values by column: `sender`, `to_set`, `context`; 0 if unknown.

        Returns:
            The changed rows, by column.
        """
        told: dict[str, NDArray[np.int64]] = {}
        for name, value in known.items():
            told[name] = rows[self.columns[name][rows] == 0] if value else rows[:0]
            if len(told[name]):
                self.columns.replace(name, told[name], value)
        return told

    # Queries

    def sources_of(self, message: int) -> list[int]:
        """Returns the sources of a message, its primary source first."""
        if self.seen_by is None:
            return [int(self.columns["source"][message])]
        return list(self.seen_by.table[int(self.seen_by.set_ids[message])])

    def sightings_of(self, message: int) -> list[Sighting]:
        """Returns a message's records in other sources, in reading order. O(log of all such records)."""
        columns = self.sightings
        rows = self._sighted_by.rows_of(_row_hash(message)) if len(columns) else []
        own = int(self.columns["content_hash"][message])
        return [
            Sighting(
                int(columns["source"][row]), int(columns["offset"][row]), int(columns["length"][row]),
                int(columns["time_ns"][row]), int(columns["content_hash"][row]) != own,
            )
            for row in rows
        ]  # fmt: skip

    def string(self, column: str, message: int) -> str | None:
        """Returns a string column's value."""
        found = int(self.columns[column][message])
        return self.strings[found] if found else None

    def logged_sender(self, message: int) -> str | None:
        """Returns the logged sender if it differs from the named one."""
        rows = self.impersonations["message"]
        if not len(rows):
            return None
        if self._late_impostors:  # no longer ascending: a later source reported earlier messages
            places = np.flatnonzero(rows == message)
            return self.strings[int(self.impersonations["participant"][places[0]])] if len(places) else None
        place = int(np.searchsorted(rows, np.uint32(message)))  # an int64 argument would copy all rows
        found = place < len(rows) and int(rows[place]) == message
        return self.strings[int(self.impersonations["participant"][place])] if found else None

    def recipients(self, message: int) -> tuple[str, ...]:
        """Returns the named recipients; empty means everyone."""
        return self.to_sets[int(self.columns["to_set"][message])]

    def flags_of(self, message: int) -> Flag:
        return Flag(int(self.columns["flags"][message]))

    def named_hashes(self, message: int) -> list[int]:
        """Returns salted hashes of the ids that a message names, distinct, in order; at most 256."""
        flags = int(self.columns["flags"][message])
        if not flags & _MANY:
            return [int(self.columns["correlation_hash"][message])] if flags & _CORRELATED else []
        plain = self.extracted.unchecked.named.get(message)
        if plain is None:
            plain = [
                hash_text(name) for name in islice(dict.fromkeys(self.records.correlation_ids(message)), MAX_NAMED_IDS)
            ]
        salt = self.ids.salt(int(self.columns["space"][message]))
        return [value ^ salt for value in plain]

    def close(self) -> None:
        for source in self.sources:
            source.close()
