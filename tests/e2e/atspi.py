"""The accessibility bus by D-Bus calls alone: neither pyatspi nor the Atspi library is needed.

For the system's own python3, for only that has `gi`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gi.repository import Gio, GLib  # pyright: ignore[reportMissingImports]

_ATSPI = "org.a11y.atspi."
ROOT = "/org/a11y/atspi/accessible/root"
_WAIT_S = 60.0
_REPLY_MS = 30_000
"""A loaded machine takes seconds to restyle a window, and its program answers afterwards."""
_LARGE = 300
"""Of a widget with more children, as a table's cells, only so many are looked at."""
ACTIVE, CHECKED, FOCUSABLE, FOCUSED, SELECTED, SHOWING = 1, 4, 11, 12, 23, 25
"""Places of states, as atspi-constants.h numbers them."""
_KEY_SYM = 3


class Thing(NamedTuple):
    """Something accessible: a bus name and a path."""

    owner: str
    path: str


class Bus:
    """The accessibility bus."""

    def __init__(self) -> None:
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        reply = session.call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, Gio.DBusCallFlags.NONE, _REPLY_MS
        )
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self._bus = Gio.DBusConnection.new_for_address_sync(reply.unpack()[0], flags, None, None)

    def call(self, thing: Thing, interface: str, method: str, arguments: Any = None) -> Any:
        """The reply's values."""
        reply = self._bus.call_sync(
            thing.owner, thing.path, _ATSPI + interface, method, arguments, None, Gio.DBusCallFlags.NONE, _REPLY_MS
        )
        return reply.unpack()

    def prop(self, thing: Thing, name: str, interface: str = "Accessible") -> Any:
        """A property."""
        reply = self._bus.call_sync(
            thing.owner, thing.path, "org.freedesktop.DBus.Properties", "Get",
            GLib.Variant("(ss)", (_ATSPI + interface, name)), None, Gio.DBusCallFlags.NONE, _REPLY_MS,
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
        """Its name."""
        return str(self.prop(thing, "Name"))

    def role(self, thing: Thing) -> str:
        """What it is: "push button"."""
        return str(self.call(thing, "Accessible", "GetRoleName")[0])

    def states(self, thing: Thing) -> int:
        """Its states as one number, a bit for each."""
        low, high = self.call(thing, "Accessible", "GetState")[0]
        return int(low) | int(high) << 32

    def act(self, thing: Thing, *wanted: str) -> list[str]:
        """Do the first of the wanted actions it has; the names of all it has."""
        count = int(self.prop(thing, "NActions", "Action"))
        names = [self.call(thing, "Action", "GetName", GLib.Variant("(i)", (place,)))[0] for place in range(count)]
        place = next(names.index(name) for name in wanted if name in names)
        self.call(thing, "Action", "DoAction", GLib.Variant("(i)", (place,)))
        return names

    def press(self, thing: Thing) -> list[str]:
        """Press it, as a screen reader does; the names of what it can be asked."""
        return self.act(thing, "Toggle", "Press")

    def write(self, thing: Thing, text: str) -> str:
        """Write a text into a field; what stands there then."""
        self.call(thing, "EditableText", "SetTextContents", GLib.Variant("(s)", (text,)))
        return str(self.call(thing, "Text", "GetText", GLib.Variant("(ii)", (0, -1)))[0])

    def key(self, symbol: int) -> None:
        """Press and release a key of the keyboard, by its X11 symbol."""
        keyboard = Thing("org.a11y.atspi.Registry", "/org/a11y/atspi/registry/deviceeventcontroller")
        event = GLib.Variant("(isu)", (symbol, "", _KEY_SYM))
        self.call(keyboard, "DeviceEventController", "GenerateKeyboardEvent", event)

    def find(self, role: str, name: str, within: Thing) -> Thing | None:
        """The first one of this role and name that is shown."""
        for one in self.walk(within, shown=True):
            if self.role(one) == role and self.name(one) == name:
                return one
        return None

    def has(self, thing: Thing, state: int) -> bool:
        """Whether it is in a state."""
        return bool(self.states(thing) >> state & 1)

    def walk(self, thing: Thing, *, shown: bool = False) -> Iterator[Thing]:
        """It and everything in it, or what of it is shown; cells of tables left out."""
        role = self.role(thing)
        if shown and role != "application" and not self.has(thing, SHOWING):
            return
        yield thing
        if role not in ("table", "list", "tree", "tree table", "menu"):
            for child in self.children(thing):
                yield from self.walk(child, shown=shown)


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
