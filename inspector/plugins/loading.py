"""Puts what switched-on plug-ins declare beside the built-in declarations, and knows the state of every plug-in."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspector.analysis.findings.added_checks import AddedCheck
from inspector.analysis.findings.check import Check as BuiltCheck
from inspector.analysis.findings.check import Severity
from inspector.analysis.findings.check_table import add_check, remove_check
from inspector.filters.fields import add_field, remove_field
from inspector.formats import registry
from inspector.formats.guards import Guard, error_words
from inspector.plugins.declarations import Check, Field, PayloadView, PluginError
from inspector.plugins.discovery import Candidate, Origin, candidate, candidates
from inspector.plugins.format_guard import format_problem
from inspector.plugins.importing import CHANGED, ImportProblemError, declarations_of, make_format
from inspector.protocol.secrets.masking import mask_text
from inspector.settings.model import SwitchedPlugin

_log = logging.getLogger(__name__)

_Key = tuple[str, Origin, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginState:
    """A plug-in as a user sees it.

    Attributes:
        found: the file or package; None if it is switched on but missing.
        name, origin: of it.
        is_on: the user has switched it on, and its code is the same.
        adds: what it adds: exact words if it was loaded, else sorts of declarations.
        trouble: a sentence about its last error; "" without one.
    """

    found: Candidate | None
    name: str
    origin: Origin
    is_on: bool
    adds: tuple[str, ...]
    trouble: str

    @property
    def version(self) -> str:
        return self.found.version if self.found is not None else ""

    @property
    def place(self) -> str:
        return self.found.place if self.found is not None else ""


@dataclass(slots=True)
class _Loaded:
    """Names of what one plug-in has added, for its removal."""

    formats: list[str]
    checks: list[str]
    fields: list[str]
    views: list[tuple[PayloadView, Guard]]

    def words(self) -> tuple[str, ...]:
        views = [view.name for view, _ in self.views]
        sorts = (("format", self.formats), ("check", self.checks), ("field", self.fields), ("payload view", views))
        return tuple(f"{sort} {name}" for sort, names in sorts for name in names)


_loaded: dict[_Key, _Loaded] = {}
_troubles: dict[_Key, str] = {}
"""Reasons by plug-in; the code that failed may have changed since."""


def load(switched: Sequence[SwitchedPlugin]) -> None:
    """Loads these plug-ins, and unloads others. Never raises.

    A plug-in that fails adds nothing, and its state says why. Formats, fields and payload views apply at once, checks
    to documents opened from now on.
    """
    wanted = {(one.name, one.origin, one.digest) for one in switched}
    for key in [key for key in _loaded if key not in wanted]:
        _unload(_loaded.pop(key))
    _troubles.clear()
    for one in switched:
        key = one.name, one.origin, one.digest
        found = candidate(one.name, one.origin)
        if found is None:
            _troubles[key] = "it is missing"
        elif found.digest != one.digest:
            _troubles[key] = f"{CHANGED}; switch it on again to run it"
        if key in _troubles:
            if key in _loaded:
                _unload(_loaded.pop(key))
        elif key not in _loaded:
            _load_one(key)


def _load_one(key: _Key) -> None:
    loaded = _Loaded([], [], [], [])
    try:
        _add(key, declarations_of(*key), loaded)
    except (ImportProblemError, PluginError) as error:
        _unload(loaded)
        _troubles[key] = mask_text(str(error))
        _log.info("The plug-in %s cannot be used: %s.", key[0], error)
    except Exception as error:  # noqa: BLE001 - its objects may raise anywhere
        _unload(loaded)
        _troubles[key] = mask_text(f"its declarations raised {error_words(error)}")
        _log.info("The plug-in %s cannot be used.", key[0], exc_info=True)
    else:
        _loaded[key] = loaded


def _add(key: _Key, declared: dict[str, list[Any]], loaded: _Loaded) -> None:
    """Adds all declarations of a plug-in. Raises PluginError if one cannot be used."""
    name = key[0]
    for one in declared["formats"]:
        problem = format_problem(one)
        if problem is not None:
            raise PluginError(problem)
        if one.name in registry.format_titles():
            raise PluginError(f"there is another format {one.name}")
        recipe = registry.Recipe(f"{make_format.__module__}:{make_format.__name__}", (*key, one.name))
        try:
            registry.register(make_format(*key, one.name), recipe)
        except ValueError as error:
            raise PluginError(str(error)) from None
        loaded.formats.append(one.name)
    for one in _valid(declared["checks"], Check):
        built = BuiltCheck(
            one.code, Severity[one.severity.upper()], one.title, one.sentence, one.matters, one.fix, one.source,
            on_transcripts=True,
        )  # fmt: skip
        if not add_check(AddedCheck(built, one.find, tuple(one.kinds), Guard(f"plug-in {name}, check {one.code}"))):
            raise PluginError(f"there is another check {one.code}")
        loaded.checks.append(one.code)
    for one in _valid(declared["fields"], Field):
        if not add_field(
            one.name, one.type, one.label, one.help, one.value, Guard(f"plug-in {name}, field {one.name}")
        ):
            raise PluginError(f"there is another field {one.name}")
        loaded.fields.append(one.name)
    for one in _valid(declared["payload views"], PayloadView):
        loaded.views.append((one, Guard(f"plug-in {name}, payload view {one.name}")))


def _valid(declared: Sequence[Any], sort: type[Any]) -> list[Any]:
    for one in declared:
        if not isinstance(one, sort):
            raise PluginError(f"{type(one).__name__[:60]} is no {sort.__name__}")
        one.validate()
    return list(declared)


def _unload(loaded: _Loaded) -> None:
    for name in loaded.formats:
        registry.unregister(name)
    for code in loaded.checks:
        remove_check(code)
    for name in loaded.fields:
        remove_field(name)


def troubles() -> list[str]:
    """Returns sentences about plug-ins that are switched on and not used."""
    return [f"The plug-in {name} is not used: {reason}." for (name, _, _), reason in _troubles.items()]


def payload_views(kind: str) -> list[tuple[PayloadView, Guard]]:
    """Returns the payload views of plug-ins for messages of a kind."""
    return [(view, guard) for one in _loaded.values() for view, guard in one.views if view.shows(kind)]


def states(switched: Sequence[SwitchedPlugin]) -> list[PluginState]:
    """Returns every plug-in that is there or switched on, files first, by name. Runs none of them.

    Args:
        switched: the plug-ins that are switched on.
    """
    digests = {(one.name, one.origin): one.digest for one in switched}
    listed: list[PluginState] = []
    for found in candidates():
        digest = digests.pop(found.key, None)
        is_on = digest is not None and digest == found.digest
        key = *found.key, found.digest
        loaded = _loaded.get(key) if is_on else None
        trouble = found.trouble or _troubles.get(key, "")
        if digest is not None and not is_on and not trouble:
            trouble = f"{CHANGED}; switch it on again to run it"
        listed.append(
            PluginState(
                found=found, name=found.name, origin=found.origin, is_on=is_on,
                adds=loaded.words() if loaded is not None else found.adds, trouble=trouble,
            )
        )  # fmt: skip
    listed += (
        PluginState(found=None, name=one.name, origin=one.origin, is_on=False, adds=(), trouble="it is missing")
        for one in switched if (one.name, one.origin) in digests
    )  # fmt: skip
    return listed


def switch(switched: Sequence[SwitchedPlugin], state: PluginState, *, on: bool) -> list[SwitchedPlugin]:
    """Switches a plug-in on or off, and returns those that are on; one that cannot be used stays as it was.

    Args:
        switched: the plug-ins that are switched on.
        state: the plug-in; its next state has the reason if it cannot be used.
        on: switch it on.
    """
    others = [one for one in switched if (one.name, one.origin) != (state.name, state.origin)]
    if not on or state.found is None:
        load(others)
        return others
    new = state.found.switched()
    load([*others, new])
    return list(switched) if (new.name, new.origin, new.digest) in _troubles else [*others, new]
