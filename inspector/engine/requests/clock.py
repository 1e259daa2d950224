"""Time of live traffic, on which states and waits depend."""

from __future__ import annotations

from typing import ClassVar

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request


class SetTime(Request[None], frozen=True):
    """Sets the present time of live traffic, in nanoseconds since the Unix epoch."""

    is_urgent: ClassVar[bool] = True
    now_ns: int


def _set_time(held: OpenDocument, asked: SetTime) -> None:
    held.document.analysis.now_ns = asked.now_ns


QUERIES = (Query(SetTime, None, _set_time),)
