"""Pictures of cards in sight: asks for their bytes in the log, decodes them on a worker thread, and keeps the latest.

No address is ever loaded: a picture without bytes in the log stays a line of words.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from inspector.engine.requests.conversation import PictureBytes
from inspector.present.conversation.cards import Picture
from inspector.ui.panels.details.pictures import PictureKey, Pictures
from inspector.ui.widgets.latest_answer import Client, Pending

_MOST_ASKED = 4
"""Requests at the same time; each may carry 12 MB."""


class InlinePictures(QObject):
    """The pictures of one conversation.

    Signals:
        arrived(int): a picture of this message can be shown, or cannot.
    """

    arrived = Signal(int)

    def __init__(self, client: Client, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._pictures = Pictures(self)
        self._pictures.decoded.connect(lambda key: self.arrived.emit(key[0]))
        self._asked: dict[PictureKey, Pending | None] = {}
        self._waiting: list[PictureKey] = []

    def image(self, picture: Picture) -> tuple[QImage | None, str] | None:
        """Returns a picture and its error text; None until it is decoded, which this requests."""
        key = (picture.message, picture.index)
        found = self._pictures.decoded_picture(key)
        if found is None and not self._pictures.knows(key) and key not in self._asked and key not in self._waiting:
            self._waiting.append(key)
            self._ask()
        return found

    def stop(self) -> None:
        """Ends all requests."""
        self._waiting.clear()
        for pending in self._asked.values():
            if pending is not None:
                pending.cancel()
        self._asked.clear()

    def _ask(self) -> None:
        while self._waiting and len(self._asked) < _MOST_ASKED:
            key = self._waiting.pop(0)
            self._asked[key] = None
            pending = self._client.send_request(
                PictureBytes(*key), partial(self._on_bytes, key), lambda _reason, key=key: self._on_bytes(key, b"")
            )
            if key in self._asked:  # a short answer has arrived already
                self._asked[key] = pending

    def _on_bytes(self, key: PictureKey, data: bytes) -> None:
        self._asked.pop(key, None)
        self._pictures.request_bytes(key, data, self)
        self._ask()
