"""Context Inspector: a desktop inspector for multi-agent workspaces.

`__version__` is the installed distribution's version (PEP 440), looked up when first asked for: reading package
metadata costs 50 ms, which no start should pay.
"""

from __future__ import annotations

from functools import cache

__all__ = ["version"]


@cache
def version() -> str:
    """The installed distribution's version; a bare checkout that was never installed says so."""
    from importlib import metadata

    try:
        return metadata.version("context-inspector")
    except metadata.PackageNotFoundError:
        return "0.0.0+checkout"


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
