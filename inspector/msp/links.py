"""Links the sessions and sub-sessions of all files to a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from inspector.msp import problems
from inspector.msp.files import MspFile
from inspector.msp.objects import MERGED_FROM, SUMMARY_OF, Session, Subsession, objects_of, text_of
from inspector.msp.problems import Problem
from inspector.msp.sniffing import is_session, is_subsession

Owner = Session | Subsession

_MAX_DEPTH = 100
"""Limit of nesting; deeper objects are left out."""


@dataclass(eq=False, slots=True)
class Home:
    """Place of an object in its file."""

    file: MspFile
    siblings: list[Any] | None
    """The list that contains it; None for a whole file, or a member."""
    box: dict[str, Any] | None
    """The surrounding object with `session` and `subsessions`."""


@dataclass(eq=False, slots=True)
class Linked:
    """Linked content of a document's files."""

    sessions: list[Session] = field(default_factory=list)
    subsessions: list[Subsession] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    homes: dict[str, Home] = field(default_factory=dict)
    """By key; without sessions that are only named."""


class _Unlinked(NamedTuple):
    sub: Subsession
    holder: Owner | None
    """The object that contains it, or its neighbour in the file."""


def link_files(files: Iterable[MspFile]) -> Linked:
    """Links the objects of all files, and reports problems."""
    linker = _Linker()
    for file in files:
        linker.collect(file)
    linker.link()
    linker.compare_lists()
    return linker.result


