"""Working on the sessions of a document: what is asked for in the view "Sub-sessions", each a step that can be undone.

The document of sessions is what is edited; the capture that the other views show follows it. Saving is in saving.py,
the view in view.py, and how the capture follows in following.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from inspector.msp.document import CannotEditError, SessionDocument
from inspector.msp.objects import Message, Subsession, usual_visibility
from inspector.present.wire_text import plain
from inspector.ui.docview.panel import SUBSESSIONS
from inspector.ui.docview.requests import WindowRequests
from inspector.ui.docview.shown import Shown
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.agreeing import MspAgreeing
from inspector.ui.msp.following import MspFollowing
from inspector.ui.msp.panel.words import label_of
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
"""What is saved here is no capture."""


class MspEditing(QObject):
    """Edits the sessions one window shows.

    Signals:
        count_changed(int): so many sub-sessions there are.

    Attributes:
        saving: saves them.
        view: shows them, and asks for what is done here.
        following: lets the capture that the other views show follow them.
    """

    count_changed = Signal(int)

    def __init__(
        self, window: QWidget, shown: Shown, themes: ThemeController, requests: WindowRequests, notices: NoticeStack,
        history: UndoHistory, saving: MspSaving, view: MspView, following: MspFollowing, services: SettingsOwner, *,
        save: QAction, save_as: QAction,
    ) -> None:  # fmt: skip
        """Nothing is edited yet.

        Args:
            window: dialogs are modal to it.
            shown: what it shows.
            themes: give the look.
            requests: what is asked of the window.
            notices: where it is said what is refused.
            history: where each edit is a step.
            saving, view, following: as the attributes.
            services: hold the rules.
            save, save_as: the actions that save what the window shows.
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
        self.agreeing = MspAgreeing(window, themes, services, view, lambda: self.document, self._do)
        saving.drafts = lambda: self.drafts
        saving.changed.connect(self.changed)
        saving.reread.connect(history.stack.clear)
        saving.read_only_changed.connect(view.set_read_only)
        view.made.connect(self._listen_to)

    @property
    def document(self) -> SessionDocument | None:
        """The sessions; None where the window shows something else."""
        return self._shown.document.msp

    def attach(self, panes: Panes, center: Center) -> None:
        """The window shows a document, in these views."""
        self.view.speak_of(panes)
        if self.document is None:
            return
        self.saving.attach(self.document)
        self._save.setText(_SAVE_TITLE)
        self._save_as.setText(_SAVE_AS_TITLE)
        self.view.attach(center)
        self._count()
        if not self.document.subsessions and not any(one.items for one in self.document.sessions):
            self._requests.view_requested.emit(SUBSESSIONS)  # nothing was said: there is nothing to see elsewhere

    def _listen_to(self, panel: SubsessionsPanel) -> None:
        """Do what the view asks for."""
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
        """The document is about to be closed."""
        self.following.stop()
        self.view.give_back()
        self.saving.stop()

    # What can be done

    @property
    def present(self) -> set[str]:
        """What can be done, as the actions name what they need."""
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
        """Ask for the label of a new sub-session, and open it."""
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
        if self._do(lambda: opened.append(document.open_subsession(owner, label))) and self.view.panel is not None:
            self.view.panel.show_subsession(opened[0].key)
            self.view.panel.chat.focus_input()

    def edit_sub_context(self) -> None:
        """Ask for what was agreed in the session shown."""
        if not self.saving.read_only:
            self.agreeing.edit_sub_context()

    def edit_snapshots(self) -> None:
        """Ask for a snapshot of the session shown."""
        if not self.saving.read_only:
            self.agreeing.edit_snapshots()

    def choose_summaries(self) -> None:
        """Offer the summaries the sub-session shown can refer to."""
        panel = self.view.panel
        if not self.saving.read_only and panel is not None:
            self.agreeing.choose_summaries(panel.chat.head)

    def close(self) -> None:
        """Ask for the summary of the sub-session shown, and close it."""
        sub = self.view.sub
        if sub is None or not sub.is_open or self.saving.read_only:
            return
        parent = label_of(sub.parent) if sub.parent is not None else ""
        from inspector.ui.msp.dialogs import CloseSubsessionDialog

        dialog = CloseSubsessionDialog(
            self._themes, label_of(sub), parent, written=sub.summary or "", parent=self._window
        )
        key = sub.key
        dialog.chosen.connect(lambda summary, append: self._close(key, summary, append=append))
        dialog.open()

    def _close(self, key: str, summary: str, *, append: bool) -> None:
        document = self.document
        sub = None if document is None else document.subsession(key)
        if document is not None and sub is not None and sub.is_open:
            self._do(lambda: document.close(sub, summary or None, append_to_parent=append))

    def discard(self) -> None:
        """Discard the sub-session shown; its messages stay for the record. It can be undone, so nothing is asked."""
        document, sub = self.document, self.view.sub
        if document is not None and sub is not None and sub.is_open:
            self._do(lambda: document.discard(sub))

    def merge(self) -> None:
        """Show what a merge of the sub-session shown would write into its parent, and merge it if that is wanted."""
        document, sub = self.document, self.view.sub
        if document is None or sub is None or sub.is_open or sub.parent is None or self.saving.read_only:
            return
        if document.why_not_merge(sub) is not None:
            self._do(lambda: document.merge(sub))  # says why not
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
            self._do(lambda: document.merge(sub))

    def switch_global(self, message: Message | None = None) -> None:
        """Make a message global, or the sub-session's own again; by default the current one."""
        if message is None and self.view.panel is not None:
            message = self.view.panel.chat.current_own
        document = self.document
        if document is not None and message is not None:
            to = "subsession_only" if message.visibility == "global" else "global"
            self._do(lambda: document.set_visibility(message, to))

    def write(self) -> None:
        """Give the keyboard to the line where messages are written."""
        if self.view.panel is not None:
            self.view.panel.chat.focus_input()

    def add_message(self, role: str, content: str) -> None:
        """Add a message to the sub-session shown."""
        document, sub, panel = self.document, self.view.sub, self.view.panel
        if document is None or sub is None or panel is None:
            return
        if self._do(lambda: document.add_message(sub, role, content, usual_visibility(sub))):
            panel.chat.input.clear()
            panel.chat.view.scroll_to_end()

    @property
    def may_lose_any(self) -> bool:
        """Whether anything would be lost if the window closed now."""
        return self.saving.busy or self.saving.unsaved

    @property
    def drafts(self) -> list[str]:
        """Messages that were written in part and not added."""
        return self.view.panel.chat.drafts if self.view.panel is not None else []

    def change_policy(self, changes: dict[str, bool | int | None]) -> None:
        """Change what the sub-session shown takes along."""
        document, sub = self.document, self.view.sub
        if document is not None and sub is not None:
            self._do(lambda: document.set_policy(sub, **changes))

    def _do(self, edit: Callable[[], object]) -> bool:
        """Make an edit as a step of the window's history; whether it was made. What is refused is said."""
        document = self.document
        if document is None:
            return False
        if self.saving.read_only:
            self._notices.say(self.saving.read_only, "severity.warning")
            return False
        before = document.revision
        try:
            edit()
        except CannotEditError as error:
            self._notices.show_notice(_REFUSED, "warning", plain(str(error)), token="severity.warning", closable=True)
            if self.view.panel is not None:
                self.view.panel.update_indicator()  # a switch that was pressed shows what holds
            return False
        self._notices.dismiss(_REFUSED)
        if document.revision != before:
            done = [True]  # the history does a step when it takes it

            def again() -> None:
                if done:
                    done.clear()
                else:
                    document.redo()

            words = document.undo_words or "edit"
            self._history.do(plain(f"{words[:1].lower()}{words[1:]}", 60), again, document.undo)
        self.changed()
        return True

    def changed(self) -> None:
        """Something was edited, undone or saved."""
        self._requests.actions_changed.emit()
        self._requests.title_changed.emit()
        self._count()

    def _count(self) -> None:
        if self.document is not None:
            self.count_changed.emit(len(self.document.subsessions))
