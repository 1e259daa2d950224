"""Settings > General > Prices: list prices, and the user's own prices that override them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from inspector.engine.requests.prices import (
    EXAMPLE_LINE,
    LISTED_DATE,
    PRICE_LISTS,
    PriceError,
    PriceTable,
    imported_lines,
    listed_lines,
)
from inspector.present.formats import count_of
from inspector.settings import Prices, Settings
from inspector.ui.dialogs.settings_dialog import SettingsPage
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.form import CheckField, FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel

HELP = (
    "Prices turn reported tokens into costs in What happened, Tokens, contexts, runs and the "
    "column Cost. Models without a price have no cost."
)
*_PROVIDERS, _LAST_PROVIDER = (one.provider for one in PRICE_LISTS)
LISTED_HELP = (
    f"The providers' list prices of {LISTED_DATE}, in US dollars: {', '.join(_PROVIDERS)} and {_LAST_PROVIDER}. "
    "Your own prices below override them."
)
LINES_HELP = (
    "One model per line, in dollars per million tokens. Long inputs may have their own price, as in: above 200000."
)
COPY_HELP = "Copies the list prices into the field for editing."
IMPORT_HELP = "Replaces the prices above by a JSON file in LiteLLM's format."
DATED_HELP = "Date or source of these prices, shown beside the sums."
_MAX_BYTES = 32 << 20  # a longer file is cut and then refused as invalid JSON


class PricesPage(SettingsPage):
    """Edits prices as text. An invalid line shows an error at the field, and the old prices stay in force."""

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            settings: edited in place.
            parent: the owner.
        """
        super().__init__(settings, parent, name="settingsPrices", title="Prices")
        self._themes = theme_controller
        self._column.setSpacing(12)
        self._column.addWidget(TextLabel(HELP, variant="secondary", name="pricesHelp", wrap=True, parent=self))
        self._column.addLayout(self._build())
        self._column.addStretch(1)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._show()

    def _build(self) -> Form:
        form = Form(self._themes, self)
        form.setColumnMinimumWidth(0, 48)
        self._listed = CheckField("Use list prices", LISTED_HELP, name="pricesListed", parent=self)
        self._listed.toggled.connect(lambda _on: self._on_edited())
        form.add_wide(self._listed)
        self._edit = QPlainTextEdit(self)
        self._edit.setObjectName("pricesLines")
        self._edit.setProperty("variant", "field")
        self._edit.setAccessibleName("Your prices")
        self._edit.setPlaceholderText(EXAMPLE_LINE)
        self._edit.setTabChangesFocus(True)
        self._edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._edit.textChanged.connect(self._on_edited)
        self._field = FieldColumn(self._edit, name="pricesLinesField", help_text=LINES_HELP, parent=self)
        form.add_field("Your prices", self._field, self._edit)
        copy = WordButton("Copy list prices", name="pricesCopy", parent=self)
        copy.clicked.connect(self._on_copy_clicked)
        form.add_field("", FieldColumn(copy, name="pricesCopyField", help_text=COPY_HELP, parent=self), copy)
        self._dated = QLineEdit(self)
        self._dated.setObjectName("pricesDated")
        self._dated.setAccessibleName("Prices of")
        self._dated.setMaxLength(100)
        self._dated.textChanged.connect(self._on_edited)
        dated = FieldColumn(self._dated, name="pricesDatedField", help_text=DATED_HELP, parent=self)
        form.add_field("Prices of", dated, self._dated)
        take = WordButton("Import prices...", name="pricesImport", parent=self)
        take.clicked.connect(self._on_import_clicked)
        self._import = FieldColumn(take, name="pricesImportField", help_text=IMPORT_HELP, parent=self)
        form.add_field("", self._import, take)
        self.setFocusProxy(self._edit)
        return form

    def restore(self) -> None:
        """Restores the list prices without a signal."""
        self._settings.prices = Prices()
        self._show()

    def take_over(self, path: Path) -> None:
        """Replaces the shown prices by an imported list, and shows their number or the error."""
        try:
            with path.open("rb") as file:
                lines = imported_lines(file.read(_MAX_BYTES))
        except OSError as error:
            self._import.say_trouble(f"{path.name} cannot be read: {error.strerror or error}.")
            return
        except PriceError as error:
            self._import.say_trouble(f"{path.name}: {error}")
            return
        self._import.say_trouble("")
        self._import.say_help(f"{count_of(len(PriceTable(lines)), 'model')} of {path.name}.")
        self._dated.setText(path.name)
        self._edit.setPlainText("\n".join(lines))

    def _show(self) -> None:
        # signals are blocked, so that showing values does not count as an edit
        before = [field.blockSignals(True) for field in (self._edit, self._dated)]
        self._edit.setPlainText("\n".join(self._settings.prices.lines))
        self._dated.setText(self._settings.prices.dated)
        self._listed.set_checked(self._settings.prices.listed)
        for field, blocked in zip((self._edit, self._dated), before, strict=True):
            field.blockSignals(blocked)
        self._field.say_trouble(self._lines_error())

    def _lines_error(self) -> str:
        try:
            PriceTable(self._edit.toPlainText().splitlines())
        except PriceError as error:
            return str(error)
        return ""

    def _on_edited(self) -> None:
        trouble = self._lines_error()
        self._field.say_trouble(trouble)
        if not trouble:
            self._settings.prices = Prices(
                listed=self._listed.box.isChecked(), lines=self._edit.toPlainText().splitlines(),
                dated=self._dated.text().strip(),
            )  # fmt: skip
            self.changed.emit()

    def _on_copy_clicked(self) -> None:
        self._dated.setText(LISTED_DATE)
        self._edit.setPlainText("\n".join(listed_lines()))

    def _on_import_clicked(self) -> None:
        dialog = QFileDialog(self, "Import prices", "", "JSON (*.json);;All files (*)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._on_file_selected)
        dialog.open()

    def _on_file_selected(self, path: str) -> None:
        self.take_over(Path(path))

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self._edit.setFont(theme.font("mono-row"))
        self._edit.setFixedHeight(theme.metrics.row * 9)
