"""Compares the document of a window with another run, in the view Compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.base.targets import is_session, target_path
from inspector.engine.requests.prices import prices_in_force
from inspector.engine.requests.run_comparisons import CompareRuns
from inspector.engine.targets import OpenOptions, Target
from inspector.ui.dialogs.compare_runs import CompareRunsDialog, RunChoice
from inspector.ui.dialogs.questions import open_once
from inspector.ui.docview.panel import COMPARE
from inspector.ui.panels.compare.panel import ComparePanel
from inspector.ui.panels.start.recents import recent_file
from inspector.ui.services import usual_folder

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack

_MOST_CHOICES = 40


class RunComparing(QObject):
    """Chooses the other run, and shows the comparison.

    Signals:
        other_requested(str, int): open the other run at a message.
    """

    other_requested = Signal(str, int)

    def __init__(
        self, parent: QWidget, shown: Shown, services: Services, notices: NoticeStack, *,
        center: Callable[[], Center], open_logs: Callable[[], Sequence[tuple[str, str]]],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            parent: the window, parent of dialogs.
            shown: the document and its panes.
            services: settings.
            notices: shows failures.
            center: returns the views.
            open_logs: returns title and target of the logs in other windows.
        """
        super().__init__(parent)
        self._parent, self._shown, self._services, self._notices = parent, shown, services, notices
        self._center, self._open_logs = center, open_logs
        self._ignore: tuple[str, ...] = ()
        self._targets: dict[Target, str] = {}
        self._tied: ComparePanel | None = None
        self._awaited: tuple[Path, str] | None = None

    def ask_for_run(self) -> None:
        """Asks for the other run."""
        dialog = CompareRunsDialog(self._services.theme, self._choices(), self._ignore, self._parent)
        dialog.chosen.connect(self.compare_with)
        dialog.browse_requested.connect(self._browse)
        dialog.open()

    def _choices(self) -> list[RunChoice]:
        """Returns the logs of other windows, then recent ones."""
        own = self._shown.location.target(self._shown.location.opened)
        found = {target: RunChoice(target, title, target, is_open=True) for title, target in self._open_logs()}
        now, settings = datetime.now().astimezone(), self._services.settings
        for target in settings.recent_files[:_MOST_CHOICES]:
            recent = recent_file(target, now, settings.recent_facts.get(target))
            if target not in found and recent.there:
                found[target] = RunChoice(target, recent.title, recent.detail)
        found.pop(own, None)
        return _told_apart(list(found.values()))

    def _browse(self, ignore: tuple[str, ...]) -> None:
        dialog = QFileDialog(self._parent, "Compare with", str(usual_folder(self._services)))
        dialog.setObjectName("compareWithDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.compare_with(path, ignore))
        open_once(dialog)

    def await_log(self, target: str, other: str) -> None:
        """Compares a log that is about to be opened in this window, as soon as it is read; "" asks for the other."""
        self._awaited = target_path(target), other

    def on_read(self) -> None:
        """Begins the awaited comparison."""
        awaited, self._awaited = self._awaited, None
        if awaited is None or self._shown.location.opened != awaited[0]:
            return
        if awaited[1]:
            self.compare_with(awaited[1])
        else:
            self.ask_for_run()

    def show(self) -> None:
        """Shows the comparison, or asks for the other run if there is none."""
        panel = self._panel()
        if panel is not None and panel.asked is not None:
            self._center().show_view(COMPARE)
            self._center().take_focus()
        else:
            self.ask_for_run()

    def compare_with(self, target: str, ignore: tuple[str, ...] = ()) -> None:
        """Compares the document with another run.

        Args:
            target: a log, a run of an evaluation, or a session (`base.targets`).
            ignore: names of fields and patterns that do not count.
        """
        self._ignore = ignore
        other = Target(target_path(target), is_session(target))
        self._targets[other] = target
        center = self._center()
        center.add_view(COMPARE)
        center.show_view(COMPARE)
        panel = cast("ComparePanel", center.view(COMPARE))
        if panel is not self._tied:
            self._tied = panel
            panel.choice_requested.connect(self.ask_for_run)
            panel.other_requested.connect(self._open_other)
        panel.compare(CompareRuns(other, self._options(), ignore))
        center.take_focus()

    def _open_other(self, message: int) -> None:
        """Opens the run that is shown, which is not the one asked for last if that was cancelled."""
        panel = self._panel()
        if panel is not None and panel.answered is not None:
            self.other_requested.emit(self._targets[panel.answered.target], message)

    def _panel(self) -> ComparePanel | None:
        panes = self._shown.panes
        return None if panes is None else cast("ComparePanel | None", panes.made.get(COMPARE))

    def _options(self) -> OpenOptions:
        """Returns the options by which the window judges its own document."""
        settings = self._services.settings
        prices, dated = prices_in_force(settings.prices.lines, settings.prices.dated, listed=settings.prices.listed)
        return OpenOptions(
            memory_mb=settings.memory.limit_mb, aliases=tuple(rule.text for rule in self._services.tool_aliases.rules),
            prices=tuple(prices), prices_dated=dated, newest_first=settings.contexts.collapses == "newest",
            idle_after_s=settings.contexts.idle_after_s,
        )  # fmt: skip


def _told_apart(choices: list[RunChoice]) -> list[RunChoice]:
    """Adds the differing folders of logs with equal titles to these titles."""
    by_title: dict[str, list[RunChoice]] = {}
    for choice in choices:
        by_title.setdefault(choice.title, []).append(choice)
    folders: dict[str, str] = {}
    for alike in by_title.values():
        if len(alike) > 1:
            names = differing_folders([target_path(choice.target) for choice in alike])
            folders.update(zip((choice.target for choice in alike), names, strict=True))
    return [
        choice._replace(title=f"{choice.title} in {folders[choice.target]}") if choice.target in folders else choice
        for choice in choices
    ]


def differing_folders(paths: Sequence[Path]) -> list[str]:
    """Returns the shortest ends of the folders of files that differ from one another."""
    parts = [path.parent.parts for path in paths]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        ends = ["/".join(one[-depth:]) for one in parts]
        if len(set(ends)) == len(ends):
            return ends
    return [str(path) for path in paths]
