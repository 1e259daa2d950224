"""Checks the words of docstrings, names and pages; prints the figures, and exits with 1 if one is above its bound.

Bounds only go down: a change that lowers a figure lowers its bound in the same commit.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

QUESTION_WORDS = frozenset({"What", "Which", "Whether", "How", "Who", "Whose", "Whom", "Where", "When", "Why"})
"""Words that no docstring starts with."""
VAGUE_WORDS = ("what", "which", "whether", "those", "none", "nothing", "nobody")
"""Words counted per 10,000 words of docstrings."""
EVERYDAY_NAMES = frozenset({
    "ask", "at", "behind", "below", "forget", "goes", "hear", "hears", "held", "holds", "known", "learn", "look",
    "mean", "more", "of", "put", "said", "say", "says", "settle", "spoken", "take", "taken", "tell", "tells", "told",
    "trouble",
})  # fmt: skip
"""Public functions and classes are not named by one of these alone."""
SPELLINGS = {"time-out": "timeout", "call-back": "callback", "file name extension": "file extension"}
"""Terms of the glossary: a spelling that is not used, and the one that is."""
EXCEPTIONS: dict[str, str] = {}
"""`path:name` of an everyday name that stays, with its reason; fewer than 20."""
BOUNDS = {
    "modules": 1.0, "classes": 1.0, "functions": 1.0,
    "what": 8.0, "which": 12.0, "whether": 2.0, "those": 3.0, "none": 46.0, "nothing": 4.0, "nobody": 1.0,
    "names": 0.0, "spellings": 0.0,
}  # fmt: skip
"""Highest allowed figures: percent of docstrings by sort, words per 10,000, counts of names and spellings."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Figures:
    """Counts over all files read."""

    docstrings: Counter[str] = field(default_factory=Counter[str])  # by sort: modules, classes, functions
    questions: Counter[str] = field(default_factory=Counter[str])  # of these, how many start with a question word
    words: int = 0  # of all docstrings
    vague: Counter[str] = field(default_factory=Counter[str])
    names: list[str] = field(default_factory=list[str])  # `path:name`
    spellings: list[str] = field(default_factory=list[str])  # `path: spelling`
    openings: list[str] = field(default_factory=list[str])  # `path:line` of a docstring that starts with one

    def values(self) -> dict[str, float]:
        """Returns each figure by the name of its bound."""
        shares = {sort: 100 * self.questions[sort] / max(1, self.docstrings[sort]) for sort in _SORTS.values()}
        rates = {word: 1e4 * self.vague[word] / max(1, self.words) for word in VAGUE_WORDS}
        return {**shares, **rates, "names": float(len(self.names)), "spellings": float(len(self.spellings))}


_SORTS = {"Module": "modules", "ClassDef": "classes", "FunctionDef": "functions", "AsyncFunctionDef": "functions"}


def read_module(path: str, source: str, figures: Figures) -> None:
    """Adds the docstrings and names of one module to the figures.

    Args:
        path: how findings name the file.
        source: its Python source. Raises SyntaxError if it is none.
        figures: changed in place.
    """
    tree = ast.parse(source)
    local = {id(inner) for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) for inner in _inner_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, _Documented):
            continue
        is_public = not isinstance(node, ast.Module) and id(node) not in local
        if is_public and node.name in EVERYDAY_NAMES and f"{path}:{node.name}" not in EXCEPTIONS:
            figures.names.append(f"{path}:{node.name}")
        text = ast.get_docstring(node)
        if text:
            _read_docstring(path, node, text, figures)


def _inner_nodes(function: ast.AST) -> Iterator[ast.AST]:
    nodes = ast.walk(function)
    next(nodes)  # the function itself
    return nodes


def _read_docstring(path: str, node: _Documented, text: str, figures: Figures) -> None:
    sort = _SORTS[type(node).__name__]
    figures.docstrings[sort] += 1
    opening = re.match(r"\W*(\w+)", text)
    if opening and opening[1] in QUESTION_WORDS:
        figures.questions[sort] += 1
        line = 1 if isinstance(node, ast.Module) else node.lineno
        figures.openings.append(f"{path}:{line}")
    words = re.findall(r"[a-z']+", text.lower())
    figures.words += len(words)
    figures.vague.update(word for word in words if word in VAGUE_WORDS)


def read_page(path: str, text: str, figures: Figures) -> None:
    """Adds the spellings of a page or module that the glossary has otherwise."""
    lower = text.lower()
    figures.spellings += [f"{path}: {wrong}" for wrong in SPELLINGS if wrong in lower]


def read_tree(root: Path) -> Figures:
    """Returns the figures of a checkout: `inspector/`, and the pages beside it."""
    figures = Figures()
    for path in _files(root, ["inspector/**/*.py"]):
        source = path.read_text(encoding="utf-8")
        read_module(path.relative_to(root).as_posix(), source, figures)
        read_page(path.relative_to(root).as_posix(), source, figures)
    for path in _files(root, ["docs/**/*.md", "*.md"]):
        read_page(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"), figures)
    return figures


def _files(root: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(root.glob(pattern))


def above_bounds(figures: Figures) -> list[str]:
    """Returns the names of figures above their bounds."""
    return [name for name, value in figures.values().items() if round(value, 1) > BOUNDS[name]]


def main() -> int:
    """Prints the figures of this checkout; with `-v` also each place. Returns the exit code."""
    figures = read_tree(Path(__file__).resolve().parent.parent)
    for name, value in figures.values().items():
        print(f"{name:>12}: {value:6.1f}  (at most {BOUNDS[name]:.1f})")
    if "-v" in sys.argv[1:]:
        print(*figures.openings, *figures.names, *figures.spellings, sep="\n")
    high = above_bounds(figures)
    if high:
        print(f"words: above the bound: {', '.join(high)}; CONTRIBUTING.md has the rules, -v lists the places")
    return 1 if high else 0


if __name__ == "__main__":
    sys.exit(main())
