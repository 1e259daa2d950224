"""Orders messages of a conversation with branches, as of an edited prompt or an answer made anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from inspector.formats.entry_builders import control_entry
from inspector.formats.vocabulary import Event, Voice, place_event

REWIND = "rewind"
"""Key of a line after the messages of an abandoned branch; its value is the id of the first of them."""


def ordered_messages(parents: Mapping[str, str | None], shown: str | None) -> Iterator[tuple[str, bool]]:
    """Yields the ids of messages, each with False, and those of ended branches, each with True.

    Abandoned branches come before the one that is shown. The id of an ended branch is that of its first message.

    Args:
        parents: id of the message before each message, in the order written.
        shown: id of the last message that the program shows.
    """
    followers: defaultdict[str | None, list[str]] = defaultdict(list)
    for name, parent in parents.items():
        followers[parent if parent in parents else None].append(name)
    path, at = set[str](), shown
    while at is not None and at not in path:
        path.add(at)
        at = parents.get(at)
    seen: set[str] = set()
    waiting = [(root, False) for root in reversed(followers[None])]
    while waiting:
        name, has_ended = waiting.pop()
        if has_ended:
            yield name, True
            continue
        if name in seen:  # a damaged file may have circles
            continue
        seen.add(name)
        yield name, False
        after = sorted(followers.get(name, ()), key=lambda one: one in path)
        for place, one in reversed(list(enumerate(after))):
            if place < len(after) - 1:
                waiting.append((one, True))
            waiting.append((one, False))


def rewind_event(voice: Voice, identifier: object) -> Event:
    """Returns the row of a rewind: a message and all after it have left the context."""
    text = "goes on in another branch, from an earlier message"
    event = control_entry("participant/forget", voice.program, text, {"from": identifier})
    event.meaning.to = (voice.agent,)
    return place_event(event)
