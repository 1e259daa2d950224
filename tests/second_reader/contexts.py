"""Contexts: which message is in which, and how they hang together (docs/protocols.md 6 to 8)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
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
    events: list[Event] = field(default_factory=list)
    state: str | None = None
    """concluded or cancelled."""
    ended_by: int | None = None

    @property
    def started_by(self) -> int | None:
        """The first message that began it; such a node is never implicit."""
        return min((event.no for event in self.events if event.starts), default=None)


@dataclass(frozen=True)
class Event:
    """A message that begins or ends what goes on in a context."""

    no: int
    who: str | None
    what: str
    """start, own start (the context bears its id), mark (context/start), end mark, conclusion or cancel."""
    ts: str | None = None
    target: int | None = None
    """Of an end, the start it names."""

    @property
    def starts(self) -> bool:
        return self.what in ("start", "own start", "mark")


class Space:
    """The contexts of one space, built in the order of arrival."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.ids = _opaque(messages)
        self.above: dict[Entity, Entity] = {}
        self.known: list[Entity] = []
        self.declared: dict[Entity, str] = {}
        self.stacks: dict[str | None, list[Entity]] = defaultdict(list)
        self.open: dict[str, Entity] = {}
        self.marks: dict[str, str] = {}
        self.of: dict[int, Entity] = {}
        self.events: list[tuple[Entity, Event]] = []
        self.waiting: list[tuple[Message, Entity]] = []
        self.ends_by_name: list[tuple[Message, Entity | None]] = []
        self.stands: dict[int, Entity | None] = {}
        for message in messages:
            entity = self._take(message)
            if entity is not None:
                self._see(entity)
                self.of[message.no] = entity
            self._name_starts()
        self.states: dict[int, str] = {}

    def _take(self, message: Message) -> Entity | None:
        """The context a message is in; whatever it says of contexts is learnt."""
        entity = self.stands[message.no] = self._named(message)
        if entity is not None:
            self._see(entity)
            self._name_starts()
        if message.kind in ("context/start", "context/end") or (entity is None and message.correlation):
            entity = self._marked(message, entity)
        void = message.refused or message.in_anothers_name
        if message.kind == "reasoning/start":
            self._start(message, entity, void=void)
        elif message.kind in ("reasoning/conclusion", "reasoning/cancel") and not void:
            self.ends_by_name.append((message, entity))
        return entity

    # Starts

    def _start(self, message: Message, entity: Entity | None, *, void: bool) -> None:
        if entity is None:
            if message.id is None:
                return
            self._see(("id", message.id))
            if not void or not any(one == ("id", message.id) and event.starts for one, event in self.events):
                self._note(("id", message.id), message, "own start")
            return
        if message.id is not None and self._is_named(message.id, entity):
            own = self._own(message.id, entity)
            if not void or not any(one == own and event.starts for one, event in self.events):
                self._note(own, message, "own start")
        elif not void:
            self._note(entity, message, "start")
            if message.id is not None:
                self.waiting.append((message, entity))

    def _own(self, identifier: str, entity: Entity) -> Entity:
        """The context that bears the id of a start, below the one the start stands in."""
        own: Entity = ("id", identifier)
        if entity[-1] == identifier:  # it stands in the context of its own id
            above = entity[1] if entity[0] == "in" else self.above.get(entity)
            self._see(own)
            if above is not None:
                self._hang(own, above)
            return own
        self._see(own)
        self._hang(own, entity)
        return own

    def _is_named(self, identifier: str, entity: Entity) -> bool:
        if entity[-1] == identifier:
            return True
        below = f"{self.path(entity)}/{quoted(identifier)}"
        return any(one == ("id", identifier) or self.path(one) == below for one in self._parts())

    def _parts(self) -> list[Entity]:
        found: list[Entity] = []
        for entity in self.known:
            one: Entity | None = entity
            while one is not None:
                found.append(one)
                one = one[1] if one[0] == "in" else None
        return found

    def _name_starts(self) -> None:
        """Starts whose ids are named by now begin a context of their own."""
        for message, entity in [*self.waiting]:
            assert message.id is not None
            if self._is_named(message.id, entity):
                self.waiting.remove((message, entity))
                own = self._own(message.id, entity)
                if own != entity:
                    place = next(n for n, (_, event) in enumerate(self.events) if event.no == message.no)
                    self.events[place] = (own, replace(self.events[place][1], what="own start"))

    def _note(self, entity: Entity, message: Message, what: str, target: int | None = None) -> None:
        ts = message.envelope.get("ts")
        self.events.append((entity, Event(message.no, message.sender, what, ts, target)))

    # Markers

    def _marked(self, message: Message, entity: Entity | None) -> Entity | None:
        payload, void = message.payload, message.refused or message.in_anothers_name
        if message.kind == "context/end":
            given = payload.get("context_id")
            names = [given] if isinstance(given, str) else message.correlation
            for name in [*names, *(self.marks.get(one, "") for one in names)]:
                if name in self.open:
                    found = self.open[name]
                    if not void:
                        del self.open[name]
                        self._note(found, message, "end mark")
                    return found
            return entity
        among = next((self.open[name] for name in message.correlation if name in self.open), None)
        if message.kind != "context/start":
            return among
        above = entity if entity is not None else among
        name = next((one for one in (payload.get("context_id"), message.id) if one), None)
        if name is None:
            return above
        made: Entity = ("id", name)
        self._see(made)
        if above is not None:
            self._hang(made, above)
        if void:
            return made
        self.open[name] = made
        if message.id is not None and message.id != name:
            self.marks[message.id] = name
        if isinstance(payload.get("type"), str):
            self.declared.setdefault(made, payload["type"])
        self._note(made, message, "mark")
        return made

    def _named(self, message: Message) -> Entity | None:
        if message.rpc:
            return None
        context = message.envelope.get("context")
        if context is None:
            context = message.payload.get("context")
        if context is None:
            context = message.envelope.get("thread_id")
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
                node = found[self.path(self.of[message.no])]
                node.messages.append(message.no)
                node.reasoning |= message.kind.startswith("reasoning/")
        for entity, event in [*self.events, *self._ends()]:
            node = found[self.path(entity)]
            node.events.append(event)
            node.reasoning |= event.what == "own start"
        for node in found.values():
            node.state, node.ended_by, states = replay(_in_order(node.events))
            self.states |= states
        return found

    def _ends(self) -> list[tuple[Entity, Event]]:
        """Conclusions and cancels, each in the context it ends: that of the start it names, else its own."""
        begun = {event.no: entity for entity, event in self.events if event.starts}
        found: list[tuple[Entity, Event]] = []
        for message, entity in self.ends_by_name:
            what = message.kind.removeprefix("reasoning/")
            ts = message.envelope.get("ts")
            event = Event(message.no, message.sender, what, ts)
            start = self._start_named_by(message, entity, begun)
            if start is not None:
                target = start if self._is_reasoning(start) else None
                found.append((begun[start], Event(message.no, message.sender, what, ts, target)))
            elif entity is not None:
                found.append((entity, event))
            else:
                below = (self._context_named(name, message) for name in message.correlation)
                own = next((one for one in below if one is not None), None)
                if own is not None:
                    found.append((own, event))
                else:
                    late = self._later_start(message, begun)
                    if late is not None:
                        target = late if self._is_reasoning(late) else None
                        found.append((begun[late], Event(message.no, message.sender, what, ts, target)))
        return found

    def _is_reasoning(self, no: int) -> bool:
        return any(one.no == no and one.kind == "reasoning/start" for one in self.messages)

    def _start_named_by(self, message: Message, entity: Entity | None, begun: dict[int, Entity]) -> int | None:
        for name in dict.fromkeys(message.correlation):
            for other in reversed([one for one in self.messages if one.id == name and one.no < message.no]):
                if other.no not in begun:
                    continue
                beside = self.stands[other.no]
                where = None if entity is None else self.path(entity)
                if where in (None, self.path(begun[other.no]), None if beside is None else self.path(beside)):
                    return other.no
        return None

    def _context_named(self, name: str, message: Message) -> Entity | None:
        """A context that was known by a name when a message came."""
        before = Space([one for one in self.messages if one.no < message.no])
        wanted = before._string(name)
        parts = [before.path(one) for one in before._parts()]
        return wanted if wanted is not None and before.path(wanted) in parts else None

    def _later_start(self, message: Message, begun: dict[int, Entity]) -> int | None:
        later = [one for one in self.messages if one.no > message.no and one.no in begun]
        return next((one.no for one in later if one.id in message.correlation), None)


