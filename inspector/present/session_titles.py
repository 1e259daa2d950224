"""What sessions of coding agents are called: the title that one has, else the last prompt."""

from __future__ import annotations

import numpy as np

from inspector.capture.capture import Capture
from inspector.capture.flags import Flag
from inspector.present.wire_text import plain
from inspector.protocol.formats import TRANSCRIPTS

_TITLES = ("codex/thread_name_updated", "claude/custom-title", "claude/ai-title", "claude/last-prompt")
"""Kinds of records that name a session, those that say it best first; then what its user said last."""
_USER = "user"
_LONGEST = 120


class SessionTitles:
    """Titles by space, looked up when they are asked for.

    Records are read one by one: of each session the one that names it.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._seen = 0
        self._rows: dict[int, list[int]] = {}  # by space, the latest message of each kind above, and of the user
        self._read: dict[int, tuple[int, str]] = {}  # by space, what was read and its title

    def of(self, space: int) -> str:
        """What a session (string id of its space) is called, on one line; "" where nothing says. O(new messages)."""
        self._look_on()
        row = next((row for row in self._rows.get(space, ()) if row >= 0), -1)
        if row < 0:
            return ""
        known = self._read.get(space)
        if known is None or known[0] != row:
            text = self._capture.payload(row).get("text")
            known = self._read[space] = row, plain(text, _LONGEST) if isinstance(text, str) else ""
        return known[1]

    def _look_on(self) -> None:
        capture, start, stop = self._capture, self._seen, len(self._capture)
        self._seen = stop
        find, columns = capture.strings.find, capture.columns
        labels = [code for one in TRANSCRIPTS if (code := find(one.LABEL))]
        if start == stop or not labels:
            return
        kind = columns["kind"][start:stop]
        own = np.isin(columns["protocol"][start:stop], labels)
        typed = own & (kind == (find("chat") or -1)) & (columns["context"][start:stop] == 0)
        typed &= columns["sender"][start:stop] == (find(_USER) or -1)
        typed &= columns["flags"][start:stop] & Flag.DERIVED.value != 0
        for place, name in enumerate((*_TITLES, _USER)):
            told = typed if name == _USER else own & (kind == (find(name) or -1))
            rows = np.flatnonzero(told) + start
            spaces, last = np.unique(columns["space"][rows][::-1], return_index=True)
            for space, back in zip(spaces.tolist(), last.tolist(), strict=True):
                rows_of = self._rows.setdefault(space, [-1] * (len(_TITLES) + 1))
                rows_of[place] = int(rows[len(rows) - 1 - back])
