"""Table of formats in the order tried, and the groups that other rooms ask for."""

from __future__ import annotations

from inspector.formats import (
    a2a,
    acp,
    ag_ui,
    agent_host,
    agents_run_state,
    agents_sdk,
    ai_sdk,
    aider,
    aider_calls,
    amp,
    atif,
    autogen,
    capture,
    chatgpt,
    claude_ai,
    claude_code,
    cline,
    codex,
    continue_dev,
    copilot_cli,
    crush,
    cursor_agent,
    cursor_chat,
    factory_droid,
    gateway_log,
    gemini_cli,
    goose,
    grok_build,
    hal,
    har,
    hermes,
    inspect_ai,
    kimi,
    kiro,
    langfuse,
    langsmith,
    litellm,
    managed_agents,
    mcp,
    mcp_clients,
    mcp_inspector,
    mcpsnoop,
    mew,
    mitmproxy,
    mlflow,
    model_api,
    msp,
    opencode,
    openhands,
    otlp,
    parquet,
    phoenix,
    pi,
    prefixed,
    qwen_code,
    specstory,
    swe_agent,
    tau_bench,
    training_data,
    vcr,
    vscode_chat,
    vscode_chat_replay,
    vscode_debug_log,
    weave,
    wire_recording,
    wrapped,
)
from inspector.formats.clients import Client, ManualClient, ModelApi
from inspector.formats.format import AgentTools, Conversations, Format, Stage, TrafficKind

FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT, codex.FORMAT, aider.FORMAT, amp.FORMAT, cline.FORMAT, copilot_cli.FORMAT, cursor_agent.FORMAT,
    cursor_chat.FORMAT,
    factory_droid.FORMAT, gemini_cli.FORMAT, goose.FORMAT, grok_build.FORMAT, hermes.FORMAT,
    managed_agents.FORMAT,
    crush.FORMAT,  # before the format that reads any other database
    opencode.FORMAT, otlp.FORMAT, pi.FORMAT, qwen_code.FORMAT, vscode_chat.FORMAT,
    vscode_debug_log.FORMAT,
    specstory.FORMAT, continue_dev.FORMAT, kimi.FORMAT, kiro.FORMAT,
    prefixed.FORMAT,  # joins data of event streams for the formats below
    ag_ui.FORMAT, ai_sdk.FORMAT, autogen.FORMAT, agents_run_state.FORMAT, agents_sdk.FORMAT,
    # Gateway lines come before JSON-RPC, because a line about a failure has `id` and `error` like an answer. HTTP
    # recordings come before envelopes, since their lines have a `kind`. Captures come before wrapped lines, since a
    # capture line is a special case of a wrapped one.
    gateway_log.FORMAT, mcpsnoop.FORMAT, wire_recording.FORMAT, mcp.FORMAT, mew.FORMAT, capture.FORMAT, wrapped.FORMAT,
    agent_host.FORMAT, acp.FORMAT, a2a.FORMAT, model_api.FORMAT,
    langfuse.FORMAT, langsmith.FORMAT, mlflow.FORMAT, phoenix.FORMAT, weave.FORMAT,
    aider_calls.FORMAT, har.FORMAT, litellm.FORMAT, mcp_inspector.FORMAT, mitmproxy.FORMAT, parquet.FORMAT, vcr.FORMAT,
    vscode_chat_replay.FORMAT,
    msp.FORMAT,
    atif.FORMAT, hal.FORMAT, inspect_ai.FORMAT, openhands.FORMAT, swe_agent.FORMAT, tau_bench.FORMAT,
    chatgpt.FORMAT, claude_ai.FORMAT,
    training_data.FORMAT,
)  # fmt: skip
"""All formats; within a stage in the order tried, the most specific first."""


def formats_of(stage: Stage) -> tuple[Format, ...]:
    """Returns the formats of a stage, in the order tried."""
    return tuple(one for one in FORMATS if one.stage is stage)


SPOKEN_KINDS: dict[str, str] = {kind: word for one in FORMATS for kind, word in one.spoken_kinds.items()}
"""Words for kinds that only one format has."""

FAILING_KINDS: tuple[str, ...] = tuple(kind for one in FORMATS for kind in one.failing_kinds)
"""Kinds that only one format has, and that may report a failure."""

REQUEST_KINDS: tuple[str, ...] = tuple(kind for one in FORMATS for kind in one.request_kinds)
STOP_KINDS: tuple[str, ...] = tuple(kind for one in FORMATS for kind in one.stop_kinds)
"""Kinds that only one format has, and that stop an agent."""

MODEL_OPERATIONS: tuple[str, ...] = tuple(name for one in FORMATS for name in one.model_operations)
"""Operations of model APIs."""

UNCACHED_OPERATIONS: tuple[str, ...] = tuple(name for one in FORMATS for name in one.uncached_operations)
"""Operations whose prompts are cached only if the request asks for it."""

INBOUND_EVENTS: tuple[str, ...] = tuple(name for one in FORMATS for name in one.inbound_events)
"""Events of logged lines whose participant is the sender of the envelope."""

