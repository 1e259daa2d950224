"""Checks streams: requests without a stream, stray or late frames, closes without an id (docs/protocols.md 9)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.findings.deadlines import DeadlineQueue
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_HASH, NO_ROW

UNOPENED_AFTER_S = 10
"""Seconds in which a requested stream should open; gateways open it at once."""
LATE_S = 1
"""Seconds of tolerance for frames after a close, as frames overtake envelopes in a burst (docs/protocols.md 16)."""

UNKNOWN = Check(
    "stream-frame-unknown", WARNING, "Frames of an unknown stream",
    "Frames arrive for {detail}, but there is no stream/open for it.",
    "The owner of the data is unknown. The stream may have been opened before this capture began.",
    "Request a stream, and use the id from stream/open.",
    "MEW v0.4, stream/open gives the id",
    example="stream-7",
)  # fmt: skip
AFTER_CLOSE = Check(
    "stream-frame-after-close", NOTE, "Frames after the stream was closed",
    "A frame for {detail} came more than {limit} s after {other} closed it.",
    "The data is lost for participants who have stopped listening.",
    "Close the stream after its last frame, or request a new one.",
    "MEW v0.4, stream/close", limit=LATE_S,
    example="stream-7",
)  # fmt: skip
CLOSED_WITHOUT_ID = Check(
    "stream-close-without-id", NOTE, "Stream closed without its id",
    "{who} closes a stream without its id in payload.stream_id.",
    "Without the id, the gateway keeps the stream in its list of active streams forever.",
    "Put stream_id into the payload of stream/close.",
    "MEW release v0.11.0, gateway; v0.4, stream/close",
)  # fmt: skip
UNOPENED = Check(
    "stream-not-opened", NOTE, "Requested stream not opened",
    "{who} requested a stream more than {limit} s ago, and it was not opened.",
    "The sender waits, or its data is lost.",
    "Check that the sender may send stream/request, and that a gateway is present.",
    "MEW v0.4, stream/request and stream/open", limit=UNOPENED_AFTER_S,
)  # fmt: skip
CHECKS = (UNKNOWN, CLOSED_WITHOUT_ID, AFTER_CLOSE, UNOPENED)

_OPEN, _CLOSE, _REQUEST = "stream/open", "stream/close", "stream/request"
_OPENED, _HAS_FRAMES = 1, 2


class StreamChecks:
    """Tracks streams by id."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # by space and id: ids are unique within a space only
        self._marks = StringNumbers()
        self._unopened: dict[int, int] = {}  # streams without an open: row of their first frame
        self._closed: dict[int, int] = {}  # by stream: row that closed it, until it is opened again
        self._reported: set[int] = set()
        self._waiting = DeadlineQueue(UNOPENED_AFTER_S)
        self._opened_requests: set[int] = set()
        self._opened_request_ids: set[int] = set()

    def feed(self, batch: Batch) -> None:
        opens, closes, asked = batch.new_and_changed_rows(_OPEN), batch.rows(_CLOSE), batch.rows(_REQUEST)
        welcomes = batch.rows("system/welcome")
        if len(welcomes):
            welcomes = np.array([*filter(batch.passes.trust.is_gateway, welcomes.tolist())], np.int64)
        frames = batch.rows(kinds.FRAME)
        if not (len(opens) or len(closes) or len(asked) or len(welcomes) or len(frames) or self._waiting.any):
            return
        closes_known = closes[batch.column_values("stream", closes) != 0]
        batch.findings.add(CLOSED_WITHOUT_ID, closes[batch.column_values("stream", closes) == 0])
        listed = self._listed_streams(batch, welcomes)
        self._note_opened(batch, opens, listed)
        if len(frames):
            self._frames(batch, frames)
        if self._closed or len(closes):
            # Earlier opens come again when their request is linked; they do not open a stream anew.
            self._after_close(batch, opens[opens >= batch.start], closes_known, frames, listed)
        self._requests(batch, asked, opens)

    def _stream_numbers(self, batch: Batch, rows: Rows) -> Array:
        """(n,) number of each message's stream; 0 without one."""
        streams = batch.column_values("stream", rows).astype(np.int64)
        pairs, inverse = np.unique(
            batch.column_values("space", rows).astype(np.int64) << 32 | streams, return_inverse=True
        )
        numbers = [self._number(pair) if pair & 0xFFFFFFFF else 0 for pair in pairs.tolist()]
        return np.array(numbers, np.int64)[inverse]

    def _number(self, pair: int) -> int:
        return self._numbers.setdefault(pair, len(self._numbers) + 1)

    def _listed_streams(self, batch: Batch, welcomes: Rows) -> dict[int, list[int]]:
        """Returns the streams that gateways list as open, by row of the welcome."""
        found: dict[int, list[int]] = {}
        for row in welcomes.tolist():
            active = batch.capture.records.decoded_record(row).payload.get("active_streams")
            space = int(batch.capture.columns["space"][row])
            for item in active if isinstance(active, list) else []:
                name = item.get("stream_id") if isinstance(item, Mapping) else None
                if isinstance(name, str):
                    found.setdefault(row, []).append(self._number(space << 32 | batch.capture.strings.intern(name)))
        return found

    def _note_opened(self, batch: Batch, opens: Rows, listed: dict[int, list[int]]) -> None:
        streams = dict.fromkeys(self._stream_numbers(batch, opens).tolist())
        streams.update((stream, None) for listing in listed.values() for stream in listing)
        for stream in filter(None, streams):
            self._marks.set_number(stream, self._marks.get(stream) | _OPENED)
            row = self._unopened.pop(stream, None)
            if row is not None:
                batch.findings.withdraw(UNKNOWN, np.array([row], np.int64))

    def _frames(self, batch: Batch, frames: Rows) -> None:
        streams = self._stream_numbers(batch, frames)
        for stream, place in self._marks.unnumbered_ids(streams):
            self._marks.set_number(stream, _HAS_FRAMES)
            if stream:
                row = int(frames[place])
                if batch.beginnings.stream_may_be_older(row):
                    continue
                self._unopened[stream] = row
                batch.findings.add(UNKNOWN, [row], details=batch.string("stream", row))

    def _after_close(self, batch: Batch, opens: Rows, closes: Rows, frames: Rows, listed: dict[int, list[int]]) -> None:
        """Reports the first late frame of a stream, once until it is opened again."""
        named, closing = self._stream_numbers(batch, frames), self._stream_numbers(batch, closes)
        concerned = [stream for stream in np.unique(named).tolist() if stream in self._closed]
        late = frames[np.isin(named, [*concerned, *closing.tolist()])]
        rows = np.sort(np.concatenate((opens, closes, late, np.array([*listed], np.int64))))
        ends, begins = set(closes.tolist()), set(opens.tolist())
        streams, times = self._stream_numbers(batch, rows).tolist(), batch.column_values("time_ns", rows).tolist()
        for row, stream, time in zip(rows.tolist(), streams, times, strict=True):
            # A welcome with the stream in its list also shows that it is open again.
            if row in begins or row in listed:
                for opened in listed.get(row, [stream]):
                    self._closed.pop(opened, None)
                    self._reported.discard(opened)
            elif row in ends:
                self._closed.setdefault(stream, row)
            elif stream in self._closed and stream not in self._reported:
                closed = self._closed[stream]
                if time - int(batch.capture.columns["time_ns"][closed]) > LATE_S * 1_000_000_000:
                    self._reported.add(stream)
                    batch.findings.add(AFTER_CLOSE, [row], others=closed, details=batch.string("stream", row))

    def _requests(self, batch: Batch, asked: Rows, opens: Rows) -> None:
        served = batch.links["cause"][opens]
        for row in served[served != NO_ROW].tolist():
            self._opened_requests.add(row)
            self._opened_request_ids.add(int(batch.capture.columns["id_hash"][row]))
            one = np.array([row], np.int64)
            # A request of an earlier batch may have been reported before its open came.
            if row < batch.start and batch.findings.has(UNOPENED, one)[0]:
                batch.findings.withdraw(UNOPENED, one)
        self._waiting.add(batch.column_values("time_ns", asked), asked, lambda rows: ~self._are_opened(batch, rows))
        due = self._waiting.take_due(batch.now_ns)
        batch.findings.add(UNOPENED, due[~self._are_opened(batch, due)])

    def _are_opened(self, batch: Batch, asked: Rows) -> Array:
        """(n,) bool: True for requests whose stream was opened, also through a copy in the log."""
        named = zip(asked.tolist(), batch.column_values("id_hash", asked).tolist(), strict=True)
        served = [
            row in self._opened_requests or (id_ != NO_HASH and id_ in self._opened_request_ids) for row, id_ in named
        ]
        return np.array(served, np.bool_)
