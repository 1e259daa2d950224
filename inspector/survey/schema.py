"""SURVEY_TABLES: all tables and columns of a survey; source of `docs/survey.md`.

Each row names its run: `run` is the same in all tables, and `path` is its log. Message numbers count from 1; times are
UTC. Tokens are estimates, except `usage_*`, which are reported.
"""

from __future__ import annotations

from inspector.filters.field import FieldType
from inspector.filters.run_fields import RUN_FACTS
from inspector.tables.columns import SqlType, TableColumn, TableShape

_T = SqlType
_RUN_TYPES = {FieldType.STRING: _T.TEXT, FieldType.NUMBER: _T.NUMBER, FieldType.BOOLEAN: _T.BOOLEAN}


_RUN = (
    TableColumn("run", _T.TEXT, "The run, the same in all tables; another one once the log or the program changed."),
    TableColumn("path", _T.TEXT, "Path of its log."),
)

RUNS = TableShape("runs", "A row for each run.", (
    *_RUN,
    TableColumn("format", _T.TEXT, "Format of its log, as `summary` names it."),
    TableColumn("title", _T.TEXT, "Title of its session, else the first prompt; absent for other logs."),
    *(TableColumn(one.name, _RUN_TYPES[one.type], one.help) for one in RUN_FACTS),
    TableColumn("files", _T.INTEGER, "Files it was read from."),
    TableColumn("size", _T.INTEGER, "Bytes of these."),
    TableColumn("modified", _T.INTEGER, "When they were changed last, nanoseconds since 1970."),
    TableColumn("digest", _T.TEXT, "Digest of their content."),
    TableColumn("version", _T.TEXT, "Version of the program that read them, and its options."),
    TableColumn("surveyed", _T.TIME, "When that was."),
    TableColumn("seconds", _T.NUMBER, "How long it took."),
    TableColumn("first", _T.TIME, "Time of its first message; absent where its times are no dates."),
    TableColumn("last", _T.TIME, "Time of its last message."),
    TableColumn("duration", _T.NUMBER, "Seconds from the first to the last."),
    TableColumn("messages", _T.INTEGER, "Messages."),
    TableColumn("records", _T.INTEGER, "Records."),
    TableColumn("unreadable", _T.INTEGER, "Records that could not be read."),
    TableColumn("participants", _T.INTEGER, "Its participants."),
    TableColumn("contexts", _T.INTEGER, "Contexts below main."),
    TableColumn("models", _T.TEXTS, "Models that were called."),
    TableColumn("model_calls", _T.INTEGER, "Calls of models that were reported."),
    TableColumn("tools", _T.TEXTS, "Tools that were called, the most frequent first."),
    TableColumn("tool_calls", _T.INTEGER, "Calls of tools, each once."),
    TableColumn("failed_calls", _T.INTEGER, "Of these, that failed."),
    TableColumn("unanswered_calls", _T.INTEGER, "Of these, without an answer."),
    TableColumn("first_failed", _T.INTEGER, "No. of the first call that failed."),
    TableColumn("findings", _T.INTEGER, "Findings."),
    TableColumn("errors", _T.INTEGER, "Of these, errors."),
    TableColumn("warnings", _T.INTEGER, "Of these, warnings."),
    TableColumn("worst", _T.TEXT, "The worst severity there is."),
    TableColumn("worst_no", _T.INTEGER, "No. of the first message of that."),
    TableColumn("tokens", _T.INTEGER, "Tokens of all messages, estimate."),
    TableColumn("wasted", _T.INTEGER, "Of these, that could have been spared."),
    TableColumn("wasted_no", _T.INTEGER, "No. of the message to look at first for that."),
    TableColumn("usage_input", _T.INTEGER, "Tokens models were given, as reported."),
    TableColumn("usage_output", _T.INTEGER, "Tokens they gave."),
    TableColumn("usage_cache_read", _T.INTEGER, "Tokens read from caches."),
    TableColumn("usage_cache_write", _T.INTEGER, "Tokens written to caches."),
    TableColumn("stated_cost", _T.NUMBER, "Dollars that the session itself states; absent without any."),
    TableColumn("cost", _T.NUMBER, "Dollars of these calls of models, by the prices in force; absent without any."),
    TableColumn("latency_p50", _T.NUMBER, "Milliseconds half of the calls of tools took at most."),
    TableColumn("latency_p95", _T.NUMBER, "And nineteen in twenty."),
    TableColumn("slowest_no", _T.INTEGER, "No. of the answer that took longest."),
))  # fmt: skip

