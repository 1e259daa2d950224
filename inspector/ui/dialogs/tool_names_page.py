"""Settings > General > Tool names: aliases of tools, and a field to try a name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from inspector.present.wire_text import safe_line
from inspector.protocol.tool_aliases import AliasError, ToolAlias, ToolAliases, parse_alias
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import FieldColumn, Form
from inspector.ui.widgets.labels import TextLabel

HELP = (
    "Context hints name tools exactly, but proxies add prefixes. If the hint has search_records and the call "
    "mcp__rune__search_records, the result does not collapse. Rules map both names to one tool."
)
RULES_HELP = "One rule per line, as in mcp__rune__* = *. The first matching rule applies."
EXAMPLE = "mcp__rune__* = *"


class ToolNamesPage(QWidget):
    """Edits tool aliases as text. An invalid line shows an error and is not in force.

    Signals:
        changed: the user changed a rule; `rules` has the new ones.
    """

    changed = Signal()

    def __init__(self, theme_controller: ThemeController, rules: Sequence[str], parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            rules: the shown rules as text; not changed.
            parent: the owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._rules: list[ToolAlias] = []
        self.setObjectName("settingsToolNames")
        self.setAccessibleName("Tool names")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(TextLabel(HELP, variant="secondary", name="toolNamesHelp", wrap=True, parent=self))
        column.addLayout(self._build())
        column.addStretch(1)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_rules(rules)

    def _build(self) -> Form:
        form = Form(self._themes, self)
        form.setColumnMinimumWidth(0, 48)
        self._edit = QPlainTextEdit(self)
        self._edit.setObjectName("toolNamesRules")
        self._edit.setProperty("variant", "field")
        self._edit.setAccessibleName("Rules")
        self._edit.setPlaceholderText(EXAMPLE)
        self._edit.setTabChangesFocus(True)
        self._edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._edit.textChanged.connect(self._on_edited)
        self._field = FieldColumn(self._edit, name="toolNamesRulesField", help_text=RULES_HELP, parent=self)
        form.add_field("Rules", self._field, self._edit)
        self._tried = QLineEdit(self)
        self._tried.setObjectName("toolNamesTry")
        self._tried.setAccessibleName("Tool name")
        self._tried.setPlaceholderText("mcp__rune__search_records")
        self._tried.textChanged.connect(self._on_tried)
        self._try_field = FieldColumn(self._tried, name="toolNamesTryField", help_text=" ", parent=self)
        form.add_field("Try", self._try_field, self._tried)
        self.setFocusProxy(self._edit)
        return form

    def rules(self) -> list[str]:
        """Returns the rules in force as text."""
        return [rule.text for rule in self._rules]

    def show_rules(self, rules: Sequence[str]) -> None:
        """Shows other rules without a signal."""
        # signals are blocked, so that showing rules does not count as an edit
        before = self._edit.blockSignals(True)
        self._edit.setPlainText("\n".join(rules))
        self._edit.blockSignals(before)
        self._read()

    def _read(self) -> None:
        """Parses the valid lines and shows the error of the first invalid one."""
        found: list[ToolAlias] = []
        trouble = ""
        for number, line in enumerate(self._edit.toPlainText().splitlines(), 1):
            if not line.strip():
                continue
            try:
                found.append(parse_alias(line))
            except AliasError as error:
                trouble = trouble or f"Line {number}: {error}"
        self._rules = found
        self._field.say_trouble(trouble)
        self._on_tried()

    def _on_edited(self) -> None:
        before = self._rules
        self._read()
        if self._rules != before:
            self.changed.emit()

    def _on_tried(self) -> None:
        name = self._tried.text().strip()
        resolved = ToolAliases(self._rules).resolve(name)
        result = "Enter a name to see its tool."
        if name:
            result = (
                "No rule matches, so the name stays as it is."
                if resolved == name
                else f"The tool is {safe_line(resolved, 200)}."
            )
        self._try_field.say_help(result)

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        for field in (self._edit, self._tried):
            field.setFont(theme.font("mono-row"))
        self._edit.setFixedHeight(theme.metrics.row * 5)
