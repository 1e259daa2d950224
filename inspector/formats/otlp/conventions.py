"""Reads spans in all conventions: their role, model, usage, tool, arguments, result and error.

Sources: OpenTelemetry's semantic conventions for generative AI (now, 1.37 to 1.41, 1.27 to 1.36) and for MCP,
OpenInference, OpenLLMetry (traceloop), Google ADK, Vercel's AI SDK, Langfuse, MLflow, LangSmith. The first present name
wins (docs/transcripts.md, OpenTelemetry).
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Mapping
from typing import Any

import msgspec

from inspector.formats.entry_builders import decoded_object
from inspector.formats.otlp.spans import Span, SpanEvent
from inspector.protocol.derived_messages import ApiCall


class SpanRole(enum.Enum):
    """Class of a span."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"
    OTHER = "other"


_MODELS = frozenset(("chat", "generate_content", "text_completion", "completion"))
_AGENTS = frozenset(("invoke_agent", "create_agent", "invoke_workflow", "agent", "workflow"))
_TOOLS = frozenset(("execute_tool", "tool_call", "call_tool"))
_NO_CONVERSATIONS = frozenset(("embeddings", "retrieval", "execute_task", "rerank", "moderation"))
_OPENINFERENCE = {"LLM": SpanRole.MODEL, "TOOL": SpanRole.TOOL, "AGENT": SpanRole.AGENT}
_KINDS = (
    ("langfuse.observation.type", {"generation": SpanRole.MODEL, "tool": SpanRole.TOOL, "agent": SpanRole.AGENT}),
    (
        "mlflow.spanType",
        {"llm": SpanRole.MODEL, "chat_model": SpanRole.MODEL, "tool": SpanRole.TOOL, "agent": SpanRole.AGENT},
    ),
    ("langsmith.span.kind", {"llm": SpanRole.MODEL, "tool": SpanRole.TOOL}),
)
"""Attributes with the span's type in Langfuse, MLflow and LangSmith, if it is one of these."""
_VERCEL = "ai."
"""Prefix of the AI SDK's operations: `ai.generateText`, within it `ai.generateText.doGenerate` and `ai.toolCall`."""
_VERCEL_TOOL, _VERCEL_EMBEDS = "ai.toolCall", ("ai.embed", "ai.rerank")
_MOST = 1 << 40


def role_of(span: Span) -> SpanRole:
    """Returns the class of a span by the first matching convention."""
    if span.is_log:
        return SpanRole.OTHER
    at = span.attributes
    # The most specific conventions first; an attribute of a model alone is weak evidence.
    kind = at.get("openinference.span.kind")
    if isinstance(kind, str):
        return _OPENINFERENCE.get(kind.upper(), SpanRole.OTHER)
    for key, roles in _KINDS:
        sort = at.get(key)
        if isinstance(sort, str) and (role := roles.get(sort.strip('"').lower())) is not None:
            return role
    operation = at.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        known = _role_of_operation(operation)
        if known is not None:
            return known
    operated = at.get("ai.operationId")
    if isinstance(operated, str) and operated.startswith(_VERCEL):
        calls_model = not operated.startswith(_VERCEL_EMBEDS)
        return SpanRole.TOOL if operated == _VERCEL_TOOL else SpanRole.MODEL if calls_model else SpanRole.OTHER
    if at.get("llm.request.type") in ("chat", "completion"):
        return SpanRole.MODEL
    sort = at.get("traceloop.span.kind")
    if sort in ("tool", "agent", "workflow"):
        return SpanRole.TOOL if sort == "tool" else SpanRole.AGENT
    if at.get("mcp.method.name") == "tools/call" or "gen_ai.tool.name" in at:
        return SpanRole.TOOL
    # A span may name the model without calling it.
    if "gen_ai.request.model" in at or "gen_ai.response.model" in at:
        unknown = isinstance(operation, str) and operation
        return SpanRole.MODEL if not unknown or reports_usage(span) else SpanRole.OTHER
    return SpanRole.AGENT if "gen_ai.agent.name" in at else SpanRole.OTHER


def _role_of_operation(operation: str) -> SpanRole | None:
    """Returns the class of a semantic convention's operation, if known."""
    if operation in _MODELS:
        return SpanRole.MODEL
    if operation in _TOOLS:
        return SpanRole.TOOL
    if operation in _AGENTS:
        return SpanRole.AGENT
    return SpanRole.OTHER if operation in _NO_CONVERSATIONS else None


def agent_of(span: Span) -> str | None:
    """Returns the name of a span's agent."""
    at = span.attributes
    named = _first(at, "gen_ai.agent.name", "agent.name", "gen_ai.workflow.name")
    if named:
        return named
    if role_of(span) is not SpanRole.AGENT:
        return None
    return _first(at, "graph.node.id", "traceloop.entity.name") or span.name or None


def service_of(span: Span) -> str:
    """Returns the name of the reporting service."""
    return _first(span.resource, "service.name") or "service"


