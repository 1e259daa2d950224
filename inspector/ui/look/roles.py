"""Item roles that models and delegates share, beside Qt's own. Values are plain objects, never colours or icons."""

from __future__ import annotations

import enum

from PySide6.QtCore import Qt

_FIRST = int(Qt.ItemDataRole.UserRole)


class Role(enum.IntEnum):
    """Roles of the message table; other models may serve those that fit them."""

    MESSAGE = _FIRST + 1
    """int: index of the message a row shows."""
    PART = _FIRST + 2
    """int: 0 for the message itself, 1 to n for the lines of its expanded original."""
    KIND = _FIRST + 3
    """str: canonical kind, "" for what could not be read."""
    BADGES = _FIRST + 4
    """tuple[str, ...]: words of the badges shown; empty while context hints are off."""
    COLLAPSED = _FIRST + 5
    """bool: a result that was replaced by its summary, so that its row can be expanded."""
    EXPANDED = _FIRST + 6
    """bool: the lines of its original stand below it."""
    ERROR = _FIRST + 7
    """bool: a failed call or a refusal."""
    SENT = _FIRST + 8
    """bool: sent by this program."""
    UNREADABLE = _FIRST + 9
    """bool: nothing could be made of it."""
    WAITING = _FIRST + 10
    """str: how long a live request has waited for its answer; "" for anything else."""
