"""Takes screenshots of the window on a log, for documentation and scripts; always with the bundled fonts."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray
from PySide6.QtGui import QImageWriter

from inspector.base.atomic_files import open_replacement
from inspector.base.targets import is_session, target_path
from inspector.engine.client import OpenFailedError
from inspector.engine.requests.participants import OrderParticipants
from inspector.engine.requests.tokens import CountTokens
from inspector.present.places import ParticipantPlace
from inspector.settings import RENAMED_PRESETS
from inspector.survey import is_survey
from inspector.ui.app.application import Application, make_qt, run_loop
from inspector.ui.docview.panel import COMPARE, CONVERSATION, OVERVIEW
from inspector.ui.panels.compare.panel import ComparePanel
from inspector.ui.panels.model_sees.panel import ModelSeesPanel
from inspector.ui.panels.overview.panel import OverviewPanel
from inspector.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes


@dataclass(frozen=True, slots=True)
class Shot:
    """Content and size of a screenshot."""

    file: str
    output: str
    filter: str
    select: int | None
    preset: str | None
    width: int
    height: int
    theme: str
    hints: bool
    expand: bool
    view: str | None = None
    """View of the middle column by title; None for the messages."""
    panel: str | None = None
    """Bottom panel by title."""
    compare: int | None = None
    """Message that Model sees compares with."""
    tool_aliases: tuple[str, ...] = ()
    participant: str | None = None
    """Participant shown in the details."""
    reading: str | None = None
    """Forced format."""
    other: str | None = None
    """Another run, shown beside this one in the view Compare."""


def take_screenshot(shot: Shot) -> str | None:
    """Writes the screenshot; returns a sentence if that fails."""
    qt = make_qt()
    sentence: str | None = None

    async def main() -> int:
        nonlocal sentence
        application = Application(qt, theme=shot.theme, bundled_fonts=True, remembers=False)
        application.settings.display.show_context_hints = shot.hints
        application.settings.display.show_first = "messages"
        application.settings.start.open_in = "windows"
        # A running animation would be captured half-way.
        application.settings.display.animate = False
        application.aliases_here = shot.tool_aliases

        async def start() -> None:
            nonlocal sentence
            sentence = await _take_log(application, shot, target_path(shot.file))
            await application.close_all()

        await application.run(start())
        return 0

    run_loop(main(), qt)
    return sentence


SUBSESSIONS = "sub-sessions"
"""View of the first open sub-session in the conversation."""
_COUNTED_S = 0.3
_COUNTED_BYTES = 32 << 20
"""Tokens are counted in logs of at most this many bytes."""
_VIEW_TIMEOUT_S = 60.0
"""Longest wait for a view, in seconds."""
_STILL_S, _AGAIN_S = 5.0, 0.1  # longest wait for two equal pictures, and the pause between them
_SETTLED_S = 1.5
"""Time for layouts and delayed painting; views that count or search finish later."""


async def _count_tokens(panes: Panes | None, messages: tuple[int, ...] | None = None) -> None:
    """Counts the tokens of messages, or of all, so that the picture has them."""
    counted = asyncio.Event()
    if panes is not None:
        panes.client.send_request(CountTokens(messages), lambda _answer: counted.set(), lambda _words: counted.set())
        await counted.wait()


async def _arrange(window: MainWindow, shot: Shot) -> str | None:
    """Shows the requested view and panel; returns a sentence if one does not exist."""
    views = {view.title.lower(): view.id for view in window.center.views_of(window.shown.state)}
    panels = {title.lower(): dock for title, dock in window.docks.items()}
    if shot.view is not None and shot.view.lower() == COMPARE:
        if shot.other is None:
            return "The view Compare needs another run: --with LOG names it."
        window.center.add_view(COMPARE)
        views[COMPARE] = COMPARE
    if shot.view == SUBSESSIONS and window.shown.state.is_sessions:
        views[SUBSESSIONS] = CONVERSATION
    for asked, known in ((shot.view, views), (shot.panel, panels)):
        if asked is not None and asked.lower() not in known:
            return f"There is no view or panel {asked}. Choose one of: {', '.join(known)}."
    if shot.view is not None or shot.panel is not None:
        await _count_tokens(window.panes)
    if shot.view is not None:
        window.center.show_view(views[shot.view.lower()])
        shown = window.center.currentWidget()
        if shot.compare is not None and isinstance(shown, ModelSeesPanel):
            shown.compare_with(min(max(shot.compare - 1, 0), window.shown.state.messages - 1))
        if shot.view == SUBSESSIONS:
            window.msp.view.show_subsessions()
        window.focus_center()  # as a key would do; else Qt draws the focus ring on the next button
    if shot.other is not None:
        window.run_comparing.compare_with(shot.other)
    if shot.panel is not None:
        dock = panels[shot.panel.lower()]
        dock.show()
        dock.raise_()
    return await _show_participant(window, shot.participant) if shot.participant is not None else None


async def _show_participant(window: MainWindow, name: str) -> str | None:
    if window.panes is None:
        return None
    known = window.panes.client.answer_now(OrderParticipants()).keys
    place = next((ParticipantPlace(space, one) for space, one in known if one == name), None)
    if place is None:
        return f"There is no participant {name}. Participants: {', '.join(one for _, one in known)}."
    await _count_tokens(window.panes)
    window.panes.show_place(place)
    return None


def _is_busy(panes: Panes) -> bool:
    from inspector.ui.panels.files.panel import FilesPanel
    from inspector.ui.panels.timeline.panel import TimelinePanel

    compare = panes.made.get(COMPARE)
    if isinstance(compare, ComparePanel) and compare.is_busy:
        return True
    overview = panes.made.get(OVERVIEW)
    if isinstance(overview, OverviewPanel) and overview.isVisible() and not overview.latest.is_current:
        return True
    files = panes.made.get("files")
    if isinstance(files, FilesPanel) and files.isVisible() and files.latest.answer is None:
        return True
    account = panes.details.account
    if account is not None and account.isVisible() and not account.latest.is_current:
        return True
    timeline, sees = panes.made.get("timeline"), panes.made.get("model_sees")
    if isinstance(sees, ModelSeesPanel) and sees.isVisible() and sees.latest.is_pending:
        return True
    return isinstance(timeline, TimelinePanel) and timeline.isVisible() and timeline.is_busy


async def _take_survey(window: MainWindow, shot: Shot, path: Path) -> str | None:
    window.opening.open_path(path)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_VIEW_TIMEOUT_S):
            while window.shown.runs is None:  # noqa: ASYNC110 - it sets no event
                await asyncio.sleep(0.05)
    if window.shown.runs is None:
        return f"{shot.file} could not be shown."
    window.shown.runs.apply_filter(shot.filter)
    await asyncio.sleep(_SETTLED_S / 5)
    return await _save(window, shot.output)


async def _save(window: MainWindow, output: str) -> str | None:
    """Saves the screenshot once it is stable: heights of wrapped texts settle over several loop iterations."""
    picture = window.grab().toImage()
    # A picture that never settles is saved as it is.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_STILL_S):
            while True:
                await asyncio.sleep(_AGAIN_S)
                before, picture = picture, window.grab().toImage()
                if picture == before:
                    break
    target, data = Path(output), QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    # QImage.save of PySide6 6.11 takes no format as its stub declares it.
    if not QImageWriter(buffer, QByteArray(target.suffix.removeprefix(".").encode())).write(picture):
        return f"{output} cannot be written; end its name with .png."
    try:
        with open_replacement(target) as file:
            file.write(data.data())
    except OSError as error:
        return f"{output} cannot be written: {error.strerror or error}; choose another folder or name."
    return None


async def _take_log(application: Application, shot: Shot, path: Path) -> str | None:
    window = application.new_window()
    window.resize(shot.width, shot.height)
    if is_survey(path):
        return await _take_survey(window, shot, path)
    try:
        window.shown.location.is_session = is_session(shot.file)
        await window.opening.load(path, reading=shot.reading)
    except OpenFailedError as error:
        return f"{shot.file} cannot be read: {error}." if error.kind == "unreadable" else str(error)
    except OSError as error:
        return f"{shot.file} cannot be read: {error.strerror or error}."
    panes = window.panes
    if panes is None:
        return f"{shot.file} could not be shown."
    text = shot.filter
    if shot.preset is not None:
        presets = {preset.name: preset.filter for preset in application.settings.presets}
        name = shot.preset if shot.preset in presets else RENAMED_PRESETS.get(shot.preset, shot.preset)
        if name not in presets:
            return f"There is no preset {shot.preset}. Presets: {', '.join(presets)}."
        text = presets[name]
    if shot.select is not None:
        if not 1 <= shot.select <= panes.client.state.messages:
            return f"There is no message {shot.select}; {shot.file} has 1 to {panes.client.state.messages:,}."
        await _count_tokens(panes, (shot.select - 1,))  # its details show the number
        panes.go_to(shot.select - 1)
    if text:
        panes.filter_state.apply_filter(text)
    if shot.select is not None:
        hidden = not panes.rows.locate(shot.select - 1) and panes.rows.row_of(shot.select - 1) is None
        if text and hidden:  # going to the message would clear the filter
            return f"Message {shot.select} does not match the filter; select one that does."
        panes.go_to(shot.select - 1)
        if shot.expand:
            panes.messages.toggle_original()
    sentence = await _arrange(window, shot)
    if sentence is not None:
        return sentence
    panes.problem_counts.request_now()  # at once instead of in slices
    if shot.select is None and panes.client.state.uncounted_bytes <= _COUNTED_BYTES:
        await _count_tokens(panes)  # the account shows the number
    quick = shot.view is None and shot.panel is None and shot.select is not None
    await asyncio.sleep(0.05 if quick else _SETTLED_S)
    if window.msp.view.count_now():
        await asyncio.sleep(_COUNTED_S)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_VIEW_TIMEOUT_S):
            while _is_busy(panes):  # noqa: ASYNC110 - views follow a slice at a time, and set no event
                await asyncio.sleep(0.05)
    return await _save(window, shot.output)
