"""What sessions and sub-sessions are called where they stand as envelopes in a capture (docs/protocols.md 14).

MSP itself is documents, not messages: these envelopes are our own way to write a session down as a capture. Only a line
with this protocol may name the space it belongs to, which is its session.
"""

from __future__ import annotations

PROTOCOL = "msp"
"""Value of `protocol`."""

SESSION = "msp/session"
"""A session began: its sub-context and its label; in the main context."""
SNAPSHOT = "msp/snapshot"
"""A summary of earlier messages of the main chat; in the main context."""
OPENED = "msp/subsession"
"""A sub-session was opened: label, policy; in the context it was opened from."""
CLOSED = "msp/closed"
"""A sub-session was closed or discarded: its summary; in the context it was opened from."""

STRUCTURE = (SESSION, OPENED, CLOSED)
"""Kinds whose payload shapes the context tree."""

SUBSESSION_TYPE = "subsession"
"""Type of the context that a sub-session is."""
DISCARDED = "discarded"
"""Status of a sub-session that was given up."""

MAIN_ONLY, SUBSESSION_ONLY, GLOBAL = VISIBILITIES = ("main_only", "subsession_only", "global")
"""Where a message may be seen: in the parent only, in the sub-session only, everywhere."""
