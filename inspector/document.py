"""One document: a capture, its sources, passes and what a window or the command line asks of them.

No Qt. Files and live traffic come the same way: a live source writes a capture file, and `poll` reads on in it
as `open_log` reads a log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from inspector.analysis import Analysis, Changes
from inspector.analysis.chain import ChainStep, chain_of
from inspector.capture.capture import Capture
from inspector.capture.decisions import FILE_NAME, Decisions
from inspector.capture.reader import BlockReader
from inspector.capture.sniff import why_unknown
from inspector.capture.sources import SourceFile

BLOCK_BYTES = 1 << 20
LIVE_BLOCK_BYTES = 1 << 18
"""Smaller, so that a window stays responsive between two blocks."""
_FORMATS_READ = (
    "MEW gateway logs, capability decisions, envelopes one a line, JSON-RPC lines, wrapped lines and captures"
)


class UnknownFormatError(Exception):
    """Not one of the first 1,000 lines of a file is known; the text is a sentence for the user."""


class Observer(Protocol):
    """Told about changes on the loop's thread, after the passes have taken them in."""

    def messages_changed(self, changes: Changes) -> None:
        """New messages arrived, or earlier ones changed."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file has been read."""

    done: int
    """Bytes."""
    total: int
    messages: int


class CaptureDocument:
    """A capture with its analysis.

    Attributes:
        name: what titles show.
        path: the file opened, or the capture file a live source writes; None before.
        capture, analysis: the messages and what is known of them.
        decisions: the gateway's verdicts beside a log, or None.
        live: traffic is still arriving.
        observers: told about each change.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.path: Path | None = None
        self.capture = Capture()
        self.analysis = Analysis(self.capture)
        self.decisions: Decisions | None = None
        self.live = False
        self.observers: list[Observer] = []

    # Reading

    def open_log(self, path: Path, *, name: str | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[Progress]:
        """Read a log step by step; each step is some MB and leaves a usable document.

        Raises:
            OSError: the file cannot be read.
            UnknownFormatError: nothing in its first 1,000 lines is known.
        """
        source = SourceFile(path, name)
        self.path = path
        self.name = self.name or name or title_of(path)
        self.capture.add_source(source)
        yield Progress(0, source.size, 0)
        reason = why_unknown(source)
        if reason is not None:
            raise UnknownFormatError(
                f"{path.name} is no log that can be read. Its first line is {reason}. "
                f"What can be read: {_FORMATS_READ}."
            )
        while self._read_on(source, whole_lines=False, size=block_bytes):
            yield Progress(source.read_to, source.size, len(self.capture))
        if source.format == "gateway-log":
            self._open_decisions(path.with_name(FILE_NAME))

    def load(self, path: Path, *, name: str | None = None) -> None:
        """Read a log to its end. Raises as `open_log` does."""
        for _ in self.open_log(path, name=name):
            pass

    def follow_capture(self, path: Path, *, name: str) -> None:
        """Attach the capture file a live source writes; `poll` then takes in what it gains.

        Raises:
            OSError: the file cannot be read.
        """
        self.name, self.path, self.live = name, path, True
        self.capture.add_source(SourceFile(path, name))

    def poll(self) -> bool:
        """Take in the whole lines a live capture has gained; whether there were any."""
        return (
            sum(self._read_on(source, whole_lines=True, size=LIVE_BLOCK_BYTES) for source in self.capture.sources) > 0
        )

    def end_live(self) -> None:
        """The source has ended: read what is left, a torn last line included."""
        while self.poll():
            pass
        for source in self.capture.sources:
            self._read_on(source, whole_lines=False)
        self.live = False

    def _read_on(self, source: SourceFile, *, whole_lines: bool, size: int = BLOCK_BYTES) -> bool:
        """Read one block more; False when there is none.

        Args:
            whole_lines: leave a last line without an end for later: its rest is still being written.
        """
        while True:
            data = source.read(source.read_to, size)
            end = data.rfind(b"\n") + 1
            if end or len(data) < size:
                break
            size *= 4  # one line longer than a block
        if len(data) < size and not whole_lines:
            end = len(data)
        if not end:
            return False
        place = self.capture.sources.index(source)
        block = BlockReader(place).read(data[:end], source.read_to)
        source.read_to += end
        appended = self.capture.append(block)
        changes = self.analysis.feed(appended.touched)
        self._tell(changes)
        return True

    def _tell(self, changes: Changes) -> None:
        if changes.stop > changes.start or len(changes.changed) or changes.tree_moved:
            for observer in list(self.observers):
                observer.messages_changed(changes)

    def _open_decisions(self, path: Path) -> None:
        if not path.is_file() or path == self.path:
            return
        try:
            decisions = Decisions(SourceFile(path))
            decisions.read_all()
        except OSError:  # the log itself was read; verdicts beside it are a bonus
            return
        self.decisions = decisions

    def close(self) -> None:
        """Close the files; the columns stay."""
        self.live = False
        self.capture.close()
        if self.decisions is not None:
            self.decisions.source.close()

    # Asking

    @property
    def behind(self) -> int:
        """Bytes that wait to be read."""
        return sum(source.size - source.read_to for source in self.capture.sources)

    @property
    def format(self) -> str | None:
        """The format most lines of the first source are in."""
        return self.capture.sources[0].format if self.capture.sources else None

    @property
    def unreadable(self) -> int:
        """Messages nothing could be made of."""
        return self.capture.unreadable_count

    def verdicts(self, message: int) -> list[dict[str, Any]]:
        """The gateway's capability decisions about a message."""
        identifier = self.capture.envelope_id(message) if self.decisions is not None else None
        return self.decisions.about(identifier) if self.decisions is not None and identifier else []

    def chain(self, message: int) -> list[ChainStep]:
        """The causal chain of a message, both ways, in order of arrival, the message itself included."""
        return chain_of(self.analysis, message)

    def kind_counts(self) -> dict[str, int]:
        """Messages by canonical kind, most frequent first."""
        codes, counts = np.unique(self.capture.columns["kind"], return_counts=True)
        pairs = sorted(zip(counts.tolist(), codes.tolist(), strict=True), key=lambda p: (-p[0], p[1]))
        return {self.capture.strings[code]: count for count, code in pairs}


def title_of(path: Path) -> str:
    """A short name that still tells logs apart: gateways call all of theirs the same."""
    return f"{path.parent.name}/{path.name}" if path.stem in ("envelope-history", "capability-decisions") else path.name
