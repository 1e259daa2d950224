"""The transient-context protocol: which tool results may be, and were, replaced by their summary.

Source: docs/protocols.md 13, with its rule for the one ambiguity: the OLDEST pending result collapses (FIFO by
arrival), unless the most recent one is asked for. State is kept per conversation: one run of a client, with all its
servers.
"""

from __future__ import annotations

from array import array

import numpy as np

from inspector.analysis.passes.calls.connections import ClientRuns
from inspector.analysis.passes.calls.correlation import CorrelationPass
from inspector.analysis.passes.changes import ChangedRows, Rows
from inspector.analysis.passes.results.badges import BADGE_SETS, NOTES, Badge, Lifecycle, Note
from inspector.analysis.passes.results.pairing import NOTHING, Conversation
from inspector.analysis.passes.results.signals import (
    CONSUMED,
    FAILED,
    HINTS,
    NO_CALL,
    NOWHERE,
    ODD,
    REPEATED,
    SUMMARY,
    TRANSIENT,
    SignalTable,
)
from inspector.protocol import kinds
from inspector.protocol.tool_aliases import ToolAliases
from inspector.protocol.transient_results import Signal, signal_in
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

_IS_TRANSIENT, _IS_CONSUMED, _IS_COLLAPSED = Badge.TRANSIENT.value, Badge.CONSUMED.value, Badge.COLLAPSED.value
_CHEAP = 20_000
"""Signals that are told again without a thought while a log is being read."""


