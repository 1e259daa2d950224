"""Working on the sessions of a document: what is asked for in the view "Sub-sessions", each a step that can be undone.

The document of sessions is what is edited; the capture that the other views show follows it. Saving is in
msp_keeping.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtWidgets import QWidget

from inspector.msp.document import CannotEditError, SessionDocument
from inspector.msp.objects import Message, Session, Subsession, usual_visibility
from inspector.ui.center import SUBSESSIONS
from inspector.ui.msp_keeping import MspKeeping
from inspector.ui.panels.details.places import ContextPlace
from inspector.ui.panels.subsessions.words import label_of
from inspector.ui.wire_text import plain

if TYPE_CHECKING:
    from inspector.ui.main_window import MainWindow
    from inspector.ui.panels.subsessions.panel import SubsessionsPanel
    from inspector.ui.panes import Panes

_INDENT = "    "
_MOST_PARENTS = 1_000
_MOST_STEPS = 20
_REFUSED = "session-refused"
_DETAILS = "Details"
_TITLES = {"file.save": "&Save sessions", "file.save_as": "Save sessions &as..."}
"""What is saved here is no capture."""


class MspEditing(QObject):
    """Edits the sessions one window shows.

    Attributes:
        keeping: saves them.
        panel: the view; None until it is wanted first.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._panes: Panes | None = None
        self._gave_place = False
        self._wanted: str | None = None
        self.panel: SubsessionsPanel | None = None
        self.keeping = MspKeeping(window, self)

    @property
    def document(self) -> SessionDocument | None:
        """The sessions; None where the window shows something else."""
        return self._window.document.msp

    # The view

    def attach(self, panes: Panes) -> None:
        """The window shows a document."""
        self.speak_of(panes)
        if self.document is None:
            return
        self.keeping.attach(self.document)
        for name, title in _TITLES.items():
            self._window.actions_by_id[name].setText(title)
        self._window.center.changed.connect(self._on_view_changed)
        self._on_view_changed(self._window.center.current)
        self._count()

    def speak_of(self, panes: Panes) -> None:
        """The window shows these panes of the sessions."""
        self._panes = panes
        if self.document is not None:
            panes.contexts.selected.connect(self._on_context_selected)
            if self.is_shown and self.sub is not None:
                self._mark_in_tree(self.sub)

    def adopt(self, panel: QWidget) -> None:
        """The view was made: what it asks for is done here."""
        from inspector.ui.panels.details.text_block import ask_to_open
        from inspector.ui.panels.subsessions.indicator import Indicator
        from inspector.ui.panels.subsessions.panel import SubsessionsPanel

        document = self.document
        if not isinstance(panel, SubsessionsPanel) or document is None:
            return
        self.panel = panel
        indicator = Indicator(document, self._window.theme, self._window.application.settings, panel)
        indicator.policy_change_requested.connect(self._change_policy)
        indicator.rules_changed.connect(self._on_rules_changed)
        panel.add_indicator(indicator)
        panel.set_read_only(self.keeping.read_only)
        panel.new_requested.connect(self.new)
        panel.close_requested.connect(self.close)
        panel.discard_requested.connect(self.discard)
        panel.merge_requested.connect(self.merge)
        panel.shown.connect(self._on_shown)
        chat = panel.chat
        chat.message_added.connect(self._add_message)
        chat.global_requested.connect(self.switch_global)
        chat.table_requested.connect(self._show_in_table)
        chat.link_requested.connect(lambda address: ask_to_open(QUrl(address), self._window))
        chat.current_changed.connect(self._window.enable_actions)
        if self._wanted is not None:
            panel.show_subsession(self._wanted)

    def set_read_only(self, reason: str) -> None:
        """Say in the view why nothing can be changed; "" where it can."""
        if self.panel is not None:
            self.panel.set_read_only(reason)

    def stop(self) -> None:
        """The document is about to be closed."""
        self._give_back()
        self.keeping.stop()

    def count_now(self) -> bool:
        """Count the tokens the view waits for here and at once, as for a picture; whether there is a view."""
        if self.panel is None or self.panel.indicator is None:
            return False
        self.panel.indicator.counts.count_here()
        return True

    def tick(self) -> None:
        """A second has passed."""
        if self.panel is not None:
            self.panel.tick()

    def apply_settings(self) -> None:
        """Take over rules and budget."""
        if self.panel is not None and self.panel.indicator is not None:
            self.panel.indicator.apply_settings(self._window.application.settings)

    def _on_rules_changed(self) -> None:
        self._window.application.save_settings()
        for window in self._window.application.windows:
            if window is not self._window:
                window.msp.apply_settings()

    def _on_view_changed(self, view: str) -> None:
        """The details give their place to what a sub-session sees, and come back after."""
        details = self._window.docks.get(_DETAILS)
        if details is None or self._panes is None:
            return
        if view == SUBSESSIONS:
            if not details.isHidden() and not details.isFloating():
                self._gave_place = True
                details.hide()
            if self.panel is not None and self.panel.sub is not None:
                self._mark_in_tree(self.panel.sub)
        else:
            self._give_back()
            self._panes.contexts.show_place(self._panes.details.place)
        self._window.enable_actions()

    def _give_back(self) -> None:
        if self._gave_place and _DETAILS in self._window.docks:
            self._window.docks[_DETAILS].show()
        self._gave_place = False

    @property
    def is_shown(self) -> bool:
        """Whether the view is in front."""
        return self._panes is not None and self._window.center.current == SUBSESSIONS

    # The tree

    def _on_context_selected(self, space: int, node: int) -> None:
        """A context was chosen in the tree: its sub-session is shown here, whenever that is looked at."""
        sub = self._subsession_of(node)
        if sub is None:
            return
        self._wanted = sub.key
        if self.panel is not None:
            self.panel.show_subsession(sub.key)

    def _subsession_of(self, node: int) -> Subsession | None:
        tree = self._window.document.analysis.contexts.tree
        if self.document is None or tree.resolve(node) < 0:
            return None
        living = tree.resolve(node)
        names = (tree.name[living], *tree.ids_of(living))
        return next((found for name in names if (found := self.document.subsession(name)) is not None), None)

    def _on_shown(self, key: str) -> None:
        sub = None if self.document is None else self.document.subsession(key)
        if sub is not None and self.is_shown:
            self._mark_in_tree(sub)
        self._window.enable_actions()

    def mark_shown(self) -> None:
        """Mark the sub-session of the view in the tree, where that is in front."""
        if self.is_shown and self.sub is not None:
            self._mark_in_tree(self.sub)

    def _mark_in_tree(self, sub: Subsession) -> None:
        """Mark its context as long as there is no scope; nothing else moves."""
        place = self._place_of(sub)
        if self._panes is not None and place is not None:
            self._panes.contexts.show_place(place)

    def _place_of(self, sub: Subsession) -> ContextPlace | None:
        contexts = self._window.document.analysis.contexts
        capture = self._window.document.capture
        row = self._row_of(sub.messages[0]) if len(sub.messages) else None
        if row is not None and row < len(capture):
            return ContextPlace(int(capture.columns["space"][row]), contexts.node_of(row))
        tree = contexts.tree
        for space in set(tree.space):
            node = tree.find(space, sub.key)
            if node >= 0:
                return ContextPlace(space, tree.resolve(node))
        return None

    def _row_of(self, message: Message) -> int | None:
        following = self._window.document.sessions
        return None if following is None else following.shown.projection.row_of_message(message)

    def _show_in_table(self, message: Message) -> None:
        row = self._row_of(message)
        if row is None or self._panes is None or row >= len(self._window.document.capture):
            self._window.say("This message is not in the table yet.")
            return
        self._window.commands.show_messages()
        self._panes.go_to(row)

    # What can be done

    @property
    def sub(self) -> Subsession | None:
        """The sub-session the actions are about: the one shown."""
        return None if self.panel is None else self.panel.sub

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
        sub = self.sub if self.is_shown else None
        if sub is not None and sub.is_open:
            found.add("open_subsession")
        if sub is not None and not sub.is_open and self.document.why_not_merge(sub) is None:
            found.add("mergeable")
        if self.is_shown and self.panel is not None and self.panel.chat.current_own is not None:
            found.add("own_message")
        return found

    def new(self) -> None:
        """Ask for the label of a new sub-session, and open it."""
        if self.document is None or self.keeping.read_only:
            return
        self._window.commands.show_subsessions()
        parents = parents_in(self.document)
        shown = self.sub
        above = shown.parent if shown is not None else None
        chosen = above.key if above is not None else parents[0][0] if parents else ""
        from inspector.ui.dialogs.subsession import NewSubsessionDialog

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
        if self._do(lambda: opened.append(document.open_subsession(owner, label))) and self.panel is not None:
            self.panel.show_subsession(opened[0].key)
            self.panel.chat.focus_input()

    def close(self) -> None:
        """Ask for the summary of the sub-session shown, and close it."""
        sub = self.sub
        if sub is None or not sub.is_open or self.keeping.read_only:
            return
        parent = label_of(sub.parent) if sub.parent is not None else ""
        from inspector.ui.dialogs.subsession import CloseSubsessionDialog

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
        document, sub = self.document, self.sub
        if document is not None and sub is not None and sub.is_open:
            self._do(lambda: document.discard(sub))

    def merge(self) -> None:
        """Merge the sub-session shown to its parent."""
        document, sub = self.document, self.sub
        if document is not None and sub is not None and not sub.is_open:
            self._do(lambda: document.merge(sub))

    def switch_global(self, message: Message | None = None) -> None:
        """Make a message global, or the sub-session's own again; by default the current one."""
        if message is None and self.panel is not None:
            message = self.panel.chat.current_own
        document = self.document
        if document is not None and message is not None:
            to = "subsession_only" if message.visibility == "global" else "global"
            self._do(lambda: document.set_visibility(message, to))

    def write(self) -> None:
        """Give the keyboard to the line where messages are written."""
        if self.panel is not None:
            self.panel.chat.focus_input()

    def _add_message(self, role: str, content: str) -> None:
        document, sub, panel = self.document, self.sub, self.panel
        if document is None or sub is None or panel is None:
            return
        if self._do(lambda: document.add_message(sub, role, content, usual_visibility(sub))):
            panel.chat.input.clear()
            panel.chat.view.scroll_to_end()

    @property
    def may_lose_any(self) -> bool:
        """Whether anything would be lost if the window closed now."""
        return self.keeping.dirty or self.has_drafts

    @property
    def has_drafts(self) -> bool:
        """Whether a message was written in part and not added."""
        return self.panel is not None and self.panel.chat.has_drafts

    def _change_policy(self, changes: dict[str, bool | int | None]) -> None:
        document, sub = self.document, self.sub
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
            if self.panel is not None and self.panel.indicator is not None:
                self.panel.indicator.refresh()  # a switch that was pressed shows what holds
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
            window.history.do(plain(f"{words[:1].lower()}{words[1:]}", 60), again, document.undo)
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


def parents_in(document: SessionDocument) -> list[tuple[str, str]]:
    """Where a sub-session can be opened: sessions and open sub-sessions as the tree has them, by key and words."""
    found: list[tuple[str, str]] = []
    waiting: list[tuple[Session | Subsession, int]] = [(session, 0) for session in reversed(document.sessions)]
    while waiting and len(found) < _MOST_PARENTS:
        owner, depth = waiting.pop()
        if document.why_not_open(owner) is None:
            found.append((owner.key, f"{_INDENT * min(depth, _MOST_STEPS)}{label_of(owner)}"))
        waiting += ((child, depth + 1) for child in reversed(owner.children) if child.is_open)
    return found
