"""Traces sent to a collector over OTLP/HTTP, as JSON; what it refuses is said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import aiohttp

PATH = "/v1/traces"
_PATIENCE_S = 30.0
_TRIES = 3
_WAIT_S = 1.0


class CollectorError(OSError):
    """A collector did not take what was sent; the text is a sentence."""


def traces_url(text: str) -> str:
    """Where a collector takes traces, by its address.

    Raises:
        CollectorError: it is no address over HTTP.
    """
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CollectorError(f"{text} is no address of a collector, such as http://127.0.0.1:4318.")
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path if path.endswith(PATH) else path + PATH}"


def send(lines: Iterable[tuple[bytes, int]], url: str) -> int:
    """Send lines of OTLP one by one; how many spans that were.

    Raises:
        CollectorError: it cannot be reached, or refuses; what was sent before is there.
    """
    return asyncio.run(_send(lines, url))


async def _send(lines: Iterable[tuple[bytes, int]], url: str) -> int:
    import aiohttp

    sent = 0
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_PATIENCE_S)) as session:
        for line, spans in lines:
            try:
                await _post(session, url, line)
            except (aiohttp.ClientError, TimeoutError) as error:
                why = str(error) or "it does not answer in time"
                raise CollectorError(f"{url} took {sent:,} spans and cannot be reached: {why}.") from None
            except CollectorError as error:
                raise CollectorError(f"{url} took {sent:,} spans, and then {error}") from None
            sent += spans
    return sent


async def _post(session: aiohttp.ClientSession, url: str, line: bytes) -> None:
    for trial in range(1, _TRIES + 1):
        async with session.post(url, data=line, headers={"Content-Type": "application/json"}) as answer:
            if answer.status < 300:
                return
            said = " ".join((await answer.text())[:300].split())
            if trial == _TRIES or answer.status not in (429, 502, 503, 504):
                raise CollectorError(f"answered {answer.status}: {said or answer.reason}.")
        await asyncio.sleep(_WAIT_S * trial)