_ACTS = ("reasoning/start", "reasoning/thought", "mcp/request", "mcp/proposal", "chat")


def went_on(space: Space) -> dict[int, tuple[str, int]]:
    """Messages that act in a context which a conclusion or cancel had ended, or a cancel above: how, and by which."""
    found: dict[int, tuple[str, int]] = {}
    kinds = {message.no: message for message in space.messages}
    nodes = space.nodes()
    for path, node in nodes.items():
        for message in (kinds[no] for no in node.messages if kinds[no].kind in _ACTS):
            state, by, _ = _before(node, message.no)
            after = replay([event for event in _in_order(node.events) if event.no <= message.no])
            begins_again = after[:2] != (state, by)
            is_ended = by is not None and kinds[by].kind in ("reasoning/conclusion", "reasoning/cancel")
            if begins_again or state is None or by is None or not is_ended:
                for state_above, by_above, _ in (_before(nodes[one], message.no) for one in _above(path)):
                    if state_above == "cancelled" and by_above is not None:
                        if kinds[by_above].kind == "reasoning/cancel":
                            found[message.no] = (state_above, by_above)
                        break
                continue
            before = Event(message.no, message.sender, "", message.envelope.get("ts"))
            end = Event(by, kinds[by].sender, "", kinds[by].envelope.get("ts"))
            if state == "cancelled" or not _was_written_before(before, end):
                found[message.no] = (state, by)
    return found


