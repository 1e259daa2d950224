"""Vocabulary of readers: the events that any agent's log consists of, each as one row with its payload.

A reader turns each record into events, and knows no column:

    voice = Voice(agent="robot", program="robot-cli", namespace="robot/")
    voice.prompt("Clean the kitchen")                                   a text of the user
    voice.thought("The sink first")                                     reasoning of the model
    voice.call("c1", "wipe", {"surface": "sink"})                       a tool call
    voice.result("c1", "done", tool="wipe")                             its result; failed=True for a failure
    voice.answer("The kitchen is clean")                                a text of the model
    voice.agent_started("c2", agent="a7", label="Clean the oven")       a call that starts a sub-agent
    voice.agent_linked("c2", agent="a7")                                a record that names a call's sub-agent
    voice.agent_ended("a7", "oven is clean", call="c2")                 the sub-agent's outcome
    voice.instructions("Be careful with glass")                         a text of the program for the model
    voice.error("connection lost")                                      a failure that the program reports
    voice.compaction("The kitchen was cleaned.")                        a summary that replaces earlier messages
    voice.usage(event, model="m-1", input=900, output=40)               tokens of the model call behind an event
    voice.bookkeeping("mode", "switched to wet")                        a record of the program for itself
    voice.message("chat", "robot", ("user",), {"text": "hello"})        any other envelope

`place_event(event, ...)` sets time, id and sub-agent of an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    Entry,
    bytes_of,
    call_entry,
    control_entry,
    result_entry,
    set_matched_text,
    text_entry,
)
from inspector.protocol.derived_messages import ApiCall, DerivedMessage, Spawn
from inspector.protocol.timestamps import NO_TIME

Event = Entry
"""One event: its column values, and its payload."""
_THOUGHT, _COMPACTED, _ERROR = "reasoning/thought", "participant/compact-done", "system/error"

ENDED_WELL = "ok"
"""Status of a span that ended without a failure, as member `status` of its payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Makes the events of one format.

    Attributes:
        agent: sender of the model's messages.
        program: sender of the program's own records.
        namespace: prefix of kinds that only this format has, as `robot/`.
        user: sender of prompts.
    """

    agent: str
    program: str
    namespace: str
    user: str = "user"

    def prompt(self, text: str) -> Event:
        """Returns a text of the user."""
        return self._matched(text_entry(CHAT, self.user, self.agent, text))

    def answer(self, text: str) -> Event:
        """Returns a text of the model."""
        return self._matched(text_entry(CHAT, self.agent, self.user, text))

    def instructions(self, text: str) -> Event:
        """Returns a text that the program adds for the model, as its system prompt."""
        return text_entry(CHAT, self.program, self.agent, text)

    def thought(self, text: str) -> Event:
        """Returns reasoning of the model."""
        return self._matched(Entry(DerivedMessage(_THOUGHT, self.agent), {"text": text}))

    def call(self, identifier: str | None, tool: str | None, arguments: object) -> Event:
        """Returns a tool call; arguments may be an object, or JSON in a text."""
        return call_entry(identifier, tool, arguments, self.agent)

    def result(
        self, call: str | None, content: object, *, tool: str | None = None, failed: bool = False
    ) -> Event:  # fmt: skip
        """Returns the result of a call, by the call's id; content may be a text, a block or blocks."""
        return result_entry(call, content, self.agent, name=tool, failed=failed)

    def agent_started(
        self, call: str | None, *, agent: str | None = None, label: str | None = None, prompt: str | None = None,
        type_: str | None = None, tool: str = "agent", arguments: object = None,
    ) -> Event:  # fmt: skip
        """Returns a call that starts a sub-agent.

        Args:
            call: the id of the call.
            agent: the sub-agent's own id, if known; its events have it as context (`place_event`).
            label: its task in a few words.
            prompt: its prompt, word for word.
            type_: the type of agent.
            tool: the called tool.
            arguments: of the call; by default label and prompt.
        """
        given = {key: one for key, one in (("label", label), ("prompt", prompt)) if one}
        event = self.call(call, tool, given if arguments is None else arguments)
        event.meaning.spawn = Spawn(call, agent, None, label, type_, prompt)
        return event

    def agent_linked(
        self, call: str | None, *, agent: str | None = None, label: str | None = None, prompt: str | None = None,
        type_: str | None = None, record: str = "agent-started",
    ) -> Event:  # fmt: skip
        """Returns a row that links a sub-agent to its call, for logs with records of both; arguments as above.

        `agent_started` would count the call a second time.
        """
        event = self.bookkeeping(record, label or "")
        event.meaning.spawn = Spawn(call, agent, None, label, type_, prompt)
        return event

    def agent_ended(
        self, agent: str | None, content: object, *, call: str | None = None, failed: bool = False
    ) -> Event:  # fmt: skip
        """Returns the outcome of a sub-agent, by its id or by the id of the call that started it."""
        event = self.result(call, content, failed=failed)
        event.meaning.spawn = Spawn(call, agent, has_ended=True, has_failed=failed)
        return event

    def compaction(self, summary: str, /, **facts: Any) -> Event:
        """Returns a compaction: the model sees the summary in place of all earlier messages."""
        return control_entry(_COMPACTED, self.agent, summary, facts)

    def error(self, text: str, /, **facts: Any) -> Event:
        """Returns a failure that the program reports."""
        event = control_entry(_ERROR, self.program, text, facts)
        event.meaning.failed = True
        return event

    def usage(
        self, event: Event, *, model: str | None, identifier: str | None = None, cost: float | None = None,
        stop: str | None = None, input: int | None = None, output: int | None = None,
        cache_read: int | None = None, cache_write: int | None = None,
    ) -> Event:  # fmt: skip
        """Sets the reported tokens of the model call behind an event, and returns the event.

        Args:
            event: any event of the call; one of them is enough.
            model: its name.
            identifier: common to all records of the same call; None if each record is another call.
            cost: in dollars, if it is stated.
            stop: the reason why the model stopped, in the words of its API.
            input: tokens without cached ones; None if unknown.
            output: tokens with reasoning.
            cache_read, cache_write: tokens.
        """
        counts = (input, output, cache_read, cache_write)
        has_usage = any(one is not None for one in counts)
        event.meaning.call = ApiCall(identifier, model, has_usage, *(one or 0 for one in counts), stop=stop)
        event.meaning.cost = cost
        return event

    def bookkeeping(self, record: str, text: str = "", /, **facts: Any) -> Event:
        """Returns a record that the program writes for itself; `record` is its type, in the format's namespace."""
        return control_entry(self.namespace + record, self.program, text or record, facts)

    def message(
        self, kind: str, sender: str | None, to: tuple[str, ...] | None, payload: Mapping[str, Any]
    ) -> Event:  # fmt: skip
        """Returns an envelope of any kind."""
        return Entry(DerivedMessage(kind, sender, to), dict(payload))

    def _matched(self, event: Event) -> Event:
        set_matched_text(event, self.user)
        return event


def place_event(
    event: Event, *, time_ns: int = NO_TIME, identifier: str | None = None, agent: str | None = None,
    parent: str | None = None,
) -> Event:  # fmt: skip
    """Sets the place of an event, and returns the event.

    Args:
        event: to change.
        time_ns: nanoseconds since the epoch.
        identifier: id of its record; kept if the event has an id of its own, as a call.
        agent: id of the sub-agent that it belongs to; None for the main agent.
        parent: id of the record that it follows from; results keep the id of their call.
    """
    meaning = event.meaning
    meaning.time_ns = time_ns if time_ns != NO_TIME else meaning.time_ns
    if meaning.identifier is None:
        meaning.identifier = identifier
    elif identifier is not None and identifier != meaning.identifier:
        meaning.record_id = identifier
    meaning.context = agent if agent is not None else meaning.context
    meaning.correlation = meaning.correlation if meaning.correlation is not None else parent
    meaning.size = len(bytes_of(event.payload))
    return event
