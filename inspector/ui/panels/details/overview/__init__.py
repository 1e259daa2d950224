"""One module per family of kinds: what a message of it says, top to bottom (docs/design.md 15).

To add an overview: a module with `build(sheet) -> list[QWidget]`, and its kinds in `_BY_KIND` or `_BY_NAMESPACE`.
Every overview begins with the worst finding, if there is one, and ends with the envelope; `sections` adds both.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.protocol import kinds, msp
from inspector.ui.panels.details import findings
from inspector.ui.panels.details.notes import note_sections
from inspector.ui.panels.details.overview import (
    capabilities,
    chat,
    controls,
    gateway,
    generic,
    operations,
    participants,
    proposals,
    reasoning,
    requests,
    results,
    sessions,
    streams,
    unreadable,
)
from inspector.ui.panels.details.overview.envelope import envelope_section
from inspector.ui.panels.details.sheet import Sheet

Build = Callable[[Sheet], list[QWidget]]

_BY_KIND: dict[str, Build] = {
    kinds.REQUEST: requests.build,
    kinds.RESPONSE: results.build,
    kinds.PROPOSAL: proposals.build,
    kinds.REJECT: proposals.build_verdict,
    kinds.WITHDRAW: proposals.build_verdict,
    "chat": chat.build,
    "chat/acknowledge": chat.build_about_chat,
    "chat/cancel": chat.build_about_chat,
    "participant/status": participants.build,
    kinds.CONTEXT_OPERATION: operations.build,
    msp.SESSION: sessions.build_session,
    msp.SNAPSHOT: sessions.build_snapshot,
    msp.OPENED: sessions.build_opened,
    msp.CLOSED: sessions.build_closed,
    "system/presence": gateway.build_presence,
    "system/welcome": gateway.build_welcome,
    "system/error": gateway.build_error,
    "system/join": gateway.build_join,
}
_BY_NAMESPACE: dict[str, Build] = {
    "reasoning": reasoning.build,
    "participant": controls.build,
    "stream": streams.build,
    "capability": capabilities.build,
    "space": capabilities.build,
}


def sections(sheet: Sheet) -> list[QWidget]:
    """The sections of the sheet's message, below what the user wrote about it."""
    message = sheet.subject.message
    return [*note_sections(sheet, message, sheet.subject.analysis.marks.note(message)), *_said(sheet)]


def _said(sheet: Sheet) -> list[QWidget]:
    subject = sheet.subject
    if subject.flags & (Flag.UNREADABLE | Flag.GAP):
        return unreadable.build(sheet)
    if subject.big:
        return [*findings.overview_sections(sheet), *generic.too_large(sheet), envelope_section(sheet)]
    build = _BY_KIND.get(subject.kind) or _BY_NAMESPACE.get(subject.kind.partition("/")[0], generic.build)
    if subject.flags & Flag.LOG_ONLY:
        build = generic.build
    return [*findings.overview_sections(sheet), *build(sheet), envelope_section(sheet)]
