"""Checks tool lists of servers: assembles pages, compares versions, inspects definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.formats.mcp.checks.conversations import Conversation, McpMessage
from inspector.formats.mcp.checks.prompt_injection import MORE_ORDERS, ORDERS, orders_in
from inspector.protocol.mcp_definitions import Definition, ListPages, changed_aspects, definitions_of, tools_in
from inspector.protocol.schema_validation import find_external_reference
from inspector.store.columns.hashes import NO_ROW
from inspector.store.files.tool_baseline import ServerTools, digests_of

CHANGED = Check(
    "mcp-tool-changed", WARNING, "Tool definition changed",
    "{detail}.",
    "The user allowed a different tool. A model reads the new description like the old one.",
    "Compare both lists, find out who changed the server, and confirm the tool again.",
    "MCP 2025-06-18, Tools, list changed; OWASP MCP Top 10 (2025), MCP03 tool poisoning",
    example="`tide` changed after its use: description, arguments, hints",
)  # fmt: skip
USED_CHANGED = CHANGED.with_severity(
    ERROR, "a tool that had been called lost its readOnlyHint, or its description grew"
)
NEWER = CHANGED.with_severity(NOTE, "the server reports a new version")
SINCE = Check(
    "mcp-tool-changed-since-last-time", NOTE, "Tool changed since the last tap",
    "{detail}.",
    "A server with an unchanged version offers a different tool from the one allowed before.",
    "Compare its definitions with an earlier capture, and ask the publisher of the server.",
    "OWASP MCP Top 10 (2025), MCP03; a live tap keeps a baseline, `check` compares only with --baseline",
    example="Since 2026-11-12 `tide` changed: description, arguments",
)  # fmt: skip
UNLISTED = Check(
    "mcp-tool-unlisted", WARNING, "Call of an unlisted tool",
    "{detail}.",
    "The call fails, or a hidden tool runs.",
    "Find the origin of the name: an old list, another server, or the model itself.",
    "MCP 2025-06-18, Tools: unknown tools are an error",
    example="`no_such_tool` is not in any list of the server (11 tools)",
)  # fmt: skip
SHADOWED = Check(
    "mcp-tool-shadowed", WARNING, "Tools of two servers conflict",
    "{detail}.",
    "A model may confuse the tools, or use one server's tool as another server orders.",
    "Give each server's tools a prefix in the client, or remove one of the servers.",
    "Invariant Labs, tool shadowing; Snyk agent-scan, E002",
    example="`mail` of one server mentions `send_payment` of another",
)  # fmt: skip
HIDDEN = Check(
    "mcp-description-hidden", ERROR, "Invisible text in a tool definition",
    "{detail}.",
    "A model reads it, but the user who allows the tool does not see it.",
    "Do not allow the tool. See its definition in Raw, and ask the publisher of the server.",
    "OWASP MCP Top 10 (2025), MCP03; Snyk agent-scan, E001",
    example="The description of `add` has 212 invisible characters",
)  # fmt: skip
ROOT = Check(
    "mcp-schema-root", WARNING, "Tool schema is not an object schema",
    "{detail}.",
    "Clients omit such a tool or refuse the whole list.",
    "Give inputSchema the type object, also without arguments; until 2025-11-25 outputSchema as well.",
    "MCP 2025-11-25, Tools, data types; 2026-07-28: an output may be any value",
    example="The inputSchema of `x` is not an object; clients omit the tool",
)  # fmt: skip
ELSEWHERE = Check(
    "mcp-schema-external-ref", NOTE, "Schema refers to another document",
    "{detail}.",
    "Clients must not fetch it, so arguments are not checked. A client that does fetch it leaks information.",
    "Put the referenced schema into $defs of the schema itself.",
    "MCP 2026-07-28, JSON Schema usage",
    example="The inputSchema of `x` refers to https://example.org/schema.json",
)  # fmt: skip
NAME = Check(
    "mcp-tool-name", NOTE, "Tool name not supported by all clients",
    "{detail}.",
    "Models and clients support names of 1 to 128 letters, digits, and _ . - / only.",
    "Give the tool such a name, and a title for users.",
    "MCP 2025-11-25, Tools, tool names",
    example="Some clients do not support the name `send money!`",
)  # fmt: skip
SURPRISE = Check(
    "mcp-destructive-surprise", NOTE, "Read-only tool changes something",
    "{detail}.",
    "Clients run such tools without confirmation.",
    "Remove readOnlyHint or the change. Do not rely on hints of an untrusted server.",
    "MCP 2025-03-26, Tools, annotations: hints are untrusted",
    example="The server reported that its tools changed while only `load` ran, which has a readOnlyHint",
)  # fmt: skip
CHECKS = (
    SURPRISE, CHANGED, USED_CHANGED, NEWER, SINCE, UNLISTED, SHADOWED, HIDDEN, ROOT, ELSEWHERE, NAME,
)  # fmt: skip

_LIST = "tools/list"
_LIST_CHANGED = "notifications/tools/list_changed"
_SAYS_CHANGED = {
    _LIST_CHANGED: "its tools", "notifications/resources/list_changed": "its resources",
    "notifications/prompts/list_changed": "its prompts",
}  # fmt: skip
# Open requests are listed at each notification; with many the change has no certain cause anyway.
_MAX_OPEN_REQUESTS = 8
_NAMES_FROM, _OUTPUTS_ANY = "2025-11-25", "2026-07-28"


@dataclass(slots=True)
class ToolList:
    """The tools of a server, from its lists.

    Attributes:
        listed: by name, from the last complete list.
        row: last message of this list; NO_ROW before the first.
        version: the server's version at that time.
        stale: True if the server reported a change since it began to send this list.
        all_names: all names of all complete lists.
        pages: the list being received. `begun_at` is the row of its first page; it includes earlier reported changes.
        changed_at: row of the last reported change.
    """

    listed: dict[str, Definition] = field(default_factory=dict)
    row: int = NO_ROW
    version: str = ""
    stale: bool = False
    all_names: set[str] = field(default_factory=set)
    pages: ListPages = field(default_factory=ListPages)
    begun_at: int = NO_ROW
    changed_at: int = NO_ROW

    def definition(self, name: str) -> Definition | None:
        """Returns the tool of a name, unless the list is stale."""
        return self.listed.get(name) if not self.stale else None


class ToolLists:
    """Assembles lists and compares them.

    Args:
        needs_schemas: True if a tool must have an argument schema, as in MCP.

    Attributes:
        lists: by conversation and era.
    """

    def __init__(self, *, needs_schemas: bool = True) -> None:
        self._needs_schemas = needs_schemas
        self.lists: dict[tuple[int, bool], ToolList] = {}
        self._of_server: dict[tuple[int, str, bool], ToolList] = {}  # by source, server name and era
        self._servers: dict[tuple[int, bool], str] = {}

    def list_for(self, conversation: Conversation, *, modern: bool) -> ToolList:
        """Returns the tools of a conversation in one era."""
        return self.lists.setdefault((conversation.key, modern), ToolList())

    def accepts(self, method: str, *, answer: bool) -> bool:
        """Accepts lists, change notifications and calls."""
        return method == _LIST if answer else method in _SAYS_CHANGED or method == "tools/call"

    def on_message(self, heard: McpMessage) -> None:
        note = heard.note
        if note is None:
            return
        if heard.by_server and note.method in _SAYS_CHANGED:
            self._check_surprise(heard, _SAYS_CHANGED[note.method])
        if note.method == _LIST_CHANGED and heard.by_server:
            # A notification does not name its era.
            for modern in (False, True):
                tool_list = self.list_for(heard.conversation, modern=modern)
                tool_list.stale, tool_list.changed_at = True, heard.row
        elif note.method == "tools/call" and note.params is not None and not heard.by_server:
            self._check_call(heard, note.params.name)
        elif heard.asked is not None and heard.asked.method == _LIST and note.result is not None:
            self._add_page(heard, self.list_for(heard.conversation, modern=heard.modern))

    def _check_surprise(self, heard: McpMessage, what: str) -> None:
        """Attributes a change notification to the only open call; resources also change by themselves."""
        calls = (
            [one for one in heard.conversation.open.values() if not one.by_server]
            if len(heard.conversation.open) < _MAX_OPEN_REQUESTS
            else []
        )
        if len(calls) != 1 or calls[0].method != "tools/call" or calls[0].cancelled_ns is not None:
            return
        tool_list = self.lists.get((heard.conversation.key, calls[0].modern))
        tool = tool_list.definition(calls[0].name) if tool_list is not None else None
        if tool is not None and _reads_only(tool) and heard.conversation.report_once(SURPRISE, tool.name):
            words = f"changed while only `{_shortened(tool.name)}` ran, which has a readOnlyHint"
            heard.report(SURPRISE, f"The server reported that {what} {words}", other=calls[0].row)

    def _check_call(self, heard: McpMessage, name: Any) -> None:
        tool_list = self.lists.get((heard.conversation.key, heard.modern))
        if tool_list is None or tool_list.row == NO_ROW or not isinstance(name, str):
            return
        if name in tool_list.listed:
            tool_list.listed[name].last_call = heard.row
        elif not tool_list.stale and name not in tool_list.all_names:
            count = f"{len(tool_list.listed):,} tool{'s' * (len(tool_list.listed) != 1)}"
            heard.report(
                UNLISTED, f"`{_shortened(name)}` is not in any list of the server ({count})", other=tool_list.row
            )

    def _add_page(self, heard: McpMessage, tool_list: ToolList) -> None:
        """Takes in one page. A list is complete after its last page, if its first page was seen."""
        asked, result = heard.asked, heard.note.result if heard.note is not None else None
        if asked is None or result is None:
            return
        cursor = asked.note.params.cursor if asked.note.params is not None else None
        page = tools_in(result.tools)
        if page is None:
            tool_list.pages.discard_pages()
            return
        if cursor is None:
            tool_list.begun_at = heard.row
        if tool_list.pages.accepts_cursor(cursor):
            self._check_definitions(heard, page)
        complete = tool_list.pages.add_page(cursor, page, result.next_cursor)
        if complete is not None:
            self._finish_list(heard, tool_list, complete)

    def _finish_list(self, heard: McpMessage, tool_list: ToolList, complete: list[dict[str, Any]]) -> None:
        conversation = heard.conversation
        listed = definitions_of(complete)
        before = tool_list
        # A reconnected client continues the comparison with the same server's former list.
        if tool_list.row == NO_ROW and conversation.server:
            before = self._of_server.get((conversation.source, conversation.server, heard.modern), tool_list)
        if before.row != NO_ROW:
            self._compare(heard, before, listed)
        elif heard.batch.baseline is not None and conversation.report_once(SINCE):
            _compare_with_last_time(heard, heard.batch.baseline.get(conversation.server), listed)
        for name, one in listed.items():
            if (same := before.listed.get(name)) is not None and same.aspects == one.aspects:
                one.last_call = same.last_call
        tool_list.listed, tool_list.row, tool_list.stale = listed, heard.row, tool_list.changed_at > tool_list.begun_at
        tool_list.version = conversation.server_version
        tool_list.all_names |= listed.keys()
        if conversation.server:
            self._of_server[conversation.source, conversation.server, heard.modern] = tool_list
            self._servers[conversation.key, heard.modern] = conversation.server
            self._check_shadowing(heard, tool_list)

    def _compare(self, heard: McpMessage, before: ToolList, listed: dict[str, Definition]) -> None:
        changed = [
            (one, aspects)
            for name, one in listed.items()
            if (old := before.listed.get(name)) is not None and (aspects := changed_aspects(old.aspects, one.aspects))
        ]
        if not changed:
            return
        used = [one.name for one, _ in changed if before.listed[one.name].last_call != NO_ROW]
        # Used tools come first, as only the first one is named.
        changed.sort(key=lambda pair: pair[0].name not in used)
        first, aspects = changed[0]
        more = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        after = " after its use" if first.name in used else ""
        words = f"`{_shortened(first.name)}`{more} changed{after}: {', '.join(aspects)}"
        check = CHANGED
        if before.version and heard.conversation.server_version not in ("", before.version):
            check, words = (
                NEWER,
                f"{words}; the server now reports version {_shortened(heard.conversation.server_version)}",
            )
        elif any(_is_worse(before.listed[name], listed[name]) for name in used):
            check = USED_CHANGED
        heard.report(check, words, other=before.row)

    # Contents of a list

    def _check_definitions(self, heard: McpMessage, tools: list[dict[str, Any]]) -> None:
        version = _version(heard)
        told: dict[Check, list[str]] = {}
        for tool in tools:
            name = tool.get("name")
            if not isinstance(name, str):
                continue
            schemas = _wrong_schemas(tool, version) if self._needs_schemas else ()
            for check, words in chain(_wrong_names(name, version), schemas, _wrong_texts(tool)):
                if heard.conversation.report_once(check, name):
                    told.setdefault(check, []).append(words)
        for check, words in told.items():
            more = len(words) - 1
            others = f"; the same for {more:,} more tool{'s' * (more > 1)}" if more else ""
            heard.report(check, f"{words[0]}{others}")

    def _check_shadowing(self, heard: McpMessage, tool_list: ToolList) -> None:
        """Compares a complete list with other servers' lists. O(lists x names)."""
        conversation = heard.conversation
        # Bounded, as each pair of lists is compared.
        for key, server in list(self._servers.items())[:_MAX_SERVERS]:
            other = self.lists[key]
            if server == conversation.server or key[0] == conversation.key or not other.listed:
                continue
            if not conversation.report_once(SHADOWED, server):
                continue
            told = [
                _describe_shadowing(conversation.server, tool_list, server, other)
                or _describe_shadowing(server, other, conversation.server, tool_list)
            ]
            same = sorted(tool_list.listed.keys() & other.listed.keys())
            if same:
                more = f" and {len(same) - 1:,} more" if len(same) > 1 else ""
                verb = "are tools" if more else "is a tool"
                both = f"{_shortened(server)} and {_shortened(conversation.server)}"
                told.append(f"`{_shortened(same[0])}`{more} {verb} of both {both}")
            if words := "; ".join(filter(None, told)):
                heard.report(SHADOWED, words, other=other.row)


