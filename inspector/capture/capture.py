"""All messages of one document: files on disk, columns in memory, and the way back from a row to its bytes.

Folding (docs/protocols.md 11, RULE): a `received` line starts a message; a `delivered` or `rejected` line joins the
latest message with the same (space, id, from, ts, kind), or starts one; a line whose envelope has no id never
folds. A message is read from its first record for ever; later copies only add deliveries. What comes back of what we
sent ourselves is a copy as well (`own_copies`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.capture import overlong
from inspector.capture.ahead import ReadAhead, Whole
from inspector.capture.block import STRING_COLUMNS, Block
from inspector.capture.columns import (
    DELIVERY_COLUMNS,
    MESSAGE_COLUMNS,
    SIGHTING_COLUMNS,
    Array,
    GrowingColumns,
    message_columns,
)
from inspector.capture.connections import ConnectionNumbers
from inspector.capture.extracts import MOST_NAMED, OWN_PAYLOAD, DecodedRecord, Extracts, ToolList, payload_of
from inspector.capture.flags import Flag
from inspector.capture.gateway_copies import GatewayCopies
from inspector.capture.hashes import NO_HASH, NO_ROW, HashIndex, hash_text
from inspector.capture.heads import HEAD, MAX_WHOLE, Noted, read_head
from inspector.capture.http_conversations import HttpConversations
from inspector.capture.id_namespaces import IdNamespaces
from inspector.capture.long_names import stored_name, stored_names
from inspector.capture.name_sets import NameSets
from inspector.capture.odd_forms import OddForm
from inspector.capture.own_copies import OwnCopies
from inspector.capture.reader import JOINING_EVENTS, NO_MESSAGE, correlations
from inspector.capture.sightings import Seen, SeenBy, Sightings
from inspector.capture.sources import SourceFile, space_of_origin
from inspector.capture.sparse_columns import SparseColumns
from inspector.capture.strings import InternTable
from inspector.capture.transcripts import AgentNews, Transcripts
from inspector.protocol import mcp
from inspector.protocol.context_forms import told_context
from inspector.protocol.cut import completed
from inspector.protocol.formats import http_lines, read_line
from inspector.protocol.formats import payload_of as payload_of_part
from inspector.protocol.formats.gateway_log import INBOUND_EVENTS
from inspector.protocol.header import ABSENT, NotAnObjectError, decode_json, read_header
from inspector.protocol.mcp_notes import Note
from inspector.protocol.meaning import ApiCall, envelope_bytes
from inspector.protocol.object_contexts import levels_of
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.record import Exchange, Record, Shape, unreadable
from inspector.protocol.text import compact
from inspector.protocol.times import NO_TIME, format_time

TASK_STATUS, TASK_RESULT, TASK_FAILED, TASK_HANDED = 0x0F, 0x10, 0x20, 0x40
"""Of what a message says of a task: bits of its `TaskStatus`, that a result is in it, that this is a failure, and that
a call is answered with it."""


def task_numbers(task: mcp.Task) -> tuple[int, int]:
    """What is stored of what a message says of a task."""
    says = task.status | TASK_RESULT * task.has_result | TASK_FAILED * task.failed | TASK_HANDED * task.handed
    return hash_text(task.identifier) or 1, int(says)


_CACHED_RECORDS = 512
_MANY, _CORRELATED = Flag.MANY_CORRELATIONS.value, Flag.CORRELATED.value
_CACHED_BYTES = 1 << 25


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did: messages `start` to `stop` are new; `touched` are earlier ones that gained a delivery."""

    start: int
    stop: int
    touched: NDArray[np.int64]


def _content_kept(hashes: Array) -> NDArray[np.uint32]:
    """What the column `content_hash` keeps of hashes."""
    return hashes.astype(np.uint32)


_SPREAD = 0x9E3779B97F4A7C15


def _row_hash(message: Any) -> Any:
    """A number like a hash for a message, or for each of some."""
    if isinstance(message, np.ndarray):
        return (message + np.uint64(1)) * np.uint64(_SPREAD)
    return (message + 1) * _SPREAD & 0xFFFF_FFFF_FFFF_FFFF


