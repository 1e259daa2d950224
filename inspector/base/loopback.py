"""Who may speak to what listens on this machine: programs on it, and no page that a browser shows.

Any page could send requests to a port of this machine, or have a name of its own lead there. Such a request names
another host, an origin, or is told of by the browser (Fetch Metadata); in HTTP/1.1 the host may stand in the request
line, and counts there (RFC 9112, 3.2.2). A header that comes twice is good only if it is so each time.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Protocol


class Headers(Protocol):
    """Headers of a request."""

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """The values of all headers of a name, in any case."""
        ...


def why_refused(what: str, origin: str, names: AbstractSet[str], target: str, headers: Headers) -> str:
    """Why a request is not answered, as a sentence; "" where nothing is against it.

    Args:
        what: listens, as sentences call it.
        origin: as its address begins.
        names: what a request may call it in `Host`, in lower case.
        target: what the request asks for, as it stands in its first line.
        headers: its headers.
    """
    hosts = {one.lower() for one in headers.getall("Host", [""])}
    if not target.startswith(("/", "*")):  # as for a forward proxy
        hosts.add(re.split("[/?#]", target.lower().removeprefix("http://"), maxsplit=1)[0])
    if hosts - names:
        return f"This {what} answers to {origin} alone, and the request was for another host."
    if any(one.removeprefix("http://").lower() not in names for one in headers.getall("Origin", [])):
        return f"This {what} takes no requests from web pages, and the request names one as its origin."
    if any(one.lower() not in ("none", "same-origin") for one in headers.getall("Sec-Fetch-Site", [])):
        return f"This {what} takes no requests from web pages, and a browser says that one sent it."
    return ""
