"""The settings as pydantic models, with defaults and limits; also presets, highlight rules, recent entries.

They are written to disk in clear text, so they contain no tokens. Qt stores window geometry and header states
(`QSettings`). Sources: docs/design.md 4 (secrets), 2 (presets), 17 (density, motion).
"""

from __future__ import annotations

import re
import secrets
from typing import Literal, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator

from inspector.base.idle_time import IDLE_AFTER_S

RECENT_CAP = 10
"""Number of remembered recent files, and of recent connections."""

FILTER_CAP = 30
"""Number of remembered filters."""

MIN_ZOOM_PERCENT, MAX_ZOOM_PERCENT = 80, 200

_LONGEST_FILTER = 1_000
_LONGEST_QUERY = 10_000
"""Limits in characters; users rarely want longer ones again, such as a long causal chain."""

SETTINGS_VERSION = 2
"""Version of the file's shape; an older file is migrated step by step."""


_SURROGATE = re.compile("[\ud800-\udfff]")
# Characters that would reverse the text around a name, or break its line.
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
# Users also type `ws:/host` or a backslash; such an address must not keep its password either.
_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?[/\\]+")
_HOST = re.compile(r"(?:\[[^\]@/?#]*\]|[^/?#\\:@]*)(?::\d{0,5})?(?=[/?#\\]|\Z)")
"""Host and port, without user information before them."""


def _with_valid_unicode(value: object) -> object:
    """Returns a value with valid Unicode texts; the same object if nothing changed."""
    if isinstance(value, str):
        # Half of a surrogate pair could not be written to the file.
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [_with_valid_unicode(item) for item in items]
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        return {_with_valid_unicode(key): _with_valid_unicode(item) for key, item in pairs.items()}
    return value


def _safe_name(name: str) -> str:
    """Returns a name without control and bidi characters; shared files may contain any."""
    return _CONTROL_CHARACTERS.sub("\ufffd", name.replace("\n", " ").replace("\t", " "))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Part(BaseModel):
    # Unknown keys, perhaps of a newer version, are dropped. Assignments are validated like input.
    model_config = ConfigDict(extra="ignore", validate_assignment=True)

    @field_validator("*")
    @classmethod
    def _as_unicode(cls, value: object) -> object:
        # A lone surrogate cannot be written, and would prevent saving all the rest.
        return _with_valid_unicode(value)


class Display(_Part):
    """Appearance of the window."""

    theme: Literal["system", "light", "dark"] = "system"
    """Follow the system, or always light or dark."""
    density: Literal["compact", "comfortable"] = "compact"
    """Height of rows."""
    zoom_percent: int = Field(default=100, ge=MIN_ZOOM_PERCENT, le=MAX_ZOOM_PERCENT)
    """Scales type and grid together, on top of the system's scaling."""
    show_context_hints: bool = False
    """Badges on tool results that may be collapsed, were consumed, or were replaced by their summary."""
    show_states: bool = True
    """Outcome of requests, proposals, starts and streams, at the end of their rows."""
    fold_streams: bool = True
    """One row per stream, with the joined text of its frames."""
    formatted_text: bool = True
    """Format texts written as Markdown."""
    hide_bookkeeping: bool = True
    """Hide the programs' own bookkeeping records."""
    sources_in_contexts: bool = True
    """Sources are the first level of the context tree in a document of several."""
    count_tokens: bool = True
    """Estimate the tokens of every message, in a separate process."""
    show_first: Literal["overview", "conversation", "messages"] = "overview"
    """View that a newly opened document shows; its messages if it has no such view."""
    fold_sides: bool = True
    """Hide contexts and participants of a document that has no choice of them."""
    animate: bool = True
    """A short fade on active contexts and participants."""
    developer_menu: bool = False
    """The Developer menu."""


class TableColumn(_Part):
    """One column of the message table."""

    name: str
    """A column of the table, or a field of the filter language, `payload.<path>` included."""
    shown: Literal["auto", "yes", "no"] = "auto"
    """Shown if there is room, always, or never."""
    width: int = Field(default=0, ge=0, le=4000)
    """Pixels at 100 %; 0 for the default width."""


class Table(_Part):
    """The columns of the message table."""

    columns: list[TableColumn] = Field(default_factory=list)
    """From left to right; unnamed ones keep their default place."""
    time: Literal["start", "clock", "previous", "mark"] = "start"
    """Seconds since the first message, the time of day, seconds since the message above, or since a chosen message."""


