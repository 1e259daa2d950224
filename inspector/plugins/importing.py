"""Runs the code of plug-ins that are switched on, and makes their formats in any process."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from types import ModuleType
from typing import Any

from inspector.base.time_bounds import TimeBoundError
from inspector.formats.format import Format
from inspector.formats.guards import IMPORT_S, Trip, call_foreign, error_words, note_trips
from inspector.plugins import discovery
from inspector.plugins.discovery import ATTRIBUTES, GROUPS, Origin
from inspector.plugins.format_guard import format_part, format_problem, guarded_format

Declared = dict[str, list[Any]]
"""Declarations by sort, as `formats`."""
_MAX_DECLARATIONS = 200
_imported: dict[tuple[str, Origin, str], Declared] = {}
run_plugins: set[str] = set()
"""Names of plug-ins with code that ran in this process, also in part."""


class ImportProblemError(Exception):
    """A plug-in cannot be used; the message is a sentence's end."""


def declarations_of(name: str, origin: Origin, digest: str) -> Declared:
    """Runs a plug-in once in this process, and returns what it declares.

    Args:
        name, origin: the plug-in.
        digest: of the code that was switched on.

    Raises:
        ImportProblemError: if it is missing, has changed, or fails.
    """
    key = name, origin, digest
    if key not in _imported:
        run_plugins.add(name)
        try:
            _imported[key] = call_foreign(IMPORT_S, _run_file if origin == "file" else _run_package, name, digest)
        except (ImportProblemError, KeyboardInterrupt):
            raise
        except TimeBoundError:
            raise ImportProblemError(f"its import took longer than {IMPORT_S:g} s") from None
        except BaseException as error:  # noqa: BLE001 - code of others: it may also raise SystemExit
            raise ImportProblemError(f"its import raised {error_words(error)}") from None
    return _imported[key]


def _run_file(name: str, digest: str) -> Declared:
    path = discovery.plugins_folder() / f"{name}.py"
    try:
        # The bytes that were compared are the bytes that run.
        code, found = discovery.read_file(path)
    except (OSError, ValueError) as error:
        raise ImportProblemError(f"its file cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if found != digest:
        raise ImportProblemError(CHANGED)
    module = ModuleType(f"context_inspector_plugin_{name.replace('-', '_')}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(code, str(path), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[module.__name__]
        raise
    found_lists = {words: _listed(getattr(module, attribute, ())) for attribute, words in ATTRIBUTES.items()}
    return _limited(found_lists)


CHANGED = "it has changed since it was switched on"


def _run_package(name: str, digest: str) -> Declared:
    found = discovery.candidate(name, "package")
    if found is None:
        raise ImportProblemError("it is not installed here")
    if found.digest != digest:
        raise ImportProblemError(CHANGED)
    declared: Declared = {words: [] for words in GROUPS.values()}
    for one in discovery.entry_points(metadata.distribution(name)):
        declared[GROUPS[one.group]] += _listed(one.load())
    return _limited(declared)


def _listed(value: object) -> list[Any]:
    if isinstance(value, str | bytes | Mapping):
        return [value]
    return list(value) if isinstance(value, Iterable) else [value]


def _limited(declared: Declared) -> Declared:
    if sum(map(len, declared.values())) > _MAX_DECLARATIONS:
        raise ImportProblemError(f"it declares more than {_MAX_DECLARATIONS} things")
    return declared


def make_format(name: str, origin: Origin, digest: str, format_name: str) -> Format:
    """Returns a guarded format of a plug-in: the maker of its `registry.Recipe`.

    A worker process that cannot make it reports it as switched off.

    Args:
        name, origin, digest: as `declarations_of`.
        format_name: of the format.

    Raises:
        ImportProblemError: if the plug-in fails here.
    """
    try:
        for one in declarations_of(name, origin, digest)["formats"]:
            if format_problem(one) is None and one.name == format_name:
                return guarded_format(one, name)
        raise ImportProblemError(f"it declares no format {format_name} here")
    except ImportProblemError as error:
        note_trips([Trip(format_part(name, format_name), str(error))])
        raise
