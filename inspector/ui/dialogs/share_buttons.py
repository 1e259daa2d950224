"""Import and Export buttons of a settings page, with file dialogs and a result line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QWidget

from inspector.present.secret_settings import shared_without_secrets
from inspector.present.wire_text import safe_line
from inspector.settings.sharing import SharedPresets, UnreadableShareError, read_shared, write_shared
from inspector.ui.dialogs.questions import open_once
from inspector.ui.look.style_sheet import repolish
from inspector.ui.widgets.labels import TextLabel

_KINDS = "Presets and highlight rules (*.json);;All files (*)"


class ShareButtons(QWidget):
    """Two buttons in a row.

    Attributes:
        status: the result line; the page places it.
    """

    def __init__(
        self,
        name: str,
        what: str,
        give: Callable[[], SharedPresets],
        take: Callable[[SharedPresets, str], str],
        parent: QWidget | None = None,
    ) -> None:
        """Creates the buttons.

        Args:
            name: name of the page, prefix of object names.
            what: plural noun of the items: "presets".
            give: returns the content to write.
            take: imports the content of a file with this name and returns a sentence about it. May raise
                UnreadableShareError.
            parent: the owner.

        Errors of files are shown in `status`.
        """
        super().__init__(parent)
        self._name, self._what, self._give, self._take = name, what, give, take
        self.setObjectName(f"{name}Share")
        self.status = TextLabel(variant="hint", name=f"{name}Status", wrap=True, parent=parent)
        self.status.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._export = self._button("Export", f"Export the {what} to a file", self.ask_where)
        self._import = self._button("Import", f"Import {what} from a file", self.ask_for_file)
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
        self._export.setEnabled(can)

    def ask_where(self) -> None:
        """Asks for a file to write."""
        dialog = QFileDialog(self, f"Export {self._what}", f"{self._what.replace(' ', '-')}.json", _KINDS)
        dialog.setObjectName(f"{self._name}ExportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda path: self.write(Path(path)))
        open_once(dialog)

    def ask_for_file(self) -> None:
        dialog = QFileDialog(self, f"Import {self._what}", "", _KINDS)
        dialog.setObjectName(f"{self._name}ImportDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.read(Path(path)))
        open_once(dialog)

    def write(self, path: Path) -> None:
        """Writes the items to a file and shows the result."""
        shared, secret = shared_without_secrets(self._give())
        try:
            write_shared(path, shared)
        except OSError as error:
            self.show_result(f"{path.name} could not be written: {error.strerror or error}.", wrong=True)
            return
        left_out = f" {secret:,} with a secret {'was' if secret == 1 else 'were'} left out."
        self.show_result(f"The {self._what} were written to {path.name}.{left_out if secret else ''}")

    def read(self, path: Path) -> None:
        """Imports a file and shows the result."""
        try:
            self.show_result(self._take(read_shared(path), path.name))
        except OSError as error:
            self.show_result(f"{path.name} could not be read: {error.strerror or error}.", wrong=True)
        except UnreadableShareError as error:
            self.show_result(str(error), wrong=True)

    def show_result(self, sentence: str, *, wrong: bool = False) -> None:
        """Shows a result; "" hides it."""
        variant = "error" if wrong else "hint"
        self.status.setText(safe_line(sentence))
        self.status.setVisible(bool(sentence))
        if self.status.property("variant") != variant:
            self.status.setProperty("variant", variant)
            repolish(self.status)


def outcome(added: int, known: int, wrong: list[str], word: str, file: str) -> str:
    """Returns the result of an import in one or two sentences.

    Args:
        added: number of added items.
        known: number of items that already existed.
        wrong: name and reason of each refused item.
        word: singular noun of the items: "preset".
        file: its name.
    """
    parts = [f"{_count_words(added, word)} added from {file}."] if added else [f"Nothing was added from {file}."]
    if known:
        parts.append(f"{_count_words(known, word)} already existed.")
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        parts.append(f"Left out: {wrong[0]}{more}.")
    return " ".join(parts)


def _count_words(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
