"""Makes the rows of a record by a declaration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from inspector.formats.declared.declaration import Declaration, EventKind, Match, TimeUnit
from inspector.formats.declared.record_paths import RecordPath, first_value, value_at
from inspector.formats.entry_builders import bytes_of, has_text, text_of
from inspector.formats.value_conversions import describe_record
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.header import ABSENT
from inspector.protocol.timestamps import NO_TIME, parse_time

_SCALES = {
    TimeUnit.SECONDS: 1_000_000_000, TimeUnit.MILLISECONDS: 1_000_000, TimeUnit.MICROSECONDS: 1_000,
    TimeUnit.NANOSECONDS: 1,
}  # fmt: skip
_MAX_NS = 2**63 - 1
_MAX_DIGITS = 40
_NO_FAILURE = frozenset({"", "0", "false", "no", "none", "null", "ok", "success", "succeeded", "completed", "done"})
_AGENTS = frozenset({"assistant", "model", "ai", "agent", "bot"})
_USERS = frozenset({"user", "human"})
_PROGRAMS = frozenset({"system", "developer"})
_NO_SLUG = re.compile(r"[^\w.-]+")
_MAX_SLUG, _MAX_KIND = 40, 1_000
_OF_AGENT = frozenset({EventKind.ANSWER, EventKind.THOUGHT, EventKind.CALL, EventKind.AGENT_STARTED})


class EventMaker:
    """Makes the rows of records by one declaration."""

    def __init__(self, declaration: Declaration) -> None:
        self._declared = declaration
        self._namespace = f"{declaration.name}/"
        named = declaration.participants
        self._user, self._agent = named.user, named.agent or declaration.name
        self._program = named.program or declaration.name
        fields = declaration.fields
        known = (*fields.id, *fields.time, *fields.session, *declaration.kind.path, *fields.agent, *fields.parent)
        self._told_elsewhere = frozenset(path[0] for path in known if len(path) == 1)

    @property
    def agent(self) -> str:
        """Sender of the model's messages, if a record states none."""
        return self._agent

    @property
    def program(self) -> str:
        """Sender of the program's own records."""
        return self._program

    @property
    def namespace(self) -> str:
        """Prefix of the kinds that only this format has."""
        return self._namespace

    def session_of(self, record: Mapping[str, Any]) -> str | None:
        """Returns the id of a record's session."""
        return _text(first_value(record, self._declared.fields.session))

    def events_of(self, record: Mapping[str, Any]) -> list[Event]:
        """Returns the rows of a record, at least one. Never raises."""
        fields = self._declared.fields
        kind = _text(first_value(record, self._declared.kind.path))
        made = [(one, event) for one in self._kinds_of(record, kind) if (event := self._event(one, record, kind))]
        if not made:
            made = [(EventKind.BOOKKEEPING, self._bookkeeping(record, kind))]
        self._set_usage(made, record)
        identifier = _text(first_value(record, fields.id))
        time_ns = time_of(first_value(record, fields.time), fields.time_unit)
        agent, parent = (_text(first_value(record, paths)) for paths in (fields.agent, fields.parent))
        for number, (_, event) in enumerate(made):
            named = f"{identifier}#{number}" if number and identifier is not None else identifier
            place_event(event, time_ns=time_ns, identifier=named, agent=agent, parent=parent)
            event.meaning.content = bytes_of(event.payload)  # ids of a foreign log may occur more than once
        return [event for _, event in made]

    def _kinds_of(self, record: Mapping[str, Any], kind: str | None) -> Sequence[EventKind]:
        declared = self._declared.kind
        if kind is None:
            return self._inferred(record)
        if kind in declared.values:
            return declared.values[kind]
        return (EventKind(kind),) if kind in _EVENT_NAMES else declared.other

    def _inferred(self, record: Mapping[str, Any]) -> list[EventKind]:
        """Returns the events of a record without a kind, by the facts that it has."""
        call, result, fields = self._declared.call, self._declared.result, self._declared.fields
        has_result = any(
            first_value(record, paths) is not ABSENT for paths in (result.content, result.error, result.call)
        )  # fmt: skip
        found = [EventKind.RESULT] if has_result else []
        if not has_result and _text(first_value(record, fields.text)):
            found.append(self._spoken(_text(first_value(record, fields.sender))))
        # A result may repeat the name and the id of its call.
        if not has_result and first_value(record, call.tool) is not ABSENT:
            found.append(EventKind.CALL)
        return found

    def _spoken(self, sender: str | None) -> EventKind:
        """Returns the event of a text by its sender."""
        if sender is None:
            return EventKind.MESSAGE
        if sender in (self._user, *_USERS):
            return EventKind.PROMPT
        if sender in (self._agent, *_AGENTS):
            return EventKind.ANSWER
        return EventKind.INSTRUCTIONS if sender in _PROGRAMS else EventKind.MESSAGE

    def _event(self, kind: EventKind, record: Mapping[str, Any], written: str | None) -> Event | None:
        """Returns an event of a record; None if the record lacks its facts."""
        fields = self._declared.fields
        sender = _text(first_value(record, fields.sender))
        receivers = _texts(first_value(record, fields.receiver))
        text = _text(first_value(record, fields.text))
        receiver = receivers[0] if receivers else None
        if kind is EventKind.BOOKKEEPING:
            return self._bookkeeping(record, written)
        if kind is EventKind.MESSAGE:
            return self._message(record, written, sender, receivers, text)
        if kind in (EventKind.RESULT, EventKind.AGENT_ENDED):
            return self._result(kind, record, sender, receiver or self._agent)
        if kind in (EventKind.PROMPT, EventKind.INSTRUCTIONS):
            voice = self._voice(agent=receiver, user=sender, program=sender)
            event = None if not text else voice.prompt(text) if kind is EventKind.PROMPT else voice.instructions(text)
        elif kind in (EventKind.CALL, EventKind.AGENT_STARTED):
            event = self._call(kind, record, self._voice(agent=sender))
            if event is not None and receivers:
                event.meaning.to = receivers
            return event
        elif kind is EventKind.COMPACTION:
            return self._voice(agent=sender).compaction(text or "")
        elif kind is EventKind.ERROR:
            return self._voice(program=sender).error(text or written or "error")
        else:
            voice = self._voice(agent=sender, user=receiver)
            event = None if not text else voice.answer(text) if kind is EventKind.ANSWER else voice.thought(text)
        return event

    def _voice(self, *, agent: str | None = None, user: str | None = None, program: str | None = None) -> Voice:
        return Voice(
            agent=agent or self._agent, user=user or self._user, program=program or self._program,
            namespace=self._namespace,
        )  # fmt: skip

    def _call(self, kind: EventKind, record: Mapping[str, Any], voice: Voice) -> Event | None:
        call, child = self._declared.call, self._declared.sub_agent
        identifier, tool = (_text(first_value(record, paths)) for paths in (call.id, call.tool))
        given = first_value(record, call.arguments)
        arguments = None if given is ABSENT else given
        if kind is EventKind.CALL:
            return voice.call(identifier, tool, arguments) if tool or identifier or arguments is not None else None
        agent, label, type_, prompt = (
            _text(first_value(record, paths)) for paths in (child.id, child.label, child.type, child.prompt)
        )
        return voice.agent_started(
            identifier, agent=agent, label=label, type_=type_, prompt=prompt, tool=tool or "agent", arguments=arguments
        )

    def _result(self, kind: EventKind, record: Mapping[str, Any], sender: str | None, agent: str) -> Event:
        declared = self._declared.result
        call, tool = (_text(first_value(record, paths)) for paths in (declared.call, declared.tool))
        error = first_value(record, declared.error)
        failed = self._is_failure(error)
        content = _content(first_value(record, declared.content))
        if content is None and failed and isinstance(error, str):
            content = error
        if content is None and not declared.content:
            content = _text(first_value(record, self._declared.fields.text))
        voice = self._voice(agent=agent)
        if kind is EventKind.AGENT_ENDED:
            child = _text(first_value(record, self._declared.sub_agent.id))
            return voice.agent_ended(child, content, call=call, failed=failed)
        event = voice.result(call, content, tool=tool, failed=failed)
        if sender is not None and sender != agent:
            event.meaning.sender = sender
        return event

    def _is_failure(self, error: object) -> bool:
        if error is ABSENT:
            return False
        values = self._declared.result.error_values
        if values:
            return any(_is_same(error, value) for value in values)
        return error.strip().lower() not in _NO_FAILURE if isinstance(error, str) else bool(error)

    def _bookkeeping(self, record: Mapping[str, Any], kind: str | None) -> Event:
        name = _slug(kind)
        facts = {key: one for key, one in record.items() if isinstance(one, str | int | float | bool)}
        told = {key: one for key, one in record.items() if key not in self._told_elsewhere}
        text = _text(first_value(record, self._declared.fields.text)) or describe_record(kind or name, told)
        sender = _text(first_value(record, self._declared.fields.sender))
        return self._voice(program=sender).bookkeeping(
            name, text, **{key: one for key, one in facts.items() if key not in _OWN}
        )

    def _message(
        self, record: Mapping[str, Any], kind: str | None, sender: str | None, to: tuple[str, ...], text: str | None
    ) -> Event:  # fmt: skip
        payload = dict(record) if text is None else {"text": text, **{k: v for k, v in record.items() if k != "text"}}
        name = "chat" if text is not None else self._namespace + _slug(kind)
        return self._voice().message(name, sender or self._program, to or None, payload)

    def _set_usage(self, made: Sequence[tuple[EventKind, Event]], record: Mapping[str, Any]) -> None:
        """Sets the tokens of the model call behind a record on the first event of the agent."""
        usage = self._declared.usage
        paths = {
            "input": usage.input, "output": usage.output, "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
        }  # fmt: skip
        found = {name: _count(first_value(record, one)) for name, one in paths.items()}
        tokens = {name: count for name, count in found.items() if count is not None}
        model, identifier = (_text(first_value(record, one)) for one in (usage.model, usage.id))
        cost = _number(first_value(record, usage.cost))
        if not tokens and cost is None and model is None:
            return
        if usage.input_has_cache and "input" in tokens:
            tokens["input"] = max(tokens["input"] - tokens.get("cache_read", 0), 0)
        event = next((event for kind, event in made if kind in _OF_AGENT), made[0][1])
        self._voice().usage(event, model=model, identifier=identifier, cost=cost, stop=None, **tokens)


