"""The settings as pydantic models, with their defaults.

What is here is written to disk in clear text: no tokens. Window geometry and header states are Qt's own business
(`QSettings`). Sources: docs/design.md 4 (secrets), 2 (presets), 17 (density, motion).
"""

from __future__ import annotations

import re
import secrets
from typing import Literal, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator

RECENT_CAP = 10
"""How many recent files, and how many recent connections, are remembered."""

FILTER_CAP = 30
"""How many earlier filters are remembered."""

_LONGEST_FILTER = 1_000
_LONGEST_QUERY = 10_000
"""Longer ones, as of a long causal chain, were hardly written by somebody who wants them again."""

SETTINGS_VERSION = 2
"""Version of the file's shape; an older file is migrated step by step."""


_SURROGATE = re.compile("[\ud800-\udfff]")
# What would turn the words around a name about, or break their line.
_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?[/\\]+")
_HOST = re.compile(r"(?:\[[^\]@/?#]*\]|[^/?#\\:@]*)(?::\d{0,5})?(?=[/?#\\]|\Z)")
"""Host and port, with no user information before them."""


def _repaired(value: object) -> object:
    """A value of a field whose texts are valid Unicode; the same object when they were."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [_repaired(item) for item in items]
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        return {_repaired(key): _repaired(item) for key, item in pairs.items()}
    return value


def _as_name(name: str) -> str:
    """A name of which nothing acts on the text it stands in; files that are shared may hold any."""
    return _ACTING.sub("\ufffd", name.replace("\n", " ").replace("\t", " "))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Part(BaseModel):
    # Unknown keys are dropped: a newer version may have written them. Assignments are checked like input.
    model_config = ConfigDict(extra="ignore", validate_assignment=True)

    @field_validator("*")
    @classmethod
    def _as_unicode(cls, value: object) -> object:
        # Half of a surrogate pair cannot be written: one would keep everything else from being saved.
        return _repaired(value)


class Display(_Part):
    """How the window looks."""

    theme: Literal["system", "light", "dark"] = "system"
    """Follow the system, or always light or dark."""
    density: Literal["compact", "comfortable"] = "compact"
    """How much air a row has."""
    zoom_percent: int = Field(default=100, ge=80, le=200)
    """Scales type and grid together, kept apart from the system's scaling."""
    show_context_hints: bool = False
    """Badges on tool results that may be collapsed, were consumed, or were replaced by their summary."""
    show_states: bool = True
    """What became of requests, proposals, starts and streams, at the end of their rows."""
    fold_streams: bool = True
    """The frames of a stream have one row, with what they say together."""
    formatted_text: bool = True
    """Texts written as Markdown are formatted."""
    hide_bookkeeping: bool = True
    """Records that programs write for themselves have no rows."""
    sources_in_contexts: bool = True
    """Sources are the first level of the context tree, where several are one document."""
    count_tokens: bool = True
    """Estimate the tokens of every message, in a process of its own."""
    animate: bool = True
    """A short fade on contexts and participants that speak."""
    developer_menu: bool = False
    """The menu that shows the program at work."""


class TableColumn(_Part):
    """One column of the message table."""

    name: str
    """A column of its own, or a field of the filter language, `payload.<path>` included."""
    shown: Literal["auto", "yes", "no"] = "auto"
    """Where there is room, always, or never."""
    width: int = Field(default=0, ge=0, le=4000)
    """Pixels at 100 %; 0 for the usual width."""


class Table(_Part):
    """The columns of the message table."""

    columns: list[TableColumn] = Field(default_factory=list)
    """From left to right; those that are not named stand where they always do."""
    time: Literal["start", "clock", "previous", "mark"] = "start"
    """Seconds since the first message, the time of day, since the message above, since a message that was chosen."""


