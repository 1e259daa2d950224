"""Display filters for a window: check, completion, SQL, and functions that only read or write their text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

import msgspec

from inspector.analysis.passes.changed_rows import Rows
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.completion import Candidate as Candidate
from inspector.filters.completion import Completer
from inspector.filters.completion import Completion as Completion
from inspector.filters.errors import FilterError as FilterError
from inspector.filters.errors import truncate as truncate
from inspector.filters.facets import chosen_with as chosen_with
from inspector.filters.facets import excluded_with as excluded_with
from inspector.filters.field import Depends
from inspector.filters.find_query import MAX_QUERY as MAX_QUERY
from inspector.filters.find_query import FindQuery as FindQuery
from inspector.filters.grammar import MOST_OPENED as MOST_OPENED
from inspector.filters.grammar import RESERVED as RESERVED
from inspector.filters.grammar import STRING as STRING
from inspector.filters.patterns import PatternError as PatternError
from inspector.filters.plain_words import FilterNote as FilterNote
from inspector.filters.scope import Reach as Reach
from inspector.filters.scope import Scope as Scope
from inspector.filters.stacked_conditions import MOST_CONDITIONS as MOST_CONDITIONS
from inspector.filters.stacked_conditions import Condition as Condition
from inspector.filters.stacked_conditions import FilterStack as FilterStack
from inspector.filters.stacked_conditions import negate_filter as negate_filter
from inspector.filters.stacked_conditions import resolve_variables as resolve_variables
from inspector.filters.strings import quote as quote

_CHECKED = 256
"""Checks kept: a window checks a filter as it is typed, applied and stacked, and presets three times."""


class ValidFilter(msgspec.Struct, frozen=True):
    """A valid display filter, as a window holds it: the engine alone evaluates it.

    Attributes:
        text: as written; "" matches all messages.
        selected_context: the path that `$context` stands for, if the filter has it.
        fields: names of the fields that it reads, ascending.
        follows_clock: its matches change with time.
    """

    text: str = ""
    selected_context: str | None = None
    fields: tuple[str, ...] = ()
    follows_clock: bool = False


class FilterProblem(msgspec.Struct, frozen=True):
    """The error of a filter.

    Attributes:
        message: one sentence.
        position, length: the wrong characters; length 0 if something is missing at `position`.
        suggestion: a second sentence with a remedy, if any.
        replacement: text for the wrong characters that follows the suggestion, if that is enough.
    """

    message: str
    position: int = 0
    length: int = 0
    suggestion: str | None = None
    replacement: str | None = None

    def __str__(self) -> str:
        return self.message if self.suggestion is None else f"{self.message} {self.suggestion}"


class CheckedFilter(msgspec.Struct, frozen=True):
    """The result of a check.

    Attributes:
        filter: the filter; None for an invalid text.
        problem: the error of an invalid text.
        note: advice about a valid filter that probably means something else.
    """

    filter: ValidFilter | None = None
    problem: FilterProblem | None = None
    note: FilterNote | None = None


def problem_of(error: FilterError) -> FilterProblem:
    """Returns an error as plain data."""
    return FilterProblem(error.message, error.position, error.length, error.suggestion, error.replacement)


@lru_cache(_CHECKED)
def check_text(text: str, selected_context: str | None = "context") -> CheckedFilter:
    """Checks a filter without a document, as for settings and menus; `$context` stands for some context."""
    return _checked(lambda: compile_filter(text, selected_context=selected_context))


def _checked(compiled: Callable[[], DisplayFilter]) -> CheckedFilter:
    try:
        found = compiled()
    except FilterError as error:
        return CheckedFilter(problem=problem_of(error))
    fields = tuple(sorted(found.fields))
    valid = ValidFilter(found.text, found.selected_context, fields, Depends.CLOCK in found.depends)
    return CheckedFilter(valid, note=found.note)


class CheckFilter(Request[CheckedFilter], frozen=True):
    """Checks a filter.

    Attributes:
        text: the filter.
        selected_context: the path of `$context`; None if no context is selected.
    """

    is_urgent: ClassVar[bool] = True
    text: str
    selected_context: str | None = None


class CompleteFilter(Request[Completion], frozen=True):
    """Completes a filter at a cursor. O(messages) for values.

    Attributes:
        text: the unfinished filter.
        cursor: offset in characters.
    """

    is_urgent: ClassVar[bool] = True
    text: str
    cursor: int


class SqlCondition(msgspec.Struct, frozen=True):
    """A filter in SQL.

    Attributes:
        text: the condition, without WHERE; "" without one.
        problem: the part without an equivalent in SQL, or the error of the filter.
    """

    text: str = ""
    problem: FilterProblem | None = None


class FilterAsSql(Request[SqlCondition], frozen=True):
    """Translates a filter to a condition over the table `messages`."""

    is_urgent: ClassVar[bool] = True
    text: str


class _Completer(Completer):
    """Completes filters over one document; its counts follow the number of messages."""

    def note_changed(self, changed: Rows, /) -> None:
        """Keeps the counts: candidates need no exact ones."""


def _completer(held: OpenDocument) -> _Completer:
    return held.kept(_Completer, lambda: _Completer(held.document.analysis))


def _check(held: OpenDocument, asked: CheckFilter) -> CheckedFilter:
    found = _checked(lambda: held.compiled(asked.text, asked.selected_context))
    note, word = found.note, asked.text.strip()
    if note is None or note.replacement is not None or " " in word:
        return found
    meant = _completer(held).filter_for(word)
    if meant is None:
        return found
    return msgspec.structs.replace(found, note=replace(note, suggestion="Did you mean", replacement=meant))


def _complete(held: OpenDocument, asked: CompleteFilter) -> Completion:
    return _completer(held).complete(asked.text, asked.cursor)


def payload_names(held: OpenDocument) -> list[str]:
    """Returns names of payload fields in a sample of messages, the most frequent first."""
    return _completer(held).payload_names()


def _as_sql(_held: OpenDocument, asked: FilterAsSql) -> SqlCondition:
    from inspector.tables.filter_to_sql import condition_of

    try:
        return SqlCondition(condition_of(compile_filter(asked.text)))
    except FilterError as error:
        return SqlCondition(problem=problem_of(error))


QUERIES = (
    Query(CheckFilter, CheckedFilter, _check),
    Query(CompleteFilter, Completion, _complete),
    Query(FilterAsSql, SqlCondition, _as_sql),
)
