"""The summary of a log with its account, and sums of tokens."""

from __future__ import annotations

from typing import Any

import msgspec

from inspector.document.token_summary import tokens_of
from inspector.engine.counting import counted_tokens
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.log_facts import SourceFacts, list_sources
from inspector.engine.requests.turns import steps_of
from inspector.present.account import Account
from inspector.present.answers import masked_tokens, summary_answer
from inspector.present.findings import failed_filter


class LogSummary(msgspec.Struct, frozen=True):
    """Summary of a log.

    Attributes:
        figures: the summary as JSON (docs/design.md 5), masked.
        account: its account in sentences.
        sources: its sources.
        shared_records: number of records that several sources have.
        failed: number of messages with a failure; `failed_filter` shows them.
    """

    figures: dict[str, Any]
    account: Account
    sources: list[SourceFacts]
    shared_records: int
    failed: int
    failed_filter: str


class SummarizeLog(Request[LogSummary], frozen=True):
    """Summary of all messages read so far.

    Attributes:
        file: name in the figures; "" for the document's own.
        tokens: includes tokens, if they are counted.
        counted: counts tokens first.
    """

    file: str = ""
    tokens: bool = True
    counted: bool = False


class SumTokens(Request[dict[str, Any]], frozen=True):
    """Counts tokens by participant, tool, context and kind: estimates, and reported usage."""


def _summary(held: OpenDocument, asked: SummarizeLog) -> Steps[LogSummary]:
    document = held.document
    if asked.counted:
        yield from counted_tokens(held)
    figures, account = summary_answer(document, asked.file or document.name, steps_of(held), tokens=asked.tokens)
    capture = document.capture
    return LogSummary(
        figures, account, list_sources(held), len(capture.sightings), capture.failed_count, failed_filter(capture)
    )


def _tokens(held: OpenDocument, _asked: SumTokens) -> Steps[dict[str, Any]]:
    yield from counted_tokens(held)
    usage = held.document.analysis.usage.total()
    reported = usage._asdict() if usage is not None else None
    return {"estimated": masked_tokens(tokens_of(held.document)), "reported": reported}


QUERIES = (
    Query(SummarizeLog, LogSummary, _summary),
    Query(SumTokens, dict[str, Any], _tokens),
)