def model_of(span: Span) -> str | None:
    """Returns the model that answered, else the requested one."""
    found = _first(
        span.attributes, "gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "llm.model_name",
        "langfuse.observation.model.name", "mlflow.llm.model", "ai.model.id",
    )  # fmt: skip
    if found is None:
        found = _first(_object(span.attributes.get("mlflow.spanInputs")), "model")
    found = found.strip('"') if found is not None else None
    return found if found != "unknown" else None


def conversation_of(span: Span) -> str | None:
    """Returns the conversation of a span, across traces."""
    keys = (
        "gen_ai.conversation.id",
        "session.id",
        "traceloop.association.properties.session_id",
        "langfuse.session.id",
        "ai.telemetry.metadata.sessionId",
        "langsmith.metadata.session_id",
    )
    return _first(span.attributes, *keys)


_INPUT = (
    "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.inputTokens",
    "ai.usage.promptTokens",
)  # fmt: skip
_OUTPUT = (
    "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
    "ai.usage.outputTokens", "ai.usage.completionTokens",
)  # fmt: skip
_CACHE_READ = (
    "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read", "gen_ai.usage.details.cache_read_tokens", "ai.usage.cachedInputTokens",
    "ai.usage.inputTokenDetails.cacheReadTokens", "gen_ai.usage.input_token_details.cache_read",
)  # fmt: skip
_CACHE_WRITE = (
    "gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write",
    "ai.usage.inputTokenDetails.cacheWriteTokens", "gen_ai.usage.input_token_details.cache_creation",
)  # fmt: skip
_DETAILS = ("langfuse.observation.usage_details", "mlflow.chat.tokenUsage")
"""Attributes with several token counts as JSON."""
_OF_DETAILS = {
    "input": ("input", "input_tokens", "prompt_tokens"),
    "output": ("output", "output_tokens", "completion_tokens"),
    "read": ("cache_read_input_tokens", "input_cache_read", "input_cached_tokens", "cache_read"),
    "write": ("cache_creation_input_tokens", "input_cache_creation", "cache_write"),
    "reasoning": ("output_reasoning", "output_reasoning_tokens", "reasoning"),
}


def usage_of(span: Span) -> ApiCall:
    """Returns the model call with its reported tokens; cached ones are subtracted from the input."""
    at = span.attributes
    given, output = _number(at, *_INPUT), _number(at, *_OUTPUT)
    read, write = _number(at, *_CACHE_READ), _number(at, *_CACHE_WRITE)
    apart = False
    for details in (_object(at.get(key)) for key in _DETAILS if key in at) if given is output is None else ():
        given, output, read, write, reasoning = (_number(details, *names) for names in _OF_DETAILS.values())
        total = _number(details, "total", "total_tokens")  # Langfuse counts each token in exactly one number
        apart = total is not None and total == sum(one or 0 for one in (given, output, read, write, reasoning))
        output = (output or 0) + reasoning if apart and reasoning else output
    cached = (read or 0) + (write or 0)
    within = (given or 0) >= cached and not apart  # some count it separately from the input
    new = (given or 0) - cached if within else given or 0
    return ApiCall(
        call_name(span.trace, span.identifier) or span.name, model_of(span),
        given is not None or output is not None, new, output or 0,
        read or 0, write or 0, is_named=bool(span.identifier),
    )  # fmt: skip


def call_name(trace: str, identifier: str) -> str:
    """Returns the name of the call in a span, as another trace may have a span of that id; "" without an id."""
    return f"{trace} {identifier}" if identifier else ""


_COST = ("gen_ai.usage.cost", "llm.cost.total", "operation.cost")
_COST_PARTS = (("gen_ai.usage.input_cost", "gen_ai.usage.output_cost"), ("llm.cost.prompt", "llm.cost.completion"))


def cost_of(span: Span) -> float | None:
    """Returns the reported cost of a call in dollars."""
    at = span.attributes
    details = _object(at.get("langfuse.observation.cost_details"))
    parts = [details["total"]] if "total" in details else list(details.values())
    whole = [at[key] for key in _COST if key in at][:1]
    parts = whole or parts or next(([at[key] for key in keys] for keys in _COST_PARTS if at.keys() >= set(keys)), [])
    numbers = [one for one in parts if isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one < _MOST]
    return float(sum(numbers)) if numbers and len(numbers) == len(parts) else None


def reports_usage(span: Span) -> bool:
    """Returns True if a span reports the tokens of its call."""
    return any(key in span.attributes for key in (*_INPUT, *_OUTPUT, *_DETAILS)) and usage_of(span).has_usage


# Calls of tools


def tool_of(span: Span) -> str | None:
    """Returns the name of the tool."""
    named = _first(span.attributes, "gen_ai.tool.name", "tool.name", "traceloop.entity.name", "ai.toolCall.name")
    if named is None and span.name.startswith(_HANDOFF):  # in OpenAI's agents the model calls a tool for a handoff
        return "transfer_to_" + span.name.removeprefix(_HANDOFF).lower().replace(" ", "_")
    return named or span.name.removeprefix(_EXECUTES) or None


_HANDOFF = "handoff to "
_EXECUTES = "execute_tool "
"""Prefix of call spans' names in the semantic conventions, before the tool's name."""


