"""Facts that identify a log and a scope in a later start of the program."""

from __future__ import annotations

import msgspec

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.marks_file.identity import HEAD_MESSAGES as HEAD_MESSAGES
from inspector.document.marks_file.identity import Digests
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.filters.scope import Scope, source_named


class NamedScope(msgspec.Struct, frozen=True):
    """A scope by names.

    Attributes:
        space: name of the space, or "".
        context: displayed path of the context; "" for the main one, None for the whole space.
        source: name of the source, or "".
    """

    space: str
    context: str | None
    source: str


class FoundScope(msgspec.Struct, frozen=True):
    """A scope by numbers; `exists` is False if the log has no such part."""

    exists: bool
    space: int = 0
    node: int | None = None
    source: int | None = None


class HeadDigest(Request[str], frozen=True):
    """Digest of the first messages; "" if there are fewer."""

    messages: int


class NameScope(Request[NamedScope], frozen=True):
    """Names of a scope."""

    scope: Scope


class FindScope(Request[FoundScope], frozen=True):
    """Finds a scope by its names."""

    named: NamedScope


def _digest(held: OpenDocument, asked: HeadDigest) -> str:
    heads = Digests(held.document.capture).head_digests()
    return heads[asked.messages - 1] if 0 < asked.messages <= len(heads) else ""


def _name(held: OpenDocument, asked: NameScope) -> NamedScope:
    capture, scope = held.document.capture, asked.scope
    tree = held.document.analysis.contexts.tree
    node = None if scope.node is None else tree.resolve(scope.node)
    context = None if node is None else tree.path(node) if node >= 0 else ""
    source = "" if scope.source is None else capture.sources[scope.source].name
    return NamedScope(capture.strings[scope.space], context, source)


def _find(held: OpenDocument, asked: FindScope) -> FoundScope:
    capture, named = held.document.capture, asked.named
    if named.source:
        source = source_named(capture, named.source)
        return FoundScope(source is not None, source=source)
    space = capture.strings.find(named.space) if named.space else 0
    if space is None:
        return FoundScope(False)
    node = None if named.context is None else MAIN
    if named.context:
        node = held.document.analysis.contexts.tree.find_displayed(space, named.context)
    return FoundScope(not (named.context and node == MAIN), space, node)


QUERIES = (
    Query(HeadDigest, str, _digest), Query(NameScope, NamedScope, _name), Query(FindScope, FoundScope, _find),
)  # fmt: skip