class ConnectionSettings(_Part):
    """A gateway that was joined; its token is never part of it."""

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
        if not _HOST.match(rest):  # a password may have been written with a slash, "?" or "#" in it
            rest = rest.rpartition("@")[2]
        host, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
        return f"{scheme}{host}{slash if path else ''}{path}"  # one address, one writing


TokenPlace = Literal["none", "keyring", "ask"]
"""Where a token is: joined without one, in the system keyring, or asked for each time."""


class NamedConnection(ConnectionSettings):
    """A gateway kept under a name. Its token is in the system keyring or nowhere."""

    id: str = Field(default_factory=lambda: secrets.token_hex(4), min_length=1)
    """Never changes; part of the name of its entry in the keyring."""
    name: str = Field(min_length=1)
    """What menus and the start page call it."""
    token: TokenPlace = "none"
    """Where its token is; never the token."""

    @field_validator("name")
    @classmethod
    def _without_acting(cls, name: str) -> str:
        return _as_name(name)


class Preset(_Part):
    """A named display filter expression, nothing more; `$context` in it stands for the selected context."""

    name: str
    """What its chip says."""
    filter: str
    """Display filter expression; empty shows everything."""
    key: str | None = None
    """The key that applies it, as in "Alt+7"; empty for none, None for that of its place: Alt+1 to Alt+9."""

    @field_validator("name")
    @classmethod
    def _without_acting(cls, name: str) -> str:
        return _as_name(name)


HighlightColor = Literal["rose", "orange", "lime", "teal", "sky", "violet"]
"""A colour of the theme's set, `highlight.<name>` among its tokens."""


class HighlightRule(_Part):
    """Rows whose message a filter holds for stand out in the table; `$context` is the selected context."""

    name: str
    """What it is called in lists and tooltips."""
    filter: str
    """Display filter expression; empty highlights nothing."""
    color: HighlightColor = "orange"
    """Of the theme, so that it can be read in light and dark."""
    paint: Literal["edge", "text"] = "edge"
    """A tint at the left edge of the row, or the colour of its text."""
    on: bool = True
    """Whether it is in force."""

    @field_validator("name")
    @classmethod
    def _without_acting(cls, name: str) -> str:
        return _as_name(name)


class MergedRules(_Part):
    """How the context of an MSP sub-session is put together: `inspector.msp.rules.Rules`, which says them, as kept."""

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
"""Examples, all of them off: which rows matter only the user knows."""


def default_highlights() -> list[HighlightRule]:
    """A new list of the default highlight rules."""
    return [rule.model_copy() for rule in DEFAULT_HIGHLIGHTS]


Topic = Literal["mew", "msp", "agent", "mcp", "trace", "model", "a2a", "sub-agents", "collapsible"]
"""A kind of traffic that default presets are about."""


class DefaultPreset(NamedTuple):
    """A preset of a new installation."""

    name: str
    filter: str
    topics: tuple[Topic, ...] = ()
    """It is offered where the document holds one of these; with none, everywhere."""


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
    DefaultPreset("Failed", "error", ("agent", "mcp", "trace", "model", "a2a")),
    DefaultPreset("Sub-agents", f"context || {_called(_STARTING_AGENTS)}", ("sub-agents",)),
    DefaultPreset("Notifications", 'method like "notifications/*"', ("mcp",)),
    DefaultPreset("Problems", "finding.severity >= warning"),
)
"""Presets of a new installation."""

RENAMED_PRESETS = {"Reasoning only": "Inside reasoning", "Transient results": "Collapsible results"}
"""Default presets by their earlier names, which the command line still takes."""

_TOPICS = {(preset.name, preset.filter): preset.topics for preset in DEFAULT_PRESETS}


def topics_of(preset: Preset) -> tuple[Topic, ...]:
    """Returns the topics a preset is offered for; none, and so all logs, for one the user made, edited or renamed."""
    return _TOPICS.get((preset.name, preset.filter), ())


def default_presets() -> list[Preset]:
    """A new list of the default presets."""
    return [Preset(name=preset.name, filter=preset.filter) for preset in DEFAULT_PRESETS]


