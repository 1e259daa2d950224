"""A document that grows under a panel's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from inspector.analysis import AnalysisChanges
from inspector.document.document import CaptureDocument
from tests.builders import closed_at_end, lines_of


class Live:
    """A document that grows like a live one, and the changes of its last growth."""

    def __init__(self, folder: Path, *lines: dict[str, Any]) -> None:
        self.path = folder / "live.jsonl"
        self.path.write_bytes(lines_of(*lines))
        self.document = closed_at_end(CaptureDocument())
        self.document.follow_capture(self.path, name="live")
        self.changes: list[Any] = []
        self.document.observers.append(self)
        self._read()
        self.changes.clear()

    def messages_changed(self, changes: Any) -> None:
        self.changes.append(changes)

    def say(self, *lines: dict[str, Any]) -> Any:
        with self.path.open("ab") as file:
            file.write(lines_of(*lines))
        self._read()
        told, self.changes[:] = list(self.changes), []
        changed = np.unique(np.concatenate([one.changed for one in told]))
        return AnalysisChanges(told[0].start, told[-1].stop, changed, any(one.tree_moved for one in told))

    def _read(self) -> None:
        """To the end, which may take several turns of the loop in a window."""
        self.document.poll()
        while self.document.sources.unread_bytes and self.document.poll():
            pass

    @property
    def tree(self):
        return self.document.analysis.contexts.tree

    def node(self, name: str) -> int:
        return next(n for n in self.tree.alive() if self.tree.name[n] == name)
