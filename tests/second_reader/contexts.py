"""Contexts: which message is in which, and how they hang together (docs/protocols.md 6 to 8)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.second_reader.messages import Message

Entity = tuple[Any, ...]
"""What a context is: ("id", text), or ("in", the one above, segment)."""


@dataclass
class Node:
    """A context as it looks in the end."""

    path: str
    messages: list[int] = field(default_factory=list)
    declared: str | None = None
    reasoning: bool = False
    started: bool = False
    """A reasoning/start began it; such a node is never implicit."""
    state: str | None = None
    """concluded or cancelled."""


class Space:
    """The contexts of one space, built in the order of arrival."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.ids = _opaque(messages)
        self.above: dict[Entity, Entity] = {}
        self.known: list[Entity] = []
        self.declared: dict[Entity, str] = {}
        self.stacks: dict[str | None, list[Entity]] = defaultdict(list)
        self.spans: dict[str, Entity] = {}
        self.of: dict[int, Entity] = {}
        for message in messages:
            entity = self._take(message)
            if entity is not None:
                self._see(entity)
                self.of[message.no] = entity

    def _take(self, message: Message) -> Entity | None:
        """The context a message is in; whatever it says of contexts is learnt."""
        entity = self._named(message)
        if message.kind == "reasoning/start" and message.id is not None:
            self._see(("id", message.id))
            if entity is not None:
                self._hang(("id", message.id), entity)
        return entity

    def _named(self, message: Message) -> Entity | None:
        context = None if message.rpc else message.envelope.get("context")
        if isinstance(context, str):
            return self._string(context)
        if not isinstance(context, dict):
            return None
        if "operation" in context:
            return self._operation(context, message)
        return self._object(context)

    def _string(self, context: str) -> Entity | None:
        segments = [segment for segment in context.split("/") if segment]
        if context in self.ids or not segments:
            return ("id", context) if context in self.ids else None
        known = (n for n in range(len(segments), 0, -1) if "/".join(segments[:n]) in self.ids)
        first = next(known, 1)  # the longest beginning that is an id is one name
        entity: Entity = ("id", "/".join(segments[:first]))
        for segment in segments[first:]:
            entity = ("in", entity, segment)
        return entity

    def _object(self, context: dict[str, Any]) -> Entity:
        named = context.get("id")
        entity: Entity = ("id", named) if isinstance(named, str) and named else ("no id",)
        above = context.get("parent")
        if isinstance(above, dict):
            nested = self._object(above)
            self._see(nested)
            above = nested[1] if nested[0] == "id" else None
        if isinstance(context.get("type"), str) and context["type"]:
            self.declared.setdefault(entity, context["type"])
        self._see(entity)
        if isinstance(above, str) and above:
            if entity not in self.above:
                self._see(("id", above))
            self._hang(entity, ("id", above))
        return entity

    def _operation(self, context: dict[str, Any], message: Message) -> Entity | None:
        stack = self.stacks[message.sender]
        named = context.get("correlation_id") or context.get("topic")
        entity: Entity | None = ("id", named) if isinstance(named, str) else None
        if entity is not None and context["operation"] == "push" and stack and entity not in stack:
            self._hang(entity, stack[-1])
        if message.envelope.get("kind") != "meup/context":  # it says where it is, and leaves the stack alone
            return entity or (stack[-1] if stack else None)
        if context["operation"] == "pop":
            return self._pop(stack, entity)
        if entity is None:
            return stack[-1] if stack else None
        if entity in stack:
            stack.remove(entity)
        stack.append(entity)
        return entity

    def _pop(self, stack: list[Entity], entity: Entity | None) -> Entity | None:
        """The one taken off: the one named, with what lies on it, else the top."""
        if entity is None:
            return stack.pop() if stack else None
        if entity in stack:
            del stack[stack.index(entity) :]
        return entity

    def _hang(self, entity: Entity, above: Entity) -> None:
        """The first one above counts, unless it lies below."""
        if entity not in self.above and self.path(entity) not in self._way(above):
            self.above[entity] = above

    def _way(self, entity: Entity) -> list[str]:
        """Paths of a context and of all above it."""
        above: Entity | None = entity[1] if entity[0] == "in" else self.above.get(entity)
        return [self.path(entity), *(self._way(above) if above is not None else ())]

    def _see(self, entity: Entity) -> None:
        if entity not in self.known:
            self.known.append(entity)

    def path(self, entity: Entity) -> str:
        if entity[0] == "in":
            return f"{self.path(entity[1])}/{quoted(entity[2])}"
        own = quoted(entity[1]) if entity[0] == "id" else "(no id)"
        above = self.above.get(entity)
        return own if above is None else f"{self.path(above)}/{own}"

    def nodes(self) -> dict[str, Node]:
        """All of them by path, with those that are only on the way."""
        found: dict[str, Node] = {}
        for entity in self.known:
            path = self.path(entity)
            parts = path.split("/")
            for depth in range(1, len(parts) + 1):
                found.setdefault("/".join(parts[:depth]), Node("/".join(parts[:depth])))
            found[path].declared = found[path].declared or self.declared.get(entity)
        for message in self.messages:
            if message.no in self.of:
                _enter(found[self.path(self.of[message.no])], message)
            if message.kind == "reasoning/start" and message.id and (own := self.path(("id", message.id))) in found:
                found[own].reasoning = found[own].started = True
        return found


def _enter(node: Node, message: Message) -> None:
    node.messages.append(message.no)
    if message.kind.startswith("reasoning/"):
        node.reasoning = True
    if message.in_anothers_name or message.refused:
        return
    if message.kind == "reasoning/cancel":
        node.state = "cancelled"
    elif message.kind == "reasoning/conclusion" and node.state is None:
        node.state = "cancelled" if message.payload.get("cancelled") is True else "concluded"


def _opaque(messages: list[Message]) -> set[str]:
    """Ids that are one name, whatever is in them: of starts, of context objects and of operations."""
    found: set[str] = set()
    for message in messages:
        if message.kind == "reasoning/start" and message.id is not None:
            found.add(message.id)
        context = message.envelope.get("context")
        while isinstance(context, dict):
            for name in ("id", "correlation_id"):
                if isinstance(context.get(name), str):
                    found.add(context[name])
            if "operation" in context and "correlation_id" not in context and isinstance(context.get("topic"), str):
                found.add(context["topic"])
            parent = context.get("parent")
            if isinstance(parent, str):
                found.add(parent)
            context = parent
    return found


def quoted(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")


def contexts(messages: list[Message]) -> dict[str | None, Space]:
    """The contexts of each space."""
    of = defaultdict[str | None, list[Message]](list)
    for message in messages:
        of[message.space].append(message)
    return {space: Space(some) for space, some in of.items()}
