"""Masks secrets in tables with a header: CSV, tab-separated text, Markdown, and tables of psql and MySQL.

A cell is masked if its column is named like a secret and it looks like one; words, names with numbers, dates and types
do not. Rows end at the first line with another number of cells. The first column may have no name. Lines may be
numbered, or have the signs of a diff or a quote. Line ends and tabs may be real, or escaped as in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from inspector.protocol.secrets.secret_keys import is_secret_key, looks_random
from inspector.protocol.secrets.spans import replace_spans

_END = r"[ \t]{0,8}(?:\r?\n|\\{1,64}r\\{1,64}n|\\{1,64}n)"
_QUOTE = r"(?:\\{0,64}\")"
_LETTER = r"A-Za-z\u00a1-\U0010ffff"
_NAME = (
    rf"{_QUOTE}?[*`]{{0,3}}[0-9]{{0,3}}[{_LETTER}][{_LETTER}0-9_ .\-]{{0,60}}+(?:\([{_LETTER}0-9_ .\-]{{1,60}}+\))?"
    rf"[*`]{{0,3}}{_QUOTE}?"
)
_NUMBER = r"[ \t]{0,8}[0-9]{1,7}(?:[\u2192:\t]|\\{1,64}(?:u2192|t))"
_SIGN = r"[+>\-]"
_NAME_OR_NUMBER = rf"[ \t]{{0,64}}(?:#[ \t]{{0,64}}|{_NAME}[ \t]{{0,64}})"
# A run of names is matched whole, and only then examined, so that no part of it is searched again.
_HEADER = re.compile(
    r"(?:\A|(?<=[\r\n\"'`])|(?<=\\n))(?:\ufeff|\\{1,64}ufeff)?"
    rf"(?P<lead>{_NUMBER}|{_SIGN}|)[ \t]{{0,8}}(?:#[ \t]{{1,8}})?"
    rf"(?P<names>(?:[,;]?{_NAME}(?P<delimiter>[,;\t]|\\{{1,64}}t){_NAME}(?:(?P=delimiter){_NAME})*+[,;]?"
    rf"|\|?(?:[ \t]{{1,64}}\|)?{_NAME_OR_NUMBER}(?:\|{_NAME_OR_NUMBER})++\|?))"
)
_LINE_END = re.compile(_END)
_RULE = re.compile(rf"(?:{_NUMBER}|>)?[ \t|:+\-]{{3,4096}}+{_END}")
"""The line below the header of a table with bars."""
_NUMBERED, _SIGNED = re.compile(_NUMBER), re.compile(_SIGN)
_MARGIN = re.compile(rf"{_SIGN}?[ \t]{{0,64}}\|?")
_BACKSLASHES = r"\\{1,64}+(?![nrt\"\\])"
"""Part of a cell in text with escaped line ends."""
_CELL_OF = {
    (key, is_escaped): re.compile(
        rf"(?P<quote>{_QUOTE})(?P<quoted>(?:(?P=quote){{2}}|{inner}){{0,2048}})(?P=quote)"
        rf"|(?P<plain>(?:(?!{sign}){inner}){{0,2048}}+)"
    )
    for key, sign in ((",", ","), (";", ";"), ("|", r"\|"), ("\t", r"\t"), ("t", r"\\{1,64}t"))
    for is_escaped, inner in ((False, r"[^\"\r\n]"), (True, rf"(?:[^\"\\\r\n]|{_BACKSLASHES})"))
}
_PASSWORD = re.compile(r"(?i)pass(?:word|wd|phrase)")
_TELLING = re.compile(r"(?=[^A-Za-z]*[A-Za-z])(?=[^0-9!@#%^]*(?:[0-9]|[!@#%^].))[^\s<${%(]\S{5,511}")
_PART = r"(?:[A-Za-z]++[0-9]{0,4}+|[0-9]++[A-Za-z]{0,12}+[0-9]{0,2}+)"
_JOINED = r"[_./:\-]{1,3}+"
_WORDS = re.compile(rf"(?:{_JOINED})?{_PART}(?P<joined>{_JOINED}{_PART})*+(?:{_JOINED})?")
"""Names and dates: `opus-4-5`, `src/secrets_v2.py`, `2024-01-01T00:00`. A password may have one part."""
_OTHER = re.compile(
    r"[0-9]++(?i:m?s|sec(?:ond)?s?|min(?:ute)?s?|h(?:ours?)?|d(?:ays?)?|weeks?|months?|years?|char(?:acter)?s?|bytes?)[0-9]?"
    r"|(?:[A-Z]++[a-z]*+)++[0-9]{1,5}+(?:[A-Z]++[a-z]++)++"  # Utf8String
    r"|[A-Za-z_.]++(?:[(\[].*|=[0-9]{1,5})"  # varchar(255), min_length=8
    r"|[\w.+\-]++@(?:[\w\-]++\.)+[a-z]{2,12}"
    r"|(?i:argon2|base(?:32|58|64)|ed25519|md5|oauth2|pbkdf2|sha-?[0-9]|utf-?[0-9]|u?int[0-9]|float[0-9]|varchar[0-9])\S{0,16}"
)
"""Durations, types, settings, addresses, and algorithms."""


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
            place, is_escaped = line_end.end(), "\n" not in line_end[0]
            rule = _RULE.match(text, place) if delimiter == "|" else None
            row = _row_cells(text, rule.end() if rule else place, found, len(names), is_escaped=is_escaped)
            while row is not None:
                cells, place = row
                for name, (start, end) in zip(names, cells, strict=True):
                    if is_secret_key(name) and _is_secret(name, text[start:end]):
                        yield start, end
                row = _row_cells(text, place, found, len(names), is_escaped=is_escaped)
        found = _HEADER.search(text, place)


def _row_cells(
    text: str, place: int, header: re.Match[str], count: int, *, is_escaped: bool
) -> tuple[list[tuple[int, int]], int] | None:
    """Returns the spans of a row's cells and the start of the next line; None if it has another number of cells."""
    delimiter, cells = header["delimiter"] or "|", list[tuple[int, int]]()
    if header["lead"] and (lead := (_SIGNED if header["lead"] in "+>-" else _NUMBERED).match(text, place)):
        place = lead.end()
    if delimiter == "|" and (margin := _MARGIN.match(text, place)):
        place = margin.end()
    pattern = _CELL_OF[delimiter[-1], is_escaped]
    while len(cells) < count and (cell := pattern.match(text, place)):
        start, end = cell.span("plain" if cell["quote"] is None else "quoted")
        value = text[start:end]
        cells.append((start + len(value) - len(value.lstrip(" \t*`'")), start + len(value.rstrip(" \t*`'"))))
        place = cell.end()
        if not text.startswith(delimiter, place):
            break
        place += len(delimiter)
    line_end = _LINE_END.match(text, place)
    # The closing quote of a string, or the text's end, ends the last row.
    is_whole = line_end is not None or text[place : place + 1] in ("", '"', "'", "\\")
    return (cells, line_end.end() if line_end else len(text)) if is_whole and len(cells) == count else None


def _is_secret(name: str, value: str) -> bool:
    words = _WORDS.fullmatch(value)
    if _OTHER.fullmatch(value) or (words and words["joined"]):
        return False
    if _PASSWORD.search(name):
        return _TELLING.fullmatch(value) is not None
    return looks_random(value) and words is None