class ConnectionSettings(_Part):
    """A joined gateway, without its token."""

    url: str
    """Address, `ws://` or `wss://`."""
    space: str = ""
    """Space to join."""
    participant: str = ""
    """Id to join as; empty for a new random one each time."""
    answer_tools_list: bool = True
    """Answer `tools/list` with an empty list, so that agents need not wait for it."""

    @field_validator("url")
    @classmethod
    def _without_secrets(cls, url: str) -> str:
        # A query or user information in the address may carry a token.
        scheme = found[0] if (found := _SCHEME.match(url)) else ""
        rest = url[len(scheme) :]
        if not _HOST.match(rest):  # a password may contain a slash, "?" or "#"
            rest = rest.rpartition("@")[2]
        host, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
        return f"{scheme}{host}{slash if path else ''}{path}"  # normalized, so that equal addresses compare equal


TokenPlace = Literal["none", "keyring", "ask"]
"""Place of a token: none needed, in the system keyring, or entered each time."""


class NamedConnection(ConnectionSettings):
    """A gateway stored under a name. Its token is in the system keyring or not stored."""

    id: str = Field(default_factory=lambda: secrets.token_hex(4), min_length=1)
    """Permanent; part of its keyring entry's name."""
    name: str = Field(min_length=1)
    """Name in menus and on the start page."""
    token: TokenPlace = "none"
    """Place of its token; never the token."""

    @field_validator("name")
    @classmethod
    def _without_acting(cls, name: str) -> str:
        return _safe_name(name)


class Preset(_Part):
    """A named display filter; `$context` in it is the selected context."""

    name: str
    """Label of its chip."""
    filter: str
    """Display filter; empty shows everything."""
    key: str | None = None
    """Its key, as in "Alt+7"; empty for no key, None for the key of its position: Alt+1 to Alt+9."""

    @field_validator("name")
    @classmethod
    def _without_acting(cls, name: str) -> str:
        return _safe_name(name)


HighlightColor = Literal["rose", "orange", "lime", "teal", "sky", "violet"]
"""A colour of the theme's set, `highlight.<name>` among its tokens."""


class HighlightRule(_Part):
    """Highlights the rows that match a filter; `$context` is the selected context."""

    name: str
    """Name in lists and tooltips."""
    filter: str
    """Display filter; empty highlights no row."""
    color: HighlightColor = "orange"
    """A theme colour, readable in light and dark."""
    paint: Literal["edge", "text"] = "edge"
    """A tint at the left edge of the row, or the colour of its text."""
    on: bool = True
    """In force."""

    @field_validator("name")
    @classmethod
    def _without_acting(cls, name: str) -> str:
        return _safe_name(name)


class MergedRules(_Part):
    """Stored form of `inspector.msp.rules.Rules`: rules for the context of an MSP sub-session."""

    explicit_false_wins: bool = True
    snapshots_in_order: bool = True
    missing_recent: int = Field(default=5, ge=0, le=1000)
    include_main_only: bool = False
    count_withheld: bool = False
    older_globals: bool = True
    sibling_globals: bool = True
    ancestor_globals: bool = True
    include_misplaced: bool = False
    before_opening: bool = False
    recent_from_root: bool = False
    covered_again: bool = True
    half_open: bool = True


DEFAULT_HIGHLIGHTS: tuple[HighlightRule, ...] = (
    HighlightRule(name="Failed", filter="error", color="rose", on=False),
    HighlightRule(name="Slow answers", filter="latency >= 1000", color="orange", on=False),
    HighlightRule(name="Selected context", filter="context under $context", color="teal", on=False),
)
"""Example rules, all disabled: only the user knows the relevant rows."""


def default_highlights() -> list[HighlightRule]:
    # Copies, as rules of settings may be changed in place.
    return [rule.model_copy() for rule in DEFAULT_HIGHLIGHTS]


Topic = Literal["mew", "msp", "agent", "mcp", "json-rpc", "trace", "model", "a2a", "sub-agents", "collapsible"]
"""A type of traffic for default presets."""


class DefaultPreset(NamedTuple):
    """A preset of a new installation."""

    name: str
    filter: str
    topics: tuple[Topic, ...] = ()
    """It is offered for documents with one of these; if empty, for all."""


