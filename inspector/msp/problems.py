"""Problems of an MSP document: their codes, and the checks of one object.

An object is checked against the protocol's schema, its own members and its messages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from inspector.msp.objects import CLOSED, DISCARDED, OPEN_STATUSES, SUMMARIES, Session, Subsession, text_of
from inspector.protocol.timestamps import NO_TIME, parse_time

if TYPE_CHECKING:
    from pydantic import BaseModel


class Problem(NamedTuple):
    """A problem of a document; it never prevents opening."""

    code: str
    """One of `CODES`, such as `msp-invalid`."""
    text: str
    """A sentence for the user."""
    key: str
    """Key of the session or sub-session; empty for the document."""
    message: str | None
    """Id of the message."""
    place: str
    """File and JSON path, such as `desk.json $.subsessions[2].closed_at`."""


UNREADABLE = "msp-unreadable"
"""A file, line or element is not JSON, or not an object."""

SKIPPED = "msp-skipped"
"""A file or an element has no MSP object."""

INVALID = "msp-invalid"
"""A member is missing or invalid."""

VISIBILITY = "msp-visibility"
"""A message is in a place where its visibility hides it, or its visibility is unknown."""

STATUS = "msp-status"
"""The status is unknown, or contradicts `closed_at`."""

TIMES = "msp-times"
"""It was closed before it was opened."""

DUPLICATE = "msp-duplicate-id"
"""Two objects, or two messages of one, have the same id."""

UNLISTED = "msp-unlisted"
"""A sub-session is missing in its session's list."""

MISSING = "msp-missing"
"""A listed sub-session, or the target of a reference, has no object."""

PARENT = "msp-parent"
"""The parent is missing, not named, or contradictory."""

CYCLE = "msp-cycle"
"""Sub-sessions are each other's parents."""

CODES = (UNREADABLE, SKIPPED, INVALID, VISIBILITY, STATUS, TIMES, DUPLICATE, UNLISTED, MISSING, PARENT, CYCLE)


_MOST_OF_A_MESSAGE = 5
"""Limit of faults reported per object; the rest are likely the same."""

_OPPOSITE_VISIBILITY = {"main_only": "subsession_only", "subsession_only": "main_only"}
_VISIBILITIES = (None, "global", *_OPPOSITE_VISIBILITY)
_MISPLACED_WORDS = {
    "subsession_only": "{who} in the main conversation is marked subsession_only, so it is shown nowhere.",
    "main_only": "{who} of a sub-session is marked main_only, which is only meant for the main conversation.",
}


class OwnerChecks:
    """Checks one session or sub-session; reads each message once.

    Messages come and go at the end of their list. Callers must report changes inside one.
    """

    def __init__(self, owner: Session | Subsession) -> None:
        self._owner = owner
        self._items: list[object] = []
        self._ids: set[str] = set()
        self._found: dict[int, list[Problem]] = {}
        """By message index."""

    def problems(self) -> list[Problem]:
        """Returns all problems of the object and its messages in file order. O(new messages)."""
        if isinstance(self._owner, Session) and self._owner.implied:
            return []
        self._check_new()
        return [*_object(self._owner), *(one for number in sorted(self._found) for one in self._found[number])]

    def update_visibility(self, data: dict[str, Any]) -> None:
        """Updates a message's visibility."""
        number = next((number for number, item in enumerate(self._items) if item is data), None)
        if number is not None:
            before = self._found.pop(number, [])
            # Visibility does not affect ids, and the ids before it are no longer known.
            twins = [one for one in before if one.code == DUPLICATE]
            if found := [*_message_problems(self._owner, data, number, ()), *twins]:
                self._found[number] = found

    def _check_new(self) -> None:
        written = self._owner.data.get("messages")
        listed = cast(list[object], written) if isinstance(written, list) else []
        stands = min(len(self._items), len(listed))
        # An undo followed by another edit can replace messages at the end.
        while stands and self._items[stands - 1] is not listed[stands - 1]:
            stands -= 1
        while len(self._items) > stands:
            self._drop_last()
        for number in range(stands, len(listed)):
            item = listed[number]
            found = _message_problems(self._owner, item, number, self._ids)
            if found:
                self._found[number] = found
            if isinstance(item, dict) and isinstance(name := cast(dict[str, object], item).get("id"), str):
                self._ids.add(name)
        self._items += listed[stands:]

    def _drop_last(self) -> None:
        item = self._items.pop()
        found = self._found.pop(len(self._items), [])
        if isinstance(item, dict) and not any(one.code == DUPLICATE for one in found):
            # A duplicate's id still belongs to the earlier message.
            self._ids.discard(text_of(cast(dict[str, Any], item), "id"))


def _object(owner: Session | Subsession) -> Iterator[Problem]:
    from inspector.msp.schema import SessionModel, SubsessionModel

    # Lists have checks of their own; the model would read a million messages.
    head = {name: value for name, value in owner.data.items() if name not in ("messages", "subsessions")}
    model = SubsessionModel if isinstance(owner, Subsession) else SessionModel
    yield from _faults(model, head, owner.key, None, owner.place)
    for name in ("messages", "subsessions"):
        value = owner.data.get(name, [])
        if not isinstance(value, list):
            yield _invalid(owner.key, None, f"{owner.place}.{name}", "is not a list")
    for name in ("created_at", "closed_at"):
        value = owner.data.get(name)
        if isinstance(value, str) and parse_time(value) == NO_TIME:
            yield _invalid(owner.key, None, f"{owner.place}.{name}", "is not a time")
    if isinstance(owner, Subsession):
        yield from _state_problems(owner)
        yield from _references(owner)