def _told_otherwise(block: Block, records: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of some records a log received from somebody else than their envelopes say."""
    inbound = [code for code in map(block.strings.find, INBOUND_EVENTS) if code is not None]
    if not inbound:
        return np.empty(0, np.int64)
    logged, said = block.columns["participant"][records], block.columns["sender"][records]
    places = np.flatnonzero((logged != said) & (logged != 0) & (said != 0))
    return places[np.isin(block.columns["event"][records[places]], inbound)]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One copy of a message in a gateway log."""

    participant: str | None
    event: str
    source: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Sighting:
    """A record of a message that another source has as well."""

    source: int
    offset: int
    length: int
    time_ns: int
    """By the clock of the document."""
    differs: bool
    """Its bytes are not those of the record the message is read from."""


class Capture:
    """Messages as columns, in arrival order.

    Attributes:
        strings: what the string ids of the columns stand for; id 0 is absent.
        to_sets: tuples of recipients by id; id 0 is nobody named.
        columns: arrays of capture.columns.MESSAGE_COLUMNS, one value per message.
        deliveries: arrays of DELIVERY_COLUMNS, in log order.
        seen_by: which sources have each message; None where they share none.
        sightings: arrays of SIGHTING_COLUMNS: records of messages that another source has as well.
        sources: the files records lie in.
        impostors: `message` and `participant` (string id) of messages whose sender is not who the log says sent them.
        unreadable_count: messages nothing could be made of.
        failed_count: messages that report a failure, as the field `error` has it, each once.
    """

    def __init__(self) -> None:
        self.strings: InternTable[str] = InternTable("")
        self.to_sets = NameSets()
        self.columns = message_columns()
        self.deliveries = GrowingColumns(DELIVERY_COLUMNS)
        self.sources: list[SourceFile] = []
        self.impostors = GrowingColumns({"message": np.uint32, "participant": np.uint32})
        self.ids = HashIndex()
        self._namespaces = IdNamespaces(self.strings)
        self._connections = ConnectionNumbers()
        self._record_count = 0
        self._records_of: dict[int, int] = {}
        self.unreadable_count = self.failed_count = 0
        self._folds = HashIndex()
        self._sightings: Sightings | None = None
        self.sightings = GrowingColumns(SIGHTING_COLUMNS)
        self._sighted_by = HashIndex()
        self.seen_by: SeenBy | None = None
        self._late_impostors = False
        self._own_copies = OwnCopies(self._payload_at)
        self._gateway_copies = GatewayCopies()
        self._order: NDArray[np.int64] = np.empty(0, np.int64)
        self._ordered: NDArray[np.uint32] = np.empty(0, np.uint32)
        self._cache: OrderedDict[int, Record] = OrderedDict()
        self._cached_bytes = 0
        self._ahead: ReadAhead | None = None
        self.decoded_ahead: dict[int, Whole | None] = {}  # by `inspector.capture.decoding`
        self._extracts = Extracts()
        self._arguments = SparseColumns(hash=np.uint64)
        self._listed = SparseColumns(records=np.uint32, of_anything=np.uint32)
        self.transcripts = Transcripts()
        self._conversations = HttpConversations()
        self._exchanges = SparseColumns(
            number=np.uint32,
            status=np.uint16,
            path=np.uint32,
            method=np.uint32,
            hung_up=np.uint8,
            first_us=np.uint32,
            whole_us=np.uint32,
        )
        self._mcp = SparseColumns(version=np.uint32, state=np.uint64, task=np.uint64, task_says=np.uint8)
        self._repeats = SparseColumns(of=np.uint32, is_copy=np.uint8)
        self._filled = SparseColumns(tokens=np.uint64, window=np.uint64)
        self._agent_news: list[AgentNews] = []

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def record_count(self) -> int:
        """Records read: lines, folded ones and those that others stand for included."""
        return self._record_count + sum(one.joined.left_out for one in self.sources if one.joined is not None)

    # Filling

    def add_source(self, source: SourceFile) -> int:
        """Add a file and return its number."""
        self.sources.append(source)
        return len(self.sources) - 1

    def share_messages(self) -> None:
        """Let what several sources have seen be one message. To be called before anything is appended."""
        self._sightings, self.seen_by = Sightings(), SeenBy()

    def append(self, block: Block) -> Appended:
        """Take in the records of a block. Called on the loop's thread; O(records in the block)."""
        start = len(self)
        self._note_source(block)
        count = len(block)
        self._count_records(block)
        self._conversations.resolve(block)
        connections = self._connections.of(block)
        derived = bool(block.columns["part"].any())
        if derived:
            self.transcripts.resolve(block)
        if not count:
            return Appended(start, start, np.empty(0, np.int64))
        self._own_copies.mark(block)
        joining = self._joining(block)
        ids = self.strings.intern_all(stored_names(block.strings[1:]), len(block.strings))
        self._tell_gateway_copies_apart(block, joining, ids)
        seen = self._sightings.mark(block, joining, self._folds) if self._sightings is not None else None
        message_of, starts = self._fold(block.columns["fold"], joining if seen is None else seen.joining, start)
        columns = self._renumbered(block, starts, ids)
        columns["connection"] = connections[starts]
        folding = block.columns["fold"][starts]
        columns["content_hash"] = _content_kept(np.where(folding != NO_HASH, columns["content_hash"], NO_HASH))
        self._take_extracts(block, starts, start)
        if derived:  # ids of transcripts are copied from session to session
            for space in np.unique(columns["space"][columns["part"] != 0]).tolist():
                self._namespaces.share(space)
        self._keep_apart(columns)
        self.columns.append(columns, len(starts))
        if self.seen_by is not None:
            self.seen_by.append(columns["source"].astype(np.int64))
        self._note_impostors(block, starts, start, ids)
        self.unreadable_count += int(np.count_nonzero(columns["flags"] & np.uint32(Flag.UNREADABLE)))
        rows = np.arange(start, len(self), dtype=np.uint32)
        failed = columns["flags"] & np.uint32(Flag.ERROR) != 0
        if derived:
            self._note_repeats(block, starts, start)
            failed &= ~self.repeats(rows.astype(np.int64))[1]
            ids_given = np.where(self.are_sent_again(rows.astype(np.int64)), NO_HASH, columns["id_hash"])
            self._add_ids(block.columns["alias_hash"][starts], ids_given, rows)
        else:
            self.ids.add(columns["id_hash"], rows)
        self.failed_count += int(np.count_nonzero(failed))
        if folding.any():
            self._folds.add(folding, rows)
        touched = self._deliver(block, np.flatnonzero(joining), message_of, ids)
        if seen is not None:
            touched = np.concatenate((touched, self._note_sightings(block, seen, message_of, starts, ids)))
        return Appended(start, len(self), np.unique(touched[touched < start]))

    def _take_extracts(self, block: Block, starts: NDArray[np.int64], start: int) -> None:
        """Take in what was extracted of the records that start a message; `starts` are those from `start` on."""
        messages = np.full(len(block), NO_ROW)
        messages[starts] = np.arange(start, start + len(starts))
        self._extracts.put(block.extracts, messages.tolist())
        self._arguments.append({row: (value,) for row, value in self._extracts.arguments.items()})
        self._listed.append(self._extracts.listed)
        self._filled.append(self._extracts.filled)
        extracts, intern = self._extracts, self.strings.intern
        self._exchanges.append({
            row: (
                one.number, one.status,
                *(intern(stored_name(text)) if text is not None else 0 for text in (one.path, one.method)), one.hung_up,
                one.first_us, one.whole_us,
            )
            for row, one in extracts.exchanges.items()
        })  # fmt: skip
        versions, states, tasks = extracts.versions, extracts.states, extracts.tasks
        self._mcp.append({
            row: (
                intern(versions[row]) if row in versions else 0, states.get(row, 0),
                *(task_numbers(tasks[row]) if row in tasks else (0, 0)),
            )
            for row in {*versions, *states, *tasks}
        })  # fmt: skip
        extracts.arguments, extracts.listed = {}, {}
        extracts.carried.update(extracts.exchanges)
        extracts.exchanges, extracts.versions, extracts.states, extracts.tasks = {}, {}, {}, {}

    def _count_records(self, block: Block) -> None:
        """Count the records of a block, of which one may mean several messages."""
        sources = block.columns["source"][block.columns["part"] <= 1]
        self._record_count += len(sources)
        for source, count in enumerate(np.bincount(sources).tolist() if len(sources) else ()):
            if count:
                self._records_of[source] = self._records_of.get(source, 0) + count

    def _add_ids(self, aliases: NDArray[np.uint64], ids: NDArray[np.uint64], rows: NDArray[np.uint32]) -> None:
        """Let messages of transcripts be found by their ids, and by those of their records."""
        named = np.flatnonzero(aliases != NO_HASH)
        both, places = np.concatenate((ids, aliases[named])), np.concatenate((rows, rows[named]))
        order = np.argsort(places, kind="stable")
        self.ids.add(both[order], places[order])

    def _note_repeats(self, block: Block, starts: NDArray[np.int64], start: int) -> None:
        """Note which messages of transcripts were said before, and what they tell of sub-agents."""
        rows = np.arange(start, start + len(starts))
        copied = self.transcripts.repeats(
            block.columns["said"][starts], rows, np.isin(starts, list(block.extracts.new))
        )  # fmt: skip
        found = {int(row): (int(copied[row - start]), 1) for row in rows[copied != NO_ROW].tolist()}
        messages = np.full(len(block), NO_ROW)
        messages[starts] = rows
        for place, echo in sorted(block.extracts.echoes.items()):
            row = int(messages[place])
            if row != NO_ROW and row not in found and (before := self.transcripts.echo_of(echo, row)) != NO_ROW:
                found[row] = before, 0
        self._repeats.append(found)
        for news in self.transcripts.told(messages, self.columns["space"]):
            above = None if news.parent is None else stored_name(news.parent)
            self._agent_news.append(replace(news, context=stored_name(news.context), parent=above))

    def take_api_calls(self) -> dict[int, ApiCall]:
        """By message, the calls of models that messages came from since the last call."""
        found, self._extracts.api_calls = self._extracts.api_calls, {}
        return found

    def full_contexts(self, start: int) -> list[tuple[int, int, int]]:
        """Messages from `start` on that tell of a full context: (message, tokens in it, tokens it holds or 0)."""
        rows = self._filled.messages
        first = int(rows.searchsorted(np.uint32(start)))
        columns = (rows, self._filled["tokens"], self._filled["window"])
        return list(zip(*(column[first:].tolist() for column in columns), strict=True))

    def take_agent_news(self) -> list[AgentNews]:
        """What messages told of sub-agents since the last call, in their order."""
        found, self._agent_news = self._agent_news, []
        return found

    def repeats(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(n,) the message that each of some messages says again, NO_ROW; and (n,) bool, whether it is a copy of it.

        A copy is the same message once more, as in the file of a resumed session; else the same words, as in the
        result of a call that a sub-agent answered.
        """
        named = self._repeats.has(rows)
        of = self._repeats.of("of", rows).astype(np.int64)
        return np.where(named, of, NO_ROW), named & (self._repeats.of("is_copy", rows) != 0)

    def copies_of(self, message: int) -> NDArray[np.int64]:
        """(n,) the later messages that are copies of one, ascending. O(copies of any)."""
        copies = (self._repeats["of"] == message) & (self._repeats["is_copy"] != 0)
        return self._repeats.messages[copies].astype(np.int64)

    def are_sent_again(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) which of some messages a request to a model holds as one before it did: nothing follows from them."""
        columns = self.columns
        of_calls = (columns["protocol"][rows] == (self.strings.find(http_lines.LABEL) or -1)) & (
            columns["part"][rows] > 1
        )
        return of_calls & self.repeats(rows)[1] if of_calls.any() else of_calls

    def are_derived(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) which of some messages are meant by records of transcripts."""
        return self.columns["part"][rows] != 0

    def records_by_source(self) -> list[int]:
        """How many records were read of each source, folded ones included."""
        return [
            self._records_of.get(number, 0) + (source.joined.left_out if source.joined is not None else 0)
            for number, source in enumerate(self.sources)
        ]

    @property
    def has_copies(self) -> bool:
        """Whether any message is said again."""
        return bool(len(self._repeats.messages))

    @property
    def ended_connections(self) -> list[tuple[int, int]]:
        """Source and number (column `connection`) of connections that were opened anew, in order; it grows."""
        return self._connections.ended

    def let_go(self) -> None:
        """Every pass and check has looked at what was read: what was extracted for them is not needed any more."""
        self._extracts = Extracts()

    def _payload_at(self, source: int, offset: int, length: int) -> Any:
        """The payload of the envelope in a line, which need not be a message yet; like no other when it is not read."""
        record = read_line(self.sources[source].read(offset, length))
        try:
            envelope = decode_json(record.raw)
        except NotAnObjectError:
            return object()
        return envelope.get("payload") if isinstance(envelope, dict) else None

    def _note_source(self, block: Block) -> None:
        self.sources[int(block.columns["source"][0]) if len(block) else -1].note(block)

    def _note_impostors(self, block: Block, starts: NDArray[np.int64], start: int, ids: NDArray[np.uint32]) -> None:
        """A log says who sent what it received; an envelope may say otherwise (docs/protocols.md 2, Spoofing)."""
        places = _told_otherwise(block, starts)
        found = {"message": places + start, "participant": ids[block.columns["participant"][starts[places]]]}
        self.impostors.append(found, len(places))

    def _note_sightings(
        self, block: Block, seen: Seen, message_of: NDArray[np.int64], starts: NDArray[np.int64],
        ids: NDArray[np.uint32],
    ) -> NDArray[np.int64]:  # fmt: skip
        """Take in the records of messages that another source had first; the messages they are of, with repetitions."""
        logged = seen.folds != NO_HASH
        self._folds.add(seen.folds[logged], message_of[seen.leads[logged]].astype(np.uint32))
        also = seen.leads[~np.isin(seen.leads, starts)]
        columns = {name: block.columns[name][also] for name in SIGHTING_COLUMNS if name != "message"}
        start = self.sightings.append({**columns, "message": message_of[also]}, len(also))
        places = np.arange(start, start + len(also), dtype=np.uint32)
        self._sighted_by.add(_row_hash(message_of[also].astype(np.uint64)), places)
        if self.seen_by is not None:
            self.seen_by.add(message_of[also], block.columns["source"][also].astype(np.int64))
        copy, first = block.columns["content_hash"][also], self.columns["content_hash"][message_of[also]]
        self._flag(message_of[also[_content_kept(copy) != first]], Flag.COPIES_DIFFER)
        places = also[_told_otherwise(block, also)]
        if len(places):
            named = ids[block.columns["participant"][places]]
            self.impostors.append({"message": message_of[places], "participant": named}, len(places))
            self._late_impostors = True
        return message_of[also]

    def _joining(self, block: Block) -> Array:
        """Which records are copies for somebody: (records,) bool."""
        events = block.columns["event"]
        codes = [code for code in map(block.strings.find, JOINING_EVENTS) if code is not None]
        return np.isin(events, codes) if codes and events.any() else np.zeros(len(events), np.bool_)

    def _tell_gateway_copies_apart(self, block: Block, joining: NDArray[np.bool_], ids: NDArray[np.uint32]) -> None:
        """Let the copies of what gateways say by themselves fold by message."""
        gateways = [code for code in map(block.strings.find, GATEWAY_IDS) if code is not None]
        columns = block.columns
        own = np.flatnonzero(joining & np.isin(columns["sender"], gateways)) if gateways else np.empty(0, np.int64)
        if len(own):  # but for what somebody sent in the gateway's name, which is logged as received
            folds = columns["fold"][own]
            forged = np.isin(folds, columns["fold"][~joining])
            forged |= self._folds.latest(folds, np.full(len(own), np.iinfo(np.int64).max)) != NO_ROW
            own = own[~forged]
            recipients = ids[columns["participant"][own]]
            contents = columns["content_hash"][own]
            columns["fold"][own] = self._gateway_copies.folds(columns["fold"][own], contents, recipients)

    def _renumbered(self, block: Block, starts: NDArray[np.int64], ids: NDArray[np.uint32]) -> dict[str, Array]:
        """The message columns of the block's records that start one, with the capture's own string ids."""
        whole = len(starts) == len(block)
        columns = {name: block.columns[name] if whole else block.columns[name][starts] for name in MESSAGE_COLUMNS}
        for name in STRING_COLUMNS:
            if name in columns:
                columns[name] = ids[columns[name]]
        sets = self.to_sets.take_in(block.to_sets, stored_names(block.to_sets.names[1:]))
        columns["to_set"] = sets[columns["to_set"]]
        for source in np.unique(block.columns["source"]).tolist():
            space = self._origin_space(source)
            if space:
                unnamed = (columns["space"] == 0) & (columns["source"] == source)
                columns["space"] = np.where(unnamed, np.uint32(space), columns["space"])
        return columns

    def _keep_apart(self, columns: dict[str, Array]) -> None:
        """Let one id have another hash in each space: an id means a message of its own space only."""
        salts = self._namespaces.salts(columns["space"])
        if salts is None:
            return
        for name in ("id_hash", "correlation_hash"):
            hashes = columns[name]
            columns[name] = np.where(hashes != NO_HASH, hashes ^ salts, hashes)

    def _origin_space(self, source: int) -> int:
        """A live capture's frames name no space: it is the one that was joined."""
        space = space_of_origin(self.sources[source].origin) or self.sources[source].space
        return self.strings.intern(space) if space else 0

    def _fold(self, folds: Array, joining: Array, start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each record its message, and the records that start one."""
        count = len(folds)
        joins = joining & (folds != NO_HASH)
        if not joins.any():
            return np.arange(start, start + count), np.arange(count)
        # Those with one hash side by side, in the order read: a copy joins the last before it that starts a message.
        order = np.argsort(folds, kind="stable")
        ordered, starting = folds[order], ~joins[order]
        first = np.ones(count, np.bool_)
        first[1:] = ordered[1:] != ordered[:-1]
        orphans = np.flatnonzero(first & ~starting)  # nothing in this block is what they are copies of
        known = self._folds.latest(ordered[orphans], np.full(len(orphans), np.iinfo(np.int64).max))
        starting[orphans[known == NO_ROW]] = True
        starts = np.sort(order[starting])
        number = np.empty(count, np.int64)  # of the message, where a record starts one
        number[starts] = np.arange(start, start + len(starts))
        leads = starting.copy()
        leads[orphans] = True
        led = np.where(starting, number[order], NO_ROW)
        led[orphans[known != NO_ROW]] = known[known != NO_ROW]
        message_of = np.empty(count, np.int64)
        message_of[order] = led[np.maximum.accumulate(np.where(leads, np.arange(count), 0))]
        return message_of, starts

    def _deliver(
        self, block: Block, delivered: NDArray[np.int64], message_of: NDArray[np.int64], ids: NDArray[np.uint32]
    ) -> NDArray[np.int64]:
        """Record who got which copy; returns the messages that changed, new ones among them."""
        if not len(delivered):
            return np.empty(0, np.int64)
        columns, messages = block.columns, message_of[delivered]
        values = {name: columns[name][delivered] for name in ("source", "offset", "length")}
        values |= {name: ids[columns[name][delivered]] for name in ("participant", "event")}
        self.deliveries.append({**values, "message": messages})
        copy, first = columns["content_hash"][delivered], self.columns["content_hash"][messages]
        self._flag(messages[(_content_kept(copy) != first) & (copy != NO_HASH)], Flag.COPIES_DIFFER)
        self._flag(messages[values["event"] == (self.strings.find("rejected") or -1)], Flag.REJECTED)
        return messages

    def _flag(self, messages: NDArray[np.int64], flag: Flag) -> None:
        if len(messages):
            self.columns.put("flags", messages, self.columns["flags"][messages] | flag.value)

    def attribute(self, rows: NDArray[np.int64], **known: int) -> dict[str, NDArray[np.int64]]:
        """Let frames, which name nobody themselves, be somebody's; what one does say stays.

        Args:
            rows: frames.
            known: what is known of them, by column: `sender`, `to_set`, `context`; 0 for what is not.

        Returns:
            By column, those that have a value by now and had none.
        """
        told: dict[str, NDArray[np.int64]] = {}
        for name, value in known.items():
            told[name] = rows[self.columns[name][rows] == 0] if value else rows[:0]
            if len(told[name]):
                self.columns.put(name, told[name], value)
        return told

    # Reading back

    def sources_of(self, message: int) -> list[int]:
        """The numbers of the sources that have a message, the one it is read from first."""
        if self.seen_by is None:
            return [int(self.columns["source"][message])]
        return list(self.seen_by.table[int(self.seen_by.sets[message])])

    def sightings_of(self, message: int) -> list[Sighting]:
        """The records that other sources have of a message, in the order read. O(log of all such records)."""
        columns = self.sightings
        rows = self._sighted_by.rows(_row_hash(message)) if len(columns) else []
        own = int(self.columns["content_hash"][message])
        return [
            Sighting(
                int(columns["source"][row]), int(columns["offset"][row]), int(columns["length"][row]),
                int(columns["time_ns"][row]), int(columns["content_hash"][row]) != own,
            )
            for row in rows
        ]  # fmt: skip

    def string(self, column: str, message: int) -> str | None:
        """A string column's value; None when it is absent."""
        found = int(self.columns[column][message])
        return self.strings[found] if found else None

    def true_sender(self, message: int) -> str | None:
        """Who a log says sent a message, where that is not the sender it names; None."""
        rows = self.impostors["message"]
        if self._late_impostors:  # no longer ascending: another source told of earlier messages
            places = np.flatnonzero(rows == message)
            return self.strings[int(self.impostors["participant"][places[0]])] if len(places) else None
        place = int(np.searchsorted(rows, message))
        found = place < len(rows) and int(rows[place]) == message
        return self.strings[int(self.impostors["participant"][place])] if found else None

    def to(self, message: int) -> tuple[str, ...]:
        """The recipients named; empty means everyone."""
        return self.to_sets[int(self.columns["to_set"][message])]

    def flags(self, message: int) -> Flag:
        """What the message is, as bits."""
        return Flag(int(self.columns["flags"][message]))

    def _has(self, message: int, bits: int) -> bool:
        """Whether it has any of these flags; IntFlag does its arithmetic in Python."""
        return bool(int(self.columns["flags"][message]) & bits)

    def record_bytes(self, message: int) -> bytes:
        """The exact line the message is read from; of an overlong one its head."""
        columns = self.columns
        source = self.sources[int(columns["source"][message])]
        offset, length = int(columns["offset"][message]), int(columns["length"][message])
        if length > overlong.MAX_LINE:
            return source.read(offset, overlong.HEAD_SHOWN)
        return source.read(offset, length) if self._ahead is None else self._ahead.read(source, offset, length)

    @contextmanager
    def read_ahead(self, start: int, stop: int) -> Generator[None]:
        """While messages `start` to `stop`, which were just read, are read again here and there: do it at once."""
        if start < stop:
            first, last = (int(self.columns["offset"][message]) for message in (start, stop - 1))
            source = self.sources[int(self.columns["source"][stop - 1])]
            self._ahead = ReadAhead(source, first, last + int(self.columns["length"][stop - 1]))
        try:
            yield
        finally:
            self._ahead = None

    def is_big(self, message: int) -> bool:
        """Whether its line is above 1 MB, so that it is read by its head (`capture.heads`)."""
        return int(self.columns["length"][message]) > MAX_WHOLE

    def is_overlong(self, message: int) -> bool:
        """Whether its line is never read whole (`capture.overlong`)."""
        return int(self.columns["length"][message]) > overlong.MAX_LINE

    def record(self, message: int) -> Record:
        """The message's record, read again from its file; of a big one its head, whose `raw` ends early."""
        found = self._cache.get(message)
        if found is not None:
            self._cache.move_to_end(message)
            return found
        found = self._read_head(message) if self.is_big(message) else self._read_record(message)
        self._cache[message] = found
        self._cached_bytes += len(found.raw)
        while len(self._cache) > _CACHED_RECORDS or (self._cached_bytes > _CACHED_BYTES and len(self._cache) > 1):
            self._cached_bytes -= len(self._cache.popitem(last=False)[1].raw)
        return found

    def _reading(self, message: int) -> str | None:
        """The format that was chosen for the message's source."""
        return self.sources[int(self.columns["source"][message])].reading

    def _known(self, message: int) -> Mapping[str, Any] | None:
        """What lines before it tell of the message's line."""
        columns = self.columns
        source = self.sources[int(columns["source"][message])]
        return source.known(int(columns["offset"][message]), int(columns["length"][message]))

    def _read_record(self, message: int) -> Record:
        line = self.record_bytes(message)
        if len(line) < int(self.columns["length"][message]):
            return unreadable(line, "its file has become shorter since it was opened")
        record = read_line(line, self._reading(message), self._known(message))
        if self._has(message, Flag.DERIVED.value):
            return self._derived(message, record)
        if record.shape is Shape.NOTHING:  # such a line is no message, unless it stands in a batch
            return unreadable(line, NO_MESSAGE)
        if record.time_ns == NO_TIME and self.columns["time_ns"][message] != self.columns["ts_ns"][message]:
            # Of a batch: its line, which is not read again, said this (capture.batches).
            record.time_ns, record.direction = int(self.columns["time_ns"][message]), self.string("direction", message)
        return record

    def _derived(self, message: int, record: Record, head: bytes | None = None) -> Record:
        """The record of what a transcript's record means: an envelope, as the columns know it.

        Args:
            message: its index.
            record: the transcript's.
            head: what is read of it, where it is big.
        """
        part = int(self.columns["part"][message])
        if part > len(record.means):
            return unreadable(record.raw, "its line was written anew since it was opened")
        meaning = record.means[part - 1]
        meaning.sender, meaning.to = self.string("sender", message), self.to(message)
        meaning.context = self.string("context", message)
        named = int(self.text_hashes("correlation_hash", [message])[0])
        if named != NO_HASH and (meaning.correlation is None or hash_text(meaning.correlation) != named):
            agent = self.transcripts.agents.get(meaning.context or "")
            meaning.correlation = agent.call if agent is not None else meaning.correlation
        time_ns = int(self.columns["ts_ns"][message])
        ts = format_time(time_ns) if time_ns != NO_TIME else None
        if head is not None:
            record.raw = head
        raw = envelope_bytes(meaning, payload_of_part(record, part - 1), ts=ts)
        space = self.string("space", message)
        return Record(Shape.ENVELOPE, raw, read_header(raw), time_ns=time_ns, space=space, meant_by=record.meant_by)

    def forget(self, message: int) -> None:
        """Its line was written anew: what is kept of it is read again."""
        self.decoded_ahead.pop(message, None)
        found = self._cache.pop(message, None)
        self._cached_bytes -= len(found.raw) if found is not None else 0

    def _read_head(self, message: int) -> Record:
        columns = self.columns
        if self._has(message, Flag.DERIVED.value):
            return self._derived_head(message)
        hashes = (int(self.text_hashes(name, [message])[0]) for name in ("id_hash", "correlation_hash"))
        noted = Noted(int(columns["length"][message]), self.flags(message), *hashes)
        return read_head(lambda start, length: self.line_part(message, start, length), noted)

    def _derived_head(self, message: int) -> Record:
        """What a big record of a transcript means, with its payload as far as the record's head goes."""
        head, known = completed(self.line_part(message, 0, HEAD)) or b"{}", self._known(message)
        record, part = read_line(head, self._reading(message), known), int(self.columns["part"][message])
        if part > len(record.means):  # what tells it apart stands behind a long value
            record = read_line(self.record_bytes(message), self._reading(message), known)
        return self._derived(message, record, head)

    def line_part(self, message: int, start: int, length: int) -> bytes:
        """Bytes of the line the message was read from, fewer at its end; nothing else of it is read."""
        columns = self.columns
        source = self.sources[int(columns["source"][message])]
        length = min(length, int(columns["length"][message]) - start)
        return source.read(int(columns["offset"][message]) + start, length) if length > 0 else b""

    def envelope_bytes(self, message: int) -> bytes:
        """The envelope, JSON-RPC message or frame as written, without the log line around it.

        Of a big message this takes a moment and its size in memory.
        """
        whole = self.is_big(message) and not self._has(message, Flag.DERIVED.value)
        return (self._read_record(message) if whole else self.record(message)).raw

    def envelope(self, message: int) -> Any:
        """The decoded envelope or JSON-RPC message, of a big one its head; None when the message holds no JSON."""
        record = self.record(message)
        if record.shape in (Shape.UNREADABLE, Shape.STREAM):
            return None
        try:
            return decode_json(record.raw)
        except NotAnObjectError:
            return None

    def payload(self, message: int) -> dict[str, Any]:
        """The payload as a dict; a JSON-RPC message is its own payload; empty when there is none."""
        whole = self.decoded_ahead.get(message)
        if whole is not None:
            return whole.payload
        return payload_of(self.envelope(message), own=self._has(message, OWN_PAYLOAD))

    def decoded(self, message: int) -> DecodedRecord:
        """What passes read of a message; of those just taken in reading has extracted it, others are read again."""
        found = self._extracts.records.get(message)
        if found is None:
            return DecodedRecord(self.envelope_id(message), self.payload(message))
        return found if found.identifier is not None else found._replace(identifier=self._stand_in(message))

    def contexts_in(self, message: int) -> tuple[dict[str, Any], ...]:
        """The context of a message as an object, and the parents written into it; none where it is no object."""
        found = self._extracts.contexts.get(message)
        if found is not None:
            return found
        header = self.record(message).header
        context = told_context(header)[0] if header is not None else None
        return levels_of(context) if isinstance(context, dict) else ()

    def digest(self, message: int) -> int:
        """Of a message just taken in, a result with `_meta`: a hash that is equal for equal payloads; else NO_HASH."""
        return self._extracts.digests.get(message, NO_HASH)

    def tool_lists(self) -> Mapping[int, ToolList]:
        """Of messages just taken in, those whose results list tools."""
        return self._extracts.tools

    def notes(self) -> Mapping[int, Note]:
        """Of messages just taken in, what checks of MCP read of those that are JSON-RPC."""
        return self._extracts.notes

    def carried(self) -> Mapping[int, Exchange]:
        """Of messages just taken in, the HTTP exchanges that carried them."""
        return self._extracts.carried

    def noise(self) -> Mapping[int, str]:
        """Of messages just taken in, how those begin that stand where a message should."""
        return self._extracts.noise

    def odd_form(self, message: int) -> OddForm | None:
        """What a message just taken in writes oddly, if it is the first of its sender and kind that does; None."""
        return self._extracts.odd.get(message)

    def argument_hashes(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """(n,) of proposals, and of requests that name a message, a hash of their arguments; NO_HASH for none."""
        return self._arguments.of("hash", rows)

    def records_listed(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """(n,) how many records some results list, by the two measures of `protocol.listed`."""
        return self._listed.of("records", rows), self._listed.of("of_anything", rows)

    def exchanges(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) of the HTTP exchanges that carried some messages, 0 for none.

        Args:
            name: `number`, `status`, `path` and `method` (string ids), `hung_up`: that the client ended it, by the line
                that says so; `first_us` and `whole_us`, microseconds after the request.
            rows: messages.
        """
        return self._exchanges.of(name, rows)

    def mcp(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) what some messages say of MCP, 0 for nothing.

        Args:
            name: `version` (string id), `state` (`Extracts.states`), `task` (a hash of its id) or `task_says`
                (`TASK_STATUS`, `TASK_RESULT`...).
            rows: messages.
        """
        return self._mcp.of(name, rows)

    @property
    def exchange_rows(self) -> NDArray[Any]:
        """The messages that HTTP exchanges carried, ascending."""
        return self._exchanges.messages

    @property
    def mcp_rows(self) -> NDArray[Any]:
        """The messages of which `mcp` knows anything, ascending."""
        return self._mcp.messages

    def hashes_named(self, message: int) -> list[int]:
        """Hashes, in its space, of the ids that a message names, each once, in the order it names them; at most 256."""
        flags = int(self.columns["flags"][message])
        if not flags & _MANY:
            return [int(self.columns["correlation_hash"][message])] if flags & _CORRELATED else []
        plain = self._extracts.named.get(message)
        if plain is None:
            plain = [hash_text(name) for name in islice(dict.fromkeys(self.correlation_ids(message)), MOST_NAMED)]
        salt = self._namespaces.salt(int(self.columns["space"][message]))
        return [value ^ salt for value in plain]

    def reason(self, message: int) -> str | None:
        """Why the message is unreadable, or what its gap is about; None otherwise."""
        return self.record(message).reason

    def envelope_id(self, message: int) -> str | None:
        """The envelope's id; `local-N` stands for one that is missing; None for what is no envelope."""
        if self._has(message, Flag.NO_ID.value):
            return self._stand_in(message)
        whole = self.decoded_ahead.get(message)
        if whole is not None:
            return whole.identifier
        record = self.record(message)
        if record.shape is not Shape.ENVELOPE or record.header is None or record.header.id is ABSENT:
            return None
        identifier = record.header.id
        return identifier if isinstance(identifier, str) else compact(identifier)

    def _stand_in(self, message: int) -> str | None:
        return f"local-{message + 1}" if self._has(message, Flag.NO_ID.value) else None

    def correlation_ids(self, message: int) -> list[str]:
        """The ids named in `correlation_id`, as written."""
        if not self._has(message, Flag.CORRELATED.value):
            return []
        whole = self.decoded_ahead.get(message)
        if whole is not None and whole.correlation is not None:
            return whole.correlation
        header = self.record(message).header
        return correlations(header) if header is not None else []

    def find_id(self, identifier: str) -> list[int]:
        """Every message with this envelope id in any space, ascending; confirmed against the records."""
        plain = hash_text(identifier)
        rows = sorted(row for salt in self._namespaces.each() for row in self.ids.rows(plain ^ salt))
        return [row for row in rows if self.envelope_id(row) == identifier or self._is_record(row, identifier)]

    def _is_record(self, message: int, identifier: str) -> bool:
        """Whether a transcript's record of that id ends in a message."""
        if not self._has(message, Flag.DERIVED.value):
            return False
        means = read_line(self.record_bytes(message), self._reading(message), self._known(message)).means
        part = int(self.columns["part"][message])
        return part <= len(means) and means[part - 1].alias == identifier

    def hash_in(self, space: int, identifier: str) -> int:
        """What `id_hash` and `correlation_hash` are for an id in a space (its string id)."""
        return hash_text(identifier) ^ self._namespaces.salt(space)

    def text_hashes(self, column: str, rows: Any) -> NDArray[np.uint64]:
        """Of some messages `id_hash` or `correlation_hash` as `hash_text` gives it, whatever their space."""
        hashes = self.columns[column][rows]
        salts = self._namespaces.salts(self.columns["space"][rows])
        return hashes if salts is None else np.where(hashes != NO_HASH, hashes ^ salts, hashes)

    def latest_anywhere(self, hashes: NDArray[np.uint64], before: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """For hashes as `hash_text` gives them, the latest message (below `before`) with that id anywhere; NO_ROW."""
        before = np.full(len(hashes), np.iinfo(np.int64).max) if before is None else before
        latest = np.full(len(hashes), NO_ROW, np.int64)
        for salt in self._namespaces.each():
            salted = np.where(hashes != NO_HASH, hashes ^ np.uint64(salt), hashes)
            latest = np.maximum(latest, self.ids.latest(salted, before))
        return latest

    def deliveries_of(self, message: int) -> Iterator[Delivery]:
        """The copies of a message in a gateway log, in log order."""
        columns = self.deliveries
        for place in self._delivery_order(message):
            participant = int(columns["participant"][place])
            yield Delivery(
                self.strings[participant] if participant else None,
                self.strings[int(columns["event"][place])],
                int(columns["source"][place]),
                int(columns["offset"][place]),
                int(columns["length"][place]),
            )

    def _delivery_order(self, message: int) -> NDArray[np.int64]:
        """Places of a message's deliveries, through an order that is made once a log has been read."""
        column = self.deliveries["message"]
        if not len(column):
            return self._order
        if len(self._order) != len(column):
            self._order = np.argsort(column, kind="stable")
            self._ordered = column[self._order]
        low, high = np.searchsorted(self._ordered, [message, message + 1])
        return self._order[low:high]

    def recipients(self, message: int) -> list[str]:
        """Who got it, as far as a log says."""
        found = (d.participant for d in self.deliveries_of(message) if d.event == "delivered")
        return list(dict.fromkeys(p for p in found if p is not None))

    def close(self) -> None:
        """Close the files."""
        for source in self.sources:
            source.close()
