"""Query errors with their position in the query."""

from __future__ import annotations

import re

# DuckDB has no position in its errors, only an excerpt with a mark below it.
_MARKED = re.compile(r"\n\nLINE (\d+): (.*)\n( *)(\^+)\s*$", re.DOTALL)
_CLASS = re.compile(r"^(?:[A-Z][\w ]*? Error|INTERNAL Error): ")
_CUT = "..."


class QueryError(Exception):
    """A query that fails.

    Attributes:
        sentence: the problem, with a remedy if known.
        position: characters from the start of the query to the error, if there is a position.
        length: number of wrong characters.
    """

    def __init__(self, sentence: str, position: int | None = None, length: int = 1) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.position = position
        self.length = length


def error_from_message(message: str, sql: str) -> QueryError:
    """Returns a DuckDB error as a sentence with a position in the query."""
    marked = _MARKED.search(message)
    words = _CLASS.sub("", message[: marked.start()] if marked is not None else message).strip()
    sentence = " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in _lines(words))
    if marked is None:
        return QueryError(sentence)
    return QueryError(sentence, *_place(sql, int(marked[1]), marked[2], len(marked[3]) - len(f"LINE {marked[1]}: ")))


def _lines(words: str) -> list[str]:
    return [line.strip() for line in words.splitlines() if line.strip()]


def _place(sql: str, number: int, shown: str, column: int) -> tuple[int | None, int]:
    """Returns the position in the query of a mark below an excerpt of one line, and the length of its word."""
    lines = sql.split("\n")
    if not 1 <= number <= len(lines):
        return None, 1
    line = lines[number - 1]
    # DuckDB counts terminal columns, and shows a long line from its middle.
    cut = shown.startswith(_CUT) and not line.startswith(_CUT)
    excerpt = shown.removeprefix(_CUT).removesuffix(_CUT) if cut else shown.removesuffix(_CUT)
    start = line.find(excerpt) if cut else 0
    within = max(0, start) + max(0, column - (len(_CUT) if cut else 0))
    position = sum(len(one) + 1 for one in lines[: number - 1]) + min(within, len(line))
    word = re.match(r"\w+|.", sql[position:])
    return position, len(word[0]) if word is not None else 1