_EVENT_NAMES = frozenset(EventKind)
_OWN = ("self", "record", "text")
"""Names of parameters of `Voice.bookkeeping`, which a record's members must not replace."""


class RecordMatch:
    """The condition `[match]` of a declaration."""

    def __init__(self, match: Match) -> None:
        self._keys, self._allowed = match.keys, match.allowed

    def is_met(self, record: Mapping[str, Any]) -> bool:
        """Returns True if a record has the keys and the values."""
        if any(value_at(record, path) is ABSENT for path in self._keys):
            return False
        return all(_has_value(record, path, allowed) for path, allowed in self._allowed)


def _has_value(record: Mapping[str, Any], path: RecordPath, allowed: Sequence[object]) -> bool:
    found = value_at(record, path)
    return any(_is_same(found, one) for one in allowed)


def _is_same(found: object, wanted: object) -> bool:
    """Compares values; those of an expression's groups are texts."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted or (isinstance(found, str) and found == str(wanted).lower())
    return found == wanted or (isinstance(found, str) and not isinstance(wanted, str) and found == str(wanted))


def time_of(value: object, unit: TimeUnit) -> int:
    """Returns a time in nanoseconds since the epoch; NO_TIME for other values."""
    if unit is TimeUnit.ISO:
        return parse_time(value)
    number = _decimal(value)
    if number is None:
        return NO_TIME
    found = int(number * _SCALES[unit])
    return found if abs(found) <= _MAX_NS else NO_TIME


def _decimal(value: object) -> Decimal | None:
    """Returns a number, or the number in a text, exactly; None for other values."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip() if not isinstance(value, int) or abs(value) < 10**_MAX_DIGITS else ""
    try:
        number = Decimal(text) if 0 < len(text) <= _MAX_DIGITS else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and abs(number.adjusted()) < _MAX_DIGITS else None


