"""The transient-context protocol: which tool results may be, and were, replaced by their summary.

Source: protocols.md 13, with its rule for the one ambiguity: the OLDEST pending result collapses (FIFO by arrival).
State is kept per conversation: one client connection, or one requester and server inside MEW.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any

import numpy as np

from inspector.analysis.changes import ChangedRows, Rows
from inspector.analysis.correlation import CorrelationPass
from inspector.capture.capture import Capture
from inspector.capture.columns import GrowingColumns
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_ROW
from inspector.protocol import kinds
from inspector.protocol.secrets import masked_words

_LONGEST_ODD = 80  # characters of what is no signal that are shown


class Badge(IntFlag):
    """Bits of the `badges` column."""

    TRANSIENT = 1
    CONSUMED = 2
    COLLAPSED = 4


@dataclass(slots=True)
class Signal:
    """What one result's `_meta` says, read once."""

    row: int
    hints: tuple[tuple[str, str], ...]
    """(fetching tool, consuming tool) pairs it registers."""
    consumed: bool
    transient: bool
    summary: str | None
    failed: bool
    odd: str | None
    """A sentence about something that looks like a signal and is none."""


@dataclass(slots=True)
class _Conversation:
    pairs: dict[str, dict[str, int]] = field(default_factory=dict)  # consumer -> {tool: row of the hint}
    hinted: dict[str, int] = field(default_factory=dict)  # tool -> row of the first hint that names it
    pending: dict[str, deque[int]] = field(default_factory=dict)  # tool -> rows of its results, oldest first

    def oldest(self, tools: Mapping[str, int]) -> str | None:
        """Which of some tools has the result that waits longest; None when none waits. O(tools), of the fewer."""
        few, many = (tools, self.pending) if len(tools) < len(self.pending) else (self.pending, tools)
        waiting = (tool for tool in few if tool in many)
        return min(waiting, key=lambda tool: self.pending[tool][0], default=None)

    def take(self, tool: str) -> int:
        """The row of a tool's result that waits longest; it waits no longer."""
        rows = self.pending[tool]
        row = rows.popleft()
        if not rows:
            del self.pending[tool]
        return row


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The story of one result; message numbers are 0-based, None where it did not happen."""

    badges: tuple[str, ...]
    summary: str | None
    tool: str | None
    hinted_by: int | None
    collapsed_by: int | None
    consumes: int | None
    note: str | None


class TransientPass:
    """Follows every result that carries `_meta`.

    Attributes:
        columns: per message `badges` uint8 (Badge bits), `collapsed_by` and `consumes` int32 (NO_ROW).
    """

    def __init__(self, capture: Capture, correlation: CorrelationPass) -> None:
        self._capture = capture
        self._correlation = correlation
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.columns = GrowingColumns({"badges": np.uint8, "collapsed_by": np.int32, "consumes": np.int32})
        self._signals: dict[int, Signal] = {}
        self._seen: dict[int, tuple[object, str | None]] = {}
        self._conversations: dict[object, _Conversation] = {}
        self._hinted_by: dict[int, int] = {}
        self._notes: dict[int, str] = {}
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Messages whose badges or links changed."""
        return self._changed.take()

    def feed(self, start: int, stop: int, changed: Rows | None = None) -> None:
        """Take in messages `start` to `stop`.

        Args:
            changed: earlier messages whose links changed; when a result's tool or conversation is among what
                changed, the story is told again from the beginning, so that batching makes no difference.
        """
        self.columns.append({"badges": 0, "collapsed_by": NO_ROW, "consumes": NO_ROW}, stop - start)
        late = changed[changed < start].tolist() if changed is not None else []
        if any(row in self._signals and self._seen[row] != self._placed(row) for row in late):
            self._retell()
        columns = self._capture.columns
        telling = columns["flags"][start:stop] & Flag.HAS_META.value != 0
        telling &= columns["kind"][start:stop] == (self._capture.strings.find(kinds.RESPONSE) or -1)
        for row in (np.flatnonzero(telling) + start).tolist():
            signal = self._read(row)
            if signal is not None:
                self._signals[row] = signal
                self._apply(signal)

    def _retell(self) -> None:
        before = {row: self._values(row) for row in self._signals}
        noted = self._changed.take().tolist()
        for name, empty in (("badges", 0), ("collapsed_by", NO_ROW), ("consumes", NO_ROW)):
            self.columns.put(name, slice(None), empty)
        self._conversations.clear()
        self._hinted_by.clear()
        self._notes.clear()
        for signal in self._signals.values():
            self._apply(signal)
        self._changed.take()
        self._changed.update(noted)
        self._changed.update(row for row in self._signals if before[row] != self._values(row))

    def _values(self, row: int) -> tuple[int, ...]:
        return tuple(int(self.columns[name][row]) for name in ("badges", "collapsed_by", "consumes"))

    # Reading one result

    def _read(self, row: int) -> Signal | None:
        result = self._capture.told(row).payload.get("result")
        meta = result.get("_meta") if isinstance(result, Mapping) else None
        if not isinstance(meta, Mapping):
            return None
        hints = meta.get("contextHints")
        pairs = tuple(filter(None, map(_pair, hints))) if isinstance(hints, list) else ()
        context = meta.get("context")
        odd = None
        if not isinstance(context, Mapping):
            odd = None if context is None else "`_meta.context` is no object, so it signals nothing."
            context = {}
        consumed = context.get("consumed")
        if consumed is not None and not isinstance(consumed, bool):
            shown = masked_words(consumed, _LONGEST_ODD)
            shown = f'"{shown}"' if isinstance(consumed, str) else shown
            odd = f"`consumed` is {shown}, not true, so it signals nothing."
        summary = context.get("summary")
        transient = context.get("lifecycle") == "transient"
        if not (pairs or transient or consumed is True or odd):
            return None
        failed = bool(int(self._capture.columns["flags"][row]) & Flag.ERROR.value)
        return Signal(
            row, pairs, consumed is True, transient, summary if isinstance(summary, str) else None, failed, odd
        )

    def _placed(self, row: int) -> tuple[object, str | None]:
        """The conversation and tool of a result, as known now."""
        capture, links = self._capture, self._correlation.columns
        method, target = int(links["method"][row]), int(links["target"][row])
        tool = capture.strings[target] if target and capture.strings[method] == "tools/call" else None
        cause = int(links["cause"][row])
        server = capture.string("sender", row)
        client = capture.string("sender", cause) if cause != NO_ROW else next(iter(capture.to(row)), None)
        source = int(capture.columns["source"][row]) if int(capture.columns["flags"][row]) & Flag.RPC.value else -1
        return (source, capture.string("space", row), client, server), tool

    # The algorithm, step numbers as in protocols.md 13

    def _apply(self, signal: Signal) -> None:
        row = signal.row
        key, tool = self._seen[row] = self._placed(row)
        conversation = self._conversations.setdefault(key, _Conversation())
        if signal.odd:
            self._notes[row] = signal.odd
        for fetcher, consumer in signal.hints:  # 1
            conversation.pairs.setdefault(consumer, {}).setdefault(fetcher, row)
            conversation.hinted.setdefault(fetcher, row)
        if signal.consumed and signal.failed:  # 2
            self._notes[row] = "It failed, so it consumed nothing."
        elif signal.consumed:
            self._mark(row, Badge.CONSUMED)
            self._collapse(conversation, row, tool)
        if signal.transient and not signal.failed:  # 3
            self._mark(row, Badge.TRANSIENT)
            if tool is not None:
                conversation.pending.setdefault(tool, deque()).append(row)
                if tool in conversation.hinted:
                    self._hinted_by[row] = conversation.hinted[tool]

    def _collapse(self, conversation: _Conversation, row: int, tool: str | None) -> None:
        tools = conversation.pairs.get(tool, {}) if tool is not None else {}
        if not tools:
            self._notes[row] = "No hint names it as a consumer, so it collapsed nothing."
            return
        fetcher = conversation.oldest(tools)
        if fetcher is None:
            self._notes[row] = "No result was waiting to be consumed by it."
            return
        pending = conversation.take(fetcher)
        self._hinted_by[pending] = tools[fetcher]
        self._mark(pending, Badge.COLLAPSED)
        self.columns.put("collapsed_by", pending, row)
        self.columns.put("consumes", row, pending)

    def _mark(self, row: int, badge: Badge) -> None:
        self.columns.put("badges", row, int(self.columns["badges"][row]) | badge.value)
        self._changed.add(row)

    # Asking

    def summary(self, row: int) -> str | None:
        """The summary that stands, or will stand, for a transient result; generated when it gave none."""
        signal = self._signals.get(row)
        if signal is None or not self.columns["badges"][row] & Badge.TRANSIENT:
            return None
        return signal.summary or f"{self._seen[row][1] or 'tool'} result"

    def badges(self, row: int) -> tuple[str, ...]:
        """Words of a message's badges, in the order of its life."""
        return BADGE_SETS[int(self.columns["badges"][row])]

    def lifecycle(self, row: int) -> Lifecycle:
        """The story of a result."""
        collapsed, consumes = int(self.columns["collapsed_by"][row]), int(self.columns["consumes"][row])
        return Lifecycle(
            self.badges(row),
            self.summary(row),
            self._seen[row][1] if row in self._seen else None,
            self._hinted_by.get(row),
            collapsed if collapsed != NO_ROW else None,
            consumes if consumes != NO_ROW else None,
            self._notes.get(row),
        )

    def signal(self, row: int) -> Signal | None:
        """What a result's `_meta` says; None when it signals nothing."""
        return self._signals.get(row)

    def hints(self, row: int) -> tuple[tuple[str, str], ...]:
        """The (fetching tool, consuming tool) pairs a result registered."""
        signal = self._signals.get(row)
        return signal.hints if signal is not None else ()

    def totals(self) -> dict[str, int]:
        """Counts of design.md 5: transient, consumed, collapsed, pending."""
        badges = self.columns["badges"]
        transient = int(np.count_nonzero(badges & Badge.TRANSIENT))
        collapsed = int(np.count_nonzero(badges & Badge.COLLAPSED))
        return {
            "transient": transient, "consumed": collapsed, "collapsed": collapsed, "pending": transient - collapsed,
        }  # fmt: skip


BADGE_SETS: tuple[tuple[str, ...], ...] = tuple(
    tuple(badge.name.lower() for badge in Badge if badge & bits and badge.name) for bits in range(8)
)
"""Words by the bits of the `badges` column."""


def _pair(hint: Any) -> tuple[str, str] | None:
    if not isinstance(hint, Mapping) or hint.get("lifecycle") != "transient":
        return None
    tool, consumer = hint.get("tool"), hint.get("consumedBy")
    return (tool, consumer) if isinstance(tool, str) and isinstance(consumer, str) and tool and consumer else None
