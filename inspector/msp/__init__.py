"""Model Subsession Protocol: reads, checks, edits and saves sessions, and computes a sub-session's merged context.

The rest of the program may only use the names below; the requests of its view in the engine may reach deeper. Facts
about sessions in any capture are outside of it: envelope names (`protocol.msp`), contexts
(`analysis.passes.contexts.msp_contexts`), findings in rows (`analysis.findings.msp`), and the export of a context
as a sub-session (`export.msp`).
"""

from __future__ import annotations

from inspector.msp.capture import (
    FORMAT,
    MspCapture,
    SessionFollowing,
    holds_sessions,
    is_session_document,
    read_sessions,
)
from inspector.msp.document import CannotEditError, ChangedOnDiskError, SessionDocument, WouldReplaceError
from inspector.msp.files import NotMspError
from inspector.msp.merged import MergedContext, merged_context
from inspector.msp.merged_chat import ChatContext, chat_context
from inspector.msp.merged_layers import Entry, Layer, Remark
from inspector.msp.objects import Message, Session, Snapshot, Subsession, usual_visibility
from inspector.msp.rules import RULE_WORDS, Rules
from inspector.msp.session_layers import covered_words

__all__ = [
    "FORMAT",
    "RULE_WORDS",
    "CannotEditError",
    "ChangedOnDiskError",
    "ChatContext",
    "Entry",
    "Layer",
    "MergedContext",
    "Message",
    "MspCapture",
    "NotMspError",
    "Remark",
    "Rules",
    "Session",
    "SessionDocument",
    "SessionFollowing",
    "Snapshot",
    "Subsession",
    "WouldReplaceError",
    "chat_context",
    "covered_words",
    "holds_sessions",
    "is_session_document",
    "merged_context",
    "read_sessions",
    "usual_visibility",
]
