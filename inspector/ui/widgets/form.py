"""Form layout of dialogs: right-aligned labels, and a help or error line under each field (docs/design.md 16)."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStyle,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.ui.look.style_sheet import repolish
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import TextLabel

LABEL_WIDTH = 112
"""Width of the label column, in logical pixels at 100 % zoom."""
_AT_LEFT, _FILLING = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag(0)


class FieldColumn(QWidget):
    """A field with a help line below; an error replaces the help.

    Attributes:
        field: the edited widget.
    """

    def __init__(self, field: QWidget, *, name: str, help_text: str = "", parent: QWidget | None = None) -> None:
        """Makes the column.

        Args:
            field: becomes a child.
            name: object name of the line below it.
            help_text: text of the line without an error.
            parent: owner.
        """
        super().__init__(parent)
        self.field = field
        self._help = help_text
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(field, 0, _AT_LEFT if isinstance(field, QAbstractButton) else _FILLING)
        self._line = TextLabel(help_text, variant="hint", name=name, wrap=True, parent=self)
        self._line.setVisible(bool(help_text))
        column.addWidget(self._line)
        self._edited = field if isinstance(field, QLineEdit) else field.findChild(QLineEdit)

    def error_text(self) -> str:
        """Returns the error, or ""."""
        return self._line.text() if self._line.property("variant") == "error" else ""

    def say_help(self, text: str) -> None:
        """Sets the help line; an error stays visible until it is cleared."""
        self._help = text
        if not self.error_text():
            self.say_trouble("")

    def say_trouble(self, sentence: str) -> None:
        """Shows an error of the field; "" clears it."""
        variant = "error" if sentence else "hint"
        self._line.setText(sentence or self._help)
        self._line.setVisible(bool(sentence or self._help))
        if self._line.property("variant") != variant:
            self._line.setProperty("variant", variant)
            repolish(self._line)
        if self._edited is not None:
            self._edited.setProperty("wrong", "true" if sentence else "false")
            self._edited.setAccessibleDescription(sentence or self._help)
            repolish(self._edited)


class Form(QGridLayout):
    """Rows of label and field."""

    def __init__(self, theme_controller: ThemeController, owner: QWidget) -> None:
        """Makes an empty form; the caller sets it as a layout."""
        super().__init__()
        self._themes = theme_controller
        self._owner = owner
        self.setContentsMargins(0, 0, 0, 0)
        self.setColumnStretch(1, 1)
        theme_controller.changed.connect(self._fit)
        self._fit()

    def add_field(self, label: str, widget: QWidget, buddy: QWidget | None = None) -> None:
        """Adds a row; the label's mnemonic focuses the buddy."""
        row = self.rowCount()
        words = TextLabel(label, variant="secondary", name=f"{widget.objectName()}Label", parent=self._owner)
        words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        words.setFixedHeight(self._themes.theme.metrics.control)
        if buddy is not None:
            words.setBuddy(buddy)
        self.addWidget(words, row, 0, Qt.AlignmentFlag.AlignTop)
        self.addWidget(widget, row, 1)

    def add_wide(self, widget: QWidget) -> None:
        """Adds a row below the fields, without a label."""
        self.addWidget(widget, self.rowCount(), 1)

    def add_across(self, widget: QWidget) -> None:
        """Adds a row across both columns."""
        self.addWidget(widget, self.rowCount(), 0, 1, 2)

    def _fit(self) -> None:
        zoom = self._themes.theme.zoom
        self.setColumnMinimumWidth(0, round(LABEL_WIDTH * zoom))
        self.setHorizontalSpacing(round(12 * zoom))
        self.setVerticalSpacing(round(10 * zoom))


