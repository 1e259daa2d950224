"""Declares the MCP tools: name, pydantic arguments and JSON result of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from inspector.analysis.findings import Severity
from inspector.analysis.views.model_context import ModelContext, Options, Reader, find_reader, readers
from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes, finding_entries
from inspector.document.token_summary import tokens_of
from inspector.export import matching
from inspector.filters import FilterError, compile_filter
from inspector.filters.naming import field_named
from inspector.mcp_server.bounds import MOST_CHARACTERS, bounded, page
from inspector.mcp_server.captures import Captures
from inspector.present.answers import (
    entry_answer,
    masked_tokens,
    message_answer,
    message_answers,
    model_context_answer,
    summary_answer,
    waste_answer,
    waste_of,
)
from inspector.protocol.secrets.masking import mask_secrets, mask_text


class AskedWronglyError(ValueError):
    """A call cannot be answered; the text is a sentence with the reason."""


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
    return page((one.as_json() for one in captures.listed()), asked.offset, asked.limit)


def _summary(captures: Captures, asked: OfCapture) -> dict[str, Any]:
    document = _with_tokens(captures.document(asked.capture))
    return bounded(summary_answer(document, document.name)[0])


def _list(captures: Captures, asked: ListArguments) -> dict[str, Any]:
    document = captures.document(asked.capture)
    try:
        filter_ = compile_filter(asked.filter)
        fields = [(name, field_named(name)) for name in dict.fromkeys(asked.fields)]
    except FilterError as error:
        raise AskedWronglyError(f"{error} (at character {error.position + 1})") from None
    # Counting costs more than opening a log, so only answers with tokens wait for it.
    if "tokens" in (*filter_.fields, *asked.fields):
        _with_tokens(document)
    note = {} if filter_.note is None else {"note": str(filter_.note)}
    return page(message_answers(document, fields, matching(document, filter_)), asked.offset, asked.limit) | note


def _show(captures: Captures, asked: OfMessage) -> dict[str, Any]:
    document = captures.document(asked.capture)
    return bounded(message_answer(document, _message(document, asked.no)))


_CHAIN_FIELDS = ("no", "time", "from", "to", "kind", "context", "info", "state")


def _chain(captures: Captures, asked: OfMessage) -> dict[str, Any]:
    document = captures.document(asked.capture)
    story = message_answer(document, _message(document, asked.no))
    fields = [(name, field_named(name)) for name in _CHAIN_FIELDS]
    rows = message_answers(document, fields, [step["no"] - 1 for step in story["chain"]])
    steps = [step | row for step, row in zip(story["chain"], rows, strict=True)]
    return bounded({"chain": steps, "likely": story["likely"]})


def _check(captures: Captures, asked: CheckArguments) -> dict[str, Any]:
    document = captures.document(asked.capture)
    least = Severity[asked.at_least.upper()]
    found = (mask_secrets(one) for one in finding_entries(document) if Severity[one["severity"].upper()] >= least)
    told = {"counts": document.analysis.findings.found.counts(), "unchecked": document.failed_checks}
    return {**told, **page(found, asked.offset, asked.limit)}


def _contexts(captures: Captures, asked: PageOfCapture) -> dict[str, Any]:
    document = captures.document(asked.capture)
    return page(map(mask_secrets, context_nodes(document)), asked.offset, asked.limit)


def _model_sees(captures: Captures, asked: ModelSeesArguments) -> dict[str, Any]:
    document = _with_tokens(captures.document(asked.capture))
    message = _message(document, len(document.capture) if asked.at is None else asked.at)
    reader = _reader(document, asked.participant, None if asked.at is None else message)
    context = ModelContext(document.analysis, reader, Options())
    moment = context.moment_at(message)
    entries = page(
        moment.entries(out=asked.out), asked.offset, asked.limit,
        lambda entry: mask_secrets(entry_answer(moment, entry)),
    )  # fmt: skip
    return {**bounded(model_context_answer(moment), MOST_CHARACTERS // 4), "entries": entries}


def _waste(captures: Captures, asked: PageOfCapture) -> dict[str, Any]:
    document = _with_tokens(captures.document(asked.capture))
    found = waste_of(document)
    # One more than the page: `page` needs it to tell that there is a next page.
    answer = waste_answer(found, found.wastes[: asked.offset + asked.limit + 1])
    return {**answer, "wastes": page(answer["wastes"], asked.offset, asked.limit)}


def _tokens(captures: Captures, asked: OfCapture) -> dict[str, Any]:
    document = _with_tokens(captures.document(asked.capture))
    usage = document.analysis.usage.total()
    reported = usage._asdict() if usage is not None else None
    return bounded({"estimated": masked_tokens(tokens_of(document)), "reported": reported})


def _with_tokens(document: CaptureDocument) -> CaptureDocument:
    if not document.analysis.tokens.done:
        document.count_tokens()
    return document


def _message(document: CaptureDocument, number: int) -> int:
    """Returns the index of a message.

    Raises:
        AskedWronglyError: if there is no such number.
    """
    if not 1 <= number <= len(document.capture):
        raise AskedWronglyError(f"There is no message {number}; there are 1 to {len(document.capture):,}.")
    return number - 1


def _reader(document: CaptureDocument, name: str | None, message: int | None) -> Reader:
    found = find_reader(document.analysis, name, message)
    if found is None:
        known = readers(document.analysis)
        titles = ", ".join(mask_text(reader.title) for reader in known[:20])
        shows = f"The capture has model contexts of: {titles}."
        raise AskedWronglyError(shows if known else "The capture has no model context.")
    return found


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
)  # fmt: skip

TOOL_BY_NAME = {tool.name: tool for tool in TOOLS}