_Wrong = Iterator[tuple[Check, str]]


def _wrong_names(name: str, version: str) -> _Wrong:
    if version >= _NAMES_FROM and not _NAME.fullmatch(name):
        yield NAME, f"Some clients do not support the name `{_shortened(name)}`"


def _wrong_schemas(tool: dict[str, Any], version: str) -> _Wrong:
    name = _shortened(tool["name"])
    for member in ("inputSchema", "outputSchema"):
        schema = tool.get(member)
        if member == "outputSchema" and (schema is None or version >= _OUTPUTS_ANY):
            wrong = False
        else:
            wrong = not isinstance(schema, dict) or schema.get("type") != "object"
        if wrong:
            yield ROOT, f"The {member} of `{name}` is not an object; clients omit the tool"
        target = find_external_reference(schema)
        if target is not None:
            yield ELSEWHERE, f"The {member} of `{name}` refers to {_shortened(target, 60)}"


def _wrong_texts(tool: dict[str, Any]) -> _Wrong:
    name = _shortened(tool["name"])
    for where, text in _texts_of(tool):
        if hidden := count_hidden_characters(text):
            place = "description" if where == "description" else "definition"
            noun = "character" if hidden == 1 else "characters"
            yield HIDDEN, f"The {place} of `{name}` has {hidden:,} invisible {noun}"
    description = tool.get("description")
    if isinstance(description, str) and (orders := orders_in(description)):
        words = f"The description of `{name}` tells the model to {', to '.join(orders)}, and to pass data on"
        yield MORE_ORDERS if len(orders) > 1 else ORDERS, words