class CheckField(QWidget):
    """A check box with a help line below.

    Signals:
        toggled(bool): the user changed it.
    """

    toggled = Signal(bool)

    def __init__(self, text: str, help_text: str, *, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._showing = False
        self._rows_below: list[QHBoxLayout] = []
        self.setObjectName(f"{name}Field")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.box = QCheckBox(text, self)
        self.box.setObjectName(name)
        self.box.setAccessibleName(text)
        self.box.setAccessibleDescription(help_text)
        self.box.toggled.connect(self._on_toggled)
        self._column.addWidget(self.box)
        self._help = TextLabel(help_text, variant="hint", name=f"{name}Help", wrap=True, parent=self)
        self._column.addWidget(self._help)
        self.box.installEventFilter(self)
        self._indent()

    def set_checked(self, on: bool) -> None:
        """Sets the box without emitting `toggled`."""
        self._showing = True
        self.box.setChecked(on)
        self._showing = False

    def _on_toggled(self, on: bool) -> None:
        # Not `clicked`: a screen reader toggles checkable buttons, and Qt then emits no click.
        if not self._showing:
            self.toggled.emit(on)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.box and event.type() == QEvent.Type.StyleChange:
            self._indent()
        return super().eventFilter(watched, event)

    def _indent(self) -> None:
        """Aligns the lines below with the text of the box, at any zoom."""
        style, of = self.box.style(), QStyle.PixelMetric
        parts = (of.PM_IndicatorWidth, of.PM_CheckBoxLabelSpacing)
        left = sum(style.pixelMetric(part, None, self.box) for part in parts)
        self._help.setContentsMargins(left, 0, 0, 0)
        for row in self._rows_below:
            row.setContentsMargins(left, 6, 0, 0)

    def say_help(self, text: str) -> None:
        self._help.setText(text)
        self.box.setAccessibleDescription(text)

    def add_below(self, widget: QWidget) -> None:
        """Adds a widget below the help, aligned with it."""
        row = QHBoxLayout()
        self._rows_below.append(row)
        self._indent()
        row.addWidget(widget)
        self._column.addLayout(row)


class ButtonLineEdit(QLineEdit):
    """A line edit with a small button inside its right end."""

    def __init__(
        self, theme_controller: ThemeController, icon: str, tooltip: str, *, name: str, parent: QWidget | None = None
    ) -> None:
        """Makes an empty field.

        Args:
            theme_controller: source of the look.
            icon: icon of the button.
            tooltip: tooltip of the button.
            name: object name; the button adds "Button" to it.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName(name)
        self.button = IconButton(theme_controller, icon, tooltip, name=f"{name}Button", variant="small", parent=self)
        # Children of a line edit show its text cursor otherwise.
        self.button.setCursor(Qt.CursorShape.ArrowCursor)
        theme_controller.changed.connect(self._fit)
        self._fit()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        # The sheet limits the button's size, but only after the button is polished.
        self.button.ensurePolished()
        side = self.button.sizeHint().boundedTo(self.button.maximumSize())
        left, top = self.width() - side.width() - 5, (self.height() - side.height()) // 2
        self.button.setGeometry(left, top, side.width(), side.height())
        self.setTextMargins(0, 0, side.width(), 0)


class SecretEdit(ButtonLineEdit):
    """A field for a secret: shows dots until its eye button is pressed."""

    def __init__(self, theme_controller: ThemeController, *, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme_controller, "silent", "Show the token", name=name, parent=parent)
        self.setEchoMode(QLineEdit.EchoMode.Password)
        # Input methods must not learn the token or offer words for it.
        self.setInputMethodHints(
            Qt.InputMethodHint.ImhHiddenText
            | Qt.InputMethodHint.ImhNoPredictiveText
            | Qt.InputMethodHint.ImhNoAutoUppercase
            | Qt.InputMethodHint.ImhSensitiveData
        )
        self.button.setCheckable(True)
        self.button.toggled.connect(self._on_toggled)

    def _on_toggled(self, shown: bool) -> None:
        self.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self.button.set_icon("hidden" if shown else "silent")
        self.button.set_description("Hide the token" if shown else "Show the token")


class RecentEdit(ButtonLineEdit):
    """A field with a menu of recent values.

    Signals:
        picked(int): index of the chosen entry.
    """

    picked = Signal(int)

    def __init__(self, theme_controller: ThemeController, *, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme_controller, "collapse", "Recent (Down)", name=name, parent=parent)
        self._menu = QMenu(self)
        self._menu.setObjectName(f"{name}Menu")
        self._menu.setAccessibleName("Recent")
        self._menu.triggered.connect(self._on_triggered)
        self.button.clicked.connect(self.open_menu)
        self.set_entries([])

    def set_entries(self, entries: list[str]) -> None:
        self._menu.clear()
        for place, words in enumerate(entries):
            self._menu.addAction(words.replace("&", "&&")).setData(place)
        self.button.setVisible(bool(entries))

    def open_menu(self) -> None:
        if not self._menu.isEmpty():
            self._menu.setMinimumWidth(self.width())
            self._menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self.open_menu()
        else:
            super().keyPressEvent(event)

    def _on_triggered(self, action: QAction) -> None:
        self.picked.emit(int(action.data()))
