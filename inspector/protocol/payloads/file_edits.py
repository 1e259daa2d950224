"""Extracts file edits from a call of a coding agent's tool, as added and removed lines.

Edits are detected by the shape of the arguments, since every agent and server has other tool names. One shape is a path
with an old and a new text, or a list of such pairs. Another is a path with the whole new text. The last is a patch that
begins with `*** Begin Patch`, alone or passed to a shell. Shapes: docs/transcripts.md, "Edits and plans".
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Sign = Literal[" ", "+", "-", "@"]
"""Sign of a line: unchanged, added, removed; `@` separates two places of a file."""
Line = tuple[Sign, str]

MAX_LINES = 4_000
"""Limit of lines in an edit; further ones are only counted."""
_MOST_COMPARED = 800
"""Limit of lines for a comparison, since it takes quadratic time at worst."""
_CONTEXT_LINES = 3
PATH_ARGUMENTS = ("file_path", "path", "filePath", "notebook_path", "absolute_path", "target_file", "filename")
"""Names of arguments with a file path."""
_PAIRS = (
    ("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText"), ("oldString", "newString"),
    ("old_text", "new_text"),
)  # fmt: skip
_WHOLE = ("content", "file_text", "contents")
_WRITING = re.compile(r"write|create|save", re.IGNORECASE)
REPRESENTED_ARGUMENTS = frozenset(
    (*PATH_ARGUMENTS, *_WHOLE, "edits", "replace_all", "new_source", "edit_mode", "cell_id", "input", "patch")
).union(*_PAIRS)
"""Names of arguments that edits represent completely."""
CHANGING_TOOLS = (
    "Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "edit", "write", "write_file", "replace", "edit_file",
    "create_file", "write_to_file", "replace_in_file", "search_replace", "replace_string_in_file",
    "insert_edit_into_file",
)  # fmt: skip
"""Names of the agents' tools that change a file and do nothing else."""
PATCH = "*** Begin Patch"
_PATCH_HEAD = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVED = "*** Move to: "


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The change of one file.

    Attributes:
        path: of the file, as written.
        lines: (sign, line without its end), in the order of the file.
        change_type: "changed", "written", "deleted".
        note: a move's target, or "all places"; "".
        left_out: lines beyond `MAX_LINES`.
    """

    path: str
    lines: tuple[Line, ...]
    change_type: Literal["changed", "written", "deleted"] = "changed"
    note: str = ""
    left_out: int = 0

    @property
    def added(self) -> int:
        """Number of added lines."""
        beyond = self.left_out if self.change_type == "written" and all(sign == "+" for sign, _ in self.lines) else 0
        return sum(sign == "+" for sign, _ in self.lines) + beyond

    @property
    def removed(self) -> int:
        """Number of removed lines."""
        return sum(sign == "-" for sign, _ in self.lines)


def edits_of(tool: str | None, arguments: object) -> list[FileEdit]:
    """Returns the edits of a call, empty for other calls. Never raises.

    Args:
        tool: its name; used only to detect writing a whole file.
        arguments: decoded.
    """
    if isinstance(arguments, str):
        # Some tools take the patch itself as their argument.
        return patch_edits(arguments)
    if not isinstance(arguments, dict):
        return []
    patch = _patch_in(arguments)
    if patch is not None:
        return patch_edits(patch)
    path = next((value for key in PATH_ARGUMENTS if isinstance(value := arguments.get(key), str) and value), None)
    if path is None:
        return []
    listed = arguments.get("edits")
    pairs = [pair for one in (listed if isinstance(listed, list) else [arguments]) if (pair := _pair(one)) is not None]
    if pairs:
        return [_replaced(path, pairs)]
    for key in _WHOLE:
        if isinstance(text := arguments.get(key), str) and _WRITING.search(f"{tool} {arguments.get('command', '')}"):
            return [_bounded(path, _marked("+", text.splitlines()), "written")]
    if isinstance(text := arguments.get("new_source"), str):
        return [_bounded(path, _marked("+", text.splitlines()), "changed", _cell(arguments))]
    return []


def content_after(tool: str | None, arguments: object, before: str | None) -> str | None:
    """Returns the exact content of a file after a successful call; None if the call does not tell it.

    Args:
        tool: as for `edits_of`.
        arguments: decoded, of a call that changes this one file.
        before: the exact content before the call; None if unknown.
    """
    if not isinstance(arguments, dict) or _patch_in(arguments) is not None:
        return None
    listed = arguments.get("edits")
    changes = listed if isinstance(listed, list) else [arguments]
    pairs = [_pair(one) for one in changes]
    if any(pair is not None for pair in pairs):
        for pair in pairs:
            if pair is None or before is None or not pair[0]:
                return None
            old, new, everywhere = pair
            # Another number of places would be an error of the tool, or a rule that is unknown here.
            if before.count(old) != 1 and not (everywhere and old in before):
                return None
            # Some tools remove the end of the line with the text.
            if not new and not old.endswith("\n") and f"{old}\n" in before:
                return None
            before = before.replace(old, new)
        return before
    known = {"command", *PATH_ARGUMENTS, *_WHOLE}
    text = next((value for key in _WHOLE if isinstance(value := arguments.get(key), str)), None)
    writes = _WRITING.search(f"{tool} {arguments.get('command', '')}") is not None
    # Other arguments may append, or name an encoding.
    return text if writes and arguments.keys() <= known else None


def names_all_changes(arguments: object) -> bool:
    """Returns False if a call with edits may change other files too: a patch in a shell command, or one that moves."""
    if isinstance(arguments, dict):
        patch = _patch_in(arguments)
        return patch is None or not ({"command", "cmd"} & arguments.keys() or _MOVED in patch)
    return _MOVED not in str(arguments)


def _cell(arguments: Mapping[str, Any]) -> str:
    mode, cell = arguments.get("edit_mode"), arguments.get("cell_id")
    words = [str(mode or "replace"), "cell", *([cell] if isinstance(cell, str) else [])]
    return " ".join(words)[:80]


def _pair(one: object) -> tuple[str, str, bool] | None:
    """Returns the old and the new text, and True if it replaces all places."""
    if not isinstance(one, dict):
        return None
    for old, new in _PAIRS:
        if isinstance(before := one.get(old), str) and isinstance(after := one.get(new), str):
            return before, after, one.get("replace_all") is True
    return None


def _replaced(path: str, pairs: Sequence[tuple[str, str, bool]]) -> FileEdit:
    lines: list[Line] = []
    for place, (before, after, _) in enumerate(pairs):
        if place:
            lines.append(("@", ""))
        lines += line_diff(before.splitlines(), after.splitlines())
        # The rest is never shown.
        if len(lines) > MAX_LINES:
            break
    everywhere = any(all_places for _, _, all_places in pairs)
    return _bounded(path, lines, "changed", "all places" if everywhere else "")


def _bounded(path: str, lines: list[Line], what: Literal["changed", "written", "deleted"], note: str = "") -> FileEdit:
    return FileEdit(path, tuple(lines[:MAX_LINES]), what, note, max(0, len(lines) - MAX_LINES))


def line_diff(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Returns a line diff with a few lines of context."""
    # Equal beginnings and ends first, since comparing the middle is quadratic.
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    stop = 0
    while stop < min(len(before), len(after)) - start and before[-1 - stop] == after[-1 - stop]:
        stop += 1
    old, new = before[start : len(before) - stop], after[start : len(after) - stop]
    lines: list[Line] = []
    if start > _CONTEXT_LINES:
        lines.append(("@", ""))
    lines += _marked(" ", before[max(0, start - _CONTEXT_LINES) : start])
    lines += _middle(old, new)
    lines += _marked(" ", before[len(before) - stop :][:_CONTEXT_LINES])
    return lines


