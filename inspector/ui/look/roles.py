"""Item roles shared by models and delegates, besides Qt's own. Values are plain objects, never colours or icons."""

from __future__ import annotations

import enum

from PySide6.QtCore import Qt

_FIRST = int(Qt.ItemDataRole.UserRole)


class Role(enum.IntEnum):
    """Roles of the message table; other models may use some of them."""

    MESSAGE = _FIRST + 1
    """int: index of the message in a row."""
    PART = _FIRST + 2
    """int: 0 for the message itself, 1 to n for the lines of its expanded original."""
    KIND = _FIRST + 3
    """str: canonical kind, "" for an unreadable message."""
    BADGES = _FIRST + 4
    """tuple[str, ...]: texts of visible badges; empty while context hints are off."""
    COLLAPSED = _FIRST + 5
    """bool: a result that was replaced by its summary, so that its row can be expanded."""
    EXPANDED = _FIRST + 6
    """bool: the lines of its original are shown below it."""
    ERROR = _FIRST + 7
    """bool: a failed call or a refusal."""
    SENT = _FIRST + 8
    """bool: sent by this program."""
    UNREADABLE = _FIRST + 9
    """bool: an unreadable message."""
    WAITING = _FIRST + 10
    """str: waiting time of a live request without an answer; "" for all others."""
