"""Finds titles of agents' sessions in their messages: the last title, else the first prompt.

Conversations with a model API have no title of their own, and the program names them by a digest. Lists show the first
prompt instead.
"""

from __future__ import annotations

import numpy as np

from inspector.formats import registry
from inspector.formats.table import MODEL_WIRES, TITLE_KINDS
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

_USER = "user"
_MEMBERS = (*TITLE_KINDS.values(), "text")
"""Members of payloads with the title; of the first prompt its text."""
MAX_TITLE = 120
_LOOKED_AT = 8 * MAX_TITLE  # limit of text read
_MAX_READ = 4
"""Limit of messages read: the latest titles, and the first prompts, since pictures have no text."""


def title_of_session(capture: Capture) -> str:
    """Returns the name of a log's first session; "" for other logs. O(messages)."""
    return title_among(SessionTitles(capture), capture)


def title_among(titles: SessionTitles, capture: Capture) -> str:
    """Returns the title of a capture's first session; "" for other logs."""
    spaces = capture.columns["space"][: min(len(capture), _SEARCHED_MESSAGES)]
    # Only messages derived from transcripts belong to an agent's session.
    named = spaces[capture.columns["part"][: len(spaces)] != 0]
    return titles.session_title(int(named[named != 0][0])) if (named != 0).any() else ""


_SEARCHED_MESSAGES = 2_000
"""Number of first messages searched for a session."""


class SessionTitles:
    """Titles by space, looked up on demand.

    Records are read one by one, one per session.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._seen = 0
        self._rows: dict[int, list[list[int]]] = {}  # by space: latest of each title kind, first prompts
        self._conversations: set[int] = set()  # spaces of conversations with a model API
        self._read: dict[int, tuple[list[list[int]], str]] = {}  # by space: the messages read, and the title

    def session_title(self, space: int) -> str:
        """Returns the title of a session (string id of its space) on one line, or "". O(new messages)."""
        self._read_new()
        return "" if space in self._conversations else self._title(space)

    def space_title(self, space: int) -> str:
        """Returns the title of a session or of a conversation with a model API; or "". O(new messages)."""
        self._read_new()
        return self._title(space)

    def _title(self, space: int) -> str:
        rows = self._rows.get(space, [])
        known = self._read.get(space)
        if known is None or known[0] is not rows:
            best_first = (*(one[::-1] for one in rows[:-1]), *rows[-1:])
            words = (
                self._record_title(row, member)
                for member, of_kind in zip(_MEMBERS, best_first, strict=False)
                for row in of_kind
            )
            known = self._read[space] = rows, next(filter(None, words), "")
        return known[1]

    def _record_title(self, row: int, member: str) -> str:
        payload = self._capture.records.payload(row)
        text = payload.get(member)
        return self.on_one_line(text) if isinstance(text, str) and "source" not in payload else ""

    def on_one_line(self, text: str) -> str:
        """Formats a title: masked, one line, at most 120 characters; … marks omitted text."""
        words = " ".join(mask_text(plain_words(mask_text(text[:_LOOKED_AT]))).split())
        is_whole = len(words) <= MAX_TITLE and len(text) <= _LOOKED_AT
        return words if is_whole else f"{words[: MAX_TITLE - 1]}…"

    def _read_new(self) -> None:
        capture, start, stop = self._capture, self._seen, len(self._capture)
        self._seen = stop
        find, columns = capture.strings.find, capture.columns
        labels = [code for name in registry.groups().transcripts if (code := find(name))]
        wires = [code for name in MODEL_WIRES if (code := find(name))]
        if start == stop or not (labels or wires):
            return
        kind = columns["kind"][start:stop]
        own = np.isin(columns["protocol"][start:stop], labels)
        asked = np.isin(columns["protocol"][start:stop], wires) & (columns["space"][start:stop] != 0)
        self._conversations.update(np.unique(columns["space"][start:stop][asked]).tolist())
        typed = (own | asked) & (kind == (find("chat") or -1)) & (columns["context"][start:stop] == 0)
        typed &= columns["sender"][start:stop] == (find(_USER) or -1)
        typed &= columns["flags"][start:stop] & Flag.DERIVED.value != 0
        for place, name in enumerate((*TITLE_KINDS, _USER)):
            told = typed if name == _USER else own & (kind == (find(name) or -1))
            rows = np.flatnonzero(told) + start
            spaces = columns["space"][rows]
            for space in np.unique(spaces).tolist():
                before = self._rows.get(space) or [[] for _ in (*TITLE_KINDS, _USER)]
                own_rows = rows[spaces == space]
                if name == _USER:
                    kept = [*before[place], *own_rows[:_MAX_READ].tolist()][:_MAX_READ]
                else:
                    kept = [*before[place], *own_rows[-_MAX_READ:].tolist()][-_MAX_READ:]
                self._rows[space] = [*before[:place], kept, *before[place + 1 :]]
