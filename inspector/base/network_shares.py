r"""Detects paths that lead to another computer: `\\host\share\file`.

Even an existence check makes Windows sign in at that host, with data that can reveal the user's password. So only paths
that the user has entered are checked, never paths from a file.
"""

from __future__ import annotations


def share_of(path: str) -> str:
    r"""Returns the share of a path as `\\host\share` in lower case; "" for a local path.

    It uses the text alone, on every system: a shared list opens alike everywhere.
    """
    plain = path.replace("/", "\\").lower()
    return "\\\\" + "\\".join(plain.lstrip("\\").split("\\")[:2]) if plain.startswith("\\\\") else ""
