"""Heads of exported conversations: the ask, the program, the time, the folder, and the figures."""

from __future__ import annotations

from typing import NamedTuple

from inspector.analysis.views.steps.step_columns import StepTable
from inspector.analysis.views.summaries.unlogged_agents import unlogged_agents
from inspector.document.document import CaptureDocument
from inspector.document.working_folder import WorkingFolder
from inspector.formats.table import TRACE_NAMES
from inspector.present import formats
from inspector.present.account_sentences import trace_span_ns
from inspector.present.document_words import branch_words, model_words, program_words, time_words
from inspector.present.session_titles import shown_session_title
from inspector.present.subject import text_of
from inspector.present.token_facts import unlogged_words
from inspector.present.wire_text import excerpt, safe_line
from inspector.protocol.timestamps import NO_TIME

_TITLE, _NAME, _PATH, _VERSION = 160, 200, 1_000, 40


class PageHead(NamedTuple):
    """The head of a page, masked and safe to show.

    Attributes:
        title: the title or first prompt of the session, else the name of the document.
        about: lines with facts.
        notes: a sentence on the parts left out, and the name of the document.
    """

    title: str
    about: tuple[str, ...]
    notes: str


def page_head(
    document: CaptureDocument, table: StepTable, folder: WorkingFolder, *, shown: int | None, records: int
) -> PageHead:  # fmt: skip
    """Returns the head of a page.

    Args:
        document: the document.
        table: its steps.
        folder: its working folder.
        shown: number of chosen messages; None for all.
        records: number of records of programs that the page leaves out.
    """
    name = safe_line(document.name, _NAME)
    title = shown_session_title(document.capture)
    if not title and len(table.prompts):
        title = excerpt(text_of(document.capture, int(table.rows[table.prompts[0]])), _TITLE)
    version = f" {safe_line(folder.version, _VERSION)}" if folder.version else ""
    first = (
        f"{program_words(document)}{version}", model_words(document.analysis),
        time_words(document.analysis, _span_ns(document, table)),
    )  # fmt: skip
    place = f"Folder {safe_line(folder.folder, _PATH)}{branch_words(folder.branch)}" if folder.folder else ""
    count = len(document.analysis)
    messages = formats.count_of(count, "message")
    figures = [
        formats.count_of(len(table.prompts), "turn") if len(table.prompts) else "",
        messages if shown is None else f"{formats.number(shown)} of {messages} and the cards around them",
        *_costs(document),
    ]
    notes = [f"{formats.count_of(records, 'record')} of programs left out." if records else ""]
    notes += [f"Exported from {name}." if title else "", "Secrets are masked."]
    about = (" · ".join(filter(None, first)), place, ", ".join(filter(None, figures)))
    return PageHead(title or name, tuple(filter(None, about)), " ".join(filter(None, notes)))


def _span_ns(document: CaptureDocument, table: StepTable) -> int:
    if document.is_arriving:
        return 0
    if document.format in TRACE_NAMES and (span := trace_span_ns(table)):
        return span
    times = document.capture.columns["time_ns"][: len(document.analysis)]
    times = times[times != NO_TIME]
    return int(times.max()) - int(times.min()) if len(times) else 0


def _costs(document: CaptureDocument) -> list[str]:
    """Returns reported tokens and the cost in words, as far as they are known."""
    usage, costs = document.analysis.usage.total(), document.analysis.costs
    words = [f"{formats.short_count(sum(usage))} tokens"] if usage is not None and sum(usage) else []
    found, stated = costs.total(), costs.stated_total()
    if found is not None and found.calls:
        without = unlogged_words(unlogged_agents(document.analysis))
        words.append(f"{formats.dollars(found.total)} at list prices{without}")
    elif stated is not None:
        words.append(f"{formats.dollars(stated)} as the session states")
    return words
