"""Locates a message in a file that was converted, since Raw shows the converted lines."""

from __future__ import annotations

import numpy as np

from inspector.formats.entry_builders import decoded_object
from inspector.formats.vscode_chat import reader as vscode_chat
from inspector.present import wire_text
from inspector.present.formats import number
from inspector.sources import har, opencode
from inspector.store.messages.capture import Capture

_MAX_NAME = 80


def place_in_original(capture: Capture, message: int) -> str | None:
    """Returns the origin of a message in its file as a sentence; None for files that are not converted."""
    source = capture.sources[int(capture.columns["source"][message])]
    name = wire_text.safe_line(source.name, _MAX_NAME)
    if source.container == har.FORMAT:
        entry = int(capture.extracted.exchanges("number", np.array([message]))[0])
        return f"Converted from entry {number(entry)} of {name}." if entry else f"Converted from an entry of {name}."
    # Other conversions keep the line of the original, so Raw suffices.
    if source.container not in (opencode.FORMAT, vscode_chat.LABEL) or capture.records.is_big(message):
        return None
    line = decoded_object(capture.records.read_line_of(message)) or {}
    for key, named, what in (("request", "requestId", "request"), ("info", "id", "record"), ("session", "", "session")):
        held = line.get(key)
        if isinstance(held, dict):
            identifier = held.get(named)
            words = (
                f"{what} {wire_text.safe_line(identifier, _MAX_NAME)}" if isinstance(identifier, str) else f"the {what}"
            )
            return f"Converted from {words} in {name}."
    return None
