"""What lines of a source hold in pieces, or mean by those before them: put together in the order read.

A line that was put together is read as any other, and lies in a spool beside the source (`joined_lines`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.formats.messages import EVENT_MARKS
from inspector.reading.reassembly.agent_lines import AgentLines
from inspector.reading.reassembly.joined_lines import JoinedLines, OrderedLine
from inspector.reading.reassembly.model_answers import ModelAnswers
from inspector.reading.reassembly.model_streams import ModelStreams

IN_ORDER = (
    b'"http-request"', b'"session/update"', b'"session/new"', b'"message/stream"', b'"message/send"', *EVENT_MARKS,
)  # fmt: skip
"""What the beginning of a source has whose lines have to be seen in order."""


class Wires:
    """Looks at the lines of one source, each once, in order."""

    def __init__(self, joined: JoinedLines) -> None:
        self._joined = joined
        self._stages = (ModelAnswers(joined), ModelStreams(joined), AgentLines(joined))

    def may_matter(self, data: bytes) -> bool:
        """Whether lines have to be looked at here: by what is in them, or by those before them."""
        return any(stage.may_matter(data) for stage in self._stages)

    def take(
        self, data: bytes, lines: Sequence[bytes], offsets: NDArray[np.int64]
    ) -> list[OrderedLine] | None:  # fmt: skip
        """The lines that are to be read in place of some; None where all stay as they are.

        Args:
            data: the lines as they lie in the source.
            lines, offsets: the same, one by one.

        Raises:
            OSError: there is no room for what is put together.
        """
        stages = [stage for stage in self._stages if stage.may_matter(data)]
        if not stages:
            return None
        found = [OrderedLine(line, at, len(line)) for line, at in zip(lines, offsets.tolist(), strict=True)]
        for stage in stages:
            found = stage.take(found)
        self._joined.left_out += len(lines) - len(found)
        return found

    def end(self) -> list[OrderedLine]:
        """What is left when the source has ended. Raises OSError."""
        left = [line for stage in self._stages for line in stage.end()]
        self._joined.left_out -= len(left)
        return left
