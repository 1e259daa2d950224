"""Masks secrets in tables with a header: CSV, tab-separated text, Markdown.

A cell is masked if its column is named like a secret and it looks like one. Rows end at the first line with another
number of cells. Line ends and tabs may be real, or escaped as in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from inspector.protocol.secrets.secret_keys import is_secret_key
from inspector.protocol.secrets.spans import replace_spans

_END = r"[ \t]{0,8}(?:\r?\n|\\{1,64}r\\{1,64}n|\\{1,64}n)"
_QUOTE = r"(?:\\{0,64}\")"
_NAME = rf"{_QUOTE}?[*`]{{0,3}}[A-Za-z][A-Za-z0-9_ .\-]{{0,60}}+[*`]{{0,3}}{_QUOTE}?"
# A run of names is matched whole, and only then examined, so that no part of it is searched again.
_HEADER = re.compile(
    r"(?:\A|(?<=[\r\n\"'`])|(?<=\\n))[ \t]{0,8}"
    rf"(?P<names>(?:\|[ \t]{{0,64}})?{_NAME}"
    rf"(?:(?P<delimiter>[,;\t]|\\{{1,64}}t){_NAME}(?:(?P=delimiter){_NAME})*+|(?:\|[ \t]{{0,64}}{_NAME})++\|?))"
)
_LINE_END = re.compile(_END)
_RULE = re.compile(rf"[ \t|:\-]{{3,4096}}+{_END}")
"""The line below the header of a Markdown table."""
_MARGIN = re.compile(r"[ \t]{0,64}\|?")
_CELL_OF = {
    sign: re.compile(
        rf"(?P<quote>{_QUOTE})(?P<quoted>[^\"\\\r\n]{{0,2048}}+)(?P=quote)|(?P<plain>[^{sign}\r\n\"\\]{{0,2048}}+)"
    )
    for sign in ",;|\t"
}
_PASSWORD = re.compile(r"(?i)pass(?:word|wd|phrase)")
_TELLING = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[^\s<]{10,512}")
_GIVEN_PASSWORD = re.compile(
    r"(?!(?i:required|optional|password|varchar|encrypted|undefined|provided|string)\b)(?=[^A-Za-z]*[A-Za-z])[^\s<${%(]\S{5,511}"
)


def mask_tables(text: str, mask: Callable[[str], str]) -> str:
    """Masks secrets in columns that are named like them.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
    """
    return replace_spans(text, _secret_cells(text), mask)


def _secret_cells(text: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of secret cells below each header."""
    found = _HEADER.search(text)
    while found is not None:
        delimiter, place = found["delimiter"] or "|", found.end()
        names = [name.strip(' \t\\"*`').replace(" ", "_") for name in found["names"].strip("|").split(delimiter)]
        line_end = _LINE_END.match(text, place) if any(map(is_secret_key, names)) else None
        if line_end is not None:
            place = line_end.end()
            rule = _RULE.match(text, place) if delimiter == "|" else None
            row = _row_cells(text, rule.end() if rule else place, delimiter, len(names))
            while row is not None:
                cells, place = row
                for name, (start, end) in zip(names, cells, strict=True):
                    if is_secret_key(name) and _is_secret(name, text[start:end]):
                        yield start, end
                row = _row_cells(text, place, delimiter, len(names))
        found = _HEADER.search(text, place)


def _row_cells(text: str, place: int, delimiter: str, count: int) -> tuple[list[tuple[int, int]], int] | None:
    """Returns the spans of a row's cells and the start of the next line; None if it has another number of cells."""
    pattern, cells = _CELL_OF[delimiter if len(delimiter) == 1 else "\t"], list[tuple[int, int]]()
    if delimiter == "|" and (margin := _MARGIN.match(text, place)):
        place = margin.end()
    while (cell := pattern.match(text, place)) and len(cells) < count:
        start, end = cell.span("plain" if cell["quote"] is None else "quoted")
        value = text[start:end]
        cells.append((start + len(value) - len(value.lstrip(" \t*`")), start + len(value.rstrip(" \t*`"))))
        place = cell.end()
        if not text.startswith(delimiter, place):
            break
        place += len(delimiter)
    line_end = _LINE_END.match(text, place)
    # The closing quote of a string, or the text's end, ends the last row.
    is_whole = line_end is not None or text[place : place + 1] in ("", '"', "'", "\\")
    return (cells, line_end.end() if line_end else len(text)) if is_whole and len(cells) == count else None


def _is_secret(name: str, value: str) -> bool:
    pattern = _GIVEN_PASSWORD if _PASSWORD.search(name) else _TELLING
    return pattern.fullmatch(value) is not None
