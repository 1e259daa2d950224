"""Whether the table follows new messages, and how many have come since it stopped (docs/design.md 14, Follow)."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector.filters.visible import VisibleRows


class Follower(QObject):
    """The state of following; the view moves, this only decides and counts.

    Signals:
        changed(bool): following began or paused.
        count_changed(int): messages shown below that came since it paused; 0 while following.
    """

    changed = Signal(bool)
    count_changed = Signal(int)

    def __init__(self, rows: VisibleRows, *, following: bool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self._following = following
        self._mark = -1
        self._count = 0

    @property
    def following(self) -> bool:
        """Whether new rows keep the view at the bottom."""
        return self._following

    @property
    def count(self) -> int:
        """New messages since it paused; while rows are sorted those that came since and stand below."""
        return self._count

    def set_following(self, on: bool) -> None:
        """Begin or pause."""
        if on == self._following:
            return
        self._following = on
        visible = self._rows.visible
        self._mark = int(visible[-1]) if len(visible) else -1
        self.changed.emit(on)
        self.recount()

    def recount(self, *, forget: bool = False) -> None:
        """Count again after rows have changed.

        Args:
            forget: what is there now is not new (a log was read, not traffic).
        """
        visible = self._rows.visible
        if forget and len(visible):
            self._mark = int(visible[-1])
        count = 0 if self._following else len(visible) - self._rows.place(self._mark + 1)
        if self._rows.sorted_by is not None:
            count = self._rows.unsorted
        if count != self._count:
            self._count = count
            self.count_changed.emit(count)
