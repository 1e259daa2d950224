"""Sends traces to a collector over OTLP/HTTP, as JSON, and reports its refusals."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from inspector.base.async_tasks import start_task
from inspector.formats.entry_builders import decoded_object
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    import aiohttp

PATH = "/v1/traces"
_PATIENCE_S = 30.0
_LOOK_S = 0.05
"""Seconds between two checks for an interruption."""
# OTLP/HTTP names the statuses below as worth another attempt; others never change.
_MAX_TRIES = 3
_WAIT_S = 1.0
_MAX_SHOWN = 300
"""Limit in characters of a collector's message."""
# The address may be no collector, and send a page without end.
_LONGEST_ANSWER = 1 << 16


class CollectorError(OSError):
    """A collector did not accept the traces; the text is a sentence."""


def traces_url(text: str) -> str:
    """Returns the traces URL for a collector's address.

    Raises:
        CollectorError: it is not an HTTP address.
    """
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CollectorError(f"{mask_text(text)} is no address of a collector, such as http://127.0.0.1:4318.")
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path if path.endswith(PATH) else path + PATH}"


def shown_url(url: str) -> str:
    """Removes user name and password from an address."""
    return urlsplit(url)._replace(netloc=urlsplit(url).netloc.rpartition("@")[2]).geturl()


def send_traces(lines: Iterable[tuple[bytes, int]], url: str, interrupted: threading.Event) -> int:
    """Sends lines of OTLP one by one. Returns the number of accepted spans.

    Args:
        lines: with the number of spans in each.
        url: of the collector.
        interrupted: another thread sets it to end the sending.

    Raises:
        CollectorError: the collector cannot be reached, or refuses, or the sending was interrupted; lines sent earlier
            stay there. After a partial refusal (`partialSuccess`) the remaining lines are sent, but never again, as
            OTLP demands.
    """
    try:
        return asyncio.run(_send(lines, url, interrupted))
    except asyncio.CancelledError:
        raise CollectorError("The sending was interrupted.") from None


async def _send(lines: Iterable[tuple[bytes, int]], url: str, interrupted: threading.Event) -> int:
    import aiohttp

    start_task(_cancel_when_set(interrupted, asyncio.current_task()), name="watch for an interruption")
    sent = refused = 0
    why, shown = "", shown_url(url)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_PATIENCE_S)) as session:
        for line, spans in lines:
            try:
                left_out, told = await _post(session, url, line)
            except (aiohttp.ClientError, TimeoutError) as error:
                reason = str(error) or "it does not answer in time"
                raise CollectorError(f"{shown} took {sent:,} spans and cannot be reached: {reason}.") from None
            except CollectorError as error:
                raise CollectorError(f"{shown} took {sent:,} spans, and then {error}") from None
            sent, refused, why = sent + spans - left_out, refused + left_out, why or told
    if refused:
        raise CollectorError(f"{shown} took {sent:,} spans and refused {refused:,}: {why or 'it does not say why'}.")
    return sent


async def _cancel_when_set(interrupted: threading.Event, task: asyncio.Task[None] | None) -> None:
    while not interrupted.is_set():  # noqa: ASYNC110 - another thread sets it
        await asyncio.sleep(_LOOK_S)
    if task is not None:
        task.cancel()


async def _post(session: aiohttp.ClientSession, url: str, line: bytes) -> tuple[int, str]:
    """Sends one line; returns the number of refused spans and the reason. Follows no redirect to a GET."""
    trial = 1
    while True:
        headers = {"Content-Type": "application/json"}
        # A redirect would turn the POST into a GET, and might lead to another host.
        async with session.post(url, data=line, headers=headers, allow_redirects=False) as answer:
            data = await answer.content.read(_LONGEST_ANSWER)
            if answer.status < 300:
                return _left_out(data)
            said = _in_words(data.decode("utf-8", "replace"))
            if trial == _MAX_TRIES or answer.status not in (429, 502, 503, 504):
                raise CollectorError(f"answered {answer.status}: {said or answer.reason}.")
        await asyncio.sleep(_WAIT_S * trial)
        trial += 1


def _left_out(data: bytes) -> tuple[int, str]:
    """Parses a partial refusal (`ExportTracePartialSuccess`; OTLP's JSON writes 64-bit numbers as text)."""
    partial = (decoded_object(data) or {}).get("partialSuccess")
    if not isinstance(partial, dict):
        return 0, ""
    count, why = str(partial.get("rejectedSpans", 0)), partial.get("errorMessage")
    return int(count) if count.isdecimal() and len(count) < 19 else 0, _in_words(why) if isinstance(why, str) else ""


def _in_words(said: str) -> str:
    return mask_text(" ".join(said[:_MAX_SHOWN].split())).rstrip(".")
