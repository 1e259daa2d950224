"""The core runs without Qt, and rooms with a door are entered by it.

Every module outside `inspector.ui` imports where PySide6 does not exist. Of MSP, an editor inside an observer, the rest
of the program knows the names its two packages give, and no module in them.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

import inspector

ROOMS = {"inspector.msp": ("inspector.msp", "inspector.engine"), "inspector.ui.msp": ("inspector.ui.msp",)}
"""Rooms with a door, and who may reach past it: the core of MSP is open to the requests of its view."""

BANNED = ("PySide6", "shiboken6", "qasync", "pytestqt")

PROBE = """
import importlib, sys
for name in {banned!r}:
    sys.modules[name] = None
for name in {modules!r}:
    importlib.import_module(name)
print(len({modules!r}))
"""


def core_modules() -> list[str]:
    """Dotted names of every module outside `inspector.ui`."""
    package = Path(inspector.__file__).parent
    names: list[str] = []
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        if parts[:2] == ("inspector", "ui"):
            continue
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


@pytest.mark.real
def test_core_imports_without_qt() -> None:
    modules = core_modules()
    assert "inspector.settings" in modules
    probe = PROBE.format(banned=BANNED, modules=modules)
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(inspector.__file__).parent.parent,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(modules))]


@pytest.mark.parametrize(("tests", "rooms"), [("unit", "."), ("ui", "ui")])
def test_folders_of_tests_are_folders_of_the_program(tests: str, rooms: str) -> None:
    """A test is found in the folder of the module it tests; those of `packaging/` have one of their own."""
    here, program = Path(__file__).parents[1] / tests, Path(inspector.__file__).parent / rooms
    folders = {file.parent.relative_to(here) for file in here.rglob("test_*.py")} - {Path("packaging")}
    assert len(folders) > 5
    assert [folder.as_posix() for folder in sorted(folders) if not (program / folder).is_dir()] == []


@functools.cache
def modules() -> dict[str, Path]:
    """Every module by its dotted name; a package by its own."""
    package = Path(inspector.__file__).parent
    found: dict[str, Path] = {}
    for file in package.rglob("*.py"):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@functools.cache
def named_in(file: Path) -> set[str]:
    """What a file names of the program: what it imports, also only for types or later, and modules in texts."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {one.name for one in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module, *(f"{module}.{one.name}" for one in names)}
            case ast.Constant(value=str(text)) if text.startswith("inspector."):
                found.add(text)
            case _:
                pass
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_entered_by_its_door(room: str) -> None:
    known = modules()
    inside = {name for name in known if name.startswith(f"{room}.")}
    assert inside
    past = {
        f"{name} -> {named}"
        for name, file in known.items()
        if room in file.read_text(encoding="utf-8")  # few do: to parse all of them would take seconds
        and not any(name == own or name.startswith(f"{own}.") for own in ROOMS[room])
        for named in named_in(file) & inside
    }
    assert not past


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_in_a_room_goes_through_its_own_door(room: str) -> None:
    known = modules()
    inside = [file for name, file in known.items() if name.startswith(f"{room}.")]
    through = {
        f"{file.name} -> {named}"
        for file in inside
        for named in named_in(file)
        if named.rpartition(".")[0] == room and named not in known
    }
    assert not through