def _count(value: object) -> int | None:
    number = _decimal(value)
    return None if number is None else min(max(int(number), 0), 1 << 40)


def _number(value: object) -> float | None:
    number = _decimal(value)
    return None if number is None else float(number)


def _text(value: object) -> str | None:
    """Returns a value as text; None for an absent or empty one."""
    if value is ABSENT or value is None:
        return None
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else _digits(value)
    if has_text(value) or isinstance(value, list):
        return text_of(value) or None
    return bytes_of(value).decode("utf-8", "replace") if value else None  # type: ignore[arg-type] - any JSON


def _digits(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a number of thousands of digits"


def _texts(value: object) -> tuple[str, ...]:
    """Returns the texts of a value, or of its elements."""
    found = [_text(one) for one in value] if isinstance(value, list) else [_text(value)]
    return tuple(one for one in found if one is not None)


def _content(value: object) -> object:
    """Returns the content of a result: text and blocks as they are, other values as JSON."""
    if value is ABSENT:
        return None
    if isinstance(value, str) or has_text(value) or (isinstance(value, list) and any(map(has_text, value))):
        return value
    return _text(value) or ""


def _slug(kind: str | None) -> str:
    """Returns a kind as a part of a row's kind."""
    name = (kind or "")[:_MAX_KIND]
    return _NO_SLUG.sub("-", name).strip("-.")[:_MAX_SLUG] or "record"
