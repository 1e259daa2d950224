"""Reassembles messages that span several lines, or depend on earlier lines, in reading order.

Reassembled lines are read like any other; they are stored in a spool beside the source (`derived_lines`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.formats.format import load
from inspector.formats.table import FORMATS
from inspector.reading.reassembly.agent_protocol_lines import AgentLines
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine
from inspector.reading.reassembly.torn_lines import TornLines
from inspector.store.files.source_files import DERIVED_OFFSET

ORDER_MARKS = tuple(mark for one in FORMATS for mark in one.order_marks)
"""Substrings in the beginning of a source with lines that depend on order."""


class ReassemblyStage(Protocol):
    """Reassembles the lines of one source for one format, each once, in order."""

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if any of the lines may be relevant, by their content or by earlier lines."""
        ...

    def process_lines(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """Returns the lines to read instead. Raises OSError."""
        ...

    def finish(self) -> list[OrderedLine]:
        """Returns the unfinished messages at the end of the source. Raises OSError."""
        ...


@cache
def _stages_of_formats() -> tuple[Callable[[DerivedLineSpool], ReassemblyStage], ...]:
    # Imported late, since these modules import this package.
    return tuple(load(one.reassembly) for one in FORMATS if one.reassembly)


class Reassembler:
    """Reassembles the lines of one source, each once, in order."""

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._torn = TornLines(joined)
        of_formats = [make(joined) for make in _stages_of_formats()]
        self._stages: tuple[ReassemblyStage, ...] = (*of_formats, AgentLines(joined))

    @property
    def goes_on(self) -> bool:
        """Returns True if a message is incomplete, so that all further lines need processing."""
        return self.is_relevant(b"")

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if lines need processing here, by their content or by earlier lines."""
        return self._torn.may_matter(data) or any(stage.is_relevant(data) for stage in self._stages)

    def process_lines(
        self, data: bytes, lines: Sequence[bytes], offsets: NDArray[np.int64]
    ) -> list[OrderedLine] | None:  # fmt: skip
        """Returns the lines to read instead; None if all stay unchanged.

        Args:
            data: the lines as they lie in the source.
            lines, offsets: the same lines, split.

        Raises:
            OSError: if there is no room for derived lines.
        """
        torn = self._torn.may_matter(data)
        if not (torn or any(stage.is_relevant(data) for stage in self._stages)):
            return None
        found = [OrderedLine(line, at, len(line)) for line, at in zip(lines, offsets.tolist(), strict=True)]
        if torn:
            found = self._torn.process_lines(found, data)
        for stage in self._stages:
            # An earlier stage may have rewritten lines for this one.
            if stage.is_relevant(data) or stage.is_relevant(_rewritten(found)):
                found = stage.process_lines(found)
        self._joined.replaced_count += len(lines) - len(found)
        return found

    def finish(self) -> list[OrderedLine]:
        """Returns the unfinished messages at the end of the source. Raises OSError."""
        left = [*self._torn.end(), *(line for stage in self._stages for line in stage.finish())]
        self._joined.replaced_count -= len(left)
        return left


def _rewritten(lines: Sequence[OrderedLine]) -> bytes:
    """Returns the lines that an earlier stage rewrote for later ones."""
    return b"\n".join(line.data for line in lines if line.offset >= DERIVED_OFFSET and line.known_facts is None)