CALL_ID = "gen_ai.tool.call.id"
"""Attribute of the model's id of a tool call in the semantic conventions."""


def call_id_of(span: Span) -> str:
    """Returns the call's id: the model's if recorded, else the span's."""
    found = _first(span.attributes, CALL_ID, "tool_call.id", "tool.call.id", "tool.id", "ai.toolCall.id")
    if found is None:
        inner = _object(span.attributes.get("output.value"))
        data = inner.get("data") if isinstance(inner.get("data"), Mapping) else inner
        found = data.get("tool_call_id") if isinstance(data, Mapping) else None
    return found if isinstance(found, str) and found else span.identifier


_ARGUMENTS = (
    "gen_ai.tool.call.arguments", "tool_arguments", "tool.arguments", "gcp.vertex.agent.tool_call_args", "input.value",
    "ai.toolCall.args", "ai.toolCall.input", "langfuse.observation.input", "mlflow.spanInputs", "gen_ai.prompt",
    "tool.parameters", "gen_ai.tool.args",
)  # fmt: skip
_RESULTS = (
    "gen_ai.tool.call.result", "tool_response", "tool.result", "gcp.vertex.agent.tool_response", "output.value",
    "ai.toolCall.result", "ai.toolCall.output", "langfuse.observation.output", "mlflow.spanOutputs",
    "gen_ai.completion", "gen_ai.output",
)  # fmt: skip


def arguments_of(span: Span) -> Any:
    """Returns the tool's arguments, if recorded."""
    at = span.attributes
    given = next((at[key] for key in _ARGUMENTS if key in at), None)
    if given is None:
        entity = _object(at.get("traceloop.entity.input"))
        given = entity.get("input_str", entity.get("inputs"))
    return given if given not in ("", "{}") or isinstance(given, dict) else {} if given == "{}" else None


def result_of(span: Span) -> Any:
    """Returns the tool's result, if recorded."""
    at = span.attributes
    given = next((at[key] for key in _RESULTS if key in at), None)
    if given is None:
        entity = _object(at.get("traceloop.entity.output"))
        given = entity.get("output", entity.get("outputs"))
        given = _inner_content(given)
    elif isinstance(given, str) and given.startswith("{"):
        given = _inner_content(_object(given)) or given
    return _unquoted(given)


def _unquoted(given: Any) -> Any:
    """Decodes a text written as JSON, as in MLflow and Langfuse."""
    if isinstance(given, str) and len(given) > 1 and given[0] == given[-1] == '"':
        with contextlib.suppress(ValueError, msgspec.MsgspecError, RecursionError):
            return msgspec.json.decode(given.encode("utf-8", "surrogatepass"))
    return given


def _inner_content(given: Any) -> Any:
    """Returns the text within a LangChain message."""
    for _ in range(3):
        if isinstance(given, Mapping) and isinstance(inner := given.get("data") or given.get("kwargs"), Mapping):
            given = inner
    if isinstance(given, Mapping) and "content" in given:
        return given["content"]
    return given


def error_of(span: Span) -> str | None:
    """Returns the reason of a failure in words."""
    if not span.failed and "error.type" not in span.attributes:
        return None
    for event in span.events:
        if event.name == "exception":
            return exception_words(event) or span.status or "failed"
    code = str(span.attributes.get("http.response.status_code") or span.attributes.get("http.status_code"))
    failed = f"HTTP {code}" if code.isdecimal() and len(code) == 3 and code[0] in "45" else "failed"
    return span.status or str(span.attributes.get("error.type") or failed)


def waits_for_disconnect(span: Span) -> bool:
    """Returns True for the wait of an ASGI server for the end of a connection, beside the work on its request."""
    return span.attributes.get("asgi.event.type") == "http.disconnect"


def exception_words(event: SpanEvent) -> str:
    """Returns type and message of a recorded exception: "TimeoutError: too late"; "" without any."""
    parts = (event.attributes.get("exception.type"), event.attributes.get("exception.message"))
    return ": ".join(str(part) for part in parts if part)


def exceptions_of(span: Span) -> dict[str, Any]:
    """Returns a span's recorded exceptions with stacks, as payload members; empty without any."""
    found = [
        {key: told for key in ("type", "message", "stacktrace") if (told := event.attributes.get(f"exception.{key}"))}
        for event in span.events
        if event.name == "exception"
    ]
    return {"exceptions": found} if any(found) else {}


def _first(at: Mapping[str, Any], *keys: str) -> str | None:
    return next((value for key in keys if isinstance(value := at.get(key), str) and value), None)


def _number(at: Mapping[str, Any], *keys: str) -> int | None:
    for key in keys:
        value = at.get(key)
        if isinstance(value, str) and value.isdecimal() and len(value) < 19:
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
            return min(max(int(min(value, _MOST)), 0), _MOST)
    return None


def _object(given: object) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    if isinstance(given, str) and given.lstrip().startswith("{"):
        return decoded_object(given.encode("utf-8", "replace")) or {}
    return {}
