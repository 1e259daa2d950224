"""Formats that are added while the program runs, by declarations and plug-ins, beside the built-in ones.

A worker process rebuilds the formats from their recipes: readers are closures, which cannot be sent.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

from inspector.base.workers.serving import CarriedState
from inspector.formats import table
from inspector.formats.format import Format, Stage, load

_log = logging.getLogger(__name__)


class Recipe(NamedTuple):
    """Makes a format in any process.

    Attributes:
        maker: function `module:attribute` that returns a Format.
        arguments: of the function; picklable and comparable.
    """

    maker: str
    arguments: tuple[Any, ...]


class Groups(NamedTuple):
    """Groups of all formats, built-in and added ones.

    Attributes:
        agents: names of the formats of coding agents.
        transcripts: names of the formats without envelopes.
        programs: senders of the messages that coding agents' programs write.
        main_agents: senders of the models' messages in coding agents' sessions.
        bookkeeping: kinds of records that programs write for themselves.
        namespaces: beginnings of the kinds that only one format has.
        control: of these, beginnings of the kinds of records that no model sees.
    """

    agents: frozenset[str]
    transcripts: frozenset[str]
    programs: tuple[str, ...]
    main_agents: tuple[str, ...]
    bookkeeping: frozenset[str]
    namespaces: frozenset[str]
    control: tuple[str, ...]


def _groups_of(formats: Sequence[Format]) -> Groups:
    coding = [(one, one.participants) for one in formats if one.participants is not None]
    protocols = [one for one in formats if one.stage is Stage.PROTOCOL]
    return Groups(
        agents=frozenset(one.name for one, _ in coding),
        transcripts=frozenset(one.name for one in formats if one.stage in (Stage.TRANSCRIPT, Stage.DECLARED)),
        programs=tuple(dict.fromkeys(people.program for _, people in coding)),
        main_agents=tuple(dict.fromkeys(people.agent for _, people in coding)),
        bookkeeping=frozenset().union(*(one.bookkeeping for one in formats)),
        namespaces=frozenset(name.removesuffix("/") for one in formats for name in one.namespaces if name),
        control=tuple(one.namespace for one in (*(one for one, _ in coding), *protocols) if one.namespace),
    )


_groups = _groups_of(table.FORMATS)
_added: dict[str, tuple[Format, Recipe]] = {}
_formats: tuple[Format, ...] = ()
_recipes: tuple[Recipe, ...] = ()
_restored: tuple[Recipe, ...] | None = None
"""Recipes that were restored last, some of which may have failed."""


def register(format_: Format, recipe: Recipe) -> None:
    """Adds a format, in place of an added one of the same name. A new name is tried after those before it.

    Raises:
        ValueError: if a format of the table has one of its names.
    """
    taken = sorted(format_.titles.keys() & table.FORMAT_TITLES.keys())
    if taken:
        raise ValueError(f"{taken[0]} is the name of a built-in format")
    _added[format_.name] = format_, recipe
    _publish()


def unregister(name: str) -> None:
    """Removes an added format, if there is one of this name."""
    if _added.pop(name, None) is not None:
        _publish()


def registered() -> tuple[Format, ...]:
    """Returns the added formats in the order tried."""
    return _formats


def recipes() -> tuple[Recipe, ...]:
    """Returns the recipes of the added formats, for a worker process."""
    return _recipes


def restore(wanted: Sequence[Recipe]) -> None:
    """Makes the added formats those of another process. A recipe that fails is left out and logged."""
    global _restored
    if tuple(wanted) in (_recipes, _restored):
        return
    _added.clear()
    for recipe in wanted:
        try:
            made = load(recipe.maker)(*recipe.arguments)
        except Exception:  # noqa: BLE001 - code of a plug-in; the log is read without it
            _log.exception("A format cannot be made by %s.", recipe.maker)
        else:
            _added[made.name] = made, recipe
    _publish()
    _restored = tuple(wanted)


CARRIED = CarriedState(recipes, restore)
"""Brings the added formats to a worker with each request."""


def all_formats() -> tuple[Format, ...]:
    """Returns the formats of the table, then the added ones."""
    return (*table.FORMATS, *_formats)


def groups() -> Groups:
    """Returns the groups of all formats. Ask at each use, since formats are added later."""
    return _groups


def format_named(name: str) -> Format | None:
    """Returns a format of the table or an added one by its name."""
    return table.format_named(name) or (_added[name][0] if name in _added else None)


def selectable_formats() -> dict[str, str]:
    """Returns the formats that a user can force: name and title."""
    return {**table.SELECTABLE_FORMATS, **{one.name: one.title for one in _formats}}


def format_titles() -> dict[str, str]:
    """Returns the titles of logs by name of the format."""
    return {name: title for one in all_formats() for name, title in one.titles.items()}


def _publish() -> None:
    """Replaces the tuples that readers take, so that none sees a half-changed registry."""
    global _formats, _recipes, _restored, _groups
    _restored = None
    _formats = tuple(one for one, _ in _added.values())
    _recipes = tuple(recipe for _, recipe in _added.values())
    _groups = _groups_of(all_formats())