def _state_problems(sub: Subsession) -> Iterator[Problem]:
    status = sub.status.casefold()
    closed_at = sub.data.get("closed_at")
    place = f"{sub.place}.status"
    if status in (CLOSED, DISCARDED) and closed_at is None:
        yield Problem(STATUS, f"{sub.label} is {status} without a closing time.", sub.key, None, place)
    elif status in OPEN_STATUSES and closed_at is not None:
        text = f"{sub.label} has the status {status} and a closing time; it counts as closed."
        yield Problem(STATUS, text, sub.key, None, place)
    elif status and status not in (CLOSED, DISCARDED, *OPEN_STATUSES):
        text = f"{sub.label} has the status {sub.status}, unknown to the protocol."
        yield Problem(STATUS, text, sub.key, None, place)
    # An unknown creation time is the smallest number, so it never exceeds the other.
    if NO_TIME != sub.closed_ns < sub.created_ns:
        text = f"{sub.label} was closed before it was opened."
        yield Problem(TIMES, text, sub.key, None, f"{sub.place}.closed_at")


def _references(sub: Subsession) -> Iterator[Problem]:
    if not (names := sub.policy.include_summaries):
        return
    beside = {other.id for other in sub.parent.children if other is not sub} if sub.parent is not None else set[str]()
    for name in [name for name in names if name not in beside][:_MOST_OF_A_MESSAGE]:
        text = f"{sub.label} refers to the summary of {name}, which is not a sibling sub-session."
        yield Problem(MISSING, text, sub.key, None, f"{sub.place}.context_policy.{SUMMARIES}")


def _message_problems(owner: Session | Subsession, item: object, number: int, seen: Collection[str]) -> list[Problem]:
    """Returns the problems of a message; `seen` has the ids before it."""
    if not isinstance(item, dict):
        place = f"{owner.place}.messages[{number}]"
        return [Problem(UNREADABLE, f"{place} is not a message.", owner.key, None, place)]
    message = cast(dict[str, Any], item)
    misplaced = "main_only" if isinstance(owner, Subsession) else "subsession_only"
    found, visibility = message.get("id"), message.get("visibility")
    known = visibility is None or (type(visibility) is str and visibility in _VISIBILITIES)
    usual = known and type(found) is str and found != "" and _is_usual(message)
    # The usual message takes under a microsecond, a model a hundred times as long.
    if usual and visibility != misplaced and found not in seen:
        return []
    return list(_message(owner, message, f"{owner.place}.messages[{number}]", misplaced, seen, usual=usual))


def _is_usual(item: dict[str, Any]) -> bool:
    """Returns True if a message's members are of the usual types, which makes the slow models unnecessary."""
    time = item.get("timestamp")
    return (
        type(item.get("content")) is str
        and type(role := item.get("role")) is str
        and role != ""
        and (time is None or (type(time) is str and parse_time(time) != NO_TIME))
    )


def _message(
    owner: Session | Subsession, item: dict[str, Any], place: str, misplaced: str, seen: Collection[str], *, usual: bool
) -> Iterator[Problem]:
    from inspector.msp.schema import MessageModel

    name = text_of(item, "id") or None
    who = f"The message {name}" if name else "A message"
    if not usual:
        yield from _faults(MessageModel, item, owner.key, name, place)
    time = item.get("timestamp")
    if isinstance(time, str) and parse_time(time) == NO_TIME:
        yield _invalid(owner.key, name, f"{place}.timestamp", "is not a time")
    if item.get("visibility") == misplaced:
        yield Problem(VISIBILITY, _MISPLACED_WORDS[misplaced].format(who=who), owner.key, name, f"{place}.visibility")
    if name in seen:
        text = f"{owner.label} has more than one message with the id {name}."
        yield Problem(DUPLICATE, text, owner.key, name, f"{place}.id")


def _faults(
    model: type[BaseModel], value: dict[str, Any], key: str, message: str | None, place: str
) -> Iterator[Problem]:
    from pydantic import ValidationError

    try:
        model.model_validate(value)
    except ValidationError as error:
        reported: set[str] = set()
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            # Each branch of a union reports the fault under its own name: one sentence per member is enough.
            steps = [step for number, step in enumerate(fault["loc"]) if number == 0 or _is_wire(step)]
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            if path not in reported and len(reported) < _MOST_OF_A_MESSAGE:
                reported.add(path)
                yield _invalid(key, message, place + path, _fault_words(fault["type"], fault["msg"]))
    except RecursionError:
        yield _invalid(key, message, place, "is nested too deeply to be checked")


def _is_wire(step: int | str) -> bool:
    return isinstance(step, int) or not ("[" in step or step in ("str", "list", "dict", "SubsessionModel"))


_FAULTS = {
    "missing": "is missing",
    "string_type": "is not text",
    "bool_type": "is not true or false",
    "int_type": "is not a whole number",
    "list_type": "is not a list",
    "model_type": "is not an object",
    "string_too_short": "is empty",
    "too_short": "has too few elements",
    "too_long": "has too many elements",
    "literal_error": "is not a value of the protocol",
}


def _fault_words(kind: str, words: str) -> str:
    return _FAULTS.get(kind, words[:1].lower() + words[1:])


def _invalid(key: str, message: str | None, place: str, words: str) -> Problem:
    return Problem(INVALID, f"{place} {words}.", key, message, place)
