"""The newest release of the program, from the feed in the settings."""

from __future__ import annotations

from functools import partial

import msgspec

from inspector.engine.request import Query, Request, Steps
from inspector.engine.threads import in_thread
from inspector.sources.release_feed import LONGEST_ADDRESS as LONGEST_ADDRESS
from inspector.sources.release_feed import FeedError, latest_release
from inspector.sources.release_feed import is_feed_address as is_feed_address


class FoundRelease(msgspec.Struct, frozen=True):
    """Answer of a feed.

    Attributes:
        version: the number of the newest release; "" after a problem.
        page: https address of its page, or "".
        problem: a sentence, or "".
    """

    version: str = ""
    page: str = ""
    problem: str = ""


class LatestRelease(Request[FoundRelease], frozen=True):
    """The newest release that a feed names."""

    needs_document = False
    feed: str


def _latest(_held: None, asked: LatestRelease) -> Steps[FoundRelease]:
    try:
        found = yield from in_thread(partial(latest_release, asked.feed))
    except FeedError as error:
        return FoundRelease(problem=str(error))
    return FoundRelease(found.version, found.page)


QUERIES = (Query(LatestRelease, FoundRelease, _latest),)
