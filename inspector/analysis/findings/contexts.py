"""Checks context strings: form, size and secrets; also floods and growth of contexts (docs/protocols.md 6)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_tree import MAIN, MAX_LEVELS
from inspector.analysis.passes.contexts.naming_notes import MAX_DEPTH, MAX_LENGTH, NamingOddity
from inspector.protocol import context_paths
from inspector.protocol.context_paths import path_depth
from inspector.protocol.secrets.key_shapes import contains_key
from inspector.protocol.secrets.masking import mask_text, masked_value_text
from inspector.protocol.secrets.rule_prefilter import may_hold_secrets
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.block import OBJECT_KEY
from inspector.store.columns.flags import Flag

FLOOD_CONTEXTS, FLOOD_S = 500, 600
"""Number of new contexts of one sender, and the seconds in which they count as a flood."""
BURST_CONTEXTS, BURST_S = 20, 1
"""The same for a burst."""
LONG_CONTEXT_MESSAGES = 5_000
"""Messages in one context."""

MALFORMED = Check(
    "context-malformed", WARNING, "Malformed context path",
    "{who} wrote the context {detail}; outer slashes and empty segments are ignored.",
    "Other programs may read it as another context.",
    "Separate segments by single slashes, and omit context for the main context.",
    "p4m: no leading or trailing slash",
    example="“why//fs/”",
)  # fmt: skip
NOT_A_PATH = Check(
    "context-wrong-type", WARNING, "Context is not a path",
    "{who} sent a context that is neither a text nor an object with an id; the main context gets the message.",
    "The message appears in the wrong context.",
    "Write context as a path string.",
    "MEW v0.2 to v0.4: context is a string",
)  # fmt: skip
CHARACTERS = Check(
    "context-characters", NOTE, "Unusual characters in a context",
    "The context {detail} has characters other than letters, digits, - and _.",
    "Other tools may refuse it, or split or escape it differently.",
    "Use letters, digits, - and _ in the segments.",
    "p4m: characters of a segment",
    example="“why fs?”",
)  # fmt: skip
TOO_DEEP = Check(
    "context-too-deep", NOTE, "Context too deep",
    "The context {detail} has more than {limit} levels.",
    "Deep nesting is hard to follow, and often a sign of endless recursion.",
    "Find the participant that opens contexts inside contexts.",
    "p4m: suggested maximum depth 5", limit=MAX_DEPTH,
    example="“a/b/c/d/e/f”",
)  # fmt: skip
TOO_LONG = Check(
    "context-too-long", WARNING, "Context too long",
    "The context {detail} is longer than {limit} characters.",
    "Other implementations may cut or refuse it.",
    "Use a short id, and put data into the payload.",
    "p4m: suggested maximum 255 characters", limit=MAX_LENGTH,
    example="“summary-of-everything...”",
)  # fmt: skip
GUESSABLE = Check(
    "context-guessable", NOTE, "Guessable context id",
    "{who} opens contexts with guessable ids, such as {detail}.",
    "Agents that count from 1 share a context by accident, and any participant can write into it.",
    "Use a random id, such as a UUID.",
    "p4m, k9j: context ids should be unique and not guessable",
    example="ctx-1",
)  # fmt: skip
SECRET = Check(
    "context-secret", ERROR, "Secret or address in a context id",
    "The context id contains {detail}.",
    "Context ids are sent with every message, shown in trees and written into every log.",
    "Name contexts after their purpose. Replace the secret: every participant has seen it.",
    "p4m, security; MEW: every participant sees every message",
    example="an e-mail address",
)  # fmt: skip
FLOODED = Check(
    "context-flood", WARNING, "Flood of contexts",
    "{who} has opened {limit} contexts within {detail}.",
    "Trees, filters and tables of agents grow without limit.",
    "Look for an agent that opens a context for each message.",
    "k9j, security: limit the contexts of a participant", limit=FLOOD_CONTEXTS,
    example="10 min",
)  # fmt: skip
RATE = Check(
    "context-rate", NOTE, "Contexts opened in a burst",
    "{who} has opened {limit} contexts within {detail}.",
    "They are hard to follow. The cause is often a loop that opens one per item.",
    "Open one context for the whole loop.",
    "k9j, security: limit the rate of new contexts", limit=BURST_CONTEXTS,
    example="1 s",
)  # fmt: skip
GROWING = Check(
    "context-growing", NOTE, "Context grows without end",
    "{context} has {limit} messages so far and has not ended.",
    "Programs that keep whole contexts fill their context windows and memory.",
    "Conclude the context, or open another one for a new subject.",
    "k9j, consequences: long-running contexts accumulate messages", limit=LONG_CONTEXT_MESSAGES,
)  # fmt: skip

CHECKS = (SECRET, MALFORMED, NOT_A_PATH, TOO_LONG, FLOODED, GROWING, RATE, CHARACTERS, TOO_DEEP, GUESSABLE)

_PLAIN_NAMES = re.compile(r"[A-Za-z0-9_/\-\n]*")
_GUESSABLE = re.compile(r"(?i)[a-z]{0,40}[-_]?\d{1,4}|[a-z]{1,3}")
_IP = r"(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
# Four numbers after a hyphen are a version, as in build-1.2.3.4, except in ranges only addresses use.
_IP_ADDRESS = re.compile(
    rf"(?<![\w.\-]){_IP}|(?<=-)(?=(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.|(?:\d{{1,3}}\.){{0,3}}(?:1\d\d|2[0-5]\d)\.){_IP}"
)
_SECRET_PATTERNS = (
    ("an e-mail address", re.compile(r"[\w.+\-]{1,64}@[A-Za-z0-9\-]{1,64}\.[A-Za-z]{2,24}")),
    ("an IP address", _IP_ADDRESS),
    ("an address", re.compile(r"[a-z][a-z0-9+.\-]{1,20}://", re.IGNORECASE)),
)
# Context strings come from the wire, of any length.
_MAX_CHARS = 4096


def describe_secret(text: str) -> str:
    """Describes the secret or address in a text; "" without one."""
    text = text[:_MAX_CHARS]
    if mask_text(text) != text:
        return "a secret"
    return next(
        (words for words, probe in _SECRET_PATTERNS if probe.search(text)), "a key" if contains_key(text) else ""
    )


class ContextChecks:
    """Checks each context once, at its first use."""

    def __init__(self) -> None:
        self._seen = StringNumbers(np.bool_)  # contexts by number
        self._noted = 0
        self._guessable: set[int] = set()
        self._times: dict[int, Array] = {}  # by sender: times of its latest new contexts
        self._flooded: set[tuple[int, Check]] = set()
        self._grown: set[int] = set()
        self._next_growth_check: dict[int, int] = {}  # by node: message count of the next check

    def feed(self, batch: Batch) -> None:
        self._noted = add_noted_findings(batch, CHECK_BY_ODDITY, self._noted)
        batch.findings.add(NOT_A_PATH, batch.flagged_rows(Flag.BAD_CONTEXT.value))
        self._check_growth(batch)
        refs = batch.passes.contexts.refs(batch.start, batch.stop)
        frames = batch.capture.columns["flags"][batch.start : batch.stop] & Flag.FRAME.value != 0
        new = self._seen.unnumbered_ids(np.where(frames, 0, refs))  # a frame only repeats the context of its stream
        if not new:
            return
        refs, places = np.array(new, np.int64).T
        self._seen.set_number(refs, True)
        rows = (places + batch.start)[refs != 0]
        rows = rows[batch.column_values("context", rows) != 0]
        self._check_names(batch, rows)
        # A session document lists all its contexts at once, which is no flood.
        rows = batch.sent_rows(rows[batch.column_values("time_ns", rows) != NO_TIME])
        senders = batch.column_values("sender", rows)
        for sender in sorted_unique(senders).tolist():
            self._check_rate(batch, rows[senders == sender], sender)

    def _check_growth(self, batch: Batch) -> None:
        """Finds the message that makes a context too long; contexts that had ended by then are ignored."""
        contexts = batch.passes.contexts
        if batch.stop < LONG_CONTEXT_MESSAGES or not len(contexts.tree):
            return
        nodes = sorted_unique(contexts.nodes_of(slice(batch.start, batch.stop)))
        nodes = nodes[nodes != MAIN]
        own = as_numpy(contexts.tree.own)[nodes]
        for node, count in zip(
            nodes[own >= LONG_CONTEXT_MESSAGES].tolist(), own[own >= LONG_CONTEXT_MESSAGES].tolist(), strict=True
        ):
            if node in self._grown or count < self._next_growth_check.get(node, 0):
                continue
            # Rare: reached once per context that has grown, so a pass over all messages is affordable.
            frames = batch.capture.columns["flags"][: batch.stop] & Flag.FRAME.value != 0
            rows = np.flatnonzero((contexts.nodes_of(slice(0, batch.stop)) == node) & ~frames)
            if len(rows) < LONG_CONTEXT_MESSAGES:  # frames of a stream do not count
                self._next_growth_check[node] = count + LONG_CONTEXT_MESSAGES - len(rows)
                continue
            self._grown.add(node)
            row = int(rows[LONG_CONTEXT_MESSAGES - 1])
            if not contexts.facts.end[node] or contexts.facts.concluded_by[node] > row:
                batch.findings.add(GROWING, batch.sent_rows(np.array([row])))

    def _check_names(self, batch: Batch, rows: Rows) -> None:
        """Checks names of contexts at their first use."""
        strings = batch.capture.strings
        keys = [strings[key] for key in batch.column_values("context", rows).tolist()]
        names = [key.removeprefix(OBJECT_KEY) for key in keys]
        # Most names are plain. All are searched together, and single names only after a hit.
        together = "\n".join(names)
        if not (_PLAIN_NAMES.fullmatch(together) and not contains_key(together) and not may_hold_secrets(together)):
            secrets = {
                row: found for row, name in zip(rows.tolist(), names, strict=True) if (found := describe_secret(name))
            }
            batch.findings.add(SECRET, [*secrets], details=[*secrets.values()])
        said = {*batch.sent_rows(rows).tolist()}
        guessed: dict[int, str] = {}
        for row, sender, key, name in zip(
            rows.tolist(), batch.column_values("sender", rows).tolist(), keys, names, strict=True
        ):
            if sender not in self._guessable and row in said:
                root = name if name != key else context_paths.root_segment(context_paths.normalise(name))
                if _GUESSABLE.fullmatch(root[:64]):
                    self._guessable.add(sender)
                    guessed[row] = root
        batch.findings.add(GUESSABLE, [*guessed], details=[*guessed.values()])

    def _check_rate(self, batch: Batch, rows: Rows, sender: int) -> None:
        """Checks the rate of a sender's new contexts."""
        before = self._times.get(sender, _NO_TIMES)
        times = np.concatenate((before, batch.column_values("time_ns", rows)))
        for check, seconds in ((FLOODED, FLOOD_S), (RATE, BURST_S)):
            first = max(check.limit - 1, len(before))
            if len(times) <= first or (sender, check) in self._flooded:
                continue
            took = times[first:] - times[first - check.limit + 1 : len(times) - check.limit + 1]
            fast = np.flatnonzero((took >= 0) & (took <= seconds * 1_000_000_000))
            if len(fast):
                self._flooded.add((sender, check))
                row = int(rows[first - len(before) + int(fast[0])])
                batch.findings.add(check, [row], details=f"{seconds} s" if seconds < 120 else f"{seconds // 60} min")
        # Older times cannot take part in a flood any more.
        self._times[sender] = times[-FLOOD_CONTEXTS:]


