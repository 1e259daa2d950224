"""What the window's actions do; a short method each, or for those that differ in a word, named in actions.py.

Dialogs, and what only a document needs, are imported when they are asked for, so that a window is there sooner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.ui.window import pane_focus

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.dialogs.settings import SettingsDialog
    from inspector.ui.panels.messages.copies import What
    from inspector.ui.panels.model_sees.panel import ModelSeesPanel
    from inspector.ui.window.main_window import MainWindow

_ZOOM = (80, 200)


class Commands(QObject):
    """The handlers of one window's actions."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    # Opening and gateways

    def open_file(self) -> None:
        """Ask for logs to open."""
        self._window.opening.ask_for_files()

    def open_folder(self) -> None:
        """Ask for a folder of sessions to open."""
        self._window.opening.ask_for_folder()

    def connect_to_gateway(self) -> None:
        """Ask for a gateway to watch."""
        self._window.watching.ask_for_gateway()

    def manage_connections(self) -> None:
        """Show the connections that are kept under a name."""
        self._window.connections.manage()

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
        self._open_settings()

    def edit_presets(self) -> None:
        """Open the settings of the presets."""
        self._open_settings("presets")

    def edit_preset(self, place: int) -> None:
        """Open the settings of one preset.

        Args:
            place: its place in the settings.
        """
        self._open_settings("presets").edit_preset(place)

    def edit_highlights(self) -> None:
        """Open the settings of the highlight rules."""
        self._open_settings("highlights")

    def highlight_filter(self) -> None:
        """Let the messages of the filter in force stand out, also when it is gone."""
        panes = self._window.panes
        if panes is not None and panes.stack.chosen.strip():
            self._window.highlighting.ask_to_add(panes.stack.chosen)
        else:
            self.edit_highlights()

    def save_preset(self) -> None:
        """Keep the filter in force as a preset."""
        self._window.presets.ask_to_save_active()

    def _open_settings(self, page: str = "") -> SettingsDialog:
        from inspector.ui.dialogs.settings import FurtherPage, SettingsDialog
        from inspector.ui.msp import SUBSESSIONS, TITLE, subsessions_page

        self._window.complete()  # presets have keys, too
        dialog = SettingsDialog(
            self._window.theme, self._window.application.settings, self._window, keyed=self._window.keys.known(),
            further=(FurtherPage(SUBSESSIONS, TITLE, subsessions_page),),
        )  # fmt: skip
        if page:
            dialog.enter_page(page)
        dialog.changed.connect(self._on_settings_changed)
        dialog.changed.connect(lambda _settings: dialog.show_keyed(self._window.keys.known()))  # presets bring theirs
        dialog.open()
        return dialog

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
        self._window.presets.refresh()

    def show_about(self) -> None:
        """Show versions, and the licences of everything the program is made of."""
        from inspector.ui.dialogs.about import AboutDialog
        from inspector.ui.dialogs.environment_facts import about_facts

        AboutDialog(self._window.theme, about_facts(), self._window).open()

    def show_log(self) -> None:
        """Show what the program has logged."""
        self._window.developer.show_log()

    # Developer

    def show_figures(self) -> None:
        """Show how long the event loop and the passes take, and what waits."""
        self._window.developer.show_figures()

    def show_objects(self) -> None:
        """Show tasks, threads and objects."""
        self._window.developer.show_objects()

    def raise_error(self) -> None:
        """Raise an error nobody catches, to see what becomes of it."""
        self._window.developer.fail()

    # View

    def follow_switch(self, switch: str) -> None:
        """Show or hide what stands at a side, as this switch says."""
        self._window.dock_row.follow_switch(switch)

    def turn_over(self, title: str) -> None:
        """Show or hide one of the panes that lie on one another."""
        self._window.dock_row.turn_over(title)

    def show_details(self, tab: str) -> None:
        """Show a page of the details of the current message, and give it the keyboard."""
        panes = self._window.panes
        if panes is not None:
            self._window.dock_row.bring_up("Details")
            panes.show_current_message()
            panes.details.show_tab(tab)
            pane_focus.enter(self._window, "Details")

    def show_in_timeline(self) -> None:
        """Show the current message in the timeline."""
        from inspector.ui.panels.timeline.panel import TimelinePanel

        self.show_view("timeline")
        timeline = self._window.center.currentWidget()
        if isinstance(timeline, TimelinePanel):
            timeline.show_current()

    def show_model_here(self) -> None:
        """Show what the model sees at the current message, of whomever it concerns most."""
        panes = self._window.panes
        message = panes.messages.current_message() if panes is not None else None
        panel = self._model_sees()
        if panel is not None and message is not None:
            panel.show_here(message)

    def show_model_of(self, key: tuple[int, str]) -> None:
        """Show what the model of a participant sees.

        Args:
            key: its space (string id) and its name.
        """
        panel = self._model_sees()
        if panel is not None:
            from inspector.analysis.model_context import Reader

            panel.choose_reader(Reader(*key))

    def _model_sees(self) -> ModelSeesPanel | None:
        from inspector.ui.panels.model_sees.panel import ModelSeesPanel

        self.show_view("model_sees")
        panel = self._window.center.currentWidget()
        return panel if isinstance(panel, ModelSeesPanel) else None

    def show_view(self, view: str) -> None:
        """Show one of the views of the middle column."""
        center = self._window.center
        center.show_view(view)
        self._window.actions_by_id[f"view.{view}"].setChecked(center.current == view)  # its own tab was chosen again
        center.take_focus()

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

    # Columns

    def choose_columns(self) -> None:
        """Choose columns, their order, and what the rows are sorted by."""
        panes = self._window.panes
        if panes is None:
            return
        from inspector.ui.dialogs.columns import ColumnsDialog

        dialog = ColumnsDialog(self._window.theme, panes.messages, panes.completer.payload_names(), self._window)
        dialog.open()

    def time_since_current(self) -> None:
        """Count times from the current message."""
        panes = self._window.panes
        message = panes.messages.current_message() if panes is not None else None
        if panes is not None and message is not None:
            panes.messages.count_times_from(message)

    def show_time(self, mode: str) -> None:
        """Let the column Time say the time of day, or that since some message."""
        if self._window.panes is not None:
            self._window.panes.messages.choose_time(mode)
            self._window.apply_settings()

    def sort_again(self) -> None:
        """Sort the messages in that came since."""
        if self._window.panes is not None:
            self._window.panes.messages.sorter.again()

    def sort_clear(self) -> None:
        """Put the rows in the order of arrival."""
        if self._window.panes is not None:
            self._window.panes.messages.sorter.clear()

    def zoom_reset(self) -> None:
        """Actual size."""
        self.zoom_by(100 - self._window.application.settings.display.zoom_percent)

    def zoom_by(self, step: int) -> None:
        """So many per cent larger, or smaller."""
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

    def find_in_view(self) -> None:
        """Open the find bar."""
        if self._window.panes is not None:
            self._window.panes.find_in_view.open()

    def find_next(self, step: int) -> None:
        """The next (1) or previous (-1) message shown that holds what is looked for."""
        if self._window.panes is not None:
            self._window.panes.find_in_view.step(step)

    def find_match_case(self) -> None:
        """Let Find tell capitals from small letters, or not."""
        self._switch_find("edit.find_case", "match_case")

    def find_by_pattern(self) -> None:
        """Let Find take what is written for a regular expression, or for itself."""
        self._switch_find("edit.find_pattern", "is_pattern")

    def _switch_find(self, action: str, switch: str) -> None:
        panes = self._window.panes
        if panes is not None:
            on = self._window.actions_by_id[action].isChecked()
            panes.find_in_view.open()
            getattr(panes.find_in_view.bar, switch).setChecked(on)

    def clear_view(self) -> None:
        """Show everything."""
        panes = self._window.panes
        if panes is not None and (panes.filter.text or panes.scope is not None or panes.stack.conditions):
            before = panes.view
            self._window.undo_history.do("clear filter and scope", panes.clear, lambda: panes.show_view(before))

    # Marks, and what was done

    def toggle_mark(self) -> None:
        """Mark or unmark the current message or context."""
        self._window.marking.toggle()

    def edit_comment(self) -> None:
        """Write a comment on the current message or context."""
        self._window.marking.comment()

    def clear_marks(self) -> None:
        """Take every mark and comment away."""
        self._window.marking.clear()

    def undo(self) -> None:
        """Take back what was done last to marks, comments, presets or the view."""
        self._window.undo_history.undo()

    def redo(self) -> None:
        """Do it again."""
        self._window.undo_history.redo()

    # Going places

    def first_message(self) -> None:
        """The first message shown."""
        if self._window.panes is not None:
            self._window.panes.messages.go_to_first()

    def last_message(self) -> None:
        """The last message shown; then new ones are followed."""
        if self._window.panes is not None:
            self._window.panes.messages.go_to_last()

    def next_message(self, step: int) -> None:
        """The next (1) or previous (-1) message shown."""
        if self._window.panes is not None:
            self._window.panes.messages.step(step)

    def next_in_chain(self, step: int) -> None:
        """The next (1) or previous (-1) message of the chain."""
        if self._window.panes is not None:
            self._window.panes.step_in_chain(step)

    def show_chain_alone(self) -> None:
        """The causal chain of the current message and nothing else, in the table; once more, what was there before."""
        panes = self._window.panes
        message = panes.messages.current_message() if panes is not None else None
        if panes is None or message is None:
            return
        if panes.shows_chain_alone:
            panes.leave_chain()
        else:
            several = len(self._window.document.chain(message)) > 1
            self._window.next_message.say_no_other(several, "No other message belongs to a chain with this one.")
            if several:
                panes.show_chain(message)

    def next_problem(self, step: int) -> None:
        """The next (1) or previous (-1) message with a problem."""
        self._window.next_message.to_problem(step)

    def next_mark(self, step: int) -> None:
        """The next (1) or previous (-1) message with a mark or a comment."""
        self._window.next_message.to_mark(step)

    def go_back(self) -> None:
        """The message that was current before."""
        if self._window.panes is not None:
            self._window.panes.go_back()

    def go_forward(self) -> None:
        """The place that Back came from."""
        if self._window.panes is not None:
            self._window.panes.go_forward()

    def next_in_context(self, step: int) -> None:
        """The next (1) or previous (-1) message in the context of the current one."""
        self._window.next_message.in_context(step)

    def next_by_participant(self, step: int) -> None:
        """The next (1) or previous (-1) message by whoever sent the current one."""
        self._window.next_message.by_participant(step)

    def go_to_place(self) -> None:
        """Ask for a number, an id or part of an id, and go there."""
        panes = self._window.panes
        if panes is None or not len(self._window.document.capture):
            return
        from inspector.ui.dialogs.go_to import GoToDialog

        dialog = GoToDialog(self._window.theme, self._window.document, panes.rows, self._window)
        dialog.chosen.connect(self._go_to_chosen)
        dialog.open()

    def _go_to_chosen(self, message: int) -> None:
        if self._window.panes is not None:
            self._window.panes.go_to(message)
            self._window.center.take_focus()

    def next_pane(self, step: int) -> None:
        """Give the keyboard to the next (1) or previous (-1) pane."""
        pane_focus.step(self._window, step)

    # Finding what can be done

    def show_palette(self) -> None:
        """Find something to do by its name."""
        self._window.complete()  # presets are found, too
        self._window.palette_card.open()

    def show_keys(self) -> None:
        """List the keys, so that one can be looked for."""
        from inspector.ui.dialogs.keys import KeysDialog

        self._window.complete()  # presets have keys, too
        dialog = KeysDialog(self._window.theme, self._window.keys, self._window)
        dialog.change_requested.connect(lambda: self._open_settings("keys"))
        dialog.open()

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
        """Save a capture that has no name yet; of sessions, what was edited."""
        if self._window.document.msp is not None:
            self._window.msp.saving.save()
        else:
            self._window.keeping.save()

    def save_capture_as(self) -> None:
        """Save the capture under another name; of a log, a copy."""
        if self._window.document.msp is not None:
            self._window.msp.saving.save_as()
        else:
            self._window.keeping.save_as()

    def save_as_capture(self) -> None:
        """Save sessions as a capture, as they are shown now; what is edited stays the document."""
        self._window.keeping.save_as()

    # Sub-sessions

    def new_subsession(self) -> None:
        """Ask for the label of a new sub-session."""
        self._window.msp.new()

    def close_subsession(self) -> None:
        """Ask for a summary, and close the sub-session shown."""
        self._window.msp.close()

    def discard_subsession(self) -> None:
        """Discard the sub-session shown."""
        self._window.msp.discard()

    def merge_subsession(self) -> None:
        """Merge the sub-session shown to its parent."""
        self._window.msp.merge()

    def switch_global(self) -> None:
        """Make the current message global, or the sub-session's own again."""
        self._window.msp.switch_global()

    def write_message(self) -> None:
        """Put the cursor into the line where messages are written."""
        self._window.msp.write()

    def export_messages(self) -> None:
        """Ask which messages to export, and how."""
        self._window.exporting.ask()

    # Analyzing

    def show_pending(self) -> None:
        """Show the requests without an answer and the proposals nobody has acted on."""
        if self._window.panes is not None:
            from inspector.analysis.pending import PENDING_FILTER

            self._window.panes.set_scope(None)
            self._window.panes.apply_filter(PENDING_FILTER)

    # Selecting and copying

    def select_all(self) -> None:
        """Select every message shown; the table has Ctrl+A for it, as other lists and fields have."""
        if self._window.panes is not None:
            self._window.panes.messages.select_all()

    def filter_selected(self) -> None:
        """Show the selected messages alone."""
        if self._window.panes is not None:
            self._window.panes.messages.filter_by_selected("replace")

    def hide_selected(self) -> None:
        """Hide the selected messages."""
        if self._window.panes is not None:
            self._window.panes.messages.filter_by_selected("and_not")

    def copy(self, what: What) -> None:
        """Copy the selected messages as rows, values, JSON, Markdown, ids or a filter; secrets masked."""
        if self._window.panes is not None:
            self._window.panes.messages.copy(what)
