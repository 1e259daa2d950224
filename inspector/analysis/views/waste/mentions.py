"""Finds traces of results in later messages of the asker: mentions, or long copies.

First every result adds its words and passages to the index (`add_result`). Then each later message of the asker is
looked up in it (`on_message`).
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.waste.distinctive_words import (
    distinctive_words,
    flatten_json,
    is_unspaced,
    passage_hashes,
    sample_words,
)
from inspector.analysis.views.waste.repeats import arguments_of
from inspector.analysis.views.waste.results import Array, Results, Traffic
from inspector.analysis.views.waste.waste_records import Waste, WasteKind
from inspector.base.slices import SlicedWork
from inspector.protocol import kinds
from inspector.protocol.message_text import TEXT_KEYS
from inspector.store.columns.flags import Flag
from inspector.tokens.counted_text import counted_text

# Index from words and passages to results, eight bytes an entry.

Keys = NDArray[np.uint64]

# Room for all results of a search (`finder.MAX_RESULTS`).
MAX_OWNERS = 1 << 14
_OWNER = np.uint64(MAX_OWNERS - 1)
"""Low bits of an entry: the owner. The high bits are the key."""
# 2 ** 64 divided by the golden ratio: spreads small differences to the high bits, which are the key.
_MIXED = 0x9E3779B97F4A7C15


class WordIndex:
    """Index of entries. All are added first; `finish` prepares it for lookups.

    Attributes:
        count: number of entries.
    """

    def __init__(self, most: int) -> None:
        """Creates an empty index.

        Args:
            most: capacity; later entries are dropped.
        """
        self._most = most
        self._parts: list[Keys] = []
        self._entries = np.empty(0, np.uint64)
        self.count = 0

    def add(self, keys: Keys, owner: int) -> bool:
        """Adds the keys of an owner below MAX_OWNERS. Returns False if there was no room."""
        keys = np.unique(keys & ~_OWNER)
        if self.count + len(keys) > self._most or owner >= MAX_OWNERS:
            return False
        self.count += len(keys)
        self._parts.append(keys | np.uint64(owner))
        return True

    def finish(self) -> None:
        """Sorts the entries for lookups."""
        if self._parts:
            self._entries = np.sort(np.concatenate(self._parts))
        self._parts = []

    def owners(self, keys: Keys) -> list[tuple[int, NDArray[np.int64]]]:
        """Returns (key, owners ascending) for each key in the index."""
        keys = np.unique(keys & ~_OWNER)
        first, after = (
            np.searchsorted(self._entries, keys, "left"),
            np.searchsorted(self._entries, keys | _OWNER, "right"),
        )
        held = np.flatnonzero(after > first).tolist()
        return [(int(keys[at]), (self._entries[first[at] : after[at]] & _OWNER).astype(np.int64)) for at in held]


def word_keys(words: Iterable[str], speaker: int) -> Keys:
    """Hashes words, separately per speaker."""
    found = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words], np.uint64)
    return (found | np.uint64(speaker << 32)) * np.uint64(_MIXED)


def passage_keys(numbers: Keys, speaker: int) -> Keys:
    """Hashes passages, separately per speaker."""
    return numbers ^ np.uint64((speaker + 1) * _MIXED % 2**64)


MIN_TOKENS = 200
"""Tokens from which unreferenced results and copied arguments are reported."""
MAX_MESSAGES = 100_000
"""Messages searched for traces."""
_MAX_ENTRIES = 1_000_000
"""Words, and passages, kept for all results; later results are not judged."""
_WEAK_WORDS = 3
"""Weak words that together count as a mention."""
_MIN_SMALL_NUMBERS = 10
"""Count of small numbers in a result from which they are taken as entry numbers."""
_COMMON, _EVERYWHERE = 3, 50
"""Results of one asker that share a word, from which it counts as weak, and as useless."""
_LEAST_PASSAGES, _LEAST_SHARE = 8, 0.3


class ResultMentions:
    """Results and later messages of their askers.

    Attributes:
        places: indexes of results to take in.
        sayings: messages of the askers to look up afterwards, ascending.
        unread: number of messages beyond the limit.
        dropped: number of results beyond the capacity.
        copied: wastes of copied arguments.
    """

    def __init__(self, traffic: Traffic, results: Results, judged: Array) -> None:
        """Prepares the search.

        Args:
            traffic, results: the data.
            judged: indexes of results that may be unreferenced; passages of all are kept.
        """
        self._traffic, self._results = traffic, results
        large = np.flatnonzero(results.tokens >= MIN_TOKENS)
        self.places: list[int] = large.tolist()
        self._open = np.zeros(len(results), np.bool_)
        sayings = traffic.sayings()
        sayings = sayings[np.isin(traffic.speakers[sayings], results.speakers[large])]
        if len(large):
            sayings = sayings[sayings > results.rows[large[0]]]
        hidden = traffic.analysis.capture.columns["flags"][sayings] & Flag.UNRECORDED.value != 0
        self.unread = max(0, len(sayings) - MAX_MESSAGES)
        if not self.unread:  # otherwise unread messages may mention any result
            self._open[np.intersect1d(judged, large)] = True
            # A result after the asker's last message had no chance of a mention.
            self._open &= results.rows < self._last_saying(sayings)
            # a hidden message may mention any earlier result
            self._open &= results.rows > self._last_saying(sayings[hidden])
        self.sayings: list[int] = sayings[:MAX_MESSAGES].tolist()
        self.dropped = 0
        self._waiting = Counter(results.speakers[self._open].tolist())
        self._strong, self._weak, self._passages = (WordIndex(_MAX_ENTRIES) for _ in range(3))
        self._votes: dict[int, set[int]] = {}
        self.copied: list[Waste] = []

    def _last_saying(self, sayings: Array) -> Array:
        """Returns each asker's last message; without a later message, a result cannot be judged."""
        speakers = self._traffic.speakers
        last = np.full(int(speakers.max(initial=0)) + 1, -1, np.int64)
        last[speakers[sayings]] = sayings  # ascending, so the last one wins
        return last[self._results.speakers]

    def add_result(self, place: int) -> None:
        """Takes in one result."""
        results, capture = self._results, self._traffic.analysis.capture
        text, speaker = _result_texts(capture.records.payload(int(results.rows[place]))), int(results.speakers[place])
        numbers, _ = passage_hashes(flatten_json(text, keys=True))
        given, _ = passage_hashes(flatten_json(arguments_of(self._traffic, int(results.calls[place])), keys=True))
        numbers = np.setdiff1d(numbers, given)  # an echo of the model's own words by the server
        self._passages.add(passage_keys(numbers, speaker), place)
        plain = flatten_json(text, keys=False)
        strong, weak = distinctive_words(plain)
        if self._open[place]:
            asked = set[str]().union(
                *distinctive_words(flatten_json(self._content(int(results.calls[place])), keys=False))
            )
            strong, weak = strong - asked, weak - asked
            small = {word for word in weak if word.isdecimal()}
            if len(small) >= _MIN_SMALL_NUMBERS:  # its entries may be mentioned by number only
                strong |= small
            if is_unspaced(plain) or not (strong or len(weak - small) >= _WEAK_WORDS):
                self._close(place)  # a mention would not be recognizable
        stored = self._strong.add(word_keys(sample_words(strong), speaker), place)
        stored &= self._weak.add(word_keys(sample_words(weak), speaker), place)
        self.dropped += not stored
        if not stored:
            self._close(place)

    def finish_index(self) -> SlicedWork[None]:
        """Finishes the index after the last result."""
        for index in (self._strong, self._weak, self._passages):
            index.finish()
            yield

    def on_message(self, row: int) -> None:
        """Looks up one message."""
        speaker = int(self._traffic.speakers[row])
        large = int(self._traffic.analysis.tokens.columns["tokens"][row]) >= MIN_TOKENS
        if not self._waiting[speaker] and not large:
            return
        content = self._content(row)
        if self._waiting[speaker]:
            self._close_mentioned(row, flatten_json(content, keys=False), speaker)
        if large and isinstance(content, list):
            self._compare(row, speaker)

    def _close(self, place: int) -> None:
        if self._open[place]:
            self._open[place] = False
            self._waiting[int(self._results.speakers[place])] -= 1

    def _close_mentioned(self, row: int, text: str, speaker: int) -> None:
        """Closes results that a message mentions or answers."""
        rows = self._results.rows
        cause = int(self._traffic.analysis.correlation.columns["cause"][row])
        named = int(np.searchsorted(rows, cause))
        # A correlation to the result is a mention without any common word.
        if named < len(rows) and rows[named] == cause:
            self._close(named)
        keys = word_keys(set[str]().union(*distinctive_words(text)), speaker)
        for key, owners in self._strong.owners(keys):
            # A word in very many results, such as a user's name, identifies none of them.
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
        """Reports arguments of a call that copy a result at length."""
        numbers, _ = passage_hashes(flatten_json(arguments_of(self._traffic, row), keys=True))
        numbers = np.unique(numbers)
        found: Counter[int] = Counter()
        for _, owners in self._passages.owners(passage_keys(numbers, speaker)):
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
        advice = "Let the server store the result and take a reference to it, so that no model has to repeat the text."
        return Waste(
            WasteKind.COPIED, row, (result, row), tokens, sentence, advice, False, traffic.sender(row), tool
        )  # fmt: skip

    def _content(self, row: int) -> Any:
        """Returns the content of a message; for a call, tool and arguments as a list."""
        capture = self._traffic.analysis.capture
        kind, payload = capture.string("kind", row) or "", capture.records.payload(row)
        if kind in (kinds.REQUEST, kinds.PROPOSAL):
            return [self._traffic.tool(row), arguments_of(self._traffic, row)]
        text = next((payload[key] for key in TEXT_KEYS if isinstance(payload.get(key), str)), None)
        return counted_text(kind, payload) if text is None else text

    @property
    def unreferred(self) -> list[Waste]:
        """Wastes of results without a later mention, although their asker continued."""
        return [self._unmentioned_waste(place) for place in np.flatnonzero(self._open).tolist()]

    def _unmentioned_waste(self, place: int) -> Waste:
        traffic, results = self._traffic, self._results
        row, call = int(results.rows[place]), int(results.calls[place])
        tool = traffic.tool(row)
        who = traffic.asker_words(call, "the MCP client")
        sentence = f"No later message or call of {who} repeats words from the result of {tool}."
        advice = "Request less, request one page at a time, or make the result transient."
        return Waste(
            WasteKind.UNREFERRED, row, (call, row), int(results.tokens[place]), sentence, advice, False,
            traffic.sender(call), tool,
        )  # fmt: skip


def _result_texts(payload: dict[str, Any]) -> Any:
    """Returns the texts of a result one by one, so that JSON in each can be parsed."""
    result = payload.get("result")
    if not isinstance(result, dict):
        return result
    blocks = result.get("content")
    if not isinstance(blocks, list):
        return {key: value for key, value in result.items() if key != "_meta"}
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return [text for text in texts if isinstance(text, str)] or result.get("structuredContent")