def _is_worse(before: Definition, after: Definition) -> bool:
    """Returns True if a tool is no longer read-only, or if its description has grown."""
    told, tells = (one.aspects.get("description", b"") for one in (before, after))
    return (_reads_only(before) and not _reads_only(after)) or (told != tells and len(tells) > len(told))


def _reads_only(tool: Definition) -> bool:
    return b'"readOnlyHint":true' in tool.aspects["annotations"]


def _compare_with_last_time(heard: McpMessage, last: ServerTools | None, listed: dict[str, Definition]) -> None:
    """Compares a list with the previous one of the same server version."""
    origin = heard.batch.capture.sources[heard.conversation.source].origin.get("origin")
    opened_ns = origin.get("opened_ns") if isinstance(origin, dict) else None
    last = last.before_tap(opened_ns) if last is not None and isinstance(opened_ns, int) else last
    if last is None or last.version != heard.conversation.server_version:
        return
    now = digests_of(listed)
    changed = [
        (name, parts) for name in now if name in last.tools and (parts := changed_aspects(last.tools[name], now[name]))
    ]
    if changed:
        (name, parts), more = changed[0], len(changed) - 1
        others = f" and {more:,} more" if more else ""
        words = f"Since {last.listed_at[:10]} `{_shortened(name)}`{others} changed: {', '.join(parts)}"
        heard.report(SINCE, words)


