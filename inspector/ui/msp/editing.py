"""Working on the sessions of a document: what is asked for in the view "Sub-sessions", each a step that can be undone.

The document of sessions is what is edited; the capture that the other views show follows it. Saving is in
msp_keeping.py, the view in msp_view.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.msp.document import CannotEditError, SessionDocument
from inspector.msp.objects import Message, Subsession, usual_visibility
from inspector.present.wire_text import plain
from inspector.ui.msp.panel.words import label_of
from inspector.ui.msp.saving import MspKeeping
from inspector.ui.msp.view import MspView

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.window.main_window import MainWindow

_REFUSED = "session-refused"
_TITLES = {"file.save": "&Save sessions", "file.save_as": "Save sessions &as..."}
"""What is saved here is no capture."""


class MspEditing(QObject):
    """Edits the sessions one window shows.

    Attributes:
        keeping: saves them.
        view: shows them, and asks for what is done here.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.keeping = MspKeeping(window, self)
        self.view = MspView(window, self)

    @property
    def document(self) -> SessionDocument | None:
        """The sessions; None where the window shows something else."""
        return self._window.document.msp

    def attach(self, panes: Panes) -> None:
        """The window shows a document."""
        self.view.speak_of(panes)
        if self.document is None:
            return
        self.keeping.attach(self.document)
        for name, title in _TITLES.items():
            self._window.actions_by_id[name].setText(title)
        self.view.attach()
        self._count()

    def stop(self) -> None:
        """The document is about to be closed."""
        self.view.give_back()
        self.keeping.stop()

    # What can be done

    @property
    def present(self) -> set[str]:
        """What can be done, as the actions name what they need."""
        if self.document is None:
            return set()
        found = {"sessions"}
        if self.keeping.dirty:
            found.add("unsaved")
        if self.keeping.read_only:
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
        if self.document is None or self.keeping.read_only:
            return
        self._window.commands.show_view("subsessions")
        from inspector.ui.msp.new_dialog import NewSubsessionDialog, parents_in

        parents = parents_in(self.document)
        shown = self.view.sub
        above = shown.parent if shown is not None else None
        chosen = above.key if above is not None else parents[0][0] if parents else ""
        dialog = NewSubsessionDialog(self._window.theme, parents, chosen, self._window)
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

    def close(self) -> None:
        """Ask for the summary of the sub-session shown, and close it."""
        sub = self.view.sub
        if sub is None or not sub.is_open or self.keeping.read_only:
            return
        parent = label_of(sub.parent) if sub.parent is not None else ""
        from inspector.ui.msp.new_dialog import CloseSubsessionDialog

        dialog = CloseSubsessionDialog(
            self._window.theme, label_of(sub), parent, written=sub.summary or "", parent=self._window
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
        """Merge the sub-session shown to its parent."""
        document, sub = self.document, self.view.sub
        if document is not None and sub is not None and not sub.is_open:
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
        return self.keeping.busy or self.keeping.unsaved

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
        window, document = self._window, self.document
        if document is None:
            return False
        if self.keeping.read_only:
            window.say(self.keeping.read_only, "severity.warning")
            return False
        before = document.revision
        try:
            edit()
        except CannotEditError as error:
            window.notices.show_notice(_REFUSED, "warning", plain(str(error)), token="severity.warning", closable=True)
            if self.view.panel is not None:
                self.view.panel.tell_indicator()  # a switch that was pressed shows what holds
            return False
        window.notices.dismiss(_REFUSED)
        if document.revision != before:
            done = [True]  # the history does a step when it takes it

            def again() -> None:
                if done:
                    done.clear()
                else:
                    document.redo()

            words = document.undo_words or "edit"
            window.undo_history.do(plain(f"{words[:1].lower()}{words[1:]}", 60), again, document.undo)
        self.changed()
        return True

    def changed(self) -> None:
        """Something was edited, undone or saved."""
        self._window.enable_actions()
        self._window.show_modified()
        self._count()

    def _count(self) -> None:
        if self.document is not None:
            self._window.view_head.tabs.set_count(len(self.document.subsessions), "Sub-sessions")