def _middle(old: Sequence[str], new: Sequence[str]) -> list[Line]:
    # Above this size a full comparison would block the window.
    if len(old) + len(new) > _MOST_COMPARED:
        return [*_marked("-", old), *_marked("+", new)]
    found: list[Line] = []
    for tag, first, last, begin, end in difflib.SequenceMatcher(None, old, new).get_opcodes():
        same = old[first:last]
        if tag != "equal":
            found += [*_marked("-", same), *_marked("+", new[begin:end])]
        elif len(same) > 2 * _CONTEXT_LINES + 1:
            # Long equal parts are left out.
            found += _marked(" ", same[:_CONTEXT_LINES])
            found += _marked("@", [""])
            found += _marked(" ", same[-_CONTEXT_LINES:])
        else:
            found += _marked(" ", same)
    return found


def _marked(sign: Sign, lines: Sequence[str]) -> list[Line]:
    return [(sign, line) for line in lines]


# Patches that begin with `*** Begin Patch`


def _patch_in(arguments: Mapping[str, Any]) -> str | None:
    """Returns a patch among arguments: a tool's input, or part of a shell command."""
    for key in ("input", "patch", "command", "cmd"):
        value = arguments.get(key)
        # Shell tools take their command as a list of words.
        listed = value if isinstance(value, list) else [value]
        for text in listed:
            if isinstance(text, str) and PATCH in text:
                return text[text.index(PATCH) :]
    return None


def patch_edits(text: str) -> list[FileEdit]:
    """Returns the edits of a patch; of an unfinished one the edits so far, empty for other texts."""
    # The text of a call may arrive in pieces, so an end is not required.
    if not text.lstrip().startswith(PATCH):
        return []
    found: list[FileEdit] = []
    path, what, note = "", "Update", ""
    lines: list[Line] = []

    def done() -> None:
        if path:
            known: dict[str, Literal["changed", "written", "deleted"]] = {"Add": "written", "Delete": "deleted"}
            found.append(_bounded(path, lines, known.get(what, "changed"), note))

    for line in text.lstrip().splitlines()[1:]:
        if line.startswith("*** End Patch"):
            break
        head = _PATCH_HEAD.fullmatch(line.rstrip())
        if head is not None:
            done()
            what, path, note, lines = head[1], head[2], "", []
        elif line.startswith(_MOVED):
            note = f"moves to {line.removeprefix(_MOVED).strip()}"
        elif line.startswith("@@"):
            # A bare mark at the beginning says nothing.
            if lines or line.strip() != "@@":
                lines.append(("@", line[2:].strip()))
        elif path and not line.startswith("*** "):
            signs: dict[str, Sign] = {"+": "+", "-": "-"}
            lines.append((signs.get(line[:1], " "), line[1:]))
    done()
    return found
