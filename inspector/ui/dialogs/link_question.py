"""Asks before a link opens in the browser."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from inspector.present.wire_text import safe_line

_ALLOWED_SCHEMES = frozenset({"http", "https"})


def ask_to_open(url: QUrl, parent: QWidget, *, origin: str = "A message leads to") -> None:
    """Asks to open a link; refused schemes are only shown.

    Args:
        url: the address.
        parent: the owner of the question.
        origin: beginning of the sentence, before the host.
    """
    box = QMessageBox(parent)
    box.setObjectName("openLinkQuestion")
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("Open link")
    box.setTextFormat(Qt.TextFormat.PlainText)
    encoded = QUrl.ComponentFormattingOption.FullyEncoded
    # Other schemes, such as file, could start programs.
    allowed = url.scheme().lower() in _ALLOWED_SCHEMES
    whole = url.toString(encoded)
    address = safe_line(whole, 500)
    question = "Links of this type are not opened."
    if allowed:
        # The host separately: user info or a long path can imitate another address.
        host = safe_line(url.host(encoded), 300)
        question = f"{origin} {host}. Open it in the browser?"
    box.setText(f"{question}\n\n{address}")
    copy = box.addButton("Copy", QMessageBox.ButtonRole.ActionRole)
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(whole))
    if allowed:
        open_button = box.addButton("Open", QMessageBox.ButtonRole.AcceptRole)
        open_button.clicked.connect(lambda: QDesktopServices.openUrl(url))
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.open()
