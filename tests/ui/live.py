"""A document that grows under a panel's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
        self.document.poll()
        self.changes.clear()

    def messages_changed(self, changes: Any) -> None:
        self.changes.append(changes)

    def say(self, *lines: dict[str, Any]) -> Any:
        with self.path.open("ab") as file:
            file.write(lines_of(*lines))
        self.document.poll()
        return self.changes.pop()

    @property
    def tree(self):
        return self.document.analysis.contexts.tree

    def node(self, name: str) -> int:
        return next(n for n in self.tree.alive() if self.tree.name[n] == name)
