"""Raw text of a message: shown in parts, or whole for a copy."""

from __future__ import annotations

from typing import ClassVar

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.stories import require_message
from inspector.engine.threads import in_thread_if_large
from inspector.present.raw_text import RawPart as RawPart
from inspector.present.raw_text import RawText as RawText
from inspector.present.raw_text import copied_text, raw_text


class ShowRawText(Request[RawText], frozen=True):
    """The shown text of a message: head and end, secrets masked by default.

    Attributes:
        message: its index.
        part: the envelope, the log line, or the envelope as formatted JSON.
        more: number of extensions of the head.
        with_secrets: shows secrets.
    """

    is_urgent: ClassVar[bool] = True
    message: int
    part: RawPart = "envelope"
    more: int = 0
    with_secrets: bool = False


class CopyRawText(Request[str], frozen=True):
    """The whole text for a copy; of a large message the shown parts. Attributes as of `ShowRawText`."""

    is_urgent: ClassVar[bool] = True
    message: int
    part: RawPart = "envelope"
    more: int = 0
    with_secrets: bool = False


def _show(held: OpenDocument, asked: ShowRawText) -> Steps[RawText]:
    require_message(held, asked.message)
    capture = held.document.capture
    make = raw_text(capture, asked.message, asked.part, asked.more, with_secrets=asked.with_secrets)
    return (yield from in_thread_if_large(make, int(capture.columns["size"][asked.message])))


def _copy(held: OpenDocument, asked: CopyRawText) -> Steps[str]:
    require_message(held, asked.message)
    capture = held.document.capture
    make = copied_text(capture, asked.message, asked.part, asked.more, with_secrets=asked.with_secrets)
    return (yield from in_thread_if_large(make, int(capture.columns["size"][asked.message])))


QUERIES = (
    Query(ShowRawText, RawText, _show),
    Query(CopyRawText, str, _copy),
)
