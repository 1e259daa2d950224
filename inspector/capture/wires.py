"""What lines of a source hold in pieces, or mean by those before them: put together in the order read.

A line that was put together is read as any other, and lies in a spool beside the source (`joined_lines`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.capture.agent_lines import AgentLines
from inspector.capture.joined_lines import JoinedLines
from inspector.capture.model_answers import Known, ModelAnswers

IN_ORDER = (b'"http-request"', b'"session/update"', b'"session/new"', b'"message/stream"', b'"message/send"')
"""What the beginning of a source has whose lines have to be seen in order."""


class Wires:
    """Looks at the lines of one source, each once, in order."""

    def __init__(self, joined: JoinedLines) -> None:
        self._joined = joined
        self._answers = ModelAnswers(joined)
        self._agents = AgentLines()

    def take(
        self, data: bytes, lines: Sequence[bytes], offsets: NDArray[np.int64]
    ) -> tuple[list[bytes], NDArray[np.int64], Known]:
        """The lines that are to be read in place of some, with their offsets, and those that were read meanwhile.

        Args:
            data: the lines as they lie in the source.
            lines, offsets: the same, one by one.

        Raises:
            OSError: there is no room for what is put together.
        """
        found, places, known = list(lines), offsets.tolist(), Known()
        answers, agents = self._answers.may_matter(data), self._agents.may_matter(data)
        if answers:
            found, places, known = self._answers.take(found, places)
        if agents:
            found, places, known = self._agents.take(found, places, known, self._joined.put)
        self._joined.left_out += len(lines) - len(found)
        return found, np.array(places, np.int64) if answers or agents else offsets, known

    def end(self) -> tuple[list[bytes], NDArray[np.int64]]:
        """What is left when the source has ended. Raises OSError."""
        left = [(line, None) for line in self._answers.end()] + self._agents.end()
        self._joined.left_out -= len(left)
        places = [self._joined.put(line) if at is None else at for line, at in left]
        return [line for line, _ in left], np.array(places, np.int64)
