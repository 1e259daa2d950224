"""Base of all requests, and the errors that a caller sees.

A request is a struct of plain data. Its type names the answer, so that a call is typed and a pipe can decode the
answer. `inspector.engine.requests.table` lists all requests with their functions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    pass

AnswerT = TypeVar("AnswerT")
PartT = TypeVar("PartT")

Steps = Generator[object, None, AnswerT]
"""A running computation: it yields wherever another request may be answered or it may be cancelled."""


NO_DOCUMENT = 0
"""Number in place of a document's for requests that need none."""

PAUSE = object()
"""Yielded by steps that wait for a thread: others compute meanwhile."""


class Request(msgspec.Struct, Generic[AnswerT], frozen=True, tag=True, forbid_unknown_fields=True):
    """A question about one document. `AnswerT` is its answer: JSON values, structs, dataclasses and numpy arrays.

    Attributes:
        is_urgent: computed before requests that were sent earlier, such as rows on screen.
        needs_document: False for questions about this machine, which are sent with NO_DOCUMENT.
    """

    is_urgent: ClassVar[bool] = False
    needs_document: ClassVar[bool] = True


class PartsRequest(Request[AnswerT], Generic[PartT, AnswerT], frozen=True):
    """A question with an answer in parts: the rows of a long list, pieces of a file, or the progress of an export."""


@dataclass(frozen=True, slots=True)
class Part(Generic[PartT]):
    """A part of an answer; the steps of a `PartsRequest` yield it."""

    value: PartT


class CancelledError(Exception):
    """The caller has cancelled the request."""


class RequestError(ValueError):
    """A request cannot be answered; the text is a sentence for the user."""


def check_row_count(count: int, limit: int = 1_000) -> None:
    """Raises RequestError for a request of more rows than the limit."""
    if count > limit:
        raise RequestError(f"At most {limit:,} rows can be requested at once.")


RequestT = TypeVar("RequestT", bound=Request[Any])
RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class Query(Generic[RequestT]):
    """One entry of the table of requests.

    Attributes:
        request: the type of the request.
        answer: the type of the answer, for decoding.
        part: the type of its parts, if it has any.
        compute: returns the answer, or steps that return it. Takes an `OpenDocument`; None if the request needs none.
    """

    request: type[RequestT]
    answer: Any
    compute: Callable[[Any, RequestT], Any]
    part: Any = None


_PART_ROWS = 1_000
_PART_S = 0.02


def row_parts(rows: Iterable[RowT | None]) -> Steps[None]:
    """Sends rows in parts, each computed in about 20 ms; None among the rows is a pause without a row."""
    taken: list[RowT] = []
    until = time.perf_counter() + _PART_S
    for row in rows:
        if row is not None:
            taken.append(row)
        if len(taken) == _PART_ROWS or time.perf_counter() >= until:
            yield Part(taken) if taken else None
            taken, until = [], time.perf_counter() + _PART_S
    if taken:
        yield Part(taken)


def rows_from(rows: Iterable[RowT], offset: int, limit: int | None) -> Iterator[RowT]:
    """Skips rows and limits their number; both may exceed the number of rows."""
    start = min(offset, sys.maxsize)
    return islice(rows, start, None if limit is None else min(start + limit, sys.maxsize))
