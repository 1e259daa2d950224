"""Overview of a message: selects the section builders by kind (docs/design.md 15).

To add an overview, write `build_...(subject) -> list[Part]` in the module of its topic and add its kinds to `_BY_KIND`
or `_BY_NAMESPACE`. Its words belong to `inspector.present`. `overview_sections` adds the user's notes and the worst
finding at the top, and the envelope at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from inspector.present.pages.added import added_sections
from inspector.present.pages.calls import build_proposal, build_request, build_result, build_verdict
from inspector.present.pages.factories import note_sections
from inspector.present.pages.findings import worst_finding_sections
from inspector.present.pages.generic import build_generic, build_unreadable, envelope_section, too_large
from inspector.present.pages.parts import Part
from inspector.present.pages.texts import (
    build_about_chat,
    build_chat,
    build_closed,
    build_opened,
    build_reasoning,
    build_session,
    build_snapshot,
    build_stream,
)
from inspector.present.pages.workspace import (
    build_capability,
    build_control,
    build_error,
    build_join,
    build_operation,
    build_presence,
    build_status,
    build_welcome,
)
from inspector.present.subject import Subject
from inspector.protocol import kinds, msp
from inspector.store.columns.flags import Flag

Build = Callable[[Subject], list[Part]]

_BY_KIND: dict[str, Build] = {
    kinds.REQUEST: build_request,
    kinds.RESPONSE: build_result,
    kinds.PROPOSAL: build_proposal,
    kinds.REJECT: build_verdict,
    kinds.WITHDRAW: build_verdict,
    "chat": build_chat,
    "chat/acknowledge": build_about_chat,
    "chat/cancel": build_about_chat,
    "participant/status": build_status,
    kinds.CONTEXT_OPERATION: build_operation,
    msp.SESSION: build_session,
    msp.SNAPSHOT: build_snapshot,
    msp.SUBSESSION_OPENED: build_opened,
    msp.SUBSESSION_CLOSED: build_closed,
    "system/presence": build_presence,
    "system/welcome": build_welcome,
    "system/error": build_error,
    "system/join": build_join,
}
_BY_NAMESPACE: dict[str, Build] = {
    "reasoning": build_reasoning,
    "participant": build_control,
    "stream": build_stream,
    "capability": build_capability,
    "space": build_capability,
}


def overview_sections(subject: Subject) -> list[Part]:
    """Returns the sections of a message, below the user's notes."""
    message = subject.message
    return [*note_sections(message, subject.analysis.marks.note(message)), *_message_sections(subject)]


def _message_sections(subject: Subject) -> list[Part]:
    if subject.flags & (Flag.UNREADABLE | Flag.GAP):
        return build_unreadable(subject)
    if subject.is_big:
        return [*worst_finding_sections(subject), *too_large(subject), envelope_section(subject)]
    build = _BY_KIND.get(subject.kind) or _BY_NAMESPACE.get(subject.kind.partition("/")[0], build_generic)
    if subject.flags & Flag.LOG_ONLY:
        build = build_generic
    return [*worst_finding_sections(subject), *build(subject), *added_sections(subject), envelope_section(subject)]
