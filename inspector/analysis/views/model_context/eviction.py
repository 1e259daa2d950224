"""Determines removals from a model context: forgotten, compacted, rewound, replaced (docs/protocols.md 4).

Entries enter and leave in runs of neighbours, so that many such messages cost little.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.views.model_context.admission import SortedIn
from inspector.analysis.views.model_context.context_owners import Reader
from inspector.analysis.views.model_context.context_rules import KeptRange, rules_by_format
from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.analysis.views.model_context.removals import Left, Payloads
from inspector.analysis.views.model_context.reported import reported_at
from inspector.base.slices import SlicedWork
from inspector.formats import registry
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_ROW

_FORGET, _DONE = "participant/forget", "participant/compact-done"
_BEGUN = "participant/compact"
_NEAR = 200
"""Messages searched before a summary for the record of its compaction."""
_CLEAR, _RESTART = "participant/clear", "participant/restart"
_USER = "user"
_SKIPPED = ("skipped", "failed", "error")


def find_left(
    analysis: Analysis, reader: Reader, sorted_in: SortedIn, read: Payloads | None = None
) -> SlicedWork[Left]:  # fmt: skip
    """Processes messages that remove entries from a reader's context, in order of arrival.

    For compaction only the participant's report (`compact-done`) counts. A participant also counts messages outside the
    traffic, such as its instructions. If it reported its number of messages before, the same share of known entries is
    removed, oldest first. If it names only tokens, the oldest entries up to this estimate are removed.

    Args:
        analysis: passes of the capture.
        reader: owner of the context.
        sorted_in: messages that ever entered it.
        read: payload cache of an earlier run; new payloads are added.
    """
    leaving = _Leaving(analysis, reader, sorted_in, {} if read is None else read)
    yield
    reports = _reports_before_compacting(analysis, reader)
    yield
    for row in sorted({*_controls(analysis, reader), *reports}):
        leaving.apply(row, is_report=row in reports)
        yield
    leaving.leave_branches()
    yield
    leaving.replace_lists(reader)
    yield
    leaving.end_connections()
    return Left(leaving.by, leaving.whys)


def _controls(analysis: Analysis, reader: Reader) -> list[int]:
    """Returns requests to the reader to forget, and its own compaction reports, ascending."""
    capture, stop = analysis.capture, len(analysis)
    if reader.name is None:
        return []
    columns = capture.columns
    codes = {name: capture.strings.find(name) or -1 for name in (_FORGET, _CLEAR, _RESTART, _DONE)}
    wanted = np.isin(columns["kind"][:stop], [code for code in codes.values() if code > 0])
    rows = np.flatnonzero(wanted & (columns["space"][:stop] == reader.space))
    own = columns["sender"][rows] == (capture.strings.find(reader.name) or -1)
    done = columns["kind"][rows] == codes[_DONE]
    sets = columns["to_set"][rows]
    meant = done | (sets == 0) | capture.to_sets.sets_with_name(reader.name)[sets]
    return rows[(own == done) & meant].tolist()


def _reports_before_compacting(analysis: Analysis, reader: Reader) -> set[int]:
    """Returns the reader's last report before each compaction, the base of the freed share."""
    found = analysis.participants.all.get((reader.space, reader.name)) if reader.name is not None else None
    done = analysis.capture.strings.find(_DONE)
    if found is None or not found.status_rows or done is None:
        return set()
    columns, stop = analysis.capture.columns, len(analysis)
    own = (columns["kind"][:stop] == done) & (columns["space"][:stop] == reader.space)
    own &= columns["sender"][:stop] == (analysis.capture.strings.find(reader.name or "") or -1)
    places = np.searchsorted(found.status_rows, np.flatnonzero(own), side="right") - 1
    return {found.status_rows[place] for place in np.unique(places[places >= 0]).tolist()}


