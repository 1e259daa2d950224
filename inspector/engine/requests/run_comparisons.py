"""Comparison of a document with another run: opens the other log, aligns both, and describes rows on demand."""

from __future__ import annotations

import time
from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.compare.difference_classes import DifferenceClass as DifferenceClass
from inspector.analysis.views.steps.step_columns import StepKind as StepKind
from inspector.base.atomic_files import open_replacement
from inspector.base.slices import SlicedWork
from inspector.document.document import CaptureDocument
from inspector.document.sources import Progress
from inspector.engine.comparing import IgnoreError, comparison_steps
from inspector.engine.open_document import OpenDocument
from inspector.engine.opening import apply_options, reading_steps
from inspector.engine.request import Part, PartsRequest, Query, Request, RequestError, Steps, check_row_count
from inspector.engine.requests.comparison import Aspect, Comparison, compared_messages
from inspector.engine.targets import OpenOptions, Target
from inspector.engine.threads import in_thread, in_thread_if_large
from inspector.export.files import write_error_words
from inspector.present.compared_texts import DifferenceLine as DifferenceLine
from inspector.present.compared_texts import difference_lines, whole_texts
from inspector.present.comparison_reports import html_page
from inspector.present.run_comparison import ComparisonAnswer
from inspector.present.run_comparison import Place as Place
from inspector.present.run_comparison import RunTotals as RunTotals
from inspector.present.run_comparison import Verdict as Verdict
from inspector.protocol.secrets.masking import mask_text
from inspector.reading.files.source_reader import UnknownFormatError

if TYPE_CHECKING:
    from inspector.engine.requests.compared_contexts import KeptContexts

ResultT = TypeVar("ResultT")
_PROGRESS_S = 0.1
_WAIT_S = 0.002
"""Pause while a worker decodes the next block."""
_numbers = count(1)


class OtherProgress(msgspec.Struct, frozen=True):
    """Progress of reading the other log.

    Attributes:
        done, total: bytes; equal while the runs are compared.
        messages: read so far.
    """

    done: int
    total: int
    messages: int


class ComparedRuns(msgspec.Struct, frozen=True):
    """Two compared runs; rows are in display order.

    Attributes:
        number: identifies the comparison for requests about its rows.
        names: of the runs.
        verdict: where they part, and why.
        classes: (n,) uint8, `DifferenceClass`.
        depths: (n,) uint8, 0 for a step of a conversation, 1 for one of its sub-agents.
        kinds: (n,) uint8, `StepKind`.
        messages: (n, 2) int64, first message of each step by run; -1 where a run has none.
        is_partial: a log was not read to its end.
    """

    number: int
    names: tuple[str, str]
    verdict: Verdict
    classes: NDArray[np.uint8]
    depths: NDArray[np.uint8]
    kinds: NDArray[np.uint8]
    messages: NDArray[np.int64]
    is_partial: bool = False


class CompareRuns(PartsRequest[OtherProgress, ComparedRuns], frozen=True):
    """Compares a document with another run, which stays open until the next comparison; parts are progress.

    Attributes:
        target: the other run.
        options: how it is read.
        ignore: names of fields and patterns that do not count.
        swapped: the other run is A.
    """

    target: Target
    options: OpenOptions = OpenOptions()
    ignore: tuple[str, ...] = ()
    swapped: bool = False


class ComparedRow(msgspec.Struct, frozen=True):
    """A row in words, masked.

    Attributes:
        row: its index.
        sides: the step as each run has it; "" where it has none.
        text: the difference; "" for an equal row.
    """

    row: int
    sides: tuple[str, str]
    text: str


class DescribeComparedRows(Request[list[ComparedRow]], frozen=True):
    """Rows of a comparison in words, at most 1,000; none of an earlier comparison."""

    is_urgent: ClassVar[bool] = True
    number: int
    rows: tuple[int, ...]


class CompareRow(Request[list[DifferenceLine]], frozen=True):
    """Lines of a row that differ: arguments, results, definitions or prompts.

    Attributes:
        number: of the comparison.
        row: its row.
        width: most characters of a line.
    """

    is_urgent: ClassVar[bool] = True
    number: int
    row: int
    width: int = 80


class CompareRowMessages(Request[Comparison], frozen=True):
    """Compares the whole messages of a row, as `CompareMessages` does in one document."""

    number: int
    row: int
    aspect: Aspect | None = None


class WriteComparison(Request[None], frozen=True):
    """Writes a comparison as one HTML page.

    Attributes:
        number: of the comparison.
        target: the file.
    """

    number: int
    target: Path


class HeldComparison:
    """The comparison of an open document.

    Attributes:
        number: identifies it.
        key: target and options of the other log.
        other: the other document.
        answer: the comparison; None before the first.
        contexts: the contexts that were compared last.
    """

    def __init__(self, key: object, other: CaptureDocument) -> None:
        self.number = 0
        self.key, self.other = key, other
        self.answer: ComparisonAnswer | None = None
        self.contexts: KeptContexts | None = None

    def close(self) -> None:
        """Closes the other document."""
        self.answer = self.contexts = None
        self.other.close()


def _compare(held: OpenDocument, asked: CompareRuns) -> Steps[ComparedRuns]:
    key = asked.target, asked.options
    kept = held.comparison
    if kept is None or kept.key != key:
        kept = HeldComparison(key, (yield from _read(asked)))
    sides = (kept.other, held.document) if asked.swapped else (held.document, kept.other)
    messages = len(kept.other.capture)
    is_done = False
    try:
        yield Part(OtherProgress(1, 1, messages))
        answer = yield from comparison_steps(*sides, asked.ignore)
        yield
        is_done = True
    except IgnoreError as error:
        raise RequestError(str(error)) from None
    finally:
        if not is_done and kept is not held.comparison:
            kept.close()
    if kept is not held.comparison:  # an earlier comparison stays until this one is complete
        held.end_comparison()
        held.comparison = kept
    kept.answer, kept.contexts, kept.number = answer, None, next(_numbers)
    return _answer(kept, sides)


