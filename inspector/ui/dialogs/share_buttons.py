"""Import and Export of a page of the settings: both file dialogs, and a sentence that says what became of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QWidget

from inspector.present.secret_settings import shared_without_secrets
from inspector.present.wire_text import plain
from inspector.settings.sharing import Shared, UnreadableShareError, read_shared, write_shared
from inspector.ui.dialogs.asking import open_once
from inspector.ui.look.style_sheet import repolish
from inspector.ui.widgets.labels import TextLabel

_KINDS = "Presets and highlight rules (*.json);;All files (*)"


class ShareButtons(QWidget):
    """Two buttons in a row.

    Attributes:
        said: where the outcome is said; to be placed by the page.
    """

    def __init__(
        self,
        name: str,
        what: str,
        give: Callable[[], Shared],
        take: Callable[[Shared, str], str],
        parent: QWidget | None = None,
    ) -> None:
        """Make the buttons.

        Args:
            name: of the page, begins the object names.
            what: is shared: "presets".
            give: what to write.
            take: takes over what was read, from a file of this name; returns the sentence that says so.
            parent: owner.

        Raises:
            nothing: what goes wrong with a file is said in `said`; `take` may raise UnreadableShareError.
        """
        super().__init__(parent)
        self._name, self._what, self._give, self._take = name, what, give, take
        self.setObjectName(f"{name}Share")
        self.status = TextLabel(variant="hint", name=f"{name}Status", wrap=True, parent=parent)
        self.status.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._export = self._button("Export", f"Write the {what} to a file for others", self.ask_where)
        self._import = self._button("Import", f"Add the {what} of a file", self.ask_for_file)
        row.addWidget(self._import)
        row.addWidget(self._export)

    def _button(self, verb: str, words: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(f"{verb}...", self)
        button.setObjectName(f"{self._name}{verb}")
        button.setAccessibleName(words)
        button.setToolTip(words)
        button.setAutoDefault(False)
        button.clicked.connect(act)
        return button

    def set_can_export(self, can: bool) -> None:
        """Say whether there is anything to export."""
        self._export.setEnabled(can)

    def ask_where(self) -> None:
        """Ask for the file to write."""
        dialog = QFileDialog(self, f"Export {self._what}", f"{self._what.replace(' ', '-')}.json", _KINDS)
        dialog.setObjectName(f"{self._name}ExportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.write(Path(path)))
        open_once(dialog)

    def ask_for_file(self) -> None:
        """Ask for the file to read."""
        dialog = QFileDialog(self, f"Import {self._what}", "", _KINDS)
        dialog.setObjectName(f"{self._name}ImportDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.read(Path(path)))
        open_once(dialog)

    def write(self, path: Path) -> None:
        """Write what is shared to a file, and say so."""
        shared, secret = shared_without_secrets(self._give())
        try:
            write_shared(path, shared)
        except OSError as error:
            self.say(f"{path.name} could not be written: {error.strerror or error}.", wrong=True)
            return
        left_out = f" {secret:,} of them {'holds' if secret == 1 else 'hold'} a secret and stayed out of it."
        self.say(f"The {self._what} were written to {path.name}.{left_out if secret else ''}")

    def read(self, path: Path) -> None:
        """Take over a file that was shared, and say what came of it."""
        try:
            self.say(self._take(read_shared(path), path.name))
        except OSError as error:
            self.say(f"{path.name} could not be read: {error.strerror or error}.", wrong=True)
        except UnreadableShareError as error:
            self.say(str(error), wrong=True)

    def say(self, sentence: str, *, wrong: bool = False) -> None:
        """Say what became of it; "" takes it back."""
        variant = "error" if wrong else "hint"
        self.status.setText(plain(sentence))
        self.status.setVisible(bool(sentence))
        if self.status.property("variant") != variant:
            self.status.setProperty("variant", variant)
            repolish(self.status)


def outcome(added: int, known: int, wrong: list[str], word: str, file: str) -> str:
    """What an import came to, in a sentence or two.

    Args:
        added: so many were added.
        known: so many were there already.
        wrong: why others were left out: name and reason.
        word: of one of them: "preset".
        file: its name.
    """
    parts = [f"{_count(added, word)} added from {file}."] if added else [f"Nothing was added from {file}."]
    if known:
        parts.append(f"{_count(known, word)} {'was' if known == 1 else 'were'} there already.")
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        parts.append(f"Left out: {wrong[0]}{more}.")
    return " ".join(parts)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
