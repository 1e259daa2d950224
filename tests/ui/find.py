"""Finding widgets by name, as a user finds them by sight."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QObject

Kind = TypeVar("Kind", bound=QObject)


def child(owner: QObject, kind: type[Kind], name: str = "") -> Kind:
    """The first object of a kind below an owner, by object name when one is given; fails when there is none."""
    found = owner.findChild(kind, name) if name else owner.findChild(kind)
    assert found is not None, f"there is no {kind.__name__} {name!r}"
    return found