class TransientPass:
    """Follows every result that carries `_meta`.

    Attributes:
        columns: per message `badges` uint8 (Badge bits).
        signals: the results that signal something, and which of them consumed which.
        aliases: tools that are called by several names.
        newest_first: of several results that wait, the most recent one collapses and not the oldest.
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
        self._stale: set[int] = set()  # conversations whose story has to be told again
        self._told_again = 0
        # Found out, and not yet in the columns: what bears which badge.
        self._bearing: dict[int, list[int]] = {badge.value: [] for badge in Badge}
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Messages whose badges, links or notes changed."""
        return self._changed.take()

    def feed(self, start: int, stop: int, changed: Rows | None = None, *, more: bool = False) -> None:
        """Take in messages `start` to `stop`.

        Args:
            changed: earlier messages whose links changed; when a result's tool or conversation is among what
                changed, the story of its conversation is told again from the beginning, so that batching makes
                no difference.
            more: there is more to come at once: a long story that has to be told again may wait, until `settle`.
        """
        self.columns.append({"badges": 0}, stop - start)
        self.runs.feed(start, stop)
        if changed is not None and len(changed) and len(self.signals):
            self._stale |= self.signals.moved(self._responses(changed[changed < start]))
        if self._stale and (not more or self._is_affordable()):
            self.settle()
        self._read(self._responses(np.arange(start, stop)))

    def settle(self) -> None:
        """Tell again what has to be told again, so that every value is right."""
        if self._stale:
            self._tell_again(self._stale)
            self._stale = set()

    def use_aliases(self, aliases: ToolAliases) -> None:
        """Let tools go by other names from now on; what that changes in the past is told again. O(signals)."""
        if aliases.rules != self.aliases.rules:
            self.aliases = aliases
            self._tell_all_again()

    def use_order(self, *, newest_first: bool) -> None:
        """Which of several results that wait collapses from now on, and would have in the past. O(signals)."""
        if newest_first != self.newest_first:
            self.newest_first = newest_first
            self._tell_all_again()

    def _tell_all_again(self) -> None:
        self._tell_again(self._stale.union(self._conversations))
        self._stale = set()

    def _responses(self, rows: Rows) -> Rows:
        """Those of some messages that are responses with `_meta`, and were let through."""
        columns = self._capture.columns
        flags = columns["flags"][rows] & (Flag.HAS_META | Flag.REFUSED).value
        rows = rows[flags == Flag.HAS_META.value]
        return rows[columns["kind"][rows] == (self._capture.strings.find(kinds.RESPONSE) or -1)]

    def _read(self, rows: Rows) -> None:
        first = len(self.signals)
        for row in rows.tolist():
            signal = signal_in(self._capture.records.decoded(row).payload)
            if signal is not None:
                self.signals.add(row, signal, self._capture.extracted.digest(row))
        for place in range(first, len(self.signals)):
            if self.signals.conversation[place] not in self._stale:
                self._apply(place)
        self._publish()

    def _is_affordable(self) -> bool:
        """Whether telling it again is little beside what has been read: all such work together stays linear."""
        cost = len(self.signals.of_conversations(self._stale))
        if self._told_again + cost > len(self.signals) + _CHEAP:
            return False
        self._told_again += cost
        return True

    def _tell_again(self, conversations: set[int]) -> None:
        places = self.signals.of_conversations(conversations)
        rows = np.array(self.signals.row)[places].astype(np.int64)
        badges, before = self.columns["badges"][rows], self.signals.story(places)
        self.columns.put("badges", rows, 0)
        self.signals.forget_links(places)
        for conversation in conversations:
            self._conversations.pop(conversation, None)
        for place in places.tolist():
            self._apply(place)
        self._publish(tell=False)
        differs = (badges != self.columns["badges"][rows]) | (before != self.signals.story(places)).any(axis=0)
        self._changed.update_all(rows[differs])

    def _publish(self, *, tell: bool = True) -> None:
        """Put what `_apply` found out into the columns, all at once."""
        for badge, marked in self._bearing.items():
            rows = np.array(marked, np.int64)
            marked.clear()
            self.columns.put("badges", rows, self.columns["badges"][rows] | badge)
            if tell:
                self._changed.update_all(rows)

    # The algorithm, step numbers as in docs/protocols.md 13. Who bears a badge is appended to its bit's list.

    def _apply(self, place: int) -> None:
        table = self.signals
        said, row = table.said[place], table.row[place]
        table.note[place] = 0
        if said & (NO_CALL | REPEATED):
            table.note[place] = Note.NO_CALL if said & NO_CALL else Note.REPEATED
            return
        number = table.conversation[place]
        conversation = self._conversations.get(number)
        if conversation is None:
            conversation = self._conversations[number] = Conversation(self.newest_first)
        if said & HINTS:  # 1
            for fetcher, consumer in table.pairs(place):
                conversation.register(self.aliases.meant(fetcher), self.aliases.meant(consumer), row)
        tool = self._meant(place)
        failed = said & FAILED
        if said & CONSUMED:  # 2
            if failed:
                table.note[place] = Note.FAILED
            else:
                self._bearing[_IS_CONSUMED].append(row)
                table.note[place] = self._collapse(conversation, place, tool)
        if said & TRANSIENT:  # 3
            if not failed:
                self._bearing[_IS_TRANSIENT].append(row)
                consumers = table.consumers.get(place, ())
                # A result of an unknown tool waits, by a name of its own, for whom it names itself.
                fetcher = tool or f"\0{row}"
                for consumer in consumers:
                    conversation.register(fetcher, self.aliases.meant(consumer), row)
                if tool is not None or consumers:
                    conversation.wait(fetcher, place, table.following)
            elif not said & CONSUMED:
                table.note[place] = Note.NOT_KEPT

    def _collapse(self, conversation: Conversation, consumer: int, tool: str | None) -> Note:
        if tool is None:
            return Note.NO_TOOL
        place = conversation.take(tool, self.signals.following)
        if place == NOTHING:
            waiting = conversation.unpaired(tool)
            if waiting != NOTHING:
                self.signals.unpaired[consumer] = self.signals.row[waiting]
                return Note.UNPAIRED
            return Note.NOTHING_WAITS if tool in conversation.consumers else Note.NOT_PAIRED
        self._bearing[_IS_COLLAPSED].append(self.signals.row[place])
        self.signals.link(place, consumer)
        return Note.NONE

    def _meant(self, place: int) -> str | None:
        """The tool of a signal, by the name it goes by."""
        tool = self.signals.tool[place]
        return self.aliases.meant(self._capture.strings[tool]) if tool else None

    # Asking

    def said(self, row: int) -> int:
        """What a result signals, in short: bits of `Said`; 0 for one that signals nothing."""
        place = self.signals.find(row)
        return self.signals.said[place] if place != NOWHERE else 0

    def signal(self, row: int) -> Signal | None:
        """What a result's `_meta` says, read again; None when it signals nothing."""
        return signal_in(self._capture.records.decoded(row).payload) if self.signals.find(row) != NOWHERE else None

    def hints(self, row: int) -> tuple[tuple[str, str], ...]:
        """The (fetching tool, consuming tool) pairs a result registers, as written."""
        place = self.signals.find(row)
        return self.signals.pairs(place) if place != NOWHERE else ()

    def is_transient(self, row: int) -> bool:
        """Whether a message is a result that may be, or was, collapsed."""
        return bool(self.columns["badges"][row] & Badge.TRANSIENT.value)

    def gives_summary(self, row: int) -> bool:
        """Whether a result brings its own summary, which nothing that comes later changes."""
        return bool(self.said(row) & SUMMARY)

    def summary(self, row: int) -> str | None:
        """The summary that stands, or will stand, for a transient result; generated when it gave none. Reads it."""
        if not 0 <= row < len(self.columns) or not self.columns["badges"][row] & Badge.TRANSIENT.value:
            return None
        place = self.signals.find(row)
        if self.signals.said[place] & SUMMARY and (signal := self.signal(row)) is not None and signal.summary:
            return signal.summary
        return f"{self.signals.tool_name(place) or 'tool'} result"

    def badges(self, row: int) -> tuple[str, ...]:
        """Words of a message's badges, in the order of its life."""
        return BADGE_SETS[int(self.columns["badges"][row])]

    def collapsed_by(self, row: int) -> int | None:
        """The message that consumed a result; None."""
        return self._linked(self.signals.collapsed_by, row)

    def consumes(self, row: int) -> int | None:
        """The result that a message consumed; None."""
        return self._linked(self.signals.consumes, row)

    def _linked(self, links: array[int], row: int) -> int | None:
        place = self.signals.find(row)
        return links[place] if place != NOWHERE and links[place] != NO_ROW else None

    def hinted_by(self, row: int) -> int | None:
        """The message whose hint let a result collapse, or would let it; None."""
        if not self.columns["badges"][row] & Badge.TRANSIENT.value:
            return None
        place = self.signals.find(row)
        tool, conversation = self._meant(place), self.conversation_of(row)
        if tool is None or conversation is None:
            return None
        by = self.collapsed_by(row)
        consumer = self._meant(self.signals.find(by)) if by is not None else None
        if consumer is not None and consumer in conversation.consumers:
            return conversation.consumers[consumer].tools.get(tool)
        return conversation.hinted.get(tool)

    def note(self, row: int) -> str | None:
        """A sentence about a signal that did not do what it says; None."""
        place = self.signals.find(row)
        if place == NOWHERE:
            return None
        if (why := self.why_nothing(row)) is not None:
            return f"{why}, so it collapsed nothing."
        if self.signals.note[place]:
            return NOTES[Note(self.signals.note[place])]
        signal = self.signal(row) if self.signals.said[place] & ODD else None
        return signal.odd if signal is not None else None

    def tool_name(self, row: int) -> str | None:
        """The tool that gave a result with a signal, as called; None where it is not known."""
        place = self.signals.find(row)
        return self.signals.tool_name(place) if place != NOWHERE else None

    def unpaired(self, row: int) -> int | None:
        """A result that waited when a message consumed nothing, as no hint pairs the two tools; None."""
        return self._linked(self.signals.unpaired, row)

    def why_nothing(self, row: int) -> str | None:
        """Why a message that signals a consumption consumed nothing, where a result waited; None."""
        waiting = self.unpaired(row)
        if waiting is None:
            return None
        fetcher, consumer = self.tool_name(waiting), self.tool_name(row)
        return f"No. {waiting + 1} waits, but no hint pairs {fetcher or 'its tool'} with {consumer or 'this one'}"

    def lifecycle(self, row: int) -> Lifecycle:
        """The story of a result. Of one that signals something its record is read."""
        place = self.signals.find(row)
        if place == NOWHERE:
            return _NOTHING
        return Lifecycle(
            self.badges(row), self.summary(row), self.signals.tool_name(place), self.hinted_by(row),
            self.collapsed_by(row), self.consumes(row), self.note(row),
        )  # fmt: skip

    def conversation_of(self, row: int) -> Conversation | None:
        """What is known of the conversation a result belongs to; None when nothing was signalled in it."""
        number = self.signals.conversation_of(row)
        return self._conversations.get(number) if number is not None else None

    def totals(self) -> dict[str, int]:
        """Counts of docs/design.md 5: transient, consumed, collapsed, pending."""
        badges = self.columns["badges"]
        transient = int(np.count_nonzero(badges & Badge.TRANSIENT))
        collapsed = int(np.count_nonzero(badges & Badge.COLLAPSED))
        return {
            "transient": transient, "consumed": collapsed, "collapsed": collapsed, "pending": transient - collapsed,
        }  # fmt: skip


_NOTHING = Lifecycle((), None, None, None, None, None, None)
