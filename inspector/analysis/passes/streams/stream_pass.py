"""Which stream each frame is of, who speaks in it, to whom and in which context (docs/protocols.md 8, 9).

Frames carry nothing but their stream's id: who owns it, whom it is for and what it is about stand in other messages.
RULE: a frame says what its stream's owner says, to its targets, in the context that its chunk names, else the one that
the request for the stream names in its `description` (`reasoning:<id>`) or is in itself. A gateway that is started
again gives its ids anew, so that a stream is what one `stream/open` gave; a frame may overtake that, and belongs to the
stream once it is there. Of an owner only a gateway is believed (`TrustPass`); a request names context and targets of
its sender's own stream alone, and `stream/open` of anybody else opens no more than a stream without an owner.

Frames of one stream are a *run*: what the table folds into one row, what search looks through as one text, and what the
details join. Other sources of text in pieces (chunks of an agent's message in ACP, deltas of a model over SSE) fold and
are found the same way when their reader gives each piece as `Shape.STREAM`: `stream_id` what its pieces have in common
(the id of the message), `data` what it says; where the piece itself says who sends it to whom, that stays. How the
words of a piece are found in its data is the business of `protocol.payloads.chunks` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any, ascending
from inspector.analysis.passes.changes import NO_ROWS, ChangedRows, Rows
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH
from inspector.store.columns.name_sets import MAX_NAMES
from inspector.store.columns.stored_names import stored_name
from inspector.store.messages.capture import Capture

NO_RUN = 0
"""The run of what is no frame."""
STRETCH = 64
"""Frames behind one in which a text that begins in it may go on: so far joined text is searched."""

_OPEN, _CLOSE, _REQUEST, _WELCOME = "stream/open", "stream/close", "stream/request", "system/welcome"
_TRANSFERRED = "stream/ownership-transferred"
_TELLING = (_OPEN, _CLOSE, _REQUEST, _TRANSFERRED, _WELCOME)
_ABOUT = "reasoning:"
_LEAST_SCAN = 1 << 12
_MOST_NAMED = 4
"""Ids that a message which opens a stream names, of which one may be the request's."""
_MOST_ASKED = 10_000
"""Requests that wait for their streams; of more the oldest are forgotten."""


class Speaker(NamedTuple):
    """What is known of a stream at some time.

    Attributes:
        run: its number.
        owner: string id of who owns it; 0 unknown.
        to_set: set id of its targets; 0 everyone.
        context: string id of the context that its request names; 0 main.
    """

    run: int
    owner: int = 0
    to_set: int = 0
    context: int = 0


class Late(NamedTuple):
    """Frames, ascending, of which it is known by now who sent them, to whom, and in which context."""

    sent: Rows
    addressed: Rows
    in_context: Rows


_NOTHING_LATE = Late(NO_ROWS, NO_ROWS, NO_ROWS)


class _Asked(NamedTuple):
    """What a request for a stream says."""

    sender: int
    to_set: int
    context: int


def _with_more(speaker: Speaker, other: Speaker) -> Speaker:
    """What is known of a stream, and what is known by now that was not."""
    if speaker.run != other.run:
        return speaker
    return Speaker(*(one or more for one, more in zip(speaker, other, strict=True)))


_Key = tuple[int, int, int]  # source, space, stream


