"""Gives the keyboard to the topmost window, as a window manager does: none runs on a virtual display."""

from __future__ import annotations

import ctypes

_VIEWABLE = 2
_TO_POINTER_ROOT = 1


class _Attributes(ctypes.Structure):
    """What Xlib's XWindowAttributes holds."""

    _fields_ = (
        *[(name, ctypes.c_int) for name in ("x", "y", "width", "height", "border_width", "depth")],
        ("visual", ctypes.c_void_p), ("root", ctypes.c_ulong),
        *[(name, ctypes.c_int) for name in ("class", "bit_gravity", "win_gravity", "backing_store")],
        ("backing_planes", ctypes.c_ulong), ("backing_pixel", ctypes.c_ulong), ("save_under", ctypes.c_int),
        ("colormap", ctypes.c_ulong), ("map_installed", ctypes.c_int), ("map_state", ctypes.c_int),
        ("all_event_masks", ctypes.c_long), ("your_event_mask", ctypes.c_long), ("no_propagate", ctypes.c_long),
        ("override_redirect", ctypes.c_int), ("screen", ctypes.c_void_p),
    )  # fmt: skip


class XFocus:
    """A connection to the display."""

    def __init__(self) -> None:
        self._x = ctypes.CDLL("libX11.so.6")
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XDefaultRootWindow.restype = ctypes.c_ulong
        self._display = ctypes.c_void_p(self._x.XOpenDisplay(None))

    def give(self) -> None:
        """Give the keyboard to the topmost window that a window manager would frame."""
        x, display = self._x, self._display
        root = x.XDefaultRootWindow(display)
        above, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
        children = ctypes.POINTER(ctypes.c_ulong)()
        x.XQueryTree(display, ctypes.c_ulong(root), ctypes.byref(above), ctypes.byref(parent),
                     ctypes.byref(children), ctypes.byref(count))  # fmt: skip
        for place in reversed(range(count.value)):
            window, found = ctypes.c_ulong(children[place]), _Attributes()
            x.XGetWindowAttributes(display, window, ctypes.byref(found))
            if found.map_state == _VIEWABLE and not found.override_redirect:
                x.XSetInputFocus(display, window, _TO_POINTER_ROOT, ctypes.c_ulong(0))
                break
        x.XFree(children)
        x.XSync(display, 0)
