"""Assigns frames to streams, and gives them sender, recipients and context (docs/protocols.md 8, 9).

Frames carry only the id of their stream. Other messages have its owner, targets and subject.

RULE: a frame is sent by its stream's owner to the stream's targets. Its context is the one that its chunk names, else
the one that the request for the stream names in its `description` (`reasoning:<id>`), else the request's own. A
restarted gateway reuses its ids, so a stream is the result of one `stream/open`. A frame may overtake that message, and
belongs to the stream once it comes. Only a gateway may name an owner (`TrustPass`). A request sets context and targets
of its sender's own stream only. A `stream/open` of another sender opens a stream without an owner.

Frames of one stream are a *run*. The table folds it into one row, the search treats it as one text, and the details
join it. Other text in pieces (chunks of an agent's message in ACP, deltas of a model over SSE) gets the same treatment
if its reader emits each piece as `Shape.STREAM`. The pieces share a `stream_id` (the id of the message), and `data` is
their content. A sender and recipients stated by the piece itself stay. Only `protocol.payloads.stream_chunks` extracts
the words of a piece from its data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any, ascending
from inspector.analysis.passes.changed_rows import NO_ROWS, ChangedRows, Rows
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH
from inspector.store.columns.name_sets import MAX_NAMES
from inspector.store.columns.stored_names import stored_name
from inspector.store.messages.capture import Capture

NO_RUN = 0
"""The run of messages that are no frames."""
STRETCH = 64
"""Limit of following frames that are joined for a text search from one frame on."""

_OPEN, _CLOSE, _REQUEST, _WELCOME = "stream/open", "stream/close", "stream/request", "system/welcome"
_TRANSFERRED = "stream/ownership-transferred"
_TELLING = (_OPEN, _CLOSE, _REQUEST, _TRANSFERRED, _WELCOME)
_ABOUT = "reasoning:"
_LEAST_SCAN = 1 << 12
_MOST_NAMED = 4
"""Limit of ids named by an opening message; one of them may be the request's."""
_MOST_ASKED = 10_000
"""Limit of requests without a stream; the oldest are dropped."""


class Speaker(NamedTuple):
    """Facts of a stream at some time.

    Attributes:
        run: its number.
        owner: string id of its owner; 0 unknown.
        to_set: set id of its targets; 0 everyone.
        context: string id of the context in its request; 0 main.
    """

    run: int
    owner: int = 0
    to_set: int = 0
    context: int = 0


class Late(NamedTuple):
    """Frames, ascending, that got a sender, recipients or a context late."""

    sent: Rows
    addressed: Rows
    in_context: Rows


_NOTHING_LATE = Late(NO_ROWS, NO_ROWS, NO_ROWS)


class _Asked(NamedTuple):
    """Content of a request for a stream."""

    sender: int
    to_set: int
    context: int


def _with_more(speaker: Speaker, other: Speaker) -> Speaker:
    """Fills unknown facts of a stream from later ones of the same run."""
    if speaker.run != other.run:
        return speaker
    return Speaker(*(one or more for one, more in zip(speaker, other, strict=True)))


_Key = tuple[int, int, int]  # source, space, stream


