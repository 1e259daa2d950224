"""Names a conversation in a few words: its first user message, or the purpose of a side question."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

import numpy as np

from inspector.analysis import Analysis
from inspector.formats.model_vocabulary import SYSTEM, USER
from inspector.protocol import kinds
from inspector.protocol.derived_messages import MODEL_CALL_KEY
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.flags import Flag

_names: WeakKeyDictionary[Analysis, dict[int, str]] = WeakKeyDictionary()
_LONGEST = 48
_MOST_ROWS = 2_000
"""Messages searched from the start of a conversation."""
_MOST_ASKS = 8
_PURPOSES = (("router", re.compile(r"(?i)\brout(er|ing)\b")), ("title", re.compile(r"(?i)\btitle\b")),
             ("summary", re.compile(r"(?i)\bsummar(y|i[sz]e)")))  # fmt: skip
_LOOKED_AT = 400
"""Characters of a system prompt that state its purpose."""


def conversation_words(analysis: Analysis, space: int) -> str:
    """Returns the name of a conversation; "" without a user message. Results are cached."""
    known = _names.setdefault(analysis, {})
    found = known.get(space)
    if found is None:
        found = _words(analysis, space)
        if found:
            known[space] = found
    return found


def _words(analysis: Analysis, space: int) -> str:
    capture = analysis.capture
    columns, strings, stop = capture.columns, capture.strings, len(analysis)
    rows = np.flatnonzero(columns["space"][:stop] == space)[:_MOST_ROWS]
    kind, sender = columns["kind"][rows], columns["sender"][rows]
    derived = columns["flags"][rows] & Flag.DERIVED.value != 0
    if not derived.any():
        return ""
    chats = derived & (kind == (strings.find("chat") or -1))
    calls = rows[(kind == (strings.find(kinds.REQUEST) or -1)) & (rows > rows[0])]
    asked = rows[chats & (sender == (strings.find(USER) or -1))]
    # A client may put text of its own before the user's message in the first request.
    first = columns["offset"][asked] == columns["offset"][rows[0]]
    first &= (columns["source"][asked] == columns["source"][rows[0]]) & (asked < (calls[0] if len(calls) else stop))
    looked_at = asked[first][:_MOST_ASKS] if first.any() else asked[:1]
    said = [text for row in looked_at.tolist() if (text := _text(analysis, row))]
    asks = [text for text in said if not text.startswith("<")] or said
    words = f"\u201c{_cut(asks[-1])}\u201d" if asks else ""
    prompts = rows[chats & (sender == (strings.find(SYSTEM) or -1))][:1]
    purpose = _purpose(analysis, int(rows[0]), _text(analysis, int(prompts[0])) if len(prompts) else "")
    return f"{purpose}: {words}" if purpose and words else purpose or words


def _purpose(analysis: Analysis, request: int, prompt: str) -> str:
    """Returns the purpose of a request without tools from its system prompt: title, router, summary."""
    told = analysis.capture.records.payload(request).get(MODEL_CALL_KEY)
    if not isinstance(told, dict) or told.get("tools"):
        return ""
    begins = prompt[:_LOOKED_AT]
    return next((name for name, words in _PURPOSES if words.search(begins)), "")


def _text(analysis: Analysis, row: int) -> str:
    text = analysis.capture.records.payload(row).get("text")
    return " ".join(text.split()) if isinstance(text, str) else ""


def _cut(text: str) -> str:
    text = mask_text(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
