"""The Model Subsession Protocol: sessions read, checked, edited, saved, and what a sub-session sends a model.

These names are all that the rest of the program may use; `inspector.ui.msp` alone reaches deeper, being the view of it.
What any capture can hold of sessions is no part of this room and known without it: the names of our envelopes
(`protocol.msp`), the contexts they make (`analysis.passes.contexts.session_contexts`), what their rows get wrong
(`analysis.findings.msp`), and any context written as a sub-session (`export.msp`).
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
from inspector.msp.inherited import covered_words
from inspector.msp.merged import MergedContext, merged_context
from inspector.msp.merged_chat import ChatContext, chat_context
from inspector.msp.merged_layers import Entry, Layer
from inspector.msp.objects import Message, Session, Snapshot, Subsession, usual_visibility
from inspector.msp.rules import RULE_WORDS, Rules

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
