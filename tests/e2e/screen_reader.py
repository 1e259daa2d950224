"""What a screen reader learns of the program, over AT-SPI. Run by the system's own python3, for only that has `gi`.

    dbus-run-session -- python3 screen_reader.py PROGRAM [ARGUMENT]...

Starts the program on the session's bus, waits for its window, reads and uses it as a screen reader and its user would,
prints what it learned as one JSON object, and ends the program. Talks to the bus by D-Bus calls alone: neither pyatspi
nor the Atspi library is needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gi.repository import Gio, GLib  # pyright: ignore[reportMissingImports]

_ATSPI = "org.a11y.atspi."
_ROOT = "/org/a11y/atspi/accessible/root"
_WAIT_S = 25.0
_LARGE = 300
"""Of a widget with more children, as a table's cells, only so many are looked at."""
_CHECKED, _FOCUSABLE, _SHOWING = 4, 11, 25
"""Places of states, as atspi-constants.h numbers them."""


class Thing(NamedTuple):
    """Something accessible: a bus name and a path."""

    owner: str
    path: str


class Bus:
    """The accessibility bus."""

    def __init__(self) -> None:
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        reply = session.call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, Gio.DBusCallFlags.NONE, 5000
        )
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self._bus = Gio.DBusConnection.new_for_address_sync(reply.unpack()[0], flags, None, None)

    def call(self, thing: Thing, interface: str, method: str, arguments: Any = None) -> Any:
        """The reply's values."""
        reply = self._bus.call_sync(
            thing.owner, thing.path, _ATSPI + interface, method, arguments, None, Gio.DBusCallFlags.NONE, 5000
        )
        return reply.unpack()

    def prop(self, thing: Thing, name: str, interface: str = "Accessible") -> Any:
        """A property."""
        reply = self._bus.call_sync(
            thing.owner, thing.path, "org.freedesktop.DBus.Properties", "Get",
            GLib.Variant("(ss)", (_ATSPI + interface, name)), None, Gio.DBusCallFlags.NONE, 5000,
        )  # fmt: skip
        return reply.unpack()[0]

    def children(self, thing: Thing) -> list[Thing]:
        """What is in it; of very much the first ones."""
        count = int(self.prop(thing, "ChildCount"))
        if count <= _LARGE:
            return [Thing(*one) for one in self.call(thing, "Accessible", "GetChildren")[0]]
        ask = (GLib.Variant("(i)", (place,)) for place in range(_LARGE))
        return [Thing(*self.call(thing, "Accessible", "GetChildAtIndex", one)[0]) for one in ask]

    def name(self, thing: Thing) -> str:
        """What it is called."""
        return str(self.prop(thing, "Name"))

    def role(self, thing: Thing) -> str:
        """What it is: "push button"."""
        return str(self.call(thing, "Accessible", "GetRoleName")[0])

    def states(self, thing: Thing) -> int:
        """Its states as one number, a bit for each."""
        low, high = self.call(thing, "Accessible", "GetState")[0]
        return int(low) | int(high) << 32

    def walk(self, thing: Thing, depth: int = 0) -> Iterator[tuple[Thing, int]]:
        """It and everything in it, cells of tables left out."""
        yield thing, depth
        if self.role(thing) not in ("table", "list", "tree", "tree table", "menu"):
            for child in self.children(thing):
                yield from self.walk(child, depth + 1)


def until(what: str, found: Callable[[], Any]) -> Any:
    """Wait for something to be so."""
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end:
        try:
            value = found()
        except GLib.Error:  # it is on its way
            value = None
        if value:
            return value
        time.sleep(0.1)
    sys.exit(f"waited in vain for {what}")


def read(bus: Bus) -> dict[str, Any]:
    """Everything the test wants to know."""
    desktop = Thing("org.a11y.atspi.Registry", _ROOT)
    program = until("the program", lambda: next(iter(bus.children(desktop)), None))

    def find(role: str, name: str, within: Thing = program) -> Thing | None:
        return next((one for one, _ in bus.walk(within) if bus.role(one) == role and bus.name(one) == name), None)

    table = until("the messages", lambda: find("table", "Messages"))
    until("its rows", lambda: int(bus.prop(table, "NRows", "Table")) > 1)
    rows = int(bus.prop(table, "NRows", "Table"))
    cells = [bus.call(table, "Table", "GetAccessibleAt", GLib.Variant("(ii)", (0, column)))[0] for column in (1, 4)]
    learned: dict[str, Any] = {"rows": rows, "cells": [bus.name(Thing(*cell)) for cell in cells]}
    learned["widgets"] = [seen(bus, one) for one, _ in bus.walk(program)]
    menu_bar = until("the menu bar", lambda: find("menu bar", "Menu bar"))
    learned["menus"] = [bus.name(one) for one in bus.children(menu_bar)]
    editor = until("the filter bar", lambda: find("text", "Display filter"))
    bus.call(editor, "EditableText", "SetTextContents", GLib.Variant("(s)", ('kind == "chat"',)))
    learned["written"] = bus.call(editor, "Text", "GetText", GLib.Variant("(ii)", (0, -1)))[0]
    preset = until("a preset", lambda: find("check box", "Main only"))
    count = int(bus.prop(preset, "NActions", "Action"))
    names = [bus.call(preset, "Action", "GetName", GLib.Variant("(i)", (place,)))[0] for place in range(count)]
    learned["actions"] = names
    press = next(place for place, name in enumerate(names) if name in ("Press", "Toggle"))
    bus.call(preset, "Action", "DoAction", GLib.Variant("(i)", (press,)))

    def others() -> int:
        now = int(bus.prop(table, "NRows", "Table"))
        return now if now != rows else 0

    learned["rows_pressed"] = until("other rows", others)
    learned["checked"] = bool(bus.states(preset) >> _CHECKED & 1)
    return learned


def seen(bus: Bus, one: Thing) -> dict[str, Any]:
    """What one widget is, and whether it can have the keyboard now."""
    states = bus.states(one)
    return {
        "role": bus.role(one), "name": bus.name(one),
        "reachable": bool(states >> _FOCUSABLE & 1) and bool(states >> _SHOWING & 1),
    }  # fmt: skip


def main() -> None:
    """Start the program, learn, end it."""
    environment = {**os.environ, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
    bus = Bus()
    program = subprocess.Popen(sys.argv[1:], env=environment)
    try:
        learned = read(bus)
    finally:
        program.terminate()
        program.wait(timeout=15)
    print()  # the registry, too, speaks to this output
    print(json.dumps(learned))


if __name__ == "__main__":
    main()