_NO_TIMES: Array = np.empty(0, np.int64)
CHECK_BY_ODDITY = {
    NamingOddity.MALFORMED: MALFORMED,
    NamingOddity.CHARACTERS: CHARACTERS,
    NamingOddity.TOO_DEEP: TOO_DEEP,
    NamingOddity.TOO_LONG: TOO_LONG,
}


def add_noted_findings(batch: Batch, checks: Mapping[NamingOddity, Check], start: int) -> int:
    """Converts notes of the context pass since `start` into findings. Returns the new number of notes."""
    notes = batch.passes.contexts.notes
    found: dict[Check, dict[int, str]] = {}
    for note in notes.since(start):
        check = checks.get(note.what)
        if check is not None:
            tree = batch.passes.contexts.tree
            name = batch.string("context", note.row).removeprefix(OBJECT_KEY)
            if not name and note.node != MAIN:
                name = tree.name[note.node]
            levels = f" ({path_depth(name):,} levels, {MAX_LEVELS:,} told apart)" if note.node in tree.cut else ""
            found.setdefault(check, {})[note.row] = f"“{masked_value_text(name, 60)}”{levels}"
    for check, rows in found.items():
        batch.findings.add(check, sorted(rows), details=[rows[row] for row in sorted(rows)])
    return len(notes)