_EDITING = (
    "Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "edit", "multiedit", "write", "patch", "create",
    "str_replace_editor", "replace", "write_file", "create_file", "edit_file", "insert_edit_into_file",
    "replace_string_in_file", "multi_replace_string_in_file", "copilot_replaceString", "copilot_createFile",
)  # fmt: skip
_RUNNING = (
    "Bash", "PowerShell", "bash", "powershell", "shell", "shell_command", "exec_command", "local_shell",
    "run_shell_command", "run_in_terminal", "copilot_runInTerminal", "execute_command",
)  # fmt: skip
_STARTING_AGENTS = ("Agent", "Task", "agent", "task", "spawn_agent", "runSubagent")


def _called(tools: tuple[str, ...]) -> str:
    return "tool in {" + ", ".join(f'"{tool}"' for tool in tools) + "}"


DEFAULT_PRESETS: tuple[DefaultPreset, ...] = (
    DefaultPreset("Everything", ""),
    DefaultPreset("Main only", "!context", ("mew", "msp")),
    DefaultPreset("With reasoning", '!context || context.type == "reasoning"', ("mew",)),
    DefaultPreset("Inside reasoning", 'context.type == "reasoning"', ("mew",)),
    DefaultPreset("Conclusions", 'context && kind == "reasoning/conclusion"', ("mew",)),
    DefaultPreset("Root contexts", "context.depth == 1", ("mew", "msp")),
    DefaultPreset("This context", "context under $context", ("mew", "msp")),
    DefaultPreset("Direct children", "context childof $context", ("mew", "msp")),
    DefaultPreset("Tools", 'kind like "mcp/*"', ("mew",)),
    DefaultPreset("Proposals", 'kind in {"mcp/proposal", "mcp/reject", "mcp/withdraw"}', ("mew",)),
    DefaultPreset("Collapsible results", "badge", ("mew", "collapsible")),
    DefaultPreset("Stream frames", 'kind == "stream/frame"', ("mew",)),
    DefaultPreset("Prompts", 'kind == "chat" && from in {"user", "client"}', ("agent", "trace", "model", "a2a")),
    DefaultPreset("Edits", _called(_EDITING), ("agent",)),
    DefaultPreset("Commands", _called(_RUNNING), ("agent",)),
    DefaultPreset("Model calls", "stop_reason || usage.input || usage.output", ("trace", "model")),
    DefaultPreset("Tool calls", "tool", ("mcp", "trace", "model")),
    DefaultPreset("Failed", "error", ("agent", "mcp", "json-rpc", "trace", "model", "a2a")),
    DefaultPreset("Sub-agents", f"context || {_called(_STARTING_AGENTS)}", ("sub-agents",)),
    DefaultPreset("Requests", 'kind == "jsonrpc/request"', ("json-rpc",)),
    DefaultPreset(
        "Notifications", 'method like "notifications/*" || kind == "jsonrpc/notification"', ("mcp", "json-rpc")
    ),
    DefaultPreset("Problems", "finding.severity >= warning"),
)
"""Presets of a new installation."""

RENAMED_PRESETS = {"Reasoning only": "Inside reasoning", "Transient results": "Collapsible results"}
"""Default presets by their earlier names, which the command line still accepts."""

_TOPICS = {(preset.name, preset.filter): preset.topics for preset in DEFAULT_PRESETS}


def topics_of(preset: Preset) -> tuple[Topic, ...]:
    """Returns the topics of an unchanged default preset; empty, and so all logs, for other presets."""
    return _TOPICS.get((preset.name, preset.filter), ())


def default_presets() -> list[Preset]:
    return [Preset(name=preset.name, filter=preset.filter) for preset in DEFAULT_PRESETS]


class SavedQuery(_Part):
    """A named SQL query."""

    name: str
    """Label in the menu."""
    sql: str
    """The query."""


class RecentFacts(_Part):
    """Facts about a recent file from its last opening."""

    messages: int = Field(default=0, ge=0)
    """Number of messages."""
    first_ns: int | None = None
    """Time of the earliest message, Unix nanoseconds, if there is a time or date."""
    title: str = Field(default="", max_length=200)
    """Title of a coding agent's session; "" for other logs. Secrets are masked."""


FolderChoice = Literal["ask", "document", "runs"]
"""Form of an opened folder with many logs: one document, or a table of runs."""