NOISE_KINDS: tuple[str, ...] = tuple(one.noise_kind for one in FORMATS if one.noise_kind)
"""Kinds of lines that processes write beside their messages."""

LOG_LINE_NAMES: tuple[str, ...] = tuple(one.name for one in FORMATS if one.log_lines is not None)
"""Formats of logs with lines beside their messages."""

TRACE_NAMES: tuple[str, ...] = tuple(one.name for one in FORMATS if one.traffic is TrafficKind.TRACE)
"""Formats with spans as records."""

SESSION_HEADERS: tuple[str, ...] = tuple(name for one in FORMATS for name in one.session_headers)
"""Headers of programs' calls to models with the session, the most specific first."""
AGENT_HEADERS: tuple[str, ...] = tuple(sorted(name for one in FORMATS for name in one.agent_headers))
"""Headers of programs' calls to models with the agent or thread in a session."""

AGENT_TOOLS = AgentTools(
    declined=tuple(phrase for one in FORMATS for phrase in one.tools.declined),
    failure_prefixes=tuple(prefix for one in FORMATS for prefix in one.tools.failure_prefixes),
    person_tools=tuple(dict.fromkeys(tool for one in FORMATS for tool in one.tools.person_tools)),
    program_texts=tuple(dict.fromkeys(text for one in FORMATS for text in one.tools.program_texts)),
)
"""Tools of all programs together: any of them may call tools through a recorded API."""

LONE_ANSWERS: dict[str, str] = {one.name: one.lone_answers_of for one in FORMATS if one.lone_answers_of}
"""Models whose answers may be saved without requests, by name of the format."""
LACKING_RESULTS: tuple[str, ...] = tuple(one.name for one in FORMATS if one.may_lack_results)
"""Formats of logs that may record calls of tools without their results."""
_ALL_CLIENTS = sorted(
    (*mcp_clients.CLIENTS, *(one.client for one in FORMATS if one.client is not None)),
    key=lambda client: client.title.lower(),
)
CLIENTS: tuple[Client, ...] = tuple(client for client in _ALL_CLIENTS if isinstance(client, Client))
"""MCP clients whose files this program can change."""
MANUAL_CLIENTS: tuple[ManualClient, ...] = tuple(client for client in _ALL_CLIENTS if isinstance(client, ManualClient))
"""MCP clients whose file the user changes by hand."""
MODEL_APIS: tuple[ModelApi, ...] = tuple(api for one in FORMATS for api in one.model_apis)
"""Model APIs with the variables for their addresses."""

TITLE_KINDS: dict[str, str] = {kind: member for one in FORMATS for kind, member in one.title_kinds.items()}
"""Kinds of records that name a session, with the member of the payload; those of a format best first."""

OUTCOME_KINDS: tuple[str, ...] = tuple(
    f"{one.namespace}outcome" for one in FORMATS if one.traffic is TrafficKind.EVALUATION
)
"""Kinds of records with the outcome of a run: its task, score and error."""

NAMED_CONVERSATIONS: tuple[str, ...] = tuple(
    one.name for one in FORMATS if one.conversations is not Conversations.RESOLVED
)
"""Formats whose records name their conversations."""

CONTINUED_CONVERSATIONS: tuple[str, ...] = tuple(
    one.name for one in FORMATS if one.conversations is Conversations.CONTINUED
)
"""Formats whose answers belong to the conversation of the last request."""

SESSION_NAMING: tuple[str, ...] = tuple(one.name for one in FORMATS if one.names_sessions)
"""Formats whose records each name their session."""

SESSION_FILES: tuple[str, ...] = tuple(one.name for one in FORMATS if one.has_session_files)
"""Formats whose records may name the format as their session: it is the file."""

MODEL_WIRES: tuple[str, ...] = tuple(one.name for one in FORMATS if one.is_model_wire)
"""Formats with requests to models and their answers, as sent."""

HISTORY_REPEATING: tuple[str, ...] = tuple(one.name for one in FORMATS if one.repeats_history)
"""Formats whose requests to models repeat the messages before."""

FILE_SUFFIXES: tuple[str, ...] = tuple(suffix for one in FORMATS for suffix in one.suffixes)
"""Endings of file names that only one format has."""

FOLDER_SUFFIXES: tuple[str, ...] = tuple(suffix for one in FORMATS if one.is_log_in_folders for suffix in one.suffixes)
"""Those of files that are logs of their folder."""

SPAN_KINDS: dict[str, str] = {
    kind: word for one in FORMATS if one.traffic is TrafficKind.TRACE for kind, word in one.spoken_kinds.items()
}
"""Words for kinds of spans."""

FORMAT_TITLES: dict[str, str] = {name: title for one in FORMATS for name, title in one.titles.items()}
"""Titles of logs in the window, by name of the format."""

SELECTABLE_FORMATS: dict[str, str] = {one.name: one.title for one in FORMATS if one.stage is not Stage.DOCUMENT}
"""Formats of lines that a user can force: name and title."""


def format_named(name: str) -> Format | None:
    """Returns a format by its name."""
    return next((one for one in FORMATS if one.name == name), None)
