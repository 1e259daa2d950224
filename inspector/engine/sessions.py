"""Finds the sessions of a document, and the sub-sessions and messages that requests name."""

from __future__ import annotations

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import RequestError
from inspector.msp import Message, Session, SessionDocument, Subsession


class MessageRef(msgspec.Struct, frozen=True):
    """A message of a session or sub-session.

    Attributes:
        owner: key of the session or sub-session.
        number: its index there.
        id: its id, or "".
    """

    owner: str
    number: int
    id: str = ""


def sessions_of(held: OpenDocument) -> SessionDocument:
    """Returns the sessions behind a document. Raises RequestError for other documents."""
    if held.document.msp is None:
        raise RequestError("The document has no sessions.")
    return held.document.msp


def session_of(held: OpenDocument, key: str) -> Session:
    """Returns a session by key. Raises RequestError if it does not exist any more."""
    found = sessions_of(held).session(key)
    if found is None:
        raise RequestError("The session does not exist any more.")
    return found


def subsession_of(held: OpenDocument, key: str) -> Subsession:
    """Returns a sub-session by key. Raises RequestError if it does not exist any more."""
    found = sessions_of(held).subsession(key)
    if found is None:
        raise RequestError("The sub-session does not exist any more.")
    return found


def owner_of(held: OpenDocument, key: str) -> Session | Subsession:
    """Returns a session or sub-session by key. Raises RequestError if it does not exist any more."""
    return sessions_of(held).session(key) or subsession_of(held, key)


def message_of(held: OpenDocument, named: MessageRef) -> Message:
    """Returns a message. Raises RequestError if it does not exist any more."""
    messages = owner_of(held, named.owner).messages
    found = messages[named.number] if 0 <= named.number < len(messages) else None
    if found is None or (found.id or "") != named.id:
        raise RequestError("The message does not exist any more.")
    return found


def ref_of(message: Message, number: int) -> MessageRef:
    """Returns the name of a message by its index."""
    return MessageRef(message.owner.key, number, message.id or "")