class StreamPass:
    """Numbers the runs of frames and lets frames be their owners'.

    Attributes:
        columns: per message `run`: the number of the run a frame is of, NO_RUN for what is no frame.
        runs: by number: `first` and `last`, its first and last frame; `frames`, how many; `bytes`, of their data and
            heads; `opened`, the message that opened it, counted from 1, 0 where none was seen.
    """

    def __init__(self, capture: Capture, trust: TrustPass) -> None:
        self._capture = capture
        self._trust = trust
        self.columns = GrowingColumns({"run": np.uint32})
        self.runs = GrowingColumns(
            {"first": np.uint32, "last": np.uint32, "frames": np.uint32, "bytes": np.uint64, "opened": np.uint32}
        )
        self.runs.append(dict.fromkeys(("first", "last", "frames", "bytes", "opened"), 0), 1)
        self._current: dict[_Key, Speaker] = {}
        self._opens: dict[int, tuple[_Key, int]] = {}  # by hash of a request's id: the stream opened for it, its run
        self._asked: dict[int, _Asked] = {}  # the same, where the request came first
        self._told_late: dict[int, Speaker] = {}  # by run, what is known by now of those who sent its earlier frames
        self._late: list[Late] = []
        self._changed = ChangedRows()

    def take_late(self) -> Late:
        """Earlier frames of which more is known by now, since the last call."""
        if not self._late:
            return _NOTHING_LATE
        late = Late(*(ascending(*rows) for rows in zip(*self._late, strict=True)))
        self._late.clear()
        self._changed.update_all(np.concatenate(late))
        return late

    def take_changes(self) -> Rows:
        """Earlier frames whose text goes on in newer ones, and the first of each stream that flows."""
        return self._changed.take()

    def feed(self, start: int, stop: int) -> None:
        """Take in messages `start` to `stop`. O(messages that tell of streams, frames)."""
        flags = self._capture.columns["flags"][start:stop]
        frames = np.flatnonzero(flags & Flag.FRAME.value) + start
        self.columns.append({"run": NO_RUN}, stop - start)
        streams = list(self._streams_of(frames))
        first = {key: int(rows[0]) for key, rows in streams if key not in self._current}
        told = self._take_told(start, stop, first)
        for run, speaker in self._told_late.items():
            self._late.append(self._give(self.frames(run), speaker))
        self._told_late.clear()
        for key, rows in streams:
            for speaker, some in self._by_speaker(rows, told.get(key, [(-1, self._current[key])])):
                self._add(speaker, some)

    def _streams_of(self, frames: Rows) -> Iterator[tuple[_Key, Rows]]:
        """The streams of some frames, and which of them are of each."""
        columns = self._capture.columns
        sources = columns["source"][frames]
        for source in ascending(sources).tolist():
            rows = frames[sources == source]
            pairs = columns["space"][rows].astype(np.int64) << 32 | columns["stream"][rows]
            found, inverse = np.unique(pairs, return_inverse=True)
            parts = np.split(rows[np.argsort(inverse, kind="stable")], np.cumsum(np.bincount(inverse))[:-1])
            for pair, own in zip(found.tolist(), parts, strict=True):
                yield (source, pair >> 32, pair & 0xFFFFFFFF), own

    # Who speaks

    def _take_told(self, start: int, stop: int, first: Mapping[_Key, int]) -> dict[_Key, list[tuple[int, Speaker]]]:
        """What messages say of streams.

        Args:
            start, stop: the messages.
            first: the first frames of streams that nobody has said anything of before.

        Returns:
            By stream, from which message on somebody else speaks in it; the first entry is of before.
        """
        code = self._capture.columns["kind"][start:stop]
        wanted = [found for found in map(self._capture.strings.find, _TELLING) if found is not None]
        rows = (np.flatnonzero(are_any(code, wanted)) + start).tolist() if wanted else []
        events: list[tuple[int, _Key | None]] = [(row, key) for key, row in first.items()]
        events += [(row, None) for row in rows]
        told: dict[_Key, list[tuple[int, Speaker]]] = {}
        for row, unheard in sorted(events, key=lambda event: event[0]):
            if unheard is not None:
                said = [] if unheard in self._current else [(unheard, Speaker(self._begin(None, row)))]
            else:
                said = self._told_by(row)
            for key, speaker in said:
                before = self._current.get(key)
                known = told.setdefault(key, [(-1, before)] if before is not None else [])
                if before is not None and (more := _with_more(before, speaker)) != before:  # thrice a stream at most
                    known[:] = [(since, _with_more(other, speaker)) for since, other in known]
                    if self.runs["frames"][speaker.run]:
                        self._told_late[speaker.run] = more
                known.append((row, speaker))
                self._current[key] = speaker
        return told

    def _told_by(self, row: int) -> list[tuple[_Key, Speaker]]:
        """The streams of which a message says something new."""
        if int(self._capture.columns["flags"][row]) & Flag.REFUSED.value:
            return []
        kind = self._capture.string("kind", row)
        if kind == _CLOSE:
            self._closed(row)
            return []
        payload = self._capture.records.decoded(row).payload
        if kind == _REQUEST:
            return self._requested(row, payload)
        if kind == _OPEN:
            return self._opened(row, payload)
        if not self._trust.is_gateway(row):
            return []
        return self._transferred(row, payload) if kind == _TRANSFERRED else self._listed(row, payload)

    def _key(self, row: int, stream: int) -> _Key:
        columns = self._capture.columns
        return int(columns["source"][row]), int(columns["space"][row]), stream

    def _opened(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, Speaker]]:
        stream = int(self._capture.columns["stream"][row])
        key = self._key(row, stream)
        known = self._current.get(key)
        if not stream:
            return []
        if not self._trust.is_gateway(row):  # whoever says so, it is not theirs to give
            return [] if known is not None else [(key, Speaker(self._begin(row)))]
        if known is not None and self._is_copy(row, known.run):
            return []
        receivers = self._capture.to(row)
        owner = self._name(payload.get("owner")) or (self._name(receivers[0]) if len(receivers) == 1 else 0)
        run = self._unopened(row, known) or self._begin(row)
        self.runs.put("opened", run, row + 1)
        speaker = Speaker(run, owner, self._targets(payload))
        for named in self._capture.hashes_named(row)[:_MOST_NAMED]:
            asked = self._asked.pop(named, None)
            if asked is not None:
                return [(key, self._as_asked(speaker, asked))]
            self._opens[named] = key, speaker.run
        return [(key, speaker)]

    def _unopened(self, row: int, known: Speaker | None) -> int:
        """The run of frames that have overtaken the message that opens their stream; NO_RUN."""
        if known is None or known.owner or self.runs["opened"][known.run]:
            return NO_RUN
        first, connection = int(self.runs["first"][known.run]), self._capture.columns["connection"]
        return known.run if connection[first] == connection[row] else NO_RUN

    def _requested(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, Speaker]]:
        columns = self._capture.columns
        own = int(columns["id_hash"][row])
        if own == NO_HASH or self._capture.true_sender(row) is not None:
            return []
        about = payload.get("description")
        named = about.removeprefix(_ABOUT) if isinstance(about, str) and about.startswith(_ABOUT) else ""
        context = self._name(named) or int(columns["context"][row])
        asked = _Asked(int(columns["sender"][row]), self._targets(payload), context)
        key, run = self._opens.pop(own, (None, NO_RUN))
        known = self._current.get(key) if key is not None else None
        if key is None or known is None or known.run != run:
            self._asked[own] = asked
            if len(self._asked) > _MOST_ASKED:
                del self._asked[next(iter(self._asked))]
            return []
        return [(key, self._as_asked(known, asked))]

    def _as_asked(self, speaker: Speaker, asked: _Asked) -> Speaker:
        """What a request adds, where it is the owner's."""
        if not speaker.owner and self._capture.strings[asked.sender] not in GATEWAY_IDS:
            speaker = speaker._replace(owner=asked.sender)
        if speaker.owner != asked.sender:
            return speaker
        return speaker._replace(to_set=speaker.to_set or asked.to_set, context=asked.context)

    def _closed(self, row: int) -> None:
        """What a stream's frames are shown as says that it is closed."""
        known = self._current.get(self._key(row, int(self._capture.columns["stream"][row])))
        if known is not None and self.runs["frames"][known.run]:
            self._changed.add(int(self.runs["last"][known.run]))

    def _transferred(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, Speaker]]:
        key = self._key(row, int(self._capture.columns["stream"][row]))
        known, owner = self._current.get(key), self._name(payload.get("new_owner"))
        return [(key, known._replace(owner=owner))] if known is not None and owner else []

    def _listed(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, Speaker]]:
        """The streams that a welcome says are open: who joins late has seen none of them being opened."""
        found: list[tuple[_Key, Speaker]] = []
        active = payload.get("active_streams")
        for item in active if isinstance(active, list) else ():
            name = self._name(item.get("stream_id")) if isinstance(item, Mapping) else 0
            owner = self._name(item.get("owner")) if name else 0
            key = self._key(row, name)
            known = self._current.get(key)
            if not owner or (known is not None and known.owner == owner):
                continue
            about = item.get("description")
            named = about.removeprefix(_ABOUT) if isinstance(about, str) and about.startswith(_ABOUT) else ""
            run = self._unopened(row, known) or self._begin(None)
            found.append((key, Speaker(run, owner, self._targets(item), self._name(named))))
        return found

    def _begin(self, opened: int | None, first: int = 0) -> int:
        """A new run; 0 frames so far."""
        values = {"first": first, "last": 0, "frames": 0, "bytes": 0, "opened": 0 if opened is None else opened + 1}
        return self.runs.append(values, 1)

    def _is_copy(self, row: int, run: int) -> bool:
        """Whether an open is the one that opened a run, written once more, as logs of several recipients have it."""
        opened, hashes = int(self.runs["opened"][run]), self._capture.columns["id_hash"]
        return bool(opened) and int(hashes[row]) != NO_HASH and int(hashes[row]) == int(hashes[opened - 1])

    def _name(self, name: object) -> int:
        return self._capture.strings.intern(stored_name(name)) if isinstance(name, str) and name else 0

    def _targets(self, payload: Mapping[str, object]) -> int:
        listed = payload.get("target")
        names = [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
        targets = tuple(stored_name(name) for name in names[:MAX_NAMES] if isinstance(name, str) and name)
        return int(self._capture.to_sets.intern_all([targets])[0]) if targets else 0

    # Frames

    def _by_speaker(self, rows: Rows, told: Sequence[tuple[int, Speaker]]) -> Iterator[tuple[Speaker, Rows]]:
        """Frames of one stream with who spoke when they were sent."""
        limits = [*(row for row, _ in told[1:]), int(rows[-1]) + 1]
        for (since, speaker), until in zip(told, limits, strict=True):
            low, high = rows.searchsorted([since, until]).tolist()
            if low < high:
                yield speaker, rows[low:high]

    def _add(self, speaker: Speaker, rows: Rows) -> None:
        run, capture = speaker.run, self._capture
        first, count = int(rows[0]), int(self.runs["frames"][run])
        if count:
            self._changed.update_all(self.before(first, run, STRETCH))
            self._changed.add(int(self.runs["first"][run]))  # where the stream is shown as a whole
        else:
            self.runs.put("first", run, first)
        self.columns.put("run", rows, run)
        self.runs.put("last", run, int(rows[-1]))
        self.runs.put("frames", run, count + len(rows))
        size = int(capture.columns["size"][rows].sum(dtype=np.int64))
        self.runs.put("bytes", run, int(self.runs["bytes"][run]) + size)
        self._give(rows, speaker)

    def _give(self, rows: Rows, speaker: Speaker) -> Late:
        """Let frames be somebody's, as far as they are nobody's yet."""
        told = self._capture.attribute(rows, sender=speaker.owner, to_set=speaker.to_set, context=speaker.context)
        return Late(told["sender"], told["to_set"], told["context"])

    # Asking

    def run_of(self, message: int) -> int:
        """The run a message is a frame of; NO_RUN."""
        return int(self.columns["run"][message])

    def opened_by(self, run: int) -> int | None:
        """The message that opened a run's stream; None where none was seen."""
        found = int(self.runs["opened"][run])
        return found - 1 if found else None

    def of(self, message: int) -> int:
        """The run that a message is about: a frame of it, or what opened it; NO_RUN. O(streams) for the last."""
        own = self.run_of(message)
        found = np.flatnonzero(self.runs["opened"] == message + 1)
        return own or (int(found[0]) if len(found) else NO_RUN)

    def before(self, message: int, run: int, most: int) -> Rows:
        """The last frames of a run before a message, ascending. O(messages between)."""
        return self._scan(run, int(self.runs["first"][run]), message, most, last=True)

    def frames(self, run: int, after: int = -1, most: int | None = None) -> Rows:
        """The first frames of a run behind a message, ascending; all of them by default. O(messages between)."""
        if not int(self.runs["frames"][run]):
            return np.zeros(0, np.int64)
        begin = max(after + 1, int(self.runs["first"][run]))
        stop = int(self.runs["last"][run]) + 1
        return self._scan(run, begin, stop, stop if most is None else most, last=False)

    def _scan(self, run: int, begin: int, stop: int, most: int, *, last: bool) -> Rows:
        """The first or last frames of a run among messages, looked at in pieces that become larger."""
        column = self.columns["run"]
        found: list[NDArray[np.int64]] = []
        missing, size = most, _LEAST_SCAN
        while begin < stop and missing > 0:
            low, high = (max(begin, stop - size), stop) if last else (begin, min(stop, begin + size))
            rows = np.flatnonzero(column[low:high] == run) + low
            rows = rows[-missing:] if last else rows[:missing]
            found.append(rows)
            missing -= len(rows)
            begin, stop = (begin, low) if last else (high, stop)
            size *= 4
        if not found:
            return np.zeros(0, np.int64)
        return np.concatenate(found[::-1] if last else found)
