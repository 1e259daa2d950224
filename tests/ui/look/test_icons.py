"""Tests of `inspector.ui.look.icons`."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize, qInstallMessageHandler
from PySide6.QtGui import QColor, QPixmap

from inspector.ui.look import icons
from inspector.ui.look.design_tokens import FAMILIES
from inspector.ui.look.glyphs import glyph_icon
from inspector.ui.look.theme import ThemeController

NAMES = sorted(
    {*icons.ICONS.values(), *icons.KIND_ICONS.values(), *icons.NAMESPACE_ICONS.values(), *icons.format_icons().values()}
)


def inked(pixmap: QPixmap) -> set[str]:
    """Colours of the opaque pixels."""
    image = pixmap.toImage()
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.mark.usefixtures("theme_controller")
def test_glyphs_are_in_the_installed_set() -> None:
    names = (*NAMES, icons.UNKNOWN_ICON, icons.UNREADABLE_ICON)
    colour = QColor("black")
    for name in names:
        glyph = icons.glyph_name(name).removeprefix("ri.")
        assert not glyph_icon(glyph, off=colour, on=colour, disabled=colour).isNull()


@pytest.mark.parametrize(
    ("kind", "icon", "family"),
    [
        ("chat", "ri.chat-1-line", "chat"),
        ("mcp/request:tools/call:read_file", "ri.arrow-right-up-line", "tools"),
        ("mcp/proposal", "ri.git-pull-request-line", "proposals"),
        ("reasoning/thought", "ri.lightbulb-line", "reasoning"),
        ("stream/open", "ri.broadcast-line", "streams"),
        ("capability/grant", "ri.key-2-line", "control"),
        ("system/error", "ri.settings-3-line", "gateway"),
        ("weather/report", "ri.question-line", "unknown"),
    ],
)
def test_icon_and_family_of_a_kind(kind: str, icon: str, family: str) -> None:
    assert (icons.kind_icon(kind), icons.kind_family(kind)) == (icon, family)
    assert icons.kind_family(kind) in FAMILIES


def test_unreadable_message_has_a_broken_file_in_error_colour() -> None:
    assert (icons.kind_icon(""), icons.kind_token("")) == ("ri.file-damage-line", "severity.error")


def test_pixmap_has_the_tokens_colour_and_the_device_ratio(theme_controller: ThemeController) -> None:
    pixmap = icons.pixmap("record", "rec", 16, 2.0)
    assert (pixmap.width(), pixmap.devicePixelRatio()) == (32, 2.0)
    assert theme_controller.theme.color("rec").name() in inked(pixmap)


def test_pixmaps_are_cached_until_the_theme_changes(theme_controller: ThemeController) -> None:
    first = icons.pixmap("open")
    assert icons.pixmap("open") is first
    theme_controller.set_setting("dark")
    again = icons.pixmap("open")
    assert again is not first
    assert QColor("#aeb4be").name() in inked(again)


def test_app_icon_is_drawn(theme_controller: ThemeController) -> None:
    pixmap = icons.app_icon().pixmap(64, 64)
    assert {theme_controller.theme.color("accent.wash").name()} <= inked(pixmap)


@pytest.mark.usefixtures("theme_controller")
def test_without_room_nothing_is_drawn() -> None:
    """A button without width asks for such icons in very narrow windows; Qt grumbles at every stroke into them."""
    grumbles: list[str] = []
    before = qInstallMessageHandler(lambda _kind, _where, words: grumbles.append(words))
    drawn = icons.icon("open").pixmap(QSize(0, 16))
    qInstallMessageHandler(before)
    assert drawn.isNull()
    assert grumbles == []


@pytest.mark.parametrize(
    ("kind", "icon"),
    [
        ("otlp/agent", "ri.robot-line"),
        ("otlp/span", "ri.git-commit-line"),
        ("msp/snapshot", "ri.file-text-line"),
        ("msp/other", "ri.discuss-line"),
        ("recorder/end", "ri.record-circle-line"),
        ("vscode/session", "ri.terminal-line"),
    ],
)
def test_a_format_gives_the_icons_of_its_kinds(kind: str, icon: str) -> None:
    assert icons.kind_icon(kind) == icon
