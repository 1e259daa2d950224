"""Declares the MCP tools: name, pydantic arguments and JSON result of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from inspector.analysis.findings import Severity
from inspector.analysis.views.many_runs.run_chain import RunChain
from inspector.base.slices import run_to_end
from inspector.engine.comparing import IgnoreError, compared
from inspector.engine.request import RequestError, rows_from
from inspector.engine.requests.context_lists import ListContexts
from inspector.engine.requests.finding_lists import GroupFindings, ListFindings
from inspector.engine.requests.log_facts import DescribeLog
from inspector.engine.requests.model_contexts import ContextView, ListModelContext, ModelContextHead
from inspector.engine.requests.overview import ShowOverview
from inspector.engine.requests.rows import NoteOnFilter
from inspector.engine.requests.stories import ListMessages, TellChain, TellMessage
from inspector.engine.requests.summaries import SummarizeLog, SumTokens
from inspector.engine.requests.waste import ListWaste
from inspector.filters import FilterError
from inspector.mcp_server.bounds import MOST_CHARACTERS, bounded, page
from inspector.mcp_server.captures import Captures
from inspector.present.many_runs import answer_about, as_json, by_task
from inspector.present.overview.cards import overview_json
from inspector.present.run_chains import ChainQuestion, read_chains


class _Arguments(BaseModel):
    # A misspelled argument must be an error: an agent would take the unfiltered answer for the filtered one.
    model_config = ConfigDict(extra="forbid")


class OfCapture(_Arguments):
    """Arguments of tools on a whole log."""

    capture: Annotated[
        str | None,
        Field(
            description="Name listed by `captures`; `session:ID` for a session of a coding agent, `last` for the "
            "newest. Optional if the server was started for one file."
        ),
    ] = None


class PageOfCapture(OfCapture):
    """Arguments of tools with paged results."""

    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of rows.")] = 50
    offset: Annotated[int, Field(ge=0, description="`next` of the previous page.")] = 0


class OfMessage(OfCapture):
    """Arguments of tools on one message."""

    no: Annotated[int, Field(ge=1, description="Number of the message, as listed.")]


class CapturesArguments(_Arguments):
    """Arguments of `captures`."""

    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of rows.")] = 50
    offset: Annotated[int, Field(ge=0, description="`next` of the previous page.")] = 0


class ListArguments(PageOfCapture):
    """Arguments of `list`."""

    filter: Annotated[
        str, Field(description='A display filter, such as `kind like "mcp/request:tools/call:*" && from == "agent"`.')
    ] = ""
    fields: Annotated[
        list[str], Field(min_length=1, max_length=20, description="Fields of each message, `payload.<path>` included.")
    ] = ["no", "time", "from", "to", "kind", "context", "info"]


class CheckArguments(PageOfCapture):
    """Arguments of `check`."""

    at_least: Annotated[Literal["note", "warning", "error"], Field(description="Lowest severity.")] = "note"


class ModelSeesArguments(PageOfCapture):
    """Arguments of `model_sees`."""

    participant: Annotated[
        str | None,
        Field(description="Participant, or words of its conversation. Default: that of `at`, or the busiest."),
    ] = None
    at: Annotated[
        int | None, Field(ge=1, description="Show the context after this message. Default: the last one.")
    ] = None
    out: Annotated[bool, Field(description="Also list entries outside the context.")] = False


def _captures(captures: Captures, asked: CapturesArguments) -> dict[str, Any]:
    return page((one.as_json() for one in rows_from(captures.listed(), asked.offset, None)), asked.offset, asked.limit)


def _summary(captures: Captures, asked: OfCapture) -> dict[str, Any]:
    log = captures.log(asked.capture)
    figures = log.answer_to(SummarizeLog(counted=True)).figures
    return bounded(figures | {"overview": overview_json(log.answer_to(ShowOverview()))})


def _list(captures: Captures, asked: ListArguments) -> dict[str, Any]:
    log = captures.log(asked.capture)
    note = log.answer_to(NoteOnFilter(asked.filter))
    # Counting costs more than opening a log, so only answers with tokens wait for it.
    request = ListMessages(tuple(asked.fields), asked.filter, asked.offset, asked.limit + 1, counted=True)
    return page(log.rows(request), asked.offset, asked.limit) | ({} if note is None else {"note": note})


def _show(captures: Captures, asked: OfMessage) -> dict[str, Any]:
    return bounded(captures.log(asked.capture).answer_to(TellMessage(asked.no - 1)).facts)


def _chain(captures: Captures, asked: OfMessage) -> dict[str, Any]:
    return bounded(captures.log(asked.capture).answer_to(TellChain(asked.no - 1)))


def _check(captures: Captures, asked: CheckArguments) -> dict[str, Any]:
    log = captures.log(asked.capture)
    counts: dict[str, int] = {}
    for group in log.answer_to(GroupFindings()):
        counts[group.code] = counts.get(group.code, 0) + group.count
    request = ListFindings(Severity[asked.at_least.upper()], asked.offset, asked.limit + 1)
    told = {"counts": counts, "unchecked": log.answer_to(DescribeLog()).unchecked}
    return {**told, **page(log.rows(request), asked.offset, asked.limit)}


def _contexts(captures: Captures, asked: PageOfCapture) -> dict[str, Any]:
    request = ListContexts(offset=asked.offset, limit=asked.limit + 1)
    return page(captures.log(asked.capture).rows(request), asked.offset, asked.limit)


def _model_sees(captures: Captures, asked: ModelSeesArguments) -> dict[str, Any]:
    view = ContextView(asked.participant, None if asked.at is None else asked.at - 1)
    request = ListModelContext(view, out=asked.out, offset=asked.offset, limit=asked.limit + 1)
    parts = captures.log(asked.capture).parts(request)
    head = next(parts)
    assert isinstance(head, ModelContextHead)
    entries = page((row for part in parts if isinstance(part, list) for row in part), asked.offset, asked.limit)
    return {**bounded(head.figures, MOST_CHARACTERS // 4), "entries": entries}


def _waste(captures: Captures, asked: PageOfCapture) -> dict[str, Any]:
    # One more than the page: `page` needs it to tell that there is a next page.
    answer = captures.log(asked.capture).answer_to(ListWaste(None, asked.offset, asked.limit + 1)).figures
    return {**answer, "wastes": page(answer["wastes"], asked.offset, asked.limit)}


def _tokens(captures: Captures, asked: OfCapture) -> dict[str, Any]:
    return bounded(captures.log(asked.capture).answer_to(SumTokens()))


class CompareArguments(_Arguments):
    """Arguments of `compare_runs`."""

    a: Annotated[str, Field(description="Name of a capture, as listed by `captures`.")]
    b: Annotated[str, Field(description="Name of the other capture.")]
    ignore: Annotated[
        list[str],
        Field(max_length=20, description="Fields of arguments and results, or expressions, that do not count."),
    ] = []
    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of differences.")] = 50


def _compare_runs(captures: Captures, asked: CompareArguments) -> dict[str, Any]:
    one, other = captures.log(asked.a), captures.log(asked.b)
    try:
        answer = compared(one.document, other.document, asked.ignore)
    except IgnoreError as error:
        raise RequestError(str(error)) from None
    return bounded(answer.as_json((asked.a, asked.b), asked.limit))


class CompareManyArguments(_Arguments):
    """Arguments of `compare_many_runs`."""

    captures: Annotated[
        list[str],
        Field(
            max_length=200,
            description="Names of captures, as listed by `captures`; each run of an evaluation "
            "counts. Optional if the server was started for one file.",
        ),
    ] = []
    by: Annotated[
        str, Field(description="Field or display filter that groups the runs. Default: passed and failed.")
    ] = ""
    task: Annotated[str | None, Field(description="Only runs of this task of an evaluation.")] = None
    ignore: Annotated[
        list[str],
        Field(max_length=20, description="Fields of arguments and results, or expressions, that do not count."),
    ] = []
    limit: Annotated[int, Field(ge=1, le=200, description="Maximum number of rows and facts for each task.")] = 30


def _compare_many_runs(captures: Captures, asked: CompareManyArguments) -> dict[str, Any]:
    runs: list[RunChain] = []
    by = asked.by.strip()
    try:
        for name in asked.captures or [None]:
            document = captures.log(name).document
            question = ChainQuestion(by, "", asked.ignore, name or document.name)
            runs += run_to_end(read_chains(document, question))
    except (IgnoreError, FilterError) as error:
        raise RequestError(str(error)) from None
    tasks = [(name, some) for name, some in by_task(runs) if asked.task in (None, name)]
    answers = [run_to_end(answer_about(name, some)) for name, some in tasks]
    return bounded(as_json(answers, [], by, asked.limit))


A = TypeVar("A", bound=_Arguments)


@dataclass(frozen=True, slots=True)
class Tool:
    """One MCP tool.

    Attributes:
        name, description: texts for the agent.
        arguments: pydantic model; its schema is published.
        answer: function that returns the result as JSON.
    """

    name: str
    description: str
    arguments: type[_Arguments]
    answer: Callable[[Captures, Any], dict[str, Any]]


def _tool(
    name: str, description: str, arguments: type[A], answer: Callable[[Captures, A], dict[str, Any]]
) -> Tool:  # fmt: skip
    return Tool(name, description, arguments, answer)


TOOLS = (
    _tool(
        "captures", "List the available logs and sessions, newest first.",
        CapturesArguments, _captures,
    ),
    _tool(
        "summary",
        "Overview of a log: participants, tool calls and failures, findings, open requests, "
        "usage, and an account in sentences. Start here.",
        OfCapture, _summary,
    ),
    _tool("list", "List messages that match a display filter, with chosen fields.", ListArguments, _list),
    _tool("show", "Show one message: fields, envelope, links, lifecycle of its result, findings.", OfMessage, _show),
    _tool(
        "chain", "Show the causal chain of a message, causes before effects.",
        OfMessage, _chain,
    ),
    _tool("check", "List findings, most severe first.", CheckArguments, _check),
    _tool("contexts", "Show the tree of contexts and sub-agents, with states and counts.", PageOfCapture, _contexts),
    _tool(
        "model_sees", "Show a model's context at a message: each entry, its tokens, the reason why it is in or out.",
        ModelSeesArguments, _model_sees,
    ),
    _tool(
        "waste", "List avoidable tokens: unused results, repeated calls, tools that were never called.",
        PageOfCapture, _waste,
    ),
    _tool(
        "tokens", "Count tokens by participant, tool, context and kind: estimates, and reported usage.",
        OfCapture, _tokens,
    ),
    _tool(
        "compare_runs",
        "Compare two runs: the first act that differs, the first difference in what its model received before, and "
        "all differences.",
        CompareArguments, _compare_runs,
    ),
    _tool(
        "compare_many_runs",
        "Compare many runs of a task: the tree of their steps, facts that part passed from failed runs with counts "
        "and a test, outliers, flaky calls.",
        CompareManyArguments, _compare_many_runs,
    ),
)  # fmt: skip

TOOL_BY_NAME = {tool.name: tool for tool in TOOLS}
