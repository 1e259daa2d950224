"""Sources of a document: state, counts and clock of each."""

from __future__ import annotations

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.present.sources import SourceRow as SourceRow
from inspector.present.sources import source_rows
from inspector.store.files.source_files import ClockBasis as ClockBasis


class DescribeSources(Request[list[SourceRow]], frozen=True):
    """All sources, in order."""


def _describe(held: OpenDocument, _asked: DescribeSources) -> list[SourceRow]:
    return source_rows(held.document)


QUERIES = (Query(DescribeSources, list[SourceRow], _describe),)