class _Linker:
    """Collects the objects of files, then finds their parents."""

    def __init__(self) -> None:
        self.result = Linked()
        self._found: list[_Unlinked] = []
        self._keys: set[str] = set()
        self._next: dict[str, int] = {}
        """Next suffix for a repeated id."""

    def collect(self, file: MspFile) -> None:
        self.result.problems += file.problems
        for value, place in file.roots():
            siblings = file.value if file.lines else None
            file.holds |= self._collect_value(value, f"{file.name} {place}", Home(file, siblings, None), None)
        if not file.holds and not file.problems:
            self._problem(problems.SKIPPED, f"{file.name} contains no session or sub-session.", "", file.name)

    def link(self) -> None:
        """Finds each sub-session's parent."""
        result = self.result
        sessions = _first_of_each(result.sessions)
        subs = _first_of_each(found.sub for found in self._found)
        read = len(result.sessions)
        # Only after all files are collected: a parent may be in any of them.
        for sub, holder in self._found:
            result.subsessions.append(sub)
            parent = self._parent(sub, holder, sessions, subs)
            if parent is None:
                # With several sessions, the choice of one would be a guess.
                parent = result.sessions[0] if read == 1 else self._implied("", sessions)
            sub.parent = parent
            parent.children.append(sub)
        for owner in (*result.sessions, *result.subsessions):
            crossed = {
                (name, item[name]) for item in owner.items for name in _CROSSING_MARKS if _is_text(item.get(name))
            }
            for sub in owner.children if crossed else ():
                sub.merged = (MERGED_FROM, sub.id) in crossed
                sub.summarized = (SUMMARY_OF, sub.id) in crossed

    def compare_lists(self) -> None:
        """Compares each session's list of sub-sessions with the objects found."""
        known = {sub.id for sub in self.result.subsessions}
        for session in self.result.sessions:
            listed = session.data.get("subsessions")
            if not isinstance(listed, list):
                continue
            ids = {_id_of(item) for item in cast(list[object], listed)}
            for missing in sorted(name for name in ids - known if name):
                text = f"{session.label} lists the sub-session {missing}, but there is no object for it."
                self._problem(problems.MISSING, text, session.key, f"{session.place}.subsessions")
            for sub in session.children:
                if sub.id and sub.id not in ids:
                    text = f"{session.label} does not list the sub-session {sub.label}."
                    self._problem(problems.UNLISTED, text, sub.key, sub.place)

    def _parent(
        self, sub: Subsession, holder: Owner | None, sessions: dict[str, Owner], subs: dict[str, Owner]
    ) -> Owner | None:
        named = text_of(sub.data, "parent_session_id")
        place = f"{sub.place}.parent_session_id"
        if named and holder is not None and holder.id == named:
            found: Owner | None = holder  # of several with this id, the containing one
        else:
            found = sessions.get(named) or subs.get(named) if named else holder
        if not named and found is None:
            found = next((session for session in self.result.sessions if sub.id and _lists_id(session, sub.id)), None)
            if found is None:
                self._problem(problems.PARENT, f"{sub.label} names no parent.", sub.key, place)
            return found
        if found is None:
            text = f"The parent of {sub.label}, {named}, is not in these files."
            self._problem(problems.PARENT, text, sub.key, place)
            return self._implied(named, sessions)
        if holder is not None and found is not holder and holder.id != named and _contains_object(holder, sub):
            text = f"{sub.label} is inside {holder.label} but names {named} as its parent."
            self._problem(problems.PARENT, text, sub.key, place)
        if _is_below(found, sub):
            each = "itself" if found is sub else f"{found.label}, which is below it"
            text = f"{sub.label} names {each} as its parent: it is shown below the session."
            self._problem(problems.CYCLE, text, sub.key, place)
            return found.session if isinstance(found, Subsession) else None
        return found

    def _implied(self, name: str, sessions: dict[str, Owner]) -> Session:
        known = sessions.get(name)
        if isinstance(known, Session):
            return known
        session = Session({"session_id": name} if name else {}, self._key(name, "session"), implied=True)
        self.result.sessions.append(session)
        sessions[name] = session
        return session

    def _collect_value(self, value: Any, place: str, home: Home, holder: Owner | None, depth: int = 0) -> bool:
        """Collects objects from a value; returns True if there are any."""
        if depth > _MAX_DEPTH:
            self._too_deep(value, "", place)
            return False
        if isinstance(value, list):
            inner = Home(home.file, value, home.box)
            found = [
                self._collect_value(item, f"{place}[{n}]", inner, holder, depth + 1) for n, item in enumerate(value)
            ]
            for number in [n for n, taken in enumerate(found) if not taken] if any(found) else ():
                text = f"{place}[{number}] is not a session or sub-session."
                self._problem(problems.SKIPPED, text, "", f"{place}[{number}]")
            return any(found)
        if not isinstance(value, dict):
            return False
        data = cast(dict[str, Any], value)
        anything = home.box is not None  # an entry of `sessions` needs no other sign of its type
        if is_subsession(data) or (anything and "subsession_id" in data):
            self._take_subsession(data, place, home, holder, depth)
        elif is_session(data) or (anything and "session_id" in data):
            self._take_session(data, place, home, depth)
        else:
            return self._take_box(data, place, home, holder, depth)
        return True

    def _take_box(self, data: dict[str, Any], place: str, home: Home, holder: Owner | None, depth: int) -> bool:
        taken = False
        inner = Home(home.file, None, data)
        before = len(self.result.sessions)
        for name in ("session", "sessions", "subsession", "subsessions"):
            if name == "subsession" and len(self.result.sessions) == before + 1:
                holder = self.result.sessions[before]  # a single session beside sub-sessions is their parent
            if name in data:
                taken |= self._collect_value(data[name], f"{place}.{name}", inner, holder, depth + 1)
        return taken

    def _take_session(self, data: dict[str, Any], place: str, home: Home, depth: int) -> None:
        key = self._key(text_of(data, "session_id"), "session", place)
        session = Session(data, key, objects_of(data, "messages"), place=place)
        self.result.sessions.append(session)
        self.result.homes[key] = home
        self._take_embedded(session, home, depth)

    def _take_subsession(self, data: dict[str, Any], place: str, home: Home, holder: Owner | None, depth: int) -> None:
        key = self._key(text_of(data, "subsession_id"), "sub-session", place)
        sub = Subsession(data, key, objects_of(data, "messages"), place=place)
        self._found.append(_Unlinked(sub, holder))
        self.result.homes[key] = home
        self._take_embedded(sub, home, depth)

    def _take_embedded(self, owner: Owner, home: Home, depth: int) -> None:
        inner = owner.data.get("subsessions")
        if not isinstance(inner, list) or not inner:
            return
        if depth > _MAX_DEPTH:
            self._too_deep(inner, owner.key, f"{owner.place}.subsessions")
            return
        siblings = cast(list[Any], inner)
        for number, item in enumerate(siblings):
            place = f"{owner.place}.subsessions[{number}]"
            if isinstance(item, dict) and "subsession_id" in item:
                self._take_subsession(item, place, Home(home.file, siblings, None), owner, depth + 1)
            elif not _is_text(item):
                self._problem(
                    problems.SKIPPED, f"{place} is neither a sub-session nor the id of one.", owner.key, place
                )

    def _too_deep(self, value: Any, key: str, place: str) -> None:
        if isinstance(value, dict | list) and value:
            text = f"{place[:200]}… is nested deeper than {_MAX_DEPTH} objects and is skipped."
            self._problem(problems.SKIPPED, text, key, place)

    def _key(self, wanted: str, kind: str, place: str = "") -> str:
        if not wanted:
            wanted = f"{kind}-{len(self._keys) + 1}"
        key, number = wanted, self._next.get(wanted, 2)
        # Ids may be repeated across files, but keys of objects must be unique.
        while key in self._keys:
            key, number = f"{wanted}~{number}", number + 1
        self._next[wanted] = number
        if key != wanted and place:
            self._problem(problems.DUPLICATE, f"There is more than one object with the id {wanted}.", key, place)
        self._keys.add(key)
        return key

    def _problem(self, code: str, text: str, key: str, place: str) -> None:
        self.result.problems.append(Problem(code, text, key, None, place))


_CROSSING_MARKS = (MERGED_FROM, SUMMARY_OF)


def _first_of_each(owners: Iterable[Owner]) -> dict[str, Owner]:
    found: dict[str, Owner] = {}
    for owner in owners:
        if owner.id:
            found.setdefault(owner.id, owner)
    return found


def _lists_id(session: Session, name: str) -> bool:
    listed = session.data.get("subsessions")
    return isinstance(listed, list) and name in listed


def _contains_object(holder: Owner, sub: Subsession) -> bool:
    listed = holder.data.get("subsessions")
    return isinstance(listed, list) and any(item is sub.data for item in cast(list[object], listed))


def _id_of(item: object) -> str:
    """Returns the id of a listed item: a string, or an object's id."""
    if isinstance(item, str):
        return item
    return text_of(cast(dict[str, Any], item), "subsession_id") if isinstance(item, dict) else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_below(start: Owner, sub: Subsession) -> bool:
    """Returns True if `start` is `sub` or below it."""
    above: Owner | None = start
    while isinstance(above, Subsession):
        if above is sub:
            return True
        above = above.parent
    return False
