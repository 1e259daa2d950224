"""Opens documents and answers requests about them. Used in process, and by `serve` behind a pipe.

One thread uses an engine. There is no event loop in it: a caller drives reading and long answers step by step, or asks
for all of it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from types import GeneratorType
from typing import Any

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.sources import Progress
from inspector.engine.open_document import OpenDocument
from inspector.engine.opening import OpenOptions, Target, apply_options, reading_steps
from inspector.engine.request import AnswerT, Part, PartsRequest, PartT, Request, RequestError, Steps
from inspector.engine.requests.table import QUERY_BY_TYPE
from inspector.engine.update import Update

_AS_USUAL = OpenOptions()


class Engine:
    """The documents of one caller, by number."""

    def __init__(self) -> None:
        self._open: dict[int, OpenDocument] = {}
        self._last = 0

    # Documents

    def open(
        self, targets: Sequence[Target], options: OpenOptions = _AS_USUAL, *, wait: bool = True
    ) -> tuple[int, Steps[None]]:  # fmt: skip
        """Creates a document for one or more logs.

        Args:
            targets: the logs; several become one document in the order of time.
            options: how they are read and judged.
            wait: waits for workers; otherwise a step without news reports the wait.

        Returns:
            Its number, and the steps that read it. Each step yields a `Progress`; requests may be answered between
            steps. The steps raise OSError or UnknownFormatError.

        Raises:
            AliasError, PriceError: an option is malformed.
        """
        document = CaptureDocument()
        document.sources.waits = wait
        apply_options(document, options)
        return self.adopt(document), reading_steps(document, tuple(targets), options)

    def read(self, steps: Steps[None], progressed: Callable[[Progress], object] = lambda _progress: None) -> None:
        """Completes the steps of `open`. Closing them instead leaves the messages read so far.

        Raises:
            OSError: a log cannot be read.
            UnknownFormatError: no log has a known format.
        """
        for step in steps:
            if isinstance(step, Progress):
                progressed(step)

    def adopt(self, document: CaptureDocument) -> int:
        """Adds a document that the caller has opened; returns its number."""
        self._last += 1
        self._open[self._last] = OpenDocument(self._last, document)
        return self._last

    def opened(self, number: int) -> OpenDocument:
        """Returns an open document.

        Raises:
            RequestError: there is no such document.
        """
        found = self._open.get(number)
        if found is None:
            raise RequestError(f"There is no open document {number}.")
        return found

    def version(self, number: int) -> int:
        """Returns the version of a document: it rises with each change."""
        return self.opened(number).version

    def stop_stream(self, number: int) -> None:
        """Ends the reading of standard input or a pipe. Signal handlers may call it."""
        self.opened(number).document.stop_stream()

    def subscribe(self, number: int, subscriber: Callable[[Update], object]) -> Callable[[], None]:
        """Calls the subscriber after each change of a document; returns a function that ends this."""
        return self.opened(number).subscribe(subscriber)

    def close_document(self, number: int) -> None:
        """Closes a document and forgets its number."""
        found = self._open.pop(number, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """Closes all documents."""
        for number in list(self._open):
            self.close_document(number)

    # Requests

    def begin(self, number: int, request: Request[AnswerT]) -> Steps[AnswerT]:
        """Returns steps that compute an answer; closing them cancels the request.

        Raises:
            RequestError: there is no such document. The steps raise it for a request that cannot be answered.
        """
        return _steps(self.opened(number) if request.needs_document else None, request)

    def answer_request(self, number: int, request: Request[AnswerT]) -> AnswerT:
        """Returns the answer to a request. Raises RequestError if there is none; the text says why."""
        return run_to_end(self.begin(number, request))

    def answer_parts(self, number: int, request: PartsRequest[PartT, AnswerT]) -> Generator[PartT, None, AnswerT]:
        """Yields the parts of an answer and returns the answer; closing the generator cancels the request.

        Raises:
            RequestError: it cannot be answered; the text says why.
        """
        steps = self.begin(number, request)
        try:
            while True:
                step = next(steps)
                if isinstance(step, Part):
                    yield step.value
        except StopIteration as end:
            return end.value
        finally:
            steps.close()


def _steps(held: OpenDocument | None, request: Request[Any]) -> Steps[Any]:
    answer = QUERY_BY_TYPE[type(request)].compute(held, request)
    if isinstance(answer, GeneratorType):
        answer = yield from answer
    return answer
