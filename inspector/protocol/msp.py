"""Names of sessions and sub-sessions as envelopes in a capture (docs/protocols.md 14).

MSP itself consists of documents; these envelopes are this program's own representation in a capture. Only a line with
this protocol may name its space, the session.
"""

from __future__ import annotations

PROTOCOL = "msp"
"""Value of `protocol`."""

SESSION = "msp/session"
"""Start of a session: its sub-context and its label; in the main context."""
SNAPSHOT = "msp/snapshot"
"""A summary of earlier messages of the main chat; in the main context."""
SUBSESSION_OPENED = "msp/subsession"
"""Opening of a sub-session: label, policy; in the context it was opened from."""
SUBSESSION_CLOSED = "msp/closed"
"""Closing or discarding of a sub-session: its summary; in the context it was opened from."""

STRUCTURE = (SESSION, SUBSESSION_OPENED, SUBSESSION_CLOSED)
"""Kinds with a payload that shapes the context tree."""

SUBSESSION_TYPE = "subsession"
"""Context type of a sub-session."""
DISCARDED_STATUS = "discarded"
"""Status of a discarded sub-session."""

MAIN_ONLY, SUBSESSION_ONLY, GLOBAL = VISIBILITIES = ("main_only", "subsession_only", "global")
"""Visibility of a message: in the parent only, in the sub-session only, everywhere."""
