"""Rows of files, and of the accesses to an expanded file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from inspector.engine.requests.files import FileAccess, FileLine, Outcome, TouchKind
from inspector.present import formats
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Cell, Column, Icon, Layout, Row, Text
from inspector.present.states import BY_USER

LAYOUT = Layout(((
    Column(),
    Column(width="+00,000", font="number", right=True, gap=6),
    Column(width="-00,000", font="number", right=True),
    Column(width=170, from_width=560, wide=270, wide_from=900),
    Column(width=125, from_width=680, wide=230, wide_from=900),
    Column(width="00:00:00 ", font="number", right=True, from_width=480),
    Column(width="No. 00000", font="number", right=True),
),))  # fmt: skip
"""Name or kind of access; added lines; removed lines; accesses or outcome; tests or caller; time; number."""
_CHEVRON, _INDENT = 16, 30
_KINDS = {TouchKind.EDITED: "edit", TouchKind.WRITTEN: "write", TouchKind.DELETED: "deletion", TouchKind.READ: "read"}
_OUTCOMES = {
    Outcome.OK: ("", SECONDARY), Outcome.FAILED: ("failed", "severity.error"),
    Outcome.REJECTED: (BY_USER, "severity.warning"), Outcome.OPEN: ("no result", TERTIARY),
}  # fmt: skip
_RESULTS: dict[Outcome | None, tuple[str, str]] = {
    Outcome.OK: ("passed", "badge.consumed"), Outcome.FAILED: ("failed", "severity.error"),
}  # fmt: skip
_TESTS = {
    Outcome.OK: ("tests passed after", "badge.consumed"), Outcome.FAILED: ("tests failed after", "severity.error"),
}  # fmt: skip


def file_rows(files: Sequence[FileLine], opened: Collection[str]) -> Iterator[Row]:
    """Yields the row of each file, followed by its accesses if its path is in `opened`."""
    for file in files:
        yield _file_row(file, is_open=file.path in opened)
        if file.path in opened:
            yield from (_access_row(file, place, access) for place, access in enumerate(file.accesses))
            if file.test is not None:
                yield _test_row(file)


def _file_row(file: FileLine, *, is_open: bool) -> Row:
    told, ink = test_words(file)
    acts, lines = act_words(file), line_words(file.added, file.removed)
    cells = (
        (
            Icon("collapse" if is_open else "expand", side=_CHEVRON, advance=_CHEVRON, shift=-3),
            Text(file.name, "mono-row", PRIMARY if file.is_changed else SECONDARY, "middle"),
        ),
        *line_cells(file.added, file.removed), (Text(acts, ink=SECONDARY),), (Text(told, ink=ink),),
        _time_cell(file.accesses[-1].time), (),
    )  # fmt: skip
    copied = ", ".join(filter(None, (file.path, lines, acts, told)))
    spoken = f"{copied}, {'expanded' if is_open else 'collapsed'}"
    return Row(file.path, (cells,), file.name, spoken=spoken, tip=file.path, copied=copied, expanded=is_open)


def _test_row(file: FileLine) -> Row:
    """Returns the row of the last run of tests after the last change."""
    assert file.test is not None
    told, ink = _RESULTS.get(file.test_outcome, ("no result", TERTIARY))
    number = formats.message_number(file.test)
    cells = (
        (Text("Tests after the last edit", ink=SECONDARY),), (), (), (Text(told, ink=ink),), (),
        _time_cell(file.test_time), (Text(number, "number", "accent.text", "never"),),
    )  # fmt: skip
    spoken = f"tests after the last edit: {told}, {number}"
    return Row((file.path, "test"), (cells,), spoken, spoken=spoken, tip=file.path, copied=spoken, indent=_INDENT,
               message=file.test)  # fmt: skip


def _time_cell(time: str) -> Cell:
    return (Text(time, "number", TERTIARY, "never"),)


def _access_row(file: FileLine, place: int, access: FileAccess) -> Row:
    kind, (told, ink) = _KINDS[access.kind], _OUTCOMES[access.outcome]
    number = formats.message_number(access.message)
    cells = (
        (Text(kind.capitalize(), ink=SECONDARY),), *line_cells(access.added, access.removed),
        (Text(told, ink=ink),), (Text(access.caller, ink=TERTIARY, elide="middle"),), _time_cell(access.time),
        (Text(number, "number", "accent.text", "never"),),
    )  # fmt: skip
    spoken = ", ".join(
        filter(None, (kind, line_words(access.added, access.removed), told, f"by {access.caller}", number))
    )
    return Row(
        (file.path, place), (cells,), kind, spoken=spoken, tip=file.path, copied=spoken, indent=_INDENT,
        message=access.message,
    )  # fmt: skip


def test_words(file: FileLine) -> tuple[str, str]:
    """Returns the outcome of the tests after the last change, and its ink; ("", ink) without tests."""
    if file.test_outcome is None:
        return "", SECONDARY
    return _TESTS.get(file.test_outcome, ("tests ran after", SECONDARY))


def act_words(file: FileLine, *, reads: bool = True) -> str:
    """Counts accesses: "3 edits, 1 read, 1 rejected by you"; without `reads` only changes."""
    accesses = [access for access in file.accesses if reads or access.kind is not TouchKind.READ]
    done = [access for access in accesses if access.outcome in (Outcome.OK, Outcome.OPEN)]
    counts = [(sum(access.kind is kind for access in done), word) for kind, word in _KINDS.items()]
    words = [formats.count_of(count, word) for count, word in counts if count]
    for outcome in (Outcome.FAILED, Outcome.REJECTED):
        count = sum(access.outcome is outcome for access in accesses)
        words += [f"{count:,} {_OUTCOMES[outcome][0]}"] if count else []
    return ", ".join(words)


def line_cells(added: int, removed: int) -> tuple[Cell, Cell]:
    """Returns the numbers of added and of removed lines."""
    return (
        (Text(f"+{added:,}", "number", "badge.consumed", "never"),) if added else (),
        (Text(f"\N{MINUS SIGN}{removed:,}", "number", "severity.error", "never"),) if removed else (),
    )


def line_cell(added: int, removed: int) -> Cell:
    """Returns the numbers of added and removed lines, one after the other."""
    parts = [part for cell in line_cells(added, removed) for part in cell]
    return (*(replace(part, space=6) for part in parts[:-1] if isinstance(part, Text)), *parts[-1:])


def line_words(added: int, removed: int) -> str:
    """Returns the numbers of added and removed lines in words."""
    words = [f"{formats.count_of(added, 'line')} added"] if added else []
    return ", ".join([*words, f"{removed:,} removed"] if removed else words)
