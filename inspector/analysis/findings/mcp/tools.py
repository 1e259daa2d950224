"""What servers list as their tools: lists put together from their pages, what changes in them, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.findings.mcp.conversations import Heard, Talk
from inspector.analysis.findings.mcp.orders import MORE_ORDERS, ORDERS, orders_in
from inspector.protocol.mcp_definitions import Definition, ListPages, definitions_of, differing, tools_in
from inspector.protocol.schema_validation import references_elsewhere
from inspector.store.columns.hashes import NO_ROW
from inspector.store.files.tool_baseline import Listed, digests_of

CHANGED = Check(
    "mcp-tool-changed", WARNING, "Definition of a tool was replaced",
    "{detail}.",
    "Whoever allowed the tool allowed another one; a model reads the new description as if it had always stood there.",
    "Compare both lists, and ask who changed the server; let people allow the tool again.",
    "MCP 2025-06-18, Tools, list changed; OWASP MCP Top 10 (2025), MCP03 tool poisoning",
    example="`tide` was changed after it had been used: description, arguments, hints",
)  # fmt: skip
USED_CHANGED = CHANGED.at(ERROR, "a tool that had been called lost its readOnlyHint, or its description grew")
NEWER = CHANGED.at(NOTE, "the server calls itself another version than before")
SINCE = Check(
    "mcp-tool-changed-since-last-time", NOTE, "Tool that was another one when the server was tapped last",
    "{detail}.",
    "A server that is the same version as before offers something else than was allowed then.",
    "Compare its definitions with those of an earlier capture; ask whoever publishes the server.",
    "OWASP MCP Top 10 (2025), MCP03; a live tap remembers, `check` looks only with --baseline",
    example="Since 2026-11-12 `tide` was changed: description, arguments",
)  # fmt: skip
UNLISTED = Check(
    "mcp-tool-unlisted", WARNING, "Call of a tool that the server does not list",
    "{detail}.",
    "The call fails, or something runs that nobody was shown.",
    "Look at where the client has the name from: an old list, another server, or the model itself.",
    "MCP 2025-06-18, Tools: unknown tools are an error",
    example="`no_such_tool` is in none of the server's lists (11 tools)",
)  # fmt: skip
SHADOWED = Check(
    "mcp-tool-shadowed", WARNING, "Tools of two servers get in each other's way",
    "{detail}.",
    "A model takes one for the other, or does with one server's tool what another server says about it.",
    "Give the tools of each server a prefix in the client, or leave one of the servers out.",
    "Invariant Labs, tool shadowing; Snyk agent-scan, E002",
    example="`mail` of one server speaks of `send_payment` of another",
)  # fmt: skip
HIDDEN = Check(
    "mcp-description-hidden", ERROR, "Text in a tool's definition that people do not see",
    "{detail}.",
    "A model reads what nobody sees who allows the tool.",
    "Do not allow the tool; look at the definition in Raw, and ask whoever publishes the server.",
    "OWASP MCP Top 10 (2025), MCP03; Snyk agent-scan, E001",
    example="The description of `add` has 212 characters nobody sees",
)  # fmt: skip
ROOT = Check(
    "mcp-schema-root", WARNING, "Schema of a tool is none of an object",
    "{detail}.",
    "Clients leave such a tool out, or refuse the whole list.",
    "Let inputSchema have type object, also where the tool takes nothing; outputSchema until 2025-11-25 as well.",
    "MCP 2025-11-25, Tools, data types; 2026-07-28: an output may be any value",
    example="The inputSchema of `x` is no object; clients leave the tool out",
)  # fmt: skip
ELSEWHERE = Check(
    "mcp-schema-external-ref", NOTE, "Schema that refers to another document",
    "{detail}.",
    "Clients must not fetch it, so that the arguments are not checked; whoever does fetch tells the network about it.",
    "Put what is referred to under $defs of the schema itself.",
    "MCP 2026-07-28, JSON Schema usage",
    example="The inputSchema of `x` refers to https://example.org/schema.json",
)  # fmt: skip
NAME = Check(
    "mcp-tool-name", NOTE, "Name of a tool that clients may not take",
    "{detail}.",
    "Models and clients take names of 1 to 128 letters, digits, and _ . - / only.",
    "Give the tool such a name, and a title for people.",
    "MCP 2025-11-25, Tools, tool names",
    example="`send money!` is no name that every client takes",
)  # fmt: skip
SURPRISE = Check(
    "mcp-destructive-surprise", NOTE, "Tool that says it only reads, and changes something",
    "{detail}.",
    "Clients let such tools run without asking anybody.",
    "Take readOnlyHint away, or let the tool change nothing; do not rely on hints of a server nobody vouches for.",
    "MCP 2025-03-26, Tools, annotations: hints are untrusted",
    example="While `load`, which says that it only reads, was at work alone, the server said that its tools changed",
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
_FEW = 8
_NAMES_FROM, _OUTPUTS_ANY = "2025-11-25", "2026-07-28"


@dataclass(slots=True)
class ToolBook:
    """The tools of a server, by its lists.

    Attributes:
        listed: by name, as the last complete list has them.
        row: where that list ended; NO_ROW before there was one.
        version: what the server called itself then.
        stale: the server has said since it began to answer that they changed.
        ever: every name that a complete list had.
        pages: the list that is coming in; the answer `begun_at` brought its first page. A change that the server told
            before that is in it.
        changed_at: when the server said last that they changed.
    """

    listed: dict[str, Definition] = field(default_factory=dict)
    row: int = NO_ROW
    version: str = ""
    stale: bool = False
    ever: set[str] = field(default_factory=set)
    pages: ListPages = field(default_factory=ListPages)
    begun_at: int = NO_ROW
    changed_at: int = NO_ROW

    def definition(self, name: str) -> Definition | None:
        """The tool of that name, where its definition is known to hold."""
        return self.listed.get(name) if not self.stale else None


class Tools:
    """Puts lists together, and compares them.

    Args:
        needs_schemas: a tool is to be listed with a schema of its arguments, as MCP has it.

    Attributes:
        books: by conversation and era.
    """

    def __init__(self, *, needs_schemas: bool = True) -> None:
        self._needs_schemas = needs_schemas
        self.books: dict[tuple[int, bool], ToolBook] = {}
        self._of_server: dict[tuple[int, str, bool], ToolBook] = {}  # by source, name of the server and era
        self._servers: dict[tuple[int, bool], str] = {}

    def book(self, talk: Talk, *, modern: bool) -> ToolBook:
        """The tools of a conversation in one era."""
        return self.books.setdefault((talk.key, modern), ToolBook())

    def hears(self, method: str, *, answer: bool) -> bool:
        """Lists and what they say of changes, and calls."""
        return method == _LIST if answer else method in _SAYS_CHANGED or method == "tools/call"

    def hear(self, heard: Heard) -> None:
        """Take in a message."""
        note = heard.note
        if note is None:
            return
        if heard.by_server and note.method in _SAYS_CHANGED:
            self._changed_meanwhile(heard, _SAYS_CHANGED[note.method])
        if note.method == _LIST_CHANGED and heard.by_server:
            for modern in (False, True):
                book = self.book(heard.talk, modern=modern)
                book.stale, book.changed_at = True, heard.row
        elif note.method == "tools/call" and note.params is not None and not heard.by_server:
            self._called(heard, note.params.name)
        elif heard.asked is not None and heard.asked.method == _LIST and note.result is not None:
            self._page(heard, self.book(heard.talk, modern=heard.modern))

    def _changed_meanwhile(self, heard: Heard, what: str) -> None:
        """What a server says of its lists while a single call is open is of that call; resources change anyway."""
        calls = [one for one in heard.talk.open.values() if not one.by_server] if len(heard.talk.open) < _FEW else []
        if len(calls) != 1 or calls[0].method != "tools/call" or calls[0].cancelled_ns is not None:
            return
        book = self.books.get((heard.talk.key, calls[0].modern))
        tool = book.definition(calls[0].name) if book is not None else None
        if tool is not None and _reads_only(tool) and heard.talk.once(SURPRISE, tool.name):
            words = (
                f"While `{_short(tool.name)}`, which says that it only reads, was at work alone, the server said that"
            )
            heard.report(SURPRISE, f"{words} {what} changed", other=calls[0].row)

    def _called(self, heard: Heard, name: Any) -> None:
        book = self.books.get((heard.talk.key, heard.modern))
        if book is None or book.row == NO_ROW or not isinstance(name, str):
            return
        if name in book.listed:
            book.listed[name].called = heard.row
        elif not book.stale and name not in book.ever:
            count = f"{len(book.listed):,} tool{'s' * (len(book.listed) != 1)}"
            heard.report(UNLISTED, f"`{_short(name)}` is in none of the server's lists ({count})", other=book.row)

    def _page(self, heard: Heard, book: ToolBook) -> None:
        """Take in one page; the list is complete when nothing follows one that began at its beginning."""
        asked, result = heard.asked, heard.note.result if heard.note is not None else None
        if asked is None or result is None:
            return
        cursor = asked.note.params.cursor if asked.note.params is not None else None
        page = tools_in(result.tools)
        if page is None:
            book.pages.give_up()
            return
        if cursor is None:
            book.begun_at = heard.row
        if book.pages.fits(cursor):
            self._look_at(heard, page)
        complete = book.pages.take(cursor, page, result.next_cursor)
        if complete is not None:
            self._complete(heard, book, complete)

    def _complete(self, heard: Heard, book: ToolBook, complete: list[dict[str, Any]]) -> None:
        talk = heard.talk
        listed = definitions_of(complete)
        before = book
        if book.row == NO_ROW and talk.server:
            before = self._of_server.get((talk.source, talk.server, heard.modern), book)
        if before.row != NO_ROW:
            self._compare(heard, before, listed)
        elif heard.batch.baseline is not None and talk.once(SINCE):
            _compare_with_last_time(heard, heard.batch.baseline.get(talk.server), listed)
        for name, one in listed.items():
            if (same := before.listed.get(name)) is not None and same.aspects == one.aspects:
                one.called = same.called
        book.listed, book.row, book.stale = listed, heard.row, book.changed_at > book.begun_at
        book.version = talk.server_version
        book.ever |= listed.keys()
        if talk.server:
            self._of_server[talk.source, talk.server, heard.modern] = book
            self._servers[talk.key, heard.modern] = talk.server
            self._shadows(heard, book)

    def _compare(self, heard: Heard, before: ToolBook, listed: dict[str, Definition]) -> None:
        changed = [
            (one, aspects)
            for name, one in listed.items()
            if (old := before.listed.get(name)) is not None and (aspects := differing(old.aspects, one.aspects))
        ]
        if not changed:
            return
        used = [name for one, _ in changed if before.listed[name := one.name].called != NO_ROW]
        changed.sort(key=lambda pair: pair[0].name not in used)
        first, aspects = changed[0]
        more = f" and {len(changed) - 1:,} more" if len(changed) > 1 else ""
        after = " after it had been used" if first.name in used else ""
        verb = "were" if more else "was"
        words = f"`{_short(first.name)}`{more} {verb} changed{after}: {', '.join(aspects)}"
        check = CHANGED
        if before.version and heard.talk.server_version not in ("", before.version):
            check, words = NEWER, f"{words}; the server calls itself {_short(heard.talk.server_version)} now"
        elif any(_is_worse(before.listed[name], listed[name]) for name in used):
            check = USED_CHANGED
        heard.report(check, words, other=before.row)

    # What a list says

    def _look_at(self, heard: Heard, tools: list[dict[str, Any]]) -> None:
        version = _version(heard)
        told: dict[Check, list[str]] = {}
        for tool in tools:
            name = tool.get("name")
            if not isinstance(name, str):
                continue
            schemas = _wrong_schemas(tool, version) if self._needs_schemas else ()
            for check, words in chain(_wrong_names(name, version), schemas, _wrong_texts(tool)):
                if heard.talk.once(check, name):
                    told.setdefault(check, []).append(words)
        for check, words in told.items():
            more = len(words) - 1
            others = f"; so it is with {more:,} more tool{'s' * (more > 1)}" if more else ""
            heard.report(check, f"{words[0]}{others}")

    def _shadows(self, heard: Heard, book: ToolBook) -> None:
        """Compare a complete list with those of other servers. O(lists x names)."""
        talk = heard.talk
        for key, server in list(self._servers.items())[:_MOST_SERVERS]:
            other = self.books[key]
            if server == talk.server or key[0] == talk.key or not other.listed:
                continue
            if not talk.once(SHADOWED, server):
                continue
            told = [_shadow(talk.server, book, server, other) or _shadow(server, other, talk.server, book)]
            same = sorted(book.listed.keys() & other.listed.keys())
            if same:
                more = f" and {len(same) - 1:,} more" if len(same) > 1 else ""
                verb = "are tools" if more else "is a tool"
                told.append(f"`{_short(same[0])}`{more} {verb} of both {_short(server)} and {_short(talk.server)}")
            if words := "; ".join(filter(None, told)):
                heard.report(SHADOWED, words, other=other.row)


_Wrong = Iterator[tuple[Check, str]]


def _wrong_names(name: str, version: str) -> _Wrong:
    if version >= _NAMES_FROM and not _NAME.fullmatch(name):
        yield NAME, f"`{_short(name)}` is no name that every client takes"


def _wrong_schemas(tool: dict[str, Any], version: str) -> _Wrong:
    name = _short(tool["name"])
    for member in ("inputSchema", "outputSchema"):
        schema = tool.get(member)
        if member == "outputSchema" and (schema is None or version >= _OUTPUTS_ANY):
            wrong = False
        else:
            wrong = not isinstance(schema, dict) or schema.get("type") != "object"
        if wrong:
            yield ROOT, f"The {member} of `{name}` is no object; clients leave the tool out"
        target = references_elsewhere(schema)
        if target is not None:
            yield ELSEWHERE, f"The {member} of `{name}` refers to {_short(target, 60)}"


def _wrong_texts(tool: dict[str, Any]) -> _Wrong:
    name = _short(tool["name"])
    for where, text in _texts_of(tool):
        if hidden := hidden_characters(text):
            place = "description" if where == "description" else "definition"
            noun = "character" if hidden == 1 else "characters"
            yield HIDDEN, f"The {place} of `{name}` has {hidden:,} {noun} nobody sees"
    description = tool.get("description")
    if isinstance(description, str) and (orders := orders_in(description)):
        words = f"The description of `{name}` tells the model to {', to '.join(orders)}, and to pass something on"
        yield MORE_ORDERS if len(orders) > 1 else ORDERS, words


def _is_worse(before: Definition, after: Definition) -> bool:
    """Whether a tool does not only read any more, or more stands in its description."""
    told, tells = (one.aspects.get("description", b"") for one in (before, after))
    return (_reads_only(before) and not _reads_only(after)) or (told != tells and len(tells) > len(told))


def _reads_only(tool: Definition) -> bool:
    return b'"readOnlyHint":true' in tool.aspects["annotations"]


def _compare_with_last_time(heard: Heard, last: Listed | None, listed: dict[str, Definition]) -> None:
    """Compare a list with what the same version of the server listed when it was tapped before."""
    origin = heard.batch.capture.sources[heard.talk.source].origin.get("origin")
    opened_ns = origin.get("opened_ns") if isinstance(origin, dict) else None
    last = last.as_before(opened_ns) if last is not None and isinstance(opened_ns, int) else last
    if last is None or last.version != heard.talk.server_version:
        return
    now = digests_of(listed)
    changed = [
        (name, parts) for name in now if name in last.tools and (parts := differing(last.tools[name], now[name]))
    ]
    if changed:
        (name, parts), more = changed[0], len(changed) - 1
        others, verb = (f" and {more:,} more", "were") if more else ("", "was")
        words = f"Since {last.seen[:10]} `{_short(name)}`{others} {verb} changed: {', '.join(parts)}"
        heard.report(SINCE, words)


_MOST_SERVERS = 100
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_TELLING = re.compile(r"(?=.*[_-]).{5,}", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9_.-]+")


def _shadow(server: str, book: ToolBook, others: str, other: ToolBook) -> str:
    """Where a description of one server names a tool of another; "" where none does."""
    telling = {name for name in other.listed if _TELLING.fullmatch(name) and name not in book.listed}
    for one in book.listed.values() if telling else ():
        words = {word.strip(".-") for word in _WORD.findall(one.aspects.get("description", b"").decode())}
        named = sorted(words & telling)
        if named:
            return f"`{_short(one.name)}` of {_short(server)} speaks of `{_short(named[0])}` of {_short(others)}"
    return ""


def _version(heard: Heard) -> str:
    return _OUTPUTS_ANY if heard.modern else heard.talk.version


def _texts_of(tool: dict[str, Any]) -> list[tuple[str, str]]:
    """The texts of a definition, with the member that they stand in."""
    found: list[tuple[str, str]] = []
    for member in ("title", "description", "inputSchema", "outputSchema", "annotations"):
        layer: list[Any] = [tool.get(member)]
        depth = 0
        while layer and depth < _DEEPEST and len(found) < _MOST_TEXTS:
            found += [(member, one) for one in layer if isinstance(one, str)]
            inner = [one for one in layer if isinstance(one, dict | list)]
            layer = [item for one in inner for item in (one.values() if isinstance(one, dict) else one)]
            layer += [key for one in inner if isinstance(one, dict) for key in one]
            depth += 1
    return found


_MOST_TEXTS = 10_000
_DEEPEST = 64
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u180e\u202a-\u202e\u2061-\u2064\u2066-\u206f]"
    "|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0000-\U000e007f]+"
)
_LAYOUT = re.compile("[\u00ad\u200b\u2060\ufeff]+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BLANKS = re.compile(r"[ \t\r\n\u00a0\u2800\u3164]{1001,}")
_FEW_LAYOUT = 8


def hidden_characters(text: str) -> int:
    """How many characters of a text nobody sees who reads it: controls, tags, overrides of direction, comments, gaps.

    RULE: joiners of emoji and of Persian or Indic words, marks of direction in Arabic and Hebrew, flags made of tags,
    and ends of lines are what they seem; so are soft hyphens and the like where a few of them stand alone.
    """
    hidden = sum(len(found[0]) for rule in (_UNSEEN, _COMMENT, _BLANKS) for found in rule.finditer(text))
    layout = [len(found[0]) for found in _LAYOUT.finditer(text)]
    return hidden + (sum(layout) if len(layout) > _FEW_LAYOUT or any(length > 1 for length in layout) else 0)


def _short(text: str, longest: int = 48) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
