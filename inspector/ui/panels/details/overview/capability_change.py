"""What a message changes in what somebody may do: before and after as two lists with + and - (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from inspector.analysis.capabilities import Held
from inspector.present.wire_text import plain
from inspector.protocol.capability_words import capability_in_words
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.panels.details.facts import Fact, Ink, Part, fact
from inspector.ui.panels.details.participant_rows import written_as
from inspector.ui.panels.details.places import ParticipantPlace
from inspector.ui.panels.details.sheet import Sheet, message_part
from inspector.ui.panels.details.words import MINUS

_MOST = 40


def change_sections(sheet: Sheet, name: str) -> list[QWidget]:
    """What somebody could send before the sheet's message, and what after it; nothing when it changes nothing.

    Args:
        name: whose capabilities the message announces, grants or revokes.
    """
    before, after = _before_and_after(sheet, name)
    if before is None or after is None:  # what it may do in all was never announced
        return []
    kept = [one.capability for one in after]
    had = [one.capability for one in before]
    if had == kept:
        return []
    who = plain(name, 60)
    sections: list[QWidget] = []
    rows = _rows(before, _beyond(had, kept), MINUS, "bad")
    facts = sheet.facts(rows, name="heldBefore", label=f"{who} could send", name_width=14)
    sections.append(sheet.section(f"Before, {len(had)}", facts, name="heldBeforeSection"))
    rows = _rows(after, _beyond(kept, had), "+", "good")
    facts = sheet.facts(rows, name="heldAfter", label=f"{who} may send", name_width=14)
    show = sheet.link("Show participant", _show(sheet, name), name="showParticipant")
    sections.append(sheet.section(f"After, {len(kept)}", facts, name="heldAfterSection", action=show))
    return sections


def _show(sheet: Sheet, name: str) -> Callable[[], object]:
    place = ParticipantPlace(int(sheet.subject.capture.columns["space"][sheet.subject.message]), name)
    return lambda: sheet.links.place_requested.emit(place)


def _before_and_after(sheet: Sheet, name: str) -> tuple[list[Held] | None, list[Held] | None]:
    capture, row = sheet.subject.capture, sheet.subject.message
    space, held = int(capture.columns["space"][row]), sheet.subject.analysis.capabilities.held
    return held(space, name, row), held(space, name, row + 1)


def _beyond(these: Sequence[object], those: Sequence[object]) -> list[bool]:
    """Of each capability whether the others lack it; of one that is there several times, the last ones are beyond."""
    left = list(those)
    beyond: list[bool] = []
    for one in these[:_MOST]:
        beyond.append(one not in left)
        if not beyond[-1]:
            left.remove(one)
    return beyond


def _rows(held: Sequence[Held], marked: Sequence[bool], sign: str, ink: Ink) -> list[Fact]:
    rows = [_row(one, sign if mark else "", ink) for one, mark in zip(held[:_MOST], marked, strict=True)]
    if len(held) > _MOST:
        rows.append(fact(" ", f"{len(held) - _MOST} more", "dim"))
    return rows or [fact("", "nothing", "dim")]


def _row(held: Held, sign: str, ink: Ink) -> Fact:
    words = plain(mask_text(capability_in_words(held.capability)), 300)
    written = written_as(held.capability)
    return Fact(sign or " ", (Part(words, ink if sign else "dim"),), tooltip=written, copy=written, mono_name=True)


def effect_rows(sheet: Sheet, name: str) -> list[Fact]:
    """Whether a grant or revocation did anything, and whether a gateway confirmed it since."""
    subject = sheet.subject
    row, space = subject.message, int(subject.capture.columns["space"][subject.message])
    capabilities = subject.analysis.capabilities
    change = next((one for one in capabilities.changes.get((space, name), ()) if one.row == row), None)
    if change is None:
        return []
    before, after = _before_and_after(sheet, name)
    if before is not None and after is not None and [o.capability for o in before] == [o.capability for o in after]:
        words = "nothing changes: it holds none of these" if change.what == "revoked" else "nothing is given"
        return [fact("Effect", words, "warn", lines=2)]
    # Gateways announce what they granted by another welcome, and no revocation at all (docs/protocols.md 10).
    later = (one for one in capabilities.changes[space, name] if one.row > row and one.what == "announced")
    announced = next(later, None)
    if announced is None:
        return [fact("Confirmed", "not yet: no gateway has announced its capabilities since", "dim", lines=2)]
    wanted = [one.capability for one in after or ()]
    same = all(one in announced.capabilities for one in wanted) and len(wanted) == len(announced.capabilities)
    word = "as it is here, by " if same else "differently, by "
    return [Fact("Confirmed", (Part(word, "plain" if same else "warn"), message_part(announced.row)))]
