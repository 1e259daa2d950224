"""Applies the transient-context protocol: signals, badges, summaries and collapses of tool results.

Source: docs/protocols.md 13, with its rule for the one ambiguity. The OLDEST pending result collapses (FIFO by
arrival), unless the user selects the most recent one. State is kept per conversation: one run of a client, with all its
servers.
"""

from __future__ import annotations

from array import array

import numpy as np

from inspector.analysis.passes.calls.client_runs import ClientRuns
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.analysis.passes.results.result_badges import BADGE_SETS, NOTE_SENTENCES, Badge, Lifecycle, SignalNote
from inspector.analysis.passes.results.signal_table import (
    CONSUMED,
    FAILED,
    HINTS,
    NO_CALL,
    NO_PLACE,
    ODD,
    REPEATED,
    SUMMARY,
    TRANSIENT,
    SignalTable,
)
from inspector.analysis.passes.results.tool_pairing import NO_RESULT, Conversation
from inspector.protocol import kinds
from inspector.protocol.tool_aliases import ToolAliases
from inspector.protocol.transient_results import TransientSignal, signal_in
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

_IS_TRANSIENT, _IS_CONSUMED, _IS_COLLAPSED = Badge.TRANSIENT.value, Badge.CONSUMED.value, Badge.COLLAPSED.value
_FREE_REPROCESSING = 20_000
"""Signals that may be reprocessed at any time while a log is being read."""


