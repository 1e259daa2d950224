"""Contexts of both models before a step of a comparison, side by side."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.compare.difference_classes import DifferenceClass
from inspector.analysis.views.compare.divergence import moment_before
from inspector.analysis.views.compare.run_steps import RunSteps
from inspector.analysis.views.compare.sequences import Features, align
from inspector.analysis.views.model_context import Moment, Role
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, check_row_count
from inspector.engine.requests.run_comparisons import answer_of
from inspector.present.entry_words import entry_words
from inspector.present.run_comparison import ComparisonAnswer
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]
_ABSENT = -1


class ComparedContexts(msgspec.Struct, frozen=True):
    """Entries of both contexts in order; equal ones are pairs.

    Attributes:
        titles: reader of each context; "" without a known model.
        classes: (n,) uint8, `DifferenceClass`: MISSING and EXTRA for an entry that one model alone received.
        depths: (n,) uint8, 0.
        kinds: (n,) uint8, `StepKind` by role.
        messages: (n, 2) int64, message of each context; -1 where it has none.
        collapsed: (n, 2) bool, a summary stands for it.
    """

    titles: tuple[str, str]
    classes: NDArray[np.uint8]
    depths: NDArray[np.uint8]
    kinds: NDArray[np.uint8]
    messages: NDArray[np.int64]
    collapsed: NDArray[np.bool_]


class CompareContexts(Request[ComparedContexts], frozen=True):
    """The contexts before the step of a row.

    Attributes:
        number: of the comparison.
        row: its row.
    """

    number: int
    row: int


class ContextRow(msgspec.Struct, frozen=True):
    """An entry in words, masked.

    Attributes:
        row: its index.
        sides: its first words in each context; "" where it has none.
        text: "".
    """

    row: int
    sides: tuple[str, str]
    text: str = ""


class DescribeComparedContexts(Request[list[ContextRow]], frozen=True):
    """Entries of the contexts of a row in words, at most 1,000.

    Attributes:
        number, row: as in `CompareContexts`.
        rows: entries.
    """

    is_urgent: ClassVar[bool] = True
    number: int
    row: int
    rows: tuple[int, ...]


class KeptContexts:
    """The contexts that were compared last.

    Attributes:
        key: number of the comparison, and row.
        moments: of each run; None without a known model.
        answer: the compared contexts.
    """

    def __init__(
        self, key: tuple[int, int], moments: tuple[Moment | None, Moment | None], answer: ComparedContexts
    ) -> None:
        self.key, self.moments, self.answer = key, moments, answer


def _compare(held: OpenDocument, asked: CompareContexts) -> Steps[ComparedContexts]:
    answer = answer_of(held, asked.number)
    kept = yield from _kept(held, answer, (asked.number, asked.row))
    return kept.answer


def _kept(held: OpenDocument, answer: ComparisonAnswer, key: tuple[int, int]) -> Steps[KeptContexts]:
    comparison, row = answer.comparison, key[1]
    if held.comparison is None or not 0 <= row < len(comparison.rows):
        raise RequestError("The comparison has no such row.")
    kept = held.comparison.contexts
    if kept is None or kept.key != key:
        one = yield from moment_before(comparison.one, comparison.rows.one, row)
        other = yield from moment_before(comparison.other, comparison.rows.other, row)
        kept = held.comparison.contexts = KeptContexts(key, (one, other), _aligned(answer, (one, other)))
    return kept


def _aligned(answer: ComparisonAnswer, moments: tuple[Moment | None, Moment | None]) -> ComparedContexts:
    comparison, rows = answer.comparison, answer.comparison.rows
    messages: list[Array] = []
    keys: list[Array] = []
    for run, places, moment in zip(
        (comparison.one, comparison.other), (rows.one, rows.other), moments, strict=True
    ):  # fmt: skip
        entries = np.flatnonzero(moment.included) if moment is not None else np.zeros(0, np.int64)
        told = moment.context.rows[entries] if moment is not None else entries
        messages.append(told)
        keys.append(_keys(run, places, told))
    pairs = align(*(Features(key, key, np.zeros((len(key), 1), np.int64)) for key in keys))
    order = _in_order(dict(pairs), _moved(keys, dict(pairs)), len(keys[0]), len(keys[1]))
    shape = (len(order), 2)
    found, collapsed = np.full(shape, _ABSENT, np.int64), np.zeros(shape, np.bool_)
    for side, (told, moment) in enumerate(zip(messages, moments, strict=True)):
        known = np.flatnonzero(order[:, side] >= 0)
        found[known, side] = told[order[known, side]]
        if moment is not None:
            included = np.flatnonzero(moment.included)
            collapsed[known, side] = moment.collapsed[included[order[known, side]]]
    classes = _classes(answer, found, collapsed)
    kinds = _kinds(moments, found)
    titles = tuple("" if moment is None else mask_text(moment.context.reader.title) for moment in moments)
    return ComparedContexts((titles[0], titles[1]), classes, np.zeros_like(kinds), kinds, found, collapsed)


_KIND_OF_ROLE = {Role.USER: StepKind.PROMPT, Role.ASSISTANT: StepKind.ANSWER, Role.TOOL: StepKind.CALL}


def _kinds(moments: tuple[Moment | None, Moment | None], messages: Array) -> NDArray[np.uint8]:
    """(n,) uint8, `StepKind` of each entry."""
    found = np.full(len(messages), StepKind.OTHER, np.uint8)
    looks = np.array([_KIND_OF_ROLE.get(role, StepKind.OTHER) for role in Role], np.uint8)
    for side, moment in enumerate(moments):
        known = np.flatnonzero(messages[:, side] >= 0)
        if moment is not None and len(known):
            places = np.searchsorted(moment.context.rows, messages[known, side])
            found[known] = looks[moment.context.roles[places]]
    return found


def _keys(run: RunSteps, places: Array, messages: Array) -> Array:
    """(n,) int64, equal for entries of both runs that one row of the comparison pairs, or that have one kind."""
    row_of = np.full(len(run.analysis) + 1, _ABSENT, np.int64)
    known = np.flatnonzero(places >= 0)
    steps = places[known]
    ends = run.ends[steps]
    row_of[np.where(ends == NO_ROW, len(run.analysis), ends)] = 2 * known + 1
    row_of[run.rows[steps]] = 2 * known
    row_of[len(run.analysis)] = _ABSENT
    found = row_of[messages]
    strings, kinds = run.analysis.capture.strings, run.analysis.capture.columns["kind"][messages]
    other = np.array([-2 - (hash(strings[code]) & 0xFFFFFFFF) for code in kinds.tolist()], np.int64)
    return np.where(found >= 0, found, other.reshape(-1))


def _moved(keys: list[Array], pairs: dict[int, int]) -> dict[int, int]:
    """Returns pairs of equal entries in another order, such as calls made at once."""
    taken = set(pairs.values())
    rest = {key: place for place, key in enumerate(keys[1].tolist()) if key >= 0 and place not in taken}
    return {place: rest[key] for place, key in enumerate(keys[0].tolist()) if place not in pairs and key in rest}


def _in_order(pairs: dict[int, int], moved: dict[int, int], count: int, other_count: int) -> Array:
    """(n, 2) int64, places of both contexts in order of the first; entries of the second alone before its next pair."""
    rows: list[tuple[int, int]] = []
    elsewhere, next_place = set(moved.values()), 0
    for place in range(count):
        if place in pairs:
            rows += [(_ABSENT, other) for other in range(next_place, pairs[place]) if other not in elsewhere]
            next_place = pairs[place] + 1
        rows.append((place, pairs.get(place, moved.get(place, _ABSENT))))
    rows += [(_ABSENT, other) for other in range(next_place, other_count) if other not in elsewhere]
    return np.array(rows, np.int64).reshape(-1, 2)


def _classes(answer: ComparisonAnswer, messages: Array, collapsed: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """(n,) uint8, classes of entries: that of the row whose differing messages they are."""
    differing: dict[tuple[int | None, int | None], int] = {}
    classes = answer.comparison.rows.classes
    for row in answer.differing():
        differing[answer.words.messages_of(row)] = int(classes[row])
    found = np.zeros(len(messages), np.uint8)
    for place, (one, other) in enumerate(messages.tolist()):
        found[place] = (
            DifferenceClass.MISSING if other < 0
            else DifferenceClass.EXTRA if one < 0
            else differing.get((one, other), DifferenceClass.SAME)
        )  # fmt: skip
    found[(collapsed[:, 0] != collapsed[:, 1]) & (messages >= 0).all(axis=1)] = DifferenceClass.RESULT
    return found


def _describe(held: OpenDocument, asked: DescribeComparedContexts) -> Steps[list[ContextRow]]:
    check_row_count(len(asked.rows))
    answer = answer_of(held, asked.number)
    kept = yield from _kept(held, answer, (asked.number, asked.row))
    found: list[ContextRow] = []
    for row in asked.rows:
        if not 0 <= row < len(kept.answer.messages):
            continue
        sides: list[str] = []
        for side, message in enumerate(kept.answer.messages[row].tolist()):
            moment = kept.moments[side]
            place = int(np.searchsorted(moment.context.rows, message)) if moment is not None and message >= 0 else -1
            words = "" if moment is None or place < 0 else mask_text(entry_words(answer.documents[side], moment, place))
            sides.append(f"{words} (collapsed)" if kept.answer.collapsed[row, side] else words)
        found.append(ContextRow(row, (sides[0], sides[1])))
        yield
    return found


QUERIES = (
    Query(CompareContexts, ComparedContexts, _compare),
    Query(DescribeComparedContexts, list[ContextRow], _describe),
)
