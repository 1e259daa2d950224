"""Assigns frames to streams, and gives them sender, recipients and context (docs/protocols.md 8, 9).

Frames carry only the id of their stream. Other messages have its owner, targets and subject.

RULE: a frame is sent by its stream's owner to the stream's targets. Its context is the one that its chunk names, else
the one that the request for the stream names in its `description` (`reasoning:<id>`), else the request's own. A
restarted gateway reuses its ids, so a stream is the result of one `stream/open`. A frame may overtake that message, and
belongs to the stream once it comes. Only a gateway may name an owner (`TrustPass`). A request sets context and targets
of its sender's own stream only. A `stream/open` of another sender opens a stream without an owner.

Frames of one stream are a *run*. The table folds it into one row, the search treats it as one text, and the details
join it. Other text in pieces (chunks of an agent's message, deltas of a model over SSE) gets the same treatment
if its reader emits each piece as `Shape.STREAM`. The pieces share a `stream_id` (the id of the message), and `data` is
their content. A sender and recipients stated by the piece itself stay. Only `protocol.payloads.stream_chunks` extracts
the words of a piece from its data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of, sorted_unique
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
SEARCH_FRAMES = 64
"""Limit of following frames that are joined for a text search from one frame on."""

_OPEN, _CLOSE, _REQUEST, _WELCOME = "stream/open", "stream/close", "stream/request", "system/welcome"
_TRANSFERRED = "stream/ownership-transferred"
_STREAM_FACT_KINDS = (_OPEN, _CLOSE, _REQUEST, _TRANSFERRED, _WELCOME)
_REASONING_PREFIX = "reasoning:"
_FIRST_SCAN_ROWS = 1 << 12
_MAX_NAMED_IDS = 4
"""Limit of ids named by an opening message; one of them may be the request's."""
_MAX_REQUESTS = 10_000
"""Limit of requests without a stream; the oldest are dropped."""


class StreamFacts(NamedTuple):
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


class LateFrames(NamedTuple):
    """Frames, ascending, that got a sender, recipients or a context late."""

    sent: Rows
    addressed: Rows
    in_context: Rows


_NO_LATE_FRAMES = LateFrames(NO_ROWS, NO_ROWS, NO_ROWS)


class _StreamRequest(NamedTuple):
    """Content of a request for a stream."""

    sender: int
    to_set: int
    context: int


