"""Facts that the cards of an overview share, and names of calls and files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.views.account.account import AccountTally
from inspector.analysis.views.account.tool_calls import ToolCalls, tool_calls
from inspector.analysis.views.latency.background_agents import answer_latency_ns
from inspector.analysis.views.steps.call_facts import CallFact, CallFacts, FileFact, TouchKind
from inspector.analysis.views.steps.intervals import union_lengths
from inspector.analysis.views.steps.step_columns import StepTable
from inspector.analysis.views.waste import WasteTotals
from inspector.document.document import CaptureDocument
from inspector.formats.table import TRACE_NAMES
from inspector.present import formats
from inspector.present.account_sentences import trace_span_ns
from inspector.present.labelled_output import labelled_output
from inspector.present.many_runs import Branch
from inspector.present.overview.cards import CONVERSATION, Link, Words
from inspector.present.subject import text_of
from inspector.present.wire_text import excerpt, safe_line
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW

_NAME, _COMMAND, _REASON = 40, 56, 140
_EXIT_CODE = re.compile(r"\A\s*(?:Error: )?Exit code:? \d{1,10}\s*", re.IGNORECASE)
_TELLING = re.compile(
    r"error|fail|cannot|can't|not found|undefined|unknown|unexpected|panic|exception|denied|no such|invalid",
    re.IGNORECASE,
)
_PLACED = re.compile(r"(?:\A|\s|[/\\])[\w.-]+\.\w+:\d+")
_MOST_LINES = 400


@dataclass(frozen=True, slots=True)
class ContextSize:
    """Context of the main model.

    Attributes:
        reader: its participant.
        messages, tokens: its reports in order.
        limit: reported maximum, if known.
        outside: reported tokens that are not in the log, if known.
        largest: largest results in the context: message and estimated tokens.
        is_counted: all tokens are counted, so that `outside` and `largest` are final.
    """

    reader: str
    messages: tuple[int, ...]
    tokens: tuple[int, ...]
    limit: int | None
    outside: int | None
    largest: tuple[tuple[int, int], ...]
    is_counted: bool = True


class TaskTree(NamedTuple):
    """The tree of the runs of a task.

    Attributes:
        task: its name; "" without one.
        groups: number of runs by group.
        ways: number of different chains of steps.
        rows: rows of the tree.
    """

    task: str
    groups: dict[str, int]
    ways: int
    rows: list[Branch]


class TaskTrees(NamedTuple):
    """Trees of some tasks; `more` tasks have none here."""

    trees: list[TaskTree]
    more: int


@dataclass
class OverviewFacts:
    """Inputs of the cards.

    Attributes:
        document: the document.
        tally: figures of the account.
        steps: its steps.
        calls: its tool calls with files and commands.
        context: context of the main model, if reported.
        waste: avoidable tokens, if known.
        trees: trees of the runs of some tasks of an evaluation; None if they are not computed.
    """

    document: CaptureDocument
    tally: AccountTally
    steps: StepTable
    calls: CallFacts
    context: ContextSize | None = None
    waste: WasteTotals | None = None
    trees: TaskTrees | None = None

    @property
    def analysis(self) -> Analysis:
        return self.document.analysis

    @cached_property
    def span_ns(self) -> int:
        """Duration of the document; of a trace, from the first to the last moment of its steps. 0 if unknown."""
        span = trace_span_ns(self.steps) if self.document.format in TRACE_NAMES else 0
        return span or self.tally.span_ns or 0

    @cached_property
    def sessions_ns(self) -> int:
        """Duration of the document without the time in which no session of it went on. O(messages)."""
        columns, steps, stop = self.analysis.capture.columns, self.steps, len(self.analysis)
        begun, ended = steps.starts_ns != NO_TIME, steps.stops_ns != NO_TIME
        times = np.concatenate((columns["time_ns"][:stop], steps.starts_ns[begun], steps.stops_ns[ended]))
        rows = np.concatenate((np.arange(stop), steps.rows[begun], steps.rows[ended]))
        # Files of some programs do not name their session.
        spaces = columns["space"][rows].astype(np.int64) << 32 | columns["source"][rows].astype(np.int64)
        known = times != NO_TIME
        _, sessions = np.unique(spaces[known], return_inverse=True)
        if not len(sessions) or not sessions.any():
            return self.span_ns
        count = int(sessions.max()) + 1
        first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
        np.minimum.at(first, sessions, times[known])
        np.maximum.at(last, sessions, times[known])
        return min(self.span_ns, int(union_lengths(np.zeros(count, np.int64), first, last, 1)[0]))

    @cached_property
    def totals(self) -> ToolCalls:
        """Numbers of tool calls, as in the summary."""
        return tool_calls(self.analysis)

    @cached_property
    def place_of(self) -> dict[int, int]:
        """Index in `calls` by request."""
        return {call.row: place for place, call in enumerate(self.calls.calls)}

    def call_name(self, call: CallFact) -> Words:
        """Returns a short name of a call as a link: "Edit settings.go +8", or its command."""
        link = Link(CONVERSATION, message=call.row)
        if call.command:
            return Words(safe_line(call.command, _COMMAND), mono=True, link=link)
        tool = safe_line(call.tool or "a tool", _NAME)
        if not call.touches:
            return Words(tool, mono=True, link=link)
        touch = call.touches[0]
        counts = "" if touch.kind is TouchKind.READ else line_counts(touch.added, touch.removed)
        more = f" and {len(call.touches) - 1} more" if len(call.touches) > 1 else ""
        words = " ".join(filter(None, (tool, file_name(touch.path), counts)))
        return Words(f"{words}{more}", mono=True, link=link)

    def method_name(self, message: int) -> str:
        """Returns the method of a request, safe to show."""
        code = int(self.analysis.correlation.columns["method"][message])
        return safe_line(self.analysis.capture.strings[code], _NAME)

    def message_name(self, message: int) -> Words:
        """Returns a short name of a message: its call's, or its number."""
        asked = int(self.analysis.correlation.columns["cause"][message])
        place = self.place_of.get(asked) if asked != NO_ROW else None
        if place is not None:
            name = self.call_name(self.calls.calls[place])
            return Words(name.text, mono=True, link=Link(CONVERSATION, message=message))
        return Words(formats.message_number(message), link=Link(CONVERSATION, message=message))

    def reason_of(self, call: CallFact) -> str:
        """Returns the line of a failed call's answer that tells most; "" without a text."""
        if call.answer == NO_ROW:
            return ""
        text = _EXIT_CODE.sub("", text_of(self.document.capture, call.answer), count=1)
        if (labelled := labelled_output(text)) is not None:
            last = labelled.output.rstrip().rpartition("\n")[2]
            text = labelled.error or last or f"exit code {labelled.code}"
        lines = [line.strip() for line in text.splitlines()[:_MOST_LINES] if any(map(str.isalnum, line))]
        # A line with a place in a file tells more than that of a task runner.
        telling = next(
            (line for matches in (_PLACED, _TELLING) for line in lines if matches.search(line)),
            lines[0] if lines else "",
        )
        return excerpt(telling, _REASON)

    def took_ns(self, call: CallFact) -> int | None:
        """Returns the time until the answer of a call, if known."""
        return None if call.answer == NO_ROW else answer_latency_ns(self.analysis, call.answer)


def file_name(path: str) -> str:
    """Returns the last part of a path, safe to show."""
    return safe_line(path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path, _NAME)


def file_names(files: list[FileFact]) -> list[str]:
    """Returns names of files; of files with equal names, with their folder."""
    names = [file_name(file.path) for file in files]
    return [
        name if names.count(name) == 1 else safe_line("/".join(file.path.replace("\\", "/").split("/")[-2:]), _NAME)
        for name, file in zip(names, files, strict=True)
    ]  # fmt: skip


def line_counts(added: int, removed: int) -> str:
    """Formats added and removed lines, signed, as "+12" and the removed ones behind."""
    words = [f"+{added:,}"] if added or not removed else []
    return " ".join([*words, f"\N{MINUS SIGN}{removed:,}"] if removed else words)


def number_link(message: int) -> Words:
    """Returns the number of a message as a link."""
    return Words(formats.message_number(message), link=Link(CONVERSATION, message=message))


def joined(parts: list[list[Words]], between: str = " · ") -> tuple[Words, ...]:
    """Joins groups of words with a separator."""
    found: list[Words] = []
    for place, part in enumerate(parts):
        found += [Words(between, "quiet")] if place else []
        found += part
    return tuple(found)
