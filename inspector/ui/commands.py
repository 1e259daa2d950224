"""What the window's actions do; one short method each, named in actions.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QInputDialog

from inspector import version
from inspector.analysis.pending import PENDING_FILTER
from inspector.ui.dialogs.message import MessageDialog
from inspector.ui.dialogs.settings import SettingsDialog

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.main_window import MainWindow
    from inspector.ui.panels.messages.panel import MessagesPanel

_ZOOM = (80, 200, 10)


class Commands(QObject):
    """The handlers of one window's actions."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    # Opening and gateways

    def open_file(self) -> None:
        """Ask for logs to open."""
        self._window.opening.ask_for_files()

    def connect_to_gateway(self) -> None:
        """Ask for a gateway to watch."""
        self._window.watching.ask_for_gateway()

    def start_demo(self) -> None:
        """Watch the scripted agents."""
        self._window.watching.start_demo()

    def paste_text(self) -> None:
        """Open the clipboard's text as a log."""
        self._window.opening.paste_text()

    def disconnect_gateway(self) -> None:
        """Leave the gateway; what was received stays in the window."""
        self._window.watching.leave_gateway()

    def close_window(self) -> None:
        """Close the window."""
        self._window.close()

    # Application

    def new_window(self) -> None:
        """Open a second window on the start page."""
        self._window.application.new_window()

    def quit(self) -> None:
        """Close every window; asks before an unsaved capture is thrown away."""
        self._window.application.spawn(self._window.application.quit(), "quit")

    def show_settings(self) -> None:
        """Open the settings; they apply at once."""
        dialog = SettingsDialog(self._window.theme, self._window.application.settings, self._window)
        dialog.changed.connect(self._on_settings_changed)
        dialog.open()

    def _on_settings_changed(self, settings: Settings) -> None:
        application = self._window.application
        hints_before = application.settings.display.show_context_hints
        application.settings = settings
        display = settings.display
        self._window.theme.set_setting(display.theme)
        self._window.theme.set_density(display.density)
        self._window.theme.set_zoom(display.zoom_percent / 100)
        self.settings_changed(hints=display.show_context_hints != hints_before)

    def settings_changed(self, *, hints: bool = False) -> None:
        """Settings were edited: every window takes them over, and they are stored.

        Args:
            hints: whether context hints are among what was edited; then windows with their own mind give it up.
        """
        for window in self._window.application.windows:
            if hints:
                window.hints_here = None
            window.apply_settings()
            window.presets.refresh()

    def show_about(self) -> None:
        """Say what this is."""
        MessageDialog.tell(
            self._window, self._window.theme, "Context Inspector",
            f"Version {version()}. See who thinks what, where, because of what, and what it costs. MIT licence.",
        )  # fmt: skip

    # View

    def toggle_left(self) -> None:
        """Show or hide contexts and participants."""
        self._show_docks("view.contexts")

    def toggle_right(self) -> None:
        """Show or hide the details."""
        self._show_docks("view.details")

    def toggle_findings(self) -> None:
        """Show or hide the findings."""
        self._show_docks("view.findings")

    def toggle_latency(self) -> None:
        """Show or hide how long answers take."""
        self._show_docks("analyze.latency")
        if self._window.panes is not None and not self._window.docks["Latency"].isHidden():
            self._window.docks["Latency"].raise_()
            self._window.panes.latency.setFocus()

    def _show_docks(self, switch: str) -> None:
        shown = self._window.actions_by_id[switch].isChecked()
        for title in self._window.panes_of(switch):
            self._window.docks[title].setVisible(shown)

    def toggle_hints(self) -> None:
        """Show or hide the badges of transient results."""
        self._window.application.settings.display.show_context_hints = self._window.actions_by_id[
            "view.hints"
        ].isChecked()
        self.settings_changed(hints=True)

    def toggle_original(self) -> None:
        """Expand or collapse the current collapsed result."""
        if self._window.panes is not None:
            self._window.panes.messages.toggle_original()

    def zoom_in(self) -> None:
        """Ten per cent larger."""
        self._zoom_by(_ZOOM[2])

    def zoom_out(self) -> None:
        """Ten per cent smaller."""
        self._zoom_by(-_ZOOM[2])

    def zoom_reset(self) -> None:
        """Actual size."""
        self._zoom_by(100 - self._window.application.settings.display.zoom_percent)

    def _zoom_by(self, step: int) -> None:
        display = self._window.application.settings.display
        display.zoom_percent = max(_ZOOM[0], min(_ZOOM[1], display.zoom_percent + step))
        self._window.theme.set_zoom(display.zoom_percent / 100)
        self._window.application.save_settings()

    def reset_layout(self) -> None:
        """Put every pane back where it belongs, shown and at its usual width."""
        self._window.layout_keeper.reset()

    def focus_filter(self) -> None:
        """Put the cursor into the filter bar."""
        self._window.filter_bar.focus_editor()

    def clear_view(self) -> None:
        """Show everything."""
        if self._window.panes is not None:
            self._window.panes.clear()

    # Going places

    def first_message(self) -> None:
        """The first message shown."""
        if self._window.panes is not None:
            self._window.panes.messages.go_to_first()

    def last_message(self) -> None:
        """The last message shown; then new ones are followed."""
        if self._window.panes is not None:
            self._window.panes.messages.go_to_last()

    def next_message(self) -> None:
        """The next message shown."""
        if self._window.panes is not None:
            self._window.panes.messages.step(1)

    def previous_message(self) -> None:
        """The previous message shown."""
        if self._window.panes is not None:
            self._window.panes.messages.step(-1)

    def next_in_chain(self) -> None:
        """The next message of the chain."""
        if self._window.panes is not None:
            self._window.panes.step_in_chain(1)

    def previous_in_chain(self) -> None:
        """The previous message of the chain."""
        if self._window.panes is not None:
            self._window.panes.step_in_chain(-1)

    def show_chain_alone(self) -> None:
        """The causal chain of the current message and nothing else, in the table."""
        panes = self._window.panes
        message = panes.messages.current_message() if panes is not None else None
        if panes is not None and message is not None:
            panes.show_chain(message)

    def next_problem(self) -> None:
        """The next message with a problem."""
        self._go_to_problem(1)

    def previous_problem(self) -> None:
        """The previous message with a problem."""
        self._go_to_problem(-1)

    def _go_to_problem(self, step: int) -> None:
        if self._window.panes is not None:
            self._window.say_no_problem(self._window.panes.go_to_problem(step))

    def go_back(self) -> None:
        """The message that was current before."""
        if self._window.panes is not None:
            self._window.panes.go_back()

    def go_to_number(self) -> None:
        """Ask for a number and go there."""
        total = len(self._window.document.capture)
        if self._window.panes is None or not total:
            return
        dialog = QInputDialog(self._window)
        dialog.setObjectName("goToDialog")
        dialog.setWindowTitle("Go to No.")
        dialog.setLabelText(f"Number of the message, 1 to {total:,}:")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(1, total)
        current = self._window.panes.messages.current_message()
        dialog.setIntValue((current if current is not None else total - 1) + 1)
        dialog.intValueSelected.connect(self._go_to_chosen)
        dialog.open()

    def _go_to_chosen(self, number: int) -> None:
        if self._window.panes is not None:
            self._window.panes.go_to(number - 1)
            self._window.panes.messages.setFocus()

    # Capture

    def toggle_follow(self) -> None:
        """Follow new messages, or stop following."""
        if self._window.panes is not None:
            self._window.panes.messages.follow(self._window.actions_by_id["capture.follow"].isChecked())

    def toggle_pause(self) -> None:
        """Hold the view still; the capture goes on."""
        if self._window.panes is not None:
            self._window.panes.bridge.set_paused(self._window.actions_by_id["capture.pause"].isChecked())
            self._window.refresh_clock()

    def save_capture(self) -> None:
        """Save a capture that has no name yet."""
        self._window.keeping.save()

    def save_capture_as(self) -> None:
        """Save the capture under another name; of a log, a copy."""
        self._window.keeping.save_as()

    def export_self_contained(self) -> None:
        """Export what the table shows as JSON Lines, each response with what it answers."""
        self._window.exporting.ask()

    # Analyzing

    def show_pending(self) -> None:
        """Show the requests without an answer and the proposals nobody has acted on."""
        if self._window.panes is not None:
            self._window.panes.set_scope(None)
            self._window.panes.apply_filter(PENDING_FILTER)

    # Copying

    def copy_row(self) -> None:
        """Copy the current row as text."""
        self._copy(lambda messages: messages.row_text())

    def copy_json(self) -> None:
        """Copy the current message as JSON, secrets masked."""
        self._copy(lambda messages: messages.json_text())

    def copy_id(self) -> None:
        """Copy the id of the current message."""
        self._copy(lambda messages: messages.id_text())

    def _copy(self, read: Callable[[MessagesPanel], str | None]) -> None:
        if self._window.panes is not None:
            text = read(self._window.panes.messages)
            if text:
                QGuiApplication.clipboard().setText(text)
