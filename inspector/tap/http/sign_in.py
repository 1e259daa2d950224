"""Detects servers that have clients sign in by OAuth: these cannot be tapped by address.

A client checks that the resource it signs in for has the address it was given (RFC 9728, 3.3). A server checks that its
tokens are for itself (RFC 8707). A tap between them would have to deceive one of the two.
"""

from __future__ import annotations

from typing import Any

import aiohttp
from yarl import URL

from inspector.tap.http.address import Upstream

SENTENCE = (
    "{address} requires a sign-in (OAuth). Clients check that they sign in to the address they were given, so "
    "it cannot be tapped by address. Tap a bridge that signs in for the client instead: context-inspector tap -o "
    "FOLDER -- npx mcp-remote {address}. If the client sends its own token in its headers, add "
    "--own-token."
)
_WELL_KNOWN = "/.well-known/oauth-protected-resource"
# The tap starts only after this check.
_TIMEOUT_S = 4.0
_MAX_BYTES = 1 << 16


async def asks_for_sign_in(upstream: Upstream, proxy: str | None) -> bool:
    """Returns True if a client without a token is asked to sign in; False if the server does not respond now."""
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    origin = URL(upstream.origin)

    async def stay(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        # A redirect could otherwise send requests of this computer to servers within its network.
        if request.url.origin() != origin:
            raise aiohttp.InvalidURL(request.url, "a redirect to another server")
        return await send(request)

    try:
        async with aiohttp.ClientSession(
            timeout=timeout, cookie_jar=aiohttp.DummyCookieJar(), middlewares=(stay,)
        ) as session:
            # RFC 9728, 3.1: for this resource, else for the whole host.
            for path in (_WELL_KNOWN + upstream.path.rstrip("/"), _WELL_KNOWN):
                if await _is_metadata(session, upstream, path, proxy):
                    return await _is_refused(session, upstream, proxy)
    except (TimeoutError, aiohttp.ClientError, ValueError, OSError, RecursionError):
        return False
    return False


async def _is_metadata(session: aiohttp.ClientSession, upstream: Upstream, path: str, proxy: str | None) -> bool:
    url = URL(upstream.origin + path, encoded=True)
    async with session.get(url, headers={"Accept": "application/json"}, proxy=proxy) as answer:
        if answer.status != 200 or "json" not in answer.content_type:
            return False
        found: Any = await _json(answer)
        return isinstance(found, dict) and ("resource" in found or "authorization_servers" in found)


async def _is_refused(session: aiohttp.ClientSession, upstream: Upstream, proxy: str | None) -> bool:
    """Returns True if requests without a token are refused. The probes begin no session and call no tool."""
    url = upstream.own_url
    async with session.get(url, headers={"Accept": "text/event-stream"}, proxy=proxy) as answer:
        if answer.status in (401, 403):
            return True
    # A server without a stream refuses GET, so that only a POST shows if it wants a token.
    if answer.status != 405:
        return False
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    async with session.post(
        url, headers=headers, data=b'{"jsonrpc":"2.0","id":0,"method":"ping"}', proxy=proxy
    ) as answer:
        return answer.status in (401, 403)


async def _json(answer: aiohttp.ClientResponse) -> Any:
    import json

    return json.loads(await answer.content.read(_MAX_BYTES))
