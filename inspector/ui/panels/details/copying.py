"""What "Copy as" gives for a message: JSON with secrets masked, its id, a filter that finds it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.filters.strings import quote
from inspector.protocol.payloads.content import pretty_json
from inspector.protocol.secrets.masking import MASK, mask_secrets, mask_text
from inspector.ui.panels.details.subject import Subject

SAVE_AS = "Save message as..."
"""Writes the exact bytes: nothing is masked, nothing left out."""


def as_json(subject: Subject) -> str:
    """The envelope as indented JSON; of what is no JSON, the bytes as text."""
    envelope = subject.capture.envelope(subject.message)
    if envelope is None:
        return mask_text(subject.capture.envelope_bytes(subject.message).decode("utf-8", "backslashreplace"))
    return pretty_json(mask_secrets(envelope))


def identifier(subject: Subject) -> str | None:
    """The envelope's id; None when there is none."""
    found = subject.capture.envelope_id(subject.message)
    return None if found is None else mask_text(found)


def as_filter(subject: Subject) -> str:
    """A display filter that shows this message: by its id, else by its number."""
    found = identifier(subject)
    return f"id == {quote(found)}" if found and MASK not in found else f"no == {subject.message + 1}"


def copy_menu(subject: Subject, parent: QWidget, save: Callable[[], object]) -> QMenu:
    """The "Copy as" menu; `save` asks for a file and writes the message's bytes to it."""
    menu = QMenu(parent)
    menu.setObjectName("copyAsMenu")
    clipboard = QGuiApplication.clipboard()
    by_json = menu.addAction("JSON")
    by_json.setEnabled(not subject.big)
    by_json.triggered.connect(lambda: clipboard.setText(as_json(subject)))
    by_id = menu.addAction("Id")
    found = identifier(subject)
    by_id.setEnabled(found is not None)
    by_id.triggered.connect(lambda: clipboard.setText(found or ""))
    menu.addAction("Filter").triggered.connect(lambda: clipboard.setText(as_filter(subject)))
    menu.addSeparator()
    saving = menu.addAction(SAVE_AS)
    saving.setObjectName("saveMessage")
    saving.triggered.connect(lambda: save())
    return menu


def pop_up(menu: QMenu, below: QWidget) -> None:
    """Open a menu under the right end of a widget."""
    corner = below.mapToGlobal(QPoint(below.width(), below.height()))
    menu.popup(QPoint(corner.x() - menu.sizeHint().width(), corner.y()))
