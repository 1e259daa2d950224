"""Dialogs for a new session, for the sub-context, and for the snapshots of a session.

A field shows an abridged text. An unchanged field therefore returns None, so that the original text is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QPlainTextEdit, QPushButton, QWidget
from typing_extensions import override

from inspector.engine.requests.msp_edits import AS_WRITTEN, SessionAgreements, SnapshotText
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.dialogs import FormDialog, fit_lines, text_field
from inspector.ui.widgets.form import CheckField, FieldColumn
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.number_field import NumberField

_LIST_LINES, _TEXT_LINES = 3, 6
_INTENT_LINES = 2
_CONTINUATION = "  "
"""Indent of a continuation line."""
_MAX_MESSAGE = 999_999_999  # a spin box holds 32 bits
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
ONE_A_LINE = "One per line. A line that starts with two spaces continues the one above."
LISTS = (("constraints", "&Constraints"), ("decisions", "&Decisions"), ("facts", "&Facts"))


class NewSessionDialog(FormDialog):
    """Asks for label and intent of a new session. The file dialog follows.

    Signals:
        chosen(str, str): label and intent.

    Attributes:
        label, intent: its fields.
    """

    chosen = Signal(str, str)

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(themes, name="newSession", title="New session", done="Save as...", parent=parent)
        self.label = QLineEdit(self)
        self.label.setObjectName("newSessionLabel")
        self.label.setAccessibleName("Label")
        self.label.textChanged.connect(lambda _text: self.ok.setEnabled(bool(self.label.text().strip())))
        field = FieldColumn(self.label, name="newSessionLabelHelp", help_text="Name of the chat.", parent=self)
        self.form.add_field("&Label", field, self.label)
        self.intent = text_field("newSessionIntent", "Intent", "Purpose of the chat. Sub-sessions receive it.", self)
        column = FieldColumn(
            self.intent,
            name="newSessionIntentHelp",
            help_text="Purpose of the chat. Sub-sessions receive it.",
            parent=self,
        )
        self.form.add_field("&Intent", column, self.intent)
        self.ok.setEnabled(False)
        themes.changed.connect(self._fit_all)
        self._fit_all()
        self.label.setFocus()

    def _fit_all(self) -> None:
        fit_lines(self.intent, _INTENT_LINES, self._themes)
        self.fit_page()

    @override
    def finish(self) -> None:
        label = self.label.text().strip()
        if label:
            self.accept()
            self.chosen.emit(label, self.intent.toPlainText().strip())


class SubContextDialog(FormDialog):
    """Edits the sub-context of a session.

    Signals:
        chosen(dict): changed parts.

    Attributes:
        intent, lists: its fields.
    """

    chosen = Signal(dict)

    def __init__(self, themes: ThemeController, session: SessionAgreements, parent: QWidget | None = None) -> None:
        super().__init__(themes, name="subContext", title=f"Sub-context of {session.label}", done="Save", parent=parent)
        self.ok.setText("Apply")
        self.ok.setAccessibleName("Apply")
        self.setWindowTitle("Sub-context")
        self.intent = text_field("subContextIntent", "Intent", "Purpose of the session.", self, session.intent)
        self.form.add_field("&Intent", self.intent, self.intent)
        self._before: dict[str, list[str]] = {name: list(getattr(session, name)) for name, _ in LISTS}
        self.lists: dict[str, QPlainTextEdit] = {}
        for name, title in LISTS:
            words = title.replace("&", "")
            field = text_field(f"subContext{words}", words, ONE_A_LINE, self, as_lines(self._before[name]))
            self.lists[name] = field
            self.form.add_field(title, field, field)
        self.form.add_wide(TextLabel(ONE_A_LINE, variant="hint", name="subContextHelp", wrap=True, parent=self))
        # Read back, since a field changes line ends, which is no edit of the user.
        self._shown = {name: field.toPlainText() for name, field in self._fields()}
        self.gives_way = self.lists["facts"]
        themes.changed.connect(self._fit_all)
        self._fit_all()
        self.intent.setFocus()

    def _fields(self) -> list[tuple[str, QPlainTextEdit]]:
        return [("intent", self.intent), *self.lists.items()]

    def _fit_all(self) -> None:
        for name, field in self._fields():
            fit_lines(field, _INTENT_LINES if name == "intent" else _LIST_LINES, self._themes)
        self.fit_page()

    @override
    def finish(self) -> None:
        changes: dict[str, str | list[str]] = {}
        for name, field in self._fields():
            text = field.toPlainText()
            if text != self._shown[name]:
                changes[name] = text.strip() if name == "intent" else self._entries(name, text)
        self.accept()
        if changes:
            self.chosen.emit(changes)

    def _entries(self, name: str, text: str) -> list[str]:
        """Returns the entries of a list. Unchanged entries keep their original text."""
        shown, before = as_entries(self._shown[name]), self._before[name]
        # The field normalizes blanks and line ends; unchanged entries keep the original text.
        written = dict(zip(shown, before, strict=True)) if len(shown) == len(before) else {}
        return [written.get(entry, entry) for entry in as_entries(text)]

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not _finish_by_key(self, event):
            super().keyPressEvent(event)


def as_lines(entries: Sequence[str]) -> str:
    """Formats one entry per line. Its further lines are indented by two blanks."""
    return "\n".join(f"\n{_CONTINUATION}".join(entry.splitlines()) for entry in entries)


def as_entries(text: str) -> list[str]:
    """Parses entries from lines and skips blank lines."""
    entries: list[str] = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        if entries and line.startswith(_CONTINUATION):
            entries[-1] += f"\n{line.removeprefix(_CONTINUATION)}"
        else:
            entries.append(line.strip())
    return entries


class SnapshotsDialog(FormDialog):
    """Adds, changes and deletes the snapshots of a session, one at a time.

    Signals:
        chosen(int, object, object): number of a snapshot from 0, or -1 for a new one; its text, or None if unchanged;
            its range as (first, last) index from 0, None without one, AS_WRITTEN if unchanged.
        delete_requested(int): number of the snapshot.

    Attributes:
        which, content, covers, first, last, delete: its widgets.
    """

    chosen = Signal(int, object, object)
    delete_requested = Signal(int)

    def __init__(
        self, themes: ThemeController, session: SessionAgreements, *, half_open: bool, parent: QWidget | None = None
    ) -> None:
        """Creates the dialog; `open()` shows it.

        Args:
            themes: gives the look.
            session: the session with the snapshots.
            half_open: True if a range excludes its last index, by the rules.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(themes, name="snapshots", title=f"Snapshots of {session.label}", done="Add", parent=parent)
        self.setWindowTitle("Snapshots")
        self._snapshots = session.snapshots
        self._messages, self._beyond = session.messages, 0 if half_open else 1
        self._shown: tuple[str, bool, int, int] = ("", False, 1, 1)
        self.which = QComboBox(self)
        self.which.setObjectName("snapshotsWhich")
        self.which.setAccessibleName("Snapshot")
        self.which.addItem("New snapshot", -1)
        for number, snapshot in enumerate(self._snapshots):
            self.which.addItem(self._words(number, snapshot), number)
        self.form.add_field("S&napshot", self.which, self.which)
        self.content = text_field("snapshotsContent", "Text", "Summary of the messages.", self)
        column = FieldColumn(
            self.content, name="snapshotsContentHelp", help_text="Summary of the messages.", parent=self
        )
        self.form.add_field("&Text", column, self.content)
        self.covers = CheckField("Covers a range of messages", "Numbers in the chat.",
                                 name="snapshotsCovers", parent=self)  # fmt: skip
        self.covers.add_below(self._build_span())
        self.form.add_wide(self.covers)
        self.delete = QPushButton("Delete", self)
        self.delete.setObjectName("snapshotsDelete")
        self.delete.setAccessibleName("Delete this snapshot")
        self.delete.setAutoDefault(False)
        self.delete.clicked.connect(self._delete)
        self.buttons.insertWidget(0, self.delete)
        self.content.textChanged.connect(self._on_changed)
        self.covers.box.toggled.connect(lambda _on: self._on_changed())
        self.which.currentIndexChanged.connect(lambda _row: self._show_one())
        self.gives_way = self.content
        themes.changed.connect(self._fit_all)
        self._fit_all()
        self.which.setCurrentIndex(1 if self._snapshots else 0)
        self._show_one()
        self.content.setFocus()

    def _build_span(self) -> QWidget:
        row = QWidget(self)
        beside = QHBoxLayout(row)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(8)
        self.first = NumberField("snapshotsFirst", "First message", 1, _MAX_MESSAGE, row)
        self.last = NumberField("snapshotsLast", "Last message", 1, _MAX_MESSAGE, row)
        for words, field in (("Messages", self.first), ("to", self.last)):
            beside.addWidget(TextLabel(words, name=f"{field.objectName()}Label", parent=row))
            beside.addWidget(field)
            field.valueChanged.connect(lambda _value: self._on_changed())
        beside.addStretch(1)
        return row

    def _words(self, number: int, snapshot: SnapshotText) -> str:
        covers = snapshot.covers
        span = f"messages {covers[0] + 1:,} to {covers[1] + self._beyond:,}: " if covers else ""
        return f"{number + 1}  {span}{safe_line(snapshot.content, 40)}"

    @property
    def number(self) -> int:
        """Number of the edited snapshot from 0, or -1 for a new one."""
        return int(self.which.currentData())

    def _show_one(self) -> None:
        """Shows the chosen snapshot. The range of a new one starts after the ranges of the others."""
        number = self.number
        if number >= 0:
            snapshot = self._snapshots[number]
            covers, text = snapshot.covers, snapshot.content
        else:
            ends = [one.covers[1] + self._beyond for one in self._snapshots if one.covers]
            covered = max(ends, default=0)
            covers = (covered, self._messages - self._beyond) if self._messages > covered else None
            text = ""
        self.content.setPlainText(text)
        self.covers.set_checked(covers is not None)
        start, stop = covers or (0, 1 - self._beyond)
        self.first.setValue(start + 1)
        self.last.setValue(stop + self._beyond)
        self._shown = self._values()
        self.ok.setText("Apply" if number >= 0 else "Add")
        self.ok.setAccessibleName(self.ok.text())
        self.delete.setVisible(number >= 0)
        self._on_changed()

    def _values(self) -> tuple[str, bool, int, int]:
        return self.content.toPlainText(), self.covers.box.isChecked(), self.first.value(), self.last.value()

    def _on_changed(self) -> None:
        on = self.covers.box.isChecked()
        self.first.setEnabled(on)
        self.last.setEnabled(on)
        wrong = on and self.last.value() < self.first.value()
        self.covers.say_help("The last message comes before the first." if wrong else "Numbers in the chat.")
        written = bool(self.content.toPlainText().strip())
        self.ok.setEnabled(written and not wrong and (self.number < 0 or self._values() != self._shown))

    def _fit_all(self) -> None:
        fit_lines(self.content, _TEXT_LINES, self._themes)
        for field in (self.first, self.last):
            field.setFixedWidth(round(84 * self._themes.theme.zoom))
        self.fit_page()

    def _delete(self) -> None:
        self.accept()
        self.delete_requested.emit(self.number)

    @override
    def finish(self) -> None:
        if not self.ok.isEnabled():
            return
        new, before = self._values(), self._shown
        text: str | None = new[0] if self.number < 0 or new[0] != before[0] else None
        covers: tuple[int, int] | None = (new[2] - 1, new[3] - self._beyond) if new[1] else None
        if self.number >= 0 and new[1:] == before[1:]:
            covers = AS_WRITTEN
        self.accept()
        self.chosen.emit(self.number, text, covers)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not _finish_by_key(self, event):
            super().keyPressEvent(event)


def _finish_by_key(dialog: FormDialog, event: QKeyEvent) -> bool:
    """Finishes the dialog on Ctrl+Enter; Enter alone starts a new line. Returns False for other keys."""
    if event.key() in _ENTER and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
        dialog.finish()
        return True
    return False