class TransientPass:
    """Tracks every result that carries `_meta`.

    Attributes:
        columns: per message `badges` uint8 (Badge bits).
        signals: the results with a signal, and the links between consumers and consumed.
        aliases: tools with several names.
        newest_first: the most recent waiting result collapses first, not the oldest.
        runs: runs of clients over connections without an envelope.
    """

    def __init__(self, capture: Capture, correlation: CorrelationPass) -> None:
        self._capture = capture
        self._correlation = correlation
        self.aliases = ToolAliases()
        self.newest_first = False
        self.columns = GrowingColumns({"badges": np.uint8})
        self.runs = ClientRuns(capture, correlation.columns)
        self.signals = SignalTable(self._capture, self._correlation, self.runs)
        self._conversations: dict[int, Conversation] = {}
        self._stale: set[int] = set()  # conversations to reprocess
        self._reprocessed = 0
        # By badge, its messages that are not yet in the columns.
        self._pending_badges: dict[int, list[int]] = {badge.value: [] for badge in Badge}
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Returns messages with changed badges, links or notes, and clears them."""
        return self._changed.take_rows()

    def feed(self, start: int, stop: int, changed: Rows | None = None, *, more: bool = False) -> None:
        """Processes messages `start` to `stop`.

        Args:
            changed: earlier messages with changed links. If that moves a result to another tool or conversation, the
                conversation is reprocessed from its beginning, so that the division into batches makes no difference.
            more: another batch follows at once, so long reprocessing may wait until `reprocess_stale`.
        """
        self.columns.append({"badges": 0}, stop - start)
        self.runs.feed(start, stop)
        if changed is not None and len(changed) and len(self.signals):
            self._stale |= self.signals.moved(self._responses(changed[changed < start]))
        # During reading, reprocessing is deferred if it would dominate the cost of the batch.
        if self._stale and (not more or self._is_affordable()):
            self.reprocess_stale()
        self._read(self._responses(np.arange(start, stop)))

    def reprocess_stale(self) -> None:
        """Reprocesses stale conversations, so that every value is right."""
        if self._stale:
            self._reprocess(self._stale)
            self._stale = set()

    def use_aliases(self, aliases: ToolAliases) -> None:
        """Replaces the tool aliases and reprocesses the past. O(signals)."""
        if aliases.rules != self.aliases.rules:
            self.aliases = aliases
            self._reprocess_all()

    def use_order(self, *, newest_first: bool) -> None:
        """Sets the order in which waiting results collapse, and reprocesses the past. O(signals)."""
        if newest_first != self.newest_first:
            self.newest_first = newest_first
            self._reprocess_all()

    def _reprocess_all(self) -> None:
        self._reprocess(self._stale.union(self._conversations))
        self._stale = set()

    def _responses(self, rows: Rows) -> Rows:
        """Returns the messages that are responses with `_meta` and were not refused."""
        columns = self._capture.columns
        flags = columns["flags"][rows] & (Flag.HAS_META | Flag.REFUSED).value
        rows = rows[flags == Flag.HAS_META.value]
        return rows[columns["kind"][rows] == (self._capture.strings.find(kinds.RESPONSE) or -1)]

    def _read(self, rows: Rows) -> None:
        first = len(self.signals)
        for row in rows.tolist():
            signal = signal_in(self._capture.records.decoded_record(row).payload)
            if signal is not None:
                self.signals.add(row, signal, self._capture.extracted.payload_digest(row))
        for place in range(first, len(self.signals)):
            if self.signals.conversation[place] not in self._stale:
                self._apply(place)
        self._write_badges()

    def _is_affordable(self) -> bool:
        """Tells if reprocessing costs little beside the results read so far: all such work together stays linear."""
        cost = len(self.signals.of_conversations(self._stale))
        if self._reprocessed + cost > len(self.signals) + _FREE_REPROCESSING:
            return False
        self._reprocessed += cost
        return True

    def _reprocess(self, conversations: set[int]) -> None:
        places = self.signals.of_conversations(conversations)
        rows = np.array(self.signals.row)[places].astype(np.int64)
        # Compared afterwards, so that only rows with a different result are reported as changed.
        badges, before = self.columns["badges"][rows], self.signals.story(places)
        self.columns.replace("badges", rows, 0)
        self.signals.clear_links(places)
        for conversation in conversations:
            self._conversations.pop(conversation, None)
        for place in places.tolist():
            self._apply(place)
        self._write_badges(tell=False)
        differs = (badges != self.columns["badges"][rows]) | (before != self.signals.story(places)).any(axis=0)
        self._changed.add_array(rows[differs])

    def _write_badges(self, *, tell: bool = True) -> None:
        """Writes the results of `_apply` to the columns, all at once."""
        for badge, marked in self._pending_badges.items():
            rows = np.array(marked, np.int64)
            marked.clear()
            self.columns.replace("badges", rows, self.columns["badges"][rows] | badge)
            if tell:
                self._changed.add_array(rows)

    # The algorithm, step numbers as in docs/protocols.md 13. Messages with a new badge are appended to its list.

    def _apply(self, place: int) -> None:
        table = self.signals
        said, row = table.signal_bits[place], table.row[place]
        # A signal may be applied again, after its conversation was reset.
        table.note[place] = 0
        if said & (NO_CALL | REPEATED):
            table.note[place] = SignalNote.NO_CALL if said & NO_CALL else SignalNote.REPEATED
            return
        number = table.conversation[place]
        conversation = self._conversations.get(number)
        if conversation is None:
            conversation = self._conversations[number] = Conversation(self.newest_first)
        if said & HINTS:  # 1
            for fetcher, consumer in table.pairs(place):
                conversation.register(self.aliases.resolve(fetcher), self.aliases.resolve(consumer), row)
        tool = self._primary_tool(place)
        failed = said & FAILED
        if said & CONSUMED:  # 2
            if failed:
                table.note[place] = SignalNote.FAILED
            else:
                self._pending_badges[_IS_CONSUMED].append(row)
                table.note[place] = self._collapse(conversation, place, tool)
        if said & TRANSIENT:  # 3
            if not failed:
                self._pending_badges[_IS_TRANSIENT].append(row)
                consumers = table.consumers.get(place, ())
                # A result of an unknown tool waits under a unique name, for the consumers that it names itself.
                fetcher = tool or f"\0{row}"
                for consumer in consumers:
                    conversation.register(fetcher, self.aliases.resolve(consumer), row)
                if tool is not None or consumers:
                    conversation.wait(fetcher, place, table.following)
            elif not said & CONSUMED:
                table.note[place] = SignalNote.NOT_KEPT

    def _collapse(self, conversation: Conversation, consumer: int, tool: str | None) -> SignalNote:
        if tool is None:
            return SignalNote.NO_TOOL
        place = conversation.take_result(tool, self.signals.following)
        if place == NO_RESULT:
            waiting = conversation.unpaired(tool)
            if waiting != NO_RESULT:
                self.signals.unpaired[consumer] = self.signals.row[waiting]
                return SignalNote.UNPAIRED
            return SignalNote.NOTHING_WAITS if tool in conversation.consumers else SignalNote.NOT_PAIRED
        self._pending_badges[_IS_COLLAPSED].append(self.signals.row[place])
        self.signals.link(place, consumer)
        return SignalNote.NONE

    def _primary_tool(self, place: int) -> str | None:
        """Returns the tool of a signal by its primary alias."""
        tool = self.signals.tool[place]
        return self.aliases.resolve(self._capture.strings[tool]) if tool else None

    # Lookup

    def signal_bits(self, row: int) -> int:
        """Returns the bits of `SignalBit` of a result; 0 without a signal."""
        place = self.signals.find(row)
        return self.signals.signal_bits[place] if place != NO_PLACE else 0

    def signal(self, row: int) -> TransientSignal | None:
        """Parses a result's `_meta` again; None without a signal."""
        return (
            signal_in(self._capture.records.decoded_record(row).payload) if self.signals.find(row) != NO_PLACE else None
        )

    def hints(self, row: int) -> tuple[tuple[str, str], ...]:
        """Returns the (fetching tool, consuming tool) pairs that a result registers, as written."""
        place = self.signals.find(row)
        return self.signals.pairs(place) if place != NO_PLACE else ()

    def is_transient(self, row: int) -> bool:
        """Tells if a message is a result that may be, or was, collapsed."""
        return bool(self.columns["badges"][row] & Badge.TRANSIENT.value)

    def has_own_summary(self, row: int) -> bool:
        """Tells if a result brings its own summary; later messages do not change that one."""
        return bool(self.signal_bits(row) & SUMMARY)

    def summary(self, row: int) -> str | None:
        """Returns the present or future summary of a transient result, generated if it has none. Reads the record."""
        if not 0 <= row < len(self.columns) or not self.columns["badges"][row] & Badge.TRANSIENT.value:
            return None
        place = self.signals.find(row)
        if self.signals.signal_bits[place] & SUMMARY and (signal := self.signal(row)) is not None and signal.summary:
            return signal.summary
        return f"{self.signals.tool_name(place) or 'tool'} result"

    def badges(self, row: int) -> tuple[str, ...]:
        """Returns words of a message's badges, in the order of its life."""
        return BADGE_SETS[int(self.columns["badges"][row])]

    def collapsed_by(self, row: int) -> int | None:
        """Returns the message that consumed a result."""
        return self._linked(self.signals.collapsed_by, row)

    def consumes(self, row: int) -> int | None:
        """Returns the result that a message consumed."""
        return self._linked(self.signals.consumes, row)

    def _linked(self, links: array[int], row: int) -> int | None:
        place = self.signals.find(row)
        return links[place] if place != NO_PLACE and links[place] != NO_ROW else None

    def hinted_by(self, row: int) -> int | None:
        """Returns the message with the hint that allows a result to collapse."""
        if not self.columns["badges"][row] & Badge.TRANSIENT.value:
            return None
        place = self.signals.find(row)
        tool, conversation = self._primary_tool(place), self.conversation_of(row)
        if tool is None or conversation is None:
            return None
        by = self.collapsed_by(row)
        consumer = self._primary_tool(self.signals.find(by)) if by is not None else None
        if consumer is not None and consumer in conversation.consumers:
            return conversation.consumers[consumer].tools.get(tool)
        return conversation.hinted_tools.get(tool)

    def note(self, row: int) -> str | None:
        """Returns a sentence about a signal without effect."""
        place = self.signals.find(row)
        if place == NO_PLACE:
            return None
        if (why := self.unpaired_reason(row)) is not None:
            return f"{why}, so it collapsed nothing."
        if self.signals.note[place]:
            return NOTE_SENTENCES[SignalNote(self.signals.note[place])]
        signal = self.signal(row) if self.signals.signal_bits[place] & ODD else None
        return signal.problem if signal is not None else None

    def tool_name(self, row: int) -> str | None:
        """Returns the called tool of a result with a signal, as written; None if unknown."""
        place = self.signals.find(row)
        return self.signals.tool_name(place) if place != NO_PLACE else None

    def unpaired(self, row: int) -> int | None:
        """Returns a result that waited while a message consumed none, since no hint pairs the tools."""
        return self._linked(self.signals.unpaired, row)

    def unpaired_reason(self, row: int) -> str | None:
        """Explains why a signalled consumption took no result although one waited, or returns None."""
        waiting = self.unpaired(row)
        if waiting is None:
            return None
        fetcher, consumer = self.tool_name(waiting), self.tool_name(row)
        return f"No. {waiting + 1} waits, but no hint pairs {fetcher or 'its tool'} with {consumer or 'this one'}"

    def lifecycle(self, row: int) -> Lifecycle:
        """Returns the life of a result. Reads the record if it has a signal."""
        place = self.signals.find(row)
        if place == NO_PLACE:
            return _EMPTY_LIFECYCLE
        return Lifecycle(
            self.badges(row), self.summary(row), self.signals.tool_name(place), self.hinted_by(row),
            self.collapsed_by(row), self.consumes(row), self.note(row),
        )  # fmt: skip

    def conversation_of(self, row: int) -> Conversation | None:
        """Returns the conversation of a result, or None if it has no signal."""
        number = self.signals.conversation_of(row)
        return self._conversations.get(number) if number is not None else None

    def totals(self) -> dict[str, int]:
        """Counts transient, consumed, collapsed and pending results (docs/design.md 5)."""
        badges = self.columns["badges"]
        transient = int(np.count_nonzero(badges & Badge.TRANSIENT))
        collapsed = int(np.count_nonzero(badges & Badge.COLLAPSED))
        return {
            "transient": transient, "consumed": collapsed, "collapsed": collapsed, "pending": transient - collapsed,
        }  # fmt: skip


_EMPTY_LIFECYCLE = Lifecycle((), None, None, None, None, None, None)
