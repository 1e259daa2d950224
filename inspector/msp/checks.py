"""What is odd about one session or sub-session: against the protocol's schema, its own members, and its messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from inspector.msp import problems
from inspector.msp.objects import CLOSED, DISCARDED, NO_TIME, OPEN_STATUSES, Problem, Session, Subsession, text_of
from inspector.protocol.times import parse_time

if TYPE_CHECKING:
    from pydantic import BaseModel

_MOST_OF_A_MESSAGE = 5
"""So many faults of one object are told; the rest are likely the same one."""

_WRONG = {"main_only": "subsession_only", "subsession_only": "main_only"}
_VISIBILITIES = (None, "global", *_WRONG)
_ELSEWHERE = {
    "subsession_only": "{who} in the main conversation is marked subsession_only: no one is shown it there.",
    "main_only": "{who} of a sub-session is marked main_only: it is for the main conversation alone.",
}


def problems_of(owner: Session | Subsession) -> list[Problem]:
    """Everything odd about an object and its messages, in the order of the file."""
    if isinstance(owner, Session) and owner.implied:
        return []
    return [*_object(owner), *_messages(owner)]


def _object(owner: Session | Subsession) -> Iterator[Problem]:
    from inspector.msp.models import SessionModel, SubsessionModel

    head = {name: value for name, value in owner.data.items() if name not in ("messages", "subsessions")}
    model = SubsessionModel if isinstance(owner, Subsession) else SessionModel
    yield from _faults(model, head, owner.key, None, owner.place)
    for name in ("messages", "subsessions"):
        value = owner.data.get(name, [])
        if not isinstance(value, list):
            yield _invalid(owner.key, None, f"{owner.place}.{name}", "is no list")
    for name in ("created_at", "closed_at"):
        value = owner.data.get(name)
        if isinstance(value, str) and parse_time(value) == NO_TIME:
            yield _invalid(owner.key, None, f"{owner.place}.{name}", "is no time")
    if isinstance(owner, Subsession):
        yield from _state(owner)


def _state(sub: Subsession) -> Iterator[Problem]:
    status = sub.status.casefold()
    closed_at = sub.data.get("closed_at")
    place = f"{sub.place}.status"
    if status in (CLOSED, DISCARDED) and closed_at is None:
        yield Problem(problems.STATUS, f"{sub.label} is {status}, and nothing says since when.", sub.key, None, place)
    elif status in OPEN_STATUSES and closed_at is not None:
        text = f"{sub.label} is called {status}, and has a time at which it was closed: it counts as closed."
        yield Problem(problems.STATUS, text, sub.key, None, place)
    elif status and status not in (CLOSED, DISCARDED, *OPEN_STATUSES):
        text = f"The status of {sub.label}, {sub.status}, is none the protocol knows."
        yield Problem(problems.STATUS, text, sub.key, None, place)
    if NO_TIME != sub.closed_ns < sub.created_ns:
        text = f"{sub.label} was closed before it was opened."
        yield Problem(problems.TIMES, text, sub.key, None, f"{sub.place}.closed_at")


def _messages(owner: Session | Subsession) -> Iterator[Problem]:
    misplaced = "main_only" if isinstance(owner, Subsession) else "subsession_only"
    seen: set[str] = set()
    listed = owner.data.get("messages")
    for number, item in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(item, dict):
            place = f"{owner.place}.messages[{number}]"
            yield Problem(problems.UNREADABLE, f"{place} is no message.", owner.key, None, place)
            continue
        found = item.get("id")
        visibility = item.get("visibility")
        known = visibility is None or (type(visibility) is str and visibility in _VISIBILITIES)
        usual = known and type(found) is str and found != "" and _is_usual(item)
        if not usual or visibility == misplaced or found in seen:
            place = f"{owner.place}.messages[{number}]"
            yield from _message(owner, item, place, misplaced, seen, usual=usual)
        if isinstance(found, str):
            seen.add(found)


def _is_usual(item: dict[str, Any]) -> bool:
    """Whether a message's members are what they nearly always are; the models need not be asked then."""
    time = item.get("timestamp")
    return (
        type(item.get("content")) is str
        and type(role := item.get("role")) is str
        and role != ""
        and (time is None or (type(time) is str and parse_time(time) != NO_TIME))
    )


def _message(
    owner: Session | Subsession, item: dict[str, Any], place: str, misplaced: str, seen: set[str], *, usual: bool
) -> Iterator[Problem]:
    from inspector.msp.models import MessageModel

    name = text_of(item, "id") or None
    who = f"The message {name}" if name else "A message"
    if not usual:
        yield from _faults(MessageModel, item, owner.key, name, place)
    time = item.get("timestamp")
    if isinstance(time, str) and parse_time(time) == NO_TIME:
        yield _invalid(owner.key, name, f"{place}.timestamp", "is no time")
    if item.get("visibility") == misplaced:
        yield Problem(
            problems.VISIBILITY, _ELSEWHERE[misplaced].format(who=who), owner.key, name, f"{place}.visibility"
        )
    if name in seen:
        text = f"{owner.label} has more than one message with the id {name}."
        yield Problem(problems.DUPLICATE, text, owner.key, name, f"{place}.id")


def _faults(
    model: type[BaseModel], value: dict[str, Any], key: str, message: str | None, place: str
) -> Iterator[Problem]:
    from pydantic import ValidationError

    try:
        model.model_validate(value)
    except ValidationError as error:
        told: set[str] = set()
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            # Of a union each branch complains, by its own name: one sentence about the member is enough.
            steps = [step for number, step in enumerate(fault["loc"]) if number == 0 or _is_wire(step)]
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            if path not in told and len(told) < _MOST_OF_A_MESSAGE:
                told.add(path)
                yield _invalid(key, message, place + path, _words(fault["type"], fault["msg"]))
    except RecursionError:
        yield _invalid(key, message, place, "is nested too deeply to be checked")


def _is_wire(step: int | str) -> bool:
    return isinstance(step, int) or not ("[" in step or step in ("str", "list", "dict", "SubsessionModel"))


_FAULTS = {
    "missing": "is missing",
    "string_type": "is no text",
    "bool_type": "is neither true nor false",
    "int_type": "is no whole number",
    "list_type": "is no list",
    "model_type": "is no object",
    "string_too_short": "is empty",
    "too_short": "has too few elements",
    "too_long": "has too many elements",
    "literal_error": "is none of the values the protocol knows",
}


def _words(kind: str, words: str) -> str:
    return _FAULTS.get(kind, words[:1].lower() + words[1:])


def _invalid(key: str, message: str | None, place: str, words: str) -> Problem:
    return Problem(problems.INVALID, f"{place} {words}.", key, message, place)
