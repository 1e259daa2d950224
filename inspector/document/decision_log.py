"""The gateway's decisions beside its logs: reads them with a log, follows them, and finds them by message.

Decisions are optional: an error in their file keeps the ones already read.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from inspector.reading.files.source_reader import SourceReader
from inspector.sources.bundle import member_at
from inspector.sources.inputs import is_stream, open_source
from inspector.store.files.capability_decisions import FILE_NAME, CapabilityDecisions
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.capture import Capture

_ARCHIVES = ("", ".gz", ".zst")
_EVERY_S = 1.0


class DecisionLog:
    """Decisions of gateways about the messages of a capture.

    Attributes:
        found: the decisions, if any.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._due = 0.0
        self.found: CapabilityDecisions | None = None

    def open_beside(self, log: Path, *, waits: bool, follow: bool) -> Generator[None]:
        """Reads the file beside a log once; yields while it is decompressed.

        Args:
            log: a gateway's log.
            waits: waits for the decompression.
            follow: the last line may be unfinished.
        """
        path = next((found for end in _ARCHIVES if _is_there(found := log.with_name(FILE_NAME + end))), None)
        if path is None or path == log or is_stream(log) or path in {source.path for source in self.sources}:
            return
        try:
            source = open_source(path)
            for _ in SourceReader(source, 0, waits=waits).wait_until(lambda: not source.is_growing):
                yield
            # Several gateways may be open together; their decisions are one set.
            decisions = self.found or CapabilityDecisions()
            decisions.add_source(source)
            if follow:
                decisions.read_new_lines()
            else:
                decisions.read_all()
        except OSError:
            return
        self.found = decisions

    @property
    def sources(self) -> list[SourceFile]:
        return self.found.sources if self.found is not None else []

    def read_new(self) -> bool:
        """Reads new decisions, at most once a second; returns True if there are any.

        They follow their messages by a moment.
        """
        if self.found is None or time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + _EVERY_S
        known = len(self.found)
        try:
            self.found.read_new_lines()
        except OSError:  # earlier ones stay
            return False
        return len(self.found) > known

    def decisions_on(self, message: int) -> list[dict[str, Any]]:
        """Returns the decisions about a message's envelope id, as logged; [] without a log or an id."""
        # Most captures have no decisions, so the record is not decoded for them.
        identifier = self._capture.records.envelope_id(message) if self.found is not None else None
        return self.found.decisions_about(identifier) if self.found is not None and identifier else []

    def about_refusal(self, error: int) -> list[dict[str, Any]]:
        """Returns the decisions about a message that a `system/error` refused, logged or not."""
        if self.found is None:
            return []
        return [
            one for name in self._capture.records.correlation_ids(error) for one in self.found.decisions_about(name)
        ]

    def close(self) -> None:
        for source in self.sources:
            source.close()


def _is_there(path: Path) -> bool:
    """Returns True if a file exists, also in a bundle."""
    return path.is_file() or member_at(path) is not None