class Start(_Part):
    """Behaviour at the start, and when something opens."""

    restore_windows: bool = True
    """Restore the last windows at a start without files."""
    reconnect: bool = False
    """Rejoin gateways if no input is needed."""
    agent_sessions: bool = True
    """Search this machine for sessions of coding agents, for the start page and for their list."""
    session_folders: FolderChoice = "ask"
    """Folders with sessions of agents, as those of a project."""
    evaluation_folders: FolderChoice = "ask"
    """Folders with runs of evaluations."""
    log_folders: FolderChoice = "ask"
    """Folders with other logs."""
    open_in: Literal["tabs", "windows"] = "tabs"
    """Place in which a document opens."""


class Updates(_Part):
    """Search for newer versions of the program."""

    check: bool = False
    """Request the release feed, at most once a day."""
    feed: str = Field(default="", max_length=500)
    """https address of the newest release, as GitHub, Gitea and Forgejo return it; empty for no feed."""


class KnownRelease(_Part):
    """The last request to a release feed."""

    feed: str = Field(default="", max_length=500)
    """Address of the feed."""
    asked_s: int = Field(default=0, ge=0, le=1 << 40)
    """Unix time of the request."""
    version: str = Field(default="", max_length=40)
    """Number of the newest release; "" without an answer."""
    page: str = Field(default="", max_length=500)
    """https address of its page, or ""."""


LONGEST_IDLE_S = 86_400
"""Largest number of seconds until a context is idle: a day."""


class Contexts(_Part):
    """Rules for contexts that protocols leave open."""

    idle_after_s: int = Field(default=IDLE_AFTER_S, ge=1, le=LONGEST_IDLE_S)
    """Seconds after its last message until a context is idle."""
    collapses: Literal["oldest", "newest"] = "oldest"
    """The result that a consumption collapses if several are pending."""


class Prices(_Part):
    """Token prices of models."""

    listed: bool = True
    """Use the program's own price list for models not in `lines`."""

    dated: str = Field(default="", max_length=100)
    """Date or origin of the prices."""
    lines: list[str] = Field(default_factory=list)
    """One model a line, in the format of `analysis.passes.tokens.price_table`."""


class Memory(_Part):
    """Memory limit of reading."""

    limit_mb: int = Field(default=0, ge=0, le=1_000_000)
    """MB for the messages of a window; 0 for half of the memory free at its opening."""


class SwitchedPlugin(_Part):
    """A plug-in that the user has switched on, as it was then."""

    name: str = Field(max_length=100)
    """Of the file without its ending, or of the package."""
    origin: Literal["file", "package"]
    """A file in the folder of plug-ins, or an installed package."""
    digest: str = Field(max_length=64)
    """SHA-256 of its code; other code must be switched on again."""


