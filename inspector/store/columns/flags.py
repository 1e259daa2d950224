"""One bit each for what a message is; passes read them to touch few rows."""

from __future__ import annotations

import enum


class Flag(enum.IntFlag):
    """Bits of the `flags` column."""

    UNREADABLE = 1
    GAP = 2
    """A mark of ours: frames may be missing here; with ERROR, a tapped server ended badly, and nothing is missing."""
    FRAME = 4
    """A `#stream#data` frame."""
    JOIN = 8
    RPC = 16
    """JSON-RPC without an envelope."""
    LOG_ONLY = 32
    """A log line about the gateway, no message of anybody."""
    SENT = 64
    """Sent by this program."""
    HAS_META = 128
    """Its result has `_meta`, so it may matter to the transient-context protocol."""
    ERROR = 256
    OBJECT_CONTEXT = 512
    BAD_CONTEXT = 1024
    """`context` is a number, array or boolean: shown in main."""
    NO_ID = 2048
    """An envelope without an id; `local-N` stands for it."""
    CORRELATED = 4096
    """Names at least one earlier message."""
    COPIES_DIFFER = 8192
    """A later copy in the log is not byte for byte the first one."""
    REJECTED = 16384
    """The gateway's log says it was rejected."""
    REFUSED = 1 << 21
    """All there is of it is that it was rejected: it reached nobody, so that nothing follows from it."""
    MANY_CORRELATIONS = 32768
    """Names more than one message; all but the first are read from the record."""
    CALLS_DIFFER = 65536
    """A response whose kind and payload name different calls; the kind's counts."""
    DERIVED = 1 << 22
    """A message that a transcript's record means; nobody wrote it as an envelope (`protocol.meaning`)."""
    INHERITED = 1 << 23
    """A copy of what another thread's model was told: it stands in this one's context too, and counts nowhere."""
    TEXT = 1 << 24
    """An unreadable line with nothing of JSON in it, as programs log it: no message, and none that was cut."""
    TOLD_BY_CORRELATION = 1 << 25
    """A response of a self-contained export says its call, which the export knew by correlation."""
    TOLD_BY_RPC_ID = 1 << 26
    """The same, by the JSON-RPC id."""
    REQUEST_TOLD = 1 << 27
    """A response of a self-contained export brings its request."""
    DECLINED = 1 << 28
    """A result that says that the user did not allow the call: no failure."""
    UNRECORDED = 1 << 29
    """What it says was not recorded, as in most traces: it is compared with nothing, and costs no tokens."""
    CONTEXT_IN_KIND = 1 << 17
    CONTEXT_IN_PAYLOAD = 1 << 18
    CONTEXT_IN_THREAD = 1 << 19
    CONTEXT_IN_REASONING = 1 << 20
    """Its context is named elsewhere than in the envelope (`protocol.context_forms`)."""
