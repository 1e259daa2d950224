"""Source code as stretches of a few sorts, for whoever paints it: comments, texts, numbers, words of the language.

The lexers are those of pygments, which is imported when the first code is looked at. Only languages named here are
told apart: a lexer is chosen by the end of a file's name, and never by guessing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Sort = Literal["comment", "string", "number", "keyword", "name"]

LANGUAGES: dict[str, tuple[str, ...]] = {
    # as pygments calls it: how names of files end, and what fences and tools call it
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
"""Characters of a line; a text with longer ones was written by a machine, and costs lexers most."""


class Stretch(NamedTuple):
    """Characters of one sort, by their places in the text."""

    start: int
    stop: int
    sort: Sort


def language_of(path: str) -> str | None:
    """The language of a file by its name, or of a fence by its word; None for what is not known."""
    name = _NAME.search(path.strip()[-300:])
    if name is None:
        return None
    end = name[0].rpartition(".")[2].lower()
    return _BY_END.get(end)


def stretches_of(text: str, language: str) -> Iterator[Stretch]:
    """What of a text is of a sort, in order, found as it is asked for; nothing where it cannot be told."""
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        return
    lexer = _lexer(language)
    if lexer is None:
        return
    for start, kind, written in lexer.get_tokens_unprocessed(text + "\n"):  # some end comments by a line's end
        sort = _sort_of(str(kind))
        if sort is not None and written.strip():
            yield Stretch(start, min(start + len(written), len(text)), sort)


@lru_cache(maxsize=len(LANGUAGES))
def _lexer(language: str) -> Lexer | None:
    # Heavy for a window that shows no code.
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


@lru_cache(maxsize=256)
def _sort_of(kind: str) -> Sort | None:
    return next((sort for name, sort in _SORTS if kind.startswith(name)), None)


_NUMBERED = re.compile(r" {0,8}\d{1,7}(?:\N{RIGHTWARDS ARROW}|\t)")


def without_numbers(text: str) -> tuple[str, list[int]] | None:
    """A file as tools print it, with a number before each line, without these.

    Returns:
        The text, and for each of its lines how many characters stood before it; None where lines are not numbered.
    """
    lines = text.split("\n")
    heads = [found.end() if (found := _NUMBERED.match(line)) else 0 for line in lines]
    numbered = next((place for place, head in enumerate(heads) if not head), len(heads))
    if numbered < 1 or (numbered < 2 and len(lines) > 1):
        return None
    return "\n".join(line[head:] for line, head in zip(lines, heads, strict=True)), heads
