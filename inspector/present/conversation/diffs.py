"""Changes of files as lines with numbers: from a call's arguments, or from the patch that its answer has.

Arguments tell old and new text alone. Line numbers come from a patch in the record of the answer, from an earlier
numbered reading of the file, or from the text itself for a file that is written whole. Otherwise lines have no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from inspector.present.code import language_of
from inspector.present.conversation.cards import Diff, DiffLine
from inspector.present.wire_text import safe_line, visible_controls
from inspector.protocol.payloads.file_edits import FileEdit, Line
from inspector.protocol.secrets.masking import mask_text

MAX_LINES, MAX_WHOLE = 40, 2_000
"""Limits of lines shown, and of those that are asked for whole."""
_MAX_LINE = 2_000
_MAX_RECORD = 4 << 20
_VERBS = {"changed": "Edit", "written": "Write", "deleted": "Delete"}
_NUMBERED = re.compile(r"\s*(\d{1,9})(?:→|\t|: | ?\| ?)(.*)")
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")


def diff_of(edit: FileEdit, patch: Sequence[DiffLine], *, whole: bool) -> Diff:
    """Returns the change of a file; `patch` has its lines with numbers, or is empty."""
    lines = list(patch) or (_written(edit.lines) if edit.change_type == "written" else _numbered_patch(edit.lines))
    limit = MAX_WHOLE if whole else MAX_LINES
    added, removed = (sum(line.sign == sign for line in lines) for sign in "+-")
    if not patch:
        added, removed = max(added, edit.added), max(removed, edit.removed)
    shown = lines if len(lines) <= limit + 1 else lines[:limit]
    path = safe_line(edit.path, 1_000)
    return Diff(
        path, re.split(r"[\\/]", path.rstrip("\\/"))[-1] or path, _VERBS[edit.change_type], safe_line(edit.note, 200),
        added, removed, tuple(_safe_lines(shown)),
        len(lines) - len(shown) + edit.left_out, language_of(edit.path) or "",
    )  # fmt: skip


def _safe_lines(lines: Sequence[DiffLine]) -> Iterator[DiffLine]:
    # Masked together: some secrets extend over lines.
    masked = mask_text("\n".join(line.text[:_MAX_LINE] for line in lines)).split("\n")
    for place, line in enumerate(lines):
        text = masked[place] if len(masked) == len(lines) else mask_text(line.text[:_MAX_LINE])
        yield DiffLine(line.sign, visible_controls(text), line.old, line.new)


def _written(lines: Sequence[Line]) -> list[DiffLine]:
    return [DiffLine(sign, text.replace("\n", " "), 0, place + 1) for place, (sign, text) in enumerate(lines)]


def _numbered_patch(lines: Sequence[Line]) -> list[DiffLine]:
    """Numbers the lines of a patch whose places name line numbers."""
    found, old, new = list[DiffLine](), 0, 0
    for sign, text in lines:
        text = text.replace("\n", " ")
        if sign == "@":
            place = _HUNK.match(f"@@ {text} @@") or _HUNK.match(f"@@{text}")
            old, new = (int(place[1]), int(place[2])) if place else (0, 0)
            found.append(DiffLine("@", "" if place else text))
            continue
        found.append(DiffLine(sign, text, old if sign != "+" else 0, new if sign != "-" else 0))
        old += bool(old) and sign != "+"
        new += bool(new) and sign != "-"
    return found


def numbered_by_reading(lines: Sequence[Line], reading: str) -> list[DiffLine]:
    """Numbers the lines of a change by a reading of the file before it, whose lines have numbers.

    Returns an empty list unless the old lines are there exactly once, one after the other.
    """
    old = [text for sign, text in lines if sign in " -"]
    if not old or any(sign == "@" for sign, _ in lines):
        return []
    found = [_NUMBERED.fullmatch(line) for line in reading[:_MAX_RECORD].split("\n")]
    numbered = [(int(one[1]), one[2]) for one in found if one is not None]
    texts = [text for _, text in numbered]
    starts = [at for at, text in enumerate(texts) if text == old[0] and texts[at : at + len(old)] == old]
    if len(starts) != 1:
        return []
    number = numbered[starts[0]][0]
    if any(numbered[starts[0] + place][0] != number + place for place in range(len(old))):
        return []
    after = number
    result = list[DiffLine]()
    for sign, text in lines:
        result.append(DiffLine(sign, text, number if sign != "+" else 0, after if sign != "-" else 0))
        number += sign != "+"
        after += sign != "-"
    return result


def patch_in_record(line: bytes) -> list[DiffLine]:
    """Returns the lines of the patch in the record of an answer, with numbers; empty without one. Never raises."""
    patch = value_in_record(line, "structuredPatch")
    return list(_hunk_lines(patch)) if isinstance(patch, list) else []


def value_in_record(line: bytes, key: str) -> object:
    """Returns the value of a key anywhere near the top of a record; None without one. Never raises."""
    if f'"{key}"'.encode() not in line or len(line) > _MAX_RECORD:
        return None
    try:
        record = msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return _value_under(record, key, 4)


def _value_under(value: object, key: str, depth: int) -> object:
    if not isinstance(value, Mapping):
        return None
    if key in value:
        return value[key]
    inner = (_value_under(one, key, depth - 1) for one in value.values()) if depth else ()
    return next((one for one in inner if one is not None), None)


def _hunk_lines(hunks: Sequence[object]) -> Iterator[DiffLine]:
    for place, hunk in enumerate(hunks):
        if not isinstance(hunk, Mapping) or not isinstance(hunk.get("lines"), list):
            continue
        starts = (hunk.get("oldStart"), hunk.get("newStart"))
        old, new = (start if isinstance(start, int) and 0 < start < 1 << 40 else 0 for start in starts)
        if place:
            yield DiffLine("@", "")
        for text in hunk["lines"]:
            if not isinstance(text, str) or text[:1] not in (" ", "+", "-", ""):
                continue
            sign = text[:1] or " "
            yield DiffLine(sign, text[1:].replace("\n", " "), old if sign != "+" else 0, new if sign != "-" else 0)
            old += bool(old) and sign != "+"
            new += bool(new) and sign != "-"
