"""Rules of one program about its model's context, as `Format.context_rules` names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from inspector.analysis import Analysis
from inspector.analysis.views.model_context.admission import SortedIn
from inspector.analysis.views.model_context.context_owners import Reader
from inspector.analysis.views.model_context.recorded_requests import Sent
from inspector.analysis.views.model_context.removals import Left
from inspector.base.slices import SlicedWork
from inspector.formats.format import load
from inspector.formats.table import FORMATS


class KeptRange(NamedTuple):
    """Records that a compaction keeps, by the ids of the first and the last."""

    first: str
    last: str


class ContextRules:
    """Rules of one program; without any, a compaction keeps nothing, and no request is in the session."""

    def kept_by_compaction(self, payload: Mapping[str, Any]) -> Sequence[str] | KeptRange | None:
        """Returns the ids of records that a compaction keeps, by the payload of the record before it."""
        del payload
        return None

    def follow_requests(
        self, analysis: Analysis, reader: Reader, sorted_in: SortedIn, left: Left, sent: Sent
    ) -> SlicedWork[None]:  # fmt: skip
        """Sets a context to the content of the model requests in its session, if there are any.

        Args:
            analysis: passes of the capture.
            reader: owner of the context.
            sorted_in: admitted messages; changed in place, like `left` and `sent`.
            left: removals.
            sent: receives the requests.
        """
        del analysis, reader, sorted_in, left, sent
        yield from ()


@cache
def rules_by_format() -> Mapping[str, ContextRules]:
    """Returns the rules of programs by name of the format; imported late, since they import this package."""
    return {one.name: load(one.context_rules) for one in FORMATS if one.context_rules}
