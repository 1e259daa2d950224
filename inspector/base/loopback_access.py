"""Access check of local HTTP servers: allows programs on this machine, and refuses web pages.

Any page could send requests to a port of this machine, or point its own domain there. Such a request names another host
or an origin, or carries Fetch Metadata. In HTTP/1.1 the host may be in the request line, and takes precedence there
(RFC 9112, 3.2.2). Every value of a repeated header must be allowed.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Protocol


class Headers(Protocol):
    """Headers of a request."""

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """Returns the values of all headers of a name, in any case."""
        ...


def refusal_reason(what: str, origin: str, names: AbstractSet[str], target: str, headers: Headers) -> str:
    """Returns the reason for a refusal as a sentence, or "" if the request is allowed.

    Args:
        what: the listener as sentences call it.
        origin: beginning of its address.
        names: allowed values of `Host`, in lower case.
        target: target of the request line.
        headers: its headers.
    """
    # A page can point its own domain to 127.0.0.1, but its browser then sends that domain here.
    hosts = {one.lower() for one in headers.getall("Host", [""])}
    if not target.startswith(("/", "*")):  # as for a forward proxy
        hosts.add(re.split("[/?#]", target.lower().removeprefix("http://"), maxsplit=1)[0])
    if hosts - names:
        return f"This {what} answers to {origin} alone, and the request was for another host."
    # Browsers name the page that sends a request.
    if any(one.removeprefix("http://").lower() not in names for one in headers.getall("Origin", [])):
        return f"This {what} takes no requests from web pages, and the request names one as its origin."
    if any(one.lower() not in ("none", "same-origin") for one in headers.getall("Sec-Fetch-Site", [])):
        return f"This {what} takes no requests from web pages, and a browser says that one sent it."
    return ""
