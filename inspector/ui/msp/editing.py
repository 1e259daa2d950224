"""Edits the sessions of a window: actions of a displayed sub-session, each as an undo step.

The engine edits the sessions; the capture in the other views follows. Saving is in saving.py, the view in view.py, and
the update of the capture in projection_update.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from inspector.engine.request import Request, RequestError
from inspector.engine.requests.msp_edits import (
    AddMessage,
    CloseSubsession,
    DiscardSubsession,
    EditOutcome,
    ListParents,
    MergeSubsession,
    MessageRef,
    OpenSubsession,
    PreviewMerge,
    RedoEdit,
    SessionsState,
    SetPolicy,
    SwitchGlobal,
    UndoEdit,
)
from inspector.ui.docview.panel import CONVERSATION
from inspector.ui.docview.window_content import Shown
from inspector.ui.docview.window_requests import WindowRequests
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.agreements import MspAgreeing
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
    from inspector.ui.widgets.latest_answer import Client

_REFUSED = "session-refused"
_SAVE_TITLE, _SAVE_AS_TITLE = "&Save sessions", "Save sessions &as..."
"""Titles of the save actions while the window shows sessions."""


class MspEditing(QObject):
    """Edits the sessions of one window.

    Attributes:
        saving: saves them.
        view: displays them and emits requests.
        following: updates the capture of the other views.
    """

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
        self.agreeing = MspAgreeing(window, themes, services, view, lambda: self._client, self._apply)
        saving.drafts = lambda: self.drafts
        saving.changed.connect(self.changed)
        saving.reread.connect(history.stack.clear)
        saving.reread.connect(self._show_edit)
        saving.read_only_changed.connect(view.set_read_only)
        view.made.connect(self._listen_to)
        view.global_requested.connect(self.switch_global)

    @property
    def state(self) -> SessionsState | None:
        """State of the sessions; None for other documents."""
        return self.saving.state

    @property
    def _client(self) -> Client | None:
        """The client of the sessions; None for other documents."""
        panes = self._shown.panes
        return None if panes is None or self.state is None else panes.client

    def attach(self, panes: Panes, center: Center) -> None:
        """Attaches to the displayed document and its views."""
        self.saving.attach(panes.client)
        self.view.speak_of(panes, is_sessions=self.state is not None)
        if self.state is None:
            return
        self._save.setText(_SAVE_TITLE)
        self._save_as.setText(_SAVE_AS_TITLE)
        self.view.attach(center)
        if self.state.is_empty:
            self._requests.view_requested.emit(CONVERSATION)  # there are no messages to see in the other views

    def _listen_to(self, panel: SubsessionsPanel) -> None:
        """Connects the requests of the view."""
        panel.set_read_only(self.saving.read_only)
        panel.new_requested.connect(self.new)
        panel.close_requested.connect(self.close)
        panel.discard_requested.connect(self.discard)
        panel.merge_requested.connect(self.merge)
        panel.sub_context_requested.connect(self.edit_sub_context)
        panel.chat.message_added.connect(self.add_message)
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
        if self.state is None:
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
        if sub is not None and sub.is_mergeable:
            found.add("mergeable")
        if sub is not None and self.view.own_message is not None:
            found.add("own_message")
        return found

    def new(self) -> None:
        """Asks for label and parent of a new sub-session, and opens it."""
        client = self._client
        if client is None or self.saving.read_only:
            return
        self._requests.view_requested.emit(CONVERSATION)
        from inspector.ui.msp.dialogs import NewSubsessionDialog

        try:
            parents = client.answer_now(ListParents())
        except RequestError as error:
            self._refuse(str(error))
            return
        shown = self.view.sub
        chosen = shown.parent if shown is not None and shown.parent else parents[0][0] if parents else ""
        dialog = NewSubsessionDialog(self._themes, parents, chosen, self._window)
        dialog.chosen.connect(self._open)
        dialog.open()

    def _open(self, label: str, parent: str) -> None:
        outcome = self._apply(OpenSubsession(parent, label))
        if outcome is not None and outcome.opened and self.view.panel is not None:
            self.view.panel.show_subsession(outcome.opened)
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
        from inspector.ui.msp.dialogs import CloseSubsessionDialog

        dialog = CloseSubsessionDialog(
            self._themes, sub.label, sub.parent_label, written=sub.summary, parent=self._window
        )  # fmt: skip
        key = sub.key
        dialog.chosen.connect(lambda summary, append: self._apply(CloseSubsession(key, summary, append)))
        dialog.open()

    def discard(self) -> None:
        """Discards the displayed sub-session; its messages are kept. It asks no question, because it can be undone."""
        sub = self.view.sub
        if sub is not None and sub.is_open:
            self._apply(DiscardSubsession(sub.key))

    def merge(self) -> None:
        """Previews the messages a merge adds to the parent, and merges on confirmation."""
        client, sub = self._client, self.view.sub
        if client is None or sub is None or sub.is_open or not sub.parent or self.saving.read_only:
            return
        key = sub.key
        try:
            preview = client.answer_now(PreviewMerge(key))
        except RequestError as error:
            self._refuse(str(error))
            return
        if preview.refusal:
            self._refuse(preview.refusal)
            return
        from inspector.ui.msp.dialogs import MergeDialog

        dialog = MergeDialog(self._themes, sub.label, sub.parent_label, preview, parent=self._window)
        dialog.chosen.connect(lambda: self._apply(MergeSubsession(key)))
        dialog.open()

    def switch_global(self, message: MessageRef | None = None) -> None:
        """Makes a message global, or takes that back; by default the current message."""
        own = self.view.own_message
        if message is not None:
            self._apply(SwitchGlobal(message))
        elif own is not None:
            self.view.switch_global(own)

    def write(self) -> None:
        """Focuses the input line for messages."""
        if self.view.panel is not None:
            self.view.panel.chat.focus_input()

    def add_message(self, role: str, content: str) -> None:
        """Adds a message to the displayed sub-session."""
        sub, panel = self.view.sub, self.view.panel
        if sub is None or panel is None:
            return
        if self._apply(AddMessage(sub.key, role, content)) is not None:
            panel.chat.input.clear()
            panel.chat.conversation.view.scroll_to_end()

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
        sub = self.view.sub
        if sub is not None:
            self._apply(SetPolicy(sub.key, changes))

    def _apply(self, edit: Request[EditOutcome]) -> EditOutcome | None:
        """Applies an edit as an undo step. Returns None and shows the reason if it is refused."""
        if self._client is None:
            return None
        if self.saving.read_only:
            self._notices.show_sentence(self.saving.read_only, "severity.warning")
            return None
        outcome = self._edit(edit)
        if outcome is None:
            return None
        self._notices.dismiss(_REFUSED)
        # An edit without an effect is no undo step.
        if outcome.words:
            done = [True]  # QUndoStack runs a step when it is pushed; this one has run already

            def again() -> None:
                if done:
                    done.clear()
                else:
                    self._edit(RedoEdit())

            words = outcome.words
            self._history.do(f"{words[:1].lower()}{words[1:]}", again, lambda: self._edit(UndoEdit()))
        self.changed()
        return outcome

    def _edit(self, edit: Request[EditOutcome]) -> EditOutcome | None:
        """Has the engine make an edit, an undo or a redo. Returns None and shows the reason if it is refused."""
        client = self._client
        if client is None:
            return None
        try:
            outcome = client.answer_now(edit)
        except RequestError as error:
            self._refuse(str(error))
            return None
        self.saving.note_state(outcome.state)
        if outcome.refusal:
            self._refuse(outcome.refusal)
            return None
        if outcome.words:
            self._show_edit()
        return outcome

    def _show_edit(self) -> None:
        """Shows the sessions after an edit, an undo or a reload."""
        if self.view.panel is not None:
            self.view.panel.refresh()
        if self.state is not None and self.state.is_behind:
            self.following.schedule_read()

    def _refuse(self, reason: str) -> None:
        self._notices.show_notice(_REFUSED, "warning", reason, token="severity.warning", closable=True)
        if self.view.panel is not None:
            self.view.panel.update_indicator()  # resets the switch that was pressed

    def changed(self) -> None:
        """Updates actions and title after an edit, an undo or a save."""
        self._requests.actions_changed.emit()
        self._requests.title_changed.emit()