FINDINGS = TableShape("findings", "A row for each finding, as `check` prints them.", (
    *_RUN,
    TableColumn("no", _T.INTEGER, "No. of the message it is about."),
    TableColumn("code", _T.TEXT, "Its code; [findings.md](findings.md) has all."),
    TableColumn("severity", _T.TEXT, "note, warning or error."),
    TableColumn("context", _T.TEXT, "Context of the message."),
    TableColumn("text", _T.TEXT, "The problem, in a sentence."),
))  # fmt: skip

TOOLS = TableShape("tools", "A row for each tool that was called.", (
    *_RUN,
    TableColumn("tool", _T.TEXT, "Its name; absent where calls name none."),
    TableColumn("calls", _T.INTEGER, "Calls, each once."),
    TableColumn("answered", _T.INTEGER, "Of these, with an answer."),
    TableColumn("failed", _T.INTEGER, "Of these, that failed."),
    TableColumn("unanswered", _T.INTEGER, "Without an answer."),
    TableColumn("first_no", _T.INTEGER, "No. of the first call."),
    TableColumn("first_failed", _T.INTEGER, "No. of the first that failed."),
    TableColumn("latency_p50", _T.NUMBER, "Milliseconds half of them took at most."),
    TableColumn("latency_p95", _T.NUMBER, "And nineteen in twenty."),
    TableColumn("longest", _T.NUMBER, "Milliseconds the slowest took."),
    TableColumn("slowest_no", _T.INTEGER, "No. of its answer."),
    TableColumn("tokens", _T.INTEGER, "Tokens of calls and answers, estimate."),
))  # fmt: skip

CONTEXTS = TableShape("contexts", "A row for each context below main.", (
    *_RUN,
    TableColumn("context", _T.TEXT, "Its path."),
    TableColumn("label", _T.TEXT, "Its name."),
    TableColumn("type", _T.TEXT, "Its declared type, or reasoning."),
    TableColumn("state", _T.TEXT, "active, idle, concluded or cancelled."),
    TableColumn("depth", _T.INTEGER, "Levels below main."),
    TableColumn("messages", _T.INTEGER, "Messages in it."),
    TableColumn("subtree_messages", _T.INTEGER, "And in all below it."),
    TableColumn("participants", _T.TEXTS, "Participants that sent messages in it."),
    TableColumn("first_no", _T.INTEGER, "No. of its first message."),
))  # fmt: skip

TOKENS = TableShape("tokens", "Tokens by participant, tool and kind of message, a row each.", (
    *_RUN,
    TableColumn("by", _T.TEXT, "participant, tool or kind."),
    TableColumn("name", _T.TEXT, "Name of the participant, tool or kind; absent if a message has none."),
    TableColumn("tokens", _T.INTEGER, "Tokens, estimate."),
))  # fmt: skip

WASTE = TableShape("waste", "A row for each case of wasted tokens, as `waste` prints them.", (
    *_RUN,
    TableColumn("no", _T.INTEGER, "No. of the message to look at first."),
    TableColumn("kind", _T.TEXT, "How they were wasted."),
    TableColumn("tokens", _T.INTEGER, "Avoidable tokens, an estimate."),
    TableColumn("sure", _T.BOOLEAN, "The traffic shows it; else it may have had its reason."),
    TableColumn("participant", _T.TEXT, "Owner of the context."),
    TableColumn("tool", _T.TEXT, "The source of the content."),
    TableColumn("text", _T.TEXT, "The case, in a sentence."),
))  # fmt: skip

SURVEYED = "'partial', 'unchecked'"
"""Kinds of failures, as SQL lists them, of logs that were surveyed nevertheless."""

FAILURES = TableShape("failures", "A row for each log that could not be surveyed, or not to its end.", (
    *_RUN,
    TableColumn("kind", _T.TEXT, "unreadable, unknown, empty, memory, worker; partial: the rest was surveyed; "
                "unchecked: checks ended by an error in this program."),
    TableColumn("text", _T.TEXT, "Why, in a sentence."),
    TableColumn("size", _T.INTEGER, "Bytes of its files."),
    TableColumn("modified", _T.INTEGER, "When they were changed last, nanoseconds since 1970."),
    TableColumn("digest", _T.TEXT, "Digest of their content; absent if they could not be read."),
    TableColumn("version", _T.TEXT, "Version of the program that tried, and its options."),
    TableColumn("surveyed", _T.TIME, "When that was."),
))  # fmt: skip

SURVEY_TABLES = (RUNS, FINDINGS, TOOLS, CONTEXTS, TOKENS, WASTE, FAILURES)
"""In the order of the documentation."""
