"""Highlights source code: ranges of comments, strings, numbers and keywords.

Uses pygments lexers, imported at the first use. Only the languages below are supported; the file extension selects the
lexer, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from inspector.protocol.payloads.file_edits import FileEdit

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Sort = Literal["comment", "string", "number", "keyword", "name"]

LANGUAGES: dict[str, tuple[str, ...]] = {
    # pygments name: file extensions, and names in fences and tools
    "python": ("py", "pyi", "python", "python3"),
    "javascript": ("js", "mjs", "cjs", "jsx", "javascript"),
    "typescript": ("ts", "tsx", "mts", "cts", "typescript"),
    "json": ("json", "jsonl", "jsonc", "webmanifest"),
    "yaml": ("yaml", "yml"),
    "toml": ("toml",),
    "ini": ("ini", "cfg", "conf", "editorconfig"),
    "html": ("html", "htm", "vue", "svelte", "xhtml"),
    "xml": ("xml", "svg", "plist", "xsd", "csproj"),
    "css": ("css",),
    "scss": ("scss",),
    "bash": ("sh", "bash", "zsh", "shell", "console", "env", "dockerfile", "makefile"),
    "sql": ("sql",),
    "c": ("c", "h"),
    "cpp": ("cc", "cpp", "cxx", "hpp", "hh", "c++"),
    "csharp": ("cs", "csharp"),
    "go": ("go", "golang"),
    "rust": ("rs", "rust"),
    "java": ("java",),
    "kotlin": ("kt", "kts", "kotlin"),
    "swift": ("swift",),
    "ruby": ("rb", "ruby"),
    "php": ("php",),
    "lua": ("lua",),
    "diff": ("diff", "patch"),
}
_BY_END = {end: language for language, ends in LANGUAGES.items() for end in ends}
_NAME = re.compile(r"[^/\\\s]+$")
_LONGEST_LINE = 2_000
"""Limit of a line in characters; longer lines are machine-made and slow to lex."""


class Stretch(NamedTuple):
    """A range of characters of one sort."""

    start: int
    stop: int
    sort: Sort


def language_of(path: str) -> str | None:
    """Returns the language of a file name or fence word, if supported."""
    # A call may name a path of any length, of which only the end counts.
    name = _NAME.search(path.strip()[-300:])
    if name is None:
        return None
    end = name[0].rpartition(".")[2].lower()
    return _BY_END.get(end)


def stretches_of(text: str, language: str) -> Iterator[Stretch]:
    """Yields highlighted ranges in order; empty if lexing is not possible."""
    # Lexers take quadratic time in minified lines.
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        return
    lexer = _lexer(language)
    if lexer is None:
        return
    # some lexers end comments only at a line end
    for start, kind, written in lexer.get_tokens_unprocessed(text + "\n"):
        sort = _sort_of(str(kind))
        if sort is not None and written.strip():
            yield Stretch(start, min(start + len(written), len(text)), sort)


# The first use of a language imports its lexer, which takes up to 80 ms.
@lru_cache(maxsize=len(LANGUAGES))
def _lexer(language: str) -> Lexer | None:
    # Heavy for a window without code.
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except (ClassNotFound, ImportError):
        return None


_SORTS: tuple[tuple[str, Sort], ...] = (
    ("Token.Comment.Preproc", "keyword"), ("Token.Comment", "comment"), ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"), ("Token.Keyword", "keyword"), ("Token.Operator.Word", "keyword"),
    ("Token.Name.Function", "name"), ("Token.Name.Class", "name"), ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "keyword"), ("Token.Name.Attribute", "name"), ("Token.Name.Builtin", "name"),
)  # fmt: skip


# A token costs 2.4 µs without the cache and 0.07 µs with it.
@lru_cache(maxsize=256)
def _sort_of(kind: str) -> Sort | None:
    return next((sort for name, sort in _SORTS if kind.startswith(name)), None)


# Line numbers come with an arrow or a tab behind them.
_NUMBERED = re.compile(r" {0,8}\d{1,7}(?:\N{RIGHTWARDS ARROW}|\t)")


def without_numbers(text: str) -> tuple[str, list[int]] | None:
    """Removes the line numbers that tools print before lines.

    Returns:
        The text, and the length of each removed prefix; None if lines are not numbered.
    """
    lines = text.split("\n")
    heads = [found.end() if (found := _NUMBERED.match(line)) else 0 for line in lines]
    numbered = next((place for place, head in enumerate(heads) if not head), len(heads))
    # One numbered line could also be a list or a table.
    if numbered < 1 or (numbered < 2 and len(lines) > 1):
        return None
    return "\n".join(line[head:] for line, head in zip(lines, heads, strict=True)), heads


def counted_words(edit: FileEdit) -> str:
    """Returns the counts of added and removed lines, signed."""
    words = [f"+{edit.added:,}"] if edit.added or not edit.removed else []
    words += [f"\N{MINUS SIGN}{edit.removed:,}"] if edit.removed else []
    return " ".join(words)