class StreamPass:
    """Numbers the runs of frames and assigns frames to the owners of their streams.

    Attributes:
        columns: per message `run`: the number of the run of a frame, NO_RUN for other messages.
        runs: by number: `first` and `last`, its first and last frame; `frames`, their number; `bytes`, of their data
            and heads; `opened`, the message that opened it, counted from 1, 0 if not seen.
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
        self._asked: dict[int, _Asked] = {}  # the same, if the request came first
        self._told_late: dict[int, Speaker] = {}  # by run, facts that became known after its earlier frames
        self._late: list[Late] = []
        self._changed = ChangedRows()

    def take_late(self) -> Late:
        """Returns earlier frames with facts learned since the last call, and clears them."""
        if not self._late:
            return _NOTHING_LATE
        late = Late(*(ascending(*rows) for rows in zip(*self._late, strict=True)))
        self._late.clear()
        self._changed.update_all(np.concatenate(late))
        return late

    def take_changes(self) -> Rows:
        """Returns earlier frames with text that continues in newer ones, and the first frame of each growing stream."""
        return self._changed.take_rows()

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop`. O(messages about streams, frames)."""
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
        """Yields the streams of some frames, with the frames of each."""
        columns = self._capture.columns
        sources = columns["source"][frames]
        for source in ascending(sources).tolist():
            rows = frames[sources == source]
            pairs = columns["space"][rows].astype(np.int64) << 32 | columns["stream"][rows]
            found, inverse = np.unique(pairs, return_inverse=True)
            parts = np.split(rows[np.argsort(inverse, kind="stable")], np.cumsum(np.bincount(inverse))[:-1])
            for pair, own in zip(found.tolist(), parts, strict=True):
                yield (source, pair >> 32, pair & 0xFFFFFFFF), own

    # Owners of streams

    def _take_told(self, start: int, stop: int, first: Mapping[_Key, int]) -> dict[_Key, list[tuple[int, Speaker]]]:
        """Collects facts about streams from messages.

        Args:
            start, stop: the messages.
            first: the first frames of streams without any earlier facts.

        Returns:
            By stream, the facts and the message with which they begin; the first entry is the earlier state.
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
                # at most three times per stream
                if before is not None and (more := _with_more(before, speaker)) != before:
                    known[:] = [(since, _with_more(other, speaker)) for since, other in known]
                    if self.runs["frames"][speaker.run]:
                        self._told_late[speaker.run] = more
                known.append((row, speaker))
                self._current[key] = speaker
        return told

    def _told_by(self, row: int) -> list[tuple[_Key, Speaker]]:
        """Returns the streams with new facts from a message."""
        if int(self._capture.columns["flags"][row]) & Flag.REFUSED.value:
            return []
        kind = self._capture.string("kind", row)
        if kind == _CLOSE:
            self._closed(row)
            return []
        payload = self._capture.records.decoded_record(row).payload
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
        if not self._trust.is_gateway(row):  # only a gateway may name an owner
            return [] if known is not None else [(key, Speaker(self._begin(row)))]
        # A second copy of the opening message must not begin another run.
        if known is not None and self._is_copy(row, known.run):
            return []
        receivers = self._capture.recipients(row)
        owner = self._name(payload.get("owner")) or (self._name(receivers[0]) if len(receivers) == 1 else 0)
        run = self._unopened(row, known) or self._begin(row)
        self.runs.replace("opened", run, row + 1)
        speaker = Speaker(run, owner, self._targets(payload))
        for named in self._capture.named_hashes(row)[:_MOST_NAMED]:
            asked = self._asked.pop(named, None)
            if asked is not None:
                return [(key, self._as_asked(speaker, asked))]
            self._opens[named] = key, speaker.run
        return [(key, speaker)]

    def _unopened(self, row: int, known: Speaker | None) -> int:
        """Returns the run of frames that overtook the opening message of their stream, or NO_RUN."""
        if known is None or known.owner or self.runs["opened"][known.run]:
            return NO_RUN
        first, connection = int(self.runs["first"][known.run]), self._capture.columns["connection"]
        return known.run if connection[first] == connection[row] else NO_RUN

    def _requested(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, Speaker]]:
        columns = self._capture.columns
        own = int(columns["id_hash"][row])
        if own == NO_HASH or self._capture.logged_sender(row) is not None:
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
        """Adds the facts of a request, if its sender is the owner."""
        if not speaker.owner and self._capture.strings[asked.sender] not in GATEWAY_IDS:
            speaker = speaker._replace(owner=asked.sender)
        if speaker.owner != asked.sender:
            return speaker
        return speaker._replace(to_set=speaker.to_set or asked.to_set, context=asked.context)

    def _closed(self, row: int) -> None:
        """Reports the last frame as changed, since the view shows on it that the stream is closed."""
        known = self._current.get(self._key(row, int(self._capture.columns["stream"][row])))
        if known is not None and self.runs["frames"][known.run]:
            self._changed.add(int(self.runs["last"][known.run]))

    def _transferred(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, Speaker]]:
        key = self._key(row, int(self._capture.columns["stream"][row]))
        known, owner = self._current.get(key), self._name(payload.get("new_owner"))
        return [(key, known._replace(owner=owner))] if known is not None and owner else []

    def _listed(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, Speaker]]:
        """Returns the open streams in a welcome: a late joiner has seen no opening messages."""
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
        """Returns the number of a new run without frames."""
        values = {"first": first, "last": 0, "frames": 0, "bytes": 0, "opened": 0 if opened is None else opened + 1}
        return self.runs.append(values, 1)

    def _is_copy(self, row: int, run: int) -> bool:
        """Tells if an open is a copy of the one that opened a run, as in the logs of several recipients."""
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
        """Yields frames of one stream with the facts at the time of sending."""
        limits = [*(row for row, _ in told[1:]), int(rows[-1]) + 1]
        for (since, speaker), until in zip(told, limits, strict=True):
            low, high = rows.searchsorted([since, until]).tolist()
            if low < high:
                yield speaker, rows[low:high]

    def _add(self, speaker: Speaker, rows: Rows) -> None:
        run, capture = speaker.run, self._capture
        first, count = int(rows[0]), int(self.runs["frames"][run])
        if count:
            # A text that begins in these frames may continue in the new ones, so a search must look at them again.
            self._changed.update_all(self.before(first, run, STRETCH))
            self._changed.add(int(self.runs["first"][run]))  # the view shows the whole stream there
        else:
            self.runs.replace("first", run, first)
        self.columns.replace("run", rows, run)
        self.runs.replace("last", run, int(rows[-1]))
        self.runs.replace("frames", run, count + len(rows))
        size = int(capture.columns["size"][rows].sum(dtype=np.int64))
        self.runs.replace("bytes", run, int(self.runs["bytes"][run]) + size)
        self._give(rows, speaker)

    def _give(self, rows: Rows, speaker: Speaker) -> Late:
        """Sets sender, recipients and context of frames where they are unknown."""
        told = self._capture.fill_frame_columns(
            rows, sender=speaker.owner, to_set=speaker.to_set, context=speaker.context
        )
        return Late(told["sender"], told["to_set"], told["context"])

    # Lookup

    def run_of(self, message: int) -> int:
        return int(self.columns["run"][message])

    def opened_by(self, run: int) -> int | None:
        """Returns the message that opened a run's stream; None if not seen."""
        found = int(self.runs["opened"][run])
        return found - 1 if found else None

    def run_about(self, message: int) -> int:
        """Returns the run of a frame or of an opening message, or NO_RUN. O(streams) for opening messages."""
        own = self.run_of(message)
        found = np.flatnonzero(self.runs["opened"] == message + 1)
        return own or (int(found[0]) if len(found) else NO_RUN)

    def before(self, message: int, run: int, most: int) -> Rows:
        """Returns the last frames of a run before a message, ascending. O(messages between)."""
        return self._scan(run, int(self.runs["first"][run]), message, most, last=True)

    def frames(self, run: int, after: int = -1, most: int | None = None) -> Rows:
        """Returns the first frames of a run after a message, ascending; all by default. O(messages between)."""
        if not int(self.runs["frames"][run]):
            return np.zeros(0, np.int64)
        begin = max(after + 1, int(self.runs["first"][run]))
        stop = int(self.runs["last"][run]) + 1
        return self._scan(run, begin, stop, stop if most is None else most, last=False)

    def _scan(self, run: int, begin: int, stop: int, most: int, *, last: bool) -> Rows:
        """Returns the first or last frames of a run in a range, searched in blocks of growing size."""
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
            # Growing blocks find near frames fast, and far ones in few steps.
            size *= 4
        if not found:
            return np.zeros(0, np.int64)
        return np.concatenate(found[::-1] if last else found)
