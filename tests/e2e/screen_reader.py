"""What a screen reader learns of the program, over AT-SPI. Run by the system's own python3, for only that has `gi`.

    dbus-run-session -- python3 screen_reader.py PROGRAM [ARGUMENT]...

Starts the program on the session's bus, waits for its window, reads and uses it as a screen reader and its user would,
prints what it learned as one JSON object, and ends the program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from atspi import ACTIVE, CHECKED, FOCUSABLE, FOCUSED, ROOT, SELECTED, SHOWING, Bus, Thing, until
from gi.repository import GLib  # pyright: ignore[reportMissingImports]
from x_focus import XFocus

_TAB, _RETURN, _ESCAPE = 0xFF09, 0xFF0D, 0xFF1B
"""Symbols of keys, as X11 numbers them."""
_TABS = 12
"""So many stops of the Tab key are looked at."""


class Window:
    """The program's window, as it is used."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        desktop = Thing("org.a11y.atspi.Registry", ROOT)
        self.program: Thing = until("the program", lambda: next(iter(bus.children(desktop)), None))
        self.table: Thing = self.wait("table", "Messages")
        until("its rows", lambda: self.rows > 1)
        self._x = XFocus()
        self.activate()

    def focus(self, thing: Thing) -> None:
        """Give it the keyboard."""
        self.bus.call(thing, "Component", "GrabFocus")

    def activate(self, dialog: Thing | None = None) -> None:
        """Give the keyboard to the window on top: this dialog, or the main window."""
        active = dialog or next(one for one in self.bus.children(self.program) if self.bus.role(one) == "frame")
        until("the keyboard", lambda: self._x.give() or self.bus.has(active, ACTIVE))

    @property
    def rows(self) -> int:
        """How many the table has."""
        return int(self.bus.prop(self.table, "NRows", "Table"))

    def wait(self, role: str, name: str, within: Thing | None = None) -> Thing:
        """Something of this role and name, as soon as it is shown."""
        return until(f"the {role} {name}", lambda: self.bus.find(role, name, within or self.program))

    def cell(self, row: int, column: int) -> str:
        """What is read of a cell."""
        at = GLib.Variant("(ii)", (row, column))
        return self.bus.name(Thing(*self.bus.call(self.table, "Table", "GetAccessibleAt", at)[0]))

    def choose(self, menu: str, entry: str, within: Thing | None = None) -> list[str]:
        """Choose an entry of a menu, of the first window or of this one; the words of all its entries."""
        bar = self.wait("menu bar", "Menu bar", within)
        top = next(one for one in self.bus.children(bar) if self.bus.name(one) == menu)
        entries = self._entries(top)
        names = [self.bus.name(one) for one in entries]
        self.bus.act(entries[names.index(entry)], "Press")
        return [name for name in names if name]

    def _entries(self, menu: Thing, levels: int = 4) -> list[Thing]:
        """The entries of a menu and of its submenus."""
        below = self.bus.children(menu) if levels else []
        return [one for inside in below for one in (inside, *self._entries(inside, levels - 1))]

    def gone(self, role: str, name: str) -> bool:
        """Wait until nothing of this role and name is shown."""
        return until(f"the end of {name}", lambda: self.bus.find(role, name, self.program) is None)

    def focused(self) -> dict[str, Any] | None:
        """What has the keyboard."""
        # By D-Bus alone there is no shorter way than to look: what is in tables and lists is told by them.
        for one in self.bus.walk(self.program, shown=True):
            if self.bus.has(one, FOCUSED) and self.bus.role(one) not in ("frame", "dialog", "application"):
                box = self.bus.call(one, "Component", "GetExtents", GLib.Variant("(u)", (0,)))[0]
                return {
                    "role": self.bus.role(one), "name": self.bus.name(one), "shown": self.bus.has(one, SHOWING),
                    "size": box[2:],
                }  # fmt: skip
        return None


def read(window: Window) -> dict[str, Any]:
    """What is there."""
    bus = window.bus
    bar = window.wait("menu bar", "Menu bar")
    window.wait("push button", "1 problem")  # counted after the rows are there
    return {
        "rows": window.rows,
        "cells": [window.cell(0, column) for column in (1, 4)],
        "widgets": [seen(bus, one) for one in bus.walk(window.program)],
        "menus": [bus.name(one) for one in bus.children(bar) if bus.has(one, SHOWING)],
    }


def filter_it(window: Window) -> dict[str, Any]:
    """Write a filter and apply it by the keyboard; press a preset."""
    bus, rows = window.bus, window.rows
    editor = window.wait("text", "Display filter")
    written = bus.write(editor, 'kind == "chat"')
    window.focus(editor)
    until("the keyboard in the filter bar", lambda: bus.has(editor, FOCUSED))
    bus.key(_RETURN)
    filtered = until("the filter", lambda: window.rows if window.rows != rows else 0)
    preset = window.wait("check box", "Main only")
    actions = bus.press(preset)
    pressed = until("the preset", lambda: window.rows if window.rows != filtered else 0)
    checked = bus.has(preset, CHECKED)
    bus.press(window.wait("check box", "Everything"))
    until("everything", lambda: window.rows == rows)
    return {
        "written": written, "rows_filtered": filtered, "rows_pressed": pressed, "checked": checked, "actions": actions,
    }  # fmt: skip