def _above(path: str) -> list[str]:
    """The contexts above one, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]


def _before(node: Node, no: int) -> tuple[str | None, int | None, dict[int, str]]:
    """Returns the state of a context before a message, as `replay`."""
    return replay([event for event in _in_order(node.events) if event.no < no])


def _in_order(events: list[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.no)


def replay(events: list[Event]) -> tuple[str | None, int | None, dict[int, str]]:
    """How a context stands after its starts and ends: its state, what ended it, and the state of each start."""
    states: dict[int, str] = {}
    whose = {event.no: event.who for event in events if event.starts}
    at = {event.no: event for event in events}
    state: str | None = None
    by: int | None = None
    ended: dict[int, int] = {}  # since it began, or began again: starts, and what ended each
    early = {event.target: event for event in events if event.target is not None and event.target > event.no}

    def running() -> list[int]:
        return [no for no, became in states.items() if became == "running"]

    for event in events:
        what = {"conclusion": "concluded", "end mark": "concluded", "cancel": "cancelled"}.get(event.what)
        if what is None:
            own = event.what == "own start" and not states
            late = state is not None and (own or (by is not None and _was_written_before(event, at[by])))
            first = early.get(event.no)
            if late:
                assert state is not None
                assert by is not None
                states[event.no], ended[event.no] = state, by
            elif first is not None:
                states[event.no], ended[event.no] = _state_after(first), first.no
                if state is None and not running():
                    state, by = _state_after(first), first.no
            else:
                if state is not None:
                    state, by, ended = None, None, {}
                for no in [one for one in ended if whose[one] == event.who]:
                    del ended[no]
                states[event.no] = "running"
            continue
        if event.target is not None and event.target > event.no:
            continue
        if event.target is not None:
            mine = [event.target]
        else:
            open_here = [no for no in running() if whose[no] == event.who]
            own = (
                [no for no in open_here if at[no].what != "mark"]
                or [no for no in ended if whose[no] == event.who]
                or open_here
            )
            mine = (own if event.what != "end mark" else []) or running()
        closed = [no for no in mine if states[no] == "running"]
        for no in closed:
            states[no], ended[no] = what, event.no
        if closed:
            if not running():
                state, by = what, event.no
        elif what == "cancelled":
            again = [no for no in (mine or ended) if states.get(no) == "concluded" and no in ended]
            if mine and not again:
                continue
            if state == "cancelled" and not running():
                continue
            for no in again:
                states[no], ended[no] = what, event.no
            if not running():
                state, by = what, event.no
        elif state is None and not running():
            state, by = what, event.no
    return state, by, states


def _state_after(event: Event) -> str:
    return "cancelled" if event.what == "cancel" else "concluded"


def _was_written_before(start: Event, end: Event) -> bool:
    return start.who == end.who and None not in (start.ts, end.ts) and str(start.ts) < str(end.ts)


def _opaque(messages: list[Message]) -> set[str]:
    """Ids that are one name, whatever is in them: of starts, of context objects and of operations."""
    found: set[str] = set()
    for message in messages:
        if message.kind == "reasoning/start" and message.id is not None:
            found.add(message.id)
        if message.kind == "context/start" and isinstance(message.payload.get("context_id"), str):
            found.add(message.payload["context_id"])
        context = message.envelope.get("context") or message.payload.get("context")
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
    of = defaultdict[str | None, list[Message]](list)
    for message in messages:
        of[message.space].append(message)
    return {space: Space(some) for space, some in of.items()}
