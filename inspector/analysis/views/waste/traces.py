"""Where results turn up again in what the one who asked said later: referred to, or copied at length.

First every result leaves its words and passages behind (`take`), then whatever its asker says later is looked up in
them (`hear`).
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.waste.repeats import arguments_of
from inspector.analysis.views.waste.results import Array, Results, Traffic
from inspector.analysis.views.waste.wasted import Waste, WasteKind
from inspector.analysis.views.waste.words import flattened, is_unspaced, passages, spread, telling_words
from inspector.base.slices import Steps
from inspector.protocol import kinds
from inspector.protocol.message_text import TEXT_KEYS
from inspector.store.columns.flags import Flag
from inspector.tokens.counted_text import counted_text

# Which results hold a word or a passage, each by a number of it: eight bytes an entry.

Keys = NDArray[np.uint64]

MOST_OWNERS = 1 << 14
_OWNER = np.uint64(MOST_OWNERS - 1)
"""The owner's part of an entry; what is above it is the key's."""
_MIXED = 0x9E3779B97F4A7C15


class Index:
    """Entries are added first; `settle` makes them fit to be asked for.

    Attributes:
        count: entries.
    """

    def __init__(self, most: int) -> None:
        """Make an index without entries.

        Args:
            most: entries it takes in; what comes later is left out.
        """
        self._most = most
        self._parts: list[Keys] = []
        self._entries = np.empty(0, np.uint64)
        self.count = 0

    def add(self, keys: Keys, owner: int) -> bool:
        """Take in what an owner below MOST_OWNERS holds. Whether there was room for it."""
        keys = np.unique(keys & ~_OWNER)
        if self.count + len(keys) > self._most or owner >= MOST_OWNERS:
            return False
        self.count += len(keys)
        self._parts.append(keys | np.uint64(owner))
        return True

    def settle(self) -> None:
        """All entries have been added."""
        if self._parts:
            self._entries = np.sort(np.concatenate(self._parts))
        self._parts = []

    def owners(self, keys: Keys) -> list[tuple[int, NDArray[np.int64]]]:
        """Those of some keys that somebody holds, and who does, ascending."""
        keys = np.unique(keys & ~_OWNER)
        first, after = (
            np.searchsorted(self._entries, keys, "left"),
            np.searchsorted(self._entries, keys | _OWNER, "right"),
        )
        held = np.flatnonzero(after > first).tolist()
        return [(int(keys[at]), (self._entries[first[at] : after[at]] & _OWNER).astype(np.int64)) for at in held]


def keys_of(words: Iterable[str], speaker: int) -> Keys:
    """Numbers of words as one speaker's."""
    found = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words], np.uint64)
    return (found | np.uint64(speaker << 32)) * np.uint64(_MIXED)


def marked(numbers: Keys, speaker: int) -> Keys:
    """Numbers of passages as one speaker's."""
    return numbers ^ np.uint64((speaker + 1) * _MIXED % 2**64)


LARGE = 200
"""Tokens from which on a result that nobody refers to is worth a word, and arguments that are copied."""
MOST_SAYINGS = 100_000
"""Messages that are searched for what results brought."""
_MOST_KEPT = 1_000_000
"""Words, and passages, of all results together; what comes after is not judged."""
_WEAK_WORDS = 3
"""Of the words that tell little so many tell that something is spoken of."""
_NUMBERED = 10
"""Small numbers in a result from which on they are taken to number its entries."""
_COMMON, _EVERYWHERE = 3, 50
"""Results of one asker from which on a word that stands in all of them tells little of each, and nothing."""
_LEAST_PASSAGES, _LEAST_SHARE = 8, 0.3