class SavedQuery(_Part):
    """A question in SQL under a name."""

    name: str
    """What the menu says."""
    sql: str
    """The query."""


class RecentFacts(_Part):
    """What is known of a recent file from when it was open."""

    messages: int = Field(default=0, ge=0)
    """How many it had."""
    first_ns: int | None = None
    """When the earliest of them was; Unix nanoseconds. None where no time is known, or no day."""
    title: str = Field(default="", max_length=200)
    """The name of a session of a coding agent; "" for other logs. Secrets are masked."""


class Start(_Part):
    """What the program does when it starts."""

    restore_windows: bool = True
    """Open what was open before, where it is started without files."""
    reconnect: bool = False
    """Join gateways again that were watched then, where nothing has to be asked for it."""
    agent_sessions: bool = True
    """Look up sessions of coding agents on this machine when their list is asked for."""


class Contexts(_Part):
    """How contexts, and what stands in a model's, are judged where protocols leave it open."""

    idle_after_s: int = Field(default=30, ge=1, le=86_400)
    """Seconds after its last message from which a context is idle."""
    collapses: Literal["oldest", "newest"] = "oldest"
    """Which result a consumption collapses where several wait."""


class Prices(_Part):
    """Prices of models' tokens."""

    listed: bool = True
    """Models that are not in `lines` cost what the program's own list says."""

    dated: str = Field(default="", max_length=100)
    """When the prices were in force, or where they are from."""
    lines: list[str] = Field(default_factory=list)
    """One model a line, as `analysis.passes.tokens.prices` reads them."""


class Memory(_Part):
    """How much memory reading may take."""

    limit_mb: int = Field(default=0, ge=0, le=1_000_000)
    """MB for the messages of a window; 0 for half of what is free when it is opened."""