def _merge_facts(speaker: StreamFacts, other: StreamFacts) -> StreamFacts:
    """Fills unknown facts of a stream from later ones of the same run."""
    if speaker.run != other.run:
        return speaker
    return StreamFacts(*(one or more for one, more in zip(speaker, other, strict=True)))


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
        self._open_streams: dict[_Key, StreamFacts] = {}
        self._streams_by_request: dict[
            int, tuple[_Key, int]
        ] = {}  # by hash of a request's id: the stream opened for it, its run
        self._early_requests: dict[int, _StreamRequest] = {}  # the same, if the request came first
        self._late_facts: dict[int, StreamFacts] = {}  # by run, facts that became known after its earlier frames
        self._late_frames: list[LateFrames] = []
        self._changed = ChangedRows()

    def take_late(self) -> LateFrames:
        """Returns earlier frames with facts learned since the last call, and clears them."""
        if not self._late_frames:
            return _NO_LATE_FRAMES
        late = LateFrames(*(sorted_unique(*rows) for rows in zip(*self._late_frames, strict=True)))
        self._late_frames.clear()
        self._changed.add_array(np.concatenate(late))
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
        first = {key: int(rows[0]) for key, rows in streams if key not in self._open_streams}
        told = self._collect_facts(start, stop, first)
        for run, speaker in self._late_facts.items():
            self._late_frames.append(self._attribute_frames(self.frames(run), speaker))
        self._late_facts.clear()
        for key, rows in streams:
            for speaker, some in self._frames_by_facts(rows, told.get(key, [(-1, self._open_streams[key])])):
                self._add_frames(speaker, some)

    def _streams_of(self, frames: Rows) -> Iterator[tuple[_Key, Rows]]:
        """Yields the streams of some frames, with the frames of each."""
        columns = self._capture.columns
        sources = columns["source"][frames]
        for source in sorted_unique(sources).tolist():
            rows = frames[sources == source]
            pairs = columns["space"][rows].astype(np.int64) << 32 | columns["stream"][rows]
            found, inverse = np.unique(pairs, return_inverse=True)
            parts = np.split(rows[np.argsort(inverse, kind="stable")], np.cumsum(np.bincount(inverse))[:-1])
            for pair, own in zip(found.tolist(), parts, strict=True):
                yield (source, pair >> 32, pair & 0xFFFFFFFF), own

    # Owners of streams

    def _collect_facts(
        self, start: int, stop: int, first: Mapping[_Key, int]
    ) -> dict[_Key, list[tuple[int, StreamFacts]]]:
        """Collects facts about streams from messages.

        Args:
            start, stop: the messages.
            first: the first frames of streams without any earlier facts.

        Returns:
            By stream, the facts and the message with which they begin; the first entry is the earlier state.
        """
        code = self._capture.columns["kind"][start:stop]
        wanted = [found for found in map(self._capture.strings.find, _STREAM_FACT_KINDS) if found is not None]
        rows = (np.flatnonzero(are_any_of(code, wanted)) + start).tolist() if wanted else []
        events: list[tuple[int, _Key | None]] = [(row, key) for key, row in first.items()]
        events += [(row, None) for row in rows]
        told: dict[_Key, list[tuple[int, StreamFacts]]] = {}
        for row, unheard in sorted(events, key=lambda event: event[0]):
            if unheard is not None:
                said = [] if unheard in self._open_streams else [(unheard, StreamFacts(self._begin(None, row)))]
            else:
                said = self._facts_of_message(row)
            for key, speaker in said:
                before = self._open_streams.get(key)
                known = told.setdefault(key, [(-1, before)] if before is not None else [])
                # at most three times per stream
                if before is not None and (more := _merge_facts(before, speaker)) != before:
                    known[:] = [(since, _merge_facts(other, speaker)) for since, other in known]
                    if self.runs["frames"][speaker.run]:
                        self._late_facts[speaker.run] = more
                known.append((row, speaker))
                self._open_streams[key] = speaker
        return told

    def _facts_of_message(self, row: int) -> list[tuple[_Key, StreamFacts]]:
        """Returns the streams with new facts from a message."""
        if int(self._capture.columns["flags"][row]) & Flag.REFUSED.value:
            return []
        kind = self._capture.string("kind", row)
        if kind == _CLOSE:
            self._process_close(row)
            return []
        payload = self._capture.records.decoded_record(row).payload
        if kind == _REQUEST:
            return self._process_request(row, payload)
        if kind == _OPEN:
            return self._process_open(row, payload)
        if not self._trust.is_gateway(row):
            return []
        return self._process_transfer(row, payload) if kind == _TRANSFERRED else self._process_welcome(row, payload)

    def _key(self, row: int, stream: int) -> _Key:
        columns = self._capture.columns
        return int(columns["source"][row]), int(columns["space"][row]), stream

    def _process_open(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, StreamFacts]]:
        stream = int(self._capture.columns["stream"][row])
        key = self._key(row, stream)
        known = self._open_streams.get(key)
        if not stream:
            return []
        if not self._trust.is_gateway(row):  # only a gateway may name an owner
            return [] if known is not None else [(key, StreamFacts(self._begin(row)))]
        # A second copy of the opening message must not begin another run.
        if known is not None and self._is_copy(row, known.run):
            return []
        receivers = self._capture.recipients(row)
        owner = self._intern_name(payload.get("owner")) or (
            self._intern_name(receivers[0]) if len(receivers) == 1 else 0
        )
        run = self._unopened_run(row, known) or self._begin(row)
        self.runs.replace("opened", run, row + 1)
        speaker = StreamFacts(run, owner, self._targets(payload))
        for named in self._capture.named_hashes(row)[:_MAX_NAMED_IDS]:
            asked = self._early_requests.pop(named, None)
            if asked is not None:
                return [(key, self._with_request(speaker, asked))]
            self._streams_by_request[named] = key, speaker.run
        return [(key, speaker)]

    def _unopened_run(self, row: int, known: StreamFacts | None) -> int:
        """Returns the run of frames that overtook the opening message of their stream, or NO_RUN."""
        if known is None or known.owner or self.runs["opened"][known.run]:
            return NO_RUN
        first, connection = int(self.runs["first"][known.run]), self._capture.columns["connection"]
        return known.run if connection[first] == connection[row] else NO_RUN

    def _process_request(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, StreamFacts]]:
        columns = self._capture.columns
        own = int(columns["id_hash"][row])
        if own == NO_HASH or self._capture.logged_sender(row) is not None:
            return []
        about = payload.get("description")
        named = (
            about.removeprefix(_REASONING_PREFIX)
            if isinstance(about, str) and about.startswith(_REASONING_PREFIX)
            else ""
        )
        context = self._intern_name(named) or int(columns["context"][row])
        asked = _StreamRequest(int(columns["sender"][row]), self._targets(payload), context)
        key, run = self._streams_by_request.pop(own, (None, NO_RUN))
        known = self._open_streams.get(key) if key is not None else None
        if key is None or known is None or known.run != run:
            self._early_requests[own] = asked
            if len(self._early_requests) > _MAX_REQUESTS:
                del self._early_requests[next(iter(self._early_requests))]
            return []
        return [(key, self._with_request(known, asked))]

    def _with_request(self, speaker: StreamFacts, asked: _StreamRequest) -> StreamFacts:
        """Adds the facts of a request, if its sender is the owner."""
        if not speaker.owner and self._capture.strings[asked.sender] not in GATEWAY_IDS:
            speaker = speaker._replace(owner=asked.sender)
        if speaker.owner != asked.sender:
            return speaker
        return speaker._replace(to_set=speaker.to_set or asked.to_set, context=asked.context)

    def _process_close(self, row: int) -> None:
        """Reports the last frame as changed, since the view shows on it that the stream is closed."""
        known = self._open_streams.get(self._key(row, int(self._capture.columns["stream"][row])))
        if known is not None and self.runs["frames"][known.run]:
            self._changed.add(int(self.runs["last"][known.run]))

    def _process_transfer(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, StreamFacts]]:
        key = self._key(row, int(self._capture.columns["stream"][row]))
        known, owner = self._open_streams.get(key), self._intern_name(payload.get("new_owner"))
        return [(key, known._replace(owner=owner))] if known is not None and owner else []

    def _process_welcome(self, row: int, payload: Mapping[str, object]) -> list[tuple[_Key, StreamFacts]]:
        """Returns the open streams in a welcome: a late joiner has seen no opening messages."""
        found: list[tuple[_Key, StreamFacts]] = []
        active = payload.get("active_streams")
        for item in active if isinstance(active, list) else ():
            name = self._intern_name(item.get("stream_id")) if isinstance(item, Mapping) else 0
            owner = self._intern_name(item.get("owner")) if name else 0
            key = self._key(row, name)
            known = self._open_streams.get(key)
            if not owner or (known is not None and known.owner == owner):
                continue
            about = item.get("description")
            named = (
                about.removeprefix(_REASONING_PREFIX)
                if isinstance(about, str) and about.startswith(_REASONING_PREFIX)
                else ""
            )
            run = self._unopened_run(row, known) or self._begin(None)
            found.append((key, StreamFacts(run, owner, self._targets(item), self._intern_name(named))))
        return found

    def _begin(self, opened: int | None, first: int = 0) -> int:
        """Returns the number of a new run without frames."""
        values = {"first": first, "last": 0, "frames": 0, "bytes": 0, "opened": 0 if opened is None else opened + 1}
        return self.runs.append(values, 1)

    def _is_copy(self, row: int, run: int) -> bool:
        """Tells if an open is a copy of the one that opened a run, as in the logs of several recipients."""
        opened, hashes = int(self.runs["opened"][run]), self._capture.columns["id_hash"]
        return bool(opened) and int(hashes[row]) != NO_HASH and int(hashes[row]) == int(hashes[opened - 1])

    def _intern_name(self, name: object) -> int:
        return self._capture.strings.intern(stored_name(name)) if isinstance(name, str) and name else 0

    def _targets(self, payload: Mapping[str, object]) -> int:
        listed = payload.get("target")
        names = [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
        targets = tuple(stored_name(name) for name in names[:MAX_NAMES] if isinstance(name, str) and name)
        return int(self._capture.to_sets.intern_all([targets])[0]) if targets else 0

    # Frames

    def _frames_by_facts(
        self, rows: Rows, told: Sequence[tuple[int, StreamFacts]]
    ) -> Iterator[tuple[StreamFacts, Rows]]:
        """Yields frames of one stream with the facts at the time of sending."""
        limits = [*(row for row, _ in told[1:]), int(rows[-1]) + 1]
        for (since, speaker), until in zip(told, limits, strict=True):
            low, high = rows.searchsorted([since, until]).tolist()
            if low < high:
                yield speaker, rows[low:high]

    def _add_frames(self, speaker: StreamFacts, rows: Rows) -> None:
        run, capture = speaker.run, self._capture
        first, count = int(rows[0]), int(self.runs["frames"][run])
        if count:
            # A text that begins in these frames may continue in the new ones, so a search must look at them again.
            self._changed.add_array(self.before(first, run, SEARCH_FRAMES))
            self._changed.add(int(self.runs["first"][run]))  # the view shows the whole stream there
        else:
            self.runs.replace("first", run, first)
        self.columns.replace("run", rows, run)
        self.runs.replace("last", run, int(rows[-1]))
        self.runs.replace("frames", run, count + len(rows))
        size = int(capture.columns["size"][rows].sum(dtype=np.int64))
        self.runs.replace("bytes", run, int(self.runs["bytes"][run]) + size)
        self._attribute_frames(rows, speaker)

    def _attribute_frames(self, rows: Rows, speaker: StreamFacts) -> LateFrames:
        """Sets sender, recipients and context of frames where they are unknown."""
        told = self._capture.fill_frame_columns(
            rows, sender=speaker.owner, to_set=speaker.to_set, context=speaker.context
        )
        return LateFrames(told["sender"], told["to_set"], told["context"])

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
        return self._scan_frames(run, int(self.runs["first"][run]), message, most, last=True)

    def frames(self, run: int, after: int = -1, most: int | None = None) -> Rows:
        """Returns the first frames of a run after a message, ascending; all by default. O(messages between)."""
        if not int(self.runs["frames"][run]):
            return np.zeros(0, np.int64)
        begin = max(after + 1, int(self.runs["first"][run]))
        stop = int(self.runs["last"][run]) + 1
        return self._scan_frames(run, begin, stop, stop if most is None else most, last=False)

    def _scan_frames(self, run: int, begin: int, stop: int, most: int, *, last: bool) -> Rows:
        """Returns the first or last frames of a run in a range, searched in blocks of growing size."""
        column = self.columns["run"]
        found: list[NDArray[np.int64]] = []
        missing, size = most, _FIRST_SCAN_ROWS
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
