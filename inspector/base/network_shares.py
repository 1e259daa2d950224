r"""Paths that lead to another computer: `\\host\share\file`.

Merely to ask whether such a file exists has Windows sign in at that host, whoever that is, by what can be used to find
out the user's password. So none that a file names is looked at: only what a user has asked for.
"""

from __future__ import annotations


def share_of(path: str) -> str:
    r"""The share a path leads to, as `\\host\share` in lower case; "" for one of this computer.

    Told by its letters alone, on every system: a list that somebody hands over opens alike on each.
    """
    plain = path.replace("/", "\\").lower()
    return "\\\\" + "\\".join(plain.lstrip("\\").split("\\")[:2]) if plain.startswith("\\\\") else ""
