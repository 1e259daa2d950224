"""What a sub-session sends with its next message (docs/protocols.md 14, docs/sub-sessions.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]


@dataclass
class Merged:
    """Ids of what is sent, by layer, and of what the parent keeps to itself."""

    sub_context: bool = True
    snapshots: list[str] = field(default_factory=list)
    recent: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)


class Sessions:
    """The objects of a document, one a line: a session and its sub-sessions, told by their ids."""

    def __init__(self, data: bytes) -> None:
        self.objects: dict[str, Object] = {}
        for line in data.splitlines():
            one = json.loads(line)
            self.objects[one.get("subsession_id") or one["session_id"]] = one

    def merged(self, name: str) -> Merged:
        """The four layers of one sub-session."""
        one, way = self.objects[name], self._way_up(name)
        root = self.objects[way[-1]]
        given = one.get("context_policy")
        policy = given if isinstance(given, dict) else {}
        found = Merged(sub_context=policy.get("include_sub_context") is not False)
        if policy.get("include_snapshots") is not False:
            found.snapshots = [one["id"] for one in sorted(root.get("summary_snapshots", ()), key=_covers)]
        number = policy.get("recent_parent_messages", 5)
        number = number if isinstance(number, int) and not isinstance(number, bool) else 5
        self._recent(name, way, max(number, 0), found)
        found.own = [message["id"] for message in one["messages"]]
        return found

    def _recent(self, name: str, way: list[str], number: int, found: Merged) -> None:
        """The last of the parent's messages that may be sent, and before them whatever is meant for everywhere."""
        parent = self.objects[way[0]]
        there = self._said_in(way[0], but=name)
        held_back = [one for one in there if not _may_go_down(one, "subsession_id" in parent)]
        found.withheld = [one["id"] for one in held_back]
        eligible = [one for one in there if one not in held_back]
        begins = max(len(eligible) - number, 0)
        last, older = eligible[begins:], [one for one in eligible[:begins] if one.get("visibility") == "global"]
        for place, above in enumerate(way[1:]):
            older += [one for one in self._said_in(above, but=way[place]) if one.get("visibility") == "global"]
        found.recent = [one["id"] for one in _in_time([*older, *last])]

    def _said_in(self, name: str, but: str) -> list[Object]:
        """A conversation, with the global messages of the sub-sessions it has beside one, in time."""
        said = list(self.objects[name]["messages"])
        for other, one in self.objects.items():
            if other not in (but, name) and one.get("parent_session_id") == name and one.get("status") != "discarded":
                said += [message for message in one["messages"] if message.get("visibility") == "global"]
        return _in_time(said)

    def _way_up(self, name: str) -> list[str]:
        way: list[str] = []
        while (above := self.objects[name].get("parent_session_id")) is not None:
            way.append(above)
            name = above
        return way


def _may_go_down(message: Object, inside: bool) -> bool:
    """Whether a parent's message is sent: below a sub-session its `subsession_only` ones are like any other."""
    return message.get("visibility") in (None, "global", *(("subsession_only",) if inside else ()))


def _in_time(messages: list[Object]) -> list[Object]:
    return sorted(messages, key=lambda one: one["timestamp"])


def _covers(snapshot: Object) -> tuple[int, str]:
    return snapshot["covers_messages"][0], snapshot["created_at"]