def _answer(kept: HeldComparison, sides: tuple[CaptureDocument, CaptureDocument]) -> ComparedRuns:
    assert kept.answer is not None
    comparison, rows = kept.answer.comparison, kept.answer.comparison.rows
    messages = np.full((len(rows), 2), -1, np.int64)
    kinds = np.zeros(len(rows), np.uint8)
    for side, (run, places) in enumerate(((comparison.one, rows.one), (comparison.other, rows.other))):
        known = np.flatnonzero(places >= 0)
        messages[known, side] = run.rows[places[known]]
        kinds[known] = run.kinds[places[known]]
    return ComparedRuns(
        kept.number, _names(sides), kept.answer.verdict(), rows.classes,
        np.minimum(rows.depths, 255).astype(np.uint8), kinds, messages, any(one.memory.is_full for one in sides),
    )  # fmt: skip


def _names(documents: tuple[CaptureDocument, CaptureDocument]) -> tuple[str, str]:
    """Returns names of both runs, with their folders if the names are equal."""
    names = [document.name for document in documents]
    if names[0] == names[1]:
        names = [f"{document.path.parent.name}/{name}" if document.path is not None else name
                 for document, name in zip(documents, names, strict=True)]  # fmt: skip
    return mask_text(names[0]), mask_text(names[1])


def _read(asked: CompareRuns) -> Generator[object, None, CaptureDocument]:
    """Reads the other log. Raises RequestError with a sentence if it cannot be read."""
    document, is_read, told_at = CaptureDocument(), False, 0.0
    document.sources.waits = False
    try:
        apply_options(document, asked.options)
        for step in reading_steps(document, (asked.target,), asked.options):
            if isinstance(step, Progress):
                if time.monotonic() - told_at >= _PROGRESS_S:
                    told_at = time.monotonic()
                    yield Part(OtherProgress(step.done, step.total, step.messages))
                if step.waiting:
                    time.sleep(_WAIT_S)
            yield
        is_read = True
    except UnknownFormatError as error:
        raise RequestError(mask_text(str(error))) from None
    except OSError as error:
        name = document.name or asked.target.path.name
        raise RequestError(mask_text(f"{name} cannot be read: {error.strerror or error}.")) from None
    finally:
        if not is_read:
            document.close()
    return document


def answer_of(held: OpenDocument, number: int) -> ComparisonAnswer:
    """Returns a comparison by its number. Raises RequestError if it is not the present one."""
    kept = held.comparison
    if kept is None or kept.answer is None or kept.number != number:
        raise RequestError("The runs have been compared again since.")
    return kept.answer


def _describe(held: OpenDocument, asked: DescribeComparedRows) -> Steps[list[ComparedRow]]:
    check_row_count(len(asked.rows))
    found: list[ComparedRow] = []
    for row in asked.rows:
        answer = answer_of(held, asked.number)
        if 0 <= row < len(answer.comparison.rows):
            found.append(ComparedRow(row, answer.words.sides(row), answer.words.difference(row)))
            yield
    return found


def _row_of(answer: ComparisonAnswer, row: int) -> int:
    if not 0 <= row < len(answer.comparison.rows):
        raise RequestError("The comparison has no such row.")
    return row


def _lines(held: OpenDocument, asked: CompareRow) -> Steps[list[DifferenceLine]]:
    answer = answer_of(held, asked.number)
    texts = whole_texts(answer.words, answer.comparison, _row_of(answer, asked.row))
    yield
    if texts[0] == texts[1]:  # another order, agent or recipient
        sides = answer.words.difference(asked.row), ""
        return [DifferenceLine("gap", sides)]
    size = max(map(len, texts))
    return (yield from in_thread_if_large(lambda: difference_lines(*texts, asked.width), size))


def _messages(held: OpenDocument, asked: CompareRowMessages) -> Steps[Comparison]:
    answer = answer_of(held, asked.number)
    found = answer.words.messages_of(_row_of(answer, asked.row))
    places: list[tuple[CaptureDocument, int]] = []
    for document, message in zip(answer.documents, found, strict=True):
        if message is None:
            raise RequestError("Only one run has this step.")
        places.append((document, message))
    return (yield from compared_messages(places[0], places[1], asked.aspect))


def _while_current(held: OpenDocument, number: int, work: SlicedWork[ResultT]) -> Steps[ResultT]:
    """Does work about a comparison. Raises RequestError once it is not the present one, and its document is closed."""
    while True:
        answer_of(held, number)
        try:
            next(work)
        except StopIteration as end:
            return end.value
        yield


def _write(held: OpenDocument, asked: WriteComparison) -> Steps[None]:
    answer = answer_of(held, asked.number)
    one, other = (document.name for document in answer.documents)
    yield
    found = yield from _while_current(held, asked.number, answer.json_steps((one, other)))
    page = yield from in_thread(lambda: html_page(found))
    try:
        with open_replacement(asked.target) as file:
            file.write(page.encode())
    except OSError as error:
        raise RequestError(f"The report cannot be written: {write_error_words(error)}") from None


QUERIES = (
    Query(CompareRuns, ComparedRuns, _compare, OtherProgress),
    Query(DescribeComparedRows, list[ComparedRow], _describe),
    Query(CompareRow, list[DifferenceLine], _lines),
    Query(CompareRowMessages, Comparison, _messages),
    Query(WriteComparison, None, _write),
)