class Traces:
    """Results and what was said after them.

    Attributes:
        places: of the results to be taken in.
        sayings: messages to be heard then, ascending: what their askers said.
        unread: later messages that were too many to be searched.
        dropped: results there was no room for.
        copied: what was copied through a model.
    """

    def __init__(self, traffic: Traffic, results: Results, judged: Array) -> None:
        """Prepare.

        Args:
            traffic, results: what is looked at.
            judged: places of the results nobody may have referred to; passages of all are kept.
        """
        self._traffic, self._results = traffic, results
        large = np.flatnonzero(results.tokens >= LARGE)
        self.places: list[int] = large.tolist()
        self._open = np.zeros(len(results), np.bool_)
        sayings = traffic.sayings()
        sayings = sayings[np.isin(traffic.speakers[sayings], results.speakers[large])]
        if len(large):
            sayings = sayings[sayings > results.rows[large[0]]]
        hidden = traffic.analysis.capture.columns["flags"][sayings] & Flag.UNRECORDED.value != 0
        self.unread = max(0, len(sayings) - MOST_SAYINGS)
        if not self.unread:  # else what was said later may speak of any
            self._open[np.intersect1d(judged, large)] = True
            self._open &= results.rows < self._last_saying(sayings)
            self._open &= results.rows > self._last_saying(sayings[hidden])  # it may speak of any result before
        self.sayings: list[int] = sayings[:MOST_SAYINGS].tolist()
        self.dropped = 0
        self._waiting = Counter(results.speakers[self._open].tolist())
        self._strong, self._weak, self._passages = (Index(_MOST_KEPT) for _ in range(3))
        self._votes: dict[int, set[int]] = {}
        self.copied: list[Waste] = []

    def _last_saying(self, sayings: Array) -> Array:
        """The last message of who asked for each result; of whom nothing came later nothing can be said."""
        speakers = self._traffic.speakers
        last = np.full(int(speakers.max(initial=0)) + 1, -1, np.int64)
        last[speakers[sayings]] = sayings  # ascending, so that the last one stays
        return last[self._results.speakers]

    def take(self, place: int) -> None:
        """Take in one result."""
        results, capture = self._results, self._traffic.analysis.capture
        text, speaker = _result_texts(capture.records.payload(int(results.rows[place]))), int(results.speakers[place])
        numbers, _ = passages(flattened(text, keys=True))
        given, _ = passages(flattened(arguments_of(self._traffic, int(results.calls[place])), keys=True))
        numbers = np.setdiff1d(numbers, given)  # what a server echoes was the model's own before
        self._passages.add(marked(numbers, speaker), place)
        plain = flattened(text, keys=False)
        strong, weak = telling_words(plain)
        if self._open[place]:
            asked = set[str]().union(*telling_words(flattened(self._content(int(results.calls[place])), keys=False)))
            strong, weak = strong - asked, weak - asked
            small = {word for word in weak if word.isdecimal()}
            if len(small) >= _NUMBERED:  # its entries may be spoken of by their numbers alone
                strong |= small
            if is_unspaced(plain) or not (strong or len(weak - small) >= _WEAK_WORDS):
                self._close(place)  # it could not be recognised
        stored = self._strong.add(keys_of(spread(strong), speaker), place)
        stored &= self._weak.add(keys_of(spread(weak), speaker), place)
        self.dropped += not stored
        if not stored:
            self._close(place)

    def settle(self) -> Steps[None]:
        """All results have been taken in."""
        for index in (self._strong, self._weak, self._passages):
            index.settle()
            yield

    def hear(self, row: int) -> None:
        """Look up what one message says."""
        speaker = int(self._traffic.speakers[row])
        large = int(self._traffic.analysis.tokens.columns["tokens"][row]) >= LARGE
        if not self._waiting[speaker] and not large:
            return
        content = self._content(row)
        if self._waiting[speaker]:
            self._refer(row, flattened(content, keys=False), speaker)
        if large and isinstance(content, list):
            self._compare(row, speaker)

    def _close(self, place: int) -> None:
        if self._open[place]:
            self._open[place] = False
            self._waiting[int(self._results.speakers[place])] -= 1

    def _refer(self, row: int, text: str, speaker: int) -> None:
        """Let go of what a message speaks of, or answers."""
        rows = self._results.rows
        cause = int(self._traffic.analysis.correlation.columns["cause"][row])
        named = int(np.searchsorted(rows, cause))
        if named < len(rows) and rows[named] == cause:
            self._close(named)
        keys = keys_of(set[str]().union(*telling_words(text)), speaker)
        for key, owners in self._strong.owners(keys):
            if len(owners) <= _EVERYWHERE:
                self._vote(row, key, owners, enough=len(owners) < _COMMON)
        for key, owners in self._weak.owners(keys):
            if len(owners) < _COMMON:
                self._vote(row, key, owners, enough=False)

    def _vote(self, row: int, key: int, owners: Any, *, enough: bool) -> None:
        for place in owners[self._open[owners] & (self._results.rows[owners] < row)].tolist():
            votes = self._votes.setdefault(place, set())
            votes.add(key)
            if enough or len(votes) >= _WEAK_WORDS:
                self._close(place)
                del self._votes[place]

    def _compare(self, row: int, speaker: int) -> None:
        """Whether the arguments of a call repeat a result at length."""
        numbers, _ = passages(flattened(arguments_of(self._traffic, row), keys=True))
        numbers = np.unique(numbers)
        found: Counter[int] = Counter()
        for _, owners in self._passages.owners(marked(numbers, speaker)):
            before = int(np.searchsorted(self._results.rows[owners], row))
            if before:
                found[int(owners[before - 1])] += 1
        if not found:
            return
        place, count = found.most_common(1)[0]
        if count >= _LEAST_PASSAGES and count >= _LEAST_SHARE * len(numbers):
            self.copied.append(self._copy(row, place, count / len(numbers)))

    def _copy(self, row: int, place: int, share: float) -> Waste:
        traffic, result = self._traffic, int(self._results.rows[place])
        tokens = round(share * int(traffic.analysis.tokens.columns["tokens"][row]))
        tool = traffic.tool(row)
        sentence = (
            f"{share:.0%} of what {traffic.asker_words(row)} gave to {tool} was copied from No. {result + 1:,}, "
            f"the result of {traffic.tool(result)}."
        )
        advice = "Let the server store the result and take a reference to it, so that no model has to write it again."
        return Waste(
            WasteKind.COPIED, row, (result, row), tokens, sentence, advice, False, traffic.sender(row), tool
        )  # fmt: skip

    def _content(self, row: int) -> Any:
        """What a message says: of a call its tool and arguments, as a list."""
        capture = self._traffic.analysis.capture
        kind, payload = capture.string("kind", row) or "", capture.records.payload(row)
        if kind in (kinds.REQUEST, kinds.PROPOSAL):
            return [self._traffic.tool(row), arguments_of(self._traffic, row)]
        text = next((payload[key] for key in TEXT_KEYS if isinstance(payload.get(key), str)), None)
        return counted_text(kind, payload) if text is None else text

    @property
    def unreferred(self) -> list[Waste]:
        """Results of which nothing turned up again, although their asker went on."""
        return [self._silent(place) for place in np.flatnonzero(self._open).tolist()]

    def _silent(self, place: int) -> Waste:
        traffic, results = self._traffic, self._results
        row, call = int(results.rows[place]), int(results.calls[place])
        tool = traffic.tool(row)
        who = traffic.sender(call) or "the MCP client"
        sentence = f"Nothing that {tool} brought turns up in what {who} said or called later, as far as words tell."
        advice = "Ask for less, or for a page at a time, or let the result be transient."
        return Waste(
            WasteKind.UNREFERRED, row, (call, row), int(results.tokens[place]), sentence, advice, False,
            traffic.sender(call), tool,
        )  # fmt: skip


def _result_texts(payload: dict[str, Any]) -> Any:
    """What a result says, its texts apart, so that JSON in each can be taken apart."""
    result = payload.get("result")
    if not isinstance(result, dict):
        return result
    blocks = result.get("content")
    if not isinstance(blocks, list):
        return {key: value for key, value in result.items() if key != "_meta"}
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return [text for text in texts if isinstance(text, str)] or result.get("structuredContent")