_MAX_SERVERS = 100
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_DISTINCTIVE_NAME = re.compile(r"(?=.*[_-]).{5,}", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9_.-]+")


def _describe_shadowing(server: str, tool_list: ToolList, others: str, other: ToolList) -> str:
    """Describes a tool description that names another server's tool; "" without one."""
    telling = {name for name in other.listed if _DISTINCTIVE_NAME.fullmatch(name) and name not in tool_list.listed}
    for one in tool_list.listed.values() if telling else ():
        words = {word.strip(".-") for word in _WORD.findall(one.aspects.get("description", b"").decode())}
        named = sorted(words & telling)
        if named:
            name, place, mention = _shortened(one.name), _shortened(server), _shortened(named[0])
            return f"`{name}` of {place} mentions `{mention}` of {_shortened(others)}"
    return ""


def _version(heard: McpMessage) -> str:
    return _OUTPUTS_ANY if heard.modern else heard.conversation.version


def _texts_of(tool: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns the texts of a definition with their member."""
    found: list[tuple[str, str]] = []
    for member in ("title", "description", "inputSchema", "outputSchema", "annotations"):
        layer: list[Any] = [tool.get(member)]
        depth = 0
        while layer and depth < _MAX_DEPTH and len(found) < _MAX_TEXTS:
            found += [(member, one) for one in layer if isinstance(one, str)]
            inner = [one for one in layer if isinstance(one, dict | list)]
            layer = [item for one in inner for item in (one.values() if isinstance(one, dict) else one)]
            layer += [key for one in inner if isinstance(one, dict) for key in one]
            depth += 1
    return found


_MAX_TEXTS = 10_000
_MAX_DEPTH = 64
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u180e\u202a-\u202e\u2061-\u2064\u2066-\u206f]"
    "|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0000-\U000e007f]+"
)
_LAYOUT_MARKS = re.compile("[\u00ad\u200b\u2060\ufeff]+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BLANKS = re.compile(r"[ \t\r\n\u00a0\u2800\u3164]{1001,}")
_MAX_LAYOUT_MARKS = 8


def count_hidden_characters(text: str) -> int:
    """Counts invisible characters: controls, tags, direction overrides, comments, long blanks.

    RULE: legitimate are joiners of emoji and of Persian or Indic words, direction marks in Arabic and Hebrew, flags
    made of tags, and line ends. Soft hyphens and the like are legitimate if they are few and single.
    """
    hidden = sum(len(found[0]) for rule in (_INVISIBLE, _COMMENT, _BLANKS) for found in rule.finditer(text))
    layout = [len(found[0]) for found in _LAYOUT_MARKS.finditer(text)]
    return hidden + (sum(layout) if len(layout) > _MAX_LAYOUT_MARKS or any(length > 1 for length in layout) else 0)


def _shortened(text: str, longest: int = 48) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