class _Leaving:
    """Current entries as runs of neighbours: (start, stop) into `_places`, oldest first."""

    def __init__(self, analysis: Analysis, reader: Reader, sorted_in: SortedIn, read: Payloads) -> None:
        self._analysis, self._reader = analysis, reader
        self._read = read
        self._sorted = sorted_in
        self.by = np.full(len(sorted_in.rows), NO_ROW, np.int64)
        self.whys = np.zeros(len(sorted_in.rows), np.uint8)
        self._places = np.flatnonzero((sorted_in.roles != Role.NONE) & (sorted_in.roles != Role.TOOLS))
        self._rows = sorted_in.rows[self._places]
        self._fed = 0
        self._inside: deque[tuple[int, int]] = deque()
        self._count = 0  # number of current entries
        self._had: dict[int, int] = {}  # number of current entries at each report of the reader

    def apply(self, row: int, *, is_report: bool = False) -> None:
        """Admits earlier messages, then applies a message; a report only records the present count."""
        stop = int(np.searchsorted(self._rows, row))
        if stop > self._fed:
            # Runs instead of single entries, so that a removal of many costs little.
            self._inside.append((self._fed, stop))
            self._count += stop - self._fed
            self._fed = stop
        if is_report:
            self._had[row] = self._count
            return
        kind, payload = self._analysis.capture.string("kind", row), self._payload(row)
        if kind == _FORGET:
            self._forget(row, payload)
        elif kind == _DONE:
            self._compact(row, payload)
        else:
            self._take(row, len(self._rows), Why.CLEARED)

    def _payload(self, row: int) -> dict[str, Any]:
        found = self._read.get(row)
        if found is None:
            found = self._read[row] = self._analysis.capture.records.payload(row)
        return found

    def _forget(self, row: int, payload: dict[str, Any]) -> None:
        if self._is_derived(row):
            turns = _count(payload.get("turns"))
            if isinstance(payload.get("from"), str):
                self._rewind(row, payload["from"])
            elif "after" in payload:
                self._rewind_to(row, payload["after"])
            elif turns is None:
                self._drop(row, payload.get("message_ids"))
            else:
                self._roll_back(row, turns)
            return
        count = _count(payload.get("entries"))
        newest = payload.get("direction") == "newest"
        self._take(row, 1 if count is None else count, Why.FORGOTTEN, newest=newest)

    def _compact(self, row: int, payload: dict[str, Any]) -> None:
        if payload.get("skipped") is True or payload.get("status") in _SKIPPED:
            return
        if self._is_derived(row):  # in a transcript: all earlier messages except the ones it reports as kept
            kept = self._preserved(row)
            if kept is None:
                self._take(row, self._count, Why.SUMMARISED)
            else:
                self._take_others(row, kept)
            return
        messages, tokens = _count(payload.get("freed_messages")), _count(payload.get("freed_tokens"))
        if messages is not None:
            self._take(row, self._share(row, messages), Why.COMPACTED)
        elif tokens:
            self._take_tokens(row, tokens)

    def _preserved(self, row: int) -> NDArray[np.bool_] | None:
        """(n,) bool: True for entries that a compaction kept, by the record before it; None if it names none."""
        capture = self._analysis.capture
        columns, code = capture.columns, capture.strings.find(_BEGUN)
        if not code:
            return None
        near = np.arange(max(0, row - _NEAR), row)
        begun = near[(columns["kind"][near] == code) & (columns["source"][near] == columns["source"][row])]
        begun = begun[columns["context"][begun] == columns["context"][row]]
        rules = rules_by_format().get(capture.string("protocol", int(begun[-1])) or "") if len(begun) else None
        named = rules.kept_by_compaction(self._payload(int(begun[-1]))) if rules is not None else None
        if not named:
            return None
        rows = self._rows[: self._fed]
        hashes = [capture.ids.hash_in_space(self._reader.space, one) for one in named]
        told = [one for value in hashes for one in capture.ids.rows_of(value) if one < row]
        if not told:
            return None
        if isinstance(named, KeptRange):
            return (rows >= min(told)) & (rows <= max(told)) & (columns["source"][rows] == columns["source"][row])
        records = columns["offset"][np.array(told, np.int64)]
        return np.isin(columns["offset"][rows], records) & (columns["source"][rows] == columns["source"][row])

    def _take_others(self, row: int, kept: NDArray[np.bool_]) -> None:
        """Removes all entries except the kept ones."""
        inside = np.concatenate([np.arange(start, stop) for start, stop in self._inside] or [np.zeros(0, np.int64)])
        gone = self._places[inside[~kept[inside]]]
        gone = gone[self.by[gone] == NO_ROW]
        self.by[gone], self.whys[gone] = row, Why.SUMMARISED
        self._inside = deque((place, place + 1) for place in inside[kept[inside]].tolist())
        self._count = len(self._inside)

    def _is_derived(self, row: int) -> bool:
        return bool(self._analysis.capture.columns["part"][row])

    def _roll_back(self, row: int, turns: int) -> None:
        """Removes the last turns; a turn starts with a prompt to the reader that its own program did not send."""
        capture = self._analysis.capture
        fed = self._places[: self._fed]
        rows = self._rows[: self._fed]
        programs = [code for name in registry.groups().programs if (code := capture.strings.find(name))]
        asked = (self._sorted.roles[fed] == Role.USER) & (self.by[fed] == NO_ROW)
        asked &= capture.columns["kind"][rows] == (capture.strings.find("chat") or -1)
        asked &= ~np.isin(capture.columns["sender"][rows], programs)
        begun = np.flatnonzero(asked)
        if turns and len(begun):
            first = int(begun[-min(turns, len(begun))])
            count = sum(max(0, stop - max(start, first)) for start, stop in self._inside)
            self._take(row, count, Why.ROLLED_BACK, newest=True)

    def _drop(self, row: int, calls: object) -> None:
        """Removes the results of calls by the calls' ids."""
        capture = self._analysis.capture
        named = [one for one in calls if isinstance(one, str)] if isinstance(calls, list) else []
        hashes = np.array([capture.ids.hash_in_space(self._reader.space, one) for one in named], np.uint64)
        rows, places = self._rows[: self._fed], self._places[: self._fed]
        gone = np.isin(capture.columns["correlation_hash"][rows], hashes) & (self.by[places] == NO_ROW)
        gone &= capture.columns["kind"][rows] == (capture.strings.find(kinds.RESPONSE) or -1)
        places = places[gone]
        self.by[places], self.whys[places] = row, Why.DROPPED

    def _rewind(self, row: int, identifier: str) -> None:
        """Removes a message, by id, and all later ones."""
        columns = self._analysis.capture.columns
        hash_ = self._analysis.capture.ids.hash_in_space(self._reader.space, identifier)
        rows = self._sorted.rows
        first = rows[(columns["id_hash"][rows] == np.uint64(hash_)) & (rows < row)]
        if len(first):
            self._rewind_from(row, int(first[0]))

    def _rewind_to(self, row: int, identifier: object) -> None:
        """Removes all messages after a record, by its id; all earlier ones if it is None."""
        if identifier is None:
            self._rewind_from(row, 0)
        if not isinstance(identifier, str):
            return
        columns = self._analysis.capture.columns
        hash_ = self._analysis.capture.ids.hash_in_space(self._reader.space, identifier)
        named = np.flatnonzero(columns["id_hash"][:row] == np.uint64(hash_))
        if not len(named):
            return
        # A record may have several rows.
        record = np.ones(row - int(named[-1]), np.bool_)
        for column in ("source", "offset"):
            record &= columns[column][named[-1] : row] == columns[column][named[-1]]
        self._rewind_from(row, int(named[-1] + np.flatnonzero(record)[-1]) + 1)

    def _rewind_from(self, row: int, first: int) -> None:
        places = self._places[: self._fed]
        gone = places[(self._rows[: self._fed] >= first) & (self.by[places] == NO_ROW)]
        self.by[gone], self.whys[gone] = row, Why.REWOUND

    def _share(self, row: int, freed: int) -> int:
        """Returns the number of known entries for a freed number; entries since the last report stay."""
        status = reported_at(self._analysis, self._reader, row)
        had = status.messages if status is not None else None
        inside = self._had.get(status.message, 0) if status is not None else 0
        if not had or not inside or freed > had:
            return freed
        return round(freed / had * inside)

    def _take(self, row: int, count: int, why: Why, *, newest: bool = False) -> None:
        while count > 0 and self._inside:
            start, stop = self._inside.pop() if newest else self._inside.popleft()
            some = min(count, stop - start)
            count -= some
            self._count -= some
            gone = slice(stop - some, stop) if newest else slice(start, start + some)
            places = self._places[gone]
            places = places[self.by[places] == NO_ROW]  # some may have been removed one by one
            self.by[places], self.whys[places] = row, why
            if newest and stop - some > start:
                self._inside.append((start, stop - some))
            elif not newest and start + some < stop:
                self._inside.appendleft((start + some, stop))

    def _take_tokens(self, row: int, tokens: int) -> None:
        """Removes the oldest entries up to a number of tokens; uncounted ones count as 0."""
        counted = self._analysis.tokens.columns["tokens"]
        while tokens > 0 and self._inside:
            start, stop = self._inside[0]
            freed = np.cumsum(np.maximum(counted[self._rows[start:stop]], 0), dtype=np.int64)
            some = min(int(np.searchsorted(freed, tokens)) + 1, stop - start)
            tokens -= int(freed[some - 1])
            self._take(row, some, Why.COMPACTED)

    def leave_branches(self) -> None:
        """Removes abandoned branches of a transcript: two prompts with the same parent are a fork.

        RULE: only prompts fork. Several records with one parent are common otherwise: parallel calls, ticks, hooks.
        """
        capture, rows = self._analysis.capture, self._sorted.rows
        columns = capture.columns
        prompts = (self._sorted.roles == Role.USER) & (columns["part"][rows] == 1)
        prompts &= columns["kind"][rows] == (capture.strings.find("chat") or -1)
        prompts &= columns["sender"][rows] == (capture.strings.find(_USER) or -1)
        first: dict[int, int] = {}
        causes = self._analysis.correlation.columns["cause"]
        for place in np.flatnonzero(prompts).tolist():
            cause = int(causes[rows[place]])
            before = first.get(cause) if cause != NO_ROW else None
            if before is not None:
                left = np.arange(before, place)
                left = left[(self._sorted.roles[left] != Role.NONE) & (self.by[left] == NO_ROW)]
                self.by[left], self.whys[left] = rows[place], Why.REWOUND
            first[cause] = place

    def replace_lists(self, reader: Reader) -> None:
        """Replaces a server's tool list by a later one; a further page adds to it."""
        capture, links = self._analysis.capture, self._analysis.correlation.columns
        standing: dict[tuple[int, ...], list[int]] = {}  # server -> indexes of the pages of its list
        for place in np.flatnonzero(self._sorted.roles == Role.TOOLS).tolist():
            row = int(self._sorted.rows[place])
            server = tuple(int(capture.columns[name][row]) for name in ("source", "connection", "sender"))
            pages = standing.setdefault(server, [])
            params = self._payload(int(links["cause"][row])).get("params") if pages else None
            if pages and not (isinstance(params, dict) and params.get("cursor")):
                self.by[pages], self.whys[pages] = row, Why.REPLACED
                pages.clear()
            pages.append(place)

    def end_connections(self) -> None:
        """Removes messages of a connection that was reopened, as this is another run of the client.

        Parallel connections are several servers of one client, and all stay in its context.
        """
        ended = self._analysis.transients.runs.ended_by(self._sorted.rows)
        gone = (ended != NO_ROW) & (self._sorted.roles != Role.NONE) & (self.by == NO_ROW)
        self.by[gone], self.whys[gone] = ended[gone], Why.REOPENED


def _count(value: object) -> int | None:
    """Returns a count, or None for other values."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53 else None
