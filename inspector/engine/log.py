"""One open document of an engine, for callers that work on one log at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from inspector.document.document import CaptureDocument
from inspector.document.sources import Progress
from inspector.engine.engine import Engine
from inspector.engine.opening import OpenOptions, Target
from inspector.engine.request import AnswerT, PartsRequest, PartT, Request, RowT


class Log:
    """A document of an engine in this process.

    Args:
        engine: the engine.
        number: the number of the document.
    """

    def __init__(self, engine: Engine, number: int) -> None:
        self._engine, self._number = engine, number

    @classmethod
    def read(cls, targets: Sequence[Target], options: OpenOptions) -> Log:
        """Opens logs as one document and reads them to their ends.

        Raises:
            OSError: a log cannot be read.
            UnknownFormatError: no log has a known format.
        """
        log, steps = cls.begin(targets, options)
        try:
            log.complete(steps)
        except BaseException:
            log.close()
            raise
        return log

    @classmethod
    def begin(cls, targets: Sequence[Target], options: OpenOptions) -> tuple[Log, Generator[object]]:
        """Creates a document; returns it with the steps that read it, for `complete`."""
        engine = Engine()
        number, steps = engine.open(targets, options)
        return cls(engine, number), steps

    def complete(
        self, steps: Generator[object], progressed: Callable[[Progress], object] = lambda _progress: None
    ) -> None:
        """Runs the steps of `begin`. Raises OSError or UnknownFormatError as `read`."""
        self._engine.read(steps, progressed)

    def answer_to(self, request: Request[AnswerT]) -> AnswerT:
        """Returns the answer to a request. Raises RequestError if there is none."""
        return self._engine.answer_request(self._number, request)

    def parts(self, request: PartsRequest[PartT, AnswerT]) -> Generator[PartT, None, AnswerT]:
        """Yields the parts of an answer and returns the answer. Raises RequestError if there is none."""
        return self._engine.answer_parts(self._number, request)

    def rows(self, request: PartsRequest[list[RowT], Any]) -> Iterator[RowT]:
        """Yields the rows of an answer, computed as they are taken. Raises RequestError if there is none."""
        for part in self.parts(request):
            yield from part

    def stop_stream(self) -> None:
        """Ends the reading of standard input or a pipe. Signal handlers may call it."""
        self._engine.stop_stream(self._number)

    @property
    def name(self) -> str:
        """Display name; "" if the log could not be opened."""
        return self.document.name

    @property
    def document(self) -> CaptureDocument:
        """The document itself, for SQL and slices: both stream its columns and lines."""
        return self._engine.opened(self._number).document

    def close(self) -> None:
        """Closes the document."""
        self._engine.close()
