"""Context Inspector: a desktop inspector for multi-agent workspaces.

`__version__` is the installed distribution's version (PEP 440), read on first use: reading package metadata costs 50
ms, too much for a start.
"""

from __future__ import annotations

from functools import cache

__all__ = ["version"]


@cache
def version() -> str:
    """Returns the installed distribution's version; a placeholder for a checkout that was never installed."""
    from importlib import metadata

    try:
        return metadata.version("context-inspector")
    except metadata.PackageNotFoundError:
        return "0.0.0+checkout"


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
