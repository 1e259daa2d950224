"""Facts for error reports and About: versions, desktop, settings, log lines, sizes of open documents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import PySide6
from PySide6.QtCore import QLocale, qVersion
from PySide6.QtGui import QGuiApplication, QScreen

from inspector import version
from inspector.base.optional_dependencies import EXTRAS
from inspector.diagnostics import licences, program_log
from inspector.diagnostics.crash_report import Environment, OpenedWindow, system_facts
from inspector.engine.request import RequestError
from inspector.engine.requests.pass_timings import DocumentSize, SizeOfDocument

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.look.theme import Theme
    from inspector.ui.widgets.latest_answer import Client

_LIBRARIES = ("numpy", "qasync", "websockets", "pydantic", "msgspec", "keyring", "tiktoken")
"""Libraries that errors may concern. Help > About lists all of them."""
_LOG_LINES = 200


def surroundings(
    settings: Settings, theme: Theme, log: Path | None, windows: int, documents: Sequence[OpenedWindow]
) -> Environment:
    """Returns the environment and the open documents.

    Args:
        settings: the settings in force.
        theme: the look in force.
        log: path of the program's log; None without one.
        windows: number of open windows, with or without a document.
        documents: the open documents; see `opened`.
    """
    facts = [*version_facts(), *desktop_facts(theme, windows)]
    return Environment(facts, settings.model_dump(), documents, program_log.last_lines(log, _LOG_LINES))


def version_facts() -> list[tuple[str, str]]:
    """Returns the versions of the program and its libraries."""
    libraries = ", ".join(f"{name} {found}" for name, found in _library_versions())
    return [
        *system_facts(version()),
        ("Qt", f"{qVersion()}, PySide6 {PySide6.__version__}"),
        ("Libraries", libraries),
    ]


def about_facts() -> list[tuple[str, str]]:
    """Returns the facts of Help > About."""
    without = [
        (f"Without {one.name}", f"no {one.purpose}. {one.missing_message()}") for one in EXTRAS if one.missing_modules()
    ]
    return [*version_facts()[:-1], ("Platform plugin", QGuiApplication.platformName()), *without]


def _library_versions() -> Iterator[tuple[str, str]]:
    listed: dict[str, str] | None = None
    for name in _LIBRARIES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:  # a packaged program has a list instead
            listed = _listed_versions() if listed is None else listed
            yield name, listed.get(name, "unknown")


def _listed_versions() -> dict[str, str]:
    try:
        return {one.name.lower(): one.version for one in licences.bundled_licences()}
    except (OSError, ValueError, TypeError, LookupError):  # an error report must not fail itself
        return {}


def desktop_facts(theme: Theme, windows: int) -> list[tuple[str, str]]:
    """Returns platform plugin, screens, look and number of windows."""
    return [
        ("Platform plugin", QGuiApplication.platformName()),
        ("Screens", "; ".join(map(_screen_words, QGuiApplication.screens())) or "none"),
        ("Look", f"{'dark' if theme.dark else 'light'}, {theme.zoom:.0%}, {QLocale().name()}"),
        ("Windows", str(windows)),
    ]


def _screen_words(screen: QScreen) -> str:
    size = screen.size()
    return f"{size.width()} by {size.height()} at {screen.devicePixelRatio():.0%}, {screen.refreshRate():.0f} Hz"


def opened(client: Client, shown: int, total: int) -> OpenedWindow:
    """Returns the document of a window in numbers, with `shown` of `total` messages visible."""
    state, size = client.state, DocumentSize(0, 0)
    with contextlib.suppress(RequestError):  # the error may be that of the engine
        size = client.answer_now(SizeOfDocument())
    return OpenedWindow(
        str(state.path or state.name), "live" if state.is_live else state.format or "", total, shown, state.size_bytes,
        size.participants, size.contexts,
    )  # fmt: skip
