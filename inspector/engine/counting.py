"""Counts the tokens of a document in steps, for requests that need them."""

from __future__ import annotations

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Steps


def counted_tokens(held: OpenDocument) -> Steps[None]:
    """Counts all messages read so far, with as many processes as are useful; other answers may come in between."""
    document = held.document
    if not document.analysis.tokens.done:
        yield from document.counting.count_steps()
        document.notify_counted()
