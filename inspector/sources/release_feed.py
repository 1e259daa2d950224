"""Requests the newest release of the program from a feed.

The feed is a JSON object as GitHub, Gitea and Forgejo return it for `releases/latest`. The request has no version,
id or cookie. Its answer is untrusted: a number and an https address are taken from it, and everything else is an error.
"""

from __future__ import annotations

import asyncio
import ssl
from urllib.parse import urlsplit

import msgspec

from inspector.base.versions import release_number

LONGEST_ADDRESS = 500
"""Limit in characters for the addresses of feed and page."""
_PATIENCE_S = 10.0
_LONGEST_ANSWER = 1 << 20
_PIECE = 1 << 16
_CLOSING_S = 0.1
"""Seconds for the connection to close: aiohttp does not wait for TLS."""
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "context-inspector"}


class FeedError(OSError):
    """The feed has no usable answer; the text is a sentence."""


class Release(msgspec.Struct, frozen=True):
    """A release.

    Attributes:
        version: its number, such as `1.2.0`.
        page: https address of its page, or "".
    """

    version: str
    page: str


class _Answer(msgspec.Struct):
    """The used fields of a feed."""

    tag_name: str
    html_url: str = ""
    draft: bool = False
    prerelease: bool = False


def is_feed_address(text: str) -> bool:
    """Returns True for an https address without a user name, a password or characters to be escaped."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    plain = len(text) <= LONGEST_ADDRESS and text.isascii() and text.isprintable() and " " not in text
    return plain and parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and port != 0


def latest_release(feed: str, *, trust: ssl.SSLContext | None = None, patience_s: float = _PATIENCE_S) -> Release:
    """Returns the newest release of a feed. Blocks until the answer.

    Args:
        feed: https address of the feed.
        trust: trusted certificates; the system's by default.
        patience_s: limit in seconds for the whole request.

    Raises:
        FeedError: the feed cannot be reached, or its answer is no release.
    """
    if not is_feed_address(feed):
        raise FeedError("The release feed is no https address.")
    return _parse(asyncio.run(_fetch(feed, trust or ssl.create_default_context(), patience_s)))


async def _fetch(feed: str, trust: ssl.SSLContext, patience_s: float) -> bytes:
    import aiohttp  # takes longer to import than most requests to compute

    host = urlsplit(feed).hostname
    data = bytearray()
    try:
        async with (
            aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=patience_s),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            ) as session,
            session.get(feed, headers=_HEADERS, ssl=trust, allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                raise FeedError(f"The release feed at {host} answered with status {answer.status}.")
            async for piece in answer.content.iter_chunked(_PIECE):
                data += piece
                if len(data) > _LONGEST_ANSWER:
                    raise FeedError(f"The answer of the release feed at {host} is too long.")
    except TimeoutError:
        raise FeedError(f"The release feed at {host} did not answer in time.") from None
    except (aiohttp.ClientError, ValueError):
        # The text of these errors may repeat parts of the answer.
        raise FeedError(f"The release feed at {host} cannot be reached.") from None
    finally:
        await asyncio.sleep(_CLOSING_S)
    return bytes(data)


def _parse(data: bytes) -> Release:
    try:
        answer = msgspec.json.decode(data, type=_Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise FeedError("The answer of the release feed describes no release.") from None
    version = release_number(answer.tag_name)
    if not version or answer.draft or answer.prerelease:
        raise FeedError("The release feed names no version.")
    return Release(version, answer.html_url if is_feed_address(answer.html_url) else "")
