"""Sentences of the account: one method for each section of What happened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.findings import Severity
from inspector.analysis.findings.kinds_and_lines import UNREADABLE
from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED
from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.account import DISCOVERY, MAX_GROUPS, AccountTally, Deed, Groups, Outcome
from inspector.analysis.views.latency.server_tools import changed_tools
from inspector.analysis.views.steps.step_columns import StepTable
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.summaries.lifecycles import pending_results
from inspector.analysis.views.summaries.participant_queries import shown_numbers
from inspector.document.document import CaptureDocument
from inspector.filters.sentences import info
from inspector.filters.strings import quote
from inspector.formats.table import TRACE_NAMES
from inspector.present import formats
from inspector.present.findings import Problems, failed_filter, problems_of
from inspector.present.lifecycle_facts import listed_consumers
from inspector.present.longest_waits import longest_waiting
from inspector.present.subject import recipients, sender_of, text_of
from inspector.present.wait_words import asker_name, describe_waits
from inspector.present.wire_text import excerpt, safe_line
from inspector.protocol import kinds, msp
from inspector.protocol.context_places import START_KIND
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

Tone = Literal["plain", "quiet", "bad", "warn"]

_QUOTED = 90
_MOST_LISTED = 100  # participants that wait behind the described ones are looked for among these
_MOST_LOOKED_INTO = 32
"""Limit of user messages read to find typed ones."""
_REMINDERS = re.compile(r"\A\s*(?:<system-reminder>.*?(?:</system-reminder>\s*|\Z))+", re.DOTALL)
"""Clients of models send these in the user's name."""
_LOOKED_AT = 1 << 16  # messages searched for the user's first ones
_MOST_ASKED, _MOST_CALLERS, _MOST_TOOLS, _MOST_WAITS, _MOST_KINDS = 3, 3, 3, 3, 3
_MOST_PENDING = 3
_MOST_ERRORS = 2
_MOST_REJECTED = 3
WAITING_NOW = "Waiting now"
_NAME = 60
WAITED_FROM_NS = 1_000_000_000
_SILENT_FROM_NS = 2_000_000_000
_CALLS = 'kind == "mcp/request" && method == "tools/call"'
# Failed calls and errors of the gateway have sentences of their own.
_FAILURES = 'error && kind != "mcp/response" && kind != "system/error" && !repeats'
_REQUESTS = 'kind == "mcp/request"'
_ALL_REQUESTS = 'kind in {"mcp/request", "jsonrpc/request"}'
_NAME_OF_KEY = 0xFFFFFFFF
WAITING_STATES = (MessageState.WAITING, MessageState.UNANSWERED)
_NONE_ENDED = {"still running": "none concluded", "still open": "none closed"}
_FINISHED_WORDS = {"still running": "not concluded", "still open": "not closed", "open": "left open"}
_CONTEXT_ENDS: dict[int, str] = {
    MessageState.CONCLUDED: "concluded", MessageState.CANCELLED: "cancelled", MessageState.CLOSED: "closed",
    MessageState.RUNNING: "still running", MessageState.OPEN: "still open",
}  # fmt: skip
_PROPOSAL_WORDS: dict[int, str] = {
    MessageState.FULFILLED: "fulfilled", MessageState.REJECTED: "rejected", MessageState.WITHDRAWN: "withdrawn",
    MessageState.WAITING: "open", MessageState.CANCELLED: "abandoned", Outcome.IN_VAIN: "abandoned by their recipients",
    Outcome.REFUSED: "refused",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AccountLine:
    """One sentence of the account.

    Attributes:
        about: topic in one word or two; "" continues the previous line's topic.
        text: the sentence.
        message: message that it leads to.
        filter: display filter that it leads to.
        panel: title of the panel that it leads to.
        tone: severity of the line.
    """

    about: str
    text: str
    message: int | None = None
    filter: str | None = None
    panel: str | None = None
    tone: Tone = "plain"


class AccountSentences:
    """Formats the figures of one document as sentences."""

    def __init__(self, document: CaptureDocument, tally: AccountTally) -> None:
        self.document = document
        self.analysis: Analysis = document.analysis
        self.tally = tally
        self.waiting = describe_waits(
            self.analysis, longest_waiting(self.analysis, tally, _MOST_LISTED), most=_MOST_WAITS
        )

    def string_name(self, code: int) -> str:
        """Returns a string of the capture, safe to show."""
        capture = self.analysis.capture
        return safe_line(capture.shown_name(capture.strings[code]), _NAME) if code else ""

    def actor_name(self, code: int, deed: Deed = Deed.SAID) -> str:
        """Returns the sender's name; lines of MCP without one belong to a client."""
        return self.string_name(code) or ("the MCP client" if deed is Deed.CALL and self._is_piped else "somebody")

    @property
    def _requests(self) -> str:
        """The filter for requests, of every protocol in the log."""
        return _REQUESTS if self.analysis.capture.foreign_rpc.is_empty else _ALL_REQUESTS

    @cached_property
    def _is_piped(self) -> bool:
        """Returns True if calls are lines of MCP without an envelope."""
        first = self.tally.first("call")
        return bool(len(first)) and bool(int(self.analysis.capture.columns["flags"][first[0]]) & Flag.RPC.value)

    def from_filter(self, code: int) -> str:
        """Returns a filter for messages of a sender."""
        return f"from == {quote(self.analysis.capture.strings[code])}" if code else "!from"

    # Sections

    def prompt_lines(self) -> list[AccountLine]:
        """Returns the user's prompts, or the first message."""
        tally, total = self.tally, self.tally.count(Deed.SAID)
        # The user of a model asks in prompts; in a space, people ask in chats.
        asked = self._prompts() or [row for row in tally.first("asked").tolist() if not self._is_reminder(row)]
        lines = [AccountLine("Asked", self._quote_message(row), message=row) for row in asked[:_MOST_ASKED]]
        if not asked and total:
            row = int(tally.first("said")[0])
            lines = [AccountLine("First message", self._quote_message(row), message=row)]
        if total > len(lines):
            said = self._sender_counts(tally.groups(Deed.SAID))
            lines.append(AccountLine("Said", f"{formats.count_of(total, 'chat')}{said}", filter='kind == "chat"'))
        return lines

    def _prompts(self) -> list[int]:
        """Returns the first prompts of the participant "user", the usual name of a model's user."""
        capture = self.analysis.capture
        user, chat = (capture.strings.find(name) for name in ("user", "chat"))
        if not user or not chat:
            return []
        head = slice(min(len(self.analysis), _LOOKED_AT))
        said = (capture.columns["sender"][head] == user) & (capture.columns["kind"][head] == chat)
        rows = np.flatnonzero(said)
        # Model requests repeat the whole conversation; only the first occurrence was typed.
        candidates = rows[capture.repeated_messages(rows)[0] == NO_ROW][:_MOST_LOOKED_INTO].tolist()
        return [row for row in candidates if not self._is_reminder(row)][:_MOST_ASKED]

    def _is_reminder(self, row: int) -> bool:
        return bool(text_of(self.analysis.capture, row)) and not self._typed_text(row)

    def _typed_text(self, row: int) -> str:
        """Returns the text of a user message without leading reminders of a program; "" if it has no more."""
        return _REMINDERS.sub("", text_of(self.analysis.capture, row))

    def _quote_message(self, row: int) -> str:
        capture = self.analysis.capture
        to = capture.recipients(row)
        whom = f" to {recipients(capture, to)}" if to else ""
        text = excerpt(self._typed_text(row) or text_of(capture, row), _QUOTED)
        return f"{sender_of(capture, row)}{whom}: “{text}”" if text else f"{sender_of(capture, row)}{whom}, no text"

    def _sender_counts(self, groups: Groups) -> str:
        """Formats counts by sender: ": human 3, mew 3"."""
        senders, counts = groups.by_sender()
        # A message without a sender is of no participant.
        named = senders[senders != 0]
        if len(senders) == 1 or len(named) > _MOST_CALLERS:
            return f", by {self._actors(named if len(named) else senders)}"
        shares = zip(senders.tolist(), counts.tolist(), strict=True)
        return ": " + ", ".join(f"{self.actor_name(code)} {count:,}" for code, count in shares)

    def _actors(self, senders: NDArray[np.int64]) -> str:
        """Names a single actor, or counts them."""
        many = f"{len(senders):,}{'' if len(senders) < MAX_GROUPS else ' or more'} participants"
        return self.actor_name(int(senders[0])) if len(senders) == 1 else many

    def call_lines(self) -> list[AccountLine]:
        """Counts calls by caller and tool."""
        groups = self.tally.groups(Deed.CALL)
        senders, counts = groups.by_sender()
        most = zip(senders[:_MOST_CALLERS].tolist(), counts[:_MOST_CALLERS].tolist(), strict=True)
        lines = [
            AccountLine("Done", self._calls_of(code, count, groups), filter=f"{_CALLS} && {self.from_filter(code)}")
            for code, count in most
        ]
        total = self.tally.count(Deed.CALL)
        if len(senders) > _MOST_CALLERS:
            # From the total, since groups are limited in number.
            rest = total - int(counts[:_MOST_CALLERS].sum())
            many = len(senders) >= MAX_GROUPS
            others = f"{len(senders) - _MOST_CALLERS:,}{' or more' if many else ''}"
            who = f"{others} {'other' if others == '1' else 'others'}"
            words = f"{who} made {formats.count_of(rest, 'call')}, {total:,} in total"
            lines.append(AccountLine("Done", words, filter=_CALLS))
        return lines

    def _calls_of(self, sender: int, count: int, groups: Groups) -> str:
        codes, counts = groups.for_sender(sender).by_subject()
        named = zip(codes[:_MOST_TOOLS].tolist(), counts[:_MOST_TOOLS].tolist(), strict=True)
        tools = [(self.string_name(code) or "no name", times) for code, times in named]
        who, server = _capitalize_the(self.actor_name(sender, Deed.CALL)), self._one_recipient(sender)
        # Agents' files name no server; "tools" stands for all of them.
        of = f" of {server}" if server and server != "tools" else ""
        if len(tools) == 1:
            return f"{who} called {tools[0][0]}{of} {_times(count)}"
        each = ", ".join(f"{tool} {times:,}" for tool, times in tools)
        more = f" and {len(codes) - _MOST_TOOLS:,} more" if len(codes) > _MOST_TOOLS else ""
        return f"{who} called tools{of} {_times(count)}: {each}{more}"

    def _one_recipient(self, sender: int) -> str:
        """Returns the recipient of a sender's calls if it is always the same."""
        sets = self.tally.recipients().for_sender(sender).what
        to = self.analysis.capture.to_sets[int(sets[0])] if len(sets) == 1 else ()
        return safe_line(self.analysis.capture.shown_name(to[0]), _NAME) if len(to) == 1 else ""

    def reasoning_lines(self) -> list[AccountLine]:
        """Counts reasoning and opened contexts with their ends."""
        lines: list[AccountLine] = []
        if count := self.tally.count(Deed.REASONING):
            who = self._actors(self.tally.groups(Deed.REASONING).by_sender()[0])
            words = f"{who} reasoned {_times(count)}{self._end_counts(Deed.REASONING, _CONTEXT_ENDS)}"
            lines.append(AccountLine("Done", words, filter='kind == "reasoning/start"'))
        lines += self._unstarted_lines()
        if count := self.tally.count(Deed.CONTEXT):
            opened = formats.count_of(count, "context was", "contexts were")
            words = f"{opened} opened{self._end_counts(Deed.CONTEXT, _CONTEXT_ENDS)}"
            lines.append(
                AccountLine("Done", words, filter=f"kind in {{{quote(START_KIND)}, {quote(msp.SUBSESSION_OPENED)}}}")
            )
        return lines

    def _unstarted_lines(self) -> list[AccountLine]:
        """Counts contexts with reasoning that no message started, as in drafts, with their ends."""
        contexts = self.analysis.contexts
        nodes = contexts.contexts_without_start()
        if not len(nodes):
            return []
        end = as_numpy(contexts.facts.end)[nodes]
        counts = {
            "concluded": np.count_nonzero(end == CONCLUDED), "cancelled": np.count_nonzero(end == CANCELLED),
            self._state_word("still running"): np.count_nonzero(end == 0),
        }  # fmt: skip
        alone = len(nodes) == 1
        told = ", ".join(f"{'' if alone else f'{count:,} '}{word}" for word, count in counts.items() if count)
        thinkers = self.tally.groups(Deed.THOUGHT).by_sender()[0]
        where = formats.count_of(len(nodes), "context")
        if len(thinkers) and not self.tally.count(Deed.REASONING):
            words = f"{_capitalize_the(self._actors(thinkers))} reasoned in {where} without a reasoning/start: {told}"
        else:
            holds = "holds" if alone else "hold"
            words = f"{where} {holds} reasoning without a reasoning/start: {told}"
        return [AccountLine("Done", words, message=int(as_numpy(contexts.first_row)[nodes].min()))]

    def _end_counts(self, deed: Deed, ends: dict[int, str]) -> str:
        counted = [(word, self.tally.count(deed, state)) for state, word in ends.items()]
        alone, total = self.tally.count(deed) == 1, self.tally.count(deed)
        unended = next((word for word, count in counted if count == total and not alone), "")
        # Once no messages arrive, "still running" would be wrong.
        if not self.document.is_arriving and unended in _NONE_ENDED:
            return f", {_NONE_ENDED[unended]}"
        told = [f"{'' if alone else f'{count:,} '}{self._state_word(word)}" for word, count in counted if count]
        return f": {', '.join(told)}" if told else ""

    def _state_word(self, word: str) -> str:
        """Adapts a word about an unfinished state to a capture without further messages."""
        return word if self.document.is_arriving else _FINISHED_WORDS.get(word, word)

    def proposal_lines(self) -> list[AccountLine]:
        """Counts proposals with their outcomes."""
        count = self.tally.count(Deed.PROPOSAL)
        if not count:
            return []
        who = self._actors(self.tally.groups(Deed.PROPOSAL).by_sender()[0])
        ends = self._end_counts(Deed.PROPOSAL, _PROPOSAL_WORDS)
        told = f"{_capitalize_the(who)} proposed {formats.count_of(count, 'call')}{ends}"
        lines = [AccountLine("Proposed", told, filter='kind == "mcp/proposal"')]
        rejected = self.tally.first("rejected").tolist()
        judges = self.tally.groups(Deed.REJECTION).by_sender()[0]
        for row in rejected[:_MOST_REJECTED]:
            what = self._called_at(row)
            told = (
                f"{_capitalize_the(self._actors(judges))} rejected {what}"
                if len(judges) == 1
                else f"{_capitalize_the(what)} was rejected"
            )
            lines.append(AccountLine("", told, message=row))
        return lines

    def _called_at(self, row: int) -> str:
        links = self.analysis.correlation.columns
        name = self.string_name(int(links["target"][row])) or self.string_name(int(links["method"][row]))
        if name or self.analysis.capture.string("kind", row) != kinds.PROPOSAL:
            return name or "a request"
        # A proposal without a name of its own is about the call that it names.
        asked = int(links["cause"][row])
        return "a request" if asked in (NO_ROW, row) else self._called_at(asked)

    def _asked_by(self, row: int) -> str:
        return f"{self._called_at(row)}, asked by {asker_name(self.analysis, row)}"

    def compaction_lines(self) -> list[AccountLine]:
        """Counts compactions of model contexts by participant."""
        count = self.tally.count(Deed.COMPACTION)
        if not count:
            return []
        senders, counts = self.tally.groups(Deed.COMPACTION).by_sender()
        whose = ", ".join(
            f"{self.string_name(int(code)) or 'somebody'} {_times(int(number))}"
            for code, number in zip(senders[:_MOST_CALLERS], counts[:_MOST_CALLERS], strict=True)
        )
        more = f" and {len(senders) - _MOST_CALLERS:,} more" if len(senders) > _MOST_CALLERS else ""
        text = 'kind == "participant/compact-done" && !repeats'
        first = int(self.tally.first("compaction")[0])
        return [_linked_line("Compacted", f"the context of {whose}{more}", first, text, count, "plain")]

    def failure_lines(self) -> list[AccountLine]:
        """Counts failed and refused messages: all as the status bar does, then by kind."""
        tally, capture = self.tally, self.analysis.capture
        deeds = (Deed.CALL, Deed.REQUEST, Deed.DISCOVERY)
        lines: list[AccountLine] = []
        failed = sum(tally.count(deed, MessageState.FAILED) for deed in deeds)
        if failed:
            first = int(tally.first("failed")[0])
            which = self._outcome_counts(deeds, MessageState.FAILED)
            # A single failure is named with its caller; several are counted by tool.
            told = self._asked_by(first) if failed == 1 else which
            text = f'{self._requests} && state == "failed" && answered'
            noun = "call" if failed == tally.count(Deed.CALL, MessageState.FAILED) else "request"
            words = f"{formats.count_of(failed, noun)} failed: {told}"
            lines.append(_linked_line("Failed", words, first, text, failed, "bad"))
        failures = tally.count(Deed.FAILURE)
        if failures:
            first = int(tally.first("failure")[0])
            said = self._quote_message(first)
            words = (
                f"{formats.count_of(failures, 'failure')} outside calls{', the first' if failures > 1 else ''}: {said}"
            )
            lines.append(_linked_line("Failed", words, first, _FAILURES, failures, "bad"))
        deeds = (Deed.CALL, Deed.REQUEST)
        declined = sum(tally.count(deed, MessageState.REJECTED) for deed in deeds)
        if declined:
            first = int(tally.first("declined")[0])
            outcomes = self._outcome_counts(deeds, MessageState.REJECTED)
            words = f"the user rejected {formats.count_of(declined, 'call')}: {outcomes}"
            text = f'{self._requests} && state == "rejected"'
            lines.append(_linked_line("Rejected", _capitalize_the(words), first, text, declined, "warn"))
        deeds = (Deed.CALL, Deed.REQUEST, Deed.DISCOVERY, Deed.PROPOSAL)
        refused = sum(tally.count(deed, Outcome.REFUSED) for deed in deeds)
        if refused:
            first = int(tally.first("refused")[0])
            told = self._asked_by(first) if refused == 1 else self._outcome_counts(deeds, Outcome.REFUSED)
            by = "server" if self.analysis.capture.flags_of(first) & Flag.RPC else "gateway"
            words = f"the {by} refused {formats.count_of(refused, 'message')}: {told}"
            lines.append(
                _linked_line("Refused", _capitalize_the(words), first, 'state == "failed" && !answered', refused, "bad")
            )
        errors = tally.count(Deed.ERROR)
        # Refusals are reported as errors too, and were counted above.
        if errors and not refused:
            words = f"{formats.count_of(errors, 'error')} reported by {self._errors_by()}{self._error_texts()}"
            lines.append(
                _linked_line("Errors", words, int(tally.first("error")[0]), 'kind == "system/error"', errors, "bad")
            )
        if len(lines) > 1 and capture.failed_count:
            words = f"{formats.count_of(capture.failed_count, 'failure')} in all"
            lines.insert(0, AccountLine("Failures", words, filter=failed_filter(capture), tone="bad"))
        return lines

    def crash_lines(self) -> list[AccountLine]:
        """Reports the crash of a tapped server, as its recorder wrote it."""
        count, first = self.tally.crashes, self.tally.first_crash
        if not count:
            return []
        told = safe_line(self.analysis.capture.records.reason(first) or "the server ended", _QUOTED).rstrip(".")
        words = f"{told[:1].upper()}{told[1:]}"
        if count > 1:
            words += f"; the first of {count:,} crashes"
        return [_linked_line("Ended", words, first, 'finding == "server-ended"', count, "bad")]

    def _error_texts(self) -> str:
        """Returns the different texts of the first errors: ": no space left; usage limit"; "" without texts."""
        rows = self.tally.first("error").tolist()
        texts = [info(self.analysis, row) or "" for row in rows]
        different = [excerpt(text, _QUOTED) for text in dict.fromkeys(texts) if text]
        more = ", and others" if len(different) > _MOST_ERRORS else ""
        return f": {'; '.join(different[:_MOST_ERRORS])}{more}" if different else ""

    def _errors_by(self) -> str:
        senders = self.tally.groups(Deed.ERROR).by_sender()[0]
        names = {self.analysis.capture.strings[code] for code in senders[:_MOST_CALLERS].tolist()}
        return "the gateway" if names <= GATEWAY_IDS else self._actors(senders)

    def _outcome_counts(self, deeds: Sequence[Deed], outcome: int) -> str:
        """Counts tools or methods with an outcome: "write_file 2, grep 1"."""
        found = [
            (int(count), self.string_name(int(code)) or "no name")
            for deed in deeds
            for code, count in zip(*self.tally.groups(deed).by_subject(outcome), strict=True)
        ]
        found.sort(key=lambda one: -one[0])
        more = f" and {len(found) - _MOST_TOOLS:,} more" if len(found) > _MOST_TOOLS else ""
        return ", ".join(f"{name} {count:,}" for count, name in found[:_MOST_TOOLS]) + more

    def tool_change_lines(self) -> list[AccountLine]:
        """Names tools with changed definitions."""
        changes = changed_tools(self.analysis)
        if not changes:
            return []
        tools = list(dict.fromkeys(safe_line(mask_text(change.tool), _NAME) for change in changes))
        more = f" and {len(tools) - _MOST_TOOLS:,} more" if len(tools) > _MOST_TOOLS else ""
        words = f"{formats.count_of(len(changes), 'tool definition')} changed: {', '.join(tools[:_MOST_TOOLS])}{more}"
        return [AccountLine("Tools", words, message=changes[-1].row)]

    def wait_lines(self) -> list[AccountLine]:
        """Lists waiting requests; discovery requests are counted apart."""
        about = WAITING_NOW if self.document.is_arriving else "Left open"
        tally = self.tally
        count = sum(tally.count(deed, *WAITING_STATES) for deed in (Deed.CALL, Deed.REQUEST, Deed.PROPOSAL))
        # An agent's file often ends during a call; that is no fault of the tool.
        ends = [one for one in self.waiting if one.is_of_agent and not self.document.is_arriving]
        lines = [AccountLine("At the end", _capitalize_the(one.at_the_end), message=one.message) for one in ends]
        lines += [
            AccountLine(
                "Unanswered" if one.went_on else about,
                _capitalize_the(one.sentence if self.document.is_arriving else one.sentence_at_end),
                message=one.message,
                tone="warn",
            )
            for one in self.waiting
            if one not in ends
        ]
        if count > len(lines):
            lines.append(AccountLine("", f"{count:,} waiting in total", filter="waiting", tone="warn"))
        quiet = tally.count(Deed.DISCOVERY, *WAITING_STATES)
        if quiet:
            groups = tally.groups(Deed.DISCOVERY)
            methods = groups.what[groups.outcomes[:, list(WAITING_STATES)].any(axis=1)]
            methods = [self.analysis.capture.strings[code] for code in np.unique(methods).tolist()]
            what = safe_line(methods[0], _NAME) if len(methods) == 1 else "other participants"
            words = f"{formats.count_of(quiet, 'question')} about {what} "
            words += ("waits" if quiet == 1 else "wait") if self.document.is_arriving else "had no answer"
            text = f"waiting && method in {{{', '.join(map(quote, methods or DISCOVERY))}}}"
            lines.append(_linked_line(about, words, int(tally.first("discovery")[0]), text, quiet, "quiet"))
        vain = sum(tally.count(deed, Outcome.IN_VAIN) for deed in (Deed.CALL, Deed.REQUEST, Deed.DISCOVERY))
        if vain:
            row = int(tally.first("in vain")[0])
            words = f"{formats.count_of(vain, 'request')} to participants who left without an answer"
            text = f'{self._requests} && !answered && !waiting && state in {{"waiting", "unanswered"}}'
            lines.append(_linked_line("Unanswered", words, row, text, vain, "quiet"))
        return lines

    def pause_lines(self) -> list[AccountLine]:
        """Reports the longest pause, lost connections and unreadable lines."""
        lines: list[AccountLine] = []
        found = self.tally.longest_silence()
        # Shorter pauses are normal: models take seconds to answer.
        if found is not None and found.ns >= _SILENT_FROM_NS:
            words = f"Longest pause {formats.rounded_duration(found.ns)}, before {formats.message_number(found.row)}"
            lines.append(AccountLine("Silence", words, message=found.row))
        if self.tally.gaps:
            words = f"the connection was lost {_times(self.tally.gaps)}: messages may be missing there"
            lines.append(AccountLine("Missing", _capitalize_the(words), message=self.tally.first_gap, tone="warn"))
        odd = self.document.analysis.findings.found
        if count := odd.count_of(UNREADABLE):
            words = f"{formats.count_of(count, 'line')} could not be read"
            first = int(odd.rows_of(UNREADABLE).min())
            lines.append(_linked_line("Unreadable", words, first, 'finding == "unreadable"', count, "bad"))
        return lines

    def kind_lines(self) -> list[AccountLine]:
        """Counts messages by kind, for a capture without other activity."""
        counts = np.bincount(self.analysis.capture.foreign_rpc.kind_codes(slice(len(self.analysis))))
        lines: list[AccountLine] = []
        for code in np.argsort(-counts, kind="stable")[:_MOST_KINDS].tolist():
            kind, count = self.analysis.capture.strings[code] if code else "", int(counts[code])
            if not count:
                break
            words = f"{count:,} of kind {safe_line(kind, _NAME)}" if kind else f"{count:,} without a readable kind"
            lines.append(AccountLine("Contains", words, filter=f"kind == {quote(kind)}"))
        return lines

    def collapse_lines(self) -> list[AccountLine]:
        """Counts collapsed and pending transient results."""
        totals = self.analysis.transients.totals()
        if not totals["transient"]:
            return []
        of = formats.count_of(totals["transient"], "transient result")
        words = f"{totals['collapsed']:,} of {of} collapsed to summaries" + (
            f", {totals['pending']:,} pending" if totals["pending"] else ""
        )
        return [AccountLine("Collapsed", words, filter='badge == "transient"'), *self._pending_lines()]

    def _pending_lines(self) -> list[AccountLine]:
        """Lists pending results with their wait and their possible consumers."""
        found, total = pending_results(self.analysis, _MOST_PENDING)
        lines: list[AccountLine] = []
        for one in found:
            tool = safe_line(one.tool or "an unknown tool", _NAME)
            waits = "" if one.waited_ns is None else f" for {formats.duration(one.waited_ns)}"
            by = f"; {listed_consumers(one.consumers)} can consume it" if one.consumers else "; no tool can consume it"
            lines.append(AccountLine("" if lines else "Pending", f"{tool} waits{waits}{by}", one.message))
        if total > len(found):
            more = formats.count_of(total - len(found), "more result")
            waiting = 'badge == "transient" && !collapsed.by'
            lines.append(AccountLine("", f"{more} pending", filter=waiting))
        return lines

    def problem_lines(self) -> list[AccountLine]:
        """Counts the findings of the checks."""
        found = problems_of(self.analysis.findings.found)
        if not found.messages:
            return []
        # Notes are no problems.
        counts = {**found.counts, Severity.NOTE: 0}
        words = f"{Problems(counts, found.messages).words} about {formats.count_of(found.messages, 'message')}"
        return [AccountLine("Problems", words, filter="finding.severity >= warning")]

    def head(self) -> str:
        """Returns the number of messages, participants, and the duration."""
        span = self.tally.span_ns
        if self.document.format in TRACE_NAMES:
            span = trace_span_ns(step_table(self.analysis)) or span
        return f"{self.counts()}{f' in {formats.rounded_duration(span)}' if span else ''}"

    def counts(self) -> str:
        """Returns the number of messages and participants."""
        stop = len(self.analysis)
        # Same count as in the tab and the status bar: structure rows of sessions are not messages.
        count = formats.count_of(stop - self.analysis.contexts.sessions.count_structure(slice(stop)), "message")
        # Same count as in the list of participants: each name once, over several conversations.
        keys = self.analysis.participants.all.keys_of(shown_numbers(self.analysis))
        people = len(np.unique(keys & _NAME_OF_KEY))
        return count + (f" of {formats.count_of(people, 'participant')}" if people else "")


def trace_span_ns(steps: StepTable) -> int:
    """Returns the duration of a trace, from the first to the last moment of its steps; 0 if unknown."""
    known = (steps.starts_ns != NO_TIME) & (steps.stops_ns != NO_TIME)
    return max(0, int(steps.stops_ns[known].max()) - int(steps.starts_ns[known].min())) if known.any() else 0


def _linked_line(about: str, text: str, message: int, filter_: str, count: int, tone: Tone) -> AccountLine:
    """Returns a line that leads to its only message, or to a filter for several."""
    if count == 1 and message != NO_ROW:
        return AccountLine(about, text, message=message, tone=tone)
    return AccountLine(about, text, filter=filter_, tone=tone)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _capitalize_the(text: str) -> str:
    """Capitalizes "the" at the start of a sentence; names of participants stay unchanged."""
    return f"T{text[1:]}" if text.startswith("the ") else text