def turn_tabs(window: Window) -> dict[str, Any]:
    """Turn the tabs of the details."""
    bus = window.bus
    tabs = bus.children(window.wait("page tab list", "Overview"))  # it is called what its current tab is
    tabs = [one for one in tabs if bus.role(one) == "page tab"]
    turned: list[str] = []
    for tab in tabs:
        bus.act(tab, "Press")
        until(f"the tab {bus.name(tab)}", lambda tab=tab: bus.has(tab, SELECTED))
        turned.append(bus.name(tab))
    bus.act(tabs[0], "Press")
    return {"tabs": turned}


def use_palette(window: Window) -> dict[str, Any]:
    """Find what can be done by its name, and do it."""
    bus = window.bus
    window.choose("Help", "Command palette...")
    field = window.wait("text", "Command palette")
    bus.write(field, "go to no")
    until("the keyboard in the palette", lambda: bus.has(field, FOCUSED))
    found = until("what fits", lambda: [bus.name(one) for one in bus.children(window.wait("list", "Commands"))])
    bus.key(_RETURN)
    window.activate(window.wait("dialog", "Go to No. or id"))
    number = window.wait("text", "Number, id or part of an id")
    bus.write(number, "7")
    bus.press(window.wait("push button", "Go to"))
    window.gone("dialog", "Go to No. or id")
    window.activate()
    row = until("the row", lambda: bus.call(window.table, "Table", "GetSelectedRows")[0])
    return {"found": found[:3], "selected": row, "cell": window.cell(row[0], 1)}


def change_settings(window: Window) -> dict[str, Any]:
    """Walk through the settings, and switch to the dark theme and back."""
    bus = window.bus
    entries = window.choose("File", "Settings...")
    dialog = window.wait("dialog", "Settings")
    pages: list[str] = []
    for page in ("Presets", "Highlight rules", "Keys", "Display"):
        bus.press(window.wait("radio button", page, dialog))
        window.wait("label", page, dialog)
        pages.append(page)
    dark = window.wait("check box", "Theme: Dark", dialog)
    bus.press(dark)
    until("the dark theme", lambda: bus.has(dark, CHECKED))
    inside = [seen(bus, one) for one in bus.walk(dialog)]
    bus.press(window.wait("push button", "Close", dialog))
    window.gone("dialog", "Settings")
    return {"file_menu": entries, "pages": pages, "settings": inside}


def open_dialogs(window: Window) -> dict[str, Any]:
    """Open dialogs, and close them by the keyboard."""
    bus, opened = window.bus, {}
    for menu, entry, title in (
        ("File", "Connect to a gateway...", "Connect to a gateway"), ("View", "Columns...", "Columns"),
        ("Help", "Keys...", "Keys"),
    ):  # fmt: skip
        window.choose(menu, entry)
        dialog = window.wait("dialog", title)
        window.activate(dialog)
        opened[title] = [seen(bus, one) for one in bus.walk(dialog)]
        bus.key(_ESCAPE)
        window.gone("dialog", title)
    return {"dialogs": opened}


def walk_by_tab(window: Window) -> dict[str, Any]:
    """Go from control to control, and hear of each."""
    bus = window.bus
    window.activate()
    window.focus(window.wait("text", "Display filter"))
    stops: list[dict[str, Any]] = []
    before = until("the keyboard", window.focused)
    for _ in range(_TABS):
        bus.key(_TAB)
        before = until("the next control", lambda before=before: _other(window.focused(), before))
        stops.append(before)
    return {"stops": stops}


def read_conversation(window: Window) -> dict[str, Any]:
    """Read the conversation by its articles and their headings."""
    bus = window.bus
    window.choose("View", "Conversation")
    cards = window.wait("list", "Conversation")
    articles = until("cards", lambda: bus.children(cards) or None)
    until("a card", lambda: bus.role(articles[0]) == "section" and bus.children(articles[0]))
    headings = [bus.children(one)[0] for one in articles[:6]]
    return {
        "articles": [bus.role(one) for one in articles[:6]],
        "headings": [(bus.role(one), bus.name(one)) for one in headings],
        "first_article": bus.name(articles[0]),
    }


def _other(now: dict[str, Any] | None, before: dict[str, Any]) -> dict[str, Any] | None:
    return now if now != before else None


def seen(bus: Bus, one: Thing) -> dict[str, Any]:
    """What one widget is, and whether it can have the keyboard now."""
    return {
        "role": bus.role(one), "name": bus.name(one), "reachable": bus.has(one, FOCUSABLE) and bus.has(one, SHOWING),
    }  # fmt: skip


STEPS: tuple[Callable[[Window], dict[str, Any]], ...] = (
    read, filter_it, use_palette, turn_tabs, change_settings, open_dialogs, walk_by_tab,
    read_conversation,
)  # fmt: skip


def learn() -> Iterator[dict[str, Any]]:
    """Do one step after the other."""
    window = Window(Bus())
    for step in STEPS:
        try:
            yield step(window)
        except GLib.Error as error:
            sys.exit(f"{step.__name__}: {error}")


def main() -> None:
    """Start the program, learn, end it."""
    environment = {**os.environ, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
    learned: dict[str, Any] = {}
    program = subprocess.Popen(sys.argv[1:], env=environment)
    try:
        for part in learn():
            learned |= part
    finally:
        program.terminate()
        program.wait(timeout=60)
    print()  # the registry, too, speaks to this output
    print(json.dumps(learned))


if __name__ == "__main__":
    main()
