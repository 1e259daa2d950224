"""Icons in theme colours, cached, and the icon of each message kind.

The caches are cleared when the colours change (`use_colors`, called by `theme.apply`). Owners of an icon must get it
again on `ThemeController.changed`. Meaning of the icons: docs/design.md 11 and 13.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QPixmap

from inspector.base import paths
from inspector.ui.look.design_tokens import COLORS
from inspector.ui.look.glyphs import glyph_icon

KIND_ICONS: dict[str, str] = {
    "chat": "ri.chat-1-line",
    "chat/acknowledge": "ri.check-double-line",
    "chat/cancel": "ri.close-circle-line",
    "mcp/request": "ri.arrow-right-up-line",
    "mcp/response": "ri.arrow-left-down-line",
    "mcp/proposal": "ri.git-pull-request-line",
    "mcp/reject": "ri.forbid-2-line",
    "mcp/withdraw": "ri.arrow-go-back-line",
    "reasoning/start": "ri.mind-map",
    "reasoning/thought": "ri.lightbulb-line",
    "reasoning/conclusion": "ri.flag-line",
    "reasoning/cancel": "ri.close-circle-line",
    "system/join": "ri.login-circle-line",
    "system/welcome": "ri.login-circle-line",
    "system/presence": "ri.user-line",
}
"""Icon of a kind that several formats share; other kinds use the icon of their namespace."""

NAMESPACE_ICONS: dict[str, str] = {
    "chat": "ri.chat-1-line",
    "stream": "ri.broadcast-line",
    "capability": "ri.key-2-line",
    "participant": "ri.equalizer-line",
    "space": "ri.user-add-line",
    "system": "ri.settings-3-line",
}
"""Icon of a namespace."""

UNKNOWN_ICON = "ri.question-line"
"""Icon of unknown kinds."""

UNREADABLE_ICON = "ri.file-damage-line"
"""Icon of unreadable messages; tint with `severity.error`."""

ICONS: dict[str, str] = {
    "open": "ri.folder-open-line",
    "connect": "ri.plug-line",
    "record": "ri.record-circle-fill",
    "pause": "ri.pause-line",
    "resume": "ri.play-line",
    "follow": "ri.arrow-down-circle-line",
    "filter": "ri.filter-3-line",
    "save": "ri.star-line",
    "saved": "ri.star-fill",
    "history": "ri.history-line",
    "clear": "ri.close-line",
    "pane_left": "ri.layout-left-line",
    "pane_bottom": "ri.layout-bottom-line",
    "pane_right": "ri.layout-right-line",
    "find": "ri.search-line",
    "space": "ri.stack-line",
    "mark": "ri.bookmark-fill",
    "comment": "ri.sticky-note-line",
    "error": "ri.error-warning-line",
    "warning": "ri.alert-line",
    "note": "ri.information-line",
    "hidden": "ri.eye-off-line",
    "silent": "ri.eye-line",
    "sent": "ri.send-plane-line",
    "read_only": "ri.lock-line",
    "global": "ri.global-line",
    "recording": "ri.file-list-3-line",
    "reasoning": "ri.mind-map",
    "expand": "ri.arrow-right-s-line",
    "collapse": "ri.arrow-down-s-line",
    "down": "ri.arrow-down-line",
    "up": "ri.arrow-up-line",
    "back": "ri.arrow-left-line",
    "forward": "ri.arrow-right-line",
    "add": "ri.add-line",
    "more": "ri.more-line",
    "expand_all": "ri.node-tree",
    "copy": "ri.file-copy-line",
    "paste": "ri.clipboard-line",
    "refresh": "ri.refresh-line",
    "stop": "ri.stop-fill",
    "success": "ri.checkbox-circle-line",
    "check": "ri.check-line",
    "sessions": "ri.chat-1-line",
    "tap": "ri.route-line",
    "demo": "ri.play-circle-line",
    "external": "ri.external-link-line",
    "export": "ri.download-line",
}
"""Icons of the window by purpose. `icon` and `pixmap` accept both kinds of names."""

# Painting an icon takes 75 µs, a cached pixmap 0.15 µs.
_pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}
_icons: dict[tuple[str, str, str | None], QIcon] = {}


def _plain_color(token: str) -> QColor:
    return QColor(COLORS[token][1])


_color: Callable[[str], QColor] = _plain_color


def use_colors(color: Callable[[str], QColor]) -> None:
    """Sets the colours and clears all cached icons and pixmaps."""
    global _color
    _color = color
    _pixmaps.clear()
    _icons.clear()


def icon(name: str, token: str = "ink.secondary", on_token: str | None = None) -> QIcon:
    """Returns a tinted icon, sharp at any size and device ratio.

    Args:
        name: a name of `ICONS` ("open") or of the Remix set ("ri.folder-open-line").
        token: colour at rest; disabled icons use `ink.disabled`.
        on_token: colour while its button is checked; None for `token`.

    Raises:
        KeyError: if there is no such icon or token.
    """
    glyph = glyph_name(name)
    key = (glyph, token, on_token)
    made = _icons.get(key)
    if made is None:
        made = _icons[key] = glyph_icon(
            glyph.removeprefix("ri."), off=_color(token), on=_color(on_token or token), disabled=_color("ink.disabled")
        )
    return made


def pixmap(name: str, token: str = "ink.secondary", size: int = 16, dpr: float = 1.0) -> QPixmap:
    """Returns a cached tinted pixmap, `size` logical pixels square, at a device pixel ratio.

    Raises:
        KeyError: if there is no such icon or token.
    """
    key = (name, token, size, dpr)
    made = _pixmaps.get(key)
    if made is None:
        made = _pixmaps[key] = icon(name, token).pixmap(QSize(size, size), dpr)
    return made


def glyph_name(name: str) -> str:
    """Returns the Remix name for a name of `ICONS`; Remix names are returned as they are.

    Raises:
        KeyError: if it is neither.
    """
    return name if name.startswith("ri.") else ICONS[name]


@cache
def format_icons() -> dict[str, str]:
    """Returns the icons of kinds, and of namespaces with a slash at their end, that only one format has."""
    from inspector.formats.table import FORMATS  # all readers, 0.1 s: the start page shows no kinds

    return {kind: icon for one in FORMATS for kind, icon in one.icons.items()}


def kind_icon(kind: str) -> str:
    """Returns the icon of a canonical kind, without its suffix; "" (unreadable) gives the damaged file."""
    if not kind:
        return UNREADABLE_ICON
    bare = kind.partition(":")[0]
    namespace = bare.partition("/")[0]
    own = KIND_ICONS.get(bare) or format_icons().get(bare)
    return own or NAMESPACE_ICONS.get(namespace) or format_icons().get(f"{namespace}/") or UNKNOWN_ICON


def kind_family(kind: str) -> str:
    """Returns the kind family (`design_tokens.FAMILIES`) of a canonical kind, "unknown" for foreign kinds."""
    from inspector.formats.kind_families import family_of  # imports all readers, too

    return family_of(kind.partition(":")[0]).name.lower()


def kind_token(kind: str) -> str:
    """Returns the colour token of a kind's icon: of its family, or `severity.error` for unreadable ("")."""
    return f"family.{kind_family(kind)}" if kind else "severity.error"


def kind_pixmap(kind: str, size: int = 14, dpr: float = 1.0) -> QPixmap:
    return pixmap(kind_icon(kind), kind_token(kind), size, dpr)


def app_icon() -> QIcon:
    """Returns the program's icon: two nested open rings and a point at the opening."""
    return QIcon(str(paths.resource("icons", "context-inspector.svg")))
