"""API of plug-ins: the one module of this program that a plug-in imports (docs/plug-ins.md).

Everything here is kept while `API_VERSION` stays the same. Everything else in this program may change at any time.
"""

from __future__ import annotations

from inspector.analysis.passes.plain_messages import Message
from inspector.formats.format import Format, Participants, Stage
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.plugins.declarations import (
    API_VERSION,
    Check,
    Code,
    Facts,
    Field,
    Part,
    PayloadView,
    PluginError,
    Problem,
    Table,
    Text,
    require_api,
)
from inspector.protocol.timestamps import NO_TIME, parse_time

__all__ = [
    "API_VERSION",
    "NO_TIME",
    "Check",
    "Code",
    "Event",
    "Facts",
    "Field",
    "Format",
    "JsonTranscript",
    "Message",
    "Part",
    "Participants",
    "PayloadView",
    "PluginError",
    "Problem",
    "Stage",
    "Table",
    "Text",
    "Voice",
    "parse_time",
    "place_event",
    "require_api",
]