class Settings(_Part):
    """All persistent settings, without secrets and window geometry."""

    version: int = SETTINGS_VERSION
    """Version of the file's shape."""
    display: Display = Field(default_factory=Display)
    """Appearance of the window."""
    start: Start = Field(default_factory=Start)
    """Behaviour at the start."""
    updates: Updates = Field(default_factory=Updates)
    """Search for newer versions."""
    known_release: KnownRelease = Field(default_factory=KnownRelease)
    """Last answer of the release feed."""
    contexts: Contexts = Field(default_factory=Contexts)
    """Rules for contexts."""
    memory: Memory = Field(default_factory=Memory)
    """Memory limit of reading."""
    prices: Prices = Field(default_factory=Prices)
    """Prices of models' tokens."""
    plugins: list[SwitchedPlugin] = Field(default_factory=list, max_length=200)
    """Plug-ins that are switched on."""
    recent_commands: list[str] = Field(default_factory=list, max_length=20)
    """Ids of commands used from the palette, latest first."""
    recent_files: list[str] = Field(default_factory=list)
    """Absolute paths, latest first, at most `RECENT_CAP`."""
    recent_facts: dict[str, RecentFacts] = Field(default_factory=dict)
    """Facts about recent files, by path."""
    recent_connections: list[ConnectionSettings] = Field(default_factory=list)
    """Latest first, at most `RECENT_CAP`; includes named ones."""
    table: Table = Field(default_factory=Table)
    """The columns of the message table."""
    connections: list[NamedConnection] = Field(default_factory=list)
    """Named gateways, in the order of the menu."""
    filter_history: list[str] = Field(default_factory=list)
    """Texts entered in the filter bar, latest first, at most `FILTER_CAP`."""
    presets: list[Preset] = Field(default_factory=default_presets)
    """Chips below the filter bar, in their order."""
    queries: list[SavedQuery] = Field(default_factory=list)
    """Named SQL queries, in the order of the menu."""
    query_history: list[str] = Field(default_factory=list)
    """SQL queries, latest first, at most `FILTER_CAP`."""
    highlights: list[HighlightRule] = Field(default_factory=default_highlights)
    """Highlight rules; the first matching one sets the colour."""
    tool_aliases: list[str] = Field(default_factory=list)
    """Aliases of tool names, each as `name = other name`; the first match wins."""
    axis_by: Literal["time", "scale", "message"] = "time"
    """Distance of messages in plots: by time with long silences shortened, by time, or equal."""
    findings_by: Literal["code", "severity", "nothing"] = "code"
    """Grouping of findings."""
    merged: MergedRules = Field(default_factory=MergedRules)
    """Rules for the context of a sub-session that the protocol leaves open."""
    subsession_budget: int = Field(default=8_000, ge=100, le=10_000_000)
    """Token budget to compare a sub-session's context with."""
    keys: dict[str, list[str]] = Field(default_factory=dict)
    """Changed keys by action id; an empty list removes all."""

    def remember_filter(self, text: str) -> bool:
        """Moves a filter to the top of the history; returns True if that changed it.

        Empty and very long filters are not stored. The caller checks for secrets.
        """
        text = text.strip()
        storable = 0 < len(text) <= _LONGEST_FILTER and _is_unicode(text)
        if not storable or self.filter_history[:1] == [text]:
            return False
        self.filter_history = [text, *(known for known in self.filter_history if known != text)][:FILTER_CAP]
        return True

    def remember_query(self, sql: str) -> bool:
        """Moves a query to the top of the history; returns True if that changed it."""
        sql = sql.strip()
        storable = 0 < len(sql) <= _LONGEST_QUERY and _is_unicode(sql)
        if not storable or self.query_history[:1] == [sql]:
            return False
        self.query_history = [sql, *(known for known in self.query_history if known != sql)][:FILTER_CAP]
        return True

    def remember_file(self, path: str) -> None:
        """Moves a file to the top of the recent ones; skips a name that is not valid Unicode."""
        # Linux allows any bytes in a name, and JSON has no form for such a path.
        if not _is_unicode(path):
            return
        others = [known for known in self.recent_files if known != path]
        self.recent_files = [path, *others][:RECENT_CAP]
        self._forget_facts()

    def remember_facts(self, path: str, facts: RecentFacts) -> None:
        """Stores facts about a recent file; drops facts about other files."""
        self.recent_facts = {**self.recent_facts, path: facts}
        self._forget_facts()

    def forget_files(self, *paths: str) -> None:
        """Removes recent files with their facts; all if none is named."""
        self.recent_files = [path for path in self.recent_files if paths and path not in paths]
        self._forget_facts()

    def _forget_facts(self) -> None:
        self.recent_facts = {path: facts for path, facts in self.recent_facts.items() if path in self.recent_files}

    def remember_connection(self, connection: ConnectionSettings) -> None:
        """Moves a connection to the top of the recent ones; the same address and space count once."""
        place = (connection.url, connection.space)
        others = [known for known in self.recent_connections if (known.url, known.space) != place]
        self.recent_connections = [connection, *others][:RECENT_CAP]

    def keep_connection(self, connection: NamedConnection) -> None:
        """Stores a named connection: replaces the one with its id, else appends it."""
        if connection.name != _safe_name(connection.name):  # pydantic does not validate a copy with another name
            connection = connection.model_copy(update={"name": _safe_name(connection.name)})
        known = [named.id for named in self.connections]
        if connection.id in known:
            self.connections[known.index(connection.id)] = connection
        else:
            self.connections.append(connection)

    def remove_connection(self, connection_id: str) -> None:
        """Removes a named connection, if there is one."""
        self.connections = [named for named in self.connections if named.id != connection_id]

    def named_connection(self, connection: ConnectionSettings) -> NamedConnection | None:
        """Returns the named connection of this address and space."""
        place = (connection.url, connection.space)
        return next((named for named in self.connections if (named.url, named.space) == place), None)

    def unnamed_connections(self) -> list[ConnectionSettings]:
        """Returns recent connections without a name, latest first."""
        return [recent for recent in self.recent_connections if self.named_connection(recent) is None]
