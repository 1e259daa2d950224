"""Finds the complete result that a program moved to a file; the session has only its start.

The file lies in the session's folder (`Format.moved_results`). The session names it by a path on its original machine.
Only the file name is used, below the session's own folder. Links are not followed.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from inspector.formats.registry import format_named
from inspector.present.subject import text_of
from inspector.protocol.secrets.masking import mask_text
from inspector.store.messages.capture import Capture

_HEAD = 4_000
"""Characters of a result searched for the file name."""
MOST_SHOWN = 256 << 10
"""Limit of bytes read from the file."""


@dataclass(frozen=True, slots=True)
class MovedResult:
    """A result in a file of its own.

    Attributes:
        path: the file.
        text: its start with secrets masked; "" if unreadable.
        size: bytes; None if the file is missing.
    """

    path: Path
    text: str
    size: int | None

    @property
    def is_whole(self) -> bool:
        """Returns True if all of it was read."""
        return self.size is not None and self.size <= MOST_SHOWN


def moved_result_of(capture: Capture, message: int) -> MovedResult | None:
    """Returns the file of a result with its start; None if it names none. Never raises."""
    written_by = format_named(capture.string("protocol", message) or "")
    if written_by is None or written_by.moved_results is None:
        return None
    layout = written_by.moved_results
    named = layout.names_file.search(text_of(capture, message)[:_HEAD])
    if named is None or named[1] in (".", ".."):
        return None
    own = capture.sources[int(capture.columns["source"][message])].path
    # Results of sub-agents lie in the folder of their session.
    above = next((one for one in own.parents if one.name == layout.agents_folder), None)
    session = above.parent if above is not None else own.with_suffix("")
    path = session / layout.folder / named[1]
    try:
        # `lstat` does not follow a link, which could lead to any file of the user.
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode) or path.parent.is_symlink():
            return MovedResult(path, "", None)
        with path.open("rb") as file:
            data = file.read(MOST_SHOWN)
    except (OSError, ValueError):
        return MovedResult(path, "", None)
    return MovedResult(path, mask_text(data.decode("utf-8", "replace")), facts.st_size)
