"""The scope of a table in words, and the topics of the traffic."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.engine.requests.context_tree import figures_of
from inspector.filters.scope import Scope
from inspector.present.context_labels import line_labels
from inspector.present.log_topics import topics_of
from inspector.settings.model import Topic as Topic


class ScopeFacts(msgspec.Struct, frozen=True):
    """A scope in words.

    Attributes:
        node: its present node; MAIN without one.
        path: path of its node for `$context`; None without one.
        labels: from the root down, or the name of its space or source.
        has_reach: its reach can be changed.
    """

    node: int
    path: str | None
    labels: list[str]
    has_reach: bool = False


class DescribeScope(Request[ScopeFacts], frozen=True):
    """Describes a scope."""

    is_urgent: ClassVar[bool] = True
    scope: Scope


class TopicsOfLog(Request[tuple[Topic, ...]], frozen=True):
    """Topics of the traffic, the most frequent first. O(new messages)."""


def _describe(held: OpenDocument, asked: DescribeScope) -> ScopeFacts:
    scope, document = asked.scope, held.document
    contexts = document.analysis.contexts
    node = MAIN if scope.node is None else contexts.tree.resolve(scope.node)
    if scope.source is not None:
        return ScopeFacts(MAIN, None, [document.capture.sources[scope.source].name])
    if scope.node is None:
        return ScopeFacts(MAIN, None, [figures_of(held).space_name(scope.space)])
    if node == MAIN:
        return ScopeFacts(MAIN, None, ["main"])
    return ScopeFacts(node, contexts.tree.path(node), line_labels(contexts, node), has_reach=True)


def _topics(held: OpenDocument, _asked: TopicsOfLog) -> tuple[Topic, ...]:
    return topics_of(held.document)


QUERIES = (
    Query(DescribeScope, ScopeFacts, _describe),
    Query(TopicsOfLog, tuple[Topic, ...], _topics),
)
