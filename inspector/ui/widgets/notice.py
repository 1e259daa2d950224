"""Notices: lines under the tabs with a sentence about the view, and links to act on it. Several stack.

A notice stays until its cause is gone; it is not a toast (docs/design.md 18).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton, LinkButton
from inspector.ui.widgets.labels import IconLabel, TextLabel

Link = tuple[str, Callable[[], object]]
"""Text and action of a link."""

MESSAGE = "message"
"""Key of the notice shown by `show_sentence`."""


class Notice(QFrame):
    """One line: icon, sentence, links.

    Signals:
        closed: the user closed it.
    """

    closed = Signal()

    def __init__(
        self,
        theme_controller: ThemeController,
        *,
        name: str = "notice",
        parent: QWidget | None = None,
    ) -> None:
        """Makes an empty notice.

        Args:
            theme_controller: source of the look.
            name: object name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._links: tuple[Link, ...] = ()
        self._buttons: list[LinkButton] = []
        self.setObjectName(name)
        self.setProperty("variant", "notice")
        self._row = QHBoxLayout(self)
        self._icon = IconLabel(theme_controller, "note", name=f"{name}Icon", parent=self)
        self._text = TextLabel(name=f"{name}Text", parent=self)
        # A long sentence must wrap instead of widening the window.
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._close = IconButton(
            theme_controller, "clear", "Close this notice", name=f"{name}Close", variant="small", size=14, parent=self
        )
        self._close.clicked.connect(self._on_close_clicked)
        self._row.addWidget(self._icon)
        self._row.addWidget(self._text, 1)
        self._row.addStretch()  # takes only the space that the sentence does not need
        self._row.addWidget(self._close)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @property
    def text(self) -> str:
        return self._text.text()

    @property
    def links(self) -> list[str]:
        return [button.label for button in self._buttons]

    def set_content(
        self, icon: str, text: str, links: Sequence[Link] = (), *, token: str = "accent.text", closable: bool = False
    ) -> None:
        """Updates the notice; unchanged widgets are kept.

        Args:
            icon: name as in `icons.ICONS`: hidden, note, warning, error...
            text: one or two sentences, plain text.
            links: texts and actions of links.
            token: colour of the icon.
            closable: show a close button.
        """
        self._icon.set_icon(icon, token)
        if text != self._text.text():
            self._text.setText(text)
            self.setAccessibleName(text)
        self._close.setVisible(closable)
        if tuple(links) != self._links:
            self._set_links(tuple(links))
        self._fit_text()

    def _set_links(self, links: tuple[Link, ...]) -> None:
        held = next((place for place, button in enumerate(self._buttons) if button.hasFocus()), None)
        for button in self._buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._links = links
        self._buttons = []
        for place, (words, act) in enumerate(links):
            button = LinkButton(words, name=f"{self.objectName()}Link{place}", parent=self)
            button.clicked.connect(_without_argument(act))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard focus where it is
            self._row.insertWidget(2 + place, button)
            self._buttons.append(button)
        if held is not None and self._buttons:  # else Qt focuses the next widget of the window
            heir = self._buttons[min(held, len(links) - 1)]
            heir.show()  # the layout would show it only in the next iteration of the event loop
            heir.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_close_clicked(self) -> None:
        self.closed.emit()
        self.hide()

    def _fit_text(self) -> None:
        """Uses as many lines as the sentence needs: a sentence about a failure is never cut."""
        margins = self._row.contentsMargins()
        others = [self._icon, *self._buttons] + ([] if self._close.isHidden() else [self._close])
        taken = sum(widget.sizeHint().width() for widget in others) + self._row.spacing() * (len(others) + 1)
        room = max(80, self.width() - taken - margins.left() - margins.right())
        metrics = self._text.fontMetrics()
        wanted = metrics.horizontalAdvance(self._text.text()) + 4
        one_line = wanted <= room
        self._text.setWordWrap(not one_line)
        # No wider than the sentence, so that the links follow it directly.
        self._text.setMaximumWidth(wanted)
        height = self._themes.theme.metrics.notice
        if not one_line:
            flags = Qt.TextFlag.TextWordWrap.value
            text_height = metrics.boundingRect(QRect(0, 0, room, 10_000), flags, self._text.text()).height()
            height += text_height - metrics.height()
        self.setFixedHeight(height)

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self._row.setContentsMargins(round(10 * zoom), round(3 * zoom), round(8 * zoom), round(3 * zoom))
        self._row.setSpacing(round(8 * zoom))
        self._fit_text()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()


class NoticeStack(QWidget):
    """Notices by key, in order of appearance; empty, it takes no room.

    Signals:
        closed(str): key of a notice that the user closed; it is removed already.
        left(): a notice with the keyboard focus was removed.
    """

    closed = Signal(str)
    left = Signal()

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._notices: dict[str, Notice] = {}
        self._passing = False
        self.setObjectName("notices")
        self.setAccessibleName("Notices")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_notice(
        self,
        key: str,
        icon: str,
        text: str,
        links: Sequence[Link] = (),
        *,
        token: str = "accent.text",
        closable: bool = False,
    ) -> None:
        """Shows a notice, or updates the one with this key; other arguments as in `Notice.set_content`."""
        notice = self._notices.get(key)
        if notice is None:
            notice = Notice(self._themes, name=f"notice_{key}", parent=self)
            notice.setProperty("key", key)
            notice.closed.connect(self._on_closed)
            # Before its first layout the notice would count lines for a wrong width and stretch the window.
            holder = self.parentWidget()
            notice.resize((holder or self).width(), notice.height())
            self._notices[key] = notice
            self._column.addWidget(notice)
        notice.set_content(icon, text, links, token=token, closable=closable)
        self.show()

    def show_sentence(
        self, sentence: str, severity: str = "severity.note", link: Link | None = None, *, lasting: bool = False
    ) -> None:
        """Shows a sentence until it is closed or replaced.

        Args:
            sentence: the text.
            severity: token of its severity. A note is about the last action and goes when the view changes.
            link: action on the notice.
            lasting: keep a note when the view changes.
        """
        self._passing = severity == "severity.note" and not lasting
        icon = {"severity.error": "error", "severity.warning": "warning"}.get(severity, "note")
        self.show_notice(MESSAGE, icon, sentence, [link] if link else [], token=severity, closable=True)

    def end_note(self, *_view: object) -> None:
        """Removes a note about an earlier action, since the view has changed."""
        if self._passing:
            self._passing = False
            self.dismiss(MESSAGE)

    def dismiss(self, key: str) -> None:
        """Removes a notice, if it exists."""
        notice = self._notices.pop(key, None)
        held = notice is not None and notice.isAncestorOf(QApplication.focusWidget() or self)
        if notice is not None:
            self._column.removeWidget(notice)
            notice.hide()
            notice.deleteLater()
        self.setVisible(bool(self._notices))
        if held:
            self.left.emit()

    def dismiss_all(self) -> None:
        for key in list(self._notices):
            self.dismiss(key)

    def notice(self, key: str) -> Notice | None:
        return self._notices.get(key)

    def keys(self) -> list[str]:
        """Returns the keys of visible notices, top to bottom."""
        return list(self._notices)

    def _on_closed(self) -> None:
        notice = self.sender()
        if isinstance(notice, Notice):
            key = str(notice.property("key"))
            self.dismiss(key)
            self.closed.emit(key)


def _without_argument(act: Callable[[], object]) -> Callable[..., object]:
    # A button's signal has the checked state, and links take no argument.
    return lambda *_checked: act()
