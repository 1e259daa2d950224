"""The policy of a sub-session: what of its parent it takes along; each change can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.number_field import NumberField
from inspector.ui.panels.details.section import SectionLabel
from inspector.ui.widgets.labels import TextLabel

if TYPE_CHECKING:
    from inspector.msp.objects import Policy

MOST_RECENT = 9_999
CLOSED = "It is closed: its policy stays as it was."


class PolicyBox(QWidget):
    """Three switches.

    Signals:
        changed(dict): the user changed something: changes for `SessionDocument.set_policy`.
    """

    changed = Signal(dict)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._showing = False
        self._reason = self._note = ""
        self._is_open = True
        self.setObjectName("subsessionPolicy")
        self.setAccessibleName("Policy")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(SectionLabel(themes, "Policy", None, self))
        self.sub_context = self._box("Include the sub-context", "policySubContext", "include_sub_context")
        self.snapshots = self._box("Include snapshots", "policySnapshots", "include_snapshots")
        self.sub_context.toggled.connect(lambda on: self._say(include_sub_context=on))
        self.snapshots.toggled.connect(lambda on: self._say(include_snapshots=on))
        column.addWidget(self.sub_context)
        column.addWidget(self.snapshots)
        self.recent = NumberField("policyRecent", "Recent parent messages", 0, MOST_RECENT, self)
        self.recent.setToolTip("recent_parent_messages of the context policy")
        self.recent.valueChanged.connect(lambda value: self._say(recent_parent_messages=value))
        words = TextLabel("Recent parent messages", name="policyRecentLabel", wrap=True, parent=self)
        words.setBuddy(self.recent)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(words, 1)
        row.addWidget(self.recent)
        column.addLayout(row)
        self.note = TextLabel("", variant="hint", name="policyNote", wrap=True, parent=self)
        column.addWidget(self.note)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _box(self, text: str, name: str, member: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setObjectName(name)
        box.setAccessibleName(text)
        box.setToolTip(f"{member} of the context policy")
        return box

    def show_policy(self, policy: Policy, missing_recent: int, *, is_open: bool) -> None:
        """Show the policy of another sub-session; says nothing.

        Args:
            policy: as it is written.
            missing_recent: how many recent messages are sent where it does not say.
            is_open: whether the sub-session is; the policy of a closed one stays.
        """
        self._showing = True
        self.sub_context.setChecked(policy.include_sub_context is not False)
        self.snapshots.setChecked(policy.include_snapshots is not False)
        recent = policy.recent_parent_messages
        self.recent.setValue(max(0, missing_recent if recent is None else recent))
        self._showing = False
        self._is_open, self._note = is_open, _missing_words(policy)
        self._fit()

    def set_read_only(self, reason: str) -> None:
        """Say why nothing can be changed; "" where it can."""
        self._reason = reason
        self._fit()

    def _fit(self) -> None:
        for widget in (self.sub_context, self.snapshots, self.recent):
            widget.setEnabled(self._is_open and not self._reason)
        self.note.setText(self._reason or (self._note if self._is_open else CLOSED))
        self.note.setVisible(bool(self.note.text()))

    def _say(self, **changes: bool | int) -> None:
        if not self._showing:
            self.changed.emit(changes)

    def _on_theme_changed(self) -> None:
        self.recent.setFixedWidth(round(76 * self._themes.theme.zoom))


def _missing_words(policy: Policy) -> str:
    """What the file does not say, and is taken as usual."""
    parts = (
        (policy.include_sub_context, "the sub-context"), (policy.include_snapshots, "snapshots"),
        (policy.recent_parent_messages, "recent messages"),
    )  # fmt: skip
    missing = [words for value, words in parts if value is None]
    if not missing:
        return ""
    if len(missing) == len(parts):
        return "The file says nothing of it: shown is what is usual."
    return f"The file says nothing of {' and '.join(missing)}: shown is what is usual."
