"""Edits the sessions of a window: actions of the "Sub-sessions" view, each as an undo step.

It edits the session document; the capture in the other views follows. Saving is in saving.py, the view in view.py, and
the update of the capture in following.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from inspector.msp.document import CannotEditError, SessionDocument
from inspector.msp.objects import Message, Subsession, usual_visibility
from inspector.present.wire_text import safe_line
from inspector.ui.docview.panel import SUBSESSIONS
from inspector.ui.docview.window_content import Shown
from inspector.ui.docview.window_requests import WindowRequests
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.agreements import MspAgreeing
from inspector.ui.msp.panel.texts import label_of
from inspector.ui.msp.projection_update import MspFollowing
from inspector.ui.msp.saving import MspSaving
from inspector.ui.msp.view import MspView
from inspector.ui.widgets.notice import NoticeStack

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.msp.panel.panel import SubsessionsPanel
    from inspector.ui.services import SettingsOwner

_REFUSED = "session-refused"
_SAVE_TITLE, _SAVE_AS_TITLE = "&Save sessions", "Save sessions &as..."
"""Titles of the save actions while the window shows sessions."""


class MspEditing(QObject):
    """Edits the sessions of one window.

    Signals:
        count_changed(int): number of sub-sessions.

    Attributes:
        saving: saves them.
        view: displays them and emits requests.
        following: updates the capture of the other views.
    """

    count_changed = Signal(int)

    def __init__(
        self, window: QWidget, shown: Shown, themes: ThemeController, requests: WindowRequests, notices: NoticeStack,
        history: UndoHistory, saving: MspSaving, view: MspView, following: MspFollowing, services: SettingsOwner, *,
        save: QAction, save_as: QAction,
    ) -> None:  # fmt: skip
        """Creates the feature without a document.

        Args:
            window: parent of modal dialogs.
            shown: the displayed document.
            themes: give the look.
            requests: requests to the window.
            notices: shows refused edits.
            history: receives each edit as an undo step.
            saving, view, following: as the attributes.
            services: contain the rules.
            save, save_as: the window's actions for saving.
        """
        super().__init__(window)
        self._window = window
        self._shown = shown
        self._themes = themes
        self._requests = requests
        self._notices = notices
        self._history = history
        self._save, self._save_as = save, save_as
        self.saving = saving
        self.view = view
        self.following = following
        self.agreeing = MspAgreeing(window, themes, services, view, lambda: self.document, self._apply_edit)
        saving.drafts = lambda: self.drafts
        saving.changed.connect(self.changed)
        saving.reread.connect(history.stack.clear)
        saving.read_only_changed.connect(view.set_read_only)
        view.made.connect(self._listen_to)

    @property
    def document(self) -> SessionDocument | None:
        """The sessions; None for other documents."""
        return self._shown.document.msp

    def attach(self, panes: Panes, center: Center) -> None:
        """Attaches to the displayed document and its views."""
        self.view.speak_of(panes)
        if self.document is None:
            return
        self.saving.attach(self.document)
        self._save.setText(_SAVE_TITLE)
        self._save_as.setText(_SAVE_AS_TITLE)
        self.view.attach(center)
        self._count()
        if not self.document.subsessions and not any(one.items for one in self.document.sessions):
            self._requests.view_requested.emit(SUBSESSIONS)  # there are no messages to see in the other views

    def _listen_to(self, panel: SubsessionsPanel) -> None:
        """Connects the requests of the view."""
        panel.set_read_only(self.saving.read_only)
        panel.new_requested.connect(self.new)
        panel.close_requested.connect(self.close)
        panel.discard_requested.connect(self.discard)
        panel.merge_requested.connect(self.merge)
        panel.sub_context_requested.connect(self.edit_sub_context)
        panel.chat.message_added.connect(self.add_message)
        panel.chat.global_requested.connect(self.switch_global)
        if panel.indicator is not None:
            panel.indicator.policy_change_requested.connect(self.change_policy)
            panel.indicator.sub_context_requested.connect(self.agreeing.edit_sub_context)
            panel.indicator.snapshots_requested.connect(self.agreeing.edit_snapshots)
            panel.indicator.summaries_requested.connect(self.agreeing.choose_summaries)

    def stop(self) -> None:
        """Detaches before the document is closed."""
        self.following.stop()
        self.view.give_back()
        self.saving.stop()

    # Actions

    @property
    def present(self) -> set[str]:
        """Returns the preconditions of actions that hold."""
        if self.document is None:
            return set()
        found = {"sessions"}
        if self.saving.dirty:
            found.add("unsaved")
        if self.saving.read_only:
            return found
        found.add("editable")
        sub = self.view.sub if self.view.is_shown else None
        if sub is not None and sub.is_open:
            found.add("open_subsession")
        if sub is not None and not sub.is_open and self.document.why_not_merge(sub) is None:
            found.add("mergeable")
        if self.view.is_shown and self.view.panel is not None and self.view.panel.chat.current_own is not None:
            found.add("own_message")
        return found

    def new(self) -> None:
        """Asks for label and parent of a new sub-session, and opens it."""
        if self.document is None or self.saving.read_only:
            return
        self._requests.view_requested.emit(SUBSESSIONS)
        from inspector.ui.msp.dialogs import NewSubsessionDialog, parents_in

        parents = parents_in(self.document)
        shown = self.view.sub
        above = shown.parent if shown is not None else None
        chosen = above.key if above is not None else parents[0][0] if parents else ""
        dialog = NewSubsessionDialog(self._themes, parents, chosen, self._window)
        dialog.chosen.connect(self._open)
        dialog.open()

    def _open(self, label: str, parent: str) -> None:
        document = self.document
        if document is None:
            return
        owner = document.session(parent) or document.subsession(parent)
        if owner is None:
            return
        opened: list[Subsession] = []
        if (
            self._apply_edit(lambda: opened.append(document.open_subsession(owner, label)))
            and self.view.panel is not None
        ):
            self.view.panel.show_subsession(opened[0].key)
            self.view.panel.chat.focus_input()

    def edit_sub_context(self) -> None:
        """Edits the sub-context of the displayed session."""
        if not self.saving.read_only:
            self.agreeing.edit_sub_context()

    def edit_snapshots(self) -> None:
        """Edits the snapshots of the displayed session."""
        if not self.saving.read_only:
            self.agreeing.edit_snapshots()

    def choose_summaries(self) -> None:
        """Offers summaries the displayed sub-session can refer to."""
        panel = self.view.panel
        if not self.saving.read_only and panel is not None:
            self.agreeing.choose_summaries(panel.chat.head)

    def close(self) -> None:
        """Asks for the summary of the displayed sub-session, and closes it."""
        sub = self.view.sub
        if sub is None or not sub.is_open or self.saving.read_only:
            return
        parent = label_of(sub.parent) if sub.parent is not None else ""
        from inspector.ui.msp.dialogs import CloseSubsessionDialog

        dialog = CloseSubsessionDialog(
            self._themes, label_of(sub), parent, written=sub.summary or "", parent=self._window
        )
        # The key, not the object: the document may be reloaded while the dialog is open.
        key = sub.key
        dialog.chosen.connect(lambda summary, append: self._close(key, summary, append=append))
        dialog.open()

    def _close(self, key: str, summary: str, *, append: bool) -> None:
        document = self.document
        sub = None if document is None else document.subsession(key)
        if document is not None and sub is not None and sub.is_open:
            self._apply_edit(lambda: document.close_subsession(sub, summary or None, append_to_parent=append))

    def discard(self) -> None:
        """Discards the displayed sub-session; its messages are kept. It asks no question, because it can be undone."""
        document, sub = self.document, self.view.sub
        if document is not None and sub is not None and sub.is_open:
            self._apply_edit(lambda: document.discard_subsession(sub))

    def merge(self) -> None:
        """Previews the messages a merge adds to the parent, and merges on confirmation."""
        document, sub = self.document, self.view.sub
        if document is None or sub is None or sub.is_open or sub.parent is None or self.saving.read_only:
            return
        if document.why_not_merge(sub) is not None:
            self._apply_edit(lambda: document.merge_subsession(sub))  # shows the refusal
            return
        from inspector.ui.msp.dialogs import MergeDialog

        messages, key = document.preview_merge(sub), sub.key
        dialog = MergeDialog(self._themes, label_of(sub), label_of(sub.parent), messages, parent=self._window)
        dialog.chosen.connect(lambda: self._merge(key))
        dialog.open()

    def _merge(self, key: str) -> None:
        document = self.document
        sub = None if document is None else document.subsession(key)
        if document is not None and sub is not None:
            self._apply_edit(lambda: document.merge_subsession(sub))

    def switch_global(self, message: Message | None = None) -> None:
        """Makes a message global, or takes that back; by default the current message."""
        if message is None and self.view.panel is not None:
            message = self.view.panel.chat.current_own
        document = self.document
        if document is not None and message is not None:
            to = "subsession_only" if message.visibility == "global" else "global"
            self._apply_edit(lambda: document.set_visibility(message, to))

    def write(self) -> None:
        """Focuses the input line for messages."""
        if self.view.panel is not None:
            self.view.panel.chat.focus_input()

    def add_message(self, role: str, content: str) -> None:
        """Adds a message to the displayed sub-session."""
        document, sub, panel = self.document, self.view.sub, self.view.panel
        if document is None or sub is None or panel is None:
            return
        if self._apply_edit(lambda: document.add_message(sub, role, content, usual_visibility(sub))):
            panel.chat.input.clear()
            panel.chat.view.scroll_to_end()

    @property
    def may_lose_any(self) -> bool:
        """True if closing the window would lose changes or interrupt saving."""
        return self.saving.busy or self.saving.unsaved

    @property
    def drafts(self) -> list[str]:
        """Messages typed but not added."""
        return self.view.panel.chat.drafts if self.view.panel is not None else []

    def change_policy(self, changes: dict[str, bool | int | None]) -> None:
        """Changes the context policy of the displayed sub-session."""
        document, sub = self.document, self.view.sub
        if document is not None and sub is not None:
            self._apply_edit(lambda: document.set_policy(sub, **changes))

    def _apply_edit(self, edit: Callable[[], object]) -> bool:
        """Applies an edit as an undo step. Returns False and shows the reason if it is refused."""
        document = self.document
        if document is None:
            return False
        if self.saving.read_only:
            self._notices.show_sentence(self.saving.read_only, "severity.warning")
            return False
        before = document.revision
        try:
            edit()
        except CannotEditError as error:
            self._notices.show_notice(
                _REFUSED, "warning", safe_line(str(error)), token="severity.warning", closable=True
            )
            if self.view.panel is not None:
                self.view.panel.update_indicator()  # resets the switch that was pressed
            return False
        self._notices.dismiss(_REFUSED)
        # An edit without an effect is no undo step.
        if document.revision != before:
            done = [True]  # QUndoStack runs a step when it is pushed; this one has run already

            def again() -> None:
                if done:
                    done.clear()
                else:
                    document.redo()

            words = document.undo_words or "edit"
            self._history.do(safe_line(f"{words[:1].lower()}{words[1:]}", 60), again, document.undo)
        self.changed()
        return True

    def changed(self) -> None:
        """Updates actions, title and count after an edit, an undo or a save."""
        self._requests.actions_changed.emit()
        self._requests.title_changed.emit()
        self._count()

    def _count(self) -> None:
        if self.document is not None:
            self.count_changed.emit(len(self.document.subsessions))