class Settings(_Part):
    """Everything the program remembers between starts, but secrets and window geometry."""

    version: int = SETTINGS_VERSION
    """Shape of the file."""
    display: Display = Field(default_factory=Display)
    """How the window looks."""
    start: Start = Field(default_factory=Start)
    """What the program does when it starts."""
    contexts: Contexts = Field(default_factory=Contexts)
    """How contexts are judged."""
    memory: Memory = Field(default_factory=Memory)
    """How much memory reading may take."""
    prices: Prices = Field(default_factory=Prices)
    """What tokens of models cost."""
    recent_commands: list[str] = Field(default_factory=list, max_length=20)
    """Ids of what was done from the palette, latest first."""
    recent_files: list[str] = Field(default_factory=list)
    recent_facts: dict[str, RecentFacts] = Field(default_factory=dict)
    """What is known of them, by path."""
    """Absolute paths, latest first, at most `RECENT_CAP`."""
    recent_connections: list[ConnectionSettings] = Field(default_factory=list)
    """Latest first, at most `RECENT_CAP`; also those that are kept under a name."""
    table: Table = Field(default_factory=Table)
    """The columns of the message table."""
    connections: list[NamedConnection] = Field(default_factory=list)
    """Gateways kept under a name, in the order of the menu."""
    filter_history: list[str] = Field(default_factory=list)
    """What was written into the filter bar, latest first, at most `FILTER_CAP`."""
    presets: list[Preset] = Field(default_factory=default_presets)
    """Chips below the filter bar, in their order."""
    queries: list[SavedQuery] = Field(default_factory=list)
    """Questions in SQL that are kept under a name, in the order of the menu."""
    query_history: list[str] = Field(default_factory=list)
    """What was asked in SQL, latest first, at most `FILTER_CAP`."""
    highlights: list[HighlightRule] = Field(default_factory=default_highlights)
    """Rows that stand out; where several rules hold the first one gives the colour."""
    tool_aliases: list[str] = Field(default_factory=list)
    """Names of tools that mean another, each as `name = other name`; the first one that fits a name counts."""
    axis_by: Literal["time", "scale", "message"] = "time"
    """How far apart plots draw messages: as time does but for long silences, as time does, all alike."""
    findings_by: Literal["code", "severity", "nothing"] = "code"
    """What the findings are grouped by."""
    merged: MergedRules = Field(default_factory=MergedRules)
    """How the context of a sub-session is put together where the protocol leaves that open."""
    subsession_budget: int = Field(default=8_000, ge=100, le=10_000_000)
    """Tokens the context of a sub-session is measured against."""
    keys: dict[str, list[str]] = Field(default_factory=dict)
    """Keys of actions that do not have their usual ones, by the action's id; an empty list is none at all."""

    def remember_filter(self, text: str) -> bool:
        """Put a filter on top of the earlier ones; whether that changed anything.

        The empty one and very long ones are not kept. Whether it may be kept at all is for the caller to know.
        """
        text = text.strip()
        storable = 0 < len(text) <= _LONGEST_FILTER and _is_unicode(text)
        if not storable or self.filter_history[:1] == [text]:
            return False
        self.filter_history = [text, *(known for known in self.filter_history if known != text)][:FILTER_CAP]
        return True

    def remember_query(self, sql: str) -> bool:
        """Put a query on top of the earlier ones, as `remember_filter` does a filter."""
        sql = sql.strip()
        storable = 0 < len(sql) <= _LONGEST_QUERY and _is_unicode(sql)
        if not storable or self.query_history[:1] == [sql]:
            return False
        self.query_history = [sql, *(known for known in self.query_history if known != sql)][:FILTER_CAP]
        return True

    def remember_file(self, path: str) -> None:
        """Put a file on top of the recent ones; a name that is no valid Unicode cannot be written and is not kept."""
        if not _is_unicode(path):
            return
        others = [known for known in self.recent_files if known != path]
        self.recent_files = [path, *others][:RECENT_CAP]
        self._forget_facts()

    def remember_facts(self, path: str, facts: RecentFacts) -> None:
        """Note what a recent file holds; nothing of others."""
        self.recent_facts = {**self.recent_facts, path: facts}
        self._forget_facts()

    def forget_files(self, *paths: str) -> None:
        """Take files off the recent ones, with all that is known of them; every one where none is named."""
        self.recent_files = [path for path in self.recent_files if paths and path not in paths]
        self._forget_facts()

    def _forget_facts(self) -> None:
        self.recent_facts = {path: facts for path, facts in self.recent_facts.items() if path in self.recent_files}

    def remember_connection(self, connection: ConnectionSettings) -> None:
        """Put a connection on top of the recent ones; the same address and space count once."""
        place = (connection.url, connection.space)
        others = [known for known in self.recent_connections if (known.url, known.space) != place]
        self.recent_connections = [connection, *others][:RECENT_CAP]

    def keep_connection(self, connection: NamedConnection) -> None:
        """Keep a connection: in place of the one with its id, else at the end."""
        if connection.name != _as_name(connection.name):  # a copy with another name is not checked
            connection = connection.model_copy(update={"name": _as_name(connection.name)})
        known = [named.id for named in self.connections]
        if connection.id in known:
            self.connections[known.index(connection.id)] = connection
        else:
            self.connections.append(connection)

    def drop_connection(self, connection_id: str) -> None:
        """Keep a connection no longer; fine when it is not kept."""
        self.connections = [named for named in self.connections if named.id != connection_id]

    def named_connection(self, connection: ConnectionSettings) -> NamedConnection | None:
        """The connection of this address and space that is kept under a name, if any."""
        place = (connection.url, connection.space)
        return next((named for named in self.connections if (named.url, named.space) == place), None)

    def unnamed_connections(self) -> list[ConnectionSettings]:
        """Recent connections that are not kept under a name, latest first."""
        return [recent for recent in self.recent_connections if self.named_connection(recent) is None]
